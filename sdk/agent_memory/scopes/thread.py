"""The scope of one conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack

from agent_memory.forgetting.deletion import delete_chunks
from agent_memory.forgetting.tombstones import sent_again
from agent_memory.models import (
    Context,
    ContextFormat,
    ForgetReceipt,
    Hit,
    LiveView,
    Memory,
    ProcessResult,
    Receipt,
    ScopeSettings,
    SearchFilters,
    Signals,
    Stats,
    ThreadState,
    ThreadSummary,
    Turn,
    TurnInput,
    Usage,
)
from agent_memory.recall.context import DEFAULT_BUDGET, DEFAULT_LIMIT, ContextRequest
from agent_memory.rules.switches import Asked, Rules, read_rules
from agent_memory.runtime import Home, Runtime
from agent_memory.scopes.audited import audited
from agent_memory.scopes.forgetting import ForgetRequest, delete_thread, forget, make_place
from agent_memory.scopes.shared import check_recent, count_stats, find, listed, settings_changes, tell, turn_inputs
from agent_memory.settings import QueryStrategy
from agent_memory.steps import live_view
from agent_memory.steps.table import ThreadStep, check_option, check_step
from agent_memory.store.calls import metered
from agent_memory.store.ids import check_id
from agent_memory.store.preferences import change_settings, read_document, scope_settings
from agent_memory.store.summaries import read_state, read_summary
from agent_memory.store.turns import last_turns, make_turns, write_turns
from agent_memory.store.windows import live_turns, read_window
from agent_memory.telemetry import operation


class AsyncThreadScope:
    """One conversation of one user."""

    def __init__(
        self,
        home: Home,
        user_id: str,
        thread_id: str,
        *,
        agent_id: str | None = None,
        project_id: str | None = None,
        asked: Asked | None = None,
    ) -> None:
        self._home = home
        self._asked = asked or Asked()
        self.user_id = check_id(user_id, "user_id")
        self.thread_id = check_id(thread_id, "thread_id")
        self.agent_id = None if agent_id is None else check_id(agent_id, "agent_id")
        self.project_id = None if project_id is None else check_id(project_id, "project_id")

    async def add(
        self,
        role: str,
        content: str,
        *,
        id: str | None = None,
        name: str | None = None,
        created_at: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
        run_id: str | None = None,
    ) -> Receipt:
        """Keeps one turn. Processing follows in the background.

        Args:
            role: user, assistant (or agent), tool or system.
            content: What was said.
            id: Makes the write repeatable: the same id with the same content is kept once.
            name: Who speaks, if the transcript names them.
            created_at: When it was said; now, if not given.
            metadata: Anything that belongs to the turn (tool_name, tool_call_id, …); must be JSON.
            run_id: The agent run that it belongs to.

        Raises:
            InvalidInput: if a value cannot be used.
            Conflict: if the id is taken by another content.
            StoreUnavailable: if the store did not answer; the call may be repeated if it gave an id.
        """
        turn = {
            "role": role,
            "content": content,
            "id": id,
            "name": name,
            "created_at": created_at,
            "metadata": {} if metadata is None else metadata,
            "run_id": run_id,
        }
        return await self.add_many([turn])

    @audited(changes=True)
    async def add_many(self, turns: Sequence[TurnInput | Mapping[str, Any]]) -> Receipt:
        """Keeps turns in their order, any number of them. Repeating the call with the same ids adds nothing.

        Raises:
            InvalidInput: if a value cannot be used; nothing was written.
            Conflict: if an id is taken by another content; the turns ahead of it may be written.
            StoreUnavailable: if the store did not answer; the call may be repeated if the turns had ids.
        """
        inputs = turn_inputs(turns, self.agent_id, self.project_id)
        rules = await self._rules()
        kept = make_turns(inputs, self.user_id, self.thread_id, off_record=not rules.derive)
        if not rules.keep_turns:
            return Receipt(ids=[], created=0, skipped_reason="the settings say that the conversation is not kept")
        timed = {turn.id for turn, given in zip(kept, inputs, strict=True) if given.created_at is not None}
        known = {turn.id for turn, given in zip(kept, inputs, strict=True) if given.id is not None} | timed
        with operation("create_memory", self._runtime.store.name), metered() as charges:
            # What brings its own id or time may be older than a forgetting; what does not is said now.
            forgotten = await sent_again(self._runtime.store, [turn for turn in kept if turn.id in known])
            written = [turn for turn in kept if turn.id not in forgotten]
            created = await write_turns(self._runtime.store, written, timed)
        self._runtime.written()
        usage = Usage(request_units=sum(charges))
        return Receipt(ids=[turn.id for turn in kept], created=created, forgotten=sorted(forgotten), usage=usage)

    @audited(changes=False)
    async def turns(self, last: int | None = None, *, before: datetime | None = None) -> list[Turn]:
        """The turns of the thread (or the `last` ones), oldest first: all that were ever written.

        Args:
            last: How many; those of one time come together, so that a few more may come.
            before: Only turns ahead of this time: the first one of the page before, to page backwards.

        Raises:
            InvalidInput: if `last` is below 1.
        """
        return await last_turns(self._runtime.store, self.user_id, self.thread_id, last, before)

    @audited(changes=False)
    async def view(self) -> LiveView:
        """The live view of the conversation: the turns that were neither cleared nor retired."""
        store = self._runtime.store
        window = await read_window(store, self.user_id, self.thread_id)
        live = await live_turns(store, self.user_id, self.thread_id, window)
        return LiveView(turns=[one.turn for one in live], retired=window.retired)

    @audited(changes=True)
    async def clear(self) -> int:
        """Empties the live view of the conversation; how many turns were in it.

        The turns stay on record and what was learned from them stays known. The thread's summary and state go.
        """
        return await live_view.clear(self._runtime.store, self.user_id, self.thread_id)

    @audited(changes=True)
    async def retire(self, through: str, *, covered_by: Sequence[ThreadStep] = ()) -> int:
        """Takes turns out of the live view, the oldest first, up to and with `through`; how many went.

        They stay on record. The system's turns stay in view. With `covered_by`, no turn goes that one of these steps
        has not covered yet, or gave up on: so nothing leaves before what replaces it is durable.

        Args:
            through: The id of a turn in the live view; another changes nothing.
            covered_by: Steps of this thread (see `process`).

        Raises:
            InvalidInput: for a step that there is not.
            StoreUnavailable: if others keep moving the window; the call may be repeated.
        """
        check_id(through, "a turn's id")
        for step in covered_by:
            check_step("thread", step)
        return await live_view.retire(self._runtime.store, self.user_id, self.thread_id, through, covered_by)

    @audited(changes=False)
    async def context(
        self,
        query: str,
        *,
        budget: int = DEFAULT_BUDGET,
        limit: int = DEFAULT_LIMIT,
        as_of: datetime | None = None,
        format: ContextFormat = "sections",
        strategy: QueryStrategy | None = None,
        signals: Signals | None = None,
        history: Sequence[Mapping[str, Any]] | None = None,
    ) -> Context:
        """What an agent should be told before it answers `query`, within `budget` tokens. Never raises.

        Memories come from all threads of the user; the summary and the last turns are this thread's.

        Args:
            query: What the user asks. If it is the thread's last turn already, that turn is not repeated.
            budget: Tokens at most, of everything in `messages`.
            limit: Memories at most.
            as_of: What was true then, instead of now.
            format: How the text looks: `sections`, `bullets` or `xml`.
            strategy: What is done about a question that is not self-contained: `as_is`, `prepend` (key terms of the
                talk), `rewrite` or `hyde` (by the model); the setting's, if not given.
            signals: What the application knows of the question; a general fact or a tool's question is not searched.
            history: Messages before the question, to complete it by; the thread's own turns, if not given.
        """
        where = (self.user_id, self.thread_id)
        request = ContextRequest(
            *where, query, budget, limit, as_of, format, strategy, signals, history, project_id=self.project_id
        )
        return await tell(self._runtime, request, self._asked)

    @audited(changes=False)
    async def search(self, query: str, *, limit: int | None = None, **filters: Unpack[SearchFilters]) -> list[Hit]:
        """The memories of this thread that matter for a query, best first; `filters` as in `UserScope.search`.

        Raises:
            InvalidInput: if an argument cannot be used.
            StoreUnavailable: if no part of the search could be made.
        """
        return await find(self._runtime, (self.user_id, self.thread_id), query, limit, filters, self._asked)

    @audited(changes=False)
    async def memories(
        self,
        *,
        types: Sequence[str] | None = None,
        include_superseded: bool = False,
        as_of: datetime | None = None,
        before: datetime | None = None,
        limit: int | None = None,
    ) -> list[Memory]:
        """The memories that come from this thread, newest first.

        Args:
            types: Only these (fact, episodic, procedural, reflection, or another system's names for them).
            include_superseded: Also what was replaced since.
            as_of: What was true then, instead of now.
            before: Only memories of before this time: the last one of the page before, to page on.
            limit: How many; those of one time come together, so that a few more may come.

        Raises:
            InvalidInput: for a type that there is not, a time that cannot be read, or a limit below 1.
        """
        where = (self.user_id, self.thread_id)
        return await listed(
            self._runtime, where, types, as_of, before, include_superseded=include_superseded, limit=limit
        )

    @audited(changes=False)
    async def summary(self) -> ThreadSummary | None:
        """The summary of the thread, once there is one."""
        return await read_summary(self._runtime.store, self.user_id, self.thread_id)

    @audited(changes=False)
    async def state(self) -> ThreadState | None:
        """Where the thread stands: topic, settled values, decisions, what is open. None when it has expired."""
        return await read_state(self._runtime.store, self.user_id, self.thread_id)

    async def stats(self) -> Stats:
        """Counts of what this thread holds."""
        return await count_stats(self._runtime, (self.user_id, self.thread_id))

    @audited(changes=True)
    async def forget(
        self,
        query: str | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        dry_run: bool = False,
    ) -> ForgetReceipt:
        """Forgets this conversation (or what of it is about a topic, or of a time range) with all that rests on it.

        See `forget` of the user. Other conversations stay as they are.

        Raises:
            InvalidInput: if an argument cannot be used.
            ModelError: if texts must be compared and the embedding model is unavailable; nothing was deleted.
        """
        place = make_place(self.thread_id, None, since, until)
        return await forget(self._runtime, ForgetRequest(self.user_id, None, query, place), dry_run=dry_run)

    @audited(changes=True)
    async def delete(self, include_memories: bool = False) -> ForgetReceipt:
        """Deletes the conversation: its turns, what is indexed of them, its summary and its state.

        What was learned from it stays, unless `include_memories`: then the conversation is forgotten.
        """
        if include_memories:
            return await self.forget()
        return await delete_thread(self._runtime, self.user_id, self.thread_id)

    @audited(changes=True)
    async def delete_index(self) -> int:
        """Deletes what is indexed of the conversation's raw talk; how many entries that were.

        The turns stay, and so do facts, summary and state. The talk is no longer found by `search`; turns that are
        written later are indexed as ever.

        Raises:
            StoreUnavailable: if it could not be done; the call may be repeated.
        """
        return await delete_chunks(self._runtime.store, self.user_id, self.thread_id)

    @audited(changes=True)
    async def process(self, step: ThreadStep, *, retired: bool = False, recent_k: int | None = None) -> ProcessResult:
        """Runs a step now for all turns that it has not covered.

        `index` makes the raw talk searchable, `extract` does that and derives memories, `summarize` keeps summary and
        state, `archive` files an account of the talk where other conversations find it.

        Args:
            step: Which step.
            retired: Archives only what has left the live view.
            recent_k: How many of the turns that are new `extract` or `summarize` reads: those that were written last.
                The older ones count as covered from then on, without ever having been read by the model.

        Raises:
            InvalidInput: for a step that there is not, for another one than `archive` with `retired`, or than
                `extract` and `summarize` with `recent_k`, or for a `recent_k` below 1.
            ModelError: if the model stayed unavailable; nothing is lost, the call may be repeated.
        """
        check_step("thread", step)
        check_recent(step, recent_k)
        if retired:
            check_option(step, "retired")
        return await self._run(step, recent_k=recent_k, retired=retired or None)

    @audited(changes=True)
    async def end(self) -> ProcessResult:
        """Says that the conversation is over: all its turns are processed now, however few they are, and archived."""
        return await self._run("settle", **self._runtime.settling)

    async def settings(self) -> ScopeSettings:
        """What is switched on and off for this thread; the user's own settings hold beside them."""
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
        if_match: str | None = None,
    ) -> ScopeSettings:
        """Changes what is given and leaves the rest. What is already remembered stays, and can be forgotten.

        Args:
            enabled: Off: nothing is remembered of this thread, and nothing is recalled in it.
            auto_store: Off: nothing is derived from what is said from now on; recall goes on.
            keep_turns: Off: not even the conversation is kept.
            deny_categories: What is never remembered ("health"); all of them, not only the new ones.
            allow_categories: If any, all that is remembered.
            if_match: Only if the settings still have this `etag`.

        Raises:
            InvalidInput: if a value cannot be used.
            Conflict: if the settings have changed since `if_match`.
        """
        changes = settings_changes(
            enabled=enabled,
            auto_store=auto_store,
            keep_turns=keep_turns,
            deny_categories=deny_categories,
            allow_categories=allow_categories,
        )
        return await change_settings(self._runtime.store, self.user_id, self.thread_id, changes, if_match)

    @property
    def _runtime(self) -> Runtime:
        return self._home.runtime

    async def _rules(self) -> Rules:
        runtime = self._runtime
        return await read_rules(runtime.store, runtime.tools.policy, self.user_id, self.thread_id, self._asked)

    async def _run(self, workflow: str, **request: int | None) -> ProcessResult:
        rules = await self._rules()
        if not rules.derive:
            return ProcessResult(step=workflow, skipped_reason=rules.reason)
        return await self._runtime.run(workflow, user_id=self.user_id, thread_id=self.thread_id, **request)
