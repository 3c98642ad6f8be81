"""The embedding model of a store, set when it is first opened: vectors of two models cannot be compared.

One document has its name. While the store moves to another model, the document records that too (`move`), and the model
changes last, with one write.

It also has the version of the stored documents that the store was created with. A document of an earlier version is
read as it is, and written in the new form when it changes next. The version only says which older forms the store
cannot contain.
"""

from __future__ import annotations

import json
from typing import Any

from azure.cosmos import PartitionKey

from agent_memory.errors import ConfigurationError, Conflict
from agent_memory.store.calls import translated
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, MEMORIES, SUMMARIES
from agent_memory.store.documents import Document
from agent_memory.store.ids import SETTINGS_THREAD, STORE_USER
from agent_memory.store.vectors import FIRST

SCHEMA = 2
"""What new stores begin with. 2: a user's counter holds the total of all turns. 1 is not written anywhere."""


async def keeps_totals(store: Store) -> bool:
    """Whether every user of a store has had a total from their first turn. One point read for each process."""
    if store.known.schema is None:
        document = await store.read(COUNTER, "store", (STORE_USER, SETTINGS_THREAD))
        store.known.schema = int((document or {}).get("schema", 1))
    return store.known.schema >= 2


ID = "store"
PARTITION = (STORE_USER, SETTINGS_THREAD)
NAMES = {"all-MiniLM-L6-v2-int8": "local:minilm", "hashing-384": "local:hashing"}
"""The models that `AGENT_MEMORY_EMBEDDINGS` names in another way than they name themselves."""
_OPENED_WITH = {
    "local:minilm": "in code pass no embedding_model",
    "local:hashing": "in code embedding_model=HashingEmbeddings()",
}


async def read_identity(store: Store) -> Document | None:
    """The document that names the store's embedding model; None if no model has opened the store yet."""
    return await store.read(COUNTER, ID, PARTITION)


async def check_embedding_model(store: Store, model_id: str, dimensions: int) -> Document:
    """Checks that this store's vectors come from this model; a new store takes it. Returns the store's identity.

    Raises:
        ConfigurationError: if the store was filled with another model, or its vector index has another size.
    """
    stored = await read_identity(store)
    have = await _dimensions(store, (stored or {}).get("field", FIRST))
    if stored is None and have == dimensions:
        place = {"id": ID, "user_id": STORE_USER, "thread_id": SETTINGS_THREAD, "type": "store"}
        try:
            about = {"embedding_model": model_id, "dimensions": dimensions, "schema": SCHEMA}
            stored = await store.create(COUNTER, place | about)
        except Conflict:
            stored = await read_identity(store)
    first = stored["embedding_model"] if stored else f"a model of {have} dimensions"
    if stored is None or have != dimensions or first != model_id:
        raise ConfigurationError(mismatch(first, have, model_id, dimensions))
    store.vectors.settle(stored)
    return stored


def mismatch(first: str, have: int | None, model_id: str, dimensions: int) -> str:
    """The error for a store that is opened with a model other than its own, with the ways to fix it."""
    name = NAMES.get(first)
    way_out = (
        f"Set AGENT_MEMORY_EMBEDDINGS={name}, or {_OPENED_WITH[name]}"
        if name
        else f"Name {first} in AGENT_MEMORY_EMBEDDINGS or embedding_model="
    )
    return (
        f"the store holds vectors of {have} dimensions, made by {first}; {model_id} makes {dimensions}, and"
        f" vectors of two models cannot be compared. {way_out}, or give the new"
        " model its own store (a file, a database), or move this store to the new model:"
        f" agent-memory reembed --to {NAMES.get(model_id, 'provider:model')}"
    )


async def _dimensions(store: Store, field: str) -> int | None:
    with translated():
        properties = await store.container(MEMORIES).read()
    paths = properties["vectorEmbeddingPolicy"]["vectorEmbeddings"]
    return next((int(one["dimensions"]) for one in paths if one["path"] == f"/{field}"), None)


async def add_vector_path(store: Store, field: str, dimensions: int) -> None:
    """Gives the containers with vectors one more path, indexed like the first. Existing ones stay as they are.

    Raises:
        ConfigurationError: if the store refuses it. Nothing has changed then.
    """
    for name in (MEMORIES, SUMMARIES):
        with translated():
            properties = await store.container(name).read()
        vectors, indexing = properties["vectorEmbeddingPolicy"], properties["indexingPolicy"]
        path = f"/{field}"
        if any(one["path"] == path for one in vectors["vectorEmbeddings"]):
            continue
        embeddings, indexed = with_vector_path(vectors, indexing, path, dimensions)
        options: dict[str, Any] = {
            "vector_embedding_policy": embeddings,
            "indexing_policy": indexed,
            "default_ttl": properties.get("defaultTtl"),
            "full_text_policy": properties.get("fullTextPolicy"),
            "computed_properties": properties.get("computedProperties"),
            "conflict_resolution_policy": properties.get("conflictResolutionPolicy"),
            "analytical_storage_ttl": properties.get("analyticalStorageTtl"),
        }
        kept = {option: value for option, value in options.items() if value is not None}
        try:
            with translated():
                key = PartitionKey(path=properties["partitionKey"]["paths"])
                await store.database.replace_container(name, key, **kept)
        except ConfigurationError as error:
            added = json.dumps({"path": path, "dimensions": dimensions})
            raise ConfigurationError(
                f"the container {name} takes no second path for vectors ({error}). If the templates made it, no"
                f" credential may change it: add {added} to infra/more-vectors.json, run `azd provision`,"
                " and try again. Else export this store and import it into a new database that is opened with the new"
                " model"
            ) from error


def with_vector_path(vectors: Document, indexing: Document, path: str, dimensions: int) -> tuple[Document, Document]:
    """The policies of vectors and of indexes, with one more path that is indexed like the first."""
    first = vectors["vectorEmbeddings"][0]
    index = next(one for one in indexing["vectorIndexes"] if one["path"] == first["path"])
    more = {
        "excludedPaths": [*indexing["excludedPaths"], {"path": f"{path}/*"}],
        "vectorIndexes": [*indexing["vectorIndexes"], index | {"path": path}],
    }
    added = first | {"path": path, "dimensions": dimensions}
    return {"vectorEmbeddings": [*vectors["vectorEmbeddings"], added]}, indexing | more
