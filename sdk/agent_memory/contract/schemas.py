"""Bodies and answers that are not those of a method."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from agent_memory.contract.wire import Body, TurnBody
from agent_memory.models import DeadLetter, Memory, Model, ProcessResult

RESOURCES = "What the profile of the agent lets it use; without `memory` among it, it has none."
NDJSON = "application/x-ndjson"
MAX_TURNS = 1000
"""Turns of one request: ten transactional batches."""


class AddTurns(Body):
    """Turns of one thread, in their order."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"turns": [{"role": "user", "content": "My budget for the Hawaii trip is $10,000."}]}]
        }
    )

    turns: list[TurnBody] = Field(min_length=1, max_length=MAX_TURNS)
    resources: list[str] | None = Field(default=None, description=RESOURCES)


class ProcessQuery(Body):
    """What a step is run for: a thread, or the user."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"thread_id": "hawaii"}]})

    thread_id: str | None = None
    n: int | None = Field(default=None, ge=2, le=500, description="How many facts a reconciliation compares.")
    recent_k: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="Of what is new a model reads the newest only, so many turns (or of a profile memories). "
        "What is older is left unread for good.",
    )
    memory_ids: list[str] | None = Field(default=None, description="The facts that consolidate makes one of.")
    project_id: str | None = Field(default=None, description="Reflect looks at the memories of this project only.")
    prompt_version: str | None = Field(default=None, description="Only what this version made is reprocessed.")
    retired: bool = Field(default=False, description="Only what has left the live view is archived.")


class ProcessRun(Model):
    """A run of a step."""

    id: str
    step: str
    status: str = Field(description="running, completed, failed or terminated")
    result: ProcessResult | None = None
    error: str | None = None
    code: str | None = Field(default=None, description="The code of the error.")


class ErrorDetail(Model):
    """What went wrong: a stable code for programs, and a sentence for people."""

    code: str
    message: str


class Problem(Model):
    """The body of every answer that is no success."""

    error: ErrorDetail


class Alive(Model):
    """Whether a service answers."""

    ok: bool
    failing: list[str] = Field(
        default_factory=list, description="What does not answer, as far as this process knows: store, chat, embeddings."
    )


class Users(Model):
    """Ids of users."""

    users: list[str]


class DeadLetters(Model):
    """What processing gave up on, oldest first."""

    dead_letters: list[DeadLetter]


class Drained(Model):
    """How many turns are left to process."""

    left: int


class TierChoice(Body):
    """The tier of a user."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tier": "basic"}]})

    tier: str | None


class StaticFacts(Body):
    """Knowledge to keep for every user."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"facts": [{"id": "fact1", "content": "The office closes at six."}]}]}
    )

    facts: list[dict[str, Any]] = Field(min_length=1, max_length=MAX_TURNS)


class StaticKnowledge(Model):
    """Knowledge that holds for every user."""

    facts: list[Memory]
