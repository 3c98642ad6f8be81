"""Counts: the turns of a thread, and those of a user (docs/decisions/0007). Values without I/O.

The change feed may deliver a turn twice, late, or after a crash half way. The cursor in a thread's counter decides
whether a turn is new. The user's total adds the difference between a thread's counter and what the total already
includes of that thread. So it follows the same rule, and a repeated delivery completes what a crash interrupted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from agent_memory.store.cursors import Cursor
from agent_memory.store.documents import Document
from agent_memory.store.ids import COUNTERS_THREAD

_MOST_MARKS = 32
_MOST_THREADS = 32
"""Maximum threads that a user's counter lists, besides those of the batch: a document of about 2 KB."""
USER = "user"
"""The step name, in a thread's counter, of the steps that run for the whole user: reconciliation and profile."""


@dataclass(frozen=True, slots=True)
class ThreadCounter:
    """How many turns of a thread were counted, and up to which count each step has run.

    `pending` is how many turns still wait for some step; it is stored so that a query can find them. `waiting` says
    since when: pairs of a count and the earliest `_ts` of the turns between the previous pair's count and this one.
    `taken_back` are the ids of the last popped turns. `backfill`: all turns that wait were imported.
    `told` is how many of the turns the user's total includes, unless the user's counter lists the thread itself.
    """

    user_id: str
    thread_id: str
    cursor: Cursor = field(default_factory=Cursor)
    done: Mapping[str, int] = field(default_factory=dict)
    steps: tuple[str, ...] = ()
    waiting: tuple[tuple[int, int], ...] = ()
    told: int = 0
    taken_back: tuple[str, ...] = ()
    backfill: bool = False

    @property
    def count(self) -> int:
        """How many turns were counted."""
        return self.cursor.count

    @property
    def pending(self) -> int:
        """How many turns wait for the step that is furthest behind."""
        return max((self.count - self.done.get(step, 0) for step in self.steps), default=0)

    def counted(self, turns: Sequence[tuple[str, int]], *, backfill: bool = False) -> ThreadCounter:
        """The counter after these turns (id and `_ts`). Turns that it has counted already change nothing."""
        fresh = {turn_id: ts for turn_id, ts in turns if self._counts(turn_id, ts)}
        if not fresh:
            return self
        cursor = self.cursor.advanced(fresh.items())
        waiting = (*self.waiting, (cursor.count, min(fresh.values())))
        if len(waiting) > _MOST_MARKS:  # merge the newest two, so that the oldest stay exact
            waiting = (*waiting[:-2], (cursor.count, min(waiting[-2][1], waiting[-1][1])))
        waits_for_live_talk = backfill and (self.backfill or not self.pending)
        return replace(self, cursor=cursor, waiting=waiting, backfill=waits_for_live_talk)

    def without(self, turn_id: str, ts: int, covered: Collection[str]) -> ThreadCounter:
        """The counter after a turn was popped that only the steps in `covered` had processed.

        The count stays, because thresholds count what was said. But no step waits for the turn any more, and it is not
        counted if it is delivered later.
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
            "told": self.told,
            **({} if self.waiting_since is None else {"waiting_since": self.waiting_since}),
            **({"taken_back": list(self.taken_back)} if self.taken_back else {}),
            **({"backfill": True} if self.backfill and self.pending else {}),
        }


def read_counter(document: Document, steps: tuple[str, ...]) -> ThreadCounter:
    """A counter from its document."""
    waiting = tuple((count, ts) for count, ts in document.get("waiting", ()))  # earlier versions wrote none
    cursor = Cursor.from_document(document["cursor"])
    told = document.get("told", cursor.count)  # the total always includes what an earlier version counted
    back = tuple(document.get("taken_back", ()))
    place = (document["user_id"], document["thread_id"])
    backfill = document.get("backfill", False)
    return ThreadCounter(*place, cursor, document["done"], steps, waiting, told, back, backfill)


@dataclass(frozen=True, slots=True)
class UserCounter:
    """How many turns of a user were counted over all threads, and up to which count each per-user step has run.

    `turns` is None until the total is kept: an earlier version wrote the document. `threads` holds how many turns of
    the threads that were counted last are in the total; for all others, their own counters have it (`told`).
    `unconfirmed` means that nobody has looked yet whether the user still had turns when this document was created.
    """

    user_id: str
    turns: int | None = None
    done: Mapping[str, int] = field(default_factory=dict)
    threads: Mapping[str, int] = field(default_factory=dict)
    unconfirmed: bool = False
    stored: Document | None = None

    @property
    def total(self) -> int:
        """How many turns were counted, if that is known; else 0."""
        return self.turns or 0

    def owed(self, counter: ThreadCounter) -> int:
        """How many turns of a thread are missing in the total."""
        return max(0, counter.count - self.threads.get(counter.thread_id, counter.told))

    def with_turns_of(self, counters: Sequence[ThreadCounter], total: int, most_dropped: int) -> UserCounter:
        """The counter with these threads counted in.

        If it then names too many threads, it drops the oldest, `most_dropped` at most: each costs a request.
        """
        behind = {counter.thread_id: counter.count for counter in counters if self.owed(counter)}
        others = [item for item in self.threads.items() if item[0] not in behind]
        too_many = max(0, len(others) - _MOST_THREADS)
        kept = dict([*others[min(too_many, most_dropped) :], *behind.items()])
        return replace(self, turns=total + sum(map(self.owed, counters)), threads=kept)

    def to_document(self) -> Document:
        """The stored form."""
        return {
            **(self.stored or {}),
            "id": "user",
            "user_id": self.user_id,
            "thread_id": COUNTERS_THREAD,
            "type": "user_counter",
            "turns": self.total,
            "done": dict(self.done),
            "threads": [list(item) for item in self.threads.items()],  # thread ids are no good names of fields
            "unconfirmed": self.unconfirmed,
        }


def read_user_counter(user_id: str, document: Document | None) -> UserCounter:
    """A user's counter from its document; an empty one if there is none."""
    if document is None:
        return UserCounter(user_id)
    return UserCounter(
        user_id,
        document.get("turns"),
        document.get("done", {}),
        dict(document.get("threads", ())),
        document.get("unconfirmed", False),
        document,
    )
