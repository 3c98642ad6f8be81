"""Export: everything that a user owns as lines of JSON, one item a line, without vectors.

The lines come in the order in which an import reads them: a header, settings, memories (with their history), then each
thread (which turns are unprocessed, the turns, summary and state), then the profile. An export leaves out what can be
derived from these by rule (chunks, counters, cursors) and what concerns only this store (tombstones, dead letters). It
comes in parts: first everything up to the memories, then the threads, several small ones in a part, then the profile.
"""

from __future__ import annotations

from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.models import ExportPart, Turn, iso, now
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, SUMMARIES, TURNS
from agent_memory.store.cursors import read_cursor
from agent_memory.store.documents import from_document
from agent_memory.store.ids import (
    SETTINGS_ID,
    SETTINGS_THREAD,
    USER_SUMMARY_THREAD,
    check_id,
    group_of,
    is_reserved,
    user_summary_id,
)
from agent_memory.store.scope_documents import THREADS_OFF, says_something
from agent_memory.store.turns import in_order
from agent_memory.transfer.live_view import exported_view

FORMAT = "agent-memory"
VERSION = 1
THREAD = "thread:"
PROFILE = "profile"
ENOUGH = 500
"""How many records a part of threads has before it ends. Threads are listed once for each part, not for each thread."""
_OF_THREAD = ("summary", "state")

Record = dict[str, Any]


async def export_part(store: Store, user_id: str, part: str | None) -> ExportPart:
    """One part of an export. None returns the first part; each part names the next one.

    Raises:
        InvalidInput: if there is no part of this name.
    """
    if part is None:
        threads = await _threads_from(store, user_id, "")
        return ExportPart(records=await _head(store, user_id), next=f"{THREAD}{threads[0]}" if threads else PROFILE)
    if part == PROFILE:
        return ExportPart(records=await _profile(store, user_id))
    first = check_id(part.removeprefix(THREAD), "part")
    if first == part:
        raise InvalidInput(f"an export has no part {part!r:.60}")
    records: list[Record] = []
    for thread_id in await _threads_from(store, user_id, first):
        if len(records) >= ENOUGH:
            return ExportPart(records=records, next=f"{THREAD}{thread_id}")
        records += await _thread(store, user_id, thread_id)
    return ExportPart(records=records, next=PROFILE)


async def _threads_from(store: Store, user_id: str, first: str) -> list[str]:
    # Turns may expire before their summary does.
    summarised = await store.query(SUMMARIES, queries.THREADS_OF_TYPES, (user_id,), types=list(_OF_THREAD))
    threads = {*summarised, *await store.query(TURNS, queries.THREAD_IDS, (user_id,))}
    return sorted(thread_id for thread_id in threads if thread_id >= first)


async def _head(store: Store, user_id: str) -> list[Record]:
    group = group_of(user_id)
    whose = {"user_id": user_id} if group is None else {"group_id": group}
    head: Record = {"type": "header", "format": FORMAT, "version": VERSION, **whose}
    settings = []
    for document in await store.query(SUMMARIES, queries.SETTINGS_OF_ALL, (user_id,), id=SETTINGS_ID):
        noted = document.pop(THREADS_OFF, None)
        if noted is not None and not says_something(document):
            continue
        hidden = ("id", "thread_id") if document["thread_id"] == SETTINGS_THREAD else ("id",)
        settings.append({name: value for name, value in _plain(document).items() if name not in hidden})
    every = await store.query(MEMORIES, queries.EVERY_MEMORY, (user_id,))
    rows = [row for row in every if (row.get("expires_at") or "9999") > iso(now())]
    memories = [_plain(row) | {"type": "memory", "memory_type": row["type"]} for row in rows]
    # A memory that was made from others comes after them.
    memories.sort(key=lambda one: (is_reserved(one["thread_id"]), one["created_at"], one["id"]))
    return [head | {"exported_at": iso(now())}, *settings, *memories]


async def _thread(store: Store, user_id: str, thread_id: str) -> list[Record]:
    partition = (user_id, thread_id)
    rows = await store.query(TURNS, queries.EVERY_TURN, partition)
    cursor = (await read_cursor(store, MEMORIES, partition, "extract")).cursor
    waiting = sorted(row["id"] for row in rows if cursor.is_new(row["id"], int(row["_ts"])))
    turns = in_order([from_document(Turn, row) for row in rows])
    view = await exported_view(store, partition, [turn.id for turn in turns])
    about = await store.query(SUMMARIES, queries.OF_TYPES, partition, types=list(_OF_THREAD))
    return [
        {"type": "thread", "thread_id": thread_id, "unprocessed": waiting, **view},
        *({"type": "turn"} | turn.model_dump(mode="json", exclude_none=True, exclude={"user_id"}) for turn in turns),
        *(_plain(document) for document in about),
    ]


async def _profile(store: Store, user_id: str) -> list[Record]:
    profile = await store.read(SUMMARIES, user_summary_id(user_id), (user_id, USER_SUMMARY_THREAD))
    if profile is None:
        return []
    return [{name: value for name, value in _plain(profile).items() if name != "thread_id"}]


def _plain(document: Record) -> Record:
    """A document without its vector, its user and what the store adds. Another user may import it."""
    hidden = {"embedding", "user_id", "ttl"}
    return {name: value for name, value in document.items() if name[0] != "_" and name not in hidden}
