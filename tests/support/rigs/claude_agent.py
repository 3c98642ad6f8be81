"""Claude Agent SDK: the bundled command line against the scripted server."""

from __future__ import annotations

import tempfile
from typing import Any

from agent_server import AgentServer
from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, TextBlock, query

from agent_memory.integrations.claude_agent import memory_options


class Rig:
    def __init__(self, memory: Any, server: AgentServer) -> None:
        self.memory, self.server = memory, server
        self.home = tempfile.TemporaryDirectory()
        self.stops: list[tuple[Any, Any]] = []

    async def say(self, user: str | None, thread: str, text: str) -> str:
        given = memory_options(self.memory, user, thread_id=thread)  # type: ignore[arg-type]
        [matcher] = given["hooks"]["Stop"]
        keep = matcher.hooks[0]

        async def noting(event: Any, tool_use_id: str | None, context: Any) -> Any:
            self.stops.append((keep, event))
            return await keep(event, tool_use_id, context)

        matcher.hooks[0] = noting
        environment = {
            "ANTHROPIC_BASE_URL": self.server.url,
            "ANTHROPIC_API_KEY": "k",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "HOME": self.home.name,
            "IS_SANDBOX": "1",
        }
        options = ClaudeAgentOptions(model="scripted", env=environment, setting_sources=[], cwd=self.home.name, **given)
        said = [
            block.text
            async for message in query(prompt=text, options=options)
            if isinstance(message, AssistantMessage)
            for block in message.content
            if isinstance(block, TextBlock)
        ]
        return said[-1]

    async def again(self, user: str, thread: str) -> None:
        """Claude stops once more, as after a hook that lets it go on."""
        keep, event = self.stops[-1]
        await keep(event, None, None)
