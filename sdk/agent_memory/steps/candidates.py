"""Candidates: which of a user's facts a reconciliation compares.

As many of the newest as one prompt can hold. If there are more facts, a part of the space goes to older ones that are
similar to new ones, so that a contradiction is found even if one side is old. Costs at most `SEEDS` vector queries and
two others, and no model call.
"""

from __future__ import annotations

import asyncio

from agent_memory.calibration import calibration_of
from agent_memory.models import Memory
from agent_memory.steps.gather import Tools
from agent_memory.store.memories import nearest_active, newest_facts, recorded_since

SEEDS = 20
"""New facts whose neighbours are looked for; reconciliation is due after some ten."""
NEIGHBOURS = 8
OLDER_SHARE = 3
"""One place in this many may go to older facts."""


async def candidates(tools: Tools, user_id: str, since: str) -> list[Memory]:
    """Active facts, newest first, as many as a reconciliation takes.

    `since` is when the newest of the facts of the last time was recorded.
    """
    limit = tools.limits.reconcile_candidates
    newest = await newest_facts(tools.store, user_id, limit)
    if len(newest) < limit:
        return newest  # these are all
    older = await _near_what_is_new(tools, user_id, since, {fact.id for fact in newest})
    taken = older[: limit // OLDER_SHARE]
    pool = newest[: limit - len(taken)] + taken
    return sorted(pool, key=lambda fact: (fact.created_at, fact.id), reverse=True)


async def _near_what_is_new(tools: Tools, user_id: str, since: str, known: set[str]) -> list[Memory]:
    """Facts beyond the newest that are new themselves or similar to new ones, the most similar first."""
    model = tools.embeddings.model_id
    related = calibration_of(model).one_thing
    seeds = await recorded_since(tools.store, user_id, since, model, SEEDS)
    rings = await asyncio.gather(
        *(nearest_active(tools.store, user_id, "fact", vector, model, NEIGHBOURS) for _, vector in seeds)
    )
    best: dict[str, tuple[float, Memory]] = {fact.id: (1.0, fact) for fact, _ in seeds if fact.id not in known}
    for fact, similarity in (found for ring in rings for found in ring):
        if fact.id not in known and similarity > related:
            best[fact.id] = max(best.get(fact.id, (0.0, fact)), (similarity, fact), key=lambda entry: entry[0])
    return [fact for _, fact in sorted(best.values(), key=lambda entry: (-entry[0], entry[1].id))]
