"""Step: what a step declares of itself, beside its code. `table.steps` has them all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from agent_memory.language.tasks import Task
from agent_memory.steps.commit import finish
from agent_memory.steps.effects import Draft, Effects
from agent_memory.steps.gather import StepRequest, Tools
from agent_memory.store.commits import StoredCursor, read_ahead
from agent_memory.store.containers import MEMORIES
from agent_memory.store.cursors import Cursor
from agent_memory.store.ids import USER_THREAD

T = TypeVar("T")

Thinker = Callable[["Step", Tools, StepRequest], Awaitable[Draft | None]]
"""Gathers a range, asks what it has to ask, and gives a draft; None if there was nothing to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the background work: what it is called, where it commits, when it is due, what it takes.

    Its name is that of its workflow, its cursor and its dead letters, all of which are stored: a name stays.
    """

    name: str
    scope: Literal["thread", "user"]
    think: Thinker
    container: str = MEMORIES
    """Where it commits, and keeps its cursor."""
    user_thread: str = USER_THREAD
    """The reserved thread that a step over a user's memories commits to."""
    task: Task[Any, Any] | None = None
    """What it asks a chat model; a step that asks none costs nothing of the day's budget."""
    reads_sentences: bool = True
    """Whether its work grows with the sentences of a turn, which are bounded then; an index takes parts of it."""
    options: frozenset[str] = frozenset()
    """The fields of a `StepRequest` that it knows, besides those that say for whom it runs."""

    def partition(self, request: StepRequest) -> tuple[str, str]:
        """The partition that it commits to."""
        return self.partition_of(request.user_id, request.thread_id)

    def partition_of(self, user_id: str, thread_id: str = "") -> tuple[str, str]:
        """The partition that it commits to for a user, or for a thread of theirs."""
        return (user_id, thread_id if self.scope == "thread" else self.user_thread)

    async def read_ahead(
        self, tools: Tools, request: StepRequest, read: Callable[[StoredCursor], Awaitable[Sequence[T]]]
    ) -> tuple[StoredCursor, Sequence[T]]:
        """What it is to cover next, as `read` finds it, and its cursor; what a crash left undone is finished first."""
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
