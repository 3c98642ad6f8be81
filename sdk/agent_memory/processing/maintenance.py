"""Maintenance: what may have been left behind, found by queries that cost little when nothing was.

Every write is made so that a crash leaves nothing half done that the next run would not finish. These look for work
whose next run is not in sight.
"""

from __future__ import annotations

from agent_memory.processing.draft import finish
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, TURNS
from agent_memory.store.documents import Document


async def finish_intents(store: Store) -> int:
    """Completes the supersessions that a crash left recorded but not applied; how many memories it superseded."""
    cursors = await store.query(MEMORIES, queries.UNFINISHED_CURSORS)
    return sum([await finish(store, MEMORIES, (c["user_id"], c["thread_id"]), c["step"]) for c in cursors])


async def recent_turns(store: Store, since: float) -> list[Document]:
    """The turns (their keys and times) that were written since; to be counted, if the change feed missed one."""
    rows: list[Document] = await store.query(TURNS, queries.RECENT_TURNS, since=int(since))
    return rows


async def recently_extracted(store: Store, since: float) -> list[str]:
    """The users of whom something was extracted since."""
    return sorted(await store.query(MEMORIES, queries.RECENTLY_EXTRACTED, since=int(since)))
