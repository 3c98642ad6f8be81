"""Write-behind: collects notes that are not urgent and writes many of them in one request, a little later."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable


class WriteBehind:
    """Calls `flush` `delay` seconds after something was noted, until nothing is `waiting`, and once more at the end."""

    def __init__(
        self, flush: Callable[[], Awaitable[None]], waiting: Callable[[], bool], delay: float, name: str
    ) -> None:
        self._flush = flush
        self._waiting = waiting
        self._delay = delay
        self._name = name
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def soon(self) -> None:
        """Schedules a write of the notes. Costs no request."""
        if self._task is None or self._task.done():
            self._closing = asyncio.Event()
            self._task = asyncio.create_task(self._write(), name=self._name)

    async def close(self) -> None:
        """Writes the waiting notes, and ends. Does not cancel a running write, because its result would be unknown."""
        task, self._task = self._task, None
        if task is not None:
            self._closing.set()
            await asyncio.wait([task])
        await self._flush()

    async def _write(self) -> None:
        while self._waiting():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), self._delay)
                return
            await self._flush()
