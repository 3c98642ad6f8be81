"""The embedding model of a store: the first to open the store sets it, because vectors of two models do not compare."""

from __future__ import annotations

from agent_memory.errors import ConfigurationError, Conflict
from agent_memory.store.calls import translated
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, MEMORIES
from agent_memory.store.ids import SETTINGS_THREAD, STORE_USER
from agent_memory.store.schema import SCHEMA

_WAYS_OUT = {
    "all-MiniLM-L6-v2-int8": "Set AGENT_MEMORY_EMBEDDINGS=local:minilm, or in code give no embedding_model",
    "hashing-384": "Set AGENT_MEMORY_EMBEDDINGS=local:hashing, or in code embedding_model=HashingEmbeddings()",
}
"""How to open a store with the model that filled it, for models that `embedding_model=` does not name."""


async def check_embedding_model(store: Store, model_id: str, dimensions: int) -> None:
    """Checks that this store's vectors come from this model; a new store takes it.

    Raises:
        ConfigurationError: if the store was filled with another model, or its vector index has another size.
    """
    with translated():
        properties = await store.container(MEMORIES).read()
    have = properties["vectorEmbeddingPolicy"]["vectorEmbeddings"][0]["dimensions"]
    partition = (STORE_USER, SETTINGS_THREAD)
    if have == dimensions:
        document = {"id": "store", "user_id": STORE_USER, "thread_id": SETTINGS_THREAD, "type": "store"}
        try:
            about = {"embedding_model": model_id, "dimensions": dimensions, "schema": SCHEMA}
            await store.create(COUNTER, document | about)
        except Conflict:
            pass
        else:
            return
    stored = await store.read(COUNTER, "store", partition)
    first = stored["embedding_model"] if stored else f"a model of {have} dimensions"
    if have != dimensions or first != model_id:
        way_out = _WAYS_OUT.get(first, f"Name {first} in AGENT_MEMORY_EMBEDDINGS or embedding_model=")
        raise ConfigurationError(
            f"the store holds vectors of {have} dimensions, made by {first}; {model_id} makes {dimensions}, and"
            f" vectors of two models cannot be compared. {way_out}, or give the new"
            " model a store (a file, a database) of its own"
        )
