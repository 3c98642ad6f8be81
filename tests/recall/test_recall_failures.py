"""What recall does, and says in the log, when the store is not there or nothing is near enough."""

import logging

import pytest
from azure.core.exceptions import ServiceRequestError
from azure.cosmos.aio import CosmosClient
from broken_embeddings import BrokenEmbeddings
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence, ConfigurationError, StoreUnavailable
from agent_memory.errors import ModelError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.settings import RecallSettings
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES


@pytest.mark.req("S0-086", "S0-009")
async def test_an_unexpected_fault_costs_only_the_context(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def fails(*_: object) -> None:
        raise ZeroDivisionError("nobody thought of it")

    monkeypatch.setattr("agent_memory.recall.compose.fit", fails)
    context = await memory.user("alice").context("How is the cat called?")
    assert (context.messages, context.degraded) == ([], ["context: nobody thought of it"])
    assert "Memory context failed, skipping" in caplog.messages


@pytest.mark.req("S0-078", "S0-009")
async def test_a_store_that_cannot_be_reached_disables_memory_and_nothing_else(caplog: pytest.LogCaptureFixture):
    def connect() -> CosmosClient:
        raise ServiceRequestError("nobody is there")

    memory = AsyncMemory(
        Store(connect, "ai_memory", name="gone"),
        chat_model=ScriptedChat(),
        embedding_model=HashingEmbeddings(),
        cadence=Cadence(),
        process="functions",
        provision=False,
    )
    with caplog.at_level(logging.ERROR, "agent_memory"), pytest.raises(StoreUnavailable):
        await memory.open()
    assert caplog.messages == ["Memory store unavailable, memory disabled"]
    assert not memory.enabled
    context = await memory.user("alice").thread("t").context("How is the cat called?")
    assert (context.text, context.messages) == ("", [])
    assert context.degraded


@pytest.mark.req("S0-084", "S0-085", "S0-041")
async def test_the_log_says_how_many_memories_were_near_enough(caplog: pytest.LogCaptureFixture):
    content = "The cat is called Tom and sleeps all day"
    said = {}
    for threshold in (0.99, 0.0):
        settings = RecallSettings(thresholds={}, default_threshold=threshold, context_least=0)
        async with AsyncMemory.local(
            chat_model=ScriptedChat(), embedding_model=HashingEmbeddings(), recall=settings
        ) as memory:
            await memory.user("alice").remember(content)
            caplog.clear()
            with caplog.at_level(logging.DEBUG, "agent_memory"):
                context = await memory.user("alice").context("Which catastrophes happened, and where?")
            said[threshold] = (content in context.text, list(caplog.messages))
    assert said[0.99][0] is False
    assert "No memories above threshold" in said[0.99][1]
    assert "Memory: Retrieved 0 memories" in said[0.99][1]
    assert said[0.0][0] is True
    assert "Memory: Retrieved 1 memories" in said[0.0][1]


@pytest.mark.req("S3-17", "S3-51")
async def test_the_similarity_is_that_of_the_querys_own_vector(memory: AsyncMemory):
    content, query = "The cat is called Tom", "How is the cat called?"
    await memory.user("alice").remember(content)
    one, other = (await HashingEmbeddings().embed([content, query])).vectors
    (hit,) = await memory.user("alice").search(query)
    assert hit.similarity == pytest.approx(sum(a * b for a, b in zip(one, other, strict=True)), abs=1e-4)


async def test_where_words_cannot_be_searched_by_vectors_find_alone(chat: ScriptedChat):
    embeddings = BrokenEmbeddings()
    async with AsyncMemory.local(chat_model=chat, embedding_model=embeddings) as memory:
        alice = memory.user("alice")
        await alice.remember("The cat is called Tom")
        container = memory.runtime.store.container(MEMORIES)
        properties = await container.read()
        indexing = {name: part for name, part in properties["indexingPolicy"].items() if name != "fullTextIndexes"}
        without = {name: part for name, part in properties.items() if name != "fullTextPolicy"}
        # As in an account without full-text search.
        await container.client_connection.ReplaceContainer(
            container.container_link, without | {"indexingPolicy": indexing}
        )
        (hit,) = await alice.search("How is the cat called?")
        assert hit.similarity
        context = await alice.context("How is the cat called?")
        assert "Tom" in context.text
        assert any(reason.startswith("text search: ") for reason in context.degraded)
        embeddings.error = ModelError("no embeddings today")
        with pytest.raises(ConfigurationError, match="full-text policy"):
            await alice.search("How is the cat called now?")
