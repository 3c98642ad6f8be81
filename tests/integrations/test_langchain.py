"""LangChain, beyond the promises: tools of the user of the run, both faces, and clients that keep their own history."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from agent_server import BUDGET, KNOWS, KNOWS_NOT, agent_server

pytest.importorskip("langchain_openai", reason="not installed: make integrations ARGS=langchain")

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from agent_memory import AsyncMemory, Memory
from agent_memory.errors import ConfigurationError
from agent_memory.integrations.langchain import MemoryMiddleware, memory_tools_for
from agent_memory.language.hashing import HashingEmbeddings

pytestmark = pytest.mark.filterwarnings("ignore")


@dataclass
class Context:
    user_id: str
    thread_id: str


def said(*texts: str) -> Any:
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[number % 2], "content": text} for number, text in enumerate(texts)]}


async def test_tools_are_those_of_the_user_of_the_run(memory: AsyncMemory):
    with agent_server() as server:
        model = ChatOpenAI(model="scripted", api_key="k", base_url=f"{server.url}/v1")  # type: ignore[arg-type]
        middleware = [MemoryMiddleware(memory, tools=True)]
        agent: Any = create_agent(model, middleware=middleware, context_schema=Context)
        remember = f'call remember {{"content": "The budget is {BUDGET}."}}'
        await agent.ainvoke(said(remember), context=Context("alice", "monday"))
        assert [one.content for one in await memory.user("alice").memories()] == [f"The budget is {BUDGET}."]
        for user, knows in (("alice", True), ("bob", False)):
            asked = said('call search_memory {"query": "The budget?"}')
            done = await agent.ainvoke(asked, context=Context(user, f"{user}s"))
            assert (done["messages"][-1].content == KNOWS) is knows
    kept = await memory.user("alice").thread("monday").turns()
    assert [turn.role for turn in kept] == ["user", "tool", "tool", "agent"]
    [call], [result] = kept[1].parts or [], kept[2].parts or []
    assert (call.type, call.name, call.args) == ("tool_call", "remember", {"content": f"The budget is {BUDGET}."})
    assert (result.type, result.tool_call_id, result.content) == ("tool_result", call.id, kept[2].content)
    assert kept[2].metadata["tool_name"] == "remember"


async def test_a_client_that_sends_its_whole_history_each_time_writes_each_turn_once(memory: AsyncMemory):
    with agent_server() as server:
        model = ChatOpenAI(model="scripted", api_key="k", base_url=f"{server.url}/v1")  # type: ignore[arg-type]
        agent: Any = create_agent(model, middleware=[MemoryMiddleware(memory)], context_schema=Context)
        history = ["yes"]
        for more in ("yes", "no", "no"):
            await agent.ainvoke(said(*history), context=Context("alice", "s"))
            history += [KNOWS_NOT, more]
        await agent.ainvoke(said(*history[:-2]), context=Context("alice", "s"))
    turns = await memory.user("alice").thread("s").turns()
    assert [turn.content for turn in turns] == ["yes", KNOWS_NOT, "yes", KNOWS_NOT, "no", KNOWS_NOT]


async def test_what_was_said_in_a_run_that_was_cancelled_is_kept_with_the_next(memory: AsyncMemory):
    waiting = asyncio.Event()

    async def wait(seconds: int) -> str:
        """Waits."""
        waiting.set()
        await asyncio.sleep(seconds)
        return "done"

    with agent_server() as server:
        model = ChatOpenAI(model="scripted", api_key="k", base_url=f"{server.url}/v1")  # type: ignore[arg-type]
        middleware = [MemoryMiddleware(memory, user_id="alice")]
        agent: Any = create_agent(model, tools=[wait], middleware=middleware, checkpointer=InMemorySaver())
        config = {"configurable": {"thread_id": "s"}}
        await agent.ainvoke(said("Hello."), config)
        told = 'I live in Porto.\ncall wait {"seconds": 60}'
        run = asyncio.create_task(agent.ainvoke(said(told), config))
        await waiting.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await agent.ainvoke(said("Never mind."), config)
    turns = [turn.content for turn in await memory.user("alice").thread("s").turns()]
    assert turns == ["Hello.", KNOWS_NOT, told, '[calls wait({"seconds": 60})]', "Never mind.", KNOWS_NOT]


def test_the_synchronous_face_streams_remembers_and_keeps_nothing_recalled_in_its_checkpoint():
    saver = InMemorySaver()
    with Memory.local(embedding_model=HashingEmbeddings()) as memory, agent_server() as server:
        model = ChatOpenAI(model="scripted", api_key="k", base_url=f"{server.url}/v1")  # type: ignore[arg-type]
        middleware = [MemoryMiddleware(memory, user_id="alice")]
        agent: Any = create_agent(
            model, tools=memory_tools_for(memory, "alice"), middleware=middleware, checkpointer=saver
        )
        config = {"configurable": {"thread_id": "s"}}
        agent.invoke(said(f'call remember {{"content": "The budget is {BUDGET}."}}'), config)
        config = {"configurable": {"thread_id": "t"}}
        parts = list(agent.stream(said("What is the budget?"), config, stream_mode="values"))
        assert parts[-1]["messages"][-1].content == KNOWS
        checkpoint = saver.get_tuple(config)
        assert checkpoint is not None
        assert "What You Remember" not in str(checkpoint.checkpoint)
        assert [turn.content for turn in memory.user("alice").thread("t").turns()] == ["What is the budget?", KNOWS]


async def test_an_asynchronous_memory_is_not_for_invoke(memory: AsyncMemory):
    with agent_server() as server:
        model = ChatOpenAI(model="scripted", api_key="k", base_url=f"{server.url}/v1")  # type: ignore[arg-type]
        agent: Any = create_agent(model, middleware=[MemoryMiddleware(memory, user_id="alice")])
        with pytest.raises(ConfigurationError, match="open a Memory"):
            agent.invoke(said("Hello."))
