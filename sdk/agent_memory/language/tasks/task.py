"""A task of a language model: typed input, typed output, and what a run of it gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from agent_memory.models import Usage


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
