"""Work that is done at the same time: all of it ends before an error is raised, and no more runs than may."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from agent_memory.gathering import a_few, together


class Work:
    """Pieces of work that note when they run; some fail."""

    def __init__(self) -> None:
        self.running = self.most = 0
        self.ended: list[int] = []

    async def piece(self, number: int) -> int:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.001 * (5 - number))
        self.running -= 1
        self.ended.append(number)
        if number in (1, 2):
            raise ValueError(f"{number} failed")
        return number


async def test_all_ends_before_the_first_error_is_raised():
    work = Work()
    with pytest.raises(ValueError, match="1 failed"):
        await together(work.piece(number) for number in range(5))
    assert sorted(work.ended) == [0, 1, 2, 3, 4]
    assert work.most == 5


async def test_a_few_run_at_once_and_their_results_keep_their_order():
    work = Work()
    assert await a_few((partial(work.piece, number) for number in (4, 0, 3)), 2) == [4, 0, 3]
    assert work.most == 2
    with pytest.raises(ValueError, match="1 failed"):
        await a_few((partial(work.piece, number) for number in range(5)), 2)
    assert work.most == 2
    assert sorted(work.ended) == [0, 0, 1, 2, 3, 3, 4, 4]


async def test_work_that_is_given_up_before_it_began_leaves_nothing_behind():
    """A coroutine that nobody awaits would be a warning, and warnings are errors here."""
    work = Work()
    task = asyncio.create_task(a_few((partial(work.piece, number) for number in (0, 3, 4)), 1))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert work.ended == []
