"""Changes of memories, as they are told to whoever follows them."""

from __future__ import annotations

import hashlib
from typing import Literal

from pydantic import Field

from agent_memory.models.base import Model, UtcTime
from agent_memory.models.knowledge import Memory

ChangeType = Literal["added", "updated", "superseded", "forgotten"]


class MemoryChange(Model):
    """One change of a memory. A change may be told twice, with the same `id`."""

    id: str = Field(description="Names the change: told twice, it has the same id.")
    type: ChangeType = Field(
        description="added: it is new. updated: pinned, linked, approved, … superseded: replaced or withdrawn."
    )
    user_id: str
    memory_id: str = Field(description="If it was forgotten: `sha256:` and the SHA-256 of its id. See `is_about`.")
    at: UtcTime = Field(description="When it changed.")
    memory: Memory | None = Field(default=None, description="As it is now; None if it was forgotten.")
    cursor: str = Field(default="", description="Where to go on behind this change.")

    def is_about(self, memory_id: str) -> bool:
        """Whether this memory changed. Of a forgotten one, not even the id is kept; it is compared by its hash."""
        return self.memory_id in (memory_id, hashed(memory_id))


def hashed(memory_id: str) -> str:
    """How a change names a memory that was forgotten."""
    return f"sha256:{hashlib.sha256(memory_id.encode()).hexdigest()}"


class Changes(Model):
    """A page of changes, the oldest first."""

    changes: list[MemoryChange] = Field(default_factory=list)
    cursor: str = Field(description="Where the next page begins.")
    more: bool = Field(default=False, description="Whether there is more by now.")
