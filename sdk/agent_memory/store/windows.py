"""Windows: which turns of a thread are still in its live view, and which have left it.

Turns never change (docs/decisions/0004), so a watermark next to the thread's summary says which ones have left the
view. It has two parts. One is a position in the order of the conversation: turns after it are live. The other is a
cursor in the server's order: a turn written after it is live, however old its `created_at`, so a turn that arrives late
is not hidden before it was in the view.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_memory.models import Turn, iso, now
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import SUMMARIES, TURNS
from agent_memory.store.cursors import Cursor
from agent_memory.store.documents import Document, Operation, create, from_document, replace

WINDOW_ID = "window"
WINDOW_FIELDS = ("through", "cleared", "retired", "ts", "seen", "count", "runs")
"""The fields of its document that a window is read from, besides the ETag."""

Position = tuple[str, str]
"""The position of a turn in its conversation: `created_at` as text, and id."""


@dataclass(frozen=True, slots=True)
class Window:
    """What has left the live view: all turns up to `through` but the system's, and system turns up to `cleared`.

    `retired` is how many turns have left since the last clearing.
    """

    cursor: Cursor = field(default_factory=Cursor)
    through: Position = ("", "")
    cleared: Position = ("", "")
    retired: int = 0
    etag: str | None = None

    def shows(self, turn: Turn, ts: int) -> bool:
        """Whether a turn, written at `_ts`, is in the live view."""
        return self.shows_at(position_of(turn), turn.role, ts)

    def shows_at(self, position: Position, role: str, ts: int) -> bool:
        """Whether a turn at a position of the conversation, written at `_ts`, is in the live view."""
        end = self.cleared if role == "system" else self.through
        return position > end or self.cursor.is_new(position[1], ts)


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """A turn of the live view, or one that may be in it, with its `_ts`."""

    turn: Turn
    ts: int


async def read_window(store: Store, user_id: str, thread_id: str) -> Window:
    """The current window of a thread; without one every turn is live."""
    return window_of(await store.read(SUMMARIES, WINDOW_ID, (user_id, thread_id)))


def window_of(document: Document | None) -> Window:
    """The window that a stored document describes; without one every turn is live."""
    if document is None:
        return Window()
    through, cleared = tuple(document["through"]), tuple(document["cleared"])
    return Window(Cursor.from_document(document), through, cleared, document["retired"], document["_etag"])


async def live_turns(store: Store, user_id: str, thread_id: str, window: Window) -> list[LiveTurn]:
    """The turns in the live view, in order. The cost grows with the view, not with the thread."""
    rows = await store.query(
        TURNS, queries.LIVE_TURNS, (user_id, thread_id), after=window.through[0], since=window.cursor.since
    )
    found = [LiveTurn(from_document(Turn, row), int(row["_ts"])) for row in rows]
    shown = [live for live in found if window.shows(live.turn, live.ts)]
    return sorted(shown, key=lambda live: position_of(live.turn))


async def last_turns_written(store: Store, user_id: str, thread_id: str, limit: int) -> list[LiveTurn]:
    """The newest turns of a thread, at most `limit`, in order, whether or not they are in its view."""
    rows = await store.query(TURNS, queries.LAST_TURNS, (user_id, thread_id), limit=limit)
    found = [LiveTurn(from_document(Turn, row), int(row["_ts"])) for row in rows]
    return sorted(found, key=lambda one: position_of(one.turn))


def position_of(turn: Turn) -> Position:
    """The position of a turn in its conversation."""
    return (iso(turn.created_at), turn.id)


def put_window(user_id: str, thread_id: str, window: Window) -> Operation:
    """The batch operation that replaces the window that was read."""
    document = {
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
    return create(document) if window.etag is None else replace(document, window.etag)
