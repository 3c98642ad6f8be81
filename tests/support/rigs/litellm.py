"""LiteLLM: completions with the hook; the host keeps the messages of each conversation."""

from __future__ import annotations

from typing import Any

import litellm
from agent_server import AgentServer

from agent_memory.integrations.litellm import MemoryHook


class Rig:
    def __init__(self, memory: Any, server: AgentServer) -> None:
        self.server = server
        self.kept: dict[str, list[Any]] = {}
        litellm.callbacks = [MemoryHook(memory)]

    async def say(self, user: str | None, thread: str, text: str) -> str:
        messages = [*self.kept.get(thread, []), {"role": "user", "content": text}]
        answer = await self._ask(user, thread, messages)
        self.kept[thread] = [*messages, {"role": "assistant", "content": answer}]
        return answer

    async def again(self, user: str, thread: str) -> None:
        """The host repeats its last call."""
        await self._ask(user, thread, self.kept[thread][:-1])

    async def _ask(self, user: str | None, thread: str, messages: list[Any]) -> str:
        named: Any = {} if user is None else {"user": user}
        done: Any = await litellm.acompletion(
            model="openai/scripted",
            messages=messages,
            api_base=f"{self.server.url}/v1",
            api_key="k",
            metadata={"session_id": thread},
            num_retries=0,
            **named,
        )
        return str(done.choices[0].message.content)
