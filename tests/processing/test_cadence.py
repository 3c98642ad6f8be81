"""How often the background works when nobody says otherwise, and what one such run leaves behind."""

import logging

import pytest
from memories import NEVER, opened
from scripted_model import ScriptedChat
from simulation import simulated_time

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError
from agent_memory.language.tasks import ExtractInput
from agent_memory.processing.activities import run_workflow
from agent_memory.processing.due import Work, due_work
from agent_memory.processing.intake import count_turns, due_user_work, mark
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.counted import ThreadCounter

DEFAULT = Cadence()


async def arrive(memory: AsyncMemory, cadence: Cadence, numbers: range) -> None:
    """Turns arrive one by one, and what each makes due is done."""
    runtime = memory.runtime

    async def threads(touched: list[ThreadCounter]) -> list[Work]:
        return due_work(touched, cadence)

    async def user(_: list[ThreadCounter]) -> list[Work]:
        return await due_user_work(runtime.tools, runtime.counters, cadence, "alice")

    for n in numbers:
        await (
            memory.user("alice")
            .thread("t")
            .add_many([{"id": f"turn-{n}", "role": "user", "content": f"fact: key{n}=value number {n}"}])
        )
        documents = [
            document
            for part in await runtime.store.feed_ranges()
            async for page, _ in runtime.store.changes(part, None, 1000)
            for document in page
        ]
        touched = await count_turns(runtime.tools, runtime.counters, documents)
        for due in (threads, user):
            for work in await due(touched):
                await run_workflow(work.workflow, work.request, runtime.activities)
                await mark(runtime.counters, work)


@pytest.mark.req("S0-042", "S0-045", "S0-090", "S0-096", "S0-097", "S0-099", "S1-47")
async def test_the_tenth_turn_extracts_and_rebuilds_the_state_and_the_ninth_does_not(chat: ScriptedChat):
    async with opened(chat) as memory:
        thread = memory.user("alice").thread("t")
        await arrive(memory, DEFAULT, range(9))
        assert (chat.calls.total(), await thread.state()) == (0, None)
        await arrive(memory, DEFAULT, range(9, 10))
        assert chat.calls == {"extract": 1, "summarize": 1}
        assert len(await memory.user("alice").memories()) == 10
        state = await thread.state()
        assert state is not None
        assert state.state == {"last": "fact: key9=value number 9"}
        (lifetime,) = await memory.runtime.store.query(SUMMARIES, 'SELECT VALUE c.ttl FROM c WHERE c.type = "state"')
        assert lifetime == 7 * 24 * 3600


@pytest.mark.req("S0-046")
async def test_a_batch_is_the_ten_new_turns_with_the_five_before_them(chat: ScriptedChat):
    async with opened(chat) as memory:
        await arrive(memory, DEFAULT, range(10))
        await arrive(memory, DEFAULT, range(10, 20))
        batches = [(len(data.before), len(data.turns)) for data in chat.seen if isinstance(data, ExtractInput)]
        assert batches == [(0, 10), (5, 10)]
        assert memory.runtime.tools.limits.batch_turns == 30  # of a backlog, three such batches at once


@pytest.mark.req("S1-38")
@pytest.mark.parametrize(("cadence", "runs"), [(Cadence(extract=1, summarize=0, profile=0), 2), (NEVER, 0)])
async def test_reconciliation_follows_every_fifth_extraction(chat: ScriptedChat, cadence: Cadence, runs: int):
    async with opened(chat) as memory:
        await arrive(memory, cadence, range(11))
        assert chat.calls["reconcile"] == runs


@simulated_time
@pytest.mark.req("S0-081")
async def test_a_model_that_is_down_stores_nothing_warns_and_loses_nothing(
    chat: ScriptedChat, caplog: pytest.LogCaptureFixture
):
    down = True
    chat.fault = lambda task, call: ModelError("timed out", retryable=True) if down else None
    async with opened(chat, cadence=Cadence(idle_seconds=0)) as memory:
        with caplog.at_level(logging.WARNING, "agent_memory"):
            await memory.user("alice").thread("t").add("user", "fact: home=Lisbon, by the river")
            assert await memory.drain(timeout=3) == 1
        assert "will be tried again: timed out" in caplog.text
        assert await memory.user("alice").memories() == []
        down = False
        assert await memory.drain(timeout=300) == 0
        assert len(await memory.user("alice").memories()) == 1
