"""The base of all scopes: whose they are, what is allowed in them, and recall."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack

from agent_memory.models import Context, ContextFormat, ContextSection, Filter, Hit, SearchFilters, Signals
from agent_memory.recall.context import DEFAULT_BUDGET, DEFAULT_LIMIT, ContextRequest
from agent_memory.recall.early import ContextOptions, stream
from agent_memory.rules.switches import Asked, Rules, read_rules
from agent_memory.runtime import Home, Runtime
from agent_memory.scopes.audited import audited
from agent_memory.scopes.listing import find_too
from agent_memory.scopes.shared import tell
from agent_memory.settings import QueryStrategy


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
        where = (self.user_id,) if self.thread_id is None else (self.user_id, self.thread_id)
        return await find_too(self._runtime, where, query, limit, filters, self._asked, groups)

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

    async def _rules(self) -> Rules:
        store, policy = self._runtime.store, self._runtime.tools.policy
        return await read_rules(store, policy, self.user_id, self.thread_id, self._asked)
