"""Which embeddings a store is made for, and how that is set."""

import pytest

from agent_memory import AsyncMemory, ConfigurationError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded
from agent_memory.settings import Environment
from agent_memory.store.containers import MEMORIES


class Small(HashingEmbeddings):
    """A model of another size."""

    model_id = "hashing-256"
    dimensions = 256

    async def embed(self, texts: list[str]) -> Embedded:
        whole = await super().embed(texts)
        return Embedded([vector[:256] for vector in whole.vectors], whole.usage)


async def dimensions_of(memory: AsyncMemory) -> int:
    made = await memory.runtime.store.container(MEMORIES).read()
    (vector,) = made["vectorEmbeddingPolicy"]["vectorEmbeddings"]
    return vector["dimensions"]


@pytest.mark.req("S0-074")
async def test_an_embedded_store_is_made_for_minilm_with_384_dimensions():
    async with AsyncMemory.local() as memory:
        assert (await memory.health()).embedding_model.startswith("all-MiniLM-L6-v2")
        assert await dimensions_of(memory) == 384


@pytest.mark.req("S0-074")
async def test_another_model_has_its_own_dimensions_and_does_not_mix_with_the_first(tmp_path):
    path = tmp_path / "m.db"
    async with AsyncMemory.local(path, embedding_model=Small()) as memory:
        assert await dimensions_of(memory) == 256
        await memory.user("u").remember("Likes tea")
    with pytest.raises(
        ConfigurationError,
        match=f"holds vectors of 256 dimensions, made by {Small().model_id}; .* its own store",
    ):
        async with AsyncMemory.local(path):
            pass


@pytest.mark.req("S0-074", "S1-22")
def test_the_environment_names_the_model_and_its_dimensions(monkeypatch):
    assert Environment().embedding_model == "text-embedding-3-large"
    monkeypatch.setenv("AGENT_MEMORY_EMBEDDING_MODEL", "my-deployment")
    monkeypatch.setenv("AGENT_MEMORY_EMBEDDING_DIMENSIONS", "384")
    assert (Environment().embedding_model, Environment().embedding_dimensions) == ("my-deployment", 384)
