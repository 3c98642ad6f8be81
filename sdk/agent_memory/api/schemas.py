"""What requests and answers hold, beyond the models of the library. Vectors are never among it."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from agent_memory.models import Hit, Model, ProcessResult, Turn, TurnInput, UtcTime
from agent_memory.recall.context import DEFAULT_BUDGET


class AddTurns(Model):
    """Turns of one thread, in their order."""

    turns: list[TurnInput] = Field(min_length=1)


class Turns(Model):
    """Turns of one thread, oldest first."""

    turns: list[Turn]


class ContextQuery(Model):
    """What an agent is about to answer, and how much it may be told."""

    query: str
    thread_id: str | None = Field(default=None, description="The conversation, for its summary and last turns.")
    budget: int = Field(default=DEFAULT_BUDGET, ge=0, description="Tokens.")
    limit: int = 10
    as_of: UtcTime | None = None


class SearchQuery(Model):
    """What is looked for, in all threads of the user or in one."""

    query: str
    thread_id: str | None = None
    limit: int = 5
    types: list[str] | None = None
    as_of: UtcTime | None = None


class Hits(Model):
    """Memories, best first."""

    hits: list[Hit]


class ProcessQuery(Model):
    """What a step is run for: a thread, or the user. `n` is how many facts a reconciliation compares."""

    thread_id: str | None = None
    n: int | None = Field(default=None, ge=2, le=500)


class ProcessRun(Model):
    """A run of a step. Where durable functions run it, their management URLs stand beside these fields."""

    model_config = ConfigDict(extra="allow")

    id: str
    step: str
    status: str = Field(description="running, completed, failed or terminated")
    result: ProcessResult | None = None
    error: str | None = None
