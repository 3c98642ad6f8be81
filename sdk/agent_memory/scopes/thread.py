"""The scope of one conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from agent_memory.forgetting.deletion import delete_chunks
from agent_memory.models import (
    Filter,
    ForgetReceipt,
    Memory,
    Page,
    ProcessResult,
    ScopeSettings,
    Stats,
    ThreadState,
    ThreadSummary,
)
from agent_memory.scopes.audited import audited
from agent_memory.scopes.forgetting import ForgetRequest, delete_thread, forget, make_place
from agent_memory.scopes.listing import Start, listed
from agent_memory.scopes.shared import check_recent, count_stats, settings_changes
from agent_memory.scopes.thread_talk import ThreadTalk
from agent_memory.steps.table import ThreadStep, check_option, check_step
from agent_memory.store.scope_documents import change_settings, read_document, scope_settings
from agent_memory.store.threads import read_state, read_summary


class AsyncThreadScope(ThreadTalk):
    """One conversation of one user."""

    @audited(changes=False)
    async def memories(
        self,
        *,
        types: Sequence[str] | None = None,
        include_superseded: bool = False,
        as_of: datetime | None = None,
        before: datetime | None = None,
        limit: int | None = None,
        filters: Filter | Mapping[str, Any] | None = None,
        cursor: str | None = None,
    ) -> Page[Memory]:
        """The memories that come from this thread, newest first.

        Args:
            types: Only these types (fact, episodic, procedural, reflection, or another system's names for them).
            include_superseded: Includes memories that were replaced.
            as_of: Lists what was true at this time, instead of now.
            before: Only memories from before this time.
            limit: The page size. Memories with the same time come together, so a page may hold a few more.
            filters: Only memories that match, without chunks (see `Filter`).
            cursor: Where the page begins: the `next` of the page before, of a call with the same arguments.

        Raises:
            InvalidInput: for an unknown type, a filter, time or cursor that cannot be read, or a limit below 1.
        """
        where, start = (self.user_id, self.thread_id), Start(before, cursor, limit)
        return await listed(self._runtime, where, start, types, as_of, filters, include_superseded=include_superseded)

    @audited(changes=False)
    async def summary(self) -> ThreadSummary | None:
        """The summary of the thread; None until there is one."""
        return await read_summary(self._runtime.store, self.user_id, self.thread_id)

    @audited(changes=False)
    async def state(self) -> ThreadState | None:
        """The current state of the thread: topic, settled values, decisions, open questions. None once it expired."""
        return await read_state(self._runtime.store, self.user_id, self.thread_id)

    async def stats(self) -> Stats:
        """Counts of what this thread holds."""
        return await count_stats(self._runtime, (self.user_id, self.thread_id))

    @audited(changes=True, operation="delete_memory")
    async def forget(
        self,
        query: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        dry_run: bool = False,
    ) -> ForgetReceipt:
        """Forgets this conversation, or only a topic or a time range of it, with everything derived from it.

        See `forget` of the user. Other conversations stay as they are.

        Raises:
            InvalidInput: if an argument is invalid.
            ModelError: if texts must be compared and the embedding model is unavailable; nothing was deleted.
        """
        place = make_place(self.thread_id, None, since, until)
        return await forget(self._runtime, ForgetRequest(self.user_id, None, query, place), dry_run=dry_run)

    @audited(changes=True, operation="delete_memory")
    async def delete(self, include_memories: bool = False) -> ForgetReceipt:
        """Deletes the conversation: its turns and their chunks, its summary and its state.

        What was learned from it stays. With `include_memories` the conversation is forgotten instead.
        """
        if include_memories:
            return await self.forget()
        return await delete_thread(self._runtime, self.user_id, self.thread_id)

    @audited(changes=True)
    async def delete_index(self) -> int:
        """Deletes the chunks of the conversation from the index; returns how many.

        Turns, facts, summary and state stay. `search` no longer finds the turns. Later turns are indexed as usual.

        Raises:
            StoreUnavailable: if the store failed; the call may be repeated.
        """
        return await delete_chunks(self._runtime.store, self.user_id, self.thread_id)

    @audited(changes=True)
    async def process(self, step: ThreadStep, *, retired: bool = False, recent_k: int | None = None) -> ProcessResult:
        """Runs a step now for all turns that it has not covered.

        `index` makes the turns searchable. `extract` does that and derives memories. `summarize` updates summary and
        state. `archive` writes an account of the conversation that other conversations can find.

        Args:
            step: The step.
            retired: Archives only what has left the live view.
            recent_k: `extract` or `summarize` reads only this many of the new turns, the last written. Older ones count
                as covered without being read.

        Raises:
            InvalidInput: for an unknown step, for `retired` with a step other than `archive`, for `recent_k` with a
                step other than `extract` and `summarize`, or for a `recent_k` below 1.
            ModelError: if the model stayed unavailable; nothing is lost, the call may be repeated.
        """
        check_step("thread", step)
        check_recent(step, recent_k)
        if retired:
            check_option(step, "retired")
        return await self._run(step, recent_k=recent_k, retired=retired or None)

    @audited(changes=True)
    async def end(self) -> ProcessResult:
        """Ends the conversation: processes all its turns now, however few, and archives it."""
        return await self._run("settle", **self._runtime.settling)

    async def settings(self) -> ScopeSettings:
        """The switches of this thread; those of the user apply too."""
        return scope_settings(await read_document(self._runtime.store, self.user_id, self.thread_id))

    @audited(changes=True)
    async def update_settings(
        self,
        *,
        enabled: bool | None = None,
        auto_store: bool | None = None,
        keep_turns: bool | None = None,
        deny_categories: Sequence[str] | None = None,
        allow_categories: Sequence[str] | None = None,
        time_zone: str | None = None,
        if_match: str | None = None,
    ) -> ScopeSettings:
        """Changes the given settings and leaves the others. Memories stay until they are forgotten.

        Args:
            enabled: False: nothing is remembered from this thread, and nothing is recalled in it.
            auto_store: False: nothing is derived from later turns; recall still works.
            keep_turns: False: turns are not stored.
            deny_categories: Categories that are never remembered ("health"). Replaces the earlier list.
            allow_categories: If not empty, the only categories that are remembered. Replaces the earlier list.
            time_zone: The user's time zone in this thread, like "Europe/Lisbon". Overrides the user's own.
            if_match: Changes the settings only if they still have this `etag`.

        Raises:
            InvalidInput: if a value is invalid.
            Conflict: if the settings have changed since `if_match`.
        """
        changes = settings_changes(
            enabled=enabled,
            auto_store=auto_store,
            keep_turns=keep_turns,
            deny_categories=deny_categories,
            allow_categories=allow_categories,
            time_zone=time_zone,
        )
        return await change_settings(self._runtime.store, self.user_id, self.thread_id, changes, if_match)

    async def _run(self, workflow: str, **request: int | None) -> ProcessResult:
        rules = await self._rules()
        if not rules.derive:
            return ProcessResult(step=workflow, skipped_reason=rules.reason)
        return await self._runtime.run(workflow, user_id=self.user_id, thread_id=self.thread_id, **request)
