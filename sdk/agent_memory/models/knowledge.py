"""What is remembered about a user, the evidence for it, and how it changes."""

from __future__ import annotations

import hashlib
from datetime import datetime
from itertools import zip_longest
from typing import Any, Literal, NamedTuple

from pydantic import Field

from agent_memory.models.base import Count, Model, Usage, UtcTime, day, now, one_line
from agent_memory.models.talk import Role, Turn

MemoryType = Literal["fact", "episodic", "procedural", "reflection", "document", "static"]

FactKind = Literal["fact", "preference", "context", "requirement", "decision"]

Source = Literal["user", "agent", "tool", "imported"]

Status = Literal["active", "candidate", "quarantined"]

SupersedeReason = Literal["duplicate", "contradict", "update", "rederived", "expired", "revoked", "evicted"]

# The names of our types in other systems, with the kind that they imply.
TYPE_ALIASES: dict[str, tuple[MemoryType, str | None]] = {
    "semantic": ("fact", None),
    "preference": ("fact", "preference"),
    "context": ("fact", "context"),
    "requirement": ("fact", "requirement"),
    "decision": ("fact", "decision"),
    "extractive": ("fact", None),
    "conversation_summary": ("episodic", "session"),
    "event": ("episodic", "event"),
    "vector": ("episodic", "chunk"),
    "reflective": ("reflection", None),
}


class Memory(Model):
    """One memory: what it says, when it was true, when it was learned, and where it comes from."""

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
    quote: str | None = Field(default=None, description="The words of the transcript that support it, verbatim.")
    source_turn_ids: list[str] = Field(default_factory=list)
    source_ids: list[str] = Field(default_factory=list, description="The memories that it was derived from, if any.")
    related_ids: list[str] = Field(default_factory=list, description="Memories that were linked to it by hand.")
    near_ids: list[str] = Field(default_factory=list, description="Turns similar in meaning when this was written.")
    pinned: bool = Field(default=False, description="Whether it is kept even if it is never used.")
    time_phrase: str | None = Field(default=None, description="The words that a resolved date came from.")
    tags: list[str] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    data: dict[str, Any] | None = Field(
        default=None, description="The data of a memory of a custom kind; it fits the schema of that kind."
    )
    agent_id: str | None = None
    project_id: str | None = None
    run_id: str | None = None
    contributor_id: str | None = Field(default=None, description="In a group: the only member it comes from.")
    created_at: UtcTime = Field(description="When it was said.")
    updated_at: UtcTime | None = None
    reaffirmed_at: UtcTime | None = Field(default=None, description="When it was last said again, word for word.")
    valid_from: UtcTime | None = Field(default=None, description="Since when it is true.")
    valid_to: UtcTime | None = Field(default=None, description="When it stopped being true. None: it is still true.")
    recorded_at: UtcTime = Field(description="When the store recorded it.")
    expires_at: UtcTime | None = Field(default=None, description="When it expires; after that nothing shows it.")
    superseded_at: UtcTime | None = None
    superseded_by: str | None = Field(default=None, description="What replaced it; `__nobody__` if nothing did.")
    supersede_reason: SupersedeReason | None = None
    supersedes_ids: list[str] = Field(default_factory=list)
    content_hash: str = ""
    embedding_model: str | None = None
    model: str | None = Field(default=None, description="The model that derived it.")
    prompt_version: str | None = None
    access_count: Count = 0
    last_accessed_at: UtcTime | None = None

    @property
    def last_said_at(self) -> datetime:
        """When it was said, or last said again."""
        return max(self.created_at, self.reaffirmed_at or self.created_at)

    @property
    def is_expired(self) -> bool:
        """Whether it has expired, though the store may not have deleted it yet."""
        return self.expires_at is not None and self.expires_at <= now()

    def __repr__(self) -> str:
        """One line: id, kind, state and the beginning of the text. `model_dump()` has all fields."""
        state = f"replaced ({self.supersede_reason})" if self.superseded_at else self.status
        return f"<Memory {self.id}, {self.kind or self.type}, {state}: {one_line(self.content)!r}>"

    __str__ = __repr__


class Provenance(Model):
    """The evidence for a memory: its turns, the memories it was derived from, and what it replaced.

    Its quote, its model and its prompt version are in the memory itself.
    """

    memory: Memory
    turns: list[Turn] = Field(description="Its source turns, in the order of the conversation.")
    missing_turn_ids: list[str] = Field(default_factory=list, description="Source turns that no longer exist.")
    sources: list[Memory] = Field(default_factory=list, description="The memories that it was derived from.")
    related: list[Memory] = Field(default_factory=list, description="The memories that are linked to it.")
    derived: list[Memory] = Field(default_factory=list, description="The memories that were derived from it.")
    doubtful: list[str] = Field(
        default_factory=list,
        description="If it waits for review: the words that look like an instruction or a secret.",
    )
    replaced: list[Memory] = Field(default_factory=list, description="What it replaced.")
    replaced_by: Memory | None = Field(default=None, description="What replaced it.")
    history: list[Memory] = Field(default_factory=list, description="All its versions, oldest first.")

    def __repr__(self) -> str:
        """One line; `print` shows everything."""
        return f"<Provenance of {self.memory!r}, {len(self.turns)} turns, {len(self.history)} versions>"

    def __str__(self) -> str:
        """The evidence in readable form, one line for each item."""
        memory = self.memory
        derived = f"{memory.model}, prompt {memory.prompt_version}" if memory.model else "written or edited by hand"
        parts = {
            "said": [
                f"{day(turn.created_at)}, {turn.name or turn.role}: {one_line(turn.content)}" for turn in self.turns
            ],
            "no longer kept": self.missing_turn_ids,
            "made from": [_dated(one) for one in self.sources],
            "made into": [_dated(one) for one in self.derived],
            "linked with": [_dated(one) for one in self.related],
            "replaced": [_dated(one) for one in self.replaced],
            "replaced by": [_dated(self.replaced_by)] if self.replaced_by else [],
        }
        lines = [
            one_line(memory.content, 200),
            f"  derived by: {derived}",
            f"  source: {memory.source}, {memory.status}",
        ]
        if memory.quote:
            lines.append(f"  quote: {one_line(memory.quote, 200)!r}")
        return "\n".join([*lines, *(f"  {name}: {line}" for name, found in parts.items() for line in found)])


class Contributions(Model):
    """What one member has contributed to a group."""

    turns: list[Turn] = Field(default_factory=list, description="What they wrote, oldest first.")
    memories: list[Memory] = Field(
        default_factory=list, description="What they remembered, and what was derived only from their turns."
    )


def _dated(memory: Memory) -> str:
    return f"{one_line(memory.content)} ({day(memory.created_at)})"


class ProfileLine(NamedTuple):
    """A line of a profile, with the ids of its source memories, if they are known."""

    section: str
    text: str
    memory_ids: tuple[str, ...] = ()


PROFILE_SECTIONS = ("constraints", "preferences", "personal", "current_work", "environment")


class UserProfile(Model):
    """What is known about a user across all threads."""

    id: str
    user_id: str
    content: str
    preferences: list[str] = Field(default_factory=list)
    current_work: list[str] = Field(default_factory=list)
    environment: list[str] = Field(default_factory=list)
    constraints: list[str] = Field(default_factory=list)
    personal: list[str] = Field(default_factory=list)
    source_ids: list[str] = Field(default_factory=list, description="Its source memories.")
    memory_ids: dict[str, list[list[str]]] = Field(
        default_factory=dict, description="By section, for each of its lines, the ids of its source memories."
    )
    project_ids: list[str] | None = Field(
        default=None, description="The projects of these memories; None: unknown, an earlier version made it."
    )
    created_at: UtcTime
    updated_at: UtcTime
    model: str | None = None
    prompt_version: str | None = None

    def lines(self) -> list[ProfileLine]:
        """Its lines by section. Constraints come first, because they bind an agent most."""
        return [
            ProfileLine(section, text, tuple(ids))
            for section in PROFILE_SECTIONS
            for text, ids in zip_longest(getattr(self, section), self.memory_ids.get(section, ()), fillvalue=())
            if text
        ]


ChangeType = Literal["added", "updated", "superseded", "forgotten"]


class MemoryChange(Model):
    """One change of a memory. A change may appear twice, with the same `id`."""

    id: str = Field(description="Identifies the change, also if it appears twice.")
    type: ChangeType = Field(
        description="added: it is new. updated: pinned, linked, approved, … superseded: replaced or withdrawn."
    )
    user_id: str
    memory_id: str = Field(description="If it was forgotten: `sha256:` and the SHA-256 of its id. See `is_about`.")
    at: UtcTime = Field(description="When it changed.")
    memory: Memory | None = Field(default=None, description="As it is now; None if it was forgotten.")
    cursor: str = Field(default="", description="The cursor to continue after this change.")

    def is_about(self, memory_id: str) -> bool:
        """Whether the change is about this memory. A forgotten memory leaves only a hash of its id to compare with."""
        return self.memory_id in (memory_id, hashed(memory_id))


def hashed(memory_id: str) -> str:
    """How a change names a memory that was forgotten."""
    return f"sha256:{hashlib.sha256(memory_id.encode()).hexdigest()}"


class Changes(Model):
    """A page of changes, the oldest first."""

    changes: list[MemoryChange] = Field(default_factory=list)
    cursor: str = Field(description="Where the next page begins.")
    more: bool = Field(default=False, description="Whether more changes are waiting.")


class Entity(Model):
    """A person, place or thing, as far as memories mention it."""

    name: str = Field(description="Its most common spelling.")
    kind: Literal["person", "place", "thing"] = Field(description="A guess from the words around the name.")
    mentions: int = Field(description="How many memories name it.")
    first_at: UtcTime = Field(description="When it was first mentioned.")
    last_at: UtcTime = Field(description="When it was last mentioned.")
    memory_ids: list[str] = Field(default_factory=list, description="The newest memories that name it, at most 20.")


class EntityView(Entity):
    """An entity with its timeline, and what is mentioned along with it."""

    timeline: list[Memory] = Field(description="Every memory that names it, replaced ones too, oldest first.")
    along_with: dict[str, int] = Field(
        default_factory=dict, description="Other entities, with how many of these memories name them too."
    )


class Evidence(Model):
    """A memory that supports a sentence, with the words that show it."""

    memory_id: str
    quote: str = Field(description="Words of the memory, verbatim.")
    thread_id: str = Field(description="The conversation that it comes from. A reserved id if it comes from none.")
    turn_ids: list[str] = Field(
        default_factory=list, description="The turns that support the memory, if any. `why` has their words."
    )
    said_at: UtcTime
    group: str | None = Field(default=None, description="The group whose memory it is; None for the user's own.")


class CitedSentence(Model):
    """A sentence of an answer."""

    text: str
    evidence: list[Evidence] = Field(description="The memories that support it: at least one.")


class Reflection(Model):
    """An answer to a question about a user. Without sentences, what is remembered does not answer it."""

    question: str
    text: str = Field(default="", description="The sentences, one after the other.")
    sentences: list[CitedSentence] = Field(default_factory=list)
    rejected: list[str] = Field(default_factory=list, description="Why sentences of the model were left out.")
    skipped_reason: str | None = Field(default=None, description="Why nothing was searched: a switch is off.")
    model: str | None = Field(default=None, description="What answered. None if nothing was found to answer from.")
    prompt_version: str | None = None
    usage: Usage = Field(default_factory=Usage)
