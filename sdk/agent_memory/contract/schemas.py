"""Bodies and answers that do not follow from a method's signature."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from agent_memory.contract.wire import Body, TurnBody
from agent_memory.models import DeadLetter, Extraction, Memory, Model, ProcessResult

RESOURCES = "The resources in the agent's profile. Without `memory` among them, memory is off."
NDJSON = "application/x-ndjson"
MAX_TURNS = 1000
"""Most turns in one request: ten transactional batches."""


class AddTurns(Body):
    """Turns of one thread, in order."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"turns": [{"role": "user", "content": "My budget for the Hawaii trip is $10,000."}]}]
        }
    )

    turns: list[TurnBody] = Field(min_length=1, max_length=MAX_TURNS)
    resources: list[str] | None = Field(default=None, description=RESOURCES)


class ProcessQuery(Body):
    """Says on what a step runs: a thread, or the whole user."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"thread_id": "hawaii"}]})

    thread_id: str | None = None
    n: int | None = Field(default=None, ge=2, le=500, description="How many facts a reconciliation compares.")
    recent_k: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="A model reads only this many of the newest new turns (for a profile, memories). "
        "Older new ones are never read.",
    )
    memory_ids: list[str] | None = Field(default=None, description="The facts that consolidate merges into one.")
    project_id: str | None = Field(default=None, description="Reflect reads only the memories of this project.")
    prompt_version: str | None = Field(default=None, description="Reprocesses only what this version made.")
    retired: bool = Field(default=False, description="Archives only turns that have left the live view.")


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
    """The body of every error."""

    error: ErrorDetail


class Alive(Model):
    """Whether a service answers."""

    ok: bool
    failing: list[str] = Field(
        default_factory=list,
        description="Parts that fail, as far as this process knows: store, chat, embeddings.",
    )


class Groups(Model):
    """The ids of groups."""

    groups: list[str]


class Users(Model):
    """The ids of users."""

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


class ExtractionChoice(Body):
    """The custom extraction; null if none is set."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "extraction": {
                        "instructions": "Note what customers bought and what they were promised.",
                        "kinds": [
                            {
                                "name": "invoice",
                                "description": "An invoice that the customer mentions.",
                                "data_schema": {"type": "object", "properties": {"amount": {"type": "number"}}},
                            }
                        ],
                    }
                }
            ]
        }
    )

    extraction: Extraction | None


class CustomExtraction(Model):
    """The custom extraction, if one is set."""

    extraction: Extraction | None


class StaticFacts(Body):
    """Knowledge to store for every user."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"facts": [{"id": "fact1", "content": "The office closes at six."}]}]}
    )

    facts: list[dict[str, Any]] = Field(min_length=1, max_length=MAX_TURNS)


class StaticKnowledge(Model):
    """Knowledge that holds for every user."""

    facts: list[Memory]
