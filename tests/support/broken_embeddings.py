"""An embedding model that fails, or is late, when a test says so."""

import asyncio

from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded


class BrokenEmbeddings(HashingEmbeddings):
    """Works while memories are written, then does as it is told."""

    error: Exception | None = None
    delay: float = 0.0

    async def embed(self, texts: list[str]) -> Embedded:
        await asyncio.sleep(self.delay)
        if self.error is not None:
            raise self.error
        return await super().embed(texts)
