"""A store whose embedding model is not there: it can be looked at, exported and erased all the same."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agent_memory.cli.terminal import stderr
from agent_memory.errors import ConfigurationError, ModelError

if TYPE_CHECKING:
    from agent_memory import Memory
    from agent_memory.language.tasks import Embedded
    from agent_memory.settings import PolicySettings

_LATER = 3600.0
"""Seconds until background work may try again: longer than a command runs."""


class AbsentEmbeddings:
    """Stands for the model that filled a store. Every call fails, and may be repeated once the model is there."""

    def __init__(self, model_id: str, dimensions: int) -> None:
        self.model_id = model_id
        self.dimensions = dimensions

    async def embed(self, texts: list[str]) -> Embedded:
        """Fails, unless there is nothing to embed.

        Raises:
            ModelError: always, for texts.
        """
        from agent_memory.language.tasks import Embedded
        from agent_memory.models import Usage

        if not texts:
            return Embedded([], Usage())
        raise ModelError(
            f"the store's embedding model, {self.model_id}, is not set", retryable=True, retry_after=_LATER
        )

    async def close(self) -> None:
        """Does nothing."""


def without_its_model(path: str, policy: PolicySettings, problem: ConfigurationError) -> Memory:
    """Opens a store file without its embedding model, and says why.

    Raises:
        ConfigurationError: the problem, if the store does not say which model filled it.
    """
    from agent_memory import AsyncMemory, Memory
    from agent_memory.language.hashing import HashingEmbeddings
    from agent_memory.store.embedding_model import read_identity

    async def identity() -> AbsentEmbeddings | None:
        memory = AsyncMemory.local(path, embedding_model=HashingEmbeddings())
        try:
            store = memory.runtime.store
            await store.open()
            found = await read_identity(store) if await store.exists() else None
        finally:
            await memory.close()
        return None if found is None else AbsentEmbeddings(found["embedding_model"], found["dimensions"])

    model = asyncio.run(identity())
    if model is None:
        raise problem
    stderr().print(
        f"Without its embedding model, the store can only be shown, exported and erased: {problem}", soft_wrap=True
    )
    return Memory.local(path, embedding_model=model, policy=policy)
