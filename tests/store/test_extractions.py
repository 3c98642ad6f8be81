"""The count of a user's extractions is exact, and one read however many threads the user has."""

import asyncio

import pytest
from rivals import after_reading
from store_requests import asked_meanwhile, record_requests

from agent_memory import AsyncMemory
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, MEMORIES
from agent_memory.store.counters import count_extraction, count_extractions
from agent_memory.store.cursors import Cursor, cursor_document
from agent_memory.store.ids import COUNTERS_THREAD

PLACE = ("alice", COUNTERS_THREAD)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    record_requests(monkeypatch)


@pytest.fixture
def store(recorded: None, local: AsyncMemory) -> Store:
    return local.runtime.store


async def commit(store: Store, thread_id: str, runs: int = 1, counting: str = "") -> None:
    """What an earlier version, or a process that was killed, left of a thread's extractions."""
    extra = {"intents": {"counting": counting}} if counting else {}
    await store.upsert(MEMORIES, cursor_document(("alice", thread_id), "extract", Cursor(runs=runs), extra))


async def test_each_extraction_is_counted_once_though_its_commit_is_delivered_again(local: AsyncMemory, store: Store):
    alice = local.user("alice")
    for thread in ("a", "b", "a"):
        await alice.thread(thread).add("user", "fact: home=Lisbon by the river")
        await alice.thread(thread).process("extract")
        await alice.thread(thread).process("extract")  # nothing is left to cover
    assert await count_extractions(store, "alice") == 3
    known = (await store.read(COUNTER, "extractions", PLACE) or {})["known"]
    for run in known:
        await count_extraction(store, "alice", run)
    assert await count_extractions(store, "alice") == len(known) == 3


async def test_the_count_is_one_read_however_many_threads_there_are(store: Store):
    costs = []
    for number in (2, 60):
        for thread in range(number):
            await commit(store, f"t{thread}")
        await count_extraction(store, "alice", f"run {number}")
        with asked_meanwhile() as asked:
            assert await count_extractions(store, "alice") > 0
        costs.append([*asked.elements()])
    assert [len(asked) for asked in costs] == [1, 1]
    assert len({asked[-1] for [asked] in costs}) == 1, "the same request units"


async def test_the_extractions_of_an_earlier_version_are_counted_and_those_under_way_once(store: Store):
    await commit(store, "old", runs=5)
    await commit(store, "killed", runs=2, counting="second of killed")
    await commit(store, "now", runs=1, counting="first of now")
    assert await count_extractions(store, "alice") == 8
    for run in ("first of now", "second of killed", "first of now"):
        await count_extraction(store, "alice", run)
    assert await count_extractions(store, "alice") == 8
    await count_extraction(store, "alice", "hidden by a replica that lags")
    assert await count_extractions(store, "alice") == 9


async def test_a_first_count_includes_a_commit_that_a_lagging_replica_hides(store: Store):
    await commit(store, "seen", runs=2)
    await count_extraction(store, "alice", "hidden")
    assert await count_extractions(store, "alice") == 3


@pytest.mark.parametrize("begun", [True, False])
async def test_extractions_that_end_together_are_all_counted(
    store: Store, begun: bool, monkeypatch: pytest.MonkeyPatch
):
    for thread in ("a", "b", "c"):
        await commit(store, thread, counting=thread)
    if begun:
        await count_extraction(store, "alice", "a")
    after_reading(monkeypatch, store, "extractions", lambda: count_extraction(store, "alice", "rival"))
    await asyncio.gather(*(count_extraction(store, "alice", run) for run in ("a", "b", "c", "later")))
    assert await count_extractions(store, "alice") == 5


async def test_nothing_is_written_for_a_user_who_was_erased(store: Store):
    await count_extraction(store, "alice", "late")
    assert await store.read(COUNTER, "extractions", PLACE) is None
    assert await count_extractions(store, "alice") == 0
