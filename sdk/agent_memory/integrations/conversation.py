"""A conversation of one user, for frameworks without an adapter: recall before the model, store the messages after it.

talk = Conversation(memory, "alice", "monday")
system = talk.recall_now(question)                       # goes into the instructions of the request
talk.keep_now([{"role": "user", "content": question}, {"role": "assistant", "content": answer}])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent_memory.integrations.bridge import AnyMemory, Bridge, Turn, complete, owner, text_of, turn, turn_id
from agent_memory.integrations.parts import role_of, words
from agent_memory.integrations.tools import memory_tools, memory_tools_now
from agent_memory.recall.context import DEFAULT_BUDGET
from agent_memory.transfer.parts import read_parts

_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "tool": "tool"}
"""The roles that are stored. Instructions are not, because they contain recalled text."""


class Conversation:
    """One conversation. `recall` and `keep` never fail an agent: a store that fails is logged."""

    def __init__(
        self,
        memory: AnyMemory,
        user_id: str,
        thread_id: str,
        *,
        budget: int = DEFAULT_BUDGET,
        agent_id: str | None = None,
    ) -> None:
        """Uses an open memory.

        Args:
            memory: An open memory; a `Memory` for the methods that end in `_now`.
            user_id: The user of the conversation.
            thread_id: Its id.
            budget: The maximum tokens that are recalled.
            agent_id: The agent that talks; stored with its turns.

        Raises:
            InvalidInput: if there is no user id.
        """
        self._bridge = Bridge(memory, budget=budget, agent_id=agent_id)
        self.user_id = owner(user_id, "pass user_id to the conversation")
        self.thread_id = thread_id

    async def recall(self, question: str) -> str:
        """What is relevant to a question, as quoted text; empty if nothing is."""
        return await self._bridge.told(self.user_id, self.thread_id, question)

    def recall_now(self, question: str) -> str:
        """As `recall`."""
        return complete(self._bridge.now.told(self.user_id, self.thread_id, question))

    async def keep(self, messages: Sequence[Mapping[str, Any]], start: int = 0) -> None:
        """Stores messages with `role` and `content`. The same message at the same place is stored once.

        Args:
            messages: The conversation, or its new messages.
            start: The position of the first one in the conversation, if these are the new messages.
        """
        await self._bridge.keep(self.user_id, self.thread_id, turns_of(self.thread_id, messages, start))

    def keep_now(self, messages: Sequence[Mapping[str, Any]], start: int = 0) -> None:
        """As `keep`."""
        complete(self._bridge.now.keep(self.user_id, self.thread_id, turns_of(self.thread_id, messages, start)))

    def tools(self) -> list[Callable[..., Any]]:
        """Coroutine functions for the model: search_memory, remember, forget_memory."""
        return list(memory_tools(self._bridge, self.user_id))

    def tools_now(self) -> list[Callable[..., str]]:
        """The same as plain functions."""
        return memory_tools_now(self._bridge, self.user_id)


def turns_of(thread_id: str, messages: Sequence[Mapping[str, Any]], start: int = 0) -> list[Turn | None]:
    """The turns of messages, identified by their place, their role and their words."""
    made: list[Turn | None] = []
    for place, message in enumerate(messages, start):
        speaker, said, parts = (
            _ROLES.get(str(message.get("role", ""))),
            text_of(message.get("content")),
            _parts(message),
        )
        content = words(said, parts)
        if speaker is not None and content.strip():
            role = role_of(speaker, said, parts)
            made.append(turn(role, content, turn_id(thread_id, str(place), role, content), parts))
    return made


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The parts of a message, as OpenAI and Anthropic have them: blocks, calls of tools, or the result of one."""
    content = message.get("content")
    if message.get("role") == "tool":
        named = {"name": message.get("name"), "tool_call_id": message.get("tool_call_id")}
        return read_parts([{"type": "tool_result", "content": content, **named}])
    return read_parts(content, message.get("tool_calls") or ())
