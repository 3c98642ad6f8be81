"""The base of all scopes: whose they are, what is allowed in them, recall and listings, and the record of each call."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar, Unpack

from agent_memory import telemetry
from agent_memory.errors import InvalidInput, StoreUnavailable
from agent_memory.models import (
    Context,
    ContextFormat,
    ContextSection,
    Filter,
    ForgetReceipt,
    Hit,
    Memory,
    Page,
    Provenance,
    Receipt,
    Reflection,
    SearchFilters,
    Signals,
    Turn,
)
from agent_memory.recall.context import DEFAULT_BUDGET, DEFAULT_LIMIT, ContextRequest
from agent_memory.recall.early import ContextOptions, stream
from agent_memory.recall.groups import check_groups, merged
from agent_memory.rules.switches import Asked, Rules, read_rules
from agent_memory.runtime import Home, Runtime
from agent_memory.scopes.shared import bounded, checked_filter, checked_time, find, memory_types, tell
from agent_memory.settings import QueryStrategy
from agent_memory.store.ids import group_owner
from agent_memory.store.memories import list_memories
from agent_memory.store.pages import before_of

P = ParamSpec("P")
R = TypeVar("R")


class _Scope(Protocol):
    user_id: str

    @property
    def thread_id(self) -> str | None: ...

    @property
    def _runtime(self) -> Runtime: ...


S = TypeVar("S", bound=_Scope)
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, R]]


def audited(
    *, changes: bool, operation: str | None = None, patient: bool = False
) -> Callable[[Method[S, P, R]], Method[S, P, R]]:
    """Records each successful call of a method: who made it, and the ids of what it returned or changed.

    With an `operation`, one of the GenAI conventions, the call is a span of that name. A read ends with
    `StoreUnavailable` after `RecallSettings.read_timeout`, unless it is `patient`: a busy store may ask for long waits.
    """

    def traced(method: Method[S, P, R], name: str) -> Method[S, P, R]:
        @functools.wraps(method)
        async def call(scope: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            store = scope._runtime.store
            with telemetry.operation(name, store.name, in_process=store.in_process, thread_id=scope.thread_id) as span:
                result = await method(scope, *args, **kwargs)
                telemetry.note_records(span, ids_of(result))
                return result

        return call

    def bounded(method: Method[S, P, R]) -> Method[S, P, R]:
        @functools.wraps(method)
        async def call(scope: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            limit = scope._runtime.searcher.settings.read_timeout
            try:
                async with asyncio.timeout(limit or None) as waiting:
                    return await method(scope, *args, **kwargs)
            except TimeoutError as error:
                if not waiting.expired():
                    raise
                message = f"the store did not answer within {limit:g} s (AGENT_MEMORY_RECALL_READ_TIMEOUT)"
                raise StoreUnavailable(message) from error

        return call

    def mark(given: Method[S, P, R]) -> Method[S, P, R]:
        untraced = given if changes or patient else bounded(given)
        method = untraced if operation is None else traced(untraced, operation)

        @functools.wraps(method)
        async def noted(scope: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
            auditor = scope._runtime.auditor
            if kwargs.get("everything") and not kwargs.get("dry_run"):
                # Nothing may be written about a user who is being erased.
                await auditor.drop(scope.user_id)
                return await method(scope, *args, **kwargs)
            result = await method(scope, *args, **kwargs)
            real = changes and not (isinstance(result, ForgetReceipt) and result.dry_run)
            auditor.note(scope.user_id, method.__name__, changes=real, thread_id=scope.thread_id, ids=ids_of(result))
            return result

        return noted

    return mark


def ids_of(result: object) -> list[str]:
    """The ids of the memories and turns in a method's result."""
    if isinstance(result, Memory | Turn):
        return [result.id]
    if isinstance(result, Hit | Provenance):
        return [result.memory.id]
    if isinstance(result, Receipt):
        return result.ids
    if isinstance(result, Context):
        return [used["id"] for used in result.used if "id" in used]
    if isinstance(result, Reflection):
        return list(dict.fromkeys(one.memory_id for sentence in result.sentences for one in sentence.evidence))
    if isinstance(result, ForgetReceipt):
        return [one for ids in result.deleted.values() for one in ids]
    if isinstance(result, list):
        return [one for item in result for one in ids_of(item)]
    return []


class Start(NamedTuple):
    """Where a page of a listing begins, at a time or a cursor, and its size."""

    before: datetime | None
    cursor: str | None
    limit: int | None

    @property
    def time(self) -> datetime | None:
        """The time before which the page begins.

        Raises:
            InvalidInput: if the time or the cursor cannot be read, or both are given.
        """
        if self.cursor is None:
            return checked_time(self.before, "before")
        if self.before is not None:
            raise InvalidInput("a page begins at `before` or at `cursor`, not at both")
        return before_of(self.cursor)


async def listed(
    runtime: Runtime,
    partition: tuple[str, ...],
    start: Start,
    types: Sequence[str] | None,
    as_of: datetime | None,
    filters: Filter | Mapping[str, Any] | None,
    *,
    include_superseded: bool,
) -> Page[Memory]:
    """The memories of a user or one of their threads, newest first, without chunks.

    Raises:
        InvalidInput: for an unknown type, an invalid filter, time or cursor, or a limit below 1.
    """
    memory_types(types)
    return await list_memories(
        runtime.store,
        *partition,
        types=types,
        include_superseded=include_superseded,
        as_of=checked_time(as_of, "as_of"),
        before=start.time,
        limit=start.limit,
        filters=checked_filter(filters),
    )


async def find_too(
    runtime: Runtime,
    partition: tuple[str, ...],
    query: str,
    limit: int | None,
    given: SearchFilters,
    asked: Asked,
    groups: Sequence[str],
) -> list[Hit]:
    """Searches a partition of a user, and the memory of these groups by their own rules.

    The user's switches and limits apply to everything, those of a group to its part.

    Raises:
        InvalidInput: if an argument is invalid.
        StoreUnavailable: if every part of one of the searches failed.
    """
    named = check_groups(groups)
    own = await find(runtime, partition, query, limit, given, asked)
    if not named:
        return own
    most = await bounded(runtime, partition, limit, asked)
    if not most:
        return []
    found = await asyncio.gather(*(find(runtime, (group_owner(group),), query, most, given, asked) for group in named))
    return merged(own, dict(zip(named, found, strict=True)))[:most]


class Scope:
    """A user, or one conversation of theirs: what the settings and the handle's own allow there."""

    user_id: str
    thread_id: str | None = None
    """None for a user."""
    project_id: str | None = None
    member: str | None = None
    """Of a group: who acts through this handle."""
    _home: Home
    _asked: Asked

    @audited(changes=False, operation="search_memory")
    async def search(
        self, query: str, *, limit: int | None = None, groups: Sequence[str] = (), **filters: Unpack[SearchFilters]
    ) -> list[Hit]:
        """Finds memories for a query, best first: the user's, whichever thread they come from, or those of the thread.

        Args:
            query: A question, or words.
            limit: The most hits, 1 to 100; `RecallSettings.limit` by default. A tier may allow fewer: see `stats`.
            groups: Groups whose memory is searched too, at most 10. By naming them, you vouch that the user is a
                member. Each hit names its `group`.
            filters: What to search: types, kinds, tags, times, agent, project, … (see `SearchFilters`), and `filters`:
                conditions on any field and on metadata, with `and`, `or` and `not` (see `Filter`).

        Raises:
            InvalidInput: if an argument is invalid.
            StoreUnavailable: if every part of the search failed, or all of it took longer than
                `RecallSettings.read_timeout`.
        """
        return await find_too(self._runtime, self._where, query, limit, filters, self._asked, groups)

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
        """The user's memories, or those that come from the thread, newest first; by default those that are current.

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
        start, options = Start(before, cursor, limit), (types, as_of, filters)
        return await listed(self._runtime, self._where, start, *options, include_superseded=include_superseded)

    @audited(changes=False, operation="search_memory", patient=True)
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
        filters: Filter | Mapping[str, Any] | None = None,
        groups: Sequence[str] = (),
        agent_id: str | None = None,
    ) -> Context:
        """What an agent should know before it answers `query`, within `budget` tokens. Never raises.

        Memories come from all threads of the user. The context of a thread also has its summary and its last turns.

        Args:
            query: What the user asks. If it is the thread's last turn, the context leaves that turn out.
            budget: The most tokens of everything in `messages`.
            limit: The most memories.
            as_of: Shows what was true at this time, instead of now.
            format: How the text looks: `sections`, `bullets` or `xml`.
            strategy: How to complete a question that is not self-contained: `as_is` (not at all), `prepend` (with key
                terms of the conversation), `rewrite` or `hyde` (by a model); by default as set in `RecallSettings`.
            signals: What the application knows about the question. Questions for general facts or tools are not
                searched.
            history: The messages before the question, to complete it from; the thread's own turns by default.
            filters: Shows only memories that match, and leaves out the profile, hints and other conversations.
            groups: Groups whose memories are shown too, at most 10. By naming them, you vouch that the user is a
                member.
            agent_id: Shows only what comes from conversations with this agent, as a filter does. The agent of the
                handle does not narrow the context.
        """
        request = ContextRequest(
            self.user_id,
            self.thread_id,
            query,
            budget,
            limit,
            as_of,
            format,
            strategy,
            signals,
            history,
            self.project_id,
            filters,
            groups,
            agent_id,
        )
        return await tell(self._runtime, request, self._asked)

    async def context_stream(self, query: str, **options: Unpack[ContextOptions]) -> AsyncIterator[ContextSection]:
        """Yields the sections of a context as soon as they are known, and then the whole context.

        State and summary of the conversation, static knowledge and the last turns arrive before the search ends; any of
        them may be missing. The last section is named `context` and holds what `context` returns for the same
        arguments, within the same deadline and budget. It replaces the early sections and may shorten them. While the
        memory is open, this raises only what `context` raises.

        Args:
            query: What the user asks.
            options: The same as those of `context`.
        """
        async for section in stream(lambda: self.context(query, **options)):
            yield section

    @property
    def _runtime(self) -> Runtime:
        return self._home.runtime

    @property
    def _where(self) -> tuple[str, ...]:
        return (self.user_id,) if self.thread_id is None else (self.user_id, self.thread_id)

    async def _rules(self) -> Rules:
        store, policy = self._runtime.store, self._runtime.tools.policy
        return await read_rules(store, policy, self.user_id, self.thread_id, self._asked)
