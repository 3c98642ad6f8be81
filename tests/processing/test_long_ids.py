"""Turns with ids of any length are read once by each step, and leave nothing behind when they are forgotten."""

from collections.abc import Mapping
from typing import Any

import pytest
from store_scan import scan

from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput
from agent_memory.models import Turn, now
from agent_memory.processing.intake import count_batch
from agent_memory.store.containers import MEMORIES
from agent_memory.store.cursors import Cursor, read_cursor
from agent_memory.store.turns import covered_turns, new_turn_ids, new_turns, write_turns


def long_id(number: int) -> str:
    return f"turn-{number}-".ljust(255, "x")


async def test_turns_with_long_ids_are_read_once(memory: AsyncMemory):
    store, place = memory.runtime.store, ("alice", "t")
    ids = [*(long_id(number) for number in range(6)), "short"]
    turns = [
        Turn(id=one, user_id="alice", thread_id="t", role="user", content="Hello", created_at=now()) for one in ids
    ]
    await write_turns(store, turns, set(ids))
    cursor, read = Cursor(), []
    while found := await new_turns(store, *place, cursor, limit=2):
        assert len(found) <= 2
        assert await covered_turns(store, place, cursor) == len(read)
        left = {row["id"] for row in await new_turn_ids(store, place, cursor)}
        assert left == set(ids) - set(read)
        read += [turn.id for turn, _ in found]
        cursor = cursor.advanced([(turn.id, ts) for turn, ts in found])
    assert sorted(read) == sorted(ids)
    assert await covered_turns(store, place, cursor) == len(ids)


async def test_what_was_learned_from_turns_with_long_ids_is_forgotten_with_them(memory: AsyncMemory):
    alice = memory.user("alice")
    chat = alice.thread("t")
    texts = ["fact: city=Lisbon", "fact: the locker=4711", "fact: pet=a cat"]
    await chat.add_many([{"role": "user", "content": text, "id": long_id(n)} for n, text in enumerate(texts)])
    assert (await chat.process("extract")).turns == 3
    assert (await chat.process("extract")).turns == 0
    await memory.drain(timeout=30)
    before = (await read_cursor(memory.runtime.store, MEMORIES, ("alice", "t"), "extract")).cursor
    assert before.count == 3
    await alice.forget(query="the locker code")
    assert await scan(memory, "4711", long_id(1)) == []
    after = (await read_cursor(memory.runtime.store, MEMORIES, ("alice", "t"), "extract")).cursor
    assert (after.count, len(after.seen)) == (2, len(before.seen) - 1)
    await chat.add("user", "fact: tea=green", id=long_id(9))
    assert (await chat.process("extract")).turns == 1


async def test_a_counter_that_is_too_large_holds_up_nobody_else(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    """The worker tried it again for ever, and nothing of anybody was processed."""
    counters = memory.runtime.counters
    count_user = counters.count_user

    async def refused(user_id: str, turns: Mapping[str, Any], *others: Any) -> Any:
        if user_id == "alice":
            raise InvalidInput("too large for one document or batch (2 MB)")
        return await count_user(user_id, turns, *others)

    monkeypatch.setattr(counters, "count_user", refused)
    turns = [{"type": "turn", "id": "1", "user_id": who, "thread_id": "t", "_ts": 100} for who in ("alice", "bob")]
    batch = await count_batch(memory.runtime.tools, counters, turns)
    assert set(batch.users) == {"bob"}
