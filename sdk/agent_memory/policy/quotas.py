"""Quotas: how many memories a user's tier keeps (row S0-104, conflict C24).

Who writes a memory by hand is told that there is no room. What is extracted takes the place of what is worth least;
memories that were given by hand or pinned are not displaced by what was overheard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_memory.errors import QuotaExceeded
from agent_memory.models import Memory, now
from agent_memory.policy.switches import Rules
from agent_memory.policy.value import eviction_order
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.memories import list_memories


@dataclass(frozen=True, slots=True)
class Room:
    """How room is made: which memories go, and which new ones find no place."""

    retire: list[Memory] = field(default_factory=list)
    refused: list[Memory] = field(default_factory=list)


async def count_kept(store: Store, user_id: str) -> int:
    """How many memories count against a user's quota: the active ones, raw talk aside. One query, no documents."""
    return int(sum(await store.query(MEMORIES, queries.KEPT_MEMORIES, (user_id,))))


async def require_room(store: Store, rules: Rules, user_id: str) -> None:
    """Checks that one more memory may be written by hand. Writers at the same moment may go over by one each.

    Raises:
        QuotaExceeded: if the tier allows no more.
    """
    most = rules.tier.max_memories
    if most is not None and await count_kept(store, user_id) >= most:
        raise QuotaExceeded(f"the tier {rules.tier_name} keeps {most} memories; forget some, or change the tier")


async def make_room(store: Store, rules: Rules, user_id: str, fresh: Sequence[Memory]) -> Room:
    """Chooses what gives way to new memories. Reads the user's memories only if there is no room."""
    most = rules.tier.max_memories
    counted = [memory for memory in fresh if memory.status == "active"]
    if most is None or not counted:
        return Room()
    over = await count_kept(store, user_id) + len(counted) - most
    if over <= 0:
        return Room()
    return choose(await list_memories(store, user_id), counted, over)


def choose(kept: Sequence[Memory], fresh: Sequence[Memory], over: int) -> Room:
    """The `over` memories that are worth least, of those that may go."""
    at = now()
    replaceable = [memory for memory in kept if memory.model is not None and not memory.pinned]
    going = sorted([*replaceable, *fresh], key=lambda memory: eviction_order(memory, at))[:over]
    new = {memory.id for memory in fresh}
    return Room([m for m in going if m.id not in new], [m for m in going if m.id in new])
