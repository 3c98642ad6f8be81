"""The place in the change feed: one for each physical partition, kept over restarts."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.processing.intake import FEED_LEASE
from agent_memory.store.containers import LEASES

QUIET = Cadence(idle_seconds=0)


def opened(path: Path) -> AsyncMemory:
    return AsyncMemory.local(path, chat_model=ScriptedChat(), embedding_model=HashingEmbeddings(), cadence=QUIET)


async def say(memory: AsyncMemory, user: str, number: int) -> int:
    await memory.user(user).thread("t").add("user", f"fact: key {number}=value of {number}", id=f"{user}-{number}")
    return await memory.drain(timeout=60)


async def test_a_store_of_several_partitions_goes_on_where_it_was_though_only_one_of_them_holds_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDED_COSMOS_STRICT", "1")
    for number in range(3):
        async with opened(tmp_path / "m.db") as memory:
            assert await say(memory, "alice", number) == 0
            lease = await memory.runtime.store.read(LEASES, FEED_LEASE, (FEED_LEASE,))
            assert lease is not None
            assert len(lease["parts"]) == 3
            assert sum("continuation" in part for part in lease["parts"]) == 1
            assert len(await memory.user("alice").memories(types=["fact"])) == number + 1


async def test_the_place_that_an_earlier_version_kept_is_replaced_and_nothing_counted_twice(tmp_path: Path) -> None:
    async with opened(tmp_path / "m.db") as memory:
        assert await say(memory, "alice", 0) == 0
        await memory.runtime.store.upsert(LEASES, {"id": FEED_LEASE, "continuation": "of another form"})
    async with opened(tmp_path / "m.db") as memory:
        assert await say(memory, "alice", 1) == 0
        (counter,) = await memory.runtime.counters.of_user("alice")
        assert counter.count == 2
        assert len(await memory.user("alice").memories(types=["fact"])) == 2
