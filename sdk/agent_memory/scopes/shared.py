"""What both scopes share: checking arguments, searching, building contexts, counting."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from agent_memory.errors import InvalidInput
from agent_memory.models import (
    TYPE_ALIASES,
    Context,
    Filter,
    Hit,
    MemoryType,
    Model,
    ScopeSettings,
    SearchFilters,
    Stats,
    ThreadInfo,
    TurnInput,
    UtcTime,
    time_zone,
)
from agent_memory.models.filters import VOCABULARY
from agent_memory.recall.context import ContextRequest, Read, build_context, dismiss, last_turns
from agent_memory.recall.groups import check_groups, searchers_of
from agent_memory.recall.search import search
from agent_memory.recall.searcher import Searcher
from agent_memory.rules.keeping import check_categories, check_retention
from agent_memory.rules.switches import Asked, Rules, known_rules, rules_of
from agent_memory.runtime import Runtime
from agent_memory.steps.over_memories import LARGEST_GROUP
from agent_memory.steps.table import check_option
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, TURNS
from agent_memory.store.documents import check_json, problem_of, validated
from agent_memory.store.ids import check_id
from agent_memory.store.scope_documents import read_scope
from agent_memory.telemetry import note_degraded

M = TypeVar("M", bound=Model)

logger = logging.getLogger("agent_memory")

_FILTERS = TypeAdapter(SearchFilters)
_TIME = TypeAdapter[datetime](UtcTime)

MEMORY_TYPES = ("fact", "episodic", "procedural", "reflection")
"""The types of memories that a scope has; static knowledge belongs to no scope."""
MOST_HITS = 100
"""Maximum hits of one search. A choice: for more, use a listing."""
_THREADS_AT_ONCE = 500
"""Maximum threads in one query. An id has up to 255 characters, a query up to 512 KB."""
_COUNTS_AT_ONCE = 8


def checked_time(value: datetime | None, name: str) -> datetime | None:
    """Reads a time as search filters do: a time or a day, also as ISO text; UTC if it has no zone.

    Raises:
        InvalidInput: naming the argument.
    """
    try:
        return None if value is None else _TIME.validate_python(value)
    except ValidationError as error:
        raise InvalidInput(f"{name}: {error.errors()[0]['msg']}") from error


def memory_types(names: Sequence[str] | None) -> list[MemoryType] | None:
    """The stored types that these names mean; names of other systems count too.

    Raises:
        InvalidInput: for an unknown name.
    """
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Collection):
        raise InvalidInput(f"types is a list of names, like ['fact'], not {names!r:.60}")
    stored: tuple[MemoryType, ...] = ("fact", "episodic", "procedural", "reflection", "document")
    known = {name: name for name in stored} | {alias: one for alias, (one, _) in TYPE_ALIASES.items()}
    for name in names:
        if name not in known:
            raise InvalidInput(
                f"unknown memory type {name!r}; the types are fact, episodic, procedural, reflection and document"
            )
    return [known[name] for name in names]


async def find(
    runtime: Runtime, partition: tuple[str, ...], query: str, limit: int | None, given: SearchFilters, asked: Asked
) -> list[Hit]:
    """Searches a partition, within what the switches and the request allow. Finds nothing if memory is off.

    The default `limit` comes from the settings.

    Raises:
        InvalidInput: if an argument is invalid.
        StoreUnavailable: if every part of the search failed.
    """
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput(f"a search needs a query, a text, not {query!r:.60}")
    if limit is None:
        limit = runtime.searcher.settings.limit
    if not isinstance(limit, int) or not 1 <= limit <= MOST_HITS:
        raise InvalidInput(f"limit must be a number from 1 to {MOST_HITS}, not {limit!r:.60}")
    filters = search_filters(given)
    rules = await known_rules(runtime.store, runtime.tools.policy, partition[0], (*partition, None)[1], asked)
    if not rules.recall:
        return []
    allowed = memory_types(asked.config.memory_types)
    if allowed is not None:
        given_types = filters.get("types")
        wanted = MEMORY_TYPES if given_types is None else given_types
        filters["types"] = [name for name in wanted if set(memory_types([name]) or []) <= set(allowed)]
    most = _most(rules, asked, limit)
    least = asked.config.similarity_threshold
    if least is not None:
        filters["threshold"] = max(least, filters.get("threshold") or least)
    if most < limit:
        logger.info("Memory: at most %d hits, not %d: %s", most, limit, _bound(rules, asked, most))
    searcher = reaching(replace(runtime.searcher, rules=rules, zone=time_zone(rules.time_zone)), most)
    found = await search(searcher, partition, query, limit=most, filters=filters)
    note_degraded(found.degraded)
    runtime.uses.note(partition[0], (hit.memory.id for hit in found.hits if hit.memory.kind != "chunk"))
    return found.hits


async def bounded(runtime: Runtime, partition: tuple[str, ...], limit: int | None, asked: Asked) -> int:
    """How many hits a search of a partition may return; 0 if memory is off."""
    rules = await known_rules(runtime.store, runtime.tools.policy, partition[0], (*partition, None)[1], asked)
    wanted = runtime.searcher.settings.limit if limit is None else limit
    return _most(rules, asked, wanted) if rules.recall else 0


def _most(rules: Rules, asked: Asked, limit: int) -> int:
    return min(limit, rules.tier.retrieval_limit, asked.config.retrieval_limit or limit)


def _bound(rules: Rules, asked: Asked, most: int) -> str:
    return "the request's own limit" if most == asked.config.retrieval_limit else f"the tier {rules.tier_name}"


def reaching(searcher: Searcher, limit: int) -> Searcher:
    """The searcher with enough candidates: a search can return only candidates, and words may find few."""
    if limit <= searcher.settings.nearest:
        return searcher
    return replace(searcher, settings=replace(searcher.settings, candidates=limit * 5 // 2))


def search_filters(given: SearchFilters) -> SearchFilters:
    """The filters of a call, checked, without those that are None.

    Raises:
        InvalidInput: naming the filter that is wrong or unknown.
    """
    memory_types(given.get("types"))
    named: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if "filters" in named:
        named["filters"] = checked_filter(named["filters"])
    try:
        return _FILTERS.validate_python(named)
    except ValidationError as error:
        raise InvalidInput(problem_of(error)) from error


def checked_filter(given: Filter | Mapping[str, Any] | None) -> Filter | None:
    """A filter, as a model or as plain data.

    Raises:
        InvalidInput: naming what is wrong with it.
    """
    try:
        return None if given is None else Filter.model_validate(given)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(["filters", *map(str, problem["loc"])])
        known = f"not known; {VOCABULARY}" if problem["type"] == "extra_forbidden" else problem["msg"]
        raise InvalidInput(f"{place:.200}: {known}") from error


async def tell(runtime: Runtime, request: ContextRequest, asked: Asked) -> Context:
    """Builds a context within what the switches and the request allow. Never raises.

    If the settings cannot be read, the context is empty, because memory may be off.
    """
    started = time.perf_counter()
    loop = asyncio.get_running_loop()
    timeout = runtime.searcher.settings.context_timeout
    deadline = loop.time() + timeout
    try:
        request.check()
        filters = request.confined(checked_filter(request.filters))
        types, threshold = asked.config.memory_types, asked.config.similarity_threshold
        memory_types(types)
        request = replace(
            request,
            as_of=checked_time(request.as_of, "as_of"),
            filters=filters,
            types=types,
            threshold=threshold,
        )
    except InvalidInput as error:
        return Context(degraded=[f"context: {error}"], milliseconds=_since(started))
    turns = asyncio.ensure_future(last_turns(runtime.store, request))
    reading = "settings"
    try:
        async with asyncio.timeout(timeout):
            documents = await read_scope(runtime.store, request.user_id, request.thread_id)
            rules = await rules_of(runtime.tools.policy, request.user_id, documents.settings, asked)
        if not rules.recall:
            # The queries to the store must not depend on which of the two reads was faster.
            await asyncio.wait([turns], timeout=max(0.0, deadline - loop.time()))
            return Context(skipped_reason=rules.reason, milliseconds=_since(started))
        most = _most(rules, asked, request.limit)
        searcher = replace(runtime.searcher, rules=rules, zone=time_zone(rules.time_zone))
        missing: list[str] = []
        async with asyncio.timeout_at(deadline):
            shared = await searchers_of(searcher, check_groups(request.groups), asked, missing)
        recaller = replace(runtime.recaller, searcher=searcher, groups=shared)
        left = max(0.0, deadline - loop.time())
        reading = "context"
        context = await build_context(recaller, replace(request, limit=most, timeout=left), Read(documents, turns))
        context.degraded += missing
    except Exception as error:
        logger.warning("A context is empty: %s could not be read", reading, exc_info=True)
        why = str(error) or "not ready in time"
        return Context(degraded=[f"{reading}: {why}"], milliseconds=_since(started))
    finally:
        dismiss(turns)
    note_degraded(context.degraded)
    own = (one for one in context.used if "id" in one and "group" not in one)
    told = (one for one in own if one["type"] != "turn" and one.get("kind") != "chunk")
    runtime.uses.note(request.user_id, (one["id"] for one in told))
    context.milliseconds = _since(started)
    return context


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 2)


def settings_changes(**given: Any) -> dict[str, Any]:
    """The fields of a settings document that a caller wants to change.

    Raises:
        InvalidInput: if one of them is invalid.
    """
    changes = {name: value for name, value in given.items() if value is not None}
    for name in ("deny_categories", "allow_categories"):
        if name in changes:
            changes[name] = check_categories(name, changes[name])
    if "retention_days" in changes:
        changes["retention_days"] = check_retention(changes["retention_days"])
    read = validated(ScopeSettings, changes, "settings: ").model_dump()
    return {name: read[name] for name in changes}


async def count_stats(runtime: Runtime, partition: tuple[str, ...]) -> Stats:
    """Counts what a partition holds."""
    store = runtime.store
    turns, unprocessed = await _count_turns(store, partition)
    rows = await store.query(MEMORIES, queries.MEMORY_OVERVIEW, partition)
    active = [row for row in rows if not row.get("superseded_by")]
    times = sorted(row["created_at"] for row in active)
    types = sorted({row["type"] for row in active})
    threads = 1 if len(partition) > 1 else len(await store.query(TURNS, queries.THREAD_IDS, partition))
    return Stats(
        turns=turns,
        unprocessed_turns=unprocessed,
        threads=threads,
        memories=len(active),
        memories_by_type={name: sum(row["type"] == name for row in active) for name in types},
        superseded=len(rows) - len(active),
        oldest_memory=times[0] if times else None,
        newest_memory=times[-1] if times else None,
    )


async def thread_infos(runtime: Runtime, user_id: str, found: Sequence[tuple[str, str]]) -> list[ThreadInfo]:
    """The listing of threads (id and time of the last turn). Costs one query for each, and one more for each 500."""
    store, told = runtime.store, list[ThreadInfo]()
    for start in range(0, len(found), _THREADS_AT_ONCE):
        part = found[start : start + _THREADS_AT_ONCE]
        ids = [thread_id for thread_id, _ in part]
        rows = await store.query(MEMORIES, queries.COVERED_TURNS_OF, (user_id,), threads=ids)
        covered = {row["thread_id"]: row["count"] for row in rows}
        turns: list[int] = []
        for first in range(0, len(ids), _COUNTS_AT_ONCE):
            some = ids[first : first + _COUNTS_AT_ONCE]
            turns += await asyncio.gather(*(store.count(TURNS, (user_id, thread_id)) for thread_id in some))
        told += [
            ThreadInfo(
                thread_id=thread_id,
                turns=count,
                unprocessed_turns=max(0, count - covered.get(thread_id, 0)),
                last_turn_at=datetime.fromisoformat(last_turn_at),
            )
            for (thread_id, last_turn_at), count in zip(part, turns, strict=True)
        ]
    return told


async def _count_turns(store: Store, partition: tuple[str, ...]) -> tuple[int, int]:
    """How many turns there are, and how many of them extraction has not covered."""
    turns = await store.count(TURNS, partition)
    covered = int(sum(await store.query(MEMORIES, queries.COVERED_TURNS, partition)))
    return turns, max(0, turns - covered)


def check_recent(step: str, recent_k: int | None) -> None:
    """Checks `recent_k`.

    Raises:
        InvalidInput: for a step without this option, or a number that is not from 1 to 10,000.
    """
    if recent_k is None:
        return
    check_option(step, "recent_k")
    if not 1 <= recent_k <= 10_000:
        raise InvalidInput(f"recent_k must be from 1 to 10000, not {recent_k}")


def check_material(
    step: str, memory_ids: Sequence[str] | None, project_id: str | None
) -> tuple[list[str] | None, str | None]:
    """Checks the memories that a step should work on, and removes duplicates.

    Raises:
        InvalidInput: for a step without this option, or an invalid value.
    """
    if memory_ids is not None:
        check_option(step, "memory_ids")
        if isinstance(memory_ids, str) or not 2 <= len(set(memory_ids)) <= LARGEST_GROUP:
            raise InvalidInput(f"memory_ids are the ids of 2 to {LARGEST_GROUP} memories, not {memory_ids!r:.60}")
        memory_ids = list(dict.fromkeys(memory_ids))
    if project_id is not None:
        check_option(step, "project_id")
    return memory_ids, None if project_id is None else check_id(project_id, "project_id")


def turn_inputs(
    turns: Sequence[TurnInput | Mapping[str, Any]], agent_id: str | None, project_id: str | None
) -> list[TurnInput]:
    """The turns of a call, checked. Turns without an agent or project get those of the thread's handle.

    Raises:
        InvalidInput: naming the turn and the field that is wrong.
    """
    defaults = {"agent_id": agent_id, "project_id": project_id}
    return [_turn_input(turn, position, defaults) for position, turn in enumerate(turns, 1)]


def _turn_input(turn: TurnInput | Mapping[str, Any], position: int, defaults: Mapping[str, str | None]) -> TurnInput:
    if not isinstance(turn, TurnInput | Mapping):
        raise InvalidInput(f"turn {position}: a turn is a mapping or a TurnInput, not {type(turn).__name__}")
    given = dict(turn)
    filled = {name: value for name, value in defaults.items() if given.get(name) is None}
    read = validated(TurnInput, given | filled, f"turn {position}: ")
    check_json(read.model_dump(exclude={"created_at"}), f"turn {position}")
    return read
