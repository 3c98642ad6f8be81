"""Pydantic AI: a capability that recalls, stores, and offers tools.

    agent = Agent(model, capabilities=[MemoryCapability(memory)], deps_type=Deps)
    await agent.run(question, deps=Deps(user_id="alice"), conversation_id="monday")

The user comes from this argument, or else from `user_id` of the run's deps. Without either, the run raises an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

from agent_memory.extras import require
from agent_memory.integrations.bridge import AnyMemory, Bridge, Turn, given, owner, survive, text_of, turn, turn_id
from agent_memory.integrations.parts import media, words
from agent_memory.integrations.tools import memory_tools
from agent_memory.recall.context import DEFAULT_BUDGET
from agent_memory.transfer.parts import read_parts

require("pydantic_ai", "pydantic-ai")

from anyio import move_on_after  # noqa: E402
from pydantic_ai import FunctionToolset, RunContext  # noqa: E402
from pydantic_ai.capabilities import AbstractCapability, WrapRunHandler  # noqa: E402
from pydantic_ai.messages import ModelMessage  # noqa: E402
from pydantic_ai.run import AgentRunResult  # noqa: E402

__all__ = ["MemoryCapability", "memory_toolset_for"]

_HOW = "pass user_id= to MemoryCapability, or deps with a user_id to the run"
LOOK_BACK = 50
"""How many turns before a run without a history are looked through for the last answer. A choice."""
PATIENCE_SECONDS = 5.0
"""The most seconds by which a cancelled run ends later, because its messages are stored. A choice."""


class MemoryCapability(AbstractCapability[Any]):
    """Adds memories relevant to the prompt to the instructions of each request, and stores the messages of each run.

    The thread is the run's `conversation_id`. Instructions are in no message history, so recalled text is not stored.
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
        self._bridge = Bridge(memory, budget=budget, agent_id=agent_id)
        self._user_id, self._gives_tools = user_id, tools
        self._bound = False
        self._said: Sequence[ModelMessage] = ()

    async def for_run(self, ctx: RunContext[Any]) -> AbstractCapability[Any]:
        """The capability for the user of a run.

        Raises:
            InvalidInput: if there is no user id.
        """
        made = copy(self)
        made._user_id = owner(self._user_id or given(ctx.deps, "user_id"), _HOW)
        made._bound, made._said = True, ()
        return made

    def get_instructions(self) -> Callable[[RunContext[Any]], Any] | None:
        """The recalled memories, read again for each request."""
        return self._recall if self._bound else None

    async def _recall(self, ctx: RunContext[Any]) -> str | None:
        self._said = ctx.messages  # the list that the run adds to
        prompt = ctx.prompt if ctx.prompt is not None else ""
        return await self._bridge.told(self._owner, self._thread(ctx), text_of(prompt)) or None

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """The memory's tools, for the user of the run."""
        if not (self._bound and self._gives_tools):
            return None
        return FunctionToolset(memory_tools(self._bridge, self._owner))

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Stores the messages of the run, with files and the calls and results of tools. Failures are logged."""
        every, new = result.all_messages(), len(result.new_messages())
        await self._keep(ctx, every, len(every) - new)
        return result

    async def wrap_run(self, ctx: RunContext[Any], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        """Stores also what was said in a run that failed or was cancelled. If the run is repeated, it counts once."""
        try:
            return await handler()
        except BaseException:
            said = self._said
            start = next((place for place, one in enumerate(said) if one.run_id == ctx.run_id), len(said))
            with move_on_after(PATIENCE_SECONDS, shield=True):
                await self._keep(ctx, said, start)
            raise

    async def _keep(self, ctx: RunContext[Any], messages: Sequence[ModelMessage], start: int) -> None:
        thread = self._thread(ctx)
        after = await self._last_answer(thread) if start == 0 else ""
        await self._bridge.keep(self._owner, thread, _turns(thread, messages, start, after))

    async def _last_answer(self, thread_id: str) -> str:
        """The id of the answer that a run without a history follows; empty if there is none.

        Such a run continues its conversation, so equal words are said anew, unless the run before it got no answer.
        """
        turns = self._bridge.thread(self._owner, thread_id).turns
        last = await survive(self._bridge.ask(turns, LOOK_BACK), "read the conversation", [])
        return next((one.id for one in reversed(last) if one.role == "agent"), "")

    @property
    def _owner(self) -> str:
        return owner(self._user_id, _HOW)

    def _thread(self, ctx: RunContext[Any]) -> str:
        return ctx.conversation_id or ctx.run_id or "conversation"


def memory_toolset_for(memory: AnyMemory, user_id: str) -> FunctionToolset[Any]:
    """The tools `search_memory`, `remember` and `forget_memory` of one user, for `Agent(toolsets=[…])`.

    Raises:
        InvalidInput: if there is no user id.
    """
    return FunctionToolset(memory_tools(Bridge(memory), owner(user_id, "pass user_id to memory_toolset_for")))


def _turns(thread_id: str, messages: Sequence[ModelMessage], start: int, after: str) -> list[Turn | None]:
    """The turns of messages, by their place in the conversation, or `after` an answer: a repeated run adds none."""
    made: list[Turn | None] = []
    for place, message in enumerate(messages[start:], start):
        for number, part in enumerate(message.parts):
            role, text, blocks, named = _said(part)
            parts = read_parts(blocks)
            content = words(text, parts)
            if content.strip():
                id = turn_id(thread_id, *filter(None, [after]), f"{place}.{number}", role, content)
                made.append(turn(role, content, id, parts, **named))
    return made


class _Said(NamedTuple):
    """What a part of a message says: its role, its text, its blocks in the shape of a chat API, and metadata."""

    role: str
    text: str
    blocks: Sequence[Any] = ()
    metadata: Mapping[str, str] = {}


def _said(part: Any) -> _Said:
    match part.part_kind:
        case "user-prompt":
            blocks = [part.content] if isinstance(part.content, str) else [_block(one) for one in part.content]
            return _Said("user", text_of(blocks), blocks)
        case "text":
            return _Said("assistant", part.content)
        case "file":
            return _Said("assistant", "", [_block(part.content)])
        case "tool-call" | "builtin-tool-call":
            call = {"type": "tool_call", "name": part.tool_name, "id": part.tool_call_id, "args": part.args}
            return _Said("tool", "", [call])
        case "tool-return" | "builtin-tool-return":
            named = {"tool_name": part.tool_name, "tool_call_id": part.tool_call_id}
            text = part.model_response_str()
            result = {"type": "tool_result", "name": part.tool_name, "tool_call_id": part.tool_call_id}
            result |= {"content": text, "is_error": part.outcome != "success"}
            return _Said("tool", text, [result, *(_block(file) for file in part.files)], named)
    return _Said("", "")


def _block(content: Any) -> Any:
    """A content of a prompt, in the shape of a chat API; None for a mark of where to cache."""
    match getattr(content, "kind", None):
        case None:
            return str(content)
        case "text-content" | "structured-content":
            return {"type": "text", "text": content.content}
        case "binary":
            return media(content.media_type, data=content.data)
        case "uploaded-file":
            return media(content._media_type, file_id=content.file_id)
        case "image-url" as kind:
            return media("image/*", url=content.url)
        case str(kind) if kind.endswith("-url"):
            return media(content._media_type, url=content.url)
    return None
