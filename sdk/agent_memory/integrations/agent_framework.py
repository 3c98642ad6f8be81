"""Microsoft Agent Framework: a context provider, a history provider, and tools.

    Agent(client=client, context_providers=[MemoryContextProvider(memory, user_id="alice")])

The provider recalls before each run and stores the turns after it. The user comes from this argument, or else from
`session.state["user_id"]`, which the host sets from its authentication. Without either, the run raises an error.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agent_memory.extras import require
from agent_memory.integrations.bridge import AnyMemory, Bridge, Turn, owner, survive, turn, turn_id
from agent_memory.integrations.parts import media, role_of, words
from agent_memory.integrations.tools import memory_tools
from agent_memory.recall.context import DEFAULT_BUDGET
from agent_memory.transfer.parts import read_parts

require("agent_framework", "agent-framework")

from agent_framework import (  # noqa: E402
    AgentSession,
    ContextProvider,
    FunctionTool,
    HistoryProvider,
    Message,
    SessionContext,
    tool,
)

__all__ = ["MemoryContextProvider", "MemoryHistoryProvider", "memory_tools_for"]

_HOW = 'pass user_id= to the provider, or set session.state["user_id"]'
_MESSAGE = "agent_framework_message"
"""The key of a turn's metadata that has the whole message."""
_COUNT = "kept_messages"
"""The key of a provider's state that counts its messages, so that each gets its own id."""


def memory_tools_for(memory: AnyMemory, user_id: str) -> list[FunctionTool]:
    """The tools `search_memory`, `remember` and `forget_memory` of one user, for `Agent(tools=…)`.

    Raises:
        InvalidInput: if there is no user id.
    """
    user = owner(user_id, "pass user_id to memory_tools_for")
    return [tool(function) for function in memory_tools(Bridge(memory), user)]


class MemoryContextProvider(ContextProvider):
    """Recalls what is relevant to the question before a run, and stores its messages."""

    def __init__(
        self,
        memory: AnyMemory,
        *,
        user_id: str | None = None,
        source_id: str = "agent_memory",
        budget: int = DEFAULT_BUDGET,
        agent_id: str | None = None,
        keep_turns: bool = True,
        tools: bool = False,
    ) -> None:
        """Uses an open memory.

        Args:
            memory: An open memory.
            user_id: The user of the agent. Leave it out if the agent serves many users (see the module).
            source_id: The name of the provider within the agent.
            budget: The maximum tokens that are recalled.
            agent_id: The agent that talks; stored with its turns.
            keep_turns: False with a `MemoryHistoryProvider`, which already stores the turns.
            tools: Whether the agent gets the memory's tools too.
        """
        super().__init__(source_id)
        self._bridge = Bridge(memory, budget=budget, agent_id=agent_id)
        self._user_id, self._keeps, self._gives_tools = user_id, keep_turns, tools

    async def before_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Adds what is known to the instructions of this run, and keeps what the user says.

        A provider hears nothing of a run that fails or is cancelled.

        Raises:
            InvalidInput: if there is no user id.
        """
        user = owner(self._user_id or session.state.get("user_id"), _HOW)
        question = next((one.text for one in reversed(context.input_messages) if one.role == "user" and one.text), "")
        text = await self._bridge.told(user, session.session_id, question)
        if text:
            context.extend_instructions(self.source_id, text)
        if self._gives_tools:
            context.extend_tools(self.source_id, [tool(one) for one in memory_tools(self._bridge, user)])
        if self._keeps:  # at the same places as after the run, so they are stored once
            await self._bridge.keep(
                user, session.session_id, _turns(session.session_id, context.input_messages, dict(state))
            )

    async def after_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Keeps the messages of this run, tool results too. A store that fails is logged."""
        if not self._keeps:
            return
        user = owner(self._user_id or session.state.get("user_id"), _HOW)
        said = [*context.input_messages, *(context.response.messages if context.response else ())]
        await self._bridge.keep(user, session.session_id, _turns(session.session_id, said, state))


class MemoryHistoryProvider(HistoryProvider):
    """Stores the messages of a session as the turns of a thread, and returns them word for word.

    A service that stores conversations itself would get them twice: pass `default_options={"store": False}` to the
    agent then.
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        user_id: str | None = None,
        source_id: str = "agent_memory_history",
        agent_id: str | None = None,
        **options: Any,
    ) -> None:
        """Uses an open memory.

        Args:
            memory: An open memory.
            user_id: Whose agent this is; `session.state["user_id"]` otherwise.
            source_id: The name of the provider within the agent.
            agent_id: The agent that talks; stored with its turns.
            options: Those of `HistoryProvider`: load_messages, store_inputs, store_outputs, and so on.
        """
        super().__init__(source_id, **options)
        self._bridge = Bridge(memory, agent_id=agent_id)
        self._user_id = user_id

    async def before_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Loads the history for the session's user.

        Raises:
            InvalidInput: if there is no user id.
        """
        state["user_id"] = self._owner(session.state)
        await super().before_run(agent=agent, session=session, context=context, state=state)

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """The messages of a session, oldest first; none if the store fails.

        Raises:
            InvalidInput: if there is no user id.
        """
        if session_id is None:
            return []
        thread = self._bridge.thread(self._owner(state or {}), session_id)
        view = await survive(self._bridge.ask(thread.view), "read the history", None)
        if view is None:
            return []
        if state is not None:  # a host that keeps only the id of a session goes on where the history ends
            state.setdefault(_COUNT, view.retired + len(view.turns))
        return [_message(one) for one in view.turns]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Stores messages. If the store fails, this is logged.

        Raises:
            InvalidInput: if there is no user id.
        """
        if session_id is None:
            return
        known = {} if state is None else state
        await self._bridge.keep(self._owner(known), session_id, _turns(session_id, messages, known, whole=True))

    def _owner(self, state: dict[str, Any]) -> str:
        return owner(self._user_id or state.get("user_id"), _HOW)


def _turns(
    session_id: str, messages: Sequence[Message], state: dict[str, Any], *, whole: bool = False
) -> list[Turn | None]:
    """The turns of messages. Their ids come from their place in the session, so a run that is resumed adds none."""
    start = int(state.get(_COUNT, 0))
    state[_COUNT] = start + len(messages)
    made = []
    for number, message in enumerate(messages, start):
        said, parts = _words(message, whole=whole), read_parts([_block(one) for one in message.contents])
        role, content = role_of(message.role, said, parts), words(said, parts)
        id = turn_id(session_id, str(number), role, content)
        metadata = {_MESSAGE: json.loads(message.to_json())} if whole else {}
        made.append(turn(role, content, id, parts, **metadata))
    return made


def _block(content: Any) -> dict[str, Any]:
    """A content of a message, in the shape of a chat API."""
    match content.type:
        case "function_call":
            args = content.arguments or {}
            return {"type": "tool_call", "name": content.name, "id": content.call_id, "args": args}
        case "function_result":
            return {"type": "tool_result", "tool_call_id": content.call_id, "content": str(content.result)}
        case "uri" | "data":
            return media(content.media_type, url=content.uri)
        case _:
            return {"type": content.type, "text": getattr(content, "text", None)}


def _words(message: Message, *, whole: bool) -> str:
    """The content of a message: its text, the results of tools, and, for a history, the calls of tools."""
    parts = [message.text] if message.text else []
    for content in message.contents:
        if content.type == "function_result":
            parts.append(str(content.result))
        elif content.type == "function_call" and whole:
            parts.append(f"({content.name} is called)")
    return "\n".join(parts) or ("(no text)" if whole else "")


def _message(kept: Any) -> Message:
    stored = kept.metadata.get(_MESSAGE)
    if stored is not None:
        return Message.from_dict(stored)
    return Message("assistant" if kept.role == "agent" else kept.role, [kept.content])
