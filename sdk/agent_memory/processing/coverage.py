"""Coverage: whether a step that has run has read all turns that were counted.

A read may be answered by a replica that lags behind the change feed. What it did not show is then counted and not
covered, and must stay due.
"""

from __future__ import annotations

from agent_memory.language.roles import is_off
from agent_memory.models import now
from agent_memory.rules.switches import read_rules
from agent_memory.steps.gather import Tools
from agent_memory.steps.table import steps
from agent_memory.store import queries
from agent_memory.store.containers import TURNS
from agent_memory.store.counted import ThreadCounter
from agent_memory.store.cursors import read_cursor

LAG_SECONDS = 300
"""How long a replica may hide a turn; an older one that cannot be read was deleted. A choice, far above the usual."""


async def covered(tools: Tools, counter: ThreadCounter, name: str, count: int) -> int:
    """Up to which count a step that has run for `count` turns of a thread is done: all, or what its cursor covers.

    All as well if nothing is left to read: the step or the memory is switched off, or the turns are gone.
    """
    step, store = steps()[name], tools.store
    place = (counter.user_id, counter.thread_id)
    cursor = (await read_cursor(store, step.container, step.partition_of(*place), name)).cursor
    unread = [turn_id for turn_id, ts in counter.cursor.seen.items() if cursor.is_new(turn_id, ts)]
    if not unread or cursor.count >= count:
        return count
    if step.task is not None and is_off(tools.chat, step.task):
        return count
    if not (await read_rules(store, tools.policy, *place)).derive:
        return count
    recent = now().timestamp() - counter.cursor.ts <= LAG_SECONDS
    if recent or await store.query(TURNS, queries.IDS_THAT_EXIST, place, ids=unread):
        return cursor.count
    return count
