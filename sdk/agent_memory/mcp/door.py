"""The user whose memory a request is for. It comes only from the connection, never from an argument."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Protocol, TypeVar

from agent_memory.audit import Actor, acting
from agent_memory.memory import AsyncMemory
from agent_memory.models import time_zone
from agent_memory.scopes import AsyncUserScope

T = TypeVar("T")
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
