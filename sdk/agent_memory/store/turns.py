"""Turns: written once, never changed, read in order (docs/decisions/0004).

They stay on record, so a watermark next to the thread's summary, the window, says which ones have left the live view.
It has two parts. One is a position in the order of the conversation: turns after it are live. The other is a cursor in
the server's order: a turn written after it is live, however old its `created_at`, so a turn that arrives late is not
hidden before it was in the view.

A turn that is too large is cut until it fits (`fitted`), because a long tool result must not end a conversation. A
text is cut at its end, and says so. A cut would break a file, so a file is left out, together with the message (of a
framework) that holds it; the turn keeps its text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from agent_memory.errors import Conflict, InvalidInput
from agent_memory.models import Turn, TurnInput, iso, now
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, SUMMARIES, TURNS
from agent_memory.store.cursors import Cursor
from agent_memory.store.documents import Document, Operation, create, from_document, in_batches, replace, to_document
from agent_memory.store.ids import check_id, check_new_ids, new_turn_id
from agent_memory.store.pages import Slice, newest
from agent_memory.store.updates import LostRace, until_written
from agent_memory.text.patterns import linear

MAX_TURN_BYTES = 1_700_000
"""The most bytes of JSON in one turn; a document may have 2 MB."""


def make_turns(
    inputs: Sequence[TurnInput],
    user_id: str,
    thread_id: str,
    *,
    off_record: bool = False,
    contributor_id: str | None = None,
) -> list[Turn]:
    """The turns as they will be stored: with ids, and with times that keep the given order.

    Raises:
        InvalidInput: for an invalid id, an empty content, or one too large for a document.
    """
    clock = now()
    turns = []
    for offset, given in enumerate(inputs):
        if not given.content.strip():
            raise InvalidInput(f"turn {offset + 1} has no content")
        if _size(given) > MAX_TURN_BYTES:
            raise InvalidInput(f"turn {offset + 1} is larger than {MAX_TURN_BYTES} bytes of JSON; write it in parts")
        turns.append(
            Turn(
                **given.model_dump(exclude={"id", "created_at"}),
                id=check_id(given.id, "a turn's id") if given.id is not None else new_turn_id(),
                user_id=user_id,
                thread_id=thread_id,
                created_at=given.created_at or clock + timedelta(microseconds=offset),
                off_record=off_record or None,
                contributor_id=contributor_id,
            )
        )
    _check_repeats(turns)
    return turns


async def write_turns(store: Store, turns: Sequence[Turn], timed: set[str]) -> int:
    """Writes turns of one thread in transactional batches; returns how many were new.

    Repeating a write is harmless. `timed` holds the ids whose `created_at` came from the caller: for those the time is
    part of the content.

    Raises:
        Conflict: if a turn with the same id has other content; earlier batches stay written.
        InvalidInput: if an id ends with a space; nothing is written.
    """
    created = 0
    unique = {turn.id: turn for turn in turns}
    for turn in unique.values():
        check_new_ids(user_id=turn.user_id, thread_id=turn.thread_id, id=turn.id)
    for some in in_batches(unique.values(), _size):
        created += await _write_batch(store, some, timed)
    return created


async def _write_batch(store: Store, turns: list[Turn], timed: set[str]) -> int:
    partition = (turns[0].user_id, turns[0].thread_id)
    missing = turns

    async def attempt() -> int:
        nonlocal missing
        try:
            await store.batch(TURNS, partition, [create(to_document(turn)) for turn in missing])
        except Conflict as error:
            there = {turn.id: turn for turn in await turns_by_id(store, *partition, [turn.id for turn in missing])}
            for turn in missing:
                if turn.id in there and not _same(turn, there[turn.id], turn.id in timed):
                    raise Conflict(f"turn {turn.id} exists in this thread with other content") from None
            missing = [turn for turn in missing if turn.id not in there]
            if missing:
                raise LostRace from error
        return len(missing)

    return await until_written(attempt, f"turns of {partition[1]}")


async def turns_by_id(store: Store, user_id: str, thread_id: str, ids: list[str]) -> list[Turn]:
    """These turns of a thread, in the order of the conversation."""
    rows = await store.query(TURNS, queries.TURNS_BY_ID, (user_id, thread_id), ids=ids)
    return in_order([from_document(Turn, row) for row in rows])


async def last_turns(
    store: Store, user_id: str, thread_id: str, limit: int | None, before: datetime | None = None
) -> list[Turn]:
    """The newest turns of a thread (all without a `limit`, only earlier ones with `before`), oldest first."""
    partition = (user_id, thread_id)

    async def fetch(part: Slice, bounds: dict[str, Any]) -> list[Document]:
        return await store.query(TURNS, queries.turns(part), partition, **bounds)

    return in_order([from_document(Turn, row) for row in await newest(fetch, before=before, limit=limit)])


async def turns_before(store: Store, first: Turn, limit: int) -> list[Turn]:
    """The turns just before a turn in its thread, oldest first."""
    partition = (first.user_id, first.thread_id)
    rows = await store.query(TURNS, queries.TURNS_BEFORE, partition, limit=limit, before=iso(first.created_at))
    return in_order([from_document(Turn, row) for row in rows])


async def answers_to(store: Store, turns: Sequence[Turn]) -> dict[str, str]:
    """Maps each turn that answers one of these user turns to it: all turns up to the user's next one.

    Reads only ids, from the first of the turns on; for turns that expired, those of their chunks.
    """
    first = min(turns, key=lambda turn: turn.created_at)
    partition = (first.user_id, first.thread_id)
    since = iso(first.created_at)
    indexed = await store.query(MEMORIES, queries.ROLES_OF_CHUNKS_SINCE, partition, since=since)
    rows = {row["id"]: row for row in indexed + await store.query(TURNS, queries.ROLES_SINCE, partition, since=since)}
    asked, answered, answers = {turn.id for turn in turns}, None, {}
    for row in sorted(rows.values(), key=lambda row: (row["created_at"], row["id"])):
        if row["role"] == "user":
            answered = row["id"] if row["id"] in asked else None
        elif answered is not None and row["role"] != "system":
            answers[row["id"]] = answered
    return answers


async def new_turns(store: Store, user_id: str, thread_id: str, cursor: Cursor, limit: int) -> list[tuple[Turn, int]]:
    """The next turns that a cursor has not covered, each with its `_ts`, in the server's order."""
    named = cursor.named
    most = limit + len(cursor.seen) - len(named)
    rows: list[Document] = await store.query(
        TURNS, queries.NEW_TURNS, (user_id, thread_id), limit=most, since=cursor.since, seen=named
    )
    found = [(from_document(Turn, row), int(row["_ts"])) for row in rows]
    return [(turn, ts) for turn, ts in found if cursor.is_new(turn.id, ts)][:limit]


async def new_turn_ids(store: Store, partition: tuple[str, str], cursor: Cursor) -> list[Document]:
    """Id, role and times of the turns that a cursor has not covered."""
    rows = await store.query(TURNS, queries.NEW_TURN_IDS, partition, since=cursor.since, seen=cursor.named)
    return [row for row in rows if cursor.is_new(row["id"], int(row["_ts"]))]


async def covered_turns(store: Store, partition: tuple[str, str], cursor: Cursor) -> int:
    """How many of the stored turns a cursor has covered."""
    named = cursor.named
    [count] = await store.query(TURNS, queries.COVERED, partition, since=cursor.since, seen=named)
    if len(named) < len(cursor.seen):
        rows = await store.query(TURNS, queries.NEW_TURN_IDS, partition, since=cursor.since, seen=named)
        count += sum(not cursor.is_new(row["id"], int(row["_ts"])) for row in rows)
    return int(count)


async def recent_turns(
    store: Store, user_id: str, thread_id: str, cursor: Cursor, count: int, limit: int
) -> tuple[list[tuple[str, int]], list[tuple[Turn, int]]]:
    """Splits the turns that a cursor has not covered: the ids of the earlier ones, and the last `count` turns.

    Each comes with its `_ts`, in the order of writing. Of the last ones, only the first `limit` are read. Costs one
    query for the ids, and one for the turns.
    """
    partition = (user_id, thread_id)
    rows = await new_turn_ids(store, partition, cursor)
    rows.sort(key=lambda row: (row["_ts"], row["created_at"], row["id"]))
    times = {row["id"]: int(row["_ts"]) for row in rows}
    ids = list(times)
    wanted = ids[-count:][:limit]
    found = {turn.id: turn for turn in await turns_by_id(store, user_id, thread_id, wanted)} if wanted else {}
    return [(one, times[one]) for one in ids[:-count]], [(found[one], times[one]) for one in wanted if one in found]


def in_order(turns: list[Turn]) -> list[Turn]:
    """Sorts turns in the order of the conversation: by time, then by id."""
    return sorted(turns, key=lambda turn: (turn.created_at, turn.id))


def _same(ours: Turn, theirs: Turn, timed: bool) -> bool:
    """Whether two turns are equal. Fields that we set ourselves (a time, marks) are not compared.

    Parts are compared only if both have them: an earlier version of an adapter stored the same message as text alone.
    """
    ignored = {"off_record", "backfill"} | (set() if timed else {"created_at"})
    if ours.parts is None or theirs.parts is None:
        ignored.add("parts")
    return ours.model_dump(exclude=ignored) == theirs.model_dump(exclude=ignored)


def _check_repeats(turns: list[Turn]) -> None:
    seen: dict[str, Turn] = {}
    for turn in turns:
        first = seen.setdefault(turn.id, turn)
        if (first.content, first.role, first.parts) != (turn.content, turn.role, turn.parts):
            raise Conflict(f"turn {turn.id} is given twice with different content")


def _size(turn: Turn | TurnInput) -> int:
    """The size of a turn in bytes, as the SDK sends it: JSON with six characters for each one outside ASCII."""
    parts = [part.model_dump() for part in turn.parts or ()]
    return sum(len(json.dumps(one, default=str)) for one in (turn.content, turn.metadata, parts)) + 1000


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
    rows = await store.known_rows(TURNS, queries.LAST_TURNS, (user_id, thread_id), limit=limit)
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


_LONGEST = (100_000, 10_000, 1_000)
"""Characters that are left of each text: the first that makes the turn small enough. A choice."""
_FILE = linear(r"(?:data:[\w.+-]+/[\w.+-]+;|[A-Za-z0-9+/=_-]{200})")
"""How a file inside a message begins: a `data:` URL, or base64."""
_TEXTS = ("content", "output", "text")
"""Where messages have what a person, a model or a tool said."""


def fitted(turn: Mapping[str, Any]) -> dict[str, Any]:
    """The turn, cut if it is too large to be stored; as it is otherwise."""
    if _size_of(turn) <= MAX_TURN_BYTES:
        return dict(turn)
    if _holds_file(turn.get("metadata")):
        turn = {**turn, "metadata": {}}
    if _holds_file(turn.get("parts")):
        turn = {**turn, "parts": [part for part in turn["parts"] if not _holds_file(part)] or None}
    for longest in (*_LONGEST, 0):
        turn = _cut(turn, longest) if longest else {**turn, "metadata": {}, "parts": None}
        if _size_of(turn) <= MAX_TURN_BYTES:
            break
    return dict(turn)


def _size_of(turn: Mapping[str, Any]) -> int:
    """As the store counts it, and somewhat more."""
    return len(json.dumps(turn, default=str)) + 1000


def _holds_file(value: Any, is_text: bool = False) -> bool:
    """Whether there is a long file in a value. What a tool said may look like one, but is read as text."""
    if isinstance(value, str):
        return not is_text and len(value) > _LONGEST[0] and _FILE.match(value) is not None
    if isinstance(value, Mapping):
        texts = (*_TEXTS, "result") if value.get("type") == "function_result" else _TEXTS
        return any(_holds_file(inner, name in texts) for name, inner in value.items())
    return isinstance(value, list) and any(_holds_file(inner) for inner in value)


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, str) and len(value) > longest:
        return f"{value[:longest]}… [{len(value) - longest:,} more characters were not stored]"
    if isinstance(value, Mapping):
        return {name: _cut(inner, longest) for name, inner in value.items()}
    if isinstance(value, list):
        return [_cut(inner, longest) for inner in value]
    return value
