"""Claude Agent SDK: hooks that recall and store, and the memory's tools as a server within the process.

    options = ClaudeAgentOptions(**memory_options(memory, "alice"))

Each prompt gets the memories relevant to it. When Claude stops, the prompt and the answer are stored as turns of the
session, or of the given thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from agent_memory.extras import require
from agent_memory.integrations.bridge import AnyMemory, Bridge, owner, turn, turn_id
from agent_memory.integrations.tools import memory_tools
from agent_memory.recall.context import DEFAULT_BUDGET

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
    """The hooks `UserPromptSubmit`, which recalls, and `Stop`, which stores.

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
    asked: dict[str, tuple[str, str]] = {}

    async def recall(given: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        thread = thread_id or str(given["session_id"])
        asked[thread] = (uuid4().hex, str(given["prompt"]))
        told = await bridge.told(user, thread, asked[thread][1])
        if not told:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": told}}

    async def keep(given: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        thread = thread_id or str(given["session_id"])
        if thread not in asked:
            return {}
        run, prompt = asked[thread]
        answer = str(given.get("last_assistant_message") or "")
        said = [("user", prompt), ("assistant", answer)]
        await bridge.keep(user, thread, [turn(role, text, turn_id(thread, run, role, text)) for role, text in said])
        return {}

    return {"UserPromptSubmit": [HookMatcher(hooks=[recall])], "Stop": [HookMatcher(hooks=[keep])]}


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
