"""Quotas: how many memories a user's tier keeps, and which are worth least.

When the quota is reached, writing a memory by hand raises an error. An extracted memory replaces the least valuable
one, but never one that was written by hand or pinned. An import adds as many as there is room for.

A writer counts again after its write, and takes the write back if it was one too many. So the quota is never exceeded,
but several writers who compete for the last place may all be refused.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from agent_memory.errors import QuotaExceeded
from agent_memory.models import Memory, now
from agent_memory.rules.switches import Rules
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.memories import list_memories
from agent_memory.store.uses import read_uses

STRENGTH_DAYS = 30.0
"""Days after which the score of a memory that was never recalled has fallen to 1/e. Each recall adds a day."""


def retention(memory: Memory, at: datetime) -> float:
    """The score of a memory, from 1 (used just now) towards 0: exp(-days / (30 + times recalled)).

    The days count from when it was last recalled, said or recorded, whichever came last.
    """
    last = max(memory.recorded_at, memory.last_said_at, memory.last_accessed_at or memory.recorded_at)
    days = max(0.0, (at - last).total_seconds() / 86400)
    return math.exp(-days / (STRENGTH_DAYS + memory.access_count))


def eviction_order(memory: Memory, at: datetime) -> tuple[float, float, datetime, str]:
    """A sort key that puts the memory to evict first: lowest score, then lowest confidence, then oldest."""
    return (retention(memory, at), memory.confidence, memory.created_at, memory.id)


@dataclass(frozen=True, slots=True)
class Room:
    """Which memories are withdrawn to make room, and which new ones are refused."""

    retire: list[Memory] = field(default_factory=list)
    refused: list[Memory] = field(default_factory=list)


async def count_kept(store: Store, user_id: str) -> int:
    """How many memories count against a user's quota: the active ones without chunks. One query for a number."""
    return int(sum(await store.query(MEMORIES, queries.KEPT_MEMORIES, (user_id,))))


async def room_left(store: Store, rules: Rules, user_id: str) -> int | None:
    """How many more memories the tier allows: None for any number, negative if there are too many. One query."""
    most = rules.tier.max_memories
    return None if most is None else most - await count_kept(store, user_id)


async def require_room(store: Store, rules: Rules, user_id: str) -> None:
    """Checks that one more memory may be written by hand, before any work is done for it.

    Raises:
        QuotaExceeded: if the tier allows no more.
    """
    left = await room_left(store, rules, user_id)
    if left is not None and left <= 0:
        raise _no_room(rules)


async def keep_within(store: Store, rules: Rules, user_id: str, undo: Callable[[], Awaitable[object]]) -> None:
    """Counts again after a write by hand, and undoes the write if it was one too many.

    Raises:
        QuotaExceeded: if the write was undone.
    """
    left = await room_left(store, rules, user_id)
    if left is not None and left < 0:
        await undo()
        raise _no_room(rules)


def _no_room(rules: Rules) -> QuotaExceeded:
    most = rules.tier.max_memories
    return QuotaExceeded(f"the tier {rules.tier_name} keeps {most} memories; forget some, or change the tier")


async def make_room(store: Store, rules: Rules, user_id: str, fresh: Sequence[Memory]) -> Room:
    """Chooses the memories that new ones replace. Reads the user's memories only if there is no room."""
    most = rules.tier.max_memories
    counted = [memory for memory in fresh if memory.status == "active"]
    if most is None or not counted:
        return Room()
    over = await count_kept(store, user_id) + len(counted) - most
    if over <= 0:
        return Room()
    uses = await read_uses(store, user_id)
    return choose([uses.of(memory) for memory in await list_memories(store, user_id)], counted, over)


def choose(kept: Sequence[Memory], fresh: Sequence[Memory], over: int) -> Room:
    """Chooses the `over` memories that are worth least, among those that may be displaced."""
    at = now()
    replaceable = [memory for memory in kept if memory.model is not None and not memory.pinned]
    going = sorted([*replaceable, *fresh], key=lambda memory: eviction_order(memory, at))[:over]
    new = {memory.id for memory in fresh}
    return Room([m for m in going if m.id not in new], [m for m in going if m.id in new])
