"""Questions that are read instead of searched, because they resemble nothing that was said.

They ask for all that is known ("What do you know about me?"), for a time ("What did we talk about yesterday?"), or for
a conversation ("What did we talk about last time?").
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_memory.errors import AgentMemoryError
from agent_memory.models import Hit, SearchFilters, now, there
from agent_memory.recall.fresh import as_candidates, read_fresh
from agent_memory.recall.oneself import all_known, as_hit, asks_for_all
from agent_memory.recall.searcher import Searcher
from agent_memory.recall.timed import conversation_asked_for, said_in, said_within, times_asked_for

logger = logging.getLogger("agent_memory")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What such a question asks for.

    Attributes:
        asked: The question, in the user's words.
        terms: Its words.
        where: The condition of the filters, with its `parameters`.
        thread: The conversation that asks, if any.
        limit: The maximum number of hits.
    """

    asked: str
    terms: Sequence[str]
    where: str
    parameters: Mapping[str, Any]
    filters: SearchFilters
    thread: str | None
    limit: int


async def read_instead(
    searcher: Searcher, partition: Sequence[str], wanted: Wanted, degraded: list[str]
) -> list[Hit] | None:
    """The hits of a question that is read; None if it is to be searched, or if nothing is known of what it asks for."""
    at = there(wanted.filters.get("as_of") or now(), searcher.zone)
    source = (searcher, partition, wanted.where, wanted.parameters)
    if asks_for_all(wanted.asked):
        known = await all_known(*source, wanted.limit)
        return (
            _with_lately(known, await _lately(searcher, partition, wanted, degraded), wanted.limit) if known else None
        )
    if times := times_asked_for(wanted.asked, at):
        then = await said_within(*source, times, wanted.limit)
        if not then:
            return None
        lately = await _lately(searcher, partition, wanted, degraded)
        within = [hit for hit in lately if any(one.holds(hit.memory.created_at) for one in times)]
        return _with_lately(then, within, wanted.limit)
    side = conversation_asked_for(wanted.asked)
    if side is None:
        return None
    lately = await _lately(searcher, partition, wanted, degraded)
    return await said_in(*source, side, wanted.thread, lately, wanted.limit) or None


async def _lately(searcher: Searcher, partition: Sequence[str], wanted: Wanted, degraded: list[str]) -> list[Hit]:
    """Turns that are not indexed yet, as hits."""
    turns = await read_fresh(searcher, partition, wanted.terms, wanted.filters, degraded, wanted.limit)
    try:
        return [as_hit(one.memory) for one in await as_candidates(searcher, turns)]
    except AgentMemoryError as error:
        logger.warning("What was said lately could not be read: %s", error)
        degraded.append(f"fresh turns: {error}")
        return []


def _with_lately(hits: Sequence[Hit], lately: Sequence[Hit], limit: int) -> list[Hit]:
    """At most `limit` hits. Fresh turns may take half of the places, and any that are left."""
    return [*hits[: max(limit - len(lately), (limit + 1) // 2)], *lately][:limit]
