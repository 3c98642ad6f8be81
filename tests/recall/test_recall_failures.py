"""What recall does, and says in the log, when the store is not there or nothing is near enough."""

import logging

import pytest
from azure.core.exceptions import ServiceRequestError
from azure.cosmos.aio import CosmosClient
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence, StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.settings import RecallSettings
from agent_memory.store.client import Store


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
        settings = RecallSettings(thresholds={}, default_threshold=threshold)
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
