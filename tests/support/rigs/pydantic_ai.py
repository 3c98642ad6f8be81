"""Pydantic AI: an agent with the capability; the host keeps the messages of each conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent_server import AgentServer
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from agent_memory.integrations.pydantic_ai import MemoryCapability


@dataclass
class Deps:
    user_id: str | None


class Rig:
    def __init__(self, memory: Any, server: AgentServer) -> None:
        model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=f"{server.url}/v1", api_key="k"))
        self.agent = Agent(model, deps_type=Deps, capabilities=[MemoryCapability(memory, tools=True)])
        self.kept: dict[str, list[Any]] = {}
        self.last: tuple[list[Any], str] = ([], "")

    async def say(self, user: str | None, thread: str, text: str) -> str:
        self.last = (self.kept.get(thread, []), text)
        done = await self.agent.run(text, deps=Deps(user), conversation_id=thread, message_history=self.last[0])
        self.kept[thread] = done.all_messages()
        return done.output

    async def again(self, user: str, thread: str) -> None:
        """The host lost the result, and repeats the run with the history that it has."""
        self.kept[thread], text = self.last
        await self.say(user, thread, text)
