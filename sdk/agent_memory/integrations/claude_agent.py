"""Claude Agent SDK: hooks that recall and store, and the memory's tools as a server within the process.

    options = ClaudeAgentOptions(**memory_options(memory, "alice"))

Each prompt gets the memories relevant to it. When Claude stops, the prompt, the calls and results of tools and the
answer are stored as turns of the session, or of the given thread. Hooks see a prompt's text, not its images.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from agent_memory.extras import require
from agent_memory.integrations.bridge import AnyMemory, Bridge, Turn, owner, turn, turn_id
from agent_memory.integrations.parts import words
from agent_memory.integrations.tools import memory_tools
from agent_memory.recall.context import DEFAULT_BUDGET
from agent_memory.transfer.parts import read_parts

require("claude_agent_sdk", "claude-agent")

from claude_agent_sdk import HookMatcher, create_sdk_mcp_server, tool  # noqa: E402

__all__ = ["memory_hooks", "memory_options", "memory_server"]

SERVER = "memory"
_SCHEMAS: list[dict[str, type]] = [{"query": str}, {"content": str}, {"memory_id": str}]


def memory_options(memory: AnyMemory, user_id: str, **options: Any) -> dict[str, Any]:
    """What `ClaudeAgentOptions` needs for a user's memory: hooks, the tools, and permission to use them.

    Args:
        memory: An open memory.
        user_id: The user of the agent; the model cannot choose.
        options: Options of `memory_hooks`.

    Raises:
        InvalidInput: if there is no user id.
    """
    names = [function.__name__ for function in memory_tools(Bridge(memory), owner(user_id, "give one"))]
    return {
        "hooks": memory_hooks(memory, user_id, **options),
        "mcp_servers": {SERVER: memory_server(memory, user_id)},
        "allowed_tools": [f"mcp__{SERVER}__{name}" for name in names],
    }


def memory_hooks(
    memory: AnyMemory,
    user_id: str,
    *,
    thread_id: str | None = None,
    budget: int = DEFAULT_BUDGET,
    agent_id: str | None = None,
) -> dict[str, list[Any]]:
    """Hooks that recall (`UserPromptSubmit`), note tools (`PostToolUse`, `PostToolUseFailure`) and store (`Stop`).

    A prompt that was interrupted is stored with the next one of its conversation.

    Args:
        memory: An open memory.
        user_id: The user of the agent.
        thread_id: The conversation; by default Claude's session.
        budget: The maximum tokens that are recalled.
        agent_id: The agent that talks; stored with its turns.

    Raises:
        InvalidInput: if there is no user id.
    """
    bridge = Bridge(memory, budget=budget, agent_id=agent_id)
    user = owner(user_id, "pass user_id to memory_hooks")
    runs: dict[str, _Run] = {}

    async def recall(given: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        thread = thread_id or str(given["session_id"])
        before = runs.get(thread)
        if before is not None and not before.kept:
            await bridge.keep(user, thread, before.turns(thread))
        runs[thread] = _Run(str(given["prompt"]))
        told = await bridge.told(user, thread, runs[thread].prompt)
        if not told:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": told}}

    async def note(given: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        run = runs.get(thread_id or str(given["session_id"]))
        # The memory's own tools answer with what is stored, and a subagent's work is in the answer to its caller.
        if run is not None and not given["tool_name"].startswith(f"mcp__{SERVER}__") and "agent_id" not in given:
            run.tools.append(given)
        return {}

    async def keep(given: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        thread = thread_id or str(given["session_id"])
        if (run := runs.get(thread)) is not None:
            run.kept = True
            await bridge.keep(user, thread, run.turns(thread, str(given.get("last_assistant_message") or "")))
        return {}

    hooks = {"UserPromptSubmit": recall, "PostToolUse": note, "PostToolUseFailure": note, "Stop": keep}
    return {event: [HookMatcher(hooks=[hook])] for event, hook in hooks.items()}


@dataclass
class _Run:
    """A prompt, and the tools that Claude used since."""

    prompt: str
    id: str = field(default_factory=lambda: uuid4().hex)
    tools: list[Any] = field(default_factory=list)
    kept: bool = False

    def turns(self, thread: str, answer: str = "") -> list[Turn | None]:
        """What is stored of it."""
        said: list[tuple[str, str, str, Any]] = [("user", self.prompt, "", None)]
        for used in self.tools:
            for number, blocks in enumerate(_call_and_result(used)):
                parts = read_parts(blocks)
                said.append(("tool", words("", parts), f"{used['tool_use_id']}.{number}", parts))
        said.append(("assistant", answer, "", None))
        return [turn(role, text, turn_id(thread, self.id, role, at or text), parts) for role, text, at, parts in said]


def _call_and_result(used: Any) -> tuple[list[Any], list[Any]]:
    """The use of a tool, in the shape of a chat API; images in a result follow it."""
    name, id, error = used["tool_name"], used["tool_use_id"], used.get("error")
    given = used.get("tool_response") if error is None else error
    blocks = given if isinstance(given, list) else []
    files = [one for one in blocks if isinstance(one, dict) and one.get("type") != "text"]
    content = given if blocks or isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
    call = {"type": "tool_call", "name": name, "id": id, "args": used["tool_input"]}
    result = {"type": "tool_result", "name": name, "tool_call_id": id, "is_error": error is not None}
    return [call], [result | {"content": content}, *files]


def memory_server(memory: AnyMemory, user_id: str) -> Any:
    """The tools `search_memory`, `remember` and `forget_memory` of one user, for `ClaudeAgentOptions(mcp_servers=…)`.

    Raises:
        InvalidInput: if there is no user id.
    """
    functions = memory_tools(Bridge(memory), owner(user_id, "pass user_id to memory_server"))
    tools = [_tool(function, schema) for function, schema in zip(functions, _SCHEMAS, strict=True)]
    return create_sdk_mcp_server(SERVER, tools=tools)


def _tool(function: Callable[..., Any], schema: dict[str, type]) -> Any:
    async def call(arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": await function(**arguments)}]}

    return tool(function.__name__, str(function.__doc__).split("\n")[0], schema)(call)
