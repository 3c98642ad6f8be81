"""Prune: withdraws what nobody has used, said or asked for in a long time.

A memory fades as `rules.keeping.retention` says; below a tenth it is superseded with the reason `expired`. It is never
deleted: its history shows it, a read as of an earlier time returns it, and saying it again makes it new. What was
remembered or corrected by hand, what is pinned, raw talk and archived sessions do not fade.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from agent_memory.models import Memory, ProcessResult, iso, now
from agent_memory.rules.keeping import STRENGTH_DAYS, retention
from agent_memory.steps.gather import StepRequest, Tools
from agent_memory.steps.step import Draft, Effects, Retirement, Step
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.cursors import StoredCursor
from agent_memory.store.documents import from_document
from agent_memory.store.uses import read_uses

NAME = "prune"
FADED = 0.1
"""The retention below which a memory is withdrawn."""
FIRST_DAYS = -STRENGTH_DAYS * math.log(FADED)
"""Days after which the first memories can have faded: 69, if they were never recalled."""
MOST_AT_ONCE = 100
"""Memories withdrawn in one run; the intents of a run are kept with its cursor."""


async def think(step: Step, tools: Tools, request: StepRequest) -> Draft | None:
    """Finds the memories that have faded. None if there are none.

    Asks no model; costs one query of the user's memories, and a write for each that is withdrawn.
    """
    clock = now()

    async def read(_: StoredCursor) -> list[Memory]:
        rows = await tools.store.query(MEMORIES, queries.FADING, (request.user_id,), before=fading_before(clock))
        uses = await read_uses(tools.store, request.user_id)
        memories = [uses.of(from_document(Memory, row)) for row in rows]
        return sorted((one for one in memories if retention(one, clock) < FADED), key=lambda one: one.id)

    stored, faded = await step.read_ahead(tools, request, read)
    if not faded:
        return None
    taken = faded[:MOST_AT_ONCE]
    effects = Effects(
        retire=[Retirement.of(one, "expired") for one in taken],
        more=len(faded) > len(taken),
        result=ProcessResult(step=NAME, counts={"expired": len(taken)}),
    )
    return step.draft(request, stored, effects)


STEP = Step(name=NAME, scope="user", think=think, runs="deepening", cadence="deepen")


async def fading_users(store: Store, at: datetime) -> list[str]:
    """The users who may have memories that have faded, over all partitions."""
    return sorted(await store.query(MEMORIES, queries.FADING_USERS, before=fading_before(at)))


def fading_before(clock: datetime) -> str:
    """A memory that was used after this time cannot have faded."""
    return iso(clock - timedelta(days=FIRST_DAYS))
