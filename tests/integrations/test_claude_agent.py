"""Claude Agent SDK, beyond the promises: tools, images in their results, and prompts that were interrupted."""

from __future__ import annotations

from typing import Any

import pytest
from agent_server import KNOWS_NOT, agent_server

pytest.importorskip("claude_agent_sdk", reason="not installed: make integrations ARGS=claude_agent")

from claude_agent_sdk import create_sdk_mcp_server, query, tool
from claude_agent_sdk.types import ClaudeAgentOptions

from agent_memory import AsyncMemory
from agent_memory.integrations.claude_agent import memory_hooks, memory_options

pytestmark = pytest.mark.filterwarnings("ignore")
USED = {"session_id": "s", "tool_name": "look", "tool_use_id": "one", "tool_input": {"at": "Kona"}}


async def kept(memory: AsyncMemory) -> list[tuple[str, str, list[str]]]:
    turns = await memory.user("alice").thread("s").turns()
    return [(turn.role, turn.content, [part.type for part in turn.parts or ()]) for turn in turns]


async def test_calls_and_results_of_tools_are_kept_and_those_of_the_memory_are_not(memory: AsyncMemory, tmp_path: Any):
    @tool("weather", "Says the weather.", {"city": str})
    async def weather(given: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": f"sunny in {given['city']}"}]}

    with agent_server() as server:
        given = memory_options(memory, "alice", thread_id="s")
        given["mcp_servers"] |= {"sky": create_sdk_mcp_server("sky", tools=[weather])}
        given["allowed_tools"] += ["mcp__sky__weather"]
        environment = {**server.environment, "HOME": str(tmp_path), "ENABLE_TOOL_SEARCH": "false"}
        options = ClaudeAgentOptions(model="scripted", env=environment, setting_sources=[], cwd=str(tmp_path), **given)
        for asked in ('call mcp__sky__weather {"city": "Kona"}', 'call mcp__memory__search_memory {"query": "Kona"}'):
            async for _ in query(prompt=asked, options=options):
                pass
    assert await kept(memory) == [
        ("user", 'call mcp__sky__weather {"city": "Kona"}', []),
        ("tool", '[calls mcp__sky__weather({"city": "Kona"})]', ["tool_call"]),
        ("tool", "sunny in Kona", ["tool_result"]),
        ("agent", KNOWS_NOT, []),
        ("user", 'call mcp__memory__search_memory {"query": "Kona"}', []),
        ("agent", KNOWS_NOT, []),
    ]


@pytest.mark.parametrize(
    ("response", "content", "parts"),
    [
        ("sunny", "sunny", ["tool_result"]),
        ({"stdout": "ü"}, '{"stdout": "ü"}', ["tool_result"]),
        (
            [{"type": "text", "text": "Look:"}, {"type": "image", "source": {"type": "base64", "data": "AAAA"}}],
            "Look:\n[image]",
            ["tool_result", "image"],
        ),
    ],
)
async def test_an_interrupted_prompt_is_stored_with_the_next_and_only_once(
    memory: AsyncMemory, response: Any, content: str, parts: list[str]
):
    hooks = {event: matcher.hooks[0] for event, [matcher] in memory_hooks(memory, "alice").items()}
    await hooks["UserPromptSubmit"]({"session_id": "s", "prompt": "I live in Porto."}, None, {})
    await hooks["PostToolUse"](USED | {"tool_response": response}, None, {})
    await hooks["PostToolUse"](USED | {"tool_response": "inner", "agent_id": "sub"}, None, {})
    await hooks["PostToolUseFailure"](USED | {"tool_use_id": "two", "error": "no network"}, None, {})
    await hooks["UserPromptSubmit"]({"session_id": "s", "prompt": "Never mind."}, None, {})
    for _ in range(2):
        await hooks["Stop"]({"session_id": "s", "last_assistant_message": "All right."}, None, {})
    assert await kept(memory) == [
        ("user", "I live in Porto.", []),
        ("tool", '[calls look({"at": "Kona"})]', ["tool_call"]),
        ("tool", content, parts),
        ("tool", '[calls look({"at": "Kona"})]', ["tool_call"]),
        ("tool", "no network", ["tool_result"]),
        ("user", "Never mind.", []),
        ("agent", "All right.", []),
    ]
