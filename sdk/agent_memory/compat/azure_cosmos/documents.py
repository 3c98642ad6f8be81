"""What is stored here as that package's documents, dicts with its names; and its list of documents to push."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent_memory import models
from agent_memory.errors import InvalidInput, NotFound
from agent_memory.models import Hit, ThreadSummary, Turn, UserProfile
from agent_memory.store.ids import check_id, new_turn_id

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


ROLES = ("user", "agent", "assistant", "tool", "system")


class LocalMemory:
    """A buffer in RAM. No search finds its content, which is lost when the process ends."""

    def __init__(self) -> None:
        self.local_memory: list[Record] = []

    def add_local(
        self,
        user_id: str,
        role: str,
        content: str,
        memory_type: str = "turn",
        agent_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        thread_id: str | None = None,
        tags: list[str] | None = None,
        ttl: int | None = None,
        salience: float | None = None,
    ) -> None:
        """Adds a memory to the list.

        Raises:
            InvalidInput: if a value is invalid, or a turn has no thread.
        """
        if memory_type == "turn" and not thread_id:
            raise InvalidInput("a turn needs a thread_id")
        _refuse(role, memory_type)
        no_expiry(ttl)
        now = models.iso(models.now())
        self.local_memory.append(
            {
                "id": new_turn_id(),
                "user_id": check_id(user_id, "user_id"),
                "thread_id": None if thread_id is None else check_id(thread_id, "thread_id"),
                "role": role_of(role),
                "type": memory_type,
                "content": content,
                "metadata": dict(metadata or {}),
                "tags": list(tags or []),
                "agent_id": agent_id,
                "salience": salience,
                "created_at": now,
                "updated_at": now,
            }
        )

    def get_local(
        self,
        memory_id: str | None = None,
        user_id: str | None = None,
        role: str | None = None,
        memory_types: list[str] | None = None,
    ) -> list[Record]:
        """What is in the list, by id, user, role and type."""
        return [
            one
            for one in self.local_memory
            if memory_id in (None, one["id"])
            and user_id in (None, one["user_id"])
            and (role is None or role_of(role) == one["role"])
            and (not memory_types or one["type"] in memory_types)
        ]

    def update_local(
        self,
        memory_id: str,
        content: str | None = None,
        role: str | None = None,
        memory_type: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Changes a memory of the list.

        Raises:
            NotFound: if it is not there.
            InvalidInput: for an unknown role or type.
        """
        _refuse(role or "user", memory_type or "turn")
        changes = {"content": content, "role": role and role_of(role), "type": memory_type, "metadata": metadata}
        one = self._local(memory_id)
        one.update({name: value for name, value in changes.items() if value is not None})
        one["updated_at"] = models.iso(models.now())

    def delete_local(self, memory_id: str) -> None:
        """Removes a memory from the list.

        Raises:
            NotFound: if it is not there.
        """
        self.local_memory.remove(self._local(memory_id))

    def _local(self, memory_id: str) -> Record:
        for one in self.local_memory:
            if one["id"] == memory_id:
                return one
        raise NotFound(f"no memory {memory_id!r:.60} in the local list")


def no_expiry(ttl: int | None) -> None:
    """Refuses a time to live of one memory.

    Raises:
        InvalidInput: if one is given.
    """
    if ttl is not None:
        raise InvalidInput("ttl: memories expire by type here; see retention_days of update_settings")


def _refuse(role: str, memory_type: str) -> None:
    if role not in ROLES:
        raise InvalidInput(f"role: no role {role!r:.60}; the roles are {', '.join(ROLES)}")
    if memory_type not in TYPES:
        raise InvalidInput(f"memory_type: no type {memory_type!r:.60}; the types are {', '.join(TYPES)}")
