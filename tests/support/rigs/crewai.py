"""CrewAI: an agent that is kicked off with the memory of its user."""

from __future__ import annotations

import asyncio
import os
import tempfile
from typing import Any

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}
os.environ["CREWAI_STORAGE_DIR"] = tempfile.mkdtemp()

from agent_server import AgentServer
from crewai import LLM, Agent

from agent_memory.integrations.crewai import CrewMemory


class Rig:
    def __init__(self, memory: Any, server: AgentServer) -> None:
        self.llm = LLM(model="openai/gpt-4.1-mini", base_url=f"{server.url}/v1", api_key="k")
        self.memory = memory
        self.last = ("", "")

    async def say(self, user: str | None, thread: str, text: str) -> str:
        kept = CrewMemory(self.memory, user, thread)  # type: ignore[arg-type]
        agent = Agent(role="guide", goal="help", backstory="a guide", llm=self.llm, memory=kept, verbose=False)
        answer = str((await asyncio.to_thread(agent.kickoff, text)).raw)
        self.last = (text, answer)
        return answer

    async def again(self, user: str, thread: str) -> None:
        """CrewAI tells of the last run once more."""
        kept = CrewMemory(self.memory, user, thread)
        raw = f"Input: {self.last[0]}\nAgent: guide\nResult: {self.last[1]}"
        await asyncio.to_thread(lambda: kept.remember_many(kept.extract_memories(raw)))
