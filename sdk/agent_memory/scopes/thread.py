"""The scope of one conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from agent_memory.forgetting.deletion import delete_chunks
from agent_memory.forgetting.pop import take_back
from agent_memory.forgetting.tombstones import sent_again
from agent_memory.models import (
    ForgetReceipt,
    LiveView,
    Part,
    ProcessResult,
    Receipt,
    ScopeSettings,
    Stats,
    ThreadState,
    ThreadSummary,
    Turn,
    TurnInput,
    Usage,
)
from agent_memory.rules.switches import Asked, known_rules
from agent_memory.runtime import Home
from agent_memory.scopes.forgetting import ForgetRequest, delete_thread, forget, make_place
from agent_memory.scopes.scope import Scope, audited
from agent_memory.scopes.shared import check_recent, count_stats, settings_changes, turn_inputs
from agent_memory.steps import live_view
from agent_memory.steps.table import ThreadStep, check_option, check_step
from agent_memory.store.calls import metered
from agent_memory.store.ids import check_id, check_owner
from agent_memory.store.scope_documents import change_settings, read_document, scope_settings
from agent_memory.store.threads import read_state, read_summary
from agent_memory.store.turns import last_turns, live_turns, make_turns, read_window, write_turns


class AsyncThreadScope(Scope):
    """One conversation of one user."""

    thread_id: str

    def __init__(
        self,
        home: Home,
        user_id: str,
        thread_id: str,
        *,
        agent_id: str | None = None,
        project_id: str | None = None,
        asked: Asked | None = None,
        member: str | None = None,
    ) -> None:
        self._home = home
        self._asked = asked or Asked()
        self.member = member
        self.user_id = check_owner(user_id)
        self.thread_id = check_id(thread_id, "thread_id")
        self.agent_id = None if agent_id is None else check_id(agent_id, "agent_id")
        self.project_id = None if project_id is None else check_id(project_id, "project_id")

    async def add(
        self,
        role: str,
        content: str = "",
        *,
        parts: Sequence[Part | Mapping[str, Any]] | None = None,
        id: str | None = None,
        name: str | None = None,
        created_at: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
        run_id: str | None = None,
    ) -> Receipt:
        """Stores one turn. Processing follows in the background.

        Args:
            role: user, assistant (or agent), tool or system.
            content: What was said; by default, the text of the parts.
            parts: Text, image and file references, tool calls and results, kept as they are (see `Part`). Nothing opens
                their URLs. The content has a mark, such as the name, for each part that is not text.
            id: Makes the write repeatable: the same id with the same content is stored once.
            name: The speaker's name, if the transcript has one.
            created_at: When it was said; now by default.
            metadata: Anything that belongs to the turn (tool_name, tool_call_id, …); must be JSON.
            run_id: The agent run that the turn belongs to.

        Raises:
            InvalidInput: if a value is invalid.
            Conflict: if a turn with this id has other content.
            StoreUnavailable: if the store did not answer; the call may be repeated if it gave an id.
        """
        turn = {
            "role": role,
            "content": content,
            "parts": None if parts is None else list(parts),
            "id": id,
            "name": name,
            "created_at": created_at,
            "metadata": {} if metadata is None else metadata,
            "run_id": run_id,
        }
        return await self.add_many([turn])

    @audited(changes=True, operation="upsert_memory")
    async def add_many(self, turns: Sequence[TurnInput | Mapping[str, Any]]) -> Receipt:
        """Stores any number of turns in their order. Repeating the call with the same ids adds nothing.

        Raises:
            InvalidInput: if a value is invalid; nothing was written.
            Conflict: if a turn with the same id has other content; the turns before it may be written.
            StoreUnavailable: if the store did not answer; the call may be repeated if the turns had ids.
        """
        inputs = turn_inputs(turns, self.agent_id, self.project_id)
        store, policy = self._runtime.store, self._runtime.tools.policy
        rules = await known_rules(store, policy, self.user_id, self.thread_id, self._asked)
        kept = make_turns(inputs, self.user_id, self.thread_id, off_record=not rules.derive, contributor_id=self.member)
        if not rules.keep_turns:
            return Receipt(ids=[], created=0, skipped_reason="the settings say not to keep the turns")
        timed = {turn.id for turn, given in zip(kept, inputs, strict=True) if given.created_at is not None}
        known = {turn.id for turn, given in zip(kept, inputs, strict=True) if given.id is not None} | timed
        with metered() as charges:
            # A turn with its own id or time may be older than a deletion. Any other is said now.
            forgotten = await sent_again(store, [turn for turn in kept if turn.id in known])
            written = [turn for turn in kept if turn.id not in forgotten]
            created = await write_turns(store, written, timed)
        self._runtime.written()
        usage = Usage(request_units=sum(charges))
        return Receipt(ids=[turn.id for turn in kept], created=created, forgotten=sorted(forgotten), usage=usage)

    @audited(changes=False)
    async def turns(self, last: int | None = None, *, before: datetime | None = None) -> list[Turn]:
        """The turns of the thread (or the `last` ones), oldest first, whether or not they are in the live view.

        Args:
            last: How many. Turns with the same time come together, so there may be a few more.
            before: Only turns before this time. To page backwards, give the time of the first turn of a page.

        Raises:
            InvalidInput: if `last` is below 1.
        """
        return await last_turns(self._runtime.store, self.user_id, self.thread_id, last, before)

    @audited(changes=True)
    async def pop(self) -> Turn | None:
        """Removes the newest turn, as if it had not been said, if nothing was derived from it.

        The turn leaves the conversation and the index. No memory is derived from it, even if a step reads it at this
        moment. Its id cannot be used again: a repeated `add` with it is ignored and listed in the receipt's
        `forgotten`.

        Returns:
            The turn, or None if the live view of the conversation is empty.

        Raises:
            Conflict: if a summary or a memory uses the turn; forget it instead.
            StoreUnavailable: if the store did not answer, or others keep writing. The turn may already be removed:
                check `turns(last=1)` before you repeat the call.
        """
        return await take_back(self._runtime.store, self._runtime.counters, self.user_id, self.thread_id)

    @audited(changes=False)
    async def view(self) -> LiveView:
        """The live view of the conversation: the turns that were not cleared or retired."""
        store = self._runtime.store
        window = await read_window(store, self.user_id, self.thread_id)
        live = await live_turns(store, self.user_id, self.thread_id, window)
        return LiveView(turns=[one.turn for one in live], retired=window.retired)

    @audited(changes=True)
    async def clear(self) -> int:
        """Empties the live view of the conversation; returns how many turns were in it.

        The turns and everything learned from them stay. The thread's summary and state are deleted.
        """
        return await live_view.clear(self._runtime.store, self.user_id, self.thread_id)

    @audited(changes=True)
    async def retire(self, through: str, *, covered_by: Sequence[ThreadStep] = ()) -> int:
        """Removes the oldest turns from the live view, up to and including `through`; returns how many left.

        The turns stay on record. System turns stay in the view. With `covered_by`, a turn leaves only once all these
        steps have covered it or given up on it. So no turn leaves before its replacement is stored.

        Args:
            through: The id of a turn in the live view; another id changes nothing.
            covered_by: Steps of this thread (see `process`).

        Raises:
            InvalidInput: for an unknown step.
            StoreUnavailable: if others keep changing the view; the call may be repeated.
        """
        check_id(through, "a turn's id")
        for step in covered_by:
            check_step("thread", step)
        return await live_view.retire(self._runtime.store, self.user_id, self.thread_id, through, covered_by)

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
