"""What is stored here as that package's documents: dicts with its names of fields and types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent_memory import models
from agent_memory.errors import InvalidInput
from agent_memory.models import Hit, ThreadSummary, Turn, UserProfile

Record = dict[str, Any]
TYPES = ("turn", "fact", "episodic", "procedural", "thread_summary", "user_summary")
SEARCHED: Mapping[str, tuple[str, ...]] = {
    "fact": ("fact",),
    "episodic": ("event", "conversation_summary"),
    "procedural": ("procedural", "reflection"),
}
"""Types of memories, by that package's names. A chunk is a memory here; there it is only a turn."""


@dataclass(slots=True)
class ProcessThreadResult:
    """What `process_now` did."""

    thread_summary: Record | None = None
    extracted_counts: dict[str, int] = field(default_factory=dict)
    reconciled_count: int = 0
    elapsed_ms: int = 0
    procedural: Record | None = None
    user_summary: Record | None = None


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions that most reads of that package take."""

    role: str | None = None
    tags_all: list[str] | None = None
    tags_any: list[str] | None = None
    exclude_tags: list[str] | None = None
    min_salience: float | None = None
    min_confidence: float | None = None
    created_after: str | datetime | None = None
    created_before: str | datetime | None = None

    def meets(self, record: Record) -> bool:
        """Whether a document meets them."""
        tags, at = set(record["tags"]), moment(record["created_at"])
        after, before = moment(self.created_after), moment(self.created_before)
        return (
            (self.role is None or record["role"] == role_of(self.role))
            and tags >= set(self.tags_all or ())
            and (not self.tags_any or bool(tags & set(self.tags_any)))
            and not tags & set(self.exclude_tags or ())
            and (self.min_salience is None or (record.get("salience") or 0.0) >= self.min_salience)
            and (self.min_confidence is None or (record.get("confidence") or 0.0) >= self.min_confidence)
            and (after is None or at is None or at >= after)
            and (before is None or at is None or at < before)
        )

    def of(self, records: Iterable[Record]) -> list[Record]:
        """The documents that meet them."""
        return [record for record in records if self.meets(record)]


def moment(value: str | datetime | None) -> datetime | None:
    """A time with its zone; UTC by default.

    Raises:
        InvalidInput: if it is not a time.
    """
    if value is None:
        return None
    try:
        read = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInput(f"not a time: {value!r:.60}") from None
    return read if read.tzinfo else read.replace(tzinfo=models.now().tzinfo)


def role_of(role: str) -> str:
    """A role as it is stored."""
    return "agent" if role == "assistant" else role


def of_turn(turn: Turn) -> Record:
    """The document of a turn. Its tags are in the metadata here."""
    metadata = dict(turn.metadata)
    tags = metadata.pop("tags", [])
    return _base(turn, "turn", turn.role) | {"tags": list(tags), "metadata": metadata, "agent_id": turn.agent_id}


def of_memory(memory: models.Memory) -> Record:
    """The document of a fact, an episode or a procedure."""
    kind = memory.type if memory.type in ("fact", "episodic") else "procedural"
    record = _base(memory, kind, "system") | {
        "metadata": {**memory.metadata, **({"category": memory.kind} if memory.kind else {})},
        "tags": list(memory.tags),
        "salience": memory.importance,
        "confidence": memory.confidence,
        "status": memory.status,
        "content_hash": memory.content_hash,
        "source_memory_ids": [*memory.source_turn_ids, *memory.source_ids],
        "supersedes_ids": list(memory.supersedes_ids),
        "superseded_by": memory.superseded_by,
        "superseded_at": memory.superseded_at and models.iso(memory.superseded_at),
        "supersede_reason": memory.supersede_reason,
        "agent_id": memory.agent_id,
        "prompt_version": memory.prompt_version,
    }
    return record | ({"name": memory.content, "retrieval_text": memory.content} if kind == "procedural" else {})


def of_summary(summary: ThreadSummary) -> Record:
    """The document of a thread's summary."""
    names = ("topic", "key_points", "decisions", "open_issues", "next_steps", "turn_count")
    metadata = summary.model_dump(include=set(names))
    return _base(summary, "thread_summary", "system") | {"metadata": metadata, "tags": []}


def of_profile(profile: UserProfile) -> Record:
    """The document of a user's summary."""
    names = ("preferences", "current_work", "environment", "constraints", "personal")
    record = _base(profile, "user_summary", "system") | {"thread_id": "__user_summary__", "tags": []}
    return record | {"metadata": profile.model_dump(include=set(names)), "source_memory_ids": list(profile.source_ids)}


def of_hit(hit: Hit) -> Record:
    """The document of a search result, with its scores."""
    return of_memory(hit.memory) | {
        "similarity_score": hit.similarity,
        "score": hit.score,
        "relevance": hit.relevance,
    }


def newest_first(records: Iterable[Record], most: int | None = None) -> list[Record]:
    """Documents by their time."""
    return sorted(records, key=lambda one: (one["created_at"], one["id"]), reverse=True)[:most]


def _base(item: Any, kind: str, role: str) -> Record:
    updated = getattr(item, "updated_at", None)
    return {
        "id": item.id,
        "user_id": item.user_id,
        "thread_id": getattr(item, "thread_id", None),
        "role": role,
        "type": kind,
        "memory_type": kind,
        "content": item.content,
        "created_at": models.iso(item.created_at),
        "updated_at": None if updated is None else models.iso(updated),
    }
