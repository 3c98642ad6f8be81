"""Jobs: the stored plan of a deletion, in as many documents as its ids need.

The first document is the job; further ones, its parts, hold the ids that have no room in it. The job names them, and is
marked as whole when all are written. One that is not was left by a process that was killed while it planned: nothing is
deleted yet, so the job is dropped. A job that is done loses its parts first, so one without a part is done.

A job with parts has a type of its own. Earlier versions know no parts: they would delete what the first document names
and drop the rest. They do not look for this type, so the job waits for a process of this version.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from agent_memory.errors import Conflict
from agent_memory.gathering import a_few
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import Document, Operation
from agent_memory.store.ids import FORGOTTEN_THREAD, new_turn_id
from agent_memory.store.updates import LostRace, racing, until_written

IN_PARTS = "forgetting_in_parts"
"""The type of a job with parts."""

PART_BYTES = 1_000_000
"""The most bytes of JSON with ids in one document. Cosmos DB allows 2 MB a document (service limits)."""
_PARALLEL = 8


async def store_job(store: Store, job: Document) -> Document:
    """Stores a job. From then on any process finishes it. Returns the whole job.

    Raises:
        StoreUnavailable: if others keep dropping it before it is whole.
    """
    first, *rest = _parts(job)
    if rest:
        job = job | {"type": IN_PARTS}

    async def attempt() -> Document:
        if not rest:
            return await store.create(MEMORIES, job)
        # Each attempt has parts of its own: who drops an earlier one may still be deleting those.
        key = new_turn_id()
        ids = [f"{key}_{number}" for number in range(len(rest))]
        begun = await store.create(MEMORIES, job | first | {"parts": ids, "whole": False})
        for part_id, part in zip(ids, rest, strict=True):
            await store.upsert(MEMORIES, _placed(job, part_id) | part)
        try:
            with racing():
                return await store.replace(MEMORIES, begun | {"whole": True}, begun["_etag"])
        except LostRace:
            await _delete_parts(store, begun)
            raise

    return await until_written(attempt, f"the deletion of {job['user_id']}") | job


async def read_job(store: Store, found: Document) -> Document | None:
    """The whole job of a row that a listing found; None if it is finished meanwhile, or was never whole."""
    partition = (found["user_id"], FORGOTTEN_THREAD)
    job = await store.read(MEMORIES, found["id"], partition)
    if job is None:
        return None
    if not job.get("whole", True):
        unchanged: Operation = ("delete", (job["id"],), {"if_match_etag": job["_etag"]})
        with contextlib.suppress(Conflict):  # it is whole now
            await store.batch(MEMORIES, partition, [unchanged])
            await _delete_parts(store, job)
        return None
    reads = (partial(store.read, MEMORIES, part_id, partition) for part_id in job.get("parts", ()))
    for part in await a_few(reads, _PARALLEL):
        if part is None:
            await end_job(store, job)
            return None
        _join(job, part)
    return job


async def jobs_of(store: Store, user_id: str | None) -> list[Document]:
    """The rows of the unfinished jobs of one user or (None, for the operator) all, for `read_job`."""
    rows: list[Document] = await store.query(
        MEMORIES, queries.FORGETTINGS, None if user_id is None else (user_id, FORGOTTEN_THREAD)
    )
    return rows


async def end_job(store: Store, job: Document) -> None:
    """Deletes a job that is done."""
    await _delete_parts(store, job)
    await store.delete(MEMORIES, job["id"], (job["user_id"], FORGOTTEN_THREAD))


async def _delete_parts(store: Store, job: Document) -> None:
    partition = (job["user_id"], FORGOTTEN_THREAD)
    await a_few((partial(store.delete, MEMORIES, part_id, partition) for part_id in job.get("parts", ())), _PARALLEL)


def _placed(job: Document, part_id: str) -> Document:
    return {"id": part_id, "user_id": job["user_id"], "thread_id": job["thread_id"], "type": "forgetting_part"}


def _parts(job: Document) -> Iterator[Document]:
    """The ids of a job, in documents with room for them."""
    part, room = _empty(), PART_BYTES
    for entry in _entries(job):
        needed = len(json.dumps(entry))
        if needed > room:
            yield part
            part, room = _empty(), PART_BYTES
        room -= needed
        _join(part, entry)
    yield part


def _entries(job: Document) -> Iterator[dict[str, Any]]:
    """The ids of a job, each as a job that has only this one."""
    for thread_id, turn_ids in job["turns"].items():
        for turn_id in turn_ids:
            yield {"turns": {thread_id: [turn_id]}}
    for memory_id, thread_id in job["memories"].items():
        yield {"memories": {memory_id: thread_id}}
    for name in ("kept", "accounts"):
        for item in job.get(name, ()):  # jobs of an earlier version have no accounts
            yield {name: [item]}


def _empty() -> Document:
    return {"turns": {}, "memories": {}, "kept": [], "accounts": []}


def _join(job: Document, part: Document) -> None:
    """Adds the ids of a part."""
    for thread_id, turn_ids in part.get("turns", {}).items():
        job["turns"].setdefault(thread_id, []).extend(turn_ids)
    job["memories"].update(part.get("memories", {}))
    for name in ("kept", "accounts"):
        job.setdefault(name, []).extend(part.get(name, ()))
