"""The contract of the scopes, shown of a memory in this process and of the same one behind a server."""

from collections.abc import AsyncIterator

import pytest
from api_world import serving
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import HashingEmbeddings

ON_DEMAND = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)


@pytest.fixture
async def local(chat: ScriptedChat) -> AsyncIterator[AsyncMemory]:
    """The memory that has the store, whichever way the test goes to it."""
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), cadence=ON_DEMAND) as opened:
        yield opened


@pytest.fixture(params=["local", "remote"])
async def memory(request: pytest.FixtureRequest, local: AsyncMemory) -> AsyncIterator[AsyncMemory]:
    """The memory that the test is about."""
    if request.param == "local":
        yield local
        return
    async with serving(local) as url, AsyncMemory.remote(url) as remote:
        yield remote
