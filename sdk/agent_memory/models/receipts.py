"""Receipts: what a write, a step, a deletion, an export or an import did."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from agent_memory.models.base import Model, Usage, UtcTime, now, one_line


class Receipt(Model):
    """What a write did."""

    ids: list[str]
    created: int = Field(description="How many are new. The others existed already, with the same content.")
    skipped_reason: str | None = Field(default=None, description="Why nothing was kept: a switch is off.")
    forgotten: list[str] = Field(
        default_factory=list,
        description="Turns that were not written, because they were forgotten after they were said.",
    )
    usage: Usage = Field(default_factory=Usage)


class ProcessResult(Model):
    """What one run of a processing workflow did."""

    step: str
    turns: int = 0
    created: int = 0
    superseded: int = 0
    exact_dedup_skipped: int = 0
    rejected: list[str] = Field(default_factory=list, description="Why items of a model's answer were dropped.")
    counts: dict[str, int] = Field(
        default_factory=dict, description="Figures of the step; a reconciliation has kept, merged and contradicted."
    )
    dead_letters: int = 0
    skipped_reason: str | None = Field(default=None, description="Why it did not run: a switch is off.")
    usage: Usage = Field(default_factory=Usage)


class ForgetItem(Model):
    """One document that a deletion found."""

    id: str
    type: str
    thread_id: str
    why: str
    content: str | None = Field(default=None, description="Its text, only in a dry run.")


class ForgetReceipt(Model):
    """What `forget` deleted, or would delete (`dry_run`), and what stayed. It contains texts only in a dry run."""

    dry_run: bool
    at: UtcTime = Field(default_factory=now, description="Only what was said up to this time is forgotten.")
    deleted: dict[str, list[str]] = Field(default_factory=dict, description="Ids by document type.")
    erased: dict[str, int] = Field(default_factory=dict, description="For a whole user: how many documents, by type.")
    items: list[ForgetItem] = Field(default_factory=list, description="The documents found, each with the reason.")
    kept: list[ForgetItem] = Field(default_factory=list, description="Memories from the same turns that stay.")
    rebuilt: list[str] = Field(default_factory=list, description="Summaries and profiles that were made again.")
    pending: list[str] = Field(
        default_factory=list,
        description="What background work still has to do: rebuild a summary, overwrite bytes.",
    )

    @property
    def total(self) -> int:
        """How many documents were (or would be) deleted."""
        return sum(len(ids) for ids in self.deleted.values()) + sum(self.erased.values())

    def __str__(self) -> str:
        """The receipt in readable form: the counts, then a line for each document that was found."""
        counts = {name: len(ids) for name, ids in self.deleted.items() if ids} | self.erased
        which = ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing"
        head = f"{self.total} documents {'would be' if self.dry_run else 'were'} deleted: {which}"
        return "\n".join(
            [head, *(f"  {item.type}, {item.why}: {one_line(item.content or item.id)}" for item in self.items)]
        )


class ExportPart(Model):
    """A part of an export. Each record is one line of the file."""

    records: list[dict[str, Any]] = Field(description="The lines; `type` says what each one is.")
    next: str | None = Field(default=None, description="The name of the next part; None: this is the last.")


class ImportReceipt(Model):
    """What an import did, counted by type of line: turn, memory, summary, state, user_summary, settings."""

    created: dict[str, int] = Field(default_factory=dict)
    existing: dict[str, int] = Field(
        default_factory=dict, description="Lines that existed already. They stay unchanged."
    )
    forgotten: dict[str, int] = Field(
        default_factory=dict, description="Lines that were forgotten here, or that may mention something forgotten."
    )
    refused: dict[str, int] = Field(default_factory=dict, description="Memories that the user's tier has no room for.")
    screened: dict[str, int] = Field(
        default_factory=dict,
        description="Summaries with a secret, an instruction to a model or a forbidden topic. They are rebuilt.",
    )
    unwanted: dict[str, int] = Field(
        default_factory=dict, description="Lines that a category or a switch of this store forbids."
    )
