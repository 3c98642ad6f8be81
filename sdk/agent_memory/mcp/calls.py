"""A call of an agent: for whom it is, how it shows its progress, and how it fails.

The user comes only from the connection, never from an argument. The message of a failure is one that a model can act
on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import tzinfo
from itertools import count
from typing import Any, Protocol, TypeVar

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from agent_memory.audit import Actor, acting
from agent_memory.errors import (
    AgentMemoryError,
    ConfigurationError,
    Conflict,
    InvalidInput,
    MemoryDisabled,
    ModelError,
    NotFound,
    QuotaExceeded,
    StaticMemoryError,
    StoreUnavailable,
)
from agent_memory.memory import AsyncMemory
from agent_memory.models import Memory, time_zone
from agent_memory.scopes import AsyncUserScope
from agent_memory.store.ids import is_reserved

T = TypeVar("T")
Request = Context[Any, Any]

BEAT_SECONDS = 1.0
"""Seconds between progress messages of a long call. A choice: people wonder after about a second."""

_ADVICE: dict[type[AgentMemoryError], str] = {
    InvalidInput: "Nothing was changed. Correct the arguments.",
    NotFound: "Ids come from search, context and history; look there first.",
    Conflict: "Of a memory, look at the newest version with history, and use its id. A turn needs an id of its own.",
    QuotaExceeded: "Tell the user which limit is reached, and continue without this call; do not repeat it.",
    MemoryDisabled: "The user or the operator has switched this off. Go on without it; do not repeat the call.",
    StaticMemoryError: "Only the operator changes this. Do not repeat the call.",
    ConfigurationError: "The operator must change the set-up. Do not repeat the call.",
    StoreUnavailable: "Repeat the call in a few seconds.",
    ModelError: "Nothing was lost. Repeat the call in a minute, once.",
}


def problem(error: AgentMemoryError) -> str:
    """An error as a model sees it: its code, what is wrong, and what to do."""
    message = str(error).rstrip(".")
    advice = _ADVICE.get(type(error), "")
    return " ".join([f"{error.code}: {message}.", *([advice] if advice else []), *getattr(error, "__notes__", [])])


def to_tool(error: AgentMemoryError) -> Exception:
    """The failure of a tool."""
    return ToolError(problem(error))


def to_resource(error: AgentMemoryError) -> Exception:
    """The failure of a resource."""
    kind = ResourceNotFoundError if isinstance(error, NotFound | InvalidInput) else ResourceError
    return kind(problem(error))


def to_prompt(error: AgentMemoryError) -> Exception:
    """The failure of a prompt."""
    return MCPError(INVALID_PARAMS if isinstance(error, InvalidInput) else INTERNAL_ERROR, problem(error))


async def answer(
    door: Door,
    work: Work[T],
    request: Request | None = None,
    doing: str = "",
    failure: Callable[[AgentMemoryError], Exception] = to_tool,
) -> T:
    """Does the work of a call.

    Args:
        door: Opens the memory of the connection's user.
        work: The work.
        request: The call, which receives the progress messages.
        doing: What the work is, for these messages.
        failure: Renders an expected error.
    """
    try:
        if request is None:
            return await door.ask(work)
        async with _showing(request, doing):
            return await door.ask(work)
    except AgentMemoryError as error:
        raise failure(error) from error


async def answer_there(
    door: Door,
    work: Work[T],
    request: Request | None = None,
    doing: str = "",
    failure: Callable[[AgentMemoryError], Exception] = to_tool,
) -> tuple[T, tzinfo]:
    """As `answer`, with the time zone of the user."""

    async def both(visit: Visit) -> tuple[T, tzinfo]:
        zone = await visit.zone()  # before the work: what is written must not fail because its zone cannot be read
        return await work(visit), zone

    return await answer(door, both, request, doing, failure)


@asynccontextmanager
async def _showing(request: Request, doing: str) -> AsyncIterator[None]:
    """Sends a progress message each second to a client that asked for it."""

    async def beat() -> None:
        for beats in count(1):
            await asyncio.sleep(BEAT_SECONDS)
            await request.report_progress(beats, None, f"{doing}, {beats * BEAT_SECONDS:g} s")

    showing = asyncio.create_task(beat())
    try:
        yield
    finally:
        showing.cancel()
        with suppress(asyncio.CancelledError, Exception):  # the work goes on if the client disconnects
            await showing


VIA = "mcp"
"""The interface that the audit names."""


@dataclass(frozen=True, slots=True)
class Visit:
    """The memory that one request works on.

    Attributes:
        user: The memory of the connection's user.
        end: Ends one of their conversations; returns whether all its turns are processed.
    """

    user: AsyncUserScope
    end: Callable[[str], Awaitable[bool]]

    async def zone(self) -> tzinfo:
        """The time zone of the user, in which an agent reads times."""
        return time_zone((await self.user.settings()).time_zone or "UTC")

    async def require_on(self, thread_id: str | None = None) -> None:
        """Refuses what an agent may not read: the memory, or a conversation, that is switched off.

        Raises:
            MemoryDisabled: if it is.
        """
        if thread_id is None:
            settings = await self.user.settings()
            if settings.off_by or not settings.enabled:  # a server of an earlier version does not say why
                raise MemoryDisabled(f"memory is switched off by {settings.off_by or 'the user'}")
        elif not (await self.user.thread(thread_id).settings()).enabled:
            raise MemoryDisabled("memory is switched off for this conversation")

    async def memory(self, id: str) -> Memory:
        """A memory of the user.

        Raises:
            NotFound: if the user has no such memory.
            MemoryDisabled: if memory, or the conversation that it comes from, is switched off.
        """
        await self.require_on()
        found = await self.user.get(id)
        if not is_reserved(found.thread_id):
            await self.require_on(found.thread_id)
        return found

    async def memories(self, limit: int) -> list[Memory]:
        """The newest memories, without those of conversations that are switched off.

        Raises:
            MemoryDisabled: if memory is switched off for the user.
        """
        await self.require_on()
        shown: list[Memory] = []
        page = await self.user.memories(limit=limit)
        while True:
            shown += await self.visible(page)
            if len(shown) >= limit or page.next is None:
                return shown[:limit]
            page = await self.user.memories(limit=limit, cursor=page.next)

    async def visible(self, memories: Sequence[Memory]) -> list[Memory]:
        """The memories without those of conversations that are switched off."""
        threads = sorted({one.thread_id for one in memories if not is_reserved(one.thread_id)})
        known = await asyncio.gather(*(self.user.thread(thread).settings() for thread in threads))
        off = {thread for thread, settings in zip(threads, known, strict=True) if not settings.enabled}
        return [one for one in memories if one.thread_id not in off]


Work = Callable[[Visit], Awaitable[T]]


class Door(Protocol):
    """Lets a request in."""

    async def ask(self, work: Work[T]) -> T:
        """Does the work of a request on the memory of its user.

        Raises:
            AgentMemoryError: the error of the work, or the reason why there is no memory.
        """
        ...


class OneUser:
    """The connection of one user, to a memory that the caller opens and closes."""

    def __init__(self, memory: AsyncMemory, user_id: str) -> None:
        self._memory = memory
        self._user_id = user_id

    async def ask(self, work: Work[T]) -> T:
        """Does the work on the memory of this user."""
        return await for_user(self._memory, self._user_id, work)


async def for_user(memory: AsyncMemory, user_id: str, work: Work[T]) -> T:
    """Does the work on the memory of a user."""
    user = memory.user(user_id)

    async def end(thread_id: str) -> bool:
        await user.thread(thread_id).end()
        return True

    with acting(Actor(user_id, VIA)):
        return await work(Visit(user, end))
