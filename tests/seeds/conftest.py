"""The memory that the documents of other systems are typed against: the default models, and nothing runs by itself."""

from collections.abc import AsyncIterator

import pytest
from memories import NEVER

from agent_memory import AsyncMemory


@pytest.fixture
async def memory() -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory.local(cadence=NEVER) as opened:
        yield opened
