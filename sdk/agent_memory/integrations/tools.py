"""The tools that an agent gets: search, remember, forget. The user is fixed before a model sees them.

A framework makes its own tools from these functions. A model reads their docstrings. It sees failures as text, so that
the run continues.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import Any

from agent_memory.errors import AgentMemoryError, ConfigurationError
from agent_memory.integrations.bridge import Bridge, complete
from agent_memory.models import ForgetReceipt, Hit, Memory
from agent_memory.recall.render import quoted
from agent_memory.screening.injected import NOTICE

MOST_HITS = 20
"""The most memories that one search shows a model. A choice."""


def memory_tools(bridge: Bridge, user_id: str) -> list[Callable[..., Coroutine[Any, Any, str]]]:
    """The tools of a user, as coroutine functions."""
    scope = bridge.user(user_id)

    async def tell(method: Callable[..., Any], say: Callable[[Any], str], *args: Any, **options: Any) -> str:
        try:
            return say(await bridge.ask(method, *args, **options))
        except AgentMemoryError as error:
            return _failed(error)

    async def search_memory(query: str, limit: int = 5) -> str:
        """Searches what is remembered about the user from earlier conversations.

        Args:
            query: A question, or words.
            limit: The most memories, 1 to 20.
        """
        return await tell(scope.search, _found, query, limit=_bounded(limit))

    async def remember(content: str) -> str:
        """Remembers something about the user for later conversations.

        Args:
            content: One fact or wish, as a sentence that can be understood by itself.
        """
        return await tell(scope.remember, _remembered, content)

    async def forget_memory(memory_id: str) -> str:
        """Forgets one memory for good, with what it was learned from. Only if the user asks for it.

        Args:
            memory_id: The id that search_memory showed in brackets.
        """
        return await tell(scope.forget, _forgotten, memory_id)

    return [search_memory, remember, forget_memory]


def memory_tools_now(bridge: Bridge, user_id: str) -> list[Callable[..., str]]:
    """The tools of a user, as plain functions.

    Raises:
        ConfigurationError: if the memory is asynchronous.
    """
    return [_plain(function) for function in memory_tools(bridge.now, user_id)]


def _plain(function: Callable[..., Coroutine[Any, Any, str]]) -> Callable[..., str]:
    @wraps(function)
    def call(*args: Any, **options: Any) -> str:
        return complete(function(*args, **options))

    return call


def _bounded(limit: int) -> int:
    return max(1, min(MOST_HITS, limit))


def _found(hits: Sequence[Hit]) -> str:
    if not hits:
        return "Nothing is remembered about this."
    return "\n".join([*(f"- [{hit.memory.id}] {quoted(hit.memory.content)}" for hit in hits), NOTICE])


def _remembered(memory: Memory) -> str:
    if memory.status != "active":
        return "It waits for the user's review before it is remembered."
    return f"Remembered as [{memory.id}]."


def _forgotten(receipt: ForgetReceipt) -> str:
    return f"Forgotten: {sum(map(len, receipt.deleted.values()))} items."


def _failed(error: AgentMemoryError) -> str:
    """What a model reads about a failure. A wrong configuration is for people to read, so it is raised.

    Raises:
        ConfigurationError: if the error is one.
    """
    if isinstance(error, ConfigurationError):
        raise error
    return f"The memory could not do this ({error.code}): {error}"
