"""Export: everything that a user owns as lines of JSON, one thing a line, without vectors.

The order is that in which an import can take it: a header, settings, memories (with their history), then each thread
(which of its turns are not processed yet, its turns, its summary and state), then the profile. What is made of these by
rule (indexed talk, counters, cursors) and what concerns this store only (tombstones, dead letters) is left out.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from agent_memory.models import Turn, iso, now
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.commits import read_cursor
from agent_memory.store.containers import MEMORIES, SUMMARIES, TURNS
from agent_memory.store.documents import from_document
from agent_memory.store.ids import SETTINGS_ID, SETTINGS_THREAD, USER_SUMMARY_THREAD, user_summary_id
from agent_memory.store.turns import in_order

FORMAT = "agent-memory"
VERSION = 1
_OF_THREAD = ("summary", "state")


async def export_lines(store: Store, user_id: str) -> AsyncIterator[str]:
    """The lines of an export, each with its line end. Holds one thread, or all memories, in memory at a time."""
    yield _line({"type": "header", "format": FORMAT, "version": VERSION, "user_id": user_id, "exported_at": iso(now())})
    documents = await store.query(SUMMARIES, queries.SETTINGS_OF_ALL, (user_id,), id=SETTINGS_ID)
    for document in documents:
        hidden = ("id", "thread_id") if document["thread_id"] == SETTINGS_THREAD else ("id",)
        yield _line({name: value for name, value in _plain(document).items() if name not in hidden})
    memories = await store.query(MEMORIES, queries.EVERY_MEMORY, (user_id,))
    for row in sorted(memories, key=lambda row: (row["created_at"], row["id"])):
        yield _line(_plain(row) | {"type": "memory", "memory_type": row["type"]})
    for thread_id in sorted(await store.query(TURNS, queries.THREAD_IDS, (user_id,))):
        async for line in _thread(store, user_id, thread_id):
            yield line
    profile = await store.read(SUMMARIES, user_summary_id(user_id), (user_id, USER_SUMMARY_THREAD))
    if profile is not None:
        yield _line({name: value for name, value in _plain(profile).items() if name != "thread_id"})


async def _thread(store: Store, user_id: str, thread_id: str) -> AsyncIterator[str]:
    partition = (user_id, thread_id)
    rows = await store.query(TURNS, queries.EVERY_TURN, partition)
    cursor = (await read_cursor(store, MEMORIES, partition, "extract")).cursor
    waiting = sorted(row["id"] for row in rows if cursor.is_new(row["id"], int(row["_ts"])))
    yield _line({"type": "thread", "thread_id": thread_id, "unprocessed": waiting})
    for turn in in_order([from_document(Turn, row) for row in rows]):
        yield _line({"type": "turn"} | turn.model_dump(mode="json", exclude_none=True, exclude={"user_id"}))
    for document in await store.query(SUMMARIES, queries.OF_TYPES, partition, types=list(_OF_THREAD)):
        yield _line(_plain(document))


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    """A document without what the store adds, its vector, and the user, who may be another when it is read."""
    hidden = {"embedding", "user_id", "ttl"}
    return {name: value for name, value in document.items() if name[0] != "_" and name not in hidden}


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
