"""Raw talk that tells what has been replaced since is marked so, in whatever order talk and replacement come."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent_memory import AsyncMemory
from agent_memory.models import iso
from agent_memory.settings import Cadence
from agent_memory.store.containers import MEMORIES

NEW_YEAR, DAY_AFTER, FEBRUARY = (datetime(2026, month, day, tzinfo=UTC) for month, day in ((1, 1), (1, 2), (2, 1)))


async def end_of_chunk(memory: AsyncMemory, turn_id: str) -> list[str | None]:
    sql = "SELECT VALUE c FROM c WHERE c.kind = 'chunk' AND c.source_turn_ids[0] = @turn"
    rows = await memory.runtime.store.query(MEMORIES, sql, ("alice",), turn=turn_id)
    return [row.get("valid_to") for row in rows]


@pytest.mark.parametrize("late", [False, True])
async def test_talk_that_repeats_an_old_figure_is_out_of_date_whenever_it_comes(late: bool) -> None:
    async with AsyncMemory.local(cadence=Cadence(idle_seconds=0)) as memory:
        chat = memory.user("alice").thread("hawaii")
        echo = {"id": "echo", "role": "assistant", "content": "Noted, $10,000 then.", "created_at": DAY_AFTER}
        await chat.add("user", "My budget for the Hawaii trip is $10,000.", created_at=NEW_YEAR, id="old")
        if not late:
            await chat.add_many([echo])
        await chat.add("user", "My budget for the Hawaii trip is $15,000 now.", created_at=FEBRUARY, id="new")
        assert await memory.drain(timeout=300) == 0
        if late:
            await chat.add_many([echo])
            assert await memory.drain(timeout=300) == 0
        assert await end_of_chunk(memory, "old") == [iso(FEBRUARY)]
        assert await end_of_chunk(memory, "echo") == [iso(FEBRUARY)]
        assert await end_of_chunk(memory, "new") == [None]
