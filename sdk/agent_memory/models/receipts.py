"""What writing, processing, forgetting and moving did."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from agent_memory.models.base import Model, Usage, UtcTime, now, one_line


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
    pending: list[str] = Field(
        default_factory=list,
        description="What is left to the background: what to make anew, bytes to overwrite.",
    )

    @property
    def total(self) -> int:
        """How many documents were (or would be) deleted."""
        return sum(len(ids) for ids in self.deleted.values()) + sum(self.erased.values())

    def __str__(self) -> str:
        """What went, or would go, as people read it: the counts, then a line for each document that was found."""
        counts = {name: len(ids) for name, ids in self.deleted.items() if ids} | self.erased
        which = ", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing"
        head = f"{self.total} documents {'would be' if self.dry_run else 'were'} deleted: {which}"
        return "\n".join(
            [head, *(f"  {item.type}, {item.why}: {one_line(item.content or item.id)}" for item in self.items)]
        )


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
    refused: dict[str, int] = Field(default_factory=dict, description="What the user's tier has no room for.")
    screened: dict[str, int] = Field(
        default_factory=dict,
        description="What holds a secret, gives orders or tells what the settings forbid, and is made again instead.",
    )
    unwanted: dict[str, int] = Field(
        default_factory=dict, description="What the settings here do not want: by a category, or by a switch."
    )
