"""Conversations of frameworks without an adapter: messages in the shapes of OpenAI and Anthropic."""

from __future__ import annotations

from typing import Any

import pytest

from agent_memory import AsyncMemory
from agent_memory.integrations.conversation import Conversation

OPENAI: list[dict[str, Any]] = [
    {"role": "system", "content": "Be helpful."},
    {"role": "user", "content": "Is it sunny?"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Kona"}'}}
    ]},
    {"role": "tool", "tool_call_id": "c", "content": "I like rain."},
    {"role": "assistant", "content": "Yes."},
]  # fmt: skip
ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "Is it sunny?"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "weather", "input": {"city": "Kona"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "I like rain."}]},
    {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]},
]


@pytest.mark.parametrize("messages", [OPENAI, ANTHROPIC], ids=["openai", "anthropic"])
async def test_what_a_tool_says_is_not_said_by_the_user(memory: AsyncMemory, messages: list[dict[str, Any]]):
    talk = Conversation(memory, "alice", "s")
    await talk.keep(messages)
    await talk.keep(messages)
    turns = await memory.user("alice").thread("s").turns()
    assert [(turn.role, turn.content, [part.type for part in turn.parts or ()]) for turn in turns] == [
        ("user", "Is it sunny?", []),
        ("tool", '[calls weather({"city": "Kona"})]', ["tool_call"]),
        ("tool", "I like rain.", ["tool_result"]),
        ("agent", "Yes.", []),
    ]
