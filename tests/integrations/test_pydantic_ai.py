"""Pydantic AI, beyond the promises: tools, streaming, and clean histories."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest
from agent_server import BUDGET, KNOWS, KNOWS_NOT, agent_server

pytest.importorskip("pydantic_ai.models.openai", reason="not installed: make integrations ARGS=pydantic_ai")

from pydantic_ai import Agent, BinaryContent, CachePoint, ImageUrl, TextContent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from agent_memory import AsyncMemory
from agent_memory.integrations.pydantic_ai import MemoryCapability, memory_toolset_for
from agent_memory.models import ToolCallPart, ToolResultPart

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
    assert [role for role, _ in kept] == ["user", "tool", "tool", "agent"]
    assert kept[2][1]["tool_name"] == "remember"


async def test_files_calls_and_results_are_kept_as_parts(memory: AsyncMemory):
    with agent_server() as server:
        model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=f"{server.url}/v1", api_key="k"))
        agent = Agent(model, capabilities=[MemoryCapability(memory, user_id="alice")])

        @agent.tool_plain
        def weather(city: str) -> dict[str, int]:
            return {"degrees": 24}

        prompt = [
            'call weather {"city": "Lisbon"}',
            TextContent("I pack for this."),
            ImageUrl("https://example.org/suitcase.png"),
            BinaryContent(b"PNG", media_type="image/png"),
            CachePoint(),
        ]
        await agent.run(prompt, conversation_id="trip")
        asked, call, result, answer = await memory.user("alice").thread("trip").turns()
    assert asked.content == 'call weather {"city": "Lisbon"}\nI pack for this.'
    assert [part.model_dump(exclude_none=True) for part in asked.parts or ()] == [
        {"type": "text", "text": 'call weather {"city": "Lisbon"}'},
        {"type": "text", "text": "I pack for this."},
        {"type": "image", "url": "https://example.org/suitcase.png"},
        {"type": "image", "url": "data:image/png;base64,UE5H", "mime_type": "image/png"},
    ]
    assert (call.role, call.content) == ("tool", '[calls weather({"city": "Lisbon"})]')
    [called], [returned] = call.parts or (), result.parts or ()
    assert isinstance(called, ToolCallPart)
    assert isinstance(returned, ToolResultPart)
    assert (called.name, json.loads(str(called.args)), returned.content) == (
        "weather",
        {"city": "Lisbon"},
        '{"degrees":24}',
    )
    assert called.id == returned.tool_call_id
    assert (answer.role, answer.parts) == ("agent", None)


async def test_a_prompt_of_one_image_is_kept(memory: AsyncMemory):
    with agent_server() as server:
        model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=f"{server.url}/v1", api_key="k"))
        agent = Agent(model, capabilities=[MemoryCapability(memory, user_id="alice")])
        await agent.run([ImageUrl("https://example.org/a.png")], conversation_id="one")
        asked, _ = await memory.user("alice").thread("one").turns()
    assert (asked.role, asked.content) == ("user", "[image]")


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


async def test_what_was_said_in_a_run_that_fails_or_is_cancelled_is_kept_once(memory: AsyncMemory):
    waiting = asyncio.Event()

    async def wait(seconds: int) -> str:
        """Waits."""
        waiting.set()
        await asyncio.sleep(seconds)
        return "done"

    async def kept(thread: str) -> list[str]:
        return [turn.content for turn in await memory.user("alice").thread(thread).turns()]

    with agent_server() as server:
        model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=f"{server.url}/v1", api_key="k"))
        agent = Agent(model, capabilities=[MemoryCapability(memory, user_id="alice")], tools=[wait])
        server.failures = 9
        with pytest.raises(ModelHTTPError):
            await agent.run("I live in Porto.", conversation_id="failed")
        server.failures = 0
        assert await kept("failed") == ["I live in Porto."]
        await agent.run("I live in Porto.", conversation_id="failed")
        assert await kept("failed") == ["I live in Porto.", KNOWS_NOT]
        run = asyncio.create_task(agent.run('call wait {"seconds": 60}', conversation_id="stopped"))
        await waiting.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert await kept("stopped") == ['call wait {"seconds": 60}', '[calls wait({"seconds": 60})]']
        async with agent.run_stream("Tell me much.", conversation_id="left") as stream:
            async for _ in stream.stream_text():
                break
        assert (await kept("left"))[0] == "Tell me much."


async def test_equal_words_of_a_host_that_passes_no_history_are_kept_each_time(memory: AsyncMemory):
    with agent_server() as server:
        model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=f"{server.url}/v1", api_key="k"))
        agent = Agent(model, capabilities=[MemoryCapability(memory, user_id="alice")])
        for said in ("yes", "yes", "no"):
            await agent.run(said, conversation_id="s")
        server.failures = 9
        with pytest.raises(ModelHTTPError):
            await agent.run("yes", conversation_id="s")
        server.failures = 0
        await agent.run("yes", conversation_id="s")
    kept = [turn.content for turn in await memory.user("alice").thread("s").turns()]
    assert kept == ["yes", KNOWS_NOT, "yes", KNOWS_NOT, "no", KNOWS_NOT, "yes", KNOWS_NOT]
