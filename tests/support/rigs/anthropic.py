"""Anthropic: a tool runner with the memory tool, and a conversation that recalls and keeps."""

from __future__ import annotations

from typing import Any

from agent_server import AgentServer
from anthropic import AsyncAnthropic

from agent_memory.integrations.anthropic import MemoryTool
from agent_memory.integrations.conversation import Conversation


class Rig:
    def __init__(self, memory: Any, server: AgentServer) -> None:
        self.client = AsyncAnthropic(api_key="k", base_url=server.url, max_retries=0)
        self.memory = memory
        self.kept: dict[str, list[Any]] = {}

    async def say(self, user: str | None, thread: str, text: str) -> str:
        talk = Conversation(self.memory, user, thread)  # type: ignore[arg-type]
        messages = [*self.kept.get(thread, []), {"role": "user", "content": text}]
        runner = self.client.beta.messages.tool_runner(
            model="scripted",
            max_tokens=100,
            system=await talk.recall(text) or "Be helpful.",
            messages=messages,
            tools=[MemoryTool(self.memory, user)],  # type: ignore[arg-type]
            thread=False,
        )
        answer = (await runner.until_done()).content[-1].text
        self.kept[thread] = [*messages, {"role": "assistant", "content": answer}]
        await talk.keep(self.kept[thread])
        return str(answer)

    async def again(self, user: str, thread: str) -> None:
        """The host gives the whole conversation once more."""
        await Conversation(self.memory, user, thread).keep(self.kept[thread])
