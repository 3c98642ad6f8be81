"""OpenAI Agents, beyond the promises: items word for word, limits, taking back, tools."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from agent_server import KNOWS_NOT, agent_server

pytest.importorskip("agents.memory", reason="not installed: make integrations ARGS=openai_agents")

from agents import Agent, OpenAIResponsesModel, RunConfig, Runner, function_tool
from openai import AsyncOpenAI

from agent_memory import AsyncMemory
from agent_memory.errors import Conflict, InvalidInput
from agent_memory.integrations.bridge import Bridge, encode_id
from agent_memory.integrations.openai_agents import MemorySession, memory_tools_for

pytestmark = pytest.mark.filterwarnings("ignore")
QUIET = RunConfig(tracing_disabled=True)
ITEMS: list[Any] = [
    {"role": "user", "content": [{"type": "input_text", "text": "Look!"}, {"type": "input_image", "image_url": "x"}]},
    {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "e\u0301 \u200b"},
    {"type": "function_call", "call_id": "c", "name": "weather", "arguments": '{"city": "Kona"}'},
    {"type": "function_call_output", "call_id": "c", "output": "sunny"},
    {"role": "assistant", "content": [{"type": "output_text", "text": "Sunny.", "annotations": []}]},
    {"role": "user", "content": "yes"},
    {"role": "assistant", "content": "yes"},
    {"role": "user", "content": "yes"},
]


async def test_items_come_back_as_they_were_the_last_first_when_popped(memory: AsyncMemory):
    session = MemorySession(memory, "a/b", user_id="alice")
    await session.add_items(ITEMS[:3])
    await session.add_items(ITEMS[3:])
    assert await session.get_items() == ITEMS
    kept = await memory.user("alice").thread(encode_id("a/b", "")).turns()
    parts = [[part.type for part in turn.parts or ()] for turn in kept[:4]]
    assert parts == [["text", "image"], [], ["tool_call"], ["tool_result"]]
    assert await session.get_items(limit=2) == ITEMS[-2:]
    assert await session.get_items(limit=99) == ITEMS
    assert await MemorySession(memory, "a/b", user_id="bob").get_items() == []
    assert [await session.pop_item() for _ in range(9)] == [*reversed(ITEMS), None]
    await session.add_items(ITEMS[:1])
    await session.clear_session()
    assert await session.get_items() == []


async def test_what_is_too_large_for_a_turn_is_cut_and_the_session_goes_on(memory: AsyncMemory):
    session = MemorySession(memory, "s", user_id="alice")
    call, result = ITEMS[2], ITEMS[3] | {"output": "sunny " * 500_000}
    photo = {"type": "input_image", "image_url": f"data:image/png;base64,{'A' * 2_000_000}"}
    asked = {"role": "user", "content": [{"type": "input_text", "text": "Look!"}, photo]}
    await session.add_items([asked, call, result, ITEMS[4]])
    first, *others, last = await session.get_items()
    assert first == {"role": "user", "content": "Look!"}  # no image that a model could not read
    assert (others[0], last) == (call, ITEMS[4])
    assert others[1]["call_id"] == "c"
    assert others[1]["output"].startswith("sunny sunny")
    assert others[1]["output"].endswith("… [2,900,000 more characters were not stored]")
    [turn, *_] = await memory.user("alice").thread("s").turns()
    assert [part.type for part in turn.parts or ()] == ["text", "image"]


async def test_an_item_that_memories_rest_on_is_not_taken_back(memory: AsyncMemory):
    session = MemorySession(memory, "s", user_id="alice")
    await session.add_items([{"role": "user", "content": "fact: I like tea."}])
    await memory.drain(30)
    with pytest.raises(Conflict):
        await session.pop_item()


async def test_a_session_without_a_user_is_refused(memory: AsyncMemory):
    with pytest.raises(InvalidInput, match="no user id"):
        await MemorySession(memory, "s").get_items()


async def test_tool_calls_of_a_run_are_sent_again_as_they_were(memory: AsyncMemory):
    @function_tool
    async def weather(city: str) -> str:
        """Says the weather."""
        return f"sunny in {city}"

    with agent_server() as server:
        client = AsyncOpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0)
        model = OpenAIResponsesModel("scripted", client)
        agent = Agent(name="a", model=model, tools=[weather, *memory_tools_for(memory, "alice")])
        session = MemorySession(memory, "s", user_id="alice")
        await Runner.run(agent, 'call weather {"city": "Kona"}', session=session, run_config=QUIET)
        first = server.requests[-1]["input"]
        streamed = Runner.run_streamed(agent, "And now?", session=session, run_config=QUIET)
        async for _ in streamed.stream_events():
            pass
        assert streamed.final_output == KNOWS_NOT
        assert server.requests[-1]["input"][: len(first)] == first
        await Runner.run(agent, 'call remember {"content": "Allergic to peanuts."}', run_config=QUIET)
        await Runner.run(agent, 'call search_memory {"query": "Allergic to peanuts?"}', run_config=QUIET)
        assert "Allergic to peanuts." in server.told
    roles = [turn.role for turn in await memory.user("alice").thread("s").turns()]
    assert roles == ["user", "tool", "tool", "agent", "user", "agent"]


async def test_a_run_recalls_once_and_the_next_one_again(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []

    async def told(self: Bridge, user_id: str, thread_id: str, query: str) -> str:
        asked.append(query)
        return f"recalled {len(asked)}"

    monkeypatch.setattr(Bridge, "told", told)
    question = 'call search_memory {"query": "peanuts"}'
    with agent_server() as server:
        client = AsyncOpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0)
        model = OpenAIResponsesModel("scripted", client)
        agent = Agent(name="a", model=model, tools=[*memory_tools_for(memory, "alice")])
        session = MemorySession(memory, "s", user_id="alice")
        for _ in range(2):
            await Runner.run(agent, question, session=session, run_config=session.run_config(tracing_disabled=True))
        given = [one["instructions"] for one in server.requests]
    assert asked == [question, question]
    assert given == ["recalled 1", "recalled 1", "recalled 2", "recalled 2"]


def test_the_module_names_the_extra_that_is_missing(monkeypatch: pytest.MonkeyPatch):
    from agent_memory.errors import ConfigurationError

    monkeypatch.delitem(sys.modules, "agent_memory.integrations.openai_agents")
    monkeypatch.setattr("agent_memory.extras.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"package agents is missing.*\[openai-agents\]"):
        import agent_memory.integrations.openai_agents  # noqa: F401
