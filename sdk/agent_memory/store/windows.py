"""Windows: which turns of a thread are still in its live view, and which have left it.

Turns never change (decision D3), so that a turn left the view is told by a watermark beside the thread's summary, in
two orders. In the order of the talk it is a place: what comes after it is live. In the server's order it is a cursor:
a turn that was written later is live, however old its `created_at`, so that nothing is hidden that nobody has seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from agent_memory.errors import Conflict
from agent_memory.models import Turn, iso, now
from agent_memory.store import commits, queries
from agent_memory.store.client import Operation, Store
from agent_memory.store.containers import MEMORIES, SUMMARIES, TURNS
from agent_memory.store.cursors import Cursor
from agent_memory.store.documents import Document, from_document
from agent_memory.store.ids import state_id, summary_id

WINDOW_ID = "window"
SUMMARIZE = "summarize"
_CURSORS = {SUMMARIZE: SUMMARIES, "extract": MEMORIES, "index": MEMORIES, "archive": MEMORIES}
"""Where the steps that a turn can be covered by keep their cursors."""
_ATTEMPTS = 5

Place = tuple[str, str]
"""Where a turn stands in its talk: `created_at` as text, and id."""
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Window:
    """What has left the live view: all up to `through`, and up to `cleared` the system's turns too.

    `retired` is how many went after the last clearing.
    """

    cursor: Cursor = field(default_factory=Cursor)
    through: Place = ("", "")
    cleared: Place = ("", "")
    retired: int = 0
    etag: str | None = None

    def shows(self, turn: Turn, ts: int) -> bool:
        """Whether a turn, written at `_ts`, is in the live view."""
        return self.shows_at(place_of(turn), turn.role, ts)

    def shows_at(self, place: Place, role: str, ts: int) -> bool:
        """Whether a turn at a place of the talk, written at `_ts`, is in the live view."""
        end = self.cleared if role == "system" else self.through
        return place > end or self.cursor.is_new(place[1], ts)


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """A turn in the live view, with the server's time of its writing."""

    turn: Turn
    ts: int


async def read_window(store: Store, user_id: str, thread_id: str) -> Window:
    """The window of a thread as it stands; everything is live where there is none."""
    document = await store.read(SUMMARIES, WINDOW_ID, (user_id, thread_id))
    if document is None:
        return Window()
    through, cleared = tuple(document["through"]), tuple(document["cleared"])
    return Window(Cursor.from_document(document), through, cleared, document["retired"], document["_etag"])


async def live_turns(store: Store, user_id: str, thread_id: str, window: Window) -> list[LiveTurn]:
    """The turns in the live view, in the order of the talk. Costs what the view holds, not what the thread does."""
    rows = await store.query(
        TURNS, queries.LIVE_TURNS, (user_id, thread_id), after=window.through[0], since=window.cursor.since
    )
    found = [LiveTurn(from_document(Turn, row), int(row["_ts"])) for row in rows]
    shown = [live for live in found if window.shows(live.turn, live.ts)]
    return sorted(shown, key=lambda live: place_of(live.turn))


async def last_live_turns(store: Store, user_id: str, thread_id: str, limit: int) -> list[Turn]:
    """The newest turns of a thread that are in its live view, at most `limit`, oldest first."""
    window, rows = await asyncio.gather(
        read_window(store, user_id, thread_id),
        store.query(TURNS, queries.LAST_TURNS, (user_id, thread_id), limit=limit),
    )
    found = [(from_document(Turn, row), int(row["_ts"])) for row in rows]
    return sorted((turn for turn, ts in found if window.shows(turn, ts)), key=place_of)


async def retire(store: Store, user_id: str, thread_id: str, through: str, covered_by: Sequence[str]) -> int:
    """Takes turns out of the live view, up to `through`, as far as the steps have covered them; how many went.

    A step that gave a turn up (a dead letter) has not covered it. The system's turns stay.

    Raises:
        Conflict: if other writers keep moving the window.
    """

    async def move() -> int:
        window = await read_window(store, user_id, thread_id)
        live = await live_turns(store, user_id, thread_id, window)
        if through not in {one.turn.id for one in live}:
            return 0
        cursors = [
            (await commits.read_cursor(store, _CURSORS[step], (user_id, thread_id), step)).cursor for step in covered_by
        ]
        given_up = {
            turn_id
            for container in {_CURSORS[step] for step in covered_by}
            for letter in await store.query(container, queries.DEAD_LETTERS, (user_id, thread_id))
            if letter["step"] in covered_by
            for turn_id in letter["turn_ids"]
        }
        going: list[LiveTurn] = []
        for one in live:
            if one.turn.role != "system":
                if one.turn.id in given_up or any(cursor.is_new(one.turn.id, one.ts) for cursor in cursors):
                    break
                going.append(one)
            if one.turn.id == through:
                break
        if not going:
            return 0
        # What was written late stands before the place that the window has reached already.
        reached = max(window.through, place_of(going[-1].turn))
        retired = window.retired + len(going)
        moved = replace(window, cursor=_advanced(window.cursor, going), through=reached, retired=retired)
        await _write(store, user_id, thread_id, moved)
        return len(going)

    return await _repeated(move)


async def clear(store: Store, user_id: str, thread_id: str) -> int:
    """Empties the live view; how many turns were in it. Summary and state go, and do not come back from these turns.

    One transactional batch: it happens as a whole, and a summary that is being made meanwhile cannot be committed.

    Raises:
        Conflict: if other writers keep moving the window or the summary.
    """
    partition = (user_id, thread_id)

    async def unsummarized(stored: commits.StoredCursor) -> list[Document]:
        cursor = stored.cursor
        return await store.query(TURNS, queries.NEW_TURN_IDS, partition, since=cursor.since, seen=list(cursor.seen))

    async def empty() -> int:
        # The cursor first: what is summarized from here on makes the commit fail, so that no turn stays live whose
        # summary goes.
        summarized, rows = await commits.read_ahead(store, SUMMARIES, partition, SUMMARIZE, unsummarized)
        window = await read_window(store, user_id, thread_id)
        live = await live_turns(store, user_id, thread_id, window)
        gone = [summary_id(user_id, thread_id), state_id(user_id, thread_id)]
        letters = await store.query(SUMMARIES, queries.DEAD_LETTERS, partition)
        stale = [item for item in gone if await store.read(SUMMARIES, item, partition) is not None]
        stale += [letter["id"] for letter in letters if letter["step"] == SUMMARIZE]
        covered = {one.turn.id: one.ts for one in live if summarized.cursor.is_new(one.turn.id, one.ts)} | {
            row["id"]: int(row["_ts"])
            for row in rows
            if not window.shows_at((row["created_at"], row["id"]), row["role"], int(row["_ts"]))
        }
        if not (live or stale):
            return 0
        end = max([window.through, *(place_of(one.turn) for one in live)])
        cleared = replace(window, cursor=_advanced(window.cursor, live), through=end, cleared=end, retired=0)
        await commits.commit(
            store,
            SUMMARIES,
            partition,
            SUMMARIZE,
            cursor=summarized.cursor.advanced(covered.items()),
            etag=summarized.etag,
            operations=[_operation(user_id, thread_id, cleared), *(commits.delete(item) for item in stale)],
            extra=summarized.extra,
        )
        return len(live)

    return await _repeated(empty)


async def cleared_cursor(store: Store, user_id: str, thread_id: str) -> Cursor:
    """A cursor that covers all turns up to the last clearing: from there a summary is made, if it is made again."""
    window = await read_window(store, user_id, thread_id)
    if not window.cleared[0]:
        return Cursor()
    rows = await store.query(TURNS, queries.TURNS_UP_TO, (user_id, thread_id), end=window.cleared[0])
    # What was written after the clearing is live, however old its time.
    covered = [
        (row["id"], int(row["_ts"]))
        for row in rows
        if (row["created_at"], row["id"]) <= window.cleared and not window.cursor.is_new(row["id"], int(row["_ts"]))
    ]
    return Cursor().advanced(covered) if covered else Cursor()


async def forget_turns(store: Store, user_id: str, thread_id: str, gone: Collection[str]) -> None:
    """Lets a window name none of these turns, which were deleted. Where one was its edge, the turn before it is.

    Raises:
        Conflict: if other writers keep moving the window.
    """

    async def edge(place: Place) -> Place:
        if place[1] not in gone:
            return place
        rows = await store.query(TURNS, queries.TURNS_UP_TO, (user_id, thread_id), end=place[0])
        left = [(row["created_at"], row["id"]) for row in rows]
        return max((one for one in left if one <= place), default=("", ""))

    async def move() -> None:
        window = await read_window(store, user_id, thread_id)
        if window.etag is None:
            return
        seen = {turn_id: ts for turn_id, ts in window.cursor.seen.items() if turn_id not in gone}
        cursor = replace(window.cursor, seen=seen)
        through, cleared = await edge(window.through), await edge(window.cleared)
        await _write(store, user_id, thread_id, replace(window, cursor=cursor, through=through, cleared=cleared))

    await _repeated(move)


def place_of(turn: Turn) -> Place:
    """Where a turn stands in its talk."""
    return (iso(turn.created_at), turn.id)


def _advanced(cursor: Cursor, turns: Sequence[LiveTurn]) -> Cursor:
    return cursor.advanced((one.turn.id, one.ts) for one in turns)


def _document(user_id: str, thread_id: str, window: Window) -> Document:
    return {
        "id": WINDOW_ID,
        "user_id": user_id,
        "thread_id": thread_id,
        "type": "window",
        "through": list(window.through),
        "cleared": list(window.cleared),
        "retired": window.retired,
        "updated_at": iso(now()),
        **window.cursor.to_document(),
    }


def _operation(user_id: str, thread_id: str, window: Window) -> Operation:
    """The batch operation that puts a window in the place of the one that was read."""
    document = _document(user_id, thread_id, window)
    if window.etag is None:
        return commits.create(document)
    return ("replace", (WINDOW_ID, document), {"if_match_etag": window.etag})


async def _write(store: Store, user_id: str, thread_id: str, window: Window) -> None:
    await store.batch(SUMMARIES, (user_id, thread_id), [_operation(user_id, thread_id, window)])


async def _repeated(change: Callable[[], Awaitable[R]]) -> R:
    """Makes a change again from the beginning, as long as others were first."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return await change()
        except Conflict:
            continue
    return await change()
