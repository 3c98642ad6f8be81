"""Counters: how many turns a thread has, and up to which count each step was started (docs/decisions/0007).

The change feed advances a counter and may deliver a turn twice. The cursor in the counter remembers which turns were
counted. A user's count is the sum over their threads, so the two always agree.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, TURNS
from agent_memory.store.cursors import Cursor
from agent_memory.store.documents import Document
from agent_memory.store.ids import COUNTERS_THREAD
from agent_memory.store.updates import change_document

_MOST_MARKS = 32
USER = "user"
"""The step name, in a thread's counter, of the steps that run for the whole user: reconciliation and profile."""


@dataclass(frozen=True, slots=True)
class ThreadCounter:
    """How many turns of a thread were counted, and up to which count each step has run.

    `pending` is how many turns still wait for some step; it is stored so that a query can find them. `waiting` says
    since when: pairs of a count and the earliest `_ts` of the turns between the previous pair's count and this one.
    `taken_back` are the ids of the last turns that were taken back.
    """

    user_id: str
    thread_id: str
    cursor: Cursor = field(default_factory=Cursor)
    done: Mapping[str, int] = field(default_factory=dict)
    steps: tuple[str, ...] = ()
    waiting: tuple[tuple[int, int], ...] = ()
    taken_back: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many turns were counted."""
        return self.cursor.count

    @property
    def pending(self) -> int:
        """How many turns wait for the step that is furthest behind."""
        return max((self.count - self.done.get(step, 0) for step in self.steps), default=0)

    def counted(self, turns: Sequence[tuple[str, int]]) -> ThreadCounter:
        """The counter after these turns (id and `_ts`). Turns that it has counted already change nothing."""
        fresh = {turn_id: ts for turn_id, ts in turns if self._counts(turn_id, ts)}
        if not fresh:
            return self
        cursor = self.cursor.advanced(fresh.items())
        waiting = (*self.waiting, (cursor.count, min(fresh.values())))
        if len(waiting) > _MOST_MARKS:  # merge the newest two, so that the oldest stay exact
            waiting = (*waiting[:-2], (cursor.count, min(waiting[-2][1], waiting[-1][1])))
        return replace(self, cursor=cursor, waiting=waiting)

    def without(self, turn_id: str, ts: int, covered: Collection[str]) -> ThreadCounter:
        """The counter after a turn was taken back that only the steps in `covered` had run for.

        The count stays, as thresholds are crossed by what was said. But no step waits for the turn any more, and it
        is not counted if it is delivered after this.
        """
        if turn_id in self.taken_back:
            return self
        gone = replace(self, taken_back=(*self.taken_back, turn_id)[-_MOST_MARKS:])
        if self.cursor.is_new(turn_id, ts):
            return gone
        done = {step: min(self.count, self.done.get(step, 0) + 1) for step in self.steps if step not in covered}
        return gone._with_done({**self.done, **done})

    def _counts(self, turn_id: str, ts: int) -> bool:
        return self.cursor.is_new(turn_id, ts) and turn_id not in self.taken_back

    def ran(self, step: str, count: int) -> ThreadCounter:
        """The counter after a step has run for all turns up to `count`."""
        return self._with_done({**self.done, step: max(count, self.done.get(step, 0))})

    def _with_done(self, done: Mapping[str, int]) -> ThreadCounter:
        covered = min((done.get(name, 0) for name in self.steps), default=self.count)
        return replace(self, done=done, waiting=tuple(mark for mark in self.waiting if mark[0] > covered))

    @property
    def waiting_since(self) -> int | None:
        """The `_ts` of the oldest turn that waits for some step, if it is known."""
        return self.waiting[0][1] if self.waiting and self.pending else None

    def to_document(self) -> Document:
        """The stored form."""
        return {
            "id": "counter",
            "user_id": self.user_id,
            "thread_id": self.thread_id,
            "type": "counter",
            "count": self.count,
            "pending": self.pending,
            "last_turn_ts": self.cursor.ts,
            "done": dict(self.done),
            "cursor": self.cursor.to_document(),
            "waiting": [list(mark) for mark in self.waiting],
            **({} if self.waiting_since is None else {"waiting_since": self.waiting_since}),
            **({"taken_back": list(self.taken_back)} if self.taken_back else {}),
        }


def read_counter(document: Document, steps: tuple[str, ...]) -> ThreadCounter:
    """A counter from its document."""
    waiting = tuple((count, ts) for count, ts in document.get("waiting", ()))  # earlier versions wrote none
    cursor = Cursor.from_document(document["cursor"])
    back = tuple(document.get("taken_back", ()))
    return ThreadCounter(document["user_id"], document["thread_id"], cursor, document["done"], steps, waiting, back)


async def _never() -> bool:
    return False


class Counters:
    """The counters of a store. `steps` names the steps that run per thread."""

    def __init__(self, store: Store, steps: tuple[str, ...]) -> None:
        self._store = store
        self._steps = steps

    async def count(self, user_id: str, thread_id: str, turns: Sequence[tuple[str, int]]) -> ThreadCounter:
        """Counts turns (id and `_ts`) of a thread, each once however often it is delivered.

        If a thread's first turns were erased after their delivery, no counter is created.
        """

        async def still_there() -> bool:
            ids = [turn_id for turn_id, _ in turns]
            return bool(await self._store.query(TURNS, queries.IDS_THAT_EXIST, (user_id, thread_id), ids=ids))

        return await self._change(user_id, thread_id, lambda counter: counter.counted(turns), still_there)

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

    async def user_done(self, user_id: str) -> dict[str, int]:
        """Up to which count of the user's turns each per-user step has run."""
        document = await self._store.read(COUNTER, "user", (user_id, COUNTERS_THREAD))
        return dict(document["done"]) if document else {}

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

        The count stays: thresholds are crossed by what was said, not by what is left.
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
