"""Gathering: does several pieces of work at the same time. All of them end before the first error is raised.

So no piece goes on unnoticed, and whoever tries again does not meet what the first try still does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def together(work: Iterable[Awaitable[T]]) -> list[T]:
    """The results of all work, in its order."""
    outcomes = await asyncio.gather(*work, return_exceptions=True)
    results: list[T] = []
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
        results.append(outcome)
    return results


async def a_few(work: Iterable[Callable[[], Awaitable[T]]], at_once: int) -> list[T]:
    """The results of all work, in its order; at most so many pieces run `at_once`. A piece begins when it is called."""
    gate = asyncio.Semaphore(at_once)

    async def one(piece: Callable[[], Awaitable[T]]) -> T:
        async with gate:
            return await piece()

    return await together(one(piece) for piece in work)
