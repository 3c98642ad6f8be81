"""What a write, a step, a deletion, an export or an import did; and what operators and users see of a running store."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from agent_memory.models.base import Model, Usage, UtcTime, now, one_line


class Budget(Model):
    """What the background work of a user, or of the whole store, has cost today (UTC), and its limits."""

    model_calls: int
    tokens: int
    most_model_calls: int | None = Field(default=None, description="None: any number.")
    most_tokens: int | None = Field(default=None, description="None: any number.")


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
    max_memories: int | None = Field(default=None, description="The tier's limit of memories; None: any number.")
    retrieval_limit: int | None = Field(default=None, description="Maximum results of a search that the tier allows.")
    budget: Budget | None = Field(default=None, description="The user's budget today; None: no budget is set.")
    paused: str | None = Field(default=None, description="Why turns are kept but not processed today, if they are not.")


class AuditEntry(Model):
    """A record that somebody read or changed a user's memory."""

    at: UtcTime
    action: str = Field(description="The method that was called: search, context, update, forget, …")
    changes: bool
    actor: str
    via: str = Field(description="sdk, api, cli or mcp.")
    address: str | None = Field(default=None, description="The network address that the call came from.")
    thread_id: str | None = None
    ids: list[str] = Field(default_factory=list, description="The ids of memories and turns, at most 100.")
    count: int = Field(default=0, description="How many memories and turns there were.")


class DeadLetter(Model):
    """Work that a step gave up on: a range of turns, or a pass over a user's memories (without turns).

    Nothing is lost: you can replay it.
    """

    id: str
    user_id: str
    thread_id: str
    step: str
    turn_ids: list[str]
    error: str
    created_at: UtcTime
    usage: Usage = Field(default_factory=Usage, description="What the attempts cost.")


class EndpointHealth(Model):
    """What this process knows about a model's service from its own calls."""

    model_config = ConfigDict(extra="ignore")  # a newer server may send more fields

    answers: bool | None = Field(default=None, description="Whether it responds; None: this process has not called it.")
    failing_since: UtcTime | None = None
    fault: str | None = Field(
        default=None,
        description="The last fault: timeout, unreachable, server_error, throttled, quota, credentials, not_found, "
        "refused, no_api_answer, unusable, dimensions or unknown.",
    )
    next_attempt_at: UtcTime | None = Field(default=None, description="No call is made before this time.")
    pauses: int = Field(default=0, description="How many pauses there were in a row; each is longer.")
    recovering: bool = Field(default=False, description="Whether it responds again, with a limit on concurrent calls.")


class ReembedPlan(Model):
    """What it costs to move a store to another embedding model."""

    from_model: str
    to_model: str
    dimensions: int = Field(description="The length of the new vectors.")
    memories: int = Field(description="Memories and summaries that lack a vector of the new model.")
    tokens: int = Field(description="An estimate of the tokens that the new model reads: one for four characters.")
    under_way: bool = Field(description="Whether a move has started and not finished; it continues where it stopped.")
    finished: bool = Field(description="Whether there is nothing to do.")


class ReembedResult(Model):
    """What a move to another embedding model did."""

    to_model: str
    embedded: int = Field(default=0, description="Memories and summaries that got a vector of the new model.")
    removed: int = Field(default=0, description="Those whose old vector was removed.")
    failed: int = Field(default=0, description="Those whose text the new model refuses.")
    switched: bool = Field(default=False, description="Whether the store now uses the new model.")
    done: bool = Field(default=False, description="Whether nothing is left to do.")
    usage: Usage = Usage()


class SearchMisses(Model):
    """What this process has counted in sampled searches since it started."""

    measured: int = Field(default=0, description="Searches that were checked.")
    failed: int = Field(default=0, description="Searches whose check failed.")
    relevant_retrieved: int = Field(default=0, description="Memories above the threshold that they returned.")
    relevant_not_retrieved: int = Field(default=0, description="Memories above the threshold that they did not return.")


class Health(Model):
    """Whether the parts respond, which they are, and what is waiting. Unknown fields of a newer server are ignored."""

    model_config = ConfigDict(extra="ignore")

    ok: bool = Field(description="Whether the store accepts reads and writes, and no model is known to fail.")
    store: str
    chat_model: str
    embedding_model: str
    unprocessed_turns: int
    dead_letters: int
    warnings: list[str] = Field(default_factory=list)
    store_answers: bool = Field(default=True, description="Whether the store accepts reads and writes.")
    models: dict[str, EndpointHealth] = Field(
        default_factory=dict,
        description="What this process knows about each model: `chat` and `embeddings`.",
    )
    oldest_unprocessed: UtcTime | None = Field(
        default=None, description="When the oldest waiting turn was written, according to the counters."
    )
    paused_users: int = Field(default=0, description="Users whose turns wait because today's budget is spent.")
    budget: Budget | None = Field(default=None, description="Today's budget for all users; None if none is set.")
    search_misses: SearchMisses | None = Field(
        default=None, description="What sampled searches of this process left out; None: no searches are sampled."
    )
    roles_off: list[str] = Field(default_factory=list, description="Roles of chat models that are switched off.")
    usage: Usage = Field(
        default_factory=Usage, description="What the background work of this process has cost since it started."
    )


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
