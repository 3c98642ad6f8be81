"""A deletion of any size: its plan takes as many documents as it needs, and survives a crash like a small one."""

import asyncio
from contextvars import ContextVar
from typing import Any

import pytest
from store_scan import scan

from agent_memory import AsyncMemory
from agent_memory.forgetting import jobs
from agent_memory.forgetting.deletion import finish_forgettings
from agent_memory.store import changes, queries
from agent_memory.store.changes import left_by
from agent_memory.store.containers import MEMORIES
from agent_memory.store.ids import FORGOTTEN_THREAD


def large_job(turns: int) -> dict[str, Any]:
    """A job that deletes some turns and as many memories, all with the longest ids that callers may give."""
    ids = [f"{number}-".ljust(255, "x") for number in range(turns)]
    return {
        "id": "forgetting_1",
        "user_id": "alice",
        "thread_id": FORGOTTEN_THREAD,
        "type": "forgetting",
        "at": "2026-11-28T10:00:00Z",
        "turns": {"t1": ids[: turns // 2], "t" * 255: ids[turns // 2 :]},
        "memories": dict.fromkeys(ids, "t" * 255),
        "kept": ids[::7],
        "accounts": ["t1"],
        "keeps_memories": False,
    }


async def test_a_plan_that_no_document_has_room_for_is_stored_and_read_whole(memory: AsyncMemory):
    store, job = memory.runtime.store, large_job(10_000)
    stored = await jobs.store_job(store, job)
    [row] = await jobs.jobs_of(store, "alice")
    read = await jobs.read_job(store, row)
    for whole in (stored, read):
        assert whole is not None
        assert {name: whole[name] for name in job} == job | {"type": jobs.IN_PARTS}
    await jobs.end_job(store, stored)
    assert await store.count(MEMORIES) == 0
    assert await jobs.read_job(store, row) is None


async def test_a_plan_that_another_process_drops_while_it_is_written_is_written_again(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(jobs, "PART_BYTES", 2000)
    store, job = memory.runtime.store, large_job(50)
    real, dropped = store.upsert, 0

    async def late(container: str, document: dict[str, Any]) -> Any:
        nonlocal dropped
        if document["id"].endswith("_3") and not dropped:
            dropped = await finish_forgettings(store, memory.runtime.counters)
        return await real(container, document)

    monkeypatch.setattr(store, "upsert", late)
    await jobs.store_job(store, job)
    assert dropped == 1
    [row] = await jobs.jobs_of(store, "alice")
    read = await jobs.read_job(store, row)
    assert read is not None
    assert {name: read[name] for name in job} == job | {"type": jobs.IN_PARTS}


async def test_a_process_that_drops_a_plan_slowly_takes_nothing_from_the_next_one(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(jobs, "PART_BYTES", 2000)
    store, job = memory.runtime.store, large_job(50)
    upsert, delete, dropped, written = store.upsert, store.delete, asyncio.Event(), asyncio.Event()
    writes, slow = ContextVar("writes", default=False), None  # the memory's worker may be the one that drops it

    async def drop() -> None:
        writes.set(False)
        await finish_forgettings(store, memory.runtime.counters)

    async def late(container: str, document: dict[str, Any]) -> Any:
        nonlocal slow
        if document["id"].endswith("_3") and slow is None:
            slow = asyncio.create_task(drop())
            await dropped.wait()
        return await upsert(container, document)

    async def waits(*given: Any) -> Any:
        if not writes.get():
            dropped.set()
            await written.wait()
        return await delete(*given)

    monkeypatch.setattr(store, "upsert", late)
    monkeypatch.setattr(store, "delete", waits)
    writes.set(True)
    await jobs.store_job(store, job)
    written.set()
    assert slow is not None
    await slow
    [row] = await jobs.jobs_of(store, "alice")
    read = await jobs.read_job(store, row)
    assert read is not None
    assert {name: read[name] for name in job} == job | {"type": jobs.IN_PARTS}
    await jobs.end_job(store, read)
    assert await store.count(MEMORIES) == 0


async def test_a_plan_without_one_of_its_parts_is_done(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jobs, "PART_BYTES", 2000)
    store = memory.runtime.store
    stored = await jobs.store_job(store, large_job(50))
    await store.delete(MEMORIES, stored["parts"][0], ("alice", FORGOTTEN_THREAD))
    assert await finish_forgettings(store, memory.runtime.counters) == 1
    assert await store.count(MEMORIES) == 0  # and no record that names fewer memories than were deleted


async def test_an_earlier_version_leaves_a_plan_in_parts_alone(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    """It would delete what the first document names, and then the document."""
    monkeypatch.setattr(jobs, "PART_BYTES", 2000)
    store = memory.runtime.store

    def given(listing: str) -> dict[str, int]:
        return {"since": 0, "until": 2**40, "limit": 10} if "@limit" in listing else {}

    earlier = (
        'SELECT c.id, c.user_id, c.popped FROM c WHERE c.type = "forgetting"',
        'SELECT TOP @limit c.id, c.user_id FROM c WHERE c.type = "forgetting" AND c._ts >= @since AND c._ts < @until',
    )
    ours = (queries.FORGETTINGS, queries.FORGETTINGS_LEFT)
    small = await jobs.store_job(store, large_job(1))
    for listing in (*earlier, *ours):
        [row] = await store.query(MEMORIES, listing, **given(listing))
        assert row["id"] == small["id"]
    await jobs.end_job(store, small)
    await jobs.store_job(store, large_job(50))
    assert [await store.query(MEMORIES, listing, **given(listing)) for listing in earlier] == [[], []]
    for listing in ours:
        [row] = await store.query(MEMORIES, listing, **given(listing))
        assert row["id"] == "forgetting_1"


async def test_a_plan_waits_as_long_as_it_must(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jobs, "PART_BYTES", 2000)
    await jobs.store_job(memory.runtime.store, large_job(50))
    assert await memory.runtime.store.query(MEMORIES, "SELECT c.id FROM c WHERE IS_DEFINED(c.ttl)") == []


async def test_the_record_that_a_large_deletion_leaves_is_read_as_changes(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    store, job = memory.runtime.store, large_job(30_000)
    for left in left_by(job):
        await store.upsert(MEMORIES, left)
    monkeypatch.setattr(changes, "OPEN_SECONDS", -1)
    told = await memory.user("alice").changes()
    assert len({one.memory_id for one in told.changes}) == 30_000


@pytest.mark.parametrize("after", range(0, 44, 3))
async def test_a_deletion_in_several_parts_survives_a_crash_anywhere(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch, after: int
):
    monkeypatch.setattr(jobs, "PART_BYTES", 200)
    alice, store = memory.user("alice"), memory.runtime.store
    for thread in ("t1", "t2"):
        chat = alice.thread(thread)
        await chat.add_many(
            [{"role": "user", "content": "fact: locker code=4711", "id": f"{thread}-{n}"} for n in range(6)]
        )
    await chat.add("user", "fact: city=Lisbon, by the river")
    await memory.drain(timeout=60)
    calls = 0

    def crash(real: Any) -> Any:
        async def write(*given: Any, **named: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > after:
                raise ConnectionError("killed")
            return await real(*given, **named)

        return write

    with monkeypatch.context() as patched:
        for name in ("batch", "create", "upsert", "replace", "delete"):
            patched.setattr(store, name, crash(getattr(store, name)))
        with pytest.raises(ConnectionError):
            await alice.forget(query="locker code")
    planned = bool(await store.query(MEMORIES, "SELECT c.id FROM c WHERE c.whole"))
    await finish_forgettings(store, memory.runtime.counters)
    if not planned:
        await alice.forget(query="locker code")
    assert await scan(memory, "4711", '"t1-0"', '"t2-5"', "forgetting_") == []
    assert [one.content for one in await alice.memories(types=["fact"])] == ["city=Lisbon, by the river"]
