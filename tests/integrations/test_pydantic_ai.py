"""Pydantic AI, beyond the promises: tools, streaming, and clean histories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from agent_server import BUDGET, KNOWS, agent_server

pytest.importorskip("pydantic_ai.models.openai", reason="not installed: make integrations ARGS=pydantic_ai")

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from agent_memory import AsyncMemory
from agent_memory.integrations.pydantic_ai import MemoryCapability, memory_toolset_for

pytestmark = pytest.mark.filterwarnings("ignore")


@dataclass
class Deps:
    user_id: str


async def test_tools_are_those_of_the_user_of_the_run(memory: AsyncMemory):
    with agent_server() as server:
        model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=f"{server.url}/v1", api_key="k"))
        agent = Agent(model, deps_type=Deps, capabilities=[MemoryCapability(memory, tools=True)])
        said = f'call remember {{"content": "The budget is {BUDGET}."}}'
        await agent.run(said, deps=Deps("alice"), conversation_id="monday")
        assert [one.content for one in await memory.user("alice").memories()] == [f"The budget is {BUDGET}."]
        for user, knows in (("alice", True), ("bob", False)):
            asked = 'call search_memory {"query": "The budget?"}'
            done: Any = await agent.run(asked, deps=Deps(user), conversation_id=f"{user}s")
            assert (done.output == KNOWS) is knows
        kept = [(turn.role, turn.metadata) for turn in await memory.user("alice").thread("monday").turns()]
    assert [role for role, _ in kept] == ["user", "tool", "agent"]
    assert kept[1][1]["tool_name"] == "remember"


async def test_a_streamed_run_is_kept_and_its_history_holds_nothing_recalled(memory: AsyncMemory):
    await memory.user("alice").remember(f"The budget is {BUDGET}.")
    with agent_server() as server:
        model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=f"{server.url}/v1", api_key="k"))
        toolsets = [memory_toolset_for(memory, "alice")]
        agent = Agent(model, capabilities=[MemoryCapability(memory, user_id="alice")], toolsets=toolsets)
        async with agent.run_stream("What is the budget?", conversation_id="s") as stream:
            assert await stream.get_output() == KNOWS
        messages = stream.all_messages()
    assert server.asked[-1].tools == ["search_memory", "remember", "forget_memory"]
    assert all(BUDGET not in str(part) for message in messages[:1] for part in message.parts)
    assert [turn.content for turn in await memory.user("alice").thread("s").turns()] == ["What is the budget?", KNOWS]
