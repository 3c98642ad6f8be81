"""Agent Framework, beyond the promises: history word for word, tools, streaming, and a service's own storage."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agent_server import KNOWS_NOT, agent_server

pytest.importorskip("agent_framework_openai", reason="not installed: make integrations ARGS=agent_framework")

from agent_framework import Agent, AgentSession, Message
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient

from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput
from agent_memory.integrations.agent_framework import MemoryContextProvider, MemoryHistoryProvider, memory_tools_for

pytestmark = pytest.mark.filterwarnings("ignore")


async def test_a_history_gives_messages_back_as_they_were(memory: AsyncMemory):
    """With a tool call in it, over the Responses API."""

    async def weather(city: str) -> str:
        """Says the weather."""
        return f"sunny in {city}"

    with agent_server() as server:
        client = OpenAIChatClient(model="scripted", api_key="k", base_url=f"{server.url}/v1")
        history = MemoryHistoryProvider(memory, user_id="alice")
        options: Any = {"store": False}
        agent = Agent(client=client, tools=[weather], context_providers=[history], default_options=options)
        await agent.run('call weather {"city": "Kona"}', session=AgentSession(session_id="s/1"))
        answer = await agent.run("And now?", session=AgentSession(session_id="s/1"))
        sent = [(item.get("type"), item.get("role")) for item in server.requests[-1]["input"]]
    assert answer.text == KNOWS_NOT
    assert [kind or role for kind, role in sent] == [
        "message",
        "function_call",
        "function_call_output",
        "message",
        "message",
    ]
    roles = [turn.role for turn in await memory.user("alice").thread("s%2F1").turns()]
    assert roles == ["user", "agent", "tool", "agent", "user", "agent"]
    loaded = await history.get_messages("s/1")
    assert [message.role for message in loaded] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert await history.get_messages("another") == []


async def test_a_host_that_keeps_only_the_id_of_a_session_loses_no_repeated_message(memory: AsyncMemory):
    said = ["yes", "yes", "no", "yes"]
    with agent_server() as server:
        client = OpenAIChatCompletionClient(model="scripted", api_key="k", base_url=f"{server.url}/v1")
        agent = Agent(client=client, context_providers=[MemoryHistoryProvider(memory, user_id="alice")])
        for text in said:
            await agent.run(text, session=AgentSession(session_id="s"))
        assert len(server.requests[-1]["messages"]) == 7
    turns = await memory.user("alice").thread("s").turns()
    assert [turn.content for turn in turns if turn.role == "user"] == said


async def test_what_was_said_in_a_run_that_fails_or_is_cancelled_is_kept_once(memory: AsyncMemory):
    said = "My locker code is 4711."
    with agent_server() as server:
        client = OpenAIChatCompletionClient(model="scripted", api_key="k", base_url=f"{server.url}/v1")
        client.client.max_retries = 0
        agent = Agent(client=client, context_providers=[MemoryContextProvider(memory, user_id="alice")])
        session = AgentSession(session_id="s")
        server.failures = 1
        with pytest.raises(Exception, match="500"):
            await agent.run(said, session=session)
        thread = memory.user("alice").thread("s")
        assert [turn.content for turn in await thread.turns()] == [said]
        run = asyncio.create_task(agent.run(said, session=session))
        await asyncio.sleep(0)
        run.cancel()
        await asyncio.wait([run])
        await agent.run(said, session=session)
    assert [turn.content for turn in await thread.turns()] == [said, KNOWS_NOT]


async def test_a_message_that_is_too_large_is_cut_and_the_others_stay(memory: AsyncMemory):
    async def read(page: str) -> str:
        """Reads a page."""
        return "sunny " * 500_000

    with agent_server() as server:
        client = OpenAIChatCompletionClient(model="scripted", api_key="k", base_url=f"{server.url}/v1")
        agent = Agent(client=client, tools=[read], context_providers=[MemoryHistoryProvider(memory, user_id="alice")])
        await agent.run('call read {"page": "1"}', session=AgentSession(session_id="s"))
        await agent.run("And now?", session=AgentSession(session_id="s"))
        called, result = server.requests[-1]["messages"][1:3]
    assert result["tool_call_id"] == called["tool_calls"][0]["id"]
    assert "more characters were not stored" in str(result["content"])


async def test_context_and_history_together_write_each_turn_once(memory: AsyncMemory):
    with agent_server() as server:
        client = OpenAIChatCompletionClient(model="scripted", api_key="k", base_url=f"{server.url}/v1")
        providers = [MemoryHistoryProvider(memory), MemoryContextProvider(memory, keep_turns=False)]
        agent = Agent(client=client, context_providers=providers)
        session = AgentSession(session_id="s")
        session.state["user_id"] = "alice"
        stream = agent.run("Hello.", session=session, stream=True)
        assert "".join([part.text async for part in stream]) == KNOWS_NOT
    assert [turn.content for turn in await memory.user("alice").thread("s").turns()] == ["Hello.", KNOWS_NOT]


async def test_a_model_remembers_and_finds_by_tools(memory: AsyncMemory):
    with agent_server() as server:
        client = OpenAIChatCompletionClient(model="scripted", api_key="k", base_url=f"{server.url}/v1")
        agent = Agent(client=client, tools=memory_tools_for(memory, "alice"))
        await agent.run('call remember {"content": "Allergic to peanuts."}')
        await agent.run('call search_memory {"query": "Allergic to peanuts?"}')
        assert "Allergic to peanuts." in server.told
        [kept] = await memory.user("alice").memories()
        await agent.run(f'call forget_memory {{"memory_id": "{kept.id}"}}')
        await agent.run('call forget_memory {"memory_id": "no such"}')
        assert "not_found" in server.told
    assert await memory.user("alice").memories() == []


async def test_a_history_without_a_user_is_refused(memory: AsyncMemory):
    history = MemoryHistoryProvider(memory)
    with pytest.raises(InvalidInput, match="no user id"):
        await history.save_messages("s", [Message("user", ["Hello."])])
