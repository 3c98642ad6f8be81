"""Pop: removes the newest turn of a conversation, if nothing was derived from it.

It is a small deletion. Its job is stored first, and `carry_out` runs it in the order of every deletion (see
`deletion`): the turn is deleted, then the cursors of its thread are touched, so no draft that has read the turn can be
committed. After that, memories committed a moment earlier are found and deleted too. The words of the turn are not
forbidden: only its id is blocked, and the same may be said again.
"""

from __future__ import annotations

import logging

from agent_memory.errors import Conflict, StoreUnavailable
from agent_memory.forgetting.deletion import carry_out
from agent_memory.forgetting.jobs import jobs_of, read_job
from agent_memory.forgetting.tombstones import bury, of_turn
from agent_memory.forgetting.unsaid import Said, derived_from
from agent_memory.models import Turn, iso, now
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, TURNS
from agent_memory.store.counters import Counters
from agent_memory.store.documents import Document, from_document
from agent_memory.store.ids import FORGOTTEN_THREAD, new_turn_id
from agent_memory.store.turns import last_turns, read_window
from agent_memory.store.updates import LostRace, until_written

logger = logging.getLogger("agent_memory")


async def take_back(store: Store, counters: Counters, user_id: str, thread_id: str) -> Turn | None:
    """Takes the newest turn of a thread back; None if its live view is empty.

    A pop that a crash cut short before it had deleted its turn is finished, and that turn is returned.

    Raises:
        Conflict: if something was derived from the turn.
        StoreUnavailable: if the store failed, or other writers took each turn first.
    """
    partition = (user_id, thread_id)
    for row in await jobs_of(store, user_id):
        job = await read_job(store, row) if thread_id in row.get("popped", ()) else None
        if job is not None:
            turn_id = job["turns"][thread_id][0]
            found = await store.read(TURNS, turn_id, partition)
            ours = found is not None and await store.delete(TURNS, turn_id, partition)
            await carry_out(store, counters, job)
            if found is not None and ours:
                return from_document(Turn, found)

    async def attempt() -> Turn | None:
        newest = (await last_turns(store, *partition, 1))[-1:]
        if not newest:
            return None
        [turn] = newest
        found = await store.read(TURNS, turn.id, partition)
        if found is None:
            raise LostRace
        if not (await read_window(store, *partition)).shows(turn, found["_ts"]):
            return None
        said = Said(turn.id, found["_ts"], iso(turn.created_at))
        if reason := await derived_from(store, partition, said):
            raise Conflict(f"the newest turn of {thread_id} cannot be taken back: {reason}; forget it instead")
        await bury(store, user_id, [of_turn(user_id, thread_id, turn.id, max(now(), turn.created_at))])
        job = await store.create(MEMORIES, _job(user_id, thread_id, said))
        # If several callers pop the same turn, the one who deletes it gets it.
        if not await _taken(store, turn):
            await store.delete(MEMORIES, job["id"], (user_id, FORGOTTEN_THREAD))
            raise LostRace
        try:
            await carry_out(store, counters, job)
        except StoreUnavailable:
            logger.warning("a turn of %s is taken back; its place in the index is cleared later", thread_id)
        return turn

    return await until_written(attempt, f"turns of {thread_id}")


async def _taken(store: Store, turn: Turn) -> bool:
    """Deletes a turn; False if somebody else has. If only the answer is lost, it is ours: a second try would take more.

    Raises:
        StoreUnavailable: if the turn may still be there.
    """
    partition = (turn.user_id, turn.thread_id)
    try:
        return await store.delete(TURNS, turn.id, partition)
    except StoreUnavailable:
        if await store.read(TURNS, turn.id, partition) is not None:
            raise
        return True


def _job(user_id: str, thread_id: str, said: Said) -> Document:
    """The stored job: a deletion of one turn, marked as popped, with the times when it was written and said."""
    return {
        "id": f"forgetting_{new_turn_id()}",
        "user_id": user_id,
        "thread_id": FORGOTTEN_THREAD,
        "type": "forgetting",
        "at": iso(now()),
        "turns": {thread_id: [said.turn_id]},
        "memories": {},
        "kept": [],
        "accounts": [],
        "keeps_memories": False,
        "popped": {thread_id: [said.ts, said.at]},
    }
