"""What happens in the background when nobody sets anything: how often, what it makes, what it says in the log."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from scripted_model import ScriptedChat

import embedded_cosmos
from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.processing.activities import ATTEMPTS
from agent_memory.processing.intake import due_user_work
from agent_memory.settings import Environment, Limits
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.ids import state_id

BY_COUNT = Cadence(idle_seconds=0)


@pytest.fixture
async def counting(chat: ScriptedChat) -> AsyncIterator[AsyncMemory]:
    """A memory that works by its thresholds alone."""
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), cadence=BY_COUNT) as opened:
        yield opened


async def until(true: Callable[[], Awaitable[Any]]) -> None:
    for _ in range(1500):
        if await true():
            return
        await asyncio.sleep(0.02)
    pytest.fail("it did not come about in 30 seconds")


def turns(first: int, last: int) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"fact: key {n}=value of {n}", "id": f"t{n}"} for n in range(first, last)]


@pytest.mark.req("S0-042", "S0-045", "S0-075", "S0-090", "S0-099")
async def test_the_tenth_turn_of_a_thread_starts_extraction_and_summary(
    counting: AsyncMemory, chat: ScriptedChat, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "agent_memory")
    thread = counting.user("alice").thread("t")
    await thread.add_many(turns(0, 9))

    async def nine_are_counted() -> bool:
        return sum(counter.count for counter in await counting.runtime.counters.of_user("alice")) == 9

    await until(nine_are_counted)
    assert chat.calls == {}
    await thread.add_many(turns(9, 10))
    await until(thread.state)

    async def extracted() -> bool:
        return len(await thread.memories(types=["fact"])) == 10

    async def logged() -> bool:  # it is logged behind the commit
        return "Memory: Stored 10 facts" in caplog.messages

    await until(extracted)
    await until(logged)
    assert chat.calls["extract"] == chat.calls["summarize"] == 1
    assert len(await counting.user("alice").search("value of key")) == 5  # of ten that say it
    assert counting.runtime.searcher.settings.threshold("a model that nobody measured") == 0.6


@pytest.mark.req("S0-024")
async def test_a_write_waits_for_no_model(chat: ScriptedChat) -> None:
    async def never(*_: Any) -> Any:
        await asyncio.Event().wait()

    chat.run = never  # type: ignore[method-assign]
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), cadence=BY_COUNT) as memory:
        receipt = await asyncio.wait_for(memory.user("alice").thread("t").add_many(turns(0, 30)), 10)
        assert (receipt.created, receipt.usage.model_calls, receipt.usage.embedded_texts) == (30, 0, 0)


@pytest.mark.req("S1-38", "S1-46", "S1-47", "S1-48")
def test_without_settings_the_function_app_reconciles_after_five_extractions_and_does_nothing_else_by_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("DEDUP_EVERY_N", "FACT_EXTRACTION_EVERY_N", "THREAD_SUMMARY_EVERY_N", "USER_SUMMARY_EVERY_N"):
        monkeypatch.delenv(name, raising=False)
    cadence = Environment().cadence
    assert (cadence.extract, cadence.summarize, cadence.profile, cadence.reconcile) == (0, 0, 0, 5)
    monkeypatch.setenv("DEDUP_EVERY_N", "0")
    assert Environment().cadence.reconcile == 0


@pytest.mark.req("S1-38")
async def test_facts_are_reconciled_after_five_extractions_and_never_with_0(memory: AsyncMemory) -> None:
    runtime, alice = memory.runtime, memory.user("alice")

    async def due(cadence: Cadence) -> list[str]:
        return [work.workflow for work in await due_user_work(runtime.tools, runtime.counters, cadence, "alice")]

    for number in range(5):
        assert "reconcile" not in await due(Cadence())
        thread = alice.thread(f"t{number}")
        await thread.add("user", f"fact: city {number}=Oslo and its harbour")
        await thread.process("extract")
    assert "reconcile" in await due(Cadence())
    assert "reconcile" not in await due(Cadence(reconcile=0))


@pytest.mark.req("S3-01", "S3-06")
async def test_what_was_said_in_one_conversation_is_recalled_in_the_next_by_default(chat: ScriptedChat) -> None:
    quiet = Cadence(idle_seconds=0.1)
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), cadence=quiet) as memory:
        alice = memory.user("alice")
        await alice.thread("monday").add("user", "fact: harbour hotel=booked for the whole of May")

        async def known() -> Any:
            return await alice.memories(types=["fact"])

        await until(known)
        context = await alice.thread("friday").context("Which harbour hotel is booked?")
        assert "booked for the whole of May" in context.text


@pytest.mark.req("S1-64", "S3-02", "S3-03", "S3-04", "S3-05")
async def test_each_type_lies_in_memories_and_is_found_by_its_names() -> None:
    said = [
        "I work as a nurse at the hospital in Bergen.",
        "I prefer trains to planes.",
        "To deploy the payment service: run npm build, then docker push, then restart the pods.",
    ]
    async with AsyncMemory.local(embedding_model=HashingEmbeddings(), cadence=Cadence(idle_seconds=0)) as memory:
        alice = memory.user("alice")
        chat = alice.thread("t")
        await chat.add_many([{"role": "user", "content": text} for text in said])
        await chat.end()
        await alice.remember("Is on leave until the end of May", kind="context")
        rows = await memory.runtime.store.query(MEMORIES, "SELECT c.type, c.kind FROM c WHERE IS_DEFINED(c.content)")
        stored = {(row["type"], row.get("kind")) for row in rows}
        assert {"fact", "procedural"} <= {type_ for type_, _ in stored}
        assert ("episodic", "session") in stored

        async def contents(name: str) -> list[str]:
            return [found.content for found in await alice.memories(types=[name])]

        assert any("nurse" in text for text in await contents("fact"))
        assert any("trains" in text for text in await contents("preference"))
        assert await contents("context") == ["Is on leave until the end of May"]
        assert ["nurse" in text for text in await contents("conversation_summary")] == [True]


@pytest.mark.req("S0-056", "S0-057")
async def test_one_fact_that_cannot_be_kept_does_not_stop_the_others(
    httpserver: HTTPServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "agent_memory")
    said = "The harbour of our boat is the old one in the north."
    facts = [
        {"content": "Has sold the boat", "quote": "I sold the boat", "turns": ["t1"]},
        {"content": "The harbour of the boat is the old one in the north", "quote": said, "turns": ["t1"]},
        {"content": "Owns a boat", "quote": "our boat", "turns": ["t9"]},
    ]
    message = {"role": "assistant", "content": json.dumps({"worth_extracting": True, "memories": facts})}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    httpserver.expect_request("/v1/chat/completions").respond_with_json({"choices": [choice]})
    model = OpenAIChat("m", base_url=httpserver.url_for("/v1"), api_key="k")
    async with AsyncMemory.local(chat_model=model, embedding_model=HashingEmbeddings(), cadence=BY_COUNT) as memory:
        thread = memory.user("alice").thread("t")
        await thread.add("user", said)
        result = await thread.process("extract")
        assert [fact.content for fact in await thread.memories(types=["fact"])] == [facts[1]["content"]]
    assert result.rejected == [
        "memory 1: its quote is not in the turns that it cites",
        "memory 3: it cites no turn that may be a source",
    ]
    logged = [(record.levelname, record.getMessage()) for record in caplog.records]
    why = "1 × its quote is not in the turns that it cites; 1 × it cites no turn that may be a source"
    assert ("WARNING", f"Memory: 2 items of extract were left out: {why}") in logged
    assert ("INFO", "Memory: Stored 1 facts") in logged


@pytest.mark.req("S0-081")
async def test_an_extraction_that_fails_is_logged_and_made_up_for(caplog: pytest.LogCaptureFixture) -> None:
    away = ModelError("503", retryable=True)
    failing = ScriptedChat(lambda task, call: away if task == "extract" and call <= ATTEMPTS else None)
    async with AsyncMemory.local(chat_model=failing, embedding_model=HashingEmbeddings(), cadence=BY_COUNT) as memory:
        thread = memory.user("alice").thread("t")
        await thread.add_many(turns(0, 10))
        assert await memory.drain(timeout=300) == 0
        assert len(await thread.memories(types=["fact"])) == 10
    failures = [record for record in caplog.records if "will be tried again: 503" in record.message]
    assert [record.levelname for record in failures] == ["WARNING"]


@pytest.mark.req("S0-097")
async def test_the_state_of_a_thread_runs_out(chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch) -> None:
    brief, passed = Limits(state_ttl_seconds=3600), [0.0]
    clocked = partial(embedded_cosmos.Engine, clock=lambda: time.time() + passed[0])
    monkeypatch.setattr(embedded_cosmos, "Engine", clocked)
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), limits=brief) as memory:
        thread = memory.user("alice").thread("t")
        await thread.add_many(turns(0, 3))
        await thread.process("summarize")
        stored = await memory.runtime.store.read(SUMMARIES, state_id("alice", "t"), ("alice", "t"))
        assert stored is not None
        assert stored["ttl"] == 3600
        assert await thread.state() is not None
        passed[0] = 3605
        assert await thread.state() is None
        assert await thread.summary() is not None
