"""Patience with an embedding model: a question is searched by its words when its vector does not come in time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime

from agent_memory.errors import AgentMemoryError, ModelError
from agent_memory.language.tasks import Embedded, EmbeddingModel
from agent_memory.models import now


@dataclass(slots=True)
class Outage:
    """Since when questions have no vectors, and why. `since` is None while they have."""

    since: datetime | None = None
    reason: str = ""


class Impatient:
    """An embedding model for one search: it has a time limit, and is not called again after a failure.

    Args:
        model: The model.
        seconds: Its time for all calls of the search together.
        outage: Records whether it responds.
    """

    def __init__(self, model: EmbeddingModel, seconds: float, outage: Outage) -> None:
        self._model = model
        self._seconds = seconds
        self._outage = outage
        self._failure: AgentMemoryError | None = None
        self.model_id = model.model_id
        self.dimensions = model.dimensions

    async def embed(self, texts: list[str]) -> Embedded:
        """Embeds texts in order.

        Raises:
            AgentMemoryError: if the model failed, or was not ready in time.
        """
        if self._failure is not None:
            raise self._failure
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(self._seconds):
                embedded = await self._model.embed(texts)
        except TimeoutError as error:
            self._failure = ModelError(f"{self.model_id} gave no vector within {self._seconds:.3g} s", retryable=True)
            self._note(self._failure)
            raise self._failure from error
        except AgentMemoryError as error:
            self._failure = error
            self._note(error)
            raise
        self._seconds -= loop.time() - started
        self._outage.since = None
        return embedded

    async def close(self) -> None:
        """Does nothing: the model belongs to whoever opened it."""

    def _note(self, error: AgentMemoryError) -> None:
        self._outage.since = self._outage.since or now()
        self._outage.reason = str(error)
