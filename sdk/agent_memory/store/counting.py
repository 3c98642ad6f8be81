"""Counting: advances the counters of a user and of some of their threads by turns of the change feed.

Two documents in two partitions cannot be written at once. So the thread's counter is written first. The difference
between it and what the user's total includes of it is added to the total after that, under the total's ETag. A crash in
between is repaired when the turns are delivered again. A thread's counter counts as read only if it was written after
the user's counter was read, or if the user's counter lists the thread: an older version of it might lack what was
added.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from agent_memory.errors import Conflict, NotFound
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, TURNS
from agent_memory.store.counted import ThreadCounter, UserCounter, read_counter, read_user_counter
from agent_memory.store.documents import Document, Operation
from agent_memory.store.ids import COUNTERS_THREAD
from agent_memory.store.schema import keeps_totals
from agent_memory.store.updates import racing, until_written

T = TypeVar("T")
Turns = Sequence[tuple[str, int]]
"""Id and `_ts` of each turn."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The counters of a user and of the threads that were counted."""

    user: UserCounter
    threads: list[ThreadCounter]


class Counting:
    """Counts the turns of one user, each once however often it is delivered. `gate` holds requests back.

    `backfill` names the threads whose turns are all imported.
    """

    def __init__(
        self,
        store: Store,
        steps: tuple[str, ...],
        gate: asyncio.Semaphore,
        user_id: str,
        backfill: Collection[str] = (),
    ) -> None:
        self._store = store
        self._steps = steps
        self._gate = gate
        self._user_id = user_id
        self._backfill = backfill

    async def run(self, turns: Mapping[str, Turns]) -> Counted:
        """Counts turns by thread. Creates nothing for a user who was erased after the turns were delivered.

        One request for all that is read, one for each thread and one for the user. Further ones for a user's first
        turns, for threads that the user's counter no longer names, and when others write at the same time.
        """
        return await until_written(partial(self._attempt, turns), f"the counters of {self._user_id}")

    async def _attempt(self, turns: Mapping[str, Turns]) -> Counted:
        rows = await self._send(
            self._store.query(COUNTER, queries.COUNTERS_OF, (self._user_id,), threads=[*turns, COUNTERS_THREAD])
        )
        documents = {row["thread_id"]: row for row in rows}
        user = read_user_counter(self._user_id, documents.pop(COUNTERS_THREAD, None))
        total = await self._total(user)
        threads = list(
            await asyncio.gather(
                *(
                    self._count(user, thread_id, thread_turns, documents.get(thread_id))
                    for thread_id, thread_turns in turns.items()
                )
            )
        )
        drops = 2 * len(turns) - 1  # so that all of it costs three requests a thread and one for the user at most
        if user.stored is not None and user.unconfirmed:
            drops -= 1
            if not await self._are_there(turns):
                await self._take_back(user.stored, list(turns))
                return Counted(user, threads)
            user = replace(user, unconfirmed=False)
        after = user.with_turns_of(threads, total, drops)
        if user.stored is None:
            with racing():
                created = await self._send(self._store.create(COUNTER, replace(after, unconfirmed=True).to_document()))
            if not await self._are_there(turns):
                await self._take_back(created, list(turns))
        elif after.turns != user.turns:
            dropped = [(name, count) for name, count in user.threads.items() if name not in after.threads]
            await asyncio.gather(*(self._tell(name, count) for name, count in dropped))
            with racing():
                await self._send(self._store.replace(COUNTER, after.to_document(), user.stored["_etag"]))
        return Counted(after, threads)

    async def _total(self, user: UserCounter) -> int:
        """The user's total; if an earlier version kept none, the sum over the threads."""
        if user.turns is not None or (user.stored is None and await keeps_totals(self._store)):
            return user.total
        return await total_of_threads(self._store, self._user_id)

    async def _count(self, user: UserCounter, thread_id: str, turns: Turns, document: Document | None) -> ThreadCounter:
        """Counts turns of a thread whose counter was read as `document`."""
        read_before = [document]

        async def attempt() -> ThreadCounter:
            partition = (self._user_id, thread_id)
            stored = read_before.pop() if read_before else await self._store.read(COUNTER, "counter", partition)
            empty = ThreadCounter(self._user_id, thread_id, steps=self._steps)
            before = empty if stored is None else read_counter(stored, self._steps)
            after = before.counted(turns, backfill=thread_id in self._backfill)
            sure = after is before and (thread_id in user.threads or not user.owed(after))
            if stored is None and after is not before:
                with racing():
                    await self._store.create(COUNTER, after.to_document())
            elif stored is not None and not sure:
                with racing():
                    await self._store.replace(COUNTER, after.to_document(), stored["_etag"])
            return after

        return await self._send(until_written(attempt, f"the counter of {thread_id}"))

    async def _tell(self, thread_id: str, count: int) -> None:
        """Notes in a thread's counter that the total includes `count` of its turns."""
        behind = f"FROM c WHERE NOT IS_DEFINED(c.told) OR c.told < {int(count)}"
        with suppress(Conflict, NotFound):  # it already has the value, or is gone
            partition = (self._user_id, thread_id)
            await self._send(self._store.patch(COUNTER, "counter", partition, {"told": count}, behind))

    async def _are_there(self, turns: Mapping[str, Turns]) -> bool:
        """Whether any of the turns is still stored. If not, the user was erased after their delivery."""
        ids = [turn_id for thread_turns in turns.values() for turn_id, _ in thread_turns]
        return bool(await self._send(self._store.query(TURNS, queries.IDS_THAT_EXIST, (self._user_id,), ids=ids)))

    async def _take_back(self, user: Document, thread_ids: Sequence[str]) -> None:
        """Deletes the counters of a user who was erased, as long as nobody else has written them."""
        rows = await self._store.query(COUNTER, queries.COUNTERS_OF, (self._user_id,), threads=list(thread_ids))
        for document in (user, *rows):  # the user's first: without it, the others are looked at again
            unchanged: Operation = ("delete", (document["id"],), {"if_match_etag": document["_etag"]})
            with suppress(Conflict):
                await self._store.batch(COUNTER, (self._user_id, document["thread_id"]), [unchanged])

    async def _send(self, request: Awaitable[T]) -> T:
        async with self._gate:
            return await request


async def total_of_threads(store: Store, user_id: str) -> int:
    """How many turns of a user's threads belong in a total that is begun now. Reads the counters of all threads."""
    rows = await store.query(COUNTER, queries.THREAD_COUNTERS, (user_id,))
    return sum(read_counter(row, ()).told for row in rows)
