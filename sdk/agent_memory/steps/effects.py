"""Effects: the changes that one run of a step wants, as plain data, passed from think to commit.

It holds no connection and no transcript, so it can be kept, sent and tried again. `commit` writes it.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from agent_memory.models import Model, ProcessResult, SupersedeReason, UtcTime
from agent_memory.remembering.untold import Told
from agent_memory.store.documents import Document


class Supersession(Model):
    """The intent to mark one memory as replaced by another, which may lie in other threads."""

    loser_id: str
    loser_thread_id: str
    winner_id: str
    reason: SupersedeReason
    valid_to: UtcTime | None = None


class Retirement(Model):
    """The intent to withdraw a memory that nothing replaces."""

    memory_id: str
    thread_id: str
    reason: SupersedeReason


class Release(Model):
    """The intent to make a memory active again, because the merge that it went into is withdrawn.

    It may have gone into that merge through other merges.
    """

    memory_id: str
    thread_id: str
    winner_id: str
    merge_id: str


class Reaffirmation(Model):
    """That an active memory was said again, word for word."""

    memory_id: str
    thread_id: str
    at: UtcTime


class Intents(Model):
    """What is to be done in other partitions, after the commit; it is kept with the cursor until all is done."""

    supersede: list[Supersession] = Field(default_factory=list)
    retire: list[Retirement] = Field(default_factory=list)
    release: list[Release] = Field(default_factory=list)
    reaffirm: list[Reaffirmation] = Field(default_factory=list)
    new_chunks: list[str] = Field(default_factory=list, description="Chunks that may say what was replaced.")
    told: list[Told] = Field(default_factory=list, description="Replacements that are now in the summary.")

    def to_document(self) -> Document:
        """The stored form; empty if there is nothing to do."""
        dumped = self.model_dump(mode="json", include=set(Intents.model_fields))
        return {name: items for name, items in dumped.items() if items}


class Effects(Intents):
    """Everything that one run of a step changes: documents next to its cursor, intents elsewhere; and a `result`."""

    result: ProcessResult
    create: list[Document] = Field(default_factory=list)
    upsert: list[Document] = Field(default_factory=list)
    patch: dict[str, dict[str, Any]] = Field(default_factory=dict, description="Fields to set, by id.")
    delete: list[str] = Field(default_factory=list)
    more: bool = Field(default=False, description="Whether the range was cut short: there is more to do.")


class Draft(Effects):
    """Effects ready to be committed: with their partition, and the cursor that they move.

    A second commit of a draft, or of a rival draft over the same range, finds that the cursor has moved, and writes
    nothing.
    """

    step: str
    container: str
    user_id: str
    thread_id: str
    cursor: dict[str, Any]
    etag: str
    extra: dict[str, Any] = Field(default_factory=dict, description="What the step stores with its cursor.")
    oldest: int | None = Field(default=None, description="The `_ts` of the oldest turn that it covers, if it is known.")

    @property
    def partition(self) -> tuple[str, str]:
        """Where it commits."""
        return (self.user_id, self.thread_id)
