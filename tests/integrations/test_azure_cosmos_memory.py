"""Microsoft's context provider for Agent Framework, unchanged, on this memory's client."""

from __future__ import annotations

import pytest
from agent_server import agent_server

pytest.importorskip(
    "agent_framework_azure_cosmos_memory", reason="not installed: make integrations ARGS=azure_cosmos_memory"
)

from agent_framework import Agent, AgentSession
from agent_framework.openai import OpenAIChatCompletionClient
from agent_framework_azure_cosmos_memory import CosmosMemoryContextProvider

from agent_memory import AsyncMemory, Cadence
from agent_memory.compat.azure_cosmos import AsyncCosmosMemoryClient
from agent_memory.language.hashing import HashingEmbeddings

pytestmark = pytest.mark.filterwarnings("ignore")


async def test_the_provider_recalls_across_sessions_and_users_stay_apart():
    cadence = Cadence(extract=1, summarize=2, profile=2, reconcile=0, idle_seconds=0)
    async with AsyncMemory.local(embedding_model=HashingEmbeddings(), cadence=cadence) as memory:
        client = AsyncCosmosMemoryClient(memory=memory)
        with agent_server() as server:
            chat = OpenAIChatCompletionClient(model="scripted", api_key="k", base_url=f"{server.url}/v1")
            async with CosmosMemoryContextProvider(memory_client=client, min_confidence=0.1) as provider:
                assert provider._supports_toolkit_03_retrieval
                agent = Agent(client=chat, context_providers=[provider])

                async def ask(text: str, session_id: str, user_id: str) -> str:
                    session = AgentSession(session_id=session_id)
                    session.state[provider.source_id] = {"user_id": user_id}
                    await agent.run(text, session=session)
                    await provider.flush()
                    return str(server.requests[-1]["messages"])

                await ask("My budget for the Hawaii trip is $10,000.", "monday", "alice")
                await ask("I prefer aisle seats on every flight.", "monday", "alice")
                sent = await ask("What is my budget for Hawaii?", "friday", "alice")
                assert "$10,000" in sent
                assert "[fact]" in sent
                assert "background context derived from earlier" in sent
                assert "$10,000" not in await ask("What is my budget for Hawaii?", "friday", "bob")
        turns = await memory.user("alice").thread("monday").turns()
        assert [turn.role for turn in turns] == ["user", "agent", "user", "agent"]
        assert not [one for one in await memory.user("alice").memories() if "background context" in one.content]
