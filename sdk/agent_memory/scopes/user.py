"""The scope of one user."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Unpack, get_args

from agent_memory.errors import Conflict, InvalidInput, MemoryDisabled, NotFound
from agent_memory.models import (
    AuditEntry,
    Context,
    ContextFormat,
    ExportPart,
    FactKind,
    ForgetReceipt,
    Hit,
    ImportReceipt,
    Memory,
    MemoryConfig,
    ProcessResult,
    Provenance,
    ScopeSettings,
    SearchFilters,
    Signals,
    Stats,
    ThreadInfo,
    UserProfile,
    content_hash,
    now,
)
from agent_memory.policy.budgets import over_budget
from agent_memory.policy.quotas import require_room
from agent_memory.policy.retention import with_retention
from agent_memory.policy.review import approve, check_waits, waiting
from agent_memory.policy.screen import FORBIDDEN, screen_memories, screen_memory
from agent_memory.policy.switches import Asked, Rules, read_rules
from agent_memory.processing.provenance import why
from agent_memory.processing.worker import Progress
from agent_memory.recall.context import DEFAULT_BUDGET, DEFAULT_LIMIT, ContextRequest
from agent_memory.runtime import Runtime
from agent_memory.scopes.audited import audited
from agent_memory.scopes.forgetting import ForgetRequest, erase, forget, make_place
from agent_memory.scopes.shared import checked_types, count_stats, find, settings_changes, tell, validated
from agent_memory.scopes.thread import AsyncThreadScope
from agent_memory.settings import QueryStrategy
from agent_memory.store import queries
from agent_memory.store.commits import create
from agent_memory.store.containers import MEMORIES, TURNS
from agent_memory.store.documents import to_document
from agent_memory.store.ids import NOBODY, USER_THREAD, check_id, new_turn_id
from agent_memory.store.memories import active_by_hash, get_memory, history, list_memories, set_pinned
from agent_memory.store.preferences import change_settings, read_document, scope_settings
from agent_memory.store.static import refuse_static
from agent_memory.store.summaries import read_profile
from agent_memory.store.turns import last_turns
from agent_memory.transfer.export import export_part
from agent_memory.transfer.importing import Importer, batches

RememberedType = Literal["fact", "procedural", "episodic"]
UserStep = Literal["profile", "reconcile", "consolidate", "synthesize", "reflect", "prune"]


class AsyncUserScope:
    """All that is kept of one user."""

    def __init__(self, runtime: Runtime, user_id: str, asked: Asked | None = None) -> None:
        self._runtime = runtime
        self._asked = asked or Asked()
        self.user_id = check_id(user_id, "user_id")

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
            self._runtime, self.user_id, thread_id, agent_id=agent_id, project_id=project_id, asked=asked
        )

    @audited(changes=False)
    async def threads(self) -> list[ThreadInfo]:
        """The user's conversations, the one that was written last first."""
        store = self._runtime.store
        counters = {counter.thread_id: counter for counter in await self._runtime.counters.of_user(self.user_id)}
        infos = []
        for thread_id in await store.query(TURNS, queries.THREAD_IDS, (self.user_id,)):
            stats = await count_stats(self._runtime, (self.user_id, thread_id))
            last = await last_turns(store, self.user_id, thread_id, 1)
            counter = counters.get(thread_id)
            infos.append(
                ThreadInfo(
                    thread_id=thread_id,
                    turns=stats.turns,
                    unprocessed_turns=max(stats.unprocessed_turns, counter.pending if counter else 0),
                    last_turn_at=last[0].created_at if last else None,
                )
            )
        return sorted(infos, key=lambda info: (info.last_turn_at or now(), info.thread_id), reverse=True)

    @audited(changes=False)
    async def search(self, query: str, *, limit: int = 5, **filters: Unpack[SearchFilters]) -> list[Hit]:
        """The user's memories that matter for a query, best first, whichever thread they come from.

        Args:
            query: A question, or words.
            limit: How many at most.
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
        return await read_profile(self._runtime.store, self.user_id)

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
        """The user's memories, newest first: what is believed now, unless asked otherwise.

        Args:
            types: Only these (fact, episodic, procedural, reflection, or another system's names for them).
            include_superseded: Also what was replaced since.
            as_of: What was true then, instead of now.
            before: Only memories of before this time: the last one of the page before, to page on.
            limit: How many; those of one time come together, so that a few more may come.

        Raises:
            InvalidInput: for a type that there is not, or a limit below 1.
        """
        return await list_memories(
            self._runtime.store,
            self.user_id,
            types=checked_types(types),
            include_superseded=include_superseded,
            as_of=as_of,
            before=before,
            limit=limit,
        )

    @audited(changes=True)
    async def remember(
        self,
        content: str,
        *,
        kind: FactKind = "fact",
        type: RememberedType = "fact",
        confidence: float = 1.0,
        importance: float = 0.8,
        valid_from: datetime | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        project_id: str | None = None,
    ) -> Memory:
        """Keeps a fact (or a procedure, or an event) that needs no extraction.

        What is remembered word for word already is returned as it is. `kind` is that of a fact.

        Secrets are taken out of it, and what reads as an order to a model waits for review (its `status` says so),
        unless the policy of this memory is another.

        Raises:
            InvalidInput: if a value cannot be used.
            MemoryDisabled: if a switch is off, or the settings want nothing of this remembered.
            QuotaExceeded: if the tier allows no more memories.
            ModelError: if the content could not be embedded.
        """
        if not isinstance(content, str) or not content.strip():
            raise InvalidInput("there is nothing to remember: content is no text, or empty")
        rules = await self._rules()
        rules.require_enabled()
        clock = now()
        fields = {
            "id": f"{type}_{new_turn_id()}",
            "user_id": self.user_id,
            "thread_id": USER_THREAD,
            "type": type,
            "kind": kind if type == "fact" else None,
            "content": content.strip(),
            "confidence": confidence,
            "importance": importance,
            "tags": list(tags),
            "metadata": dict(metadata or {}),
            "project_id": None if project_id is None else check_id(project_id, "project_id"),
            "created_at": clock,
            "valid_from": valid_from or clock,
            "recorded_at": clock,
            "content_hash": content_hash(content),
            "embedding_model": self._runtime.tools.embeddings.model_id,
        }
        store, tools = self._runtime.store, self._runtime.tools
        screened = screen_memories([validated(Memory, fields)], rules, tools.policy)
        if not screened.memories:
            raise MemoryDisabled(f"this is {FORBIDDEN}")
        memory = screened.memories[0]
        known = await active_by_hash(store, self.user_id, [memory.content_hash])
        if known:
            return known[memory.content_hash]
        await require_room(store, rules, self.user_id)
        embedded = await tools.embeddings.embed([memory.content])
        documents = with_retention([to_document(memory, embedded.vectors[0])], rules)
        await store.create(MEMORIES, documents[0])
        return memory

    @audited(changes=False)
    async def get(self, id: str) -> Memory:
        """One memory of this user.

        Raises:
            NotFound: if the user has none with this id; another user's look the same.
        """
        return (await get_memory(self._runtime.store, self.user_id, check_id(id, "id")))[0]

    @audited(changes=True)
    async def update(
        self, id: str, *, content: str | None = None, pinned: bool | None = None, reason: str | None = None
    ) -> Memory:
        """Corrects what a memory says, or pins it. A new content makes a new version; the old stays in the history.

        Args:
            id: Which memory.
            content: What it shall say.
            pinned: Whether it is kept however seldom it is used.
            reason: Why it is corrected; kept in the new version's metadata.

        Raises:
            NotFound: if the user has no such memory.
            StaticMemoryError: if it is static knowledge, which belongs to nobody.
            Conflict: if it was replaced already (update the newest version), or is being changed by another.
            InvalidInput: if there is nothing to change, or the content is empty.
        """
        if content is None and pinned is None:
            raise InvalidInput("nothing to change: give a content or pinned")
        if content is not None and not content.strip():
            raise InvalidInput("a memory needs content")
        try:
            old, etag = await get_memory(self._runtime.store, self.user_id, check_id(id, "id"))
        except NotFound:
            await refuse_static(self._runtime.store, id, "update")
            raise
        if old.superseded_by == NOBODY:
            raise Conflict(f"memory {id} was withdrawn ({old.supersede_reason})")
        if old.superseded_by is not None:
            raise Conflict(f"memory {id} was replaced by {old.superseded_by}; update that one")
        pin = old.pinned if pinned is None else pinned
        if content is None or old.content == content.strip():
            return old if old.pinned == pin else await set_pinned(self._runtime.store, old, pin)
        clock = now()
        new = old.model_copy(
            update={
                "id": f"{old.type}_{new_turn_id()}",
                "content": content.strip(),
                "content_hash": content_hash(content),
                "created_at": clock,
                "recorded_at": clock,
                "valid_from": clock,
                "valid_to": None,
                "confidence": 1.0,
                "pinned": pin,
                "model": None,
                "prompt_version": None,
                "supersedes_ids": [old.id],
                "embedding_model": self._runtime.tools.embeddings.model_id,
                "metadata": old.metadata | ({"edit_reason": reason} if reason else {}),
            }
        )
        new = screen_memory(new, self._runtime.tools.policy)
        embedded = await self._runtime.tools.embeddings.embed([new.content])
        partition = (old.user_id, old.thread_id)
        stored = await self._runtime.store.read(MEMORIES, old.id, partition)
        ended = (stored or {}) | {
            "superseded_by": new.id,
            "superseded_at": to_document(new)["recorded_at"],
            "supersede_reason": "update",
            "valid_to": to_document(new)["valid_from"],
        }
        await self._runtime.store.batch(
            MEMORIES,
            partition,
            [
                create(to_document(new, embedded.vectors[0])),
                ("replace", (old.id, ended), {"if_match_etag": etag}),
            ],
        )
        return new

    @audited(changes=False)
    async def history(self, id: str) -> list[Memory]:
        """All versions of a memory, oldest first: what it replaced and what replaced it.

        Raises:
            NotFound: if the user has no such memory.
        """
        return await history(self._runtime.store, self.user_id, check_id(id, "id"))

    @audited(changes=False)
    async def why(self, id: str) -> Provenance:
        """Why a memory is believed: its quote and the turns around it, who derived it, what it replaced.

        Raises:
            NotFound: if the user has no such memory.
        """
        return await why(self._runtime.store, self.user_id, check_id(id, "id"))

    @audited(changes=False)
    async def review(self) -> list[Memory]:
        """What waits for a word of the user, newest first: `review_reason` says why it was set aside.

        Nothing of it is recalled until it is approved.
        """
        return await waiting(self._runtime.store, self.user_id)

    @audited(changes=True)
    async def approve(self, id: str, *, content: str | None = None) -> Memory:
        """Lets a memory that waits be remembered, in other words if a content is given. Harmless when repeated.

        Raises:
            NotFound: if the user has no such memory.
            Conflict: if it was replaced or withdrawn.
            QuotaExceeded: if the tier allows no more memories.
            InvalidInput: if the content is empty.
        """
        store = self._runtime.store
        memory = await self.get(id)
        if memory.status == "active" and content in (None, memory.content):
            return memory
        check_waits(memory)
        await require_room(store, await self._rules(), self.user_id)
        return await approve(store, memory if content is None else await self.update(id, content=content))

    @audited(changes=True)
    async def reject(self, id: str) -> ForgetReceipt:
        """Forgets a memory that waits. The turns that it came from stay, and do not bring it back.

        Raises:
            NotFound: if the user has no such memory.
            Conflict: if it is active (forget it, or correct it), or was replaced.
        """
        check_waits(await self.get(id))
        return await forget(self._runtime, ForgetRequest(self.user_id, id, include_sources=False), dry_run=False)

    @audited(changes=True)
    async def forget(
        self,
        id: str | None = None,
        *,
        query: str | None = None,
        thread_id: str | None = None,
        project_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        include_sources: bool = True,
        everything: bool = False,
        dry_run: bool = False,
    ) -> ForgetReceipt:
        """Deletes what is named, with all that rests on it, so that it does not come back unless it is said again.

        By id or by query, the turns that say it go too, in whatever words it is recognised, with all versions and all
        that was made of it. By thread, project or time range, all that was said there and derived from it goes. Given
        together with a query, those narrow it. Summaries and the profile are made again without it.

        Args:
            id: A memory, or a turn.
            query: A topic: what is about it goes.
            thread_id: A conversation.
            project_id: A project.
            since: What was said since then.
            until: What was said until then.
            include_sources: False if the talk is right and only the memory made of it is wrong: then the turns stay.
            everything: The user goes, with every document in every container: turns, memories, summaries, counters,
                settings, tombstones. A scan at the end makes sure; a crash is finished in the background.
            dry_run: Only say what would go, with its words, and delete nothing.

        Returns:
            What was deleted, what stays though it rests on the same turns, and why; what was made again.

        Raises:
            NotFound: if the user has nothing with this id.
            StaticMemoryError: if it is static knowledge, which belongs to nobody.
            InvalidInput: if nothing is named, or arguments contradict each other.
            ModelError: if texts must be compared and the embedding model is unavailable; nothing was deleted.
        """
        place = make_place(thread_id, project_id, since, until)
        request = ForgetRequest(self.user_id, id, query, place, include_sources)
        if everything:
            if request != ForgetRequest(self.user_id):
                raise InvalidInput("everything is everything: it goes with no other selection")
            return await erase(self._runtime, self.user_id, dry_run=dry_run)
        try:
            return await forget(self._runtime, request, dry_run=dry_run)
        except NotFound:
            if id is not None:
                await refuse_static(self._runtime.store, id, "delete")
            raise

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

    async def export(self, write: Callable[[str], object]) -> int:
        """Writes out everything that the user owns, as lines of JSON; `import_lines` reads them.

        That is: settings, memories with their history and where they come from, turns, summaries, the profile.

        Args:
            write: Is given each line, with its end; a file's `write`, say.

        Returns:
            How many lines were written.
        """
        lines, part = 0, await self.export_part()
        while True:
            for record in part.records:
                write(json.dumps(record, ensure_ascii=False) + "\n")
            lines += len(part.records)
            if part.next is None:
                return lines
            part = await self.export_part(part.next)

    @audited(changes=False)
    async def export_part(self, part: str | None = None) -> ExportPart:
        """One part of an export, as `export` asks for them one after the other.

        Args:
            part: Which; None for the first. Each names the next.

        Raises:
            InvalidInput: for a part that no part names.
        """
        return await export_part(self._runtime.store, self.user_id, part)

    @audited(changes=True)
    async def import_lines(self, lines: Iterable[str], progress: Progress | None = None) -> ImportReceipt:
        """Takes in the lines of an export, of this user or of another, here or elsewhere.

        What is there already stays as it is, so the call may be repeated, and goes on after a crash. What was forgotten
        here since it was said stays forgotten. Turns that were processed are not processed again.

        Args:
            lines: The lines; an open file, say.
            progress: Called with the number of lines done.

        Raises:
            InvalidInput: at a line that is no export's; what stands ahead of it is written.
            MemoryDisabled: if a switch is off.
            Conflict: if the id of a turn is taken by another content.
            ModelError: if the embedding model is unavailable; the call may be repeated.
        """
        rules = await self._rules()
        rules.require_enabled()
        tools = self._runtime.tools
        importer = Importer(tools.store, tools.embeddings, self.user_id, rules, tools.policy)
        async for batch in batches(lines):
            await importer.take(batch)
            if progress is not None:
                progress(batch.first + len(batch.lines) - 1)
        self._runtime.written()
        return importer.receipt

    async def audit(self, *, since: datetime | None = None, limit: int = 100) -> list[AuditEntry]:
        """Who read or changed what is kept of the user, newest first; empty if this memory keeps no audit.

        Args:
            since: Only since then.
            limit: How many at most.

        Raises:
            InvalidInput: if the limit is none from 1 to 1000.
        """
        if not 1 <= limit <= 1000:
            raise InvalidInput(f"limit must be a number from 1 to 1000, not {limit}")
        return await self._runtime.auditor.entries(self.user_id, since, limit)

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

    async def settings(self) -> ScopeSettings:
        """What the user has switched on and off."""
        return scope_settings(await read_document(self._runtime.store, self.user_id))

    @audited(changes=True)
    async def update_settings(
        self,
        *,
        enabled: bool | None = None,
        auto_store: bool | None = None,
        keep_turns: bool | None = None,
        deny_categories: Sequence[str] | None = None,
        allow_categories: Sequence[str] | None = None,
        retention_days: Mapping[str, int] | None = None,
        if_match: str | None = None,
    ) -> ScopeSettings:
        """Changes what is given and leaves the rest. What is already remembered stays, and can be forgotten.

        Args:
            enabled: Off: nothing is remembered and nothing recalled.
            auto_store: Off: nothing is derived from what is said from now on; recall goes on.
            keep_turns: Off: not even conversations are kept.
            deny_categories: What is never remembered ("health"); all of them, not only the new ones.
            allow_categories: If any, all that is remembered.
            retention_days: After how many days memories of a type (fact, episodic, procedural, reflection) are
                deleted that are written or changed from now on; all of them, not only the new ones.
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
            retention_days=retention_days,
        )
        return await change_settings(self._runtime.store, self.user_id, None, changes, if_match)

    @audited(changes=True)
    async def process(self, step: UserStep, *, n: int | None = None) -> ProcessResult:
        """Runs a step of the user now.

        Args:
            step: `profile` brings the profile up to date. `reconcile` merges duplicates and settles contradictions
                among the `n` newest facts (50 if not given). `consolidate` tells many facts about one thing in
                fewer sentences. `synthesize` puts procedures together from how-tos of several conversations.
                `reflect` draws insights from it all. `prune` withdraws what nobody has used in a long time.
            n: How many facts a reconciliation looks at.

        Raises:
            InvalidInput: for a step that there is not, or an `n` below 2.
            ModelError: if the model gave nothing usable; nothing is lost, the call may be repeated.
        """
        if step not in get_args(UserStep):
            raise InvalidInput(f"a user's steps are {', '.join(get_args(UserStep))}, not {step!r}")
        if n is not None and not 2 <= n <= 500:
            raise InvalidInput(f"n must be from 2 to 500, not {n}")
        rules = await self._rules()
        if not rules.derive:
            return ProcessResult(step=step, skipped_reason=rules.reason)
        return await self._runtime.run(step, user_id=self.user_id, n=n)

    async def _rules(self) -> Rules:
        return await read_rules(self._runtime.store, self._runtime.tools.policy, self.user_id, None, self._asked)
