"""An embedding model that fails when a test says so."""

from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded


class BrokenEmbeddings(HashingEmbeddings):
    """Works while memories are written, then does as it is told."""

    error: Exception | None = None

    async def embed(self, texts: list[str]) -> Embedded:
        if self.error is not None:
            raise self.error
        return await super().embed(texts)
