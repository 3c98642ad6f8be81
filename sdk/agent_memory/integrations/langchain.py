"""LangChain: a middleware for `create_agent` that recalls, stores, and offers tools.

    create_agent(model, middleware=[MemoryMiddleware(memory)], context_schema=User, checkpointer=…)

The user comes from this argument, or else from `user_id` of the run's context (`invoke(…,
context=User(user_id="alice"))`). Without either, the run raises an error. The thread is the checkpointer's; without
one, the `thread_id` of the context. With `invoke`, open a `Memory`; with `ainvoke`, an `AsyncMemory` or a `Memory`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agent_memory.extras import require
from agent_memory.integrations.bridge import AnyMemory, Bridge, Turn, complete, given, owner, text_of, turn, turn_id
from agent_memory.integrations.parts import role_of, words
from agent_memory.integrations.tools import memory_tools
from agent_memory.recall.context import DEFAULT_BUDGET
from agent_memory.transfer.parts import read_parts

require("langchain", "langchain")

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse  # noqa: E402
from langchain.tools import ToolRuntime  # noqa: E402
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage  # noqa: E402
from langchain_core.tools import BaseTool, StructuredTool  # noqa: E402

__all__ = ["MemoryMiddleware", "memory_tools_for"]

_HOW = "pass user_id= to MemoryMiddleware, or a context with a user_id to the run"
_ROLES: dict[type[Any], str] = {HumanMessage: "user", AIMessage: "assistant", ToolMessage: "tool"}


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Recalls what is relevant to the user's last message before each model call, and stores the turns after each run.

    Recalled text is only in the system message of the request: no checkpoint holds it.
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        user_id: str | None = None,
        budget: int = DEFAULT_BUDGET,
        agent_id: str | None = None,
        tools: bool = False,
    ) -> None:
        """Uses an open memory.

        Args:
            memory: An open memory.
            user_id: The user of the agent. Leave it out if the agent serves many users (see the module).
            budget: The maximum tokens that are recalled.
            agent_id: The agent that talks; stored with its turns.
            tools: Whether the agent gets the memory's tools too.
        """
        super().__init__()
        self._bridge = Bridge(memory, budget=budget, agent_id=agent_id)
        self._user_id = user_id
        self.tools = _tools_of_run(self._bridge, lambda runtime: self._owner(runtime)) if tools else []

    def before_agent(self, state: Any, runtime: Any) -> None:
        """Refuses a run without a user.

        Raises:
            InvalidInput: if there is no user id.
        """
        self._owner(runtime)

    async def abefore_agent(self, state: Any, runtime: Any) -> None:
        """As `before_agent`."""
        self._owner(runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Calls the model with the recalled memories."""
        return handler(complete(self._informed(self._bridge.now, request)))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Calls the model with the recalled memories."""
        return await handler(await self._informed(self._bridge, request))

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Stores the messages of this run. If the store fails, this is logged."""
        complete(self._keep(self._bridge.now, state["messages"], runtime))

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """Stores the messages of this run. If the store fails, this is logged."""
        await self._keep(self._bridge, state["messages"], runtime)

    async def _informed(self, bridge: Bridge, request: ModelRequest[Any]) -> ModelRequest[Any]:
        question = next((one for one in reversed(request.messages) if isinstance(one, HumanMessage)), None)
        if question is None:
            return request
        thread = _thread(request.runtime, request.messages)
        told = await bridge.told(self._owner(request.runtime), thread, text_of(question.content))
        if not told:
            return request
        prompt = request.system_message
        content = told if prompt is None else [*_blocks(prompt.content), {"type": "text", "text": f"\n\n{told}"}]
        return request.override(system_message=SystemMessage(content=content))

    async def _keep(self, bridge: Bridge, messages: Sequence[AnyMessage], runtime: Any) -> None:
        thread = _thread(runtime, messages)
        stable = getattr(runtime.execution_info, "thread_id", None) is not None
        await bridge.keep(self._owner(runtime), thread, turns_of(thread, messages, stable_ids=stable))

    def _owner(self, runtime: Any) -> str:
        return owner(self._user_id or given(runtime.context, "user_id"), _HOW)


def turns_of(thread_id: str, messages: Sequence[AnyMessage], *, stable_ids: bool) -> list[Turn | None]:
    """The turns of the last run: the user's last messages, and what followed.

    Runs just before it that failed or were cancelled, so that they have no answer, are part of it.

    Messages of a checkpoint keep their ids. Others get new ones in each run; then the same words at the same place of
    the conversation are the same turn.
    """
    said = [(one, _ROLES[type(one)]) for one in messages if type(one) in _ROLES]
    last = max((n for n, (_, role) in enumerate(said) if role == "user"), default=len(said))
    while last and not _is_answer(said[last - 1][0]):
        last -= 1
    seen: Counter[tuple[str, str]] = Counter()
    made: list[Turn | None] = []
    for number, (message, role) in enumerate(said):
        parts = _parts(message)
        said_here = text_of(message.content)
        role, content = role_of(role, said_here, parts), words(said_here, parts)
        seen[role, content] += 1
        if number < last or not content.strip():
            continue
        own = message.id if stable_ids and message.id else f"{role} {seen[role, content]} {content}"
        named = _call(message) if isinstance(message, ToolMessage) else {}
        made.append(turn(role, content, turn_id(thread_id, own), parts, **named))
    return made


def _is_answer(message: AnyMessage) -> bool:
    return isinstance(message, AIMessage) and not message.tool_calls


def memory_tools_for(memory: AnyMemory, user_id: str) -> list[BaseTool]:
    """The tools `search_memory`, `remember` and `forget_memory` of one user, for any agent or `ToolNode`.

    Raises:
        InvalidInput: if there is no user id.
    """
    user = owner(user_id, "pass user_id to memory_tools_for")
    return _tools_of_run(Bridge(memory), lambda runtime: user)


def _tools_of_run(bridge: Bridge, owner_of: Callable[[Any], str]) -> list[BaseTool]:
    """The tools, for the user of the run that calls them."""

    async def tell(through: Bridge, number: int, runtime: Any, **arguments: Any) -> str:
        return await memory_tools(through, owner_of(runtime))[number](**arguments)

    async def search_memory(query: str, runtime: ToolRuntime, limit: int = 5) -> str:
        return await tell(bridge, 0, runtime, query=query, limit=limit)

    async def remember(content: str, runtime: ToolRuntime) -> str:
        return await tell(bridge, 1, runtime, content=content)

    async def forget_memory(memory_id: str, runtime: ToolRuntime) -> str:
        return await tell(bridge, 2, runtime, memory_id=memory_id)

    def search_memory_now(query: str, runtime: ToolRuntime, limit: int = 5) -> str:
        return complete(tell(bridge.now, 0, runtime, query=query, limit=limit))

    def remember_now(content: str, runtime: ToolRuntime) -> str:
        return complete(tell(bridge.now, 1, runtime, content=content))

    def forget_memory_now(memory_id: str, runtime: ToolRuntime) -> str:
        return complete(tell(bridge.now, 2, runtime, memory_id=memory_id))

    pairs: list[tuple[Callable[..., str], Callable[..., Awaitable[str]]]] = [
        (search_memory_now, search_memory),
        (remember_now, remember),
        (forget_memory_now, forget_memory),
    ]
    return [
        StructuredTool.from_function(plain, coroutine, name=shared.__name__, description=shared.__doc__)
        for (plain, coroutine), shared in zip(pairs, memory_tools(bridge, "nobody"), strict=True)
    ]


def _thread(runtime: Any, messages: Sequence[AnyMessage]) -> str:
    """The thread of a run: the checkpointer's, or the context's, or else one named after its first message."""
    known = getattr(runtime.execution_info, "thread_id", None) or given(runtime.context, "thread_id")
    return str(known) if known else turn_id("thread", text_of(messages[0].content) if messages else "")


def _parts(message: AnyMessage) -> list[dict[str, Any]] | None:
    """The parts of a message: its blocks, and its tool calls or, of a tool's message, the result."""
    if isinstance(message, ToolMessage):
        result: dict[str, Any] = {"type": "tool_result", "content": message.content, "name": message.name}
        return read_parts([result | {"tool_call_id": message.tool_call_id, "is_error": message.status == "error"}])
    return read_parts(message.content, message.tool_calls if isinstance(message, AIMessage) else ())


def _call(message: ToolMessage) -> dict[str, Any]:
    return {"tool_name": message.name, "tool_call_id": message.tool_call_id}


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
