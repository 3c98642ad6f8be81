"""What an operator and the users see of the running store."""

from __future__ import annotations

from pydantic import Field

from agent_memory.models.base import Model, Usage, UtcTime


class Stats(Model):
    """Counts of what a scope holds."""

    turns: int = 0
    unprocessed_turns: int = 0
    threads: int = 0
    memories: int = 0
    memories_by_type: dict[str, int] = Field(default_factory=dict)
    superseded: int = 0
    oldest_memory: UtcTime | None = None
    newest_memory: UtcTime | None = None
    memory_enabled: bool = True
    tier: str | None = None
    max_memories: int | None = Field(default=None, description="What the tier allows; None: any number.")
    retrieval_limit: int | None = Field(default=None, description="How many results the tier allows.")
    paused: str | None = Field(default=None, description="Why turns are kept and not processed today, if so.")


class AuditEntry(Model):
    """That somebody read or changed a user's memory."""

    at: UtcTime
    action: str = Field(description="What was called: search, context, update, forget, …")
    changes: bool
    actor: str
    via: str = Field(description="sdk, api or cli.")
    address: str | None = Field(default=None, description="The network address that it came from.")
    thread_id: str | None = None
    ids: list[str] = Field(default_factory=list, description="Of the memories and turns; the first 100.")
    count: int = Field(default=0, description="Of how many.")


class DeadLetter(Model):
    """What a step gave up on: a range of turns, or a pass over a user's memories (without turns).

    Nothing is lost: it can be replayed.
    """

    id: str
    user_id: str
    thread_id: str
    step: str
    turn_ids: list[str]
    error: str
    created_at: UtcTime
    usage: Usage = Field(default_factory=Usage, description="What the attempts cost.")


class Health(Model):
    """Whether the parts answer, and which they are."""

    ok: bool
    store: str
    chat_model: str
    embedding_model: str
    unprocessed_turns: int
    dead_letters: int
    warnings: list[str] = Field(default_factory=list)
