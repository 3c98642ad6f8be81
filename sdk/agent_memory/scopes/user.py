"""The scope of one user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack

from agent_memory.errors import InvalidInput
from agent_memory.forgetting.profiles import told_profile
from agent_memory.models import (
    Context,
    ContextFormat,
    Hit,
    MemoryConfig,
    ProcessResult,
    SearchFilters,
    Signals,
    Stats,
    ThreadInfo,
    UserProfile,
)
from agent_memory.processing.worker import Progress
from agent_memory.recall.context import DEFAULT_BUDGET, DEFAULT_LIMIT, ContextRequest
from agent_memory.rules.budgets import over_budget
from agent_memory.rules.switches import Asked
from agent_memory.scopes.audited import audited
from agent_memory.scopes.shared import check_material, check_recent, count_stats, find, tell, thread_infos
from agent_memory.scopes.thread import AsyncThreadScope
from agent_memory.scopes.user_controls import UserControls
from agent_memory.scopes.user_documents import UserDocuments
from agent_memory.scopes.user_memories import UserMemories
from agent_memory.settings import QueryStrategy
from agent_memory.steps.table import UserStep, check_option, check_step
from agent_memory.store.ids import check_id
from agent_memory.store.threads import newest_threads
from agent_memory.store.values import validated


class AsyncUserScope(UserMemories, UserDocuments, UserControls):
    """All that is kept of one user."""

    def thread(
        self,
        thread_id: str,
        *,
        agent_id: str | None = None,
        project_id: str | None = None,
        config: MemoryConfig | Mapping[str, Any] | None = None,
        resources: Sequence[str] | None = None,
    ) -> AsyncThreadScope:
        """A conversation of this user, new or old. Turns written through it carry the agent and the project.

        Args:
            thread_id: Which conversation.
            agent_id: The agent that talks.
            project_id: The project that it is about.
            config: What the requests made through this handle ask of memory; the user handle's, if not given.
            resources: What the agent's profile lets it use; without "memory" among them it has none.

        Raises:
            InvalidInput: if an id or the config cannot be used.
        """
        asked = Asked(
            self._asked.config if config is None else validated(MemoryConfig, dict(config), "config: "),
            None if resources is None else frozenset(resources),
        )
        return AsyncThreadScope(
            self._home, self.user_id, thread_id, agent_id=agent_id, project_id=project_id, asked=asked
        )

    @audited(changes=False)
    async def threads(self, *, before: datetime | None = None, limit: int | None = None) -> list[ThreadInfo]:
        """The user's conversations, the one that was written last first.

        Args:
            before: Only those last written ahead of this time: the `last_turn_at` of the page's end before, to page on.
            limit: How many; those of one time come together, so that a few more may come.

        Raises:
            InvalidInput: for a limit below 1.
        """
        found = await newest_threads(self._runtime.store, self.user_id, before=before, limit=limit)
        return await thread_infos(self._runtime, self.user_id, found)

    @audited(changes=False)
    async def search(self, query: str, *, limit: int | None = None, **filters: Unpack[SearchFilters]) -> list[Hit]:
        """The user's memories that matter for a query, best first, whichever thread they come from.

        Args:
            query: A question, or words.
            limit: How many at most, 1 to 100; `RecallSettings.limit` if not given.
            filters: What is searched: types, kinds, tags, times, agent, project, … (see `SearchFilters`).

        Raises:
            InvalidInput: if an argument cannot be used.
            StoreUnavailable: if no part of the search could be made.
        """
        return await find(self._runtime, (self.user_id,), query, limit, filters, self._asked)

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
        """What an agent should be told before it answers `query` in a conversation of its own. Never raises.

        The arguments are those of a thread's `context`.
        """
        request = ContextRequest(self.user_id, None, query, budget, limit, as_of, format, strategy, signals, history)
        return await tell(self._runtime, request, self._asked)

    @audited(changes=False)
    async def profile(self) -> UserProfile | None:
        """What is known of the user across threads, once there is a profile."""
        return await told_profile(self._runtime.store, self.user_id)

    @audited(changes=True)
    async def reprocess(
        self, *, prompt_version: str | None = None, thread_id: str | None = None, progress: Progress | None = None
    ) -> ProcessResult:
        """Derives memories anew from their turns where another prompt or model than today's made them.

        What the turns still give stays; what they give in other words replaces the old, which is kept in the history;
        what they give no more is withdrawn. What was remembered or corrected by hand, and what is pinned, is not
        touched. A call that was cut short is continued by the next. Costs a model call for each batch of turns, and
        none for turns whose memories are of today's prompt and model.

        Args:
            prompt_version: Only what was derived with this version of the prompt.
            thread_id: Only this conversation.
            progress: Called with the number of turns gone over, after each thread.

        Raises:
            ModelError: if the model stayed unavailable; what is done stays, the call may be repeated.
        """
        thread = None if thread_id is None else check_id(thread_id, "thread_id")
        rules = await self._rules()
        if not rules.derive:
            return ProcessResult(step="reprocess", skipped_reason=rules.reason)
        return await self._runtime.run(
            "reprocess", progress, user_id=self.user_id, thread_id=thread, prompt_version=prompt_version
        )

    @audited(changes=True)
    async def process(
        self,
        step: UserStep,
        *,
        n: int | None = None,
        recent_k: int | None = None,
        memory_ids: Sequence[str] | None = None,
        project_id: str | None = None,
    ) -> ProcessResult:
        """Runs a step of the user now.

        Args:
            step: `profile` brings the profile up to date. `reconcile` merges duplicates and settles contradictions
                among the `n` newest facts (50 if not given). `consolidate` tells many facts about one thing in
                fewer sentences. `synthesize` puts procedures together from how-tos of several conversations.
                `reflect` draws insights from it all. `prune` withdraws what nobody has used in a long time.
            n: How many facts a reconciliation looks at.
            recent_k: What is new is read by `profile` only if it is among so many newest memories of the user. The
                rest counts as covered from then on.
            memory_ids: The facts that `consolidate` makes one of: exactly these, 2 to 12.
            project_id: `reflect` looks at the memories of this project only.

        Raises:
            InvalidInput: for a step that there is not, an `n` below 2, a `recent_k` below 1, an argument of another
                step, or a memory that cannot be merged.
            NotFound: if one of `memory_ids` is no memory of the user.
            ModelError: if the model gave nothing usable; nothing is lost, the call may be repeated.
        """
        check_step("user", step)
        if n is not None:
            check_option(step, "n")
        if n is not None and not 2 <= n <= 500:
            raise InvalidInput(f"n must be from 2 to 500, not {n}")
        check_recent(step, recent_k)
        ids, project = check_material(step, memory_ids, project_id)
        rules = await self._rules()
        if not rules.derive:
            return ProcessResult(step=step, skipped_reason=rules.reason)
        request = {"n": n, "recent_k": recent_k, "memory_ids": ids, "project_id": project}
        return await self._runtime.run(step, user_id=self.user_id, **request)

    async def stats(self) -> Stats:
        """Counts of what is kept of the user."""
        rules = await self._rules()
        counted = await count_stats(self._runtime, (self.user_id,))
        return counted.model_copy(
            update={
                "memory_enabled": rules.recall,
                "tier": rules.tier_name,
                "max_memories": rules.tier.max_memories,
                "retrieval_limit": rules.tier.retrieval_limit,
                "paused": await over_budget(self._runtime.store, self._runtime.tools.policy, self.user_id),
            }
        )
