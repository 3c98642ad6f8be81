"""The two kinds of models that this library asks: one that runs tasks, one that turns texts into vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from agent_memory.language.tasks.task import In, Out, Task, TaskResult
from agent_memory.models import Usage


@runtime_checkable
class ChatModel(Protocol):
    """Runs tasks."""

    @property
    def model_id(self) -> str:
        """The model's name in derived documents."""
        ...

    def prompt_version(self, task: Task[Any, Any]) -> str:
        """The version of the prompt, or of the rules, that a task runs with."""
        ...

    async def run(self, task: Task[In, Out], data: In) -> TaskResult[Out]:
        """Runs one task.

        Raises:
            ModelError: retryable for a timeout, a throttled call or a server fault; not retryable for an
                answer that could not be used after the adapter's own bounded attempts.
        """
        ...

    async def close(self) -> None:
        """Frees connections. Harmless when called twice."""
        ...


Vector = list[float]


@dataclass(frozen=True, slots=True)
class Embedded:
    """One vector a text, in order, each of Euclidean length 1."""

    vectors: list[Vector]
    usage: Usage


@runtime_checkable
class EmbeddingModel(Protocol):
    """Turns texts into vectors."""

    @property
    def model_id(self) -> str:
        """Stored beside every vector: vectors of different models are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...

    async def embed(self, texts: list[str]) -> Embedded:
        """Embeds texts in order; an empty list gives an empty list.

        Raises:
            ModelError: as `ChatModel.run`.
        """
        ...

    async def close(self) -> None:
        """Frees connections. Harmless when called twice."""
        ...
