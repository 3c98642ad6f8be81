"""Optimistic writes: nobody's change is lost to one that was made at the same time, and no attempt goes on for ever."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from rivals import after_query, after_reading

from agent_memory import AsyncMemory
from agent_memory.errors import Conflict, StoreUnavailable
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, SUMMARIES
from agent_memory.store.counted import ThreadCounter
from agent_memory.store.counters import Counters, Counting
from agent_memory.store.documents import Document
from agent_memory.store.memories import reaffirm
from agent_memory.store.updates import ATTEMPTS, change_document, change_existing

KEY = ("alice", "t1")


@pytest.fixture
def store(local: AsyncMemory) -> Store:
    return local.runtime.store


def noting(name: str):
    return lambda document: document | {"names": [*document.get("names", []), name]}


async def note(store: Store, name: str) -> Document:
    return await change_document(store, SUMMARIES, "notes", KEY, noting(name))


async def noted(store: Store) -> list[str]:
    return ((await store.read(SUMMARIES, "notes", KEY)) or {}).get("names", [])


@pytest.mark.parametrize("there", [True, False], ids=["changed", "made"])
async def test_a_change_keeps_what_a_rival_wrote_in_between(store: Store, monkeypatch: pytest.MonkeyPatch, there: bool):
    if there:
        await note(store, "first")
    after_reading(monkeypatch, store, "notes", lambda: note(store, "rival"))
    await note(store, "ours")
    assert await noted(store) == [*(["first"] if there else []), "rival", "ours"]


async def test_a_change_of_what_is_there_keeps_what_a_rival_wrote(store: Store, monkeypatch: pytest.MonkeyPatch):
    assert not await change_existing(store, SUMMARIES, "notes", KEY, noting("nobody"))
    await note(store, "first")
    after_reading(monkeypatch, store, "notes", lambda: note(store, "rival"))
    assert await change_existing(store, SUMMARIES, "notes", KEY, noting("ours"))
    assert await noted(store) == ["first", "rival", "ours"]


async def test_what_a_rival_deleted_is_not_made_again(store: Store, monkeypatch: pytest.MonkeyPatch):
    await note(store, "first")
    after_reading(monkeypatch, store, "notes", lambda: store.delete(SUMMARIES, "notes", KEY))
    assert not await change_existing(store, SUMMARIES, "notes", KEY, noting("ours"))
    assert await store.read(SUMMARIES, "notes", KEY) is None


async def test_a_change_that_changes_nothing_is_written_only_to_what_is_there(store: Store):
    first = await note(store, "first")
    same = await change_document(store, SUMMARIES, "notes", KEY, dict)
    assert same["_etag"] == first["_etag"]
    assert await change_existing(store, SUMMARIES, "notes", KEY, dict)
    touched = await store.read(SUMMARIES, "notes", KEY)
    assert touched is not None
    assert touched["_etag"] != first["_etag"]


@pytest.mark.parametrize("rivals", [ATTEMPTS - 1, ATTEMPTS], ids=["the last attempt counts", "too many"])
async def test_attempts_are_bounded_and_their_end_is_one_that_may_be_repeated(
    store: Store, monkeypatch: pytest.MonkeyPatch, rivals: int
):
    version = 0

    async def upsert() -> None:
        nonlocal version
        version += 1
        await store.upsert(SUMMARIES, {"id": "notes", "user_id": "alice", "thread_id": "t1", "version": version})

    await upsert()
    after_reading(monkeypatch, store, "notes", upsert, times=rivals)
    if rivals < ATTEMPTS:
        await note(store, "ours")
        assert await noted(store) == ["ours"]
    else:
        with pytest.raises(
            StoreUnavailable, match="too many writers change notes of alice at the same time: try again"
        ):
            await note(store, "ours")
        assert version == ATTEMPTS + 1


async def test_a_refusal_of_the_change_itself_is_not_tried_again(store: Store):
    asked = 0

    def refuse(document: Document) -> Document:
        nonlocal asked
        asked += 1
        raise Conflict("not this version")

    with pytest.raises(Conflict, match="not this version"):
        await change_document(store, SUMMARIES, "notes", KEY, refuse)
    assert asked == 1


async def test_two_counters_of_a_thread_lose_no_turn_of_each_other(store: Store, monkeypatch: pytest.MonkeyPatch):
    turns = [f"turn{n}" for n in range(3)]
    for turn in turns:
        # No turns of the feed: a worker of the store would count them too, by another clock.
        await store.create("memories_turns", {"id": turn, "user_id": "alice", "thread_id": "t1", "type": "draft"})
    ours, theirs = Counters(store, ("extract",)), Counters(store, ("extract",))

    at_it: list[bool] = []

    async def rival() -> bool:
        if not at_it:
            at_it.append(True)
            await theirs.count(*KEY, [("turn1", 1)])
            at_it.clear()
            return True
        return False

    await ours.count(*KEY, [("turn0", 1)])
    after_query(monkeypatch, store, COUNTER, queries.COUNTERS_OF, rival)
    assert (await ours.count(*KEY, [("turn2", 1)])).count == 3
    after_query(monkeypatch, store, COUNTER, queries.COUNTERS_OF, rival)
    assert (await ours.count(*KEY, [("turn2", 1)])).count == 3
    assert (await ours.user("alice")).turns == 3
    stored = await store.read(COUNTER, "counter", KEY)
    assert stored is not None
    assert (stored["count"], set(stored["cursor"]["seen"])) == (3, set(turns))


async def test_a_run_that_is_noted_late_does_not_take_back_a_later_one(store: Store):
    await store.create("memories_turns", {"id": "turn0", "user_id": "alice", "thread_id": "t1", "type": "draft"})
    counters = Counters(store, ("extract",))
    await counters.count(*KEY, [("turn0", 1)])
    for count in (20, 10):
        await counters.user_ran("alice", "profile", count)
    assert (await counters.user("alice")).done == {"profile": 20}


async def test_a_repetition_that_is_noted_late_does_not_take_back_a_later_one(local: AsyncMemory):
    alice = local.user("alice")
    fact = await alice.remember("Allergic to peanuts")
    days = [fact.created_at + timedelta(days=number) for number in (2, 1)]
    for day in days:
        await reaffirm(local.runtime.store, (fact.user_id, fact.thread_id), fact.id, day)
    assert (await alice.get(fact.id)).reaffirmed_at == days[0]


async def test_what_was_said_before_a_memory_does_not_repeat_it(local: AsyncMemory):
    alice = local.user("alice")
    fact = await alice.remember("Allergic to peanuts")
    key = (fact.user_id, fact.thread_id)
    await reaffirm(local.runtime.store, key, fact.id, fact.created_at - timedelta(days=1))
    assert (await alice.get(fact.id)).reaffirmed_at is None


async def test_a_turn_taken_back_twice_counts_once(store: Store):
    counters = Counters(store, ("extract", "summarize"))
    await store.create("memories_turns", {"id": "turn0", "user_id": "alice", "thread_id": "t1", "type": "draft"})
    await counters.count(*KEY, [("turn0", 1), ("turn1", 1), ("turn2", 1)])
    once = [await counters.take_back(*KEY, "turn2", 1, ["extract"]) or await counters.get(*KEY) for _ in range(2)]
    assert [one.done for one in once] == [{"summarize": 1}] * 2


async def test_what_the_total_includes_of_a_thread_never_falls(store: Store):
    counting = Counting(store, ("extract",), asyncio.Semaphore(1), "alice")
    counter = ThreadCounter(*KEY, steps=("extract",)).counted([(f"turn{n}", 1) for n in range(5)])
    await store.create(COUNTER, replace(counter, told=5).to_document())
    for told in (3, 5, 4):  # another process has told more meanwhile
        await counting._tell("t1", told)
    assert (await Counters(store, ("extract",)).get(*KEY)).told == 5
