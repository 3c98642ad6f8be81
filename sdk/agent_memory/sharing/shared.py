"""A store file that several processes use: opened here, or through the process that has it open."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import FastAPI, Query

from agent_memory.api import InlineProcessing, create_app
from agent_memory.api.admission import Load
from agent_memory.api.credentials import ApiKeys, new_key
from agent_memory.api.server import running
from agent_memory.errors import ConfigurationError, StoreUnavailable
from agent_memory.memory import AsyncMemory
from agent_memory.sharing.note import PROOF_PATH, Note, answers, find_host, proof, remove_note, write_note

if TYPE_CHECKING:
    from embedded_cosmos import EngineFileInUse

T = TypeVar("T")
logger = logging.getLogger("agent_memory")

PATIENCE_SECONDS = 10.0
"""How long a process may have a file open before it shares it, in seconds: it loads a web framework first. After that,
it is a program that does not share. A choice: a cold start on a busy machine takes 5 seconds."""
_LOOK_SECONDS = 0.2
_TAKEOVERS = 3
"""How often one piece of work starts again because the process doing it ended."""


class SharedStore:
    """A store file, held by this process or by another one. When that one ends, this one takes over."""

    def __init__(self, path: Path, open_here: Callable[[], AsyncMemory]) -> None:
        """Opens nothing yet.

        Args:
            path: The store file.
            open_here: Makes the memory that opens the file in this process. It raises `ConfigurationError` if the file
                is in use.
        """
        self._path = path
        self._open_here = open_here
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._memory: AsyncMemory | None = None
        self._host: Note | None = None
        """Where the memory is, if another process has it."""

    async def close(self) -> None:
        """Closes what is open. The next process can then open a store that was opened here."""
        async with self._opening:
            self._memory = None
            await self._stack.aclose()

    async def ask(self, work: Callable[[AsyncMemory], Awaitable[T]]) -> T:
        """Does work on the memory. If the process that did it ended, the work is done again, so it must be repeatable.

        Raises:
            ConfigurationError: if the file cannot be opened, or if a program that does not share it has it; it says
                which.
            StoreUnavailable: if processes kept ending.
        """
        for attempt in range(_TAKEOVERS):
            memory, host = await self.open()
            try:
                return await work(memory)
            except StoreUnavailable:
                if host is None or attempt == _TAKEOVERS - 1 or await asyncio.to_thread(answers, host):
                    raise
                logger.info("The process that had %s open has ended", self._path)
        raise AssertionError("the last attempt returns or raises")

    async def open(self) -> tuple[AsyncMemory, Note | None]:
        """The open memory, and the process that has it if it is another one."""
        async with self._opening:
            if self._memory is not None and self._host is not None:
                if await asyncio.to_thread(answers, self._host):
                    return self._memory, self._host
                self._memory = None  # stays open until the end: other work may still wait for its answer
            if self._memory is None:
                self._memory, self._host = await self._connect()
            return self._memory, self._host

    async def _connect(self) -> tuple[AsyncMemory, Note | None]:
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return await self._enter_here(), None
            except ConfigurationError as error:
                if not is_in_use(error):
                    raise
                in_use = error
            host = await asyncio.to_thread(find_host, self._path)
            if host is not None:
                return await self._stack.enter_async_context(AsyncMemory.remote(host.url, host.key)), host
            if time.monotonic() > end or _held_for(in_use) > PATIENCE_SECONDS:
                raise in_use
            await asyncio.sleep(_LOOK_SECONDS)

    async def _enter_here(self) -> AsyncMemory:
        async with AsyncExitStack() as opened:
            memory = await opened.enter_async_context(self._open_here())
            # A process that goes through another one serves nobody: it starts without a web framework.
            from agent_memory.sharing.shared import hosting

            if memory.runtime.worker is not None:
                memory.runtime.worker.give_way()
            await opened.enter_async_context(hosting(memory, self._path))
            self._stack.push_async_exit(opened.pop_all())
            return memory


def is_in_use(error: BaseException) -> bool:
    """Whether a store could not be opened because another process has it."""
    return _in_use(error) is not None


def _in_use(error: BaseException) -> EngineFileInUse | None:
    try:
        from embedded_cosmos import EngineFileInUse
    except ImportError:  # without the engine nothing can be in use
        return None
    return error.__cause__ if isinstance(error.__cause__, EngineFileInUse) else None


def _held_for(error: BaseException) -> float:
    """For how many seconds another process has had the file open, as far as this process knows."""
    found = _in_use(error)
    return 0.0 if found is None or found.holder is None else time.time() - found.holder.since


@asynccontextmanager
async def hosting(memory: AsyncMemory, store: Path) -> AsyncIterator[None]:
    """Serves an open memory to processes that find its file in use, while the block runs.

    If the note cannot be written, it only logs a warning.
    """
    key, entry = new_key("another process", acts_for_users=True, operates=True)
    app = create_app(memory, InlineProcessing(memory.runtime), ApiKeys([entry]), load=Load())
    _add_proof(app, key)
    async with running(app) as url:
        note = Note(url, key)
        try:
            write_note(store, note)
        except OSError as error:
            logger.warning("Other programs cannot share %s: the note next to it cannot be written (%s)", store, error)
        try:
            yield
        finally:
            remove_note(store, note)


def _add_proof(app: FastAPI, key: str) -> None:
    async def prove(challenge: Annotated[str, Query(min_length=16, max_length=100)]) -> dict[str, str]:
        """Shows that this process left the note."""
        return {"proof": proof(key, challenge)}

    app.add_api_route(PROOF_PATH, prove, include_in_schema=False)
