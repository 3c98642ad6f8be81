"""Gathering: which turns a run covers."""

from collections.abc import Sequence

import pytest

from agent_memory import AsyncMemory
from agent_memory.models import Turn, iso, now
from agent_memory.steps import gather
from agent_memory.store.containers import MEMORIES
from agent_memory.store.cursors import Cursor
from agent_memory.store.turns import Window


@pytest.mark.parametrize(("gone", "read"), [((1, 2), [1, 2]), ((2,), []), ((1, 3), [1])])
async def test_a_run_over_retired_turns_ends_before_the_first_that_is_live(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch, gone: Sequence[int], read: list[int]
):
    """A cursor passes over nothing, so a turn behind a live one waits for that one."""
    at = iso(now())
    fixed = {"user_id": "alice", "thread_id": "t1", "role": "user", "content": "?", "created_at": at}
    written = [Turn.model_validate(fixed | {"id": f"{'a' if n in gone else 'z'}{n}"}) for n in (1, 2, 3)]

    async def window(*_: object) -> Window:
        return Window(Cursor(ts=1000), through=(at, "m"))

    async def new(*_: object) -> list[tuple[Turn, int]]:
        return [(turn, 100 * number) for number, turn in enumerate(written, 1)]

    monkeypatch.setattr(gather, "read_window", window)
    monkeypatch.setattr(gather, "new_turns", new)
    request = gather.StepRequest(user_id="alice", thread_id="t1", retired=True)
    found = await gather.gather_turns(memory.runtime.tools, request, MEMORIES, "extract")
    assert [int(turn.id[1:]) for turn in found.turns] == read
