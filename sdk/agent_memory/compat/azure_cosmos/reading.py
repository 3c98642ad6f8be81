"""The methods that read: listings, searches, and lines for a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from agent_memory.compat.azure_cosmos.connection import Connection
from agent_memory.compat.azure_cosmos.documents import (
    SEARCHED,
    Conditions,
    Record,
    newest_first,
    of_hit,
    of_memory,
    of_profile,
    of_summary,
    of_turn,
)

LOOKED_AT = 100
"""The most results of a search that conditions choose from."""
POLICIES_TOKENS = 1000
"""The most tokens of `build_procedural_context`. A choice."""


class Reading(Connection):
    """Reads what one user has."""

    async def get_memories(
        self,
        memory_id: str | None = None,
        user_id: str | None = None,
        thread_id: str | None = None,
        role: str | None = None,
        memory_types: list[str] | None = None,
        recent_k: int | None = None,
        tags_all: list[str] | None = None,
        tags_any: list[str] | None = None,
        exclude_tags: list[str] | None = None,
        include_superseded: bool = False,
        min_salience: float | None = None,
        min_confidence: float | None = None,
        created_after: str | datetime | None = None,
        created_before: str | datetime | None = None,
    ) -> list[Record]:
        """Facts, episodes and procedures of a user, newest first; with `memory_types` also turns and summaries."""
        conditions = Conditions(
            role, tags_all, tags_any, exclude_tags, min_salience, min_confidence, created_after, created_before
        )
        user, wanted = await self._user(user_id), list(memory_types or SEARCHED)
        records: list[Record] = []
        derived = [kind for name in wanted for kind in SEARCHED.get(name, ())]
        if derived:
            found = await user.memories(types=derived, include_superseded=include_superseded)
            records += [of_memory(one) for one in found if thread_id in (None, one.thread_id)]
        if {"turn", "thread_summary"} & set(wanted):
            threads = [thread_id] if thread_id else [one.thread_id for one in await user.threads()]
            for name in threads:
                if "turn" in wanted:
                    records += [of_turn(turn) for turn in await user.thread(name).turns()]
                if "thread_summary" in wanted:
                    records += await self.get_thread_summary(str(user_id), name)
        if "user_summary" in wanted and (profile := await user.profile()) is not None:
            records.append(of_profile(profile))
        return newest_first((r for r in conditions.of(records) if memory_id in (None, r["id"])), recent_k)

    async def search_cosmos(
        self,
        search_terms: str,
        memory_id: str | None = None,
        user_id: str | None = None,
        role: str | None = None,
        memory_types: list[str] | None = None,
        thread_id: str | None = None,
        top_k: int = 5,
        tags_all: list[str] | None = None,
        tags_any: list[str] | None = None,
        exclude_tags: list[str] | None = None,
        include_superseded: bool = False,
        min_salience: float | None = None,
        min_confidence: float | None = None,
        created_after: str | datetime | None = None,
        created_before: str | datetime | None = None,
        include_episodes: bool = False,
        include_turns: bool = False,
        turn_top_k: int | None = None,
        include_summaries: bool = False,
        summary_top_k: int | None = None,
    ) -> list[Record]:
        """The memories that answer best, by meaning and words; followed by turns and summaries if requested."""
        conditions = Conditions(
            role, tags_all, tags_any, exclude_tags, min_salience, min_confidence, created_after, created_before
        )
        names = list(memory_types or ("fact", "procedural")) + (["episodic"] if include_episodes else [])
        types = [kind for name in dict.fromkeys(names) for kind in SEARCHED.get(name, ())]
        user, found = await self._user(user_id), []
        if types:
            scope = user.thread(thread_id) if thread_id else user
            hits = await scope.search(
                search_terms, limit=LOOKED_AT, types=types, include_superseded=include_superseded or None
            )
            found = [of_hit(hit) for hit in hits if memory_id in (None, hit.memory.id)]
        records = conditions.of(found)[:top_k]
        if include_turns or "turn" in names:
            records += await self.search_turns(search_terms, str(user_id), thread_id, role, turn_top_k or top_k)
        if include_summaries or "thread_summary" in names:
            records += await self.search_summaries(search_terms, str(user_id), thread_id, summary_top_k or top_k)
        return records

    async def search_summaries(
        self,
        search_terms: str,
        user_id: str,
        thread_id: str | None = None,
        top_k: int = 5,
        tags_all: list[str] | None = None,
        tags_any: list[str] | None = None,
        exclude_tags: list[str] | None = None,
    ) -> list[Record]:
        """The summaries of a user's threads with the most of these words, the newest of equal ones first."""
        found = await self.get_memories(None, user_id, thread_id, None, ["thread_summary"])
        words = set(search_terms.lower().split())
        found = Conditions(None, tags_all, tags_any, exclude_tags).of(found)
        return sorted(found, key=lambda one: -len(words & set(one["content"].lower().split())))[:top_k]

    async def search_turns(
        self,
        search_terms: str,
        user_id: str,
        thread_id: str | None = None,
        role: str | None = None,
        top_k: int = 5,
        tags_all: list[str] | None = None,
        tags_any: list[str] | None = None,
        exclude_tags: list[str] | None = None,
        created_after: str | datetime | None = None,
        created_before: str | datetime | None = None,
    ) -> list[Record]:
        """The turns that answer best."""
        user = await self._user(user_id)
        scope = user.thread(thread_id) if thread_id else user
        hits = await scope.search(search_terms, limit=LOOKED_AT, types=["vector"])
        records = []
        for hit in hits:
            ids = hit.memory.source_turn_ids[:1]
            said = [t for t in await user.thread(hit.memory.thread_id).turns() if t.id in ids]
            records += [of_turn(turn) | {"similarity_score": hit.similarity, "score": hit.score} for turn in said]
            if len(records) >= LOOKED_AT:
                break
        conditions = Conditions(role, tags_all, tags_any, exclude_tags, None, None, created_after, created_before)
        return list({one["id"]: one for one in reversed(conditions.of(records))}.values())[::-1][:top_k]

    async def get_memory_history(
        self, memory_id: str, user_id: str, thread_id: str | None = None, *, max_depth: int = 20
    ) -> list[Record]:
        """What a memory replaced, the last replaced first.

        Raises:
            NotFound: if there is no such memory.
        """
        versions = await (await self._user(user_id)).history(memory_id)
        older = [one for one in versions if one.superseded_at is not None and one.id != memory_id]
        return [of_memory(one) for one in reversed(older)][:max_depth]

    async def get_thread(
        self,
        thread_id: str,
        user_id: str | None = None,
        recent_k: int | None = None,
        tags_all: list[str] | None = None,
        tags_any: list[str] | None = None,
        exclude_tags: list[str] | None = None,
        include_superseded: bool = False,
        created_after: str | datetime | None = None,
        created_before: str | datetime | None = None,
    ) -> list[Record]:
        """The turns of a thread, oldest first; with `recent_k` only that many of the newest."""
        turns = await (await self._thread(user_id, thread_id)).turns()
        conditions = Conditions(None, tags_all, tags_any, exclude_tags, None, None, created_after, created_before)
        found = conditions.of(of_turn(turn) for turn in turns)
        return found if recent_k is None else found[-recent_k:]

    async def get_thread_summary(self, user_id: str, thread_id: str, recent_k: int | None = None) -> list[Record]:
        """The summary of a thread, as a list of one; empty if there is none."""
        summary = await (await self._thread(user_id, thread_id)).summary()
        return [] if summary is None else [of_summary(summary)]

    async def get_episodes(
        self, user_id: str, thread_id: str | None = None, recent_k: int | None = None
    ) -> list[Record]:
        """The episodes of a user, newest first."""
        return await self.get_memories(None, user_id, thread_id, None, ["episodic"], recent_k)

    async def get_user_summary(self, user_id: str) -> Record | None:
        """The summary of a user; None if nothing is known."""
        profile = await (await self._user(user_id)).profile()
        return None if profile is None else of_profile(profile)

    async def list_tags(
        self, user_id: str, *, thread_id: str | None = None, prefix: str | None = None, include_sys: bool = False
    ) -> list[str]:
        """The tags of a user's memories and turns, sorted."""
        found = await self.get_memories(None, user_id, thread_id, None, ["turn", *SEARCHED])
        tags = {str(tag) for one in found for tag in one["tags"]}
        return sorted(t for t in tags if t.startswith(prefix or "") and (include_sys or not t.startswith("sys:")))

    async def get_procedural_prompt(self, user_id: str) -> str | None:
        """The active procedures of a user as lines; None if there are none."""
        return await self.build_procedural_context(user_id) or None

    async def get_procedural_history(self, user_id: str, limit: int = 10) -> list[Record]:
        """The procedures of a user with those that were replaced, newest first."""
        return await self.get_memories(None, user_id, None, None, ["procedural"], limit, include_superseded=True)

    async def get_procedural_memories(
        self,
        user_id: str,
        priority: str | None = None,
        category: str | None = None,
        min_salience: float | None = None,
        include_superseded: bool = False,
    ) -> list[Record]:
        """The procedures of a user, newest first. `priority` and `category` are compared with the metadata."""
        found = await self.get_memories(
            None, user_id, None, None, ["procedural"], include_superseded=include_superseded, min_salience=min_salience
        )
        asked = {name: value for name, value in (("priority", priority), ("category", category)) if value}
        return [one for one in found if all(one["metadata"].get(name) == value for name, value in asked.items())]

    async def search_episodic_memories(
        self,
        user_id: str,
        search_terms: str,
        top_k: int = 5,
        min_salience: float | None = None,
        include_superseded: bool = False,
    ) -> list[Record]:
        """The episodes that answer best."""
        return await self.search_cosmos(
            search_terms,
            user_id=user_id,
            memory_types=["episodic"],
            top_k=top_k,
            min_salience=min_salience,
            include_superseded=include_superseded,
        )

    async def retrieve_procedures(
        self,
        user_id: str,
        search_terms: str,
        top_k: int = 5,
        *,
        scope_type: str | None = None,
        scope_value: str | None = None,
        procedure_kind: str | None = None,
        status: str | None = "active",
        include_superseded: bool = False,
    ) -> list[Record]:
        """The procedures most relevant to a task. `scope` and `kind` are compared with the metadata."""
        found = await self.search_cosmos(
            search_terms,
            user_id=user_id,
            memory_types=["procedural"],
            top_k=LOOKED_AT,
            include_superseded=include_superseded,
        )
        asked = {"scope_type": scope_type, "scope_value": scope_value, "procedure_kind": procedure_kind}
        return [
            one
            for one in found
            if (status is None or one["status"] == status)
            and all(value is None or one["metadata"].get(name) == value for name, value in asked.items())
        ][:top_k]

    async def build_procedural_context(self, user_id: str, task: str | None = None) -> str:
        """The active procedures of a user as lines for a prompt: those of a task, else the newest."""
        if task and task.strip():
            found = await self.retrieve_procedures(user_id, task)
        else:
            found = [one for one in await self.get_procedural_memories(user_id) if one["status"] == "active"]
        return self._lines("## Procedures", found)

    async def build_episodic_context(self, user_id: str, query: str, top_k: int = 3) -> str:
        """The episodes that answer best as lines for a prompt."""
        return self._lines("## Relevant past episodes", await self.search_episodic_memories(user_id, query, top_k))

    def _lines(self, title: str, found: Sequence[Record]) -> str:
        lines: list[str] = []
        for one in found:
            line = f"- {' '.join(one['content'].split())}"
            if self._tokens.count("\n".join([title, *lines, line])) > POLICIES_TOKENS:
                break
            lines.append(line)
        return "\n".join([title, *lines]) if lines else ""
