"""What health says of the store: how long turns wait, whether writes are taken, and what that costs."""

import itertools
import sqlite3
from collections.abc import Awaitable
from pathlib import Path

import pytest
from memories import opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import StoreUnavailable
from agent_memory.health import glance_at
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.processing.worker import Worker
from agent_memory.store.client import Store
from agent_memory.store.containers import LEASES
from agent_memory.store.counted import ThreadCounter

QUIET = Cadence(extract=1000, summarize=1000, profile=0, reconcile=0, idle_seconds=0)


def counted(counter: ThreadCounter, *turns: tuple[str, int]) -> ThreadCounter:
    return counter.counted(turns)


def test_a_counter_knows_since_when_its_oldest_turn_waits():
    counter = counted(ThreadCounter("u", "t", steps=("extract", "summarize")), ("a", 100), ("b", 105))
    counter = counted(counter, ("c", 200))
    assert counter.waiting_since == 100
    assert counter.ran("extract", 3).waiting_since == 100  # the summary has not been made
    assert counter.ran("extract", 3).ran("summarize", 2).waiting_since == 200
    assert counter.ran("extract", 3).ran("summarize", 3).waiting_since is None
    for number in range(1000):
        counter = counted(counter, (f"n{number}", 1000 + number))
    assert counter.waiting_since == 100
    assert len(counter.to_document()["waiting"]) <= 32
    assert counter.ran("extract", 3).ran("summarize", 3).waiting_since == 1000


async def test_the_oldest_waiting_turn_is_reported_until_it_is_processed(chat: ScriptedChat):
    async with opened(chat, cadence=QUIET) as memory:
        assert (await memory.health()).oldest_unprocessed is None
        chat_thread = memory.user("alice").thread("t")
        await chat_thread.add("user", "fact: city=Lisbon")
        worker = memory.runtime.worker
        assert worker is not None
        await worker._count_new_turns()
        [turn] = await memory.runtime.store.query("memories_turns", "SELECT c._ts FROM c")
        waiting = await memory.health()
        assert waiting.unprocessed_turns == 1
        assert waiting.oldest_unprocessed is not None
        assert waiting.oldest_unprocessed.timestamp() == turn["_ts"]
        assert await memory.drain(timeout=300) == 0
        assert (await memory.health()).oldest_unprocessed is None


async def test_what_waits_is_the_same_everywhere_when_an_ingest_was_interrupted(
    chat: ScriptedChat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "m.db"
    monkeypatch.setattr(Worker, "start", lambda _: None)  # a process that is killed before its worker comes to it
    for begun in (1, 3):
        async with AsyncMemory.local(path, chat_model=chat, embedding_model=HashingEmbeddings()) as memory:
            for thread in ("a", "b"):
                lines = [{"role": "user", "content": f"fact: n{n}=number {begun}"} for n in range(begun)]
                await memory.user("alice").thread(thread).add_many(lines)
            if begun == 1:
                worker = memory.runtime.worker
                assert worker is not None
                await worker._count_new_turns()
    async with AsyncMemory.local(path, chat_model=chat, embedding_model=HashingEmbeddings()) as memory:
        alice = memory.user("alice")
        for left in (8, 0):
            assert (await memory.health()).unprocessed_turns == left
            assert (await alice.stats()).unprocessed_turns == left
            assert [info.unprocessed_turns for info in await alice.threads()] == [left // 2] * 2
            assert await memory.drain(timeout=300) == 0


@pytest.mark.parametrize(
    ("breaks", "mends", "reason"),
    [
        ("PRAGMA query_only = 1", "PRAGMA query_only = 0", "readonly"),
        ("PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000", "full"),
    ],
)
async def test_a_store_that_takes_no_writes_is_reported_until_it_does(
    chat: ScriptedChat, tmp_path: Path, breaks: str, mends: str, reason: str
):
    """SQLite's bound on the pages of a file stands in for a full disk: the error is the same."""
    file = tmp_path / "full.db"
    async with opened(chat, file, cadence=QUIET) as memory:
        thread = memory.user("alice").thread("t")
        await thread.add("user", "fact: city=Lisbon")
        connection = _connection(memory)
        connection.executescript(breaks)
        for length in (1_000_000, 10_000, 1000, 100):  # what is left of the last pages is filled
            while await _is_taken(thread.add("user", "x" * length), reason):
                pass
        numbers = itertools.count()
        while await _is_taken(memory.runtime.store.upsert(LEASES, {"id": f"small-{next(numbers)}"}), reason):
            pass
        assert await glance_at(memory.runtime) == (False, ["store"])
        health = await memory.health()
        assert (health.ok, health.store_answers) == (False, False)
        assert any("accepts no writes" in warning and reason in warning for warning in health.warnings)
        connection.executescript(mends)
        assert await glance_at(memory.runtime) == (True, [])
        assert (await memory.health()).ok


def _connection(memory: AsyncMemory) -> sqlite3.Connection:
    """The connection of the engine that this memory closes at its end."""
    engine = memory._backend._on_close.__self__  # type: ignore[union-attr]
    connection: sqlite3.Connection = engine._storage._connection
    return connection


async def _is_taken(write: Awaitable[object], reason: str) -> bool:
    try:
        await write
    except StoreUnavailable as error:
        if reason not in str(error):
            raise
        return False
    return True


async def test_a_glance_costs_one_point_read(local: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    seen = []
    read = Store.read

    async def noting(store: Store, *args: object) -> object:
        seen.append(args)
        return await read(store, *args)  # type: ignore[arg-type]

    async def refused(*args: object, **options: object) -> object:
        raise AssertionError("no query, no write")

    monkeypatch.setattr(Store, "read", noting)
    for name in ("query", "upsert", "create", "batch"):
        monkeypatch.setattr(Store, name, refused)
    assert await glance_at(local.runtime) == (True, [])
    assert len(seen) == 1
