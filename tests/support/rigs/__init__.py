"""Rigs: for each adapter, an agent of its real framework, as the conformance tests of adapters drive it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from agent_server import AgentServer

from agent_memory import AsyncMemory, Memory


class Rig(Protocol):
    """An agent with its memory. It keeps what the framework keeps of a conversation between runs."""

    def __init__(self, memory: Any, server: AgentServer) -> None: ...

    async def say(self, user: str | None, thread: str, text: str) -> str:
        """A run of the agent: what the model answered."""

    async def again(self, user: str, thread: str) -> None:
        """Gives the memory the last run once more, in the way that happens with this framework."""


@dataclass(frozen=True)
class Adapter:
    """An adapter: its rig's module, the package of its framework, and whether it needs the synchronous memory."""

    name: str
    package: str
    sync: bool = False

    @property
    def missing(self) -> str | None:
        """Why its tests cannot run; None if they can."""
        try:
            found = all(find_spec(package) for package in self.package.split(","))
        except ModuleNotFoundError:
            found = False
        return None if found else f"{self.package} is not installed: make integrations ARGS={self.name}"

    def rig(self) -> Callable[[Any, AgentServer], Rig]:
        return import_module(f"rigs.{self.name}").Rig  # type: ignore[no-any-return]


ADAPTERS = [
    Adapter("agent_framework", "agent_framework,agent_framework_openai"),
    Adapter("langchain", "langchain,langchain_openai"),
    Adapter("langgraph", "langgraph,langchain_openai", sync=True),
    Adapter("openai_agents", "agents"),
    Adapter("pydantic_ai", "pydantic_ai,openai"),
    Adapter("anthropic", "anthropic"),
    Adapter("claude_agent", "claude_agent_sdk"),
    Adapter("litellm", "litellm"),
    Adapter("google_adk", "google.adk"),
    Adapter("crewai", "crewai", sync=True),
    Adapter("llama_index", "llama_index.core,llama_index.llms.openai_like"),
]

RECIPES = [
    Adapter("smolagents", "smolagents"),
    Adapter("dspy", "dspy"),
    Adapter("semantic_kernel", "semantic_kernel"),
    Adapter("autogen", "autogen_agentchat,autogen_ext"),
    Adapter("haystack", "haystack"),
    Adapter("strands", "strands"),
    Adapter("pipecat", "pipecat"),
    Adapter("livekit", "livekit.agents"),
]
"""What has a recipe in docs/integrations/recipes.md and no adapter."""


async def drained(memory: AsyncMemory | Memory) -> None:
    """Waits until all is processed."""
    left = await memory.drain(30) if isinstance(memory, AsyncMemory) else await asyncio.to_thread(memory.drain, 30)
    assert left == 0


async def texts(memory: AsyncMemory | Memory, user: str, thread: str) -> list[str]:
    """What the turns of a thread say."""
    scope: Any = memory.user(user).thread(thread)
    turns = await scope.turns() if isinstance(memory, AsyncMemory) else await asyncio.to_thread(scope.turns)
    return [turn.content for turn in turns]
