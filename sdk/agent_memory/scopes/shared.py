"""What both scopes share: reading arguments, searching, counting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from pydantic import ValidationError

from agent_memory.errors import InvalidInput
from agent_memory.models import (
    TYPE_ALIASES,
    Hit,
    MemoryType,
    Model,
    Stats,
)
from agent_memory.recall.search import search
from agent_memory.runtime import Runtime
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES, TURNS
from agent_memory.telemetry import operation

M = TypeVar("M", bound=Model)


def validated(model: type[M], fields: Mapping[str, Any], where: str = "") -> M:
    """Makes a model of what a caller gave.

    Raises:
        InvalidInput: naming the field that is wrong.
    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise InvalidInput(f"{where}{place}: {problem['msg']}") from error


def memory_types(names: Sequence[str] | None) -> list[MemoryType] | None:
    """The stored types that these names mean; other systems' names are understood.

    Raises:
        InvalidInput: for a name that means none.
    """
    if names is None:
        return None
    if isinstance(names, str):
        raise InvalidInput(f"types is a list of names: [{names!r}]")
    known: dict[str, MemoryType] = {
        "fact": "fact",
        "episodic": "episodic",
        "procedural": "procedural",
        "reflection": "reflection",
    }
    known |= {alias: stored for alias, (stored, _) in TYPE_ALIASES.items()}
    for name in names:
        if name not in known:
            raise InvalidInput(f"no memory type {name!r}; there are fact, episodic, procedural and reflection")
    return [known[name] for name in names]


async def find(
    runtime: Runtime,
    partition: tuple[str, ...],
    query: str,
    limit: int,
    types: Sequence[str] | None,
    as_of: datetime | None,
) -> list[Hit]:
    """Searches a partition.

    Raises:
        InvalidInput: if an argument cannot be used.
        StoreUnavailable: if no part of the search could be made.
    """
    if not isinstance(query, str) or not query.strip():
        raise InvalidInput(f"a search needs a query, a text, not {query!r:.60}")
    if not isinstance(limit, int) or not 1 <= limit <= 100:
        raise InvalidInput(f"limit must be a number from 1 to 100, not {limit!r:.60}")
    if as_of is not None and not isinstance(as_of, datetime):
        raise InvalidInput(f"as_of must be a datetime, not {as_of!r:.60}")
    with operation("search_memory", runtime.store.name):
        found = await search(runtime.searcher, partition, query, limit=limit, types=memory_types(types), as_of=as_of)
    return found.hits


async def count_stats(runtime: Runtime, partition: tuple[str, ...]) -> Stats:
    """Counts what a partition holds."""
    store = runtime.store
    turns = await store.count(TURNS, partition)
    covered = int(sum(await store.query(MEMORIES, queries.COVERED_TURNS, partition)))
    rows = await store.query(MEMORIES, queries.MEMORY_OVERVIEW, partition)
    active = [row for row in rows if not row.get("superseded_by")]
    times = sorted(row["created_at"] for row in active)
    types = sorted({row["type"] for row in active})
    threads = 1 if len(partition) > 1 else len(await store.query(TURNS, queries.THREAD_IDS, partition))
    return Stats(
        turns=turns,
        unprocessed_turns=max(0, turns - covered),
        threads=threads,
        memories=len(active),
        memories_by_type={name: sum(row["type"] == name for row in active) for name in types},
        superseded=len(rows) - len(active),
        oldest_memory=times[0] if times else None,
        newest_memory=times[-1] if times else None,
    )
