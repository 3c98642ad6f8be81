"""Portal: a background thread with an event loop. The synchronous classes run the async ones on it.

A fork of the process has no copy of the thread, so waiting for it would never end (`Owner`).
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeVar

from agent_memory.errors import ConfigurationError, StoreUnavailable

T = TypeVar("T")
logger = logging.getLogger("agent_memory")

_open: set[Portal] = set()


class Portal:
    """An event loop in its own thread. Any number of threads may use it at the same time."""

    def __init__(self, closing: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Starts the thread.

        Args:
            closing: Closes what runs on the loop, before the loop stops. If nobody closes the portal, that happens when
                the process ends.
        """
        self._owner = Owner()
        self._closing = closing
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="agent-memory", daemon=True)
        self._thread.start()
        _open.add(self)

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._loop.is_closed()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine to its end. Returns or raises what it returned or raised.

        Raises:
            StoreUnavailable: if the portal is closed, or if called in its own thread, which would wait for itself.
            ConfigurationError: in a fork of the process that made it, because the fork has no copy of the thread.
        """
        try:
            self._owner.check()
        except ConfigurationError:
            work.close()
            raise
        if self.closed or threading.current_thread() is self._thread:
            work.close()
            raise StoreUnavailable("the memory is closed" if self.closed else "use AsyncMemory inside async code")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def iterate(self, items: AsyncIterator[T]) -> Iterator[T]:
        """Goes through an async iterator, one item at a time.

        Raises:
            StoreUnavailable: as `run`.
        """

        async def following() -> list[T]:
            try:
                return [await anext(items)]
            except StopAsyncIteration:
                return []

        while item := self.run(following()):
            yield item[0]

    def close(self) -> None:
        """Closes what runs on the loop, and stops the loop and its thread. Harmless if it is closed.

        Raises:
            ConfigurationError: in a fork of the process that made it.
        """
        if self.closed:
            return
        self._owner.check()
        _open.discard(self)
        try:
            if self._closing is not None:
                self.run(self._closing())
        finally:
            asyncio.run_coroutine_threadsafe(self._finish(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _finish(self) -> None:
        """Cancels running tasks, so that none is destroyed while pending."""
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._loop.shutdown_default_executor()


def _close_all() -> None:
    """Closes what nobody closed, when the process ends: otherwise the loops would go on without executors."""
    for portal in list(_open):
        try:
            portal.close()
        except ConfigurationError:  # this process is a fork: the other one closes it
            continue
        except Exception as error:
            logger.warning("The memory could not be closed at the end of the process: %s", error)


threading._register_atexit(_close_all)  # type: ignore[attr-defined]  # `atexit` is too late: executors take no work then


class Owner:
    """The process that opened a memory."""

    def __init__(self) -> None:
        self._process = os.getpid()

    def check(self) -> None:
        """Checks that the current process is this one.

        Raises:
            ConfigurationError: if it is another process, that is, a fork.
        """
        if os.getpid() != self._process:
            raise ConfigurationError(
                f"this memory was opened by process {self._process}, and this one is a fork of it: open a memory after"
                " the fork (gunicorn: in `post_fork` or the app's lifespan, without `preload_app`)"
            )
