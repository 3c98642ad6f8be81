"""Step: what a step declares about itself, next to its code. `table.steps` has them all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from agent_memory.language.tasks import Task
from agent_memory.settings import Cadence
from agent_memory.steps.effects import Draft, Effects, finish
from agent_memory.steps.gather import StepRequest, Tools
from agent_memory.store.containers import MEMORIES
from agent_memory.store.cursors import Cursor, StoredCursor, read_ahead
from agent_memory.store.ids import USER_THREAD

T = TypeVar("T")

Scope = Literal["thread", "user"]
"""Whose turns or memories a step goes over."""
Runs = Literal["counted", "at the end", "deepening", "asked for"]
"""What starts a step: new turns, the end of a conversation, the clock of deepening, or only a caller."""

Thinker = Callable[["Step", Tools, StepRequest], Awaitable[Draft | None]]
"""Gathers a range, calls a model if needed, and returns a draft; None if there was nothing to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the background work: its name, where it commits, when it is due, its options.

    Its name is that of its workflow, its cursor and its dead letters, all of which are stored: a name stays.
    """

    name: str
    scope: Scope
    think: Thinker
    container: str = MEMORIES
    """Where it commits, and keeps its cursor."""
    user_thread: str = USER_THREAD
    """The reserved thread that a step over a user's memories commits to."""
    runs: Runs = "asked for"
    """What starts it."""
    cadence: str = ""
    """The field of `Cadence` that sets how often it runs; 0 is never. Empty if it is not counted."""
    next_run: Callable[[Tools, str, int], Awaitable[int | None]] | None = None
    """Gives the number of the user's next due run, or None, if the step counts by its own cursor. Other user steps
    count turns."""
    task: Task[Any, Any] | None = None
    """Its task for a chat model, whose role can be switched off."""
    in_pieces: bool = True
    """Whether it covers a backlog in pieces, with a checkpoint after each; else it covers everything in one run."""
    files_talk: bool = False
    """Whether its drafts contain the turns themselves. No history may keep these, so it thinks and commits in one
    activity. It has no limit on the sentences of a turn, and its documents do not count as memories."""
    shares_call: bool = False
    """Whether one call of a model can answer it together with the others that share."""
    first: tuple[str, ...] = ()
    """The steps that its workflow runs before it."""
    then: tuple[str, ...] = ()
    """The workflows that its own runs after it, for the user."""
    plan: Callable[[Tools, StepRequest], Awaitable[list[str]]] | None = None
    """Finds the user's threads that it must process, for work that new turns do not announce."""
    kept_after_failure: Callable[[Tools, str], Awaitable[dict[str, Any]]] | None = None
    """What its cursor keeps also after an answer that cannot be used."""
    options: frozenset[str] = frozenset()
    """The fields of a `StepRequest` that it supports, besides those for its scope."""
    aliases: tuple[str, ...] = ()
    """Further names in URLs, those that other systems use."""
    makes: str = ""
    """What the log counts of its work."""
    expected: frozenset[str] = frozenset()
    """Reasons to reject an item that the log need not warn of."""

    @property
    def is_pass(self) -> bool:
        """Whether it calls a model about a user's memories: if it fails, all its work stays due."""
        return self.scope == "user" and self.task is not None

    def every(self, cadence: Cadence) -> int:
        """How many turns or extractions make it run; 0 for never."""
        return int(getattr(cadence, self.cadence)) if self.cadence else 0

    def partition(self, request: StepRequest) -> tuple[str, str]:
        """The partition that it commits to."""
        return self.partition_of(request.user_id, request.thread_id)

    def partition_of(self, user_id: str, thread_id: str = "") -> tuple[str, str]:
        """The partition that it commits to for a user, or for a thread of theirs."""
        return (user_id, thread_id if self.scope == "thread" else self.user_thread)

    async def read_ahead(
        self, tools: Tools, request: StepRequest, read: Callable[[StoredCursor], Awaitable[Sequence[T]]]
    ) -> tuple[StoredCursor, Sequence[T]]:
        """The next items to cover, which `read` finds, and the cursor. First finishes what a crash left undone."""
        partition = self.partition(request)
        found = await read_ahead(tools.store, self.container, partition, self.name, read)
        if "intents" not in found[0].extra:
            return found
        await finish(tools.store, self.container, partition, self.name)
        return await read_ahead(tools.store, self.container, partition, self.name, read)

    def draft(
        self,
        request: StepRequest,
        stored: StoredCursor,
        effects: Effects,
        *,
        cursor: Cursor | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Draft:
        """The draft of these effects. Without a `cursor` it counts one more run, and covers nothing."""
        user_id, thread_id = self.partition(request)
        return Draft(
            **dict(effects),
            step=self.name,
            container=self.container,
            user_id=user_id,
            thread_id=thread_id,
            cursor=(cursor or Cursor(runs=stored.cursor.runs + 1)).to_document(),
            etag=stored.etag,
            extra=dict(extra or {}),
        )
