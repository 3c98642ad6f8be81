"""What callers send and get: validated, typed, and the same in the library, the HTTP API and the command line.

Times are timezone-aware UTC. Scores are higher-is-better. Vectors never appear here: they live in the store.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    with_config,
)
from typing_extensions import TypedDict

Role = Literal["user", "agent", "tool", "system"]
MemoryType = Literal["fact", "episodic", "procedural", "reflection", "static"]
FactKind = Literal["fact", "preference", "context", "requirement", "decision"]
Source = Literal["user", "agent", "tool", "imported"]
Status = Literal["active", "candidate", "quarantined"]
SupersedeReason = Literal["duplicate", "contradict", "update", "rederived", "expired", "revoked", "evicted"]
ContextFormat = Literal["sections", "bullets", "xml"]

ROLE_ALIASES = {"assistant": "agent", "function": "tool", "human": "user", "ai": "agent"}
"""Names other systems give to the four roles."""

# Names other systems give to our types, with the kind that they imply (conflict C01 of the requirements).
TYPE_ALIASES: dict[str, tuple[MemoryType, str | None]] = {
    "semantic": ("fact", None),
    "preference": ("fact", "preference"),
    "context": ("fact", "context"),
    "requirement": ("fact", "requirement"),
    "decision": ("fact", "decision"),
    "extractive": ("fact", None),
    "conversation_summary": ("episodic", "session"),
    "vector": ("episodic", "chunk"),
    "reflective": ("reflection", None),
}


def _utc(value: datetime) -> datetime:
    """Reads a time without a zone as UTC, and turns every other into UTC."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def iso(value: datetime) -> str:
    """Writes a UTC time with a fixed width, so that the order of the texts is the order of the times."""
    return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def day(value: datetime) -> str:
    """Writes the day of a time as people do: 5 March 2026."""
    return f"{value.day} {value:%B %Y}"


def _role(value: object) -> object:
    return ROLE_ALIASES.get(value, value) if isinstance(value, str) else value


UtcTime = Annotated[datetime, AfterValidator(_utc), PlainSerializer(iso, return_type=str, when_used="json")]
RoleField = Annotated[Role, BeforeValidator(_role)]


def now() -> datetime:
    """The current time in UTC, to the microsecond."""
    return datetime.now(UTC)


def content_hash(text: str) -> str:
    """Identifies what a text says, whatever its case and spacing: 32 hex digits of SHA-256 (row S1-36)."""
    normal = re.sub(r"\s+", " ", text.strip().lower())
    return hashlib.sha256(normal.encode()).hexdigest()[:32]


class Model(BaseModel):
    """The base of all public models: unknown fields are an error, values are checked on assignment."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)


class Usage(Model):
    """What a piece of work cost."""

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    embedded_texts: int = 0
    embedded_tokens: int = 0
    request_units: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Adds two costs field by field."""
        mine = self.model_dump()
        return Usage(**{name: mine[name] + value for name, value in other.model_dump().items()})


class TurnInput(Model):
    """One message of a conversation, as a caller hands it over."""

    role: RoleField
    content: str
    id: str | None = None
    name: str | None = Field(default=None, description="Who speaks, if the transcript names them.")
    created_at: UtcTime | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    agent_id: str | None = None
    project_id: str | None = None
    run_id: str | None = None
    ttl: int | None = Field(default=None, gt=0, description="Seconds until it is pruned; None: as the store has it.")


class Turn(Model):
    """One message as it was kept. Turns never change."""

    id: str
    user_id: str
    thread_id: str
    role: Role
    content: str
    created_at: UtcTime
    name: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    agent_id: str | None = None
    project_id: str | None = None
    run_id: str | None = None
    ttl: int | None = Field(default=None, gt=0, description="Seconds after its writing at which it is pruned.")
    off_record: bool | None = Field(
        default=None, description="True: written while memory was switched off, so nothing is ever derived from it."
    )


class LiveView(Model):
    """What a conversation still shows."""

    turns: list[Turn] = Field(default_factory=list, description="In the order of the talk.")
    retired: int = Field(default=0, description="How many have left since the view was last cleared.")


class Memory(Model):
    """One thing remembered, with when it was true, when it was known, and what it rests on."""

    id: str
    user_id: str
    thread_id: str
    type: MemoryType
    kind: str | None = None
    role: Role = "system"
    content: str
    confidence: float = Field(default=0.8, ge=0, le=1)
    importance: float = Field(default=0.5, ge=0, le=1)
    source: Source = "user"
    status: Status = "active"
    review_reason: str | None = Field(default=None, description="Why it waits for review, if it does.")
    quote: str | None = Field(default=None, description="The words of the transcript that it rests on, verbatim.")
    source_turn_ids: list[str] = Field(default_factory=list)
    source_ids: list[str] = Field(default_factory=list, description="The memories that it was made from, if any.")
    pinned: bool = Field(default=False, description="Whether it is kept however seldom it is used.")
    time_phrase: str | None = Field(default=None, description="The words that a resolved date came from.")
    tags: list[str] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    agent_id: str | None = None
    project_id: str | None = None
    run_id: str | None = None
    created_at: UtcTime = Field(description="When it was said.")
    updated_at: UtcTime | None = None
    reaffirmed_at: UtcTime | None = Field(default=None, description="When it was last said again, word for word.")
    valid_from: UtcTime | None = Field(default=None, description="Since when it is true.")
    valid_to: UtcTime | None = Field(default=None, description="Until when it was true; None: still.")
    recorded_at: UtcTime = Field(description="When the store learned it.")
    superseded_at: UtcTime | None = None
    superseded_by: str | None = Field(default=None, description="What replaced it; `__nobody__` if nothing did.")
    supersede_reason: SupersedeReason | None = None
    supersedes_ids: list[str] = Field(default_factory=list)
    content_hash: str = ""
    embedding_model: str | None = None
    model: str | None = Field(default=None, description="Which model derived it.")
    prompt_version: str | None = None
    access_count: int = 0
    last_accessed_at: UtcTime | None = None

    @property
    def last_said_at(self) -> datetime:
        """When it was said, or last said again."""
        return max(self.created_at, self.reaffirmed_at or self.created_at)


class Provenance(Model):
    """Why a memory is believed: the words and turns that it rests on, what it was made from, what it replaced.

    Its quote, and the model and prompt version that derived it, are in the memory itself.
    """

    memory: Memory
    turns: list[Turn] = Field(description="The turns that it rests on, in the order of the talk.")
    missing_turn_ids: list[str] = Field(default_factory=list, description="Turns that it names and nobody keeps.")
    sources: list[Memory] = Field(default_factory=list, description="The memories that it was made from.")
    replaced: list[Memory] = Field(default_factory=list, description="What it took the place of.")
    replaced_by: Memory | None = Field(default=None, description="What took its place.")
    history: list[Memory] = Field(default_factory=list, description="All its versions, oldest first.")


class ThreadSummary(Model):
    """The compact record of one thread."""

    id: str
    user_id: str
    thread_id: str
    content: str
    topic: str = ""
    key_points: list[str] = Field(default_factory=list)
    decisions: list[str] = Field(default_factory=list)
    open_issues: list[str] = Field(default_factory=list)
    next_steps: list[str] = Field(default_factory=list)
    turn_count: int = 0
    covers_from: UtcTime | None = None
    covers_to: UtcTime | None = None
    created_at: UtcTime
    updated_at: UtcTime
    model: str | None = None
    prompt_version: str | None = None


class ThreadState(Model):
    """Where one thread stands now, as data: rebuilt with the summary, forgotten when its time runs out."""

    id: str
    user_id: str
    thread_id: str
    state: dict[str, Any] = Field(description="topic, decisions, open, and the values that the talk has settled")
    updated_at: UtcTime


class UserProfile(Model):
    """What is known of a user across all threads."""

    id: str
    user_id: str
    content: str
    preferences: list[str] = Field(default_factory=list)
    current_work: list[str] = Field(default_factory=list)
    environment: list[str] = Field(default_factory=list)
    constraints: list[str] = Field(default_factory=list)
    personal: list[str] = Field(default_factory=list)
    source_ids: list[str] = Field(default_factory=list, description="The memories that it rests on.")
    created_at: UtcTime
    updated_at: UtcTime
    model: str | None = None
    prompt_version: str | None = None


class Receipt(Model):
    """What a write did."""

    ids: list[str]
    created: int = Field(description="How many are new; the others were there already, with the same content.")
    skipped_reason: str | None = Field(default=None, description="Why nothing was kept: a switch is off.")
    forgotten: list[str] = Field(
        default_factory=list,
        description="Those that were not written: they were forgotten since they were said.",
    )
    usage: Usage = Field(default_factory=Usage)


Name = Annotated[str, StringConstraints(min_length=1, max_length=255)]


@with_config(extra="forbid")
class SearchFilters(TypedDict, total=False):
    """What a search is confined to. What is not named, or None, is not asked of a memory.

    Attributes:
        types: Only these (fact, episodic, procedural, reflection, or another system's names: `preference`, `vector`).
        kinds: Only these kinds (fact, preference, context, requirement, decision; chunk, session).
        tags: At least one of these.
        min_confidence: 0 to 1.
        min_importance: 0 to 1.
        created_after: Said at that time or later.
        created_before: Said before that time.
        as_of: What was true then, instead of now.
        agent_id: From talks with this agent.
        project_id: From talks in this project.
        exclude_threads: Not from these conversations.
        threshold: Only what is nearer than this cosine (-1 to 1), whatever words it shares with the query. Without it,
            a word in common suffices, and what has none must be nearer than the threshold of the embedding model.
    """

    types: Sequence[Name] | None
    kinds: Sequence[Name] | None
    tags: Sequence[Name] | None
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None
    min_importance: Annotated[float, Field(ge=0, le=1)] | None
    created_after: UtcTime | None
    created_before: UtcTime | None
    as_of: UtcTime | None
    agent_id: Name | None
    project_id: Name | None
    exclude_threads: Sequence[Name] | None
    threshold: Annotated[float, Field(ge=-1, le=1)] | None


class Hit(Model):
    """One result of a search."""

    memory: Memory
    score: float = Field(description="The fused rank score; comparable within one answer only.")
    similarity: float | None = Field(default=None, description="Cosine to the query, if a vector was compared.")
    why: dict[str, float] = Field(default_factory=dict, description="What the score is made of.")


class Signals(Model):
    """What the application knows of a question before memory is asked (rows S0-023, S0-025)."""

    is_fact: bool = Field(default=False, description="It asks for general knowledge: the capital of France.")
    requires_tool: bool = Field(default=False, description="A tool answers it: the weather, a calculation.")


class Context(Model):
    """What an agent should be told before it answers. Empty, never an error, when memory cannot help."""

    text: str = ""
    messages: list[dict[str, str]] = Field(default_factory=list)
    used: list[dict[str, Any]] = Field(default_factory=list, description="id, type and score of what is in it.")
    left_out: list[dict[str, Any]] = Field(default_factory=list, description="What the budget had no room for.")
    tokens: int = 0
    milliseconds: float = 0.0
    degraded: list[str] = Field(default_factory=list, description="What is missing, and why.")
    skipped_reason: str | None = None
    query: str | None = Field(default=None, description="What was searched for; None if nothing was.")
    decisions: dict[str, str] = Field(default_factory=dict, description="gate, query, archive: what was decided.")


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


class ThreadInfo(Model):
    """One thread of a user."""

    thread_id: str
    turns: int
    unprocessed_turns: int
    last_turn_at: UtcTime | None = None


class ProcessResult(Model):
    """What one run of a processing workflow did."""

    step: str
    turns: int = 0
    created: int = 0
    superseded: int = 0
    exact_dedup_skipped: int = 0
    rejected: list[str] = Field(default_factory=list, description="Why items of a model's answer were dropped.")
    counts: dict[str, int] = Field(
        default_factory=dict, description="Of a reconciliation: kept, merged, contradicted; other steps name their own."
    )
    dead_letters: int = 0
    skipped_reason: str | None = Field(default=None, description="Why it did not run: a switch is off.")
    usage: Usage = Field(default_factory=Usage)


class ForgetItem(Model):
    """One document that a forget is about."""

    id: str
    type: str
    thread_id: str
    why: str
    content: str | None = Field(default=None, description="What it says; only in a dry run.")


class ForgetReceipt(Model):
    """What a forget deleted, or would delete (`dry_run`), and what stayed. It holds no text but in a dry run."""

    dry_run: bool
    at: UtcTime = Field(default_factory=now, description="What is said later than this is remembered.")
    deleted: dict[str, list[str]] = Field(default_factory=dict, description="Ids by document type.")
    erased: dict[str, int] = Field(default_factory=dict, description="Of a whole user: documents by type, no ids.")
    items: list[ForgetItem] = Field(default_factory=list, description="What was found, each with the reason.")
    kept: list[ForgetItem] = Field(default_factory=list, description="What rests on the same turns, and stays.")
    rebuilt: list[str] = Field(default_factory=list, description="Derived documents made anew without it.")
    pending: list[str] = Field(default_factory=list, description="What will be made anew in the background.")

    @property
    def total(self) -> int:
        """How many documents were (or would be) deleted."""
        return sum(len(ids) for ids in self.deleted.values()) + sum(self.erased.values())


class ExportPart(Model):
    """A part of an export: each record is a line."""

    records: list[dict[str, Any]] = Field(description="What each is, is in its `type`.")
    next: str | None = Field(default=None, description="The part that follows; None: this was the last.")


class ImportReceipt(Model):
    """What an import did, counted by what the lines were: turn, memory, summary, state, user_summary, settings."""

    created: dict[str, int] = Field(default_factory=dict)
    existing: dict[str, int] = Field(default_factory=dict, description="What was there already, and was left as it is.")
    forgotten: dict[str, int] = Field(
        default_factory=dict, description="What was forgotten here since it was said, or tells of that."
    )


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
    """A range of turns that a step gave up on. Nothing is lost: it can be replayed."""

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


class ScopeSettings(Model):
    """The switches of a user or a thread. They only restrict: what any of them forbids is forbidden."""

    enabled: bool = Field(default=True, description="Off: nothing is remembered and nothing recalled.")
    auto_store: bool = Field(default=True, description="Off: nothing is derived from what is said; recall goes on.")
    keep_turns: bool = Field(default=True, description="Off: not even the conversation is kept.")
    deny_categories: list[str] = Field(default_factory=list, description="What is never remembered: health, …")
    allow_categories: list[str] = Field(default_factory=list, description="If any, all that is remembered.")
    retention_days: dict[str, int] = Field(
        default_factory=dict, description="After how many days memories of a type are deleted; never, if not given."
    )
    updated_at: UtcTime | None = None
    etag: str | None = Field(default=None, description="Of this version, for a conditional update.")


class MemoryConfig(Model):
    """What one request asks of memory (row S0-070); like every switch, it can only restrict."""

    enabled: bool = True
    auto_store: bool = Field(default=True, description="Off: nothing is ever derived from turns that it writes.")
    memory_types: list[str] | None = Field(default=None, description="Only these are recalled.")
    retrieval_limit: int | None = Field(default=None, ge=1, le=100)
    similarity_threshold: float | None = Field(default=None, ge=-1, le=1, description="Least cosine of a hit.")
