"""Taking the newest turn back: what goes with it, what forbids it, and what comes in between."""

import asyncio
from typing import Any

import pytest
from api_world import serving
from store_scan import scan

from agent_memory import AsyncMemory
from agent_memory.errors import Conflict, StoreUnavailable
from agent_memory.forgetting.deletion import finish_forgettings
from agent_memory.forgetting.tombstones import bury
from agent_memory.models import Turn
from agent_memory.processing.intake import FEED_LEASE, count_turns
from agent_memory.scopes import AsyncThreadScope
from agent_memory.steps.gather import StepRequest
from agent_memory.store.containers import LEASES, TURNS

KEY = ("alice", "t1")


@pytest.fixture
def talk(memory: AsyncMemory) -> AsyncThreadScope:
    return memory.user("alice").thread("t1")


def said(turn: Turn | None) -> str | None:
    return None if turn is None else turn.content


async def redelivered(memory: AsyncMemory) -> None:
    """Lets the change feed deliver everything from its beginning."""
    await memory.runtime.store.delete(LEASES, FEED_LEASE, (FEED_LEASE,))
    assert await memory.drain(timeout=300) == 0


async def test_the_newest_turn_leaves_the_talk_and_the_index(memory: AsyncMemory, talk: AsyncThreadScope):
    await talk.add("user", "The parrot is called Polly and lives in the kitchen.")
    await talk.add("user", "The locker stands beside the swimming pool entrance.")
    await talk.process("index")
    assert len(await talk.search("locker swimming pool")) > 0
    assert said(await talk.pop()) == "The locker stands beside the swimming pool entrance."
    assert [turn.content for turn in await talk.turns()] == ["The parrot is called Polly and lives in the kitchen."]
    assert await scan(memory, "swimming") == []
    assert (await talk.stats()).turns == 1
    assert not any("locker" in hit.memory.content for hit in await talk.search("locker swimming pool"))


async def test_an_empty_or_cleared_talk_gives_nothing(talk: AsyncThreadScope):
    assert await talk.pop() is None
    await talk.add("user", "one")
    await talk.clear()
    assert await talk.pop() is None
    assert len(await talk.turns()) == 1
    await talk.add("user", "two")
    assert said(await talk.pop()) == "two"
    assert await talk.pop() is None


async def test_turns_of_one_moment_go_in_the_reverse_order_of_the_talk(talk: AsyncThreadScope):
    at = "2026-03-15T10:00:00Z"
    await talk.add_many([{"role": "user", "content": str(n), "id": f"t{n}", "created_at": at} for n in range(3)])
    assert [said(await talk.pop()) for _ in range(4)] == ["2", "1", "0", None]


@pytest.mark.parametrize(
    ("step", "why"), [("extract", "derived from"), ("summarize", "summary"), ("archive", "derived from")]
)
async def test_what_something_was_derived_from_stays(memory: AsyncMemory, talk: AsyncThreadScope, step: str, why: str):
    await talk.add("user", "fact: the locker code is seven")
    await talk.process(step)  # type: ignore[arg-type]  # a parameter
    before = await memory.user("alice").memories(include_superseded=True)
    with pytest.raises(Conflict, match=why):
        await talk.pop()
    assert len(await talk.turns()) == 1
    assert await memory.user("alice").memories(include_superseded=True) == before


async def test_what_was_said_again_stays(memory: AsyncMemory, talk: AsyncThreadScope):
    for thread in ("t0", "t1"):
        await memory.user("alice").thread(thread).add("user", "fact: the locker code is seven")
        await memory.user("alice").thread(thread).process("extract")
    with pytest.raises(Conflict, match="said again"):
        await talk.pop()


async def test_a_turn_that_was_read_in_vain_can_be_taken_back(memory: AsyncMemory, talk: AsyncThreadScope):
    await talk.add_many([{"role": "user", "content": "fact: the bike is red"}, {"role": "user", "content": "hm"}])
    await talk.process("extract")
    assert said(await talk.pop()) == "hm"
    stats = await talk.stats()
    assert (stats.turns, stats.unprocessed_turns, stats.memories) == (1, 0, 1)
    with pytest.raises(Conflict):
        await talk.pop()


async def test_a_summary_of_earlier_turns_is_left_alone(talk: AsyncThreadScope):
    await talk.add("user", "said first")
    await talk.process("summarize")
    before = await talk.summary()
    await talk.add("user", "said later")
    assert said(await talk.pop()) == "said later"
    assert await talk.summary() == before
    assert (await talk.process("summarize")).turns == 0


@pytest.mark.parametrize("counted", [False, True])
async def test_counters_stay_exact_under_redelivery(memory: AsyncMemory, talk: AsyncThreadScope, counted: bool):
    assert memory.runtime.worker is not None
    await memory.runtime.worker.stop()  # the test says what is delivered when
    counters, store = memory.runtime.counters, memory.runtime.store
    await talk.add("user", "fact: the bike is red")
    await talk.add("user", "fact: the locker code is seven")
    page = await store.query(TURNS, "SELECT * FROM c", KEY)
    if counted:
        await count_turns(memory.runtime.tools, counters, page)
    await talk.pop()
    assert (await counters.get(*KEY)).pending == int(counted)
    for _ in range(2):  # a page that was read before, delivered twice
        await count_turns(memory.runtime.tools, counters, page)
    counter = await counters.get(*KEY)
    assert (counter.count, counter.pending) == (1 + counted, 1)
    await redelivered(memory)
    counter = await counters.get(*KEY)
    assert (counter.count, counter.pending, counter.waiting_since) == (1 + counted, 0, None)
    assert [memory.content for memory in await talk.memories()] == ["the bike is red"]
    (thread,) = await memory.user("alice").threads()
    assert (thread.turns, thread.unprocessed_turns) == (1, 0)
    await talk.add("user", "fact: the cat is black")
    await redelivered(memory)
    assert {memory.content for memory in await talk.memories()} == {"the bike is red", "the cat is black"}


async def test_a_turn_taken_back_never_becomes_a_memory(memory: AsyncMemory, talk: AsyncThreadScope):
    """Neither by a draft that has read it, nor by a step that commits just before its cursor is touched."""
    run = memory.runtime.activities
    request = StepRequest(user_id="alice", thread_id="t1").model_dump(mode="json")
    await talk.add("user", "fact: the locker code is seven")
    draft = await run["extract.think"](request)
    await talk.pop()
    committed = await run["commit"](draft or {})
    assert committed is not None
    assert committed["raced"] is True
    assert await memory.user("alice").memories(include_superseded=True) == []


async def test_what_was_derived_in_between_goes_too(
    memory: AsyncMemory, talk: AsyncThreadScope, monkeypatch: pytest.MonkeyPatch
):
    await talk.add("user", "fact: the bike is red")
    await talk.process("extract")
    await talk.add("user", "fact: the locker code is seven", id="x")

    async def after_steps(*rest: Any) -> None:
        await talk.process("extract")
        await talk.process("summarize")
        await bury(*rest)

    monkeypatch.setattr("agent_memory.forgetting.pop.bury", after_steps)
    assert said(await talk.pop()) == "fact: the locker code is seven"
    assert [memory.content for memory in await talk.memories(include_superseded=True)] == ["the bike is red"]
    assert await scan(memory, "seven") == []


async def test_an_id_is_spent_and_the_words_are_not(memory: AsyncMemory, talk: AsyncThreadScope):
    await talk.add("user", "fact: the locker code is seven", id="x")
    await talk.pop()
    assert (await talk.add("user", "fact: the locker code is seven", id="x")).forgotten == ["x"]
    assert await talk.turns() == []
    await talk.add("user", "fact: the locker code is seven", id="y")
    await talk.process("extract")
    assert [memory.content for memory in await talk.memories()] == ["the locker code is seven"]


async def test_many_at_once_take_different_turns(talk: AsyncThreadScope):
    await talk.add_many([{"role": "user", "content": str(n)} for n in range(8)])
    taken = [said(turn) for turn in await asyncio.gather(*(talk.pop() for _ in range(6)))]
    assert sorted(taken, key=str) == [str(n) for n in range(2, 8)]
    assert [turn.content for turn in await talk.turns()] == ["0", "1"]


@pytest.mark.parametrize("lost", ["before", "behind"])
async def test_a_pop_that_was_cut_short_is_finished(
    memory: AsyncMemory, talk: AsyncThreadScope, monkeypatch: pytest.MonkeyPatch, lost: str
):
    store, delete = memory.runtime.store, memory.runtime.store.delete
    await talk.add_many([{"role": "user", "content": f"The locker number {n} is painted green."} for n in range(3)])
    await talk.process("index")

    async def failing(container: str, *rest: object) -> bool:
        monkeypatch.undo()
        if container == TURNS and lost == "behind":
            await delete(container, *rest)  # type: ignore[arg-type]  # handed on
            raise KeyError("the process ends")
        raise StoreUnavailable("away")

    monkeypatch.setattr(store, "delete", failing)
    with pytest.raises((StoreUnavailable, KeyError)):
        await talk.pop()
    if lost == "before":  # the caller repeats the call
        assert said(await talk.pop()) == "The locker number 2 is painted green."
    else:  # the background finishes it
        assert await finish_forgettings(store, memory.runtime.counters) == 1
    assert len(await talk.turns()) == 2
    assert len(await scan(memory, "number 2")) == 0
    assert await finish_forgettings(store, memory.runtime.counters) == 0


async def test_other_talks_keep_turns_of_the_same_name(memory: AsyncMemory, talk: AsyncThreadScope):
    others = [memory.user("alice").thread("t2"), memory.user("bob").thread("t1")]
    for one in (talk, *others):
        await one.add("user", "fact: the locker code is seven", id="x")
    await talk.pop()
    for one in others:
        assert (await one.process("extract")).created == 1
        assert [turn.id for turn in await one.turns()] == ["x"]


async def test_over_http(memory: AsyncMemory):
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        talk = remote.user("alice").thread("t1")
        assert await talk.pop() is None
        await talk.add("user", "one")
        await talk.add("assistant", "two", metadata={"tool": "x"})
        popped = await talk.pop()
        assert popped is not None
        assert (popped.content, popped.role, popped.metadata) == ("two", "agent", {"tool": "x"})
        await talk.process("summarize")
        with pytest.raises(Conflict):
            await talk.pop()
