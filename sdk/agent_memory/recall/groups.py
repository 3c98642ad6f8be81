"""Groups: searches groups together with a user, and ranks their hits among the user's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from heapq import merge

from agent_memory.errors import AgentMemoryError, InvalidInput
from agent_memory.models import Hit, SearchFilters
from agent_memory.recall.conditions import CONDITIONS_SHOWN
from agent_memory.recall.search import Found, search
from agent_memory.recall.searcher import Searcher
from agent_memory.rules.switches import Asked, known_rules
from agent_memory.store.ids import group_owner

logger = logging.getLogger("agent_memory")

MOST_GROUPS = 10
"""Maximum groups in one search. A choice: each costs another search."""


def check_groups(groups: Sequence[str]) -> list[str]:
    """The groups of a call, each once. Raises InvalidInput: an id is not valid, or there are too many."""
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        raise InvalidInput(f"groups must be a list of group ids, such as [{groups!r:.60}]")
    named = list(dict.fromkeys(groups))
    for group in named:
        group_owner(group)
    if len(named) > MOST_GROUPS:
        raise InvalidInput(f"one call recalls from at most {MOST_GROUPS} groups, not {len(named)}")
    return named


def merged(own: Sequence[Hit], found: Mapping[str, Sequence[Hit]]) -> list[Hit]:
    """The hits of a user and of groups as one list. Each part keeps its order, and the more relevant head goes first.

    Relevance can be compared between owners, a rank score cannot.
    """
    marked = [_of_group(group, hits) for group, hits in found.items()]
    return list(merge(list(own), *marked, key=lambda hit: -(hit.relevance or 0.0)))


def with_conditions_of_groups(own: Sequence[Hit], found: Mapping[str, Found]) -> list[Hit]:
    """The conditions of a user, then the nearest `CONDITIONS_SHOWN` of groups, so that neither hides the other."""
    shared = [hit for group, one in found.items() for hit in _of_group(group, one.conditions)]
    return [*own, *sorted(shared, key=lambda hit: -hit.score)[:CONDITIONS_SHOWN]]


def _of_group(group: str, hits: Sequence[Hit]) -> list[Hit]:
    return [hit.model_copy(update={"group": group}) for hit in hits]


async def searchers_of(
    searcher: Searcher, groups: Sequence[str], asked: Asked, degraded: list[str]
) -> dict[str, Searcher]:
    """A searcher by the rules of each group whose memory is on. Groups whose settings cannot be read are named."""

    async def of(group: str) -> Searcher | None:
        try:
            rules = await known_rules(searcher.store, searcher.policy, group_owner(group), None, asked)
        except AgentMemoryError as error:
            degraded.append(f"group {group}: {error}")
            return None
        return replace(searcher, rules=rules) if rules.recall else None

    found = zip(groups, await asyncio.gather(*map(of, groups)), strict=True)
    return {group: one for group, one in found if one is not None}


async def search_groups(
    searchers: Mapping[str, Searcher],
    query: str,
    limit: int,
    filters: SearchFilters,
    patience: float,
    degraded: list[str],
    *,
    conditions: bool = False,
) -> dict[str, Found]:
    """What each group has for a query. A group whose search fails is left out and named.

    Standing instructions of groups are not read: what one member wants of an agent does not direct another's.
    """

    async def of(group: str, searcher: Searcher) -> Found:
        owner = (group_owner(group),)
        try:
            found = await search(
                searcher, owner, query, limit=limit, filters=filters, patience=patience, conditions=conditions
            )
        except AgentMemoryError as error:
            logger.warning("The memory of a group could not be searched: %s", error)
            degraded.append(f"group {group}: {error}")
            return Found([], [])
        degraded.extend(f"group {group}: {one}" for one in found.degraded)
        return found

    found = await asyncio.gather(*(of(group, searcher) for group, searcher in searchers.items()))
    return dict(zip(searchers, found, strict=True))
