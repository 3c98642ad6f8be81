"""LlamaIndex: an agent whose memory is a thread."""

from __future__ import annotations

from typing import Any

from agent_server import AgentServer
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai_like import OpenAILike

from agent_memory.integrations.llama_index import ThreadMemory


class Rig:
    def __init__(self, memory: Any, server: AgentServer) -> None:
        llm = OpenAILike(
            model="scripted",
            api_base=f"{server.url}/v1",
            api_key="k",
            is_chat_model=True,
            is_function_calling_model=True,
            context_window=8000,
            max_retries=0,
        )
        self.agent = FunctionAgent(llm=llm, tools=[], streaming=False)
        self.memory, self.server = memory, server

    async def say(self, user: str | None, thread: str, text: str) -> str:
        kept = ThreadMemory(self.memory, user, thread)  # type: ignore[arg-type]
        return str(await self.agent.run(text, memory=kept))

    async def again(self, user: str, thread: str) -> None:
        """The last run is taken back; the model fails when it is repeated, and answers when it is repeated again."""
        scope = self.memory.user(user).thread(thread)
        await scope.pop()
        asked = (await scope.pop()).content
        self.server.failures = 1
        for fails in (True, False):
            try:
                await self.say(user, thread, asked)
            except Exception:
                assert fails
