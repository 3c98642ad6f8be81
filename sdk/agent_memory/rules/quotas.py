"""Quotas: how many memories a user's tier keeps.

Who writes a memory by hand is told that there is no room. What is extracted takes the place of what is worth least;
memories that were given by hand or pinned are not displaced by what was overheard. An import brings what there is room
for.

Writers at the same moment each count again behind their write, and take it back if it was one too many. So none is kept
beyond the quota, but at the last place all of them may be refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from agent_memory.errors import QuotaExceeded
from agent_memory.models import Memory, now
from agent_memory.rules.switches import Rules
from agent_memory.rules.value import eviction_order
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.memories import list_memories
from agent_memory.store.uses import read_uses


@dataclass(frozen=True, slots=True)
class Room:
    """How room is made: which memories go, and which new ones find no place."""

    retire: list[Memory] = field(default_factory=list)
    refused: list[Memory] = field(default_factory=list)


async def count_kept(store: Store, user_id: str) -> int:
    """How many memories count against a user's quota: the active ones, raw talk aside. One query, no documents."""
    return int(sum(await store.query(MEMORIES, queries.KEPT_MEMORIES, (user_id,))))


async def room_left(store: Store, rules: Rules, user_id: str) -> int | None:
    """How many more memories the tier allows; None for any number, below 0 if there are too many. One query at most."""
    most = rules.tier.max_memories
    return None if most is None else most - await count_kept(store, user_id)


async def require_room(store: Store, rules: Rules, user_id: str) -> None:
    """Checks, ahead of the work for it, that one more memory may be written by hand.

    Raises:
        QuotaExceeded: if the tier allows no more.
    """
    left = await room_left(store, rules, user_id)
    if left is not None and left <= 0:
        raise _no_room(rules)


async def keep_within(store: Store, rules: Rules, user_id: str, undo: Callable[[], Awaitable[object]]) -> None:
    """Counts again behind a write by hand, and takes it back if it was one too many.

    Raises:
        QuotaExceeded: if it was taken back.
    """
    left = await room_left(store, rules, user_id)
    if left is not None and left < 0:
        await undo()
        raise _no_room(rules)


def _no_room(rules: Rules) -> QuotaExceeded:
    most = rules.tier.max_memories
    return QuotaExceeded(f"the tier {rules.tier_name} keeps {most} memories; forget some, or change the tier")


async def make_room(store: Store, rules: Rules, user_id: str, fresh: Sequence[Memory]) -> Room:
    """Chooses what gives way to new memories. Reads the user's memories only if there is no room."""
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
    """The `over` memories that are worth least, of those that may go."""
    at = now()
    replaceable = [memory for memory in kept if memory.model is not None and not memory.pinned]
    going = sorted([*replaceable, *fresh], key=lambda memory: eviction_order(memory, at))[:over]
    new = {memory.id for memory in fresh}
    return Room([m for m in going if m.id not in new], [m for m in going if m.id in new])
