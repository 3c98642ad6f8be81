"""Counters: how many turns a thread and a user have, and up to which count each step was started.

`store/counting.py` advances them. This module reads them, and notes what has run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace

from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, TURNS
from agent_memory.store.counted import USER, ThreadCounter, UserCounter, read_counter, read_user_counter
from agent_memory.store.counting import Counted, Counting, Turns, total_of_threads
from agent_memory.store.documents import Document
from agent_memory.store.ids import COUNTERS_THREAD
from agent_memory.store.updates import change_document


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
        """The same for the turns of one thread."""
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

    async def pending_of(self, user_id: str, thread_ids: Sequence[str]) -> dict[str, int]:
        """How many counted turns wait for a step, by thread. Threads without a counter are left out."""
        rows = await self._store.query(COUNTER, queries.PENDING_OF, (user_id,), threads=list(thread_ids))
        return {row["thread_id"]: row["pending"] for row in rows}

    async def pending(self) -> list[ThreadCounter]:
        """The counters of all threads whose turns wait for a step."""
        return [read_counter(row, self._steps) for row in await self._store.query(COUNTER, queries.PENDING_COUNTERS)]

    async def pending_turns(self) -> int:
        """How many counted turns wait for a step, over all threads."""
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
            seen = {turn_id: ts for turn_id, ts in counter.cursor.seen.items() if turn_id not in turn_ids}
            done = {step: count for step, count in counter.done.items() if step not in redo}
            return replace(counter, cursor=replace(counter.cursor, seen=seen), done=done)

        await self._change(user_id, thread_id, change, _never)

    async def take_back(self, user_id: str, thread_id: str, turn_id: str, ts: int, covered: Collection[str]) -> None:
        """Notes that a turn was taken back that only the steps in `covered` had run for. Repeating it is harmless."""

        async def others_there() -> bool:
            return bool(await self._store.query(TURNS, queries.SOME_OF_ALL, (user_id, thread_id), limit=1))

        await self._change(user_id, thread_id, lambda counter: counter.without(turn_id, ts, covered), others_there)

    async def redo_for_user(self, user_id: str, step: str) -> None:
        """Marks a per-user step as due again, in the counter of the user and of one of their threads."""
        threads = await self.of_user(user_id)
        if threads:
            await self.forget(user_id, threads[0].thread_id, (), redo=[USER])
        await change_document(
            self._store,
            COUNTER,
            "user",
            (user_id, COUNTERS_THREAD),
            lambda document: document | {"done": {**document.get("done", {}), step: 0}},
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
