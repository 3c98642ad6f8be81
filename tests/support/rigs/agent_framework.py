"""Agent Framework: an agent with the context provider; sessions are kept as JSON between runs."""

from __future__ import annotations

import json
from typing import Any

from agent_framework import Agent, AgentSession
from agent_framework.openai import OpenAIChatCompletionClient
from agent_server import AgentServer

from agent_memory.integrations.agent_framework import MemoryContextProvider


class Rig:
    def __init__(self, memory: Any, server: AgentServer) -> None:
        client = OpenAIChatCompletionClient(model="scripted", api_key="k", base_url=f"{server.url}/v1")
        self.agent = Agent(client=client, context_providers=[MemoryContextProvider(memory, tools=True)])
        self.kept: dict[str, str] = {}
        self.last: tuple[str, str] = ("", "")

    async def say(self, user: str | None, thread: str, text: str) -> str:
        before = self.kept.get(thread) or json.dumps(AgentSession(session_id=thread).to_dict())
        session = AgentSession.from_dict(json.loads(before))
        if user is not None:
            session.state["user_id"] = user
        answer = (await self.agent.run(text, session=session)).text
        self.last = (before, text)
        self.kept[thread] = json.dumps(session.to_dict())
        return answer

    async def again(self, user: str, thread: str) -> None:
        """The host died before it stored the session, and runs again from the stored one."""
        before, text = self.last
        self.kept[thread] = before
        await self.say(user, thread, text)
