"""Google ADK: an agent with the memory service and `preload_memory`."""

from __future__ import annotations

import os
from typing import Any

from agent_server import AgentServer
from google.adk.agents import LlmAgent
from google.adk.models import Gemini
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import preload_memory
from google.genai import types

from agent_memory.integrations.google_adk import MemoryService, keep_session


class Rig:
    def __init__(self, memory: Any, server: AgentServer) -> None:
        os.environ["GOOGLE_API_KEY"] = "k"
        model = Gemini(model="gemini-scripted", base_url=server.url)
        agent = LlmAgent(name="guide", model=model, tools=[preload_memory], after_agent_callback=keep_session)
        self.sessions = InMemorySessionService()
        self.service = MemoryService(memory)
        self.runner = Runner(app_name="travel", agent=agent, session_service=self.sessions, memory_service=self.service)

    async def say(self, user: str | None, thread: str, text: str) -> str:
        named: Any = {"app_name": "travel", "user_id": user or "", "session_id": thread}
        if await self.sessions.get_session(**named) is None:
            await self.sessions.create_session(**named)
        content = types.Content(role="user", parts=[types.Part(text=text)])
        answer = ""
        async for event in self.runner.run_async(user_id=user or "", session_id=thread, new_message=content):
            if event.is_final_response() and event.content:
                answer = event.content.parts[0].text
        return answer

    async def again(self, user: str, thread: str) -> None:
        """The whole session is added once more."""
        session = await self.sessions.get_session(app_name="travel", user_id=user, session_id=thread)
        await self.service.add_session_to_memory(session)
