"""A task of a language model: typed input, typed output, what a run of it gives, and the models that run it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, Protocol, TypeVar, runtime_checkable

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from agent_memory.models import Role, Usage, UtcTime


class Data(BaseModel):
    """The base of task inputs and outputs. Fields a model adds on its own are ignored, not an error."""

    model_config = ConfigDict(extra="ignore")


In = TypeVar("In", bound=Data)
Out = TypeVar("Out", bound=Data)


@dataclass(frozen=True, slots=True)
class Task(Generic[In, Out]):
    """One use of a language model. `name` is also the name of its prompt file."""

    name: str
    input: type[In]
    output: type[Out]
    temperature: float = 0.1
    max_tokens: int = 2000
    timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class TaskResult(Generic[Out]):
    """The result of a task. `rejected` says why items of the answer were dropped, one line each."""

    output: Out
    model: str
    prompt_version: str
    usage: Usage
    rejected: list[str] = field(default_factory=list)


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


def _without_weekday(value: object) -> object:
    return value.partition(" ")[2] if isinstance(value, str) and value[:1].isalpha() else value


def _aware(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value


def _with_weekday(value: datetime) -> str:
    """A time as a model reads it: "Monday 2026-11-23T09:30+01:00". Models are bad at finding weekdays themselves."""
    return f"{value:%A} {value.isoformat(timespec='minutes')}"


LocalTime = Annotated[
    datetime,
    BeforeValidator(_without_weekday),
    AfterValidator(_aware),
    PlainSerializer(_with_weekday, return_type=str, when_used="json"),
]
"""A time where the user is: it keeps its offset, so its day is the user's."""


class TurnView(Data):
    """A turn as a model sees it. `ref` (t1, t2, …) is what an answer cites; real ids stay with us."""

    ref: str
    role: Role
    name: str | None = None
    content: str
    created_at: LocalTime


class FactView(Data):
    """A remembered fact as a model sees it. `ref` (f1, f2, …) is what an answer cites."""

    ref: str
    kind: str
    content: str
    quote: str | None = None
    confidence: float = 0.8
    said_at: UtcTime


class NoteView(Data):
    """A memory that a search found, as a model sees it. `ref` (n1, n2, …) is what an answer cites."""

    ref: str
    said: UtcTime
    text: str


class MessageView(Data):
    """A message of a live conversation, as chat APIs know it."""

    role: str
    content: str
