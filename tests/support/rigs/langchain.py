"""LangChain: an agent with the middleware; a checkpointer keeps its threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent_server import AgentServer
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from agent_memory.integrations.langchain import MemoryMiddleware


@dataclass
class Context:
    user_id: str | None


class Rig:
    def __init__(self, memory: Any, server: AgentServer) -> None:
        model = ChatOpenAI(model="scripted", api_key="k", base_url=f"{server.url}/v1")
        middleware = [MemoryMiddleware(memory, tools=True)]
        self.agent = create_agent(model, middleware=middleware, context_schema=Context, checkpointer=InMemorySaver())
        self.middleware = middleware[0]

    async def say(self, user: str | None, thread: str, text: str) -> str:
        config = {"configurable": {"thread_id": thread}}
        messages = {"messages": [{"role": "user", "content": text}]}
        done = await self.agent.ainvoke(messages, config, context=Context(user))
        return str(done["messages"][-1].content)

    async def again(self, user: str, thread: str) -> None:
        """The last step of the run is resumed: from the checkpoint before the middleware kept the talk."""
        config = {"configurable": {"thread_id": thread}}
        steps = [step async for step in self.agent.aget_state_history(config) if "after_agent" in str(step.next)]
        assert steps
        await self.agent.ainvoke(None, steps[0].config, context=Context(user))
