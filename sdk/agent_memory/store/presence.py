"""Presence: whether there is anything of a user that more may be written about."""

from __future__ import annotations

from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, TURNS


async def has_talk_or_memories(store: Store, user_id: str) -> bool:
    """Whether a user has any turn or memory, or what processing keeps beside these; who was erased has not.

    One query, a second for a user whose turns have expired.
    """
    for container in (TURNS, MEMORIES):
        if await store.query(container, queries.SOME_OF_ALL, (user_id,), limit=1):
            return True
    return False
