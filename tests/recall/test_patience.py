"""An embedding endpoint that hangs, fails or is gone costs the vectors of a question, and nothing else."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from embedding_server import EmbeddingServer, embedding_server
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, telemetry
from agent_memory.errors import ModelError, StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded
from agent_memory.recall import context as recall_context
from agent_memory.recall.searcher import Impatient, Outage
from agent_memory.settings import RecallSettings
from agent_memory.store.ids import STORE_USER

BOUND = 60.0
"""Seconds: half of what the client's retries took. Nothing here is measured, so a busy machine does no harm."""
QUESTION = "How is the cat called?"


@asynccontextmanager
async def memory_of(server: EmbeddingServer, context_timeout: float = BOUND) -> AsyncIterator[AsyncMemory]:
    """A memory with a fact, whose endpoint worked when it was written."""
    settings = RecallSettings(context_timeout=context_timeout, embedding_timeout=BOUND)
    async with AsyncMemory.local(chat_model=ScriptedChat(), embedding_model=server.model(), recall=settings) as memory:
        await memory.user("alice").remember("The cat is called Tom")
        (hit,) = await memory.user("alice").search(QUESTION)
        assert hit.similarity
        assert (await memory.health()).warnings == []
        yield memory


def wait(memory: AsyncMemory, seconds: float) -> None:
    """Lets searches wait so long for a vector from now on: for one that comes, a busy machine may need longer."""
    object.__setattr__(memory.runtime.searcher.settings, "embedding_timeout", seconds)


@pytest.mark.parametrize("mood", ["hangs", "fails", "hangs up"])
async def test_a_search_goes_by_words_when_vectors_do_not_come(mood: Any, caplog: pytest.LogCaptureFixture):
    async with embedding_server() as server, memory_of(server) as memory:
        server.mood = mood
        wait(memory, 0.3)
        with caplog.at_level(logging.WARNING, "agent_memory"):
            async with asyncio.timeout(BOUND):
                (hit,) = await memory.user("alice").search("And how is the cat called?")
        assert (hit.memory.content, hit.similarity) == ("The cat is called Tom", None)
        assert any("searching by text only" in message for message in caplog.messages)
        (warning,) = (await memory.health()).warnings
        known = "search uses words only" if mood == "hangs" else "the model for embeddings, m@384, has failed"
        assert warning.startswith(f"{known} since 20")
        server.mood = "answers"
        wait(memory, BOUND)
        (hit,) = await memory.user("alice").search(QUESTION)
        assert hit.similarity
        assert (await memory.health()).warnings == []


@pytest.mark.parametrize("mood", ["hangs", "fails", "hangs up"])
@pytest.mark.req("S0-079", "S0-086")
async def test_a_context_has_what_the_words_find(mood: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recall_context, "_VECTOR_SHARE", 0.02)  # much time is left for the words, on a busy machine
    async with embedding_server() as server, memory_of(server, context_timeout=20.0) as memory:
        thread = memory.user("alice").thread("t1")
        await thread.add("user", "hello there")
        server.mood = mood
        async with asyncio.timeout(BOUND):
            context = await thread.context(QUESTION)
        assert "The cat is called Tom" in context.text
        assert context.messages[1:] == [{"role": "user", "content": "hello there"}]
        missing = {part.partition(":")[0] for part in context.degraded}
        assert missing == {"vector search"} if mood == "hangs" else {"vector search", "processing"}


async def test_a_search_asks_an_endpoint_that_hangs_once():
    """What was forgotten has a vector too, which talk that is not indexed yet is held against."""
    async with embedding_server() as server, memory_of(server) as memory:
        alice = memory.user("alice")
        assert memory.runtime.worker is not None
        await memory.runtime.worker.stop()  # which would index the talk, and ask for vectors of its own
        await alice.remember("The hamster is called Max")
        await alice.thread("t1").add("user", "My dog is called Rex")
        await alice.forget(query="hamster")
        server.mood, server.asked = "hangs", 0
        wait(memory, 0.3)
        async with asyncio.timeout(BOUND):
            hits = await alice.search("How are the cat and the dog called?")
        # Whether the dog was forgotten cannot be told, so it is left out.
        assert [hit.memory.content for hit in hits] == ["The cat is called Tom"]
        assert server.asked == 1


async def test_the_span_of_a_search_names_what_is_missing(monkeypatch: pytest.MonkeyPatch):
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr(telemetry, "_tracer", provider.get_tracer("test"))
    async with embedding_server() as server, memory_of(server) as memory:
        server.mood = "hangs up"
        wait(memory, 0.3)
        spans.clear()
        await memory.user("alice").search(QUESTION)
        await memory.user("alice").context(QUESTION)
    noted = [span.attributes["agent_memory.degraded"] for span in spans.get_finished_spans() if span.attributes]
    assert noted == [("vector search",), ("processing", "vector search")]


async def test_warming_searches_for_nobody_and_never_raises(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    store, asked = memory.runtime.store, set[str]()
    query = store.query

    async def noted(container: str, sql: str, partition: Sequence[str] | None = None, **parameters: Any) -> list[Any]:
        asked.update((partition or ())[:1])
        return await query(container, sql, partition, **parameters)

    monkeypatch.setattr(store, "query", noted)
    await memory.warm()
    assert STORE_USER in asked
    assert "could be loaded in advance" not in caplog.text

    for error, said in ((StoreUnavailable("no store today"), "no store today"), (TimeoutError(), "TimeoutError")):

        async def refused(*_: Any, error: Exception = error, **__: Any) -> list[Any]:
            raise error

        monkeypatch.setattr(store, "query", refused)
        await memory.warm()
        assert caplog.messages[-1] == f"Not all could be loaded in advance: {said}"


class Slow(HashingEmbeddings):
    async def embed(self, texts: list[str]) -> Embedded:
        await asyncio.sleep(0.06)
        return await super().embed(texts)


async def test_the_calls_of_a_search_share_its_time():
    impatient = Impatient(Slow(), 0.1, Outage())

    async def ask_twice() -> None:
        for _ in range(2):
            await impatient.embed([QUESTION])

    with pytest.raises(ModelError, match="no vector within"):
        await ask_twice()
