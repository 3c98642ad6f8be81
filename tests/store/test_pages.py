"""Listings page by page: nothing is missed and nothing comes twice, whatever has the same time."""

from datetime import UTC, datetime, timedelta

import pytest

from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput

START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
async def test_turns_page_backwards(memory: AsyncMemory, size: int):
    chat = memory.user("alice").thread("t1")
    seconds = [0, 1, 1, 1, 2, 3, 3, 4]
    await chat.add_many(
        [
            {"role": "user", "content": str(n), "id": f"{n}", "created_at": START + timedelta(seconds=second)}
            for n, second in enumerate(seconds)
        ]
    )
    pages, before = [], None
    while page := await chat.turns(size, before=before):
        assert len({turn.created_at for turn in page}) <= size
        pages.insert(0, [int(turn.id) for turn in page])
        before = page[0].created_at
    assert [n for page in pages for n in page] == list(range(len(seconds)))
    assert all(len(page) <= size + 2 for page in pages)


async def test_memories_page_on(memory: AsyncMemory):
    alice = memory.user("alice")
    made = [(await alice.remember(f"Fact number {n} of many")).id for n in range(7)]
    first = await alice.memories(limit=3)
    rest = await alice.memories(before=first[-1].created_at)
    assert [m.id for m in first + rest] == made[::-1]
    assert await alice.memories(before=rest[-1].created_at) == []
    for bad in (0, -1):
        with pytest.raises(InvalidInput):
            await alice.memories(limit=bad)


async def test_what_json_cannot_say_is_refused(memory: AsyncMemory):
    with pytest.raises(InvalidInput):
        await memory.user("alice").thread("t1").add("user", "x", metadata={"n": float("nan")})
