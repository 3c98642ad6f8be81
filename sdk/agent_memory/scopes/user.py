"""The scope of one user, and that of a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack

from agent_memory.errors import InvalidInput
from agent_memory.forgetting.profiles import told_profile
from agent_memory.models import (
    Contributions,
    Memory,
    MemoryConfig,
    ProcessResult,
    Reflection,
    SearchFilters,
    Stats,
    ThreadInfo,
    Turn,
    UserProfile,
)
from agent_memory.processing.worker import Progress
from agent_memory.recall.context import DEFAULT_LIMIT
from agent_memory.recall.reflection import reflect_on
from agent_memory.rules.budgets import budget_of, over_budget
from agent_memory.rules.switches import Asked
from agent_memory.runtime import Home
from agent_memory.scopes.scope import audited, find_too
from agent_memory.scopes.shared import check_material, check_recent, count_stats, thread_infos
from agent_memory.scopes.thread import AsyncThreadScope
from agent_memory.scopes.user_controls import UserControls
from agent_memory.scopes.user_memories import UserMemories
from agent_memory.steps.table import UserStep, check_option, check_step
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES, TURNS
from agent_memory.store.documents import from_document, validated
from agent_memory.store.ids import check_id, group_owner
from agent_memory.store.threads import newest_threads
from agent_memory.store.turns import in_order


class AsyncUserScope(UserMemories, UserControls):
    """Everything that is kept about one user."""

    def __init__(self, home: Home, user_id: str, asked: Asked | None = None) -> None:
        self._home = home
        self._asked = asked or Asked()
        self.user_id = check_id(user_id, "user_id")

    @property
    def home(self) -> object:
        """The open memory that this handle comes from; handles of the same memory share this object."""
        return self._home

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
            thread_id: The id of the conversation.
            agent_id: The agent that talks.
            project_id: The project that the conversation is about.
            config: Restrictions on the requests made through this handle; by default those of the user's handle.
            resources: The resources that the agent's profile allows. Without "memory" among them, memory is off.

        Raises:
            InvalidInput: if an id or the config is invalid.
        """
        asked = Asked(
            self._asked.config if config is None else validated(MemoryConfig, dict(config), "config: "),
            None if resources is None else frozenset(resources),
        )
        return AsyncThreadScope(
            self._home,
            self.user_id,
            thread_id,
            agent_id=agent_id,
            project_id=project_id,
            asked=asked,
            member=self.member,
        )

    @audited(changes=False)
    async def threads(self, *, before: datetime | None = None, limit: int | None = None) -> list[ThreadInfo]:
        """The user's conversations, the most recently written first.

        Args:
            before: Only conversations last written before this time. To page, give the last `last_turn_at` of a page.
            limit: The page size. Conversations with the same time come together, so a page may hold a few more.

        Raises:
            InvalidInput: for a limit below 1.
        """
        found = await newest_threads(self._runtime.store, self.user_id, before=before, limit=limit)
        return await thread_infos(self._runtime, self.user_id, found)

    @audited(changes=False, patient=True)
    async def reflect(
        self, question: str, *, limit: int = DEFAULT_LIMIT, groups: Sequence[str] = (), **filters: Unpack[SearchFilters]
    ) -> Reflection:
        """Answers a question about the user from their memories and talk, and says what each sentence rests on.

        The chat model (role `reflection`) reads the memories nearest to the question. A sentence that its memories do
        not support is left out, and `rejected` says why. If they do not answer the question, there is no sentence.
        Without a model, the answer is the memories that bear on the question, word for word. Costs one model call,
        which counts towards the user's budget. Nothing is stored; `process("reflect")` keeps insights.

        Args:
            question: A question about the user.
            limit: How many memories are read, 1 to 100. A tier may allow fewer.
            groups: Groups whose memory is read too, at most 10. By naming them, you say that the user is a member.
            filters: What to read, as in `search`. Without a `threshold`, the nearest memories are read, however near.

        Raises:
            InvalidInput: if an argument is invalid.
            ModelError: if the model gave nothing usable; the call may be repeated if it is `retryable`.
            QuotaExceeded: if the user's budget of model calls or tokens is spent for today.
            StoreUnavailable: if every part of the search failed, or all of it took longer than
                `RecallSettings.read_timeout`.
        """
        if not isinstance(question, str) or not question.strip():
            raise InvalidInput(f"a reflection needs a question, a text, not {question!r:.60}")
        rules = await self._rules()
        if not rules.recall:
            return Reflection(question=question, skipped_reason=rules.reason)
        if filters.get("threshold") is None:
            filters["threshold"] = -1.0
        hits = await find_too(self._runtime, (self.user_id,), question, limit, filters, self._asked, groups)
        return await reflect_on(self._runtime.tools, self.user_id, question, hits)

    @audited(changes=False)
    async def profile(self) -> UserProfile | None:
        """What is known about the user across threads; None until there is a profile.

        Leaves out what comes only from threads that are switched off.
        """
        return await told_profile(self._runtime.store, self.user_id, (await self._rules()).threads_off)

    @audited(changes=True)
    async def reprocess(
        self, *, prompt_version: str | None = None, thread_id: str | None = None, progress: Progress | None = None
    ) -> ProcessResult:
        """Derives memories again from their turns, if another prompt or model than the current one made them.

        A memory that is derived again stays. One derived in other words replaces the old one, which stays in the
        history. One no longer derived is withdrawn. Memories that are pinned, or were written or corrected by hand,
        stay as they are. A call continues an interrupted one. Costs a model call for each batch of turns, and none for
        turns whose memories are up to date.

        Args:
            prompt_version: Only what was derived with this version of the prompt.
            thread_id: Only this conversation.
            progress: Called after each thread with the number of turns done so far.

        Raises:
            ModelError: if the model stayed unavailable; finished work stays, the call may be repeated.
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
            step: `profile` updates the profile. `reconcile` merges duplicates and resolves contradictions among the
                `n` newest facts (50 by default). `consolidate` merges many facts about one thing. `synthesize` combines
                how-tos of several conversations into procedures. `reflect` draws insights from all memories. `prune`
                withdraws what nobody has used for a long time.
            n: How many facts `reconcile` compares.
            recent_k: `profile` reads only this many of the user's newest memories. Older new ones count as covered
                without being read.
            memory_ids: The 2 to 12 facts that `consolidate` merges into one.
            project_id: `reflect` reads only the memories of this project.

        Raises:
            InvalidInput: for an unknown step, an `n` below 2, a `recent_k` below 1, an option of another step, or a
                memory that cannot be merged.
            NotFound: if one of `memory_ids` is not a memory of the user.
            ModelError: if the model returned nothing usable; nothing is lost, the call may be repeated.
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
        """Counts of what is kept about the user."""
        rules = await self._rules()
        counted = await count_stats(self._runtime, (self.user_id,))
        return counted.model_copy(
            update={
                "memory_enabled": rules.recall,
                "tier": rules.tier_name,
                "max_memories": rules.tier.max_memories,
                "retrieval_limit": rules.tier.retrieval_limit,
                "budget": await budget_of(self._runtime.store, self._runtime.tools.policy, self.user_id),
                "paused": await over_budget(self._runtime.store, self._runtime.tools.policy, self.user_id),
            }
        )


class AsyncGroupScope(AsyncUserScope):
    """Everything that a group shares: the methods of a user's scope, with the group's own memory and settings.

    What a member writes through the handle carries the member's id (`contributor_id`). It belongs to the group: it
    stays when the member is forgotten, and `contributions` finds it.
    """

    def __init__(self, home: Home, group_id: str, asked: Asked | None = None, member: str | None = None) -> None:
        self._home = home
        self._asked = asked or Asked()
        self.user_id = group_owner(group_id)
        self.group_id = group_id
        self.member = None if member is None else check_id(member, "member")

    @audited(changes=False)
    async def contributions(self, member: str) -> Contributions:
        """What a member has written here, and the memories derived only from it, oldest first.

        Raises:
            InvalidInput: if the id is invalid.
        """
        store, who = self._runtime.store, check_id(member, "member")
        turns = await store.query(TURNS, queries.TURNS_OF_CONTRIBUTOR, (self.user_id,), contributor=who)
        rows = await store.query(MEMORIES, queries.MEMORIES_OF_CONTRIBUTOR, (self.user_id,), contributor=who)
        memories = [from_document(Memory, row) for row in rows]
        return Contributions(
            turns=in_order([from_document(Turn, row) for row in turns]),
            memories=sorted(memories, key=lambda memory: (memory.created_at, memory.id)),
        )
