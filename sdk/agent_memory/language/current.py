"""The embedding model of an open memory, which can change while it is open: the store moves to another one.

A write or a search uses one model from beginning to end (`for_writing`, `for_asking`), so that no vector carries
another model's name.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from agent_memory.errors import AgentMemoryError
from agent_memory.language.tasks import Embedded, EmbeddingModel

logger = logging.getLogger("agent_memory")

Keep = Callable[[Sequence[float], Sequence[float]], None]
"""Receives a vector of the first model and the second model's vector of the same text."""


class Both:
    """Embeds with one model, and keeps a second model's vector of each text. A failure of the second is no error."""

    def __init__(self, model: EmbeddingModel, second: EmbeddingModel, keep: Keep) -> None:
        self.model_id = model.model_id
        self.dimensions = model.dimensions
        self._model = model
        self._second = second
        self._keep = keep

    async def embed(self, texts: list[str]) -> Embedded:
        """Embeds texts in order, with the first model."""
        embedded = await self._model.embed(texts)
        try:
            others = await self._second.embed(texts)
        except AgentMemoryError as error:
            logger.warning("%s gave no vectors, they are made later: %s", self._second.model_id, error)
            return embedded
        for vector, other in zip(embedded.vectors, others.vectors, strict=True):
            self._keep(vector, other)
        return Embedded(embedded.vectors, embedded.usage + others.usage)

    async def close(self) -> None:
        """Does nothing: the models belong to whoever made them."""


class CurrentEmbeddings:
    """The embedding model of a memory.

    Attributes:
        asked: The model of the store, which embeds the questions of searches.
        writes: The model for memories: the same, plus the next model while the store moves.
        next: The model to which the store will move, if known here.
    """

    def __init__(self, model: EmbeddingModel, next_model: EmbeddingModel | None = None) -> None:
        self.asked = model
        self.writes: EmbeddingModel = model
        self.next = next_model
        self._made = [model] if next_model is None else [model, next_model]

    @property
    def model_id(self) -> str:
        """Stored beside every vector."""
        return self.asked.model_id

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self.asked.dimensions

    async def embed(self, texts: list[str]) -> Embedded:
        """Embeds texts in order. Raises ModelError as the model does."""
        return await self.asked.embed(texts)

    def owns(self, model: EmbeddingModel) -> None:
        """Closes this model with the memory too."""
        if model not in self._made:
            self._made.append(model)

    def accompany(self, second: EmbeddingModel, keep: Keep) -> None:
        """From now on, what is written is embedded with a second model too."""
        self.writes = Both(self.asked, second, keep)

    def alone(self) -> None:
        """From now on, only the store's model embeds what is written."""
        self.writes = self.asked

    def adopt(self, model: EmbeddingModel) -> None:
        """Makes this the model. The previous one stays open until the memory closes, because it may be in use."""
        self.asked = self.writes = model
        self.owns(model)

    async def close(self) -> None:
        """Frees what the models hold."""
        for model in self._made:
            await model.close()

    def __getattr__(self, name: str) -> Any:
        """Other attributes of the model, such as the health of its service."""
        if name.startswith("_") or name == "asked":
            raise AttributeError(name)
        return getattr(self.asked, name)


def for_writing(model: EmbeddingModel) -> EmbeddingModel:
    """The model for a write: the same from its beginning to its end."""
    return model.writes if isinstance(model, CurrentEmbeddings) else model


def for_asking(model: EmbeddingModel) -> EmbeddingModel:
    """The model for a search: the same from its beginning to its end."""
    return model.asked if isinstance(model, CurrentEmbeddings) else model
