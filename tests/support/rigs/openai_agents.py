"""OpenAI Agents: an agent with the session and its input filter."""

from __future__ import annotations

from typing import Any

from agent_server import AgentServer
from agents import Agent, OpenAIResponsesModel, Runner
from openai import AsyncOpenAI, InternalServerError

from agent_memory.integrations.openai_agents import MemorySession


class User:
    def __init__(self, user_id: str | None) -> None:
        self.user_id = user_id


class Rig:
    def __init__(self, memory: Any, server: AgentServer) -> None:
        client = AsyncOpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0)
        self.agent = Agent(name="assistant", model=OpenAIResponsesModel("scripted", client))
        self.memory, self.server = memory, server

    async def say(self, user: str | None, thread: str, text: str) -> str:
        session = MemorySession(self.memory, thread)
        config = session.run_config(tracing_disabled=True)
        done = await Runner.run(self.agent, text, session=session, run_config=config, context=User(user))
        return str(done.final_output)

    async def again(self, user: str, thread: str) -> None:
        """The last run is taken back; the model fails when it is repeated, and answers when it is repeated again."""
        session = MemorySession(self.memory, thread, user_id=user)
        await session.pop_item()
        asked: Any = await session.pop_item()
        self.server.failures = 1
        for fails in (True, False):
            try:
                await self.say(user, thread, asked["content"])
            except InternalServerError:
                assert fails
