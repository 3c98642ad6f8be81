"""Counters: how many turns a thread and a user have, and up to which count each step was started.

Two documents in two partitions cannot be written at once. So the thread's counter is written first. The difference
between it and what the user's total includes of it is added to the total after that, under the total's ETag. A crash in
between is repaired when the turns are delivered again. A thread's counter counts as read only if it was written after
the user's counter was read, or if the user's counter lists the thread: an older version of it might lack what was
added.

A user's extractions are counted in one document, whatever the number of threads. An extraction is counted after its
commit, as an intent that its cursor keeps until it is carried out (`steps.step`). The intent may be carried out twice;
the document remembers the last runs that it counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from agent_memory.errors import Conflict, NotFound
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, MEMORIES, TURNS
from agent_memory.store.counted import USER, ThreadCounter, UserCounter, read_counter, read_user_counter
from agent_memory.store.documents import Document, Operation
from agent_memory.store.embedding_model import keeps_totals
from agent_memory.store.ids import COUNTERS_THREAD
from agent_memory.store.updates import change_document, racing, until_written

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


async def _never() -> bool:
    return False


class Counters:
    """The counters of a store. `steps` names the steps that run per thread."""

    def __init__(self, store: Store, steps: tuple[str, ...]) -> None:
        self._store = store
        self._steps = steps

    async def count_user(
        self, user_id: str, turns: Mapping[str, Turns], gate: asyncio.Semaphore, backfill: Collection[str] = ()
    ) -> Counted:
        """Counts turns of a user by thread, each once however often it is delivered. `gate` holds requests back.

        `backfill` names the threads whose turns are all imported.
        If all of them were erased after their delivery, no counter is created.
        """
        return await Counting(self._store, self._steps, gate, user_id, backfill).run(turns)

    async def count(self, user_id: str, thread_id: str, turns: Turns) -> ThreadCounter:
        """Counts turns of one thread, as `count_user` does."""
        [counter] = (await self.count_user(user_id, {thread_id: turns}, asyncio.Semaphore(1))).threads
        return counter

    async def ran(self, user_id: str, thread_id: str, step: str, count: int) -> ThreadCounter:
        """Notes that a step has run for all turns up to `count`. Creates no counter for an erased thread."""
        return await self._change(user_id, thread_id, lambda counter: counter.ran(step, count), _never)

    async def get(self, user_id: str, thread_id: str) -> ThreadCounter:
        """The counter of a thread; an empty one if none is stored."""
        document = await self._store.read(COUNTER, "counter", (user_id, thread_id))
        empty = ThreadCounter(user_id, thread_id, steps=self._steps)
        return read_counter(document, self._steps) if document else empty

    async def of_user(self, user_id: str) -> list[ThreadCounter]:
        """The counters of a user's threads."""
        rows = await self._store.query(COUNTER, queries.THREAD_COUNTERS, (user_id,))
        return [read_counter(row, self._steps) for row in rows]

    async def pending(self) -> list[ThreadCounter]:
        """The counters of all threads whose turns wait for a step."""
        return [read_counter(row, self._steps) for row in await self._store.query(COUNTER, queries.PENDING_COUNTERS)]

    async def unfinished(self) -> list[ThreadCounter]:
        """As `pending`, and in a store file also the counters whose turns wait for no step of whoever wrote them.

        `pending` is stored for the steps of its writer, which may have had fewer. In an account this would cost a scan.
        """
        if not self._store.in_process:
            return await self.pending()
        rows = await self._store.query(COUNTER, queries.BEHIND_COUNTERS)
        return [
            read_counter(row, self._steps) for row in rows if row["pending"] or read_counter(row, self._steps).pending
        ]

    async def pending_turns(self) -> int:
        """How many counted turns wait for a step, over all threads."""
        if self._store.in_process:
            return sum(counter.pending for counter in await self.unfinished())
        return int(sum(await self._store.query(COUNTER, queries.PENDING_TURNS)))

    async def waiting_since(self) -> int | None:
        """The `_ts` of the oldest counted turn that waits for a step, over all threads; None if none waits."""
        return min((int(ts) for ts in await self._store.query(COUNTER, queries.WAITING_SINCE) if ts), default=None)

    async def user(self, user_id: str) -> UserCounter:
        """The counter of a user, with the total of their turns."""
        document = await self._store.read(COUNTER, "user", (user_id, COUNTERS_THREAD))
        counter = read_user_counter(user_id, document)
        if counter.turns is None:  # nothing was counted yet, or an earlier version did it
            counter = replace(counter, turns=await total_of_threads(self._store, user_id))
        return counter

    async def user_ran(self, user_id: str, step: str, count: int) -> None:
        """Notes that a per-user step has run at `count` turns of the user. Creates nothing for an erased user."""
        partition = (user_id, COUNTERS_THREAD)

        async def still_there() -> bool:
            return bool(await self.of_user(user_id))

        def change(document: Document) -> Document:
            done = document.get("done", {})
            return document | {"type": "user_counter", "done": {**done, step: max(count, done.get(step, 0))}}

        await change_document(self._store, COUNTER, "user", partition, change, still_there)

    async def forget(self, user_id: str, thread_id: str, turn_ids: Collection[str], redo: Collection[str] = ()) -> None:
        """Removes the ids of turns from a counter, and marks the steps in `redo` as due again.

        The count stays: thresholds count what was said, not what is left.
        """

        def change(counter: ThreadCounter) -> ThreadCounter:
            done = {step: count for step, count in counter.done.items() if step not in redo}
            return replace(counter, cursor=counter.cursor.without(turn_ids), done=done)

        await self._change(user_id, thread_id, change, _never)

    async def take_back(self, user_id: str, thread_id: str, turn_id: str, ts: int, covered: Collection[str]) -> None:
        """Notes that a turn was taken back that only the steps in `covered` had run for. Repeating it is harmless."""

        async def others_there() -> bool:
            return bool(await self._store.query(TURNS, queries.SOME_OF_ALL, (user_id, thread_id), limit=1))

        await self._change(user_id, thread_id, lambda counter: counter.without(turn_id, ts, covered), others_there)

    async def redo_profile(self, user_id: str) -> None:
        """Marks the profile as due again, in the counter of the user and of one of their threads."""
        threads = await self.of_user(user_id)
        if threads:
            await self.forget(user_id, threads[0].thread_id, (), redo=[USER])
        await change_document(
            self._store,
            COUNTER,
            "user",
            (user_id, COUNTERS_THREAD),
            lambda document: document | {"done": {**document.get("done", {}), "profile": 0}},
            _never,
        )

    async def _change(
        self,
        user_id: str,
        thread_id: str,
        change: Callable[[ThreadCounter], ThreadCounter],
        may_begin: Callable[[], Awaitable[bool]],
    ) -> ThreadCounter:
        def on_document(document: Document) -> Document:
            known = "cursor" in document
            counter = read_counter(document, self._steps) if known else ThreadCounter(user_id, thread_id)
            return change(replace(counter, steps=self._steps)).to_document()

        document = await change_document(self._store, COUNTER, "counter", (user_id, thread_id), on_document, may_begin)
        return read_counter(document, self._steps)


_ID = "extractions"
_KNOWN = 32
"""How many runs are remembered, at 40 bytes each. A run is counted again only if a process pauses between this count
and clearing its intent, another one clears it, and so many others are counted in between."""


async def count_extractions(store: Store, user_id: str) -> int:
    """How many extractions have been committed for a user. One point read once the first one was counted."""
    stored = await store.read(COUNTER, _ID, (user_id, COUNTERS_THREAD))
    document = stored or _begun(user_id, await _runs(store, user_id))
    return int(document["count"])


async def count_extraction(store: Store, user_id: str, run: str) -> None:
    """Counts a committed extraction, once however often it is called. Creates nothing for an erased user."""

    async def attempt() -> None:
        stored = await store.read(COUNTER, _ID, (user_id, COUNTERS_THREAD))
        if stored is not None:
            if run not in stored["known"]:
                with racing():
                    await store.replace(COUNTER, _with(stored, run), stored["_etag"])
            return
        runs = await _runs(store, user_id)  # of a new user, or of a store that an earlier version wrote
        if not runs:
            return
        begun = _begun(user_id, runs)
        with racing():
            await store.create(COUNTER, begun if run in begun["known"] else _with(begun, run))
        if not await _runs(store, user_id):  # erased at the same time
            await store.delete(COUNTER, _ID, (user_id, COUNTERS_THREAD))

    await until_written(attempt, f"the count of extractions of {user_id}")


async def _runs(store: Store, user_id: str) -> list[Document]:
    return await store.query(MEMORIES, queries.EXTRACTIONS, (user_id,))


def _begun(user_id: str, runs: list[Document]) -> Document:
    """The document from the cursors of all threads. It includes what these have committed and not counted yet."""
    return {
        "id": _ID,
        "user_id": user_id,
        "thread_id": COUNTERS_THREAD,
        "type": "extractions",
        "count": sum(row["runs"] for row in runs),
        "known": [row["counting"] for row in runs if row.get("counting")],
    }


def _with(document: Document, run: str) -> Document:
    return document | {"count": document["count"] + 1, "known": [*document["known"], run][-_KNOWN:]}
