"""What a conversation still shows, what has left its view, and that nothing leaves before what replaces it."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest
from rivals import after_reading
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.errors import Conflict, InvalidInput, ModelError
from agent_memory.scopes import AsyncThreadScope
from agent_memory.steps.gather import StepRequest
from agent_memory.store.calls import metered
from agent_memory.store.turns import WINDOW_ID


async def talk(chat: AsyncThreadScope, *lines: str) -> list[str]:
    """Writes lines of a user; their ids."""
    return (await chat.add_many([{"role": "user", "content": line} for line in lines])).ids


async def live(chat: AsyncThreadScope) -> list[str]:
    return [turn.content for turn in (await chat.view()).turns]


@pytest.mark.req("S2-41", "S2-19", "S2-59")
async def test_clearing_counts_what_it_cleared_and_keeps_it_on_record(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    assert await chat.clear() == 0
    await chat.add("system", "You are kind.")
    await talk(chat, "one", "two")
    assert await chat.clear() == 3
    assert await chat.clear() == 0
    assert await live(chat) == []
    assert [turn.content for turn in await chat.turns()] == ["You are kind.", "one", "two"]
    await talk(chat, "three")
    assert await live(chat) == ["three"]
    assert await chat.clear() == 1


async def test_clearing_one_thread_leaves_the_others(memory: AsyncMemory):
    alice = memory.user("alice")
    await talk(alice.thread("t1"), "one")
    await talk(alice.thread("t2"), "two")
    await talk(memory.user("bob").thread("t1"), "three")
    assert await alice.thread("t1").clear() == 1
    assert await live(alice.thread("t2")) == ["two"]
    assert await live(memory.user("bob").thread("t1")) == ["three"]


@pytest.mark.req("S2-41", "S2-39")
async def test_a_cleared_talk_does_not_come_back_as_a_summary(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    await talk(chat, "summarized before")
    await chat.process("summarize")
    await talk(chat, "not yet summarized")
    assert await chat.clear() == 2
    assert (await chat.summary(), await chat.state()) == (None, None)
    assert (await chat.process("summarize")).turns == 0
    await talk(chat, "afterwards")
    await chat.process("summarize")
    summary = await chat.summary()
    assert summary is not None
    assert summary.key_points == ["afterwards"]
    assert [turn["content"] for turn in (await chat.context("what was said?")).messages[1:]] == ["afterwards"]


async def test_a_summary_that_is_being_made_while_the_talk_is_cleared_is_not_committed(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    await talk(chat, "a secret")
    run = memory.runtime.activities
    request = StepRequest(user_id="alice", thread_id="t1").model_dump(mode="json")
    draft = await run["summarize.think"](request)
    await chat.clear()
    committed = await run["commit"](draft or {})
    assert committed is not None
    assert committed["raced"] is True
    assert await chat.summary() is None


async def test_what_was_learned_from_a_cleared_talk_stays_known(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    await talk(chat, "fact: seat=aisle, please")
    await chat.clear()
    assert (await chat.process("extract")).created == 1
    assert [fact.content for fact in await memory.user("alice").memories()] == ["seat=aisle, please"]


@pytest.mark.req("S4-39")
async def test_turns_retire_in_their_order_and_the_systems_stay(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    await chat.add("system", "You are kind.")
    ids = await talk(chat, "one", "two", "three")
    assert await chat.retire(ids[1]) == 2
    assert await live(chat) == ["You are kind.", "three"]
    assert await chat.retire(ids[0]) == 0
    assert await chat.retire("no-such-turn") == 0
    assert (await chat.view()).retired == 2
    assert len(await chat.turns()) == 4
    with pytest.raises(InvalidInput):
        await chat.retire("a/b")
    with pytest.raises(InvalidInput):
        await chat.retire(ids[2], covered_by=["profile"])  # type: ignore[list-item]


@pytest.mark.req("S2-25")
async def test_no_turn_retires_before_the_step_that_replaces_it_has_covered_it(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    ids = await talk(chat, "one", "two")
    assert await chat.retire(ids[1], covered_by=["summarize"]) == 0
    await chat.process("summarize")
    ids += await talk(chat, "three")
    assert await chat.retire(ids[2], covered_by=["summarize", "extract"]) == 0
    assert await chat.retire(ids[2], covered_by=["summarize"]) == 2
    assert await live(chat) == ["three"]


@pytest.mark.req("S2-25", "S2-28")
async def test_a_turn_that_the_step_gave_up_on_does_not_retire(memory: AsyncMemory, chat: ScriptedChat):
    thread = memory.user("alice").thread("t1")
    ids = await talk(thread, "one")
    await thread.process("summarize")
    chat.fault = lambda task, _: ModelError("cannot be used")
    ids += await talk(thread, "two")
    assert (await thread.process("summarize")).dead_letters == 1
    chat.fault = None
    ids += await talk(thread, "three")
    await thread.process("summarize")
    assert await thread.retire(ids[2], covered_by=["summarize"]) == 1
    assert await live(thread) == ["two", "three"]
    (letter,) = await memory.dead_letters()
    await memory.replay(letter.id)
    assert await thread.retire(ids[2], covered_by=["summarize"]) == 2


async def test_what_is_written_late_is_shown_however_old_it_says_it_is(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    start = datetime(2026, 3, 1, tzinfo=UTC)
    ids = await talk(chat, "now")
    assert await chat.retire(ids[0]) == 1
    await chat.add("user", "long ago", created_at=start)
    assert await live(chat) == ["long ago"]
    assert await chat.clear() == 1
    await chat.add("user", "longer ago", created_at=start - timedelta(days=1))
    await chat.add("user", "today")
    assert await live(chat) == ["longer ago", "today"]


async def test_what_retires_late_brings_back_nothing_that_is_newer(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    assert await chat.retire((await talk(chat, "now"))[0]) == 1
    late = await chat.add("user", "long ago", created_at=datetime(2026, 3, 1, tzinfo=UTC))
    assert await chat.retire(late.ids[0]) == 1
    assert await live(chat) == []


async def test_what_had_retired_before_a_clearing_counts_no_more(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    await chat.retire((await talk(chat, "one"))[0])
    await talk(chat, "two")
    await chat.clear()
    assert (await chat.view()).retired == 0


async def test_writers_and_a_clearing_that_race_lose_no_turn(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    cleared: list[int] = []

    async def write(writer: int) -> None:
        for number in range(10):
            await chat.add("user", f"{writer}-{number}")

    async def clear() -> None:
        for _ in range(5):
            try:
                cleared.append(await chat.clear())
            except Conflict:  # both clearings were beaten again and again; a caller would repeat it
                continue
            await asyncio.sleep(0.01)

    await asyncio.gather(*(write(n) for n in range(4)), clear(), clear())
    assert sum(cleared) + len(await live(chat)) == len(await chat.turns()) == 40


@pytest.mark.parametrize("moved", [False, True], ids=["first", "again"])
async def test_turns_that_retire_while_the_talk_is_cleared_bring_nothing_back(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch, moved: bool
):
    thread = memory.user("alice").thread("t1")
    await thread.add("system", "You are kind.")
    ids = await talk(thread, "one", "two", "three")
    if moved:
        assert await thread.retire(ids[0]) == 1
    after_reading(monkeypatch, memory.runtime.store, WINDOW_ID, thread.clear)
    assert await thread.retire(ids[1]) == 0
    assert await live(thread) == []


async def test_reading_the_view_costs_what_it_holds_and_not_what_was_ever_said(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    old = datetime(2026, 1, 1, tzinfo=UTC)
    turns = [{"role": "user", "content": "x" * 500, "created_at": old + timedelta(minutes=n)} for n in range(300)]
    ids = (await chat.add_many(turns)).ids
    await chat.retire(ids[-1])
    # The window looks two seconds back, because that is how late a write of the running second may turn up.
    await asyncio.sleep(3.1 - time.time() % 1)
    await chat.retire((await talk(chat, "new"))[0])
    await chat.add("user", "newer")
    with metered() as view:
        assert await live(chat) == ["newer"]
    with metered() as everything:
        await chat.turns()
    assert sum(view) < sum(everything) / 3


async def test_a_summary_that_is_made_again_after_a_clearing_has_what_was_written_late(memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    await talk(chat, "cleared")
    await chat.clear()
    await chat.add("user", "long ago, told today", created_at=datetime(2020, 1, 1, tzinfo=UTC))
    ids = await talk(chat, "my locker's code is 4711", "the weather is fine")
    await chat.process("summarize")
    await memory.user("alice").forget(ids[0])
    await chat.process("summarize")
    summary = await chat.summary()
    assert summary is not None
    assert summary.key_points == ["long ago, told today", "the weather is fine"]
