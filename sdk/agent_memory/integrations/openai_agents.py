"""OpenAI Agents SDK: a session that keeps items word for word, an input filter that recalls, and tools.

    session = MemorySession(memory, "monday", user_id="alice")
    await Runner.run(agent, question, session=session, run_config=session.run_config())

The user comes from this argument, or else from `user_id` of the run's context (`Runner.run(…, context=…)`). Without
either, the run raises an error.
"""

from __future__ import annotations

from typing import Any, cast

from agent_memory.errors import Conflict
from agent_memory.extras import require
from agent_memory.integrations.bridge import AnyMemory, Bridge, Turn, given, owner, survive, text_of
from agent_memory.integrations.tools import memory_tools
from agent_memory.models import Turn as KeptTurn
from agent_memory.recall.context import DEFAULT_BUDGET
from agent_memory.store.ids import new_turn_id
from agent_memory.transfer.parts import read_parts

require("agents", "openai-agents")

from agents import FunctionTool, RunConfig, RunContextWrapper, TResponseInputItem, function_tool  # noqa: E402
from agents.memory import SessionABC, SessionSettings  # noqa: E402
from agents.run import CallModelData, ModelInputData  # noqa: E402

__all__ = ["MemorySession", "memory_tools_for"]

_HOW = "pass user_id= to MemorySession, or a context with a user_id to the run"
_ITEM = "openai_agents_item"
"""The key of a turn's metadata that has the whole item."""
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


class MemorySession(SessionABC):
    """A thread as a session: messages, tool calls and reasoning come back unchanged and become memories.

    If the store fails, a run continues with an empty history, and a warning is logged.
    """

    def __init__(
        self,
        memory: AnyMemory,
        session_id: str,
        *,
        user_id: str | None = None,
        budget: int = DEFAULT_BUDGET,
        agent_id: str | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        """Uses an open memory.

        Args:
            memory: An open memory.
            session_id: The conversation.
            user_id: The user of the conversation. Leave it out if the run's context has it (see the module).
            budget: The maximum tokens that are recalled.
            agent_id: The agent that talks; stored with its turns.
            session_settings: Settings of the SDK: how many items a run gets.
        """
        self._bridge = Bridge(memory, budget=budget, agent_id=agent_id)
        self._user_id = user_id
        self._told = (("", ""), "")
        """What was recalled last: for whom and which question."""
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()

    def run_config(self, **options: Any) -> RunConfig:
        """A `RunConfig` with the input filter and the given options."""
        return RunConfig(call_model_input_filter=self.input_filter, **options)

    async def input_filter(self, data: CallModelData[Any]) -> ModelInputData:
        """Adds memories relevant to the user's last message to the instructions of a model call, not to the session.

        A run recalls once: its calls after a tool's result get what the first one got.

        Raises:
            InvalidInput: if there is no user id.
        """
        user = self._owner_in(data.context)
        items = _mappings(data.model_data.input)
        question = next((text_of(one.get("content")) for one in reversed(items) if one.get("role") == "user"), "")
        known, told = self._told
        if known != (user, question) or (items and items[-1].get("role") == "user"):
            told = await self._bridge.told(user, self.session_id, question)
            self._told = (user, question), told
        instructions = data.model_data.instructions
        return ModelInputData(data.model_data.input, "\n\n".join(part for part in (instructions, told) if part) or None)

    async def get_items(
        self, limit: int | None = None, wrapper: RunContextWrapper[Any] | None = None
    ) -> list[TResponseInputItem]:
        """The items of the session, oldest first, or the last `limit` of them.

        Raises:
            InvalidInput: if there is no user id.
        """
        view = await survive(self._bridge.ask(self._thread(wrapper).view), "read the session", None)
        most = limit if limit is not None or self.session_settings is None else self.session_settings.limit
        turns = [] if view is None else view.turns
        return [_item(one) for one in (turns if most is None else turns[len(turns) - min(most, len(turns)) :])]

    async def add_items(self, items: list[TResponseInputItem], wrapper: RunContextWrapper[Any] | None = None) -> None:
        """Stores items. A user's message that is already the newest item (after a failed run) is not stored again.

        Raises:
            InvalidInput: if there is no user id.
        """
        user, new = self._owner(wrapper), _mappings(items)
        if new and new[0].get("role") == "user":
            last = await survive(self._bridge.ask(self._thread(wrapper).turns, 1), "read the session", [])
            if last and _item(last[-1]) == new[0]:
                new = new[1:]
        await self._bridge.keep(user, self.session_id, [_turn(one) for one in new])

    async def pop_item(self, wrapper: RunContextWrapper[Any] | None = None) -> TResponseInputItem | None:
        """Removes and returns the newest item, as if it had not been said; None if there is none.

        Raises:
            InvalidInput: if there is no user id.
            Conflict: if a memory was already derived from it; `forget` deletes both.
        """
        popped = await survive(self._bridge.ask(self._thread(wrapper).pop), "take an item back", None, Conflict)
        return None if popped is None else _item(popped)

    async def clear_session(self, wrapper: RunContextWrapper[Any] | None = None) -> None:
        """Empties the session. The memories derived from it stay.

        Raises:
            InvalidInput: if there is no user id.
        """
        await self._bridge.ask(self._thread(wrapper).clear)

    def _thread(self, wrapper: RunContextWrapper[Any] | None) -> Any:
        return self._bridge.thread(self._owner(wrapper), self.session_id)

    def _owner(self, wrapper: RunContextWrapper[Any] | None) -> str:
        return self._owner_in(None if wrapper is None else wrapper.context)

    def _owner_in(self, context: Any) -> str:
        return owner(self._user_id or given(context, "user_id"), _HOW)


def memory_tools_for(memory: AnyMemory, user_id: str) -> list[FunctionTool]:
    """The tools `search_memory`, `remember` and `forget_memory` of one user, for `Agent(tools=…)`.

    Raises:
        InvalidInput: if there is no user id.
    """
    user = owner(user_id, "pass user_id to memory_tools_for")
    return [function_tool(function) for function in memory_tools(Bridge(memory), user)]


def _mappings(items: Any) -> list[dict[str, Any]]:
    return [cast(dict[str, Any], one) for one in items]


def _turn(item: dict[str, Any]) -> Turn:
    """An item as a turn. Tool calls, their results and reasoning are nobody's speech: they get the role tool."""
    role = _ROLES.get(item.get("role", ""), "tool")
    said = text_of(item.get("content")) if role != "tool" else text_of(item.get("output"))
    content = said if said.strip() else f"({item.get('name') or item.get('type') or 'no text'})"
    parts = read_parts(item.get("content") if role != "tool" else item)
    made = {"role": role, "content": content, "id": new_turn_id(), "metadata": {_ITEM: item}}
    return made if parts is None else made | {"parts": parts}


def _item(kept: KeptTurn) -> TResponseInputItem:
    role = "assistant" if kept.role in ("agent", "tool") else kept.role
    return cast(TResponseInputItem, kept.metadata.get(_ITEM) or {"role": role, "content": kept.content})
