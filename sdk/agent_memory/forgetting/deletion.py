"""Deletion: carries out a request to forget. Its job stays in the store until all is deleted; each part may repeat.

The order makes it safe. First the turns are deleted, then the cursors of their threads are touched: a draft made before
can no longer be committed (`cursors.read_ahead`), and one made later does not see the turns. Then the memories are
deleted, and the cursors over memories are touched, for the same reason. What was committed in between is found and
deleted too. Summaries and the profile are deleted in one batch with the reset of their cursors, so that they are
rebuilt from what is left, and not merged with their old text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from agent_memory.forgetting.jobs import end_job, jobs_of, read_job
from agent_memory.forgetting.plan import made_from
from agent_memory.forgetting.unsaid import Said, derived_from, uncount
from agent_memory.gathering import a_few
from agent_memory.models import Memory
from agent_memory.remembering import untold
from agent_memory.remembering.replacing import SUPERSESSION
from agent_memory.store import queries
from agent_memory.store.changes import left_by
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, SUMMARIES, TURNS
from agent_memory.store.counters import Counters
from agent_memory.store.cursors import Cursor
from agent_memory.store.documents import NAMED_AT_ONCE, Document, delete, from_document, in_batches, replace
from agent_memory.store.ids import (
    NOBODY,
    USER_SUMMARY_THREAD,
    cursor_id,
    is_reserved,
    state_id,
    summary_id,
    user_summary_id,
)
from agent_memory.store.replies import forget_replies
from agent_memory.store.turns import Position, covered_turns, put_window, read_window
from agent_memory.store.updates import change_existing, racing, until_written

PARALLEL = 8


async def carry_out(store: Store, counters: Counters, job: Document) -> list[str]:
    """Deletes what a job names, and what was derived from it meanwhile.

    Returns:
        The threads whose summaries were deleted; `__user_summary__` is the profile.
    """
    user_id = job["user_id"]
    turns: dict[str, list[str]] = job["turns"]
    await _delete_all(store, TURNS, user_id, turns)
    if "popped" in job and await _unsay(store, counters, job):
        await end_job(store, job)
        return []
    await _touch_cursors(store, user_id, turns, {})
    memories: dict[str, str] = job["memories"]
    accounts = set(job.get("accounts", ()))  # jobs of an earlier version have none
    retold = accounts - turns.keys() - {USER_SUMMARY_THREAD}
    if not job["keeps_memories"]:
        memories = memories | await _late(store, user_id, job)
    found = (partial(_chunks_of, store, (user_id, thread_id), ids) for thread_id, ids in turns.items())
    await _delete_chunks(store, user_id, dict(zip(turns, await a_few(found, PARALLEL), strict=True)))
    await _delete_all(store, MEMORIES, user_id, _by_thread(memories))
    if not job["keeps_memories"]:
        await _touch_cursors(store, user_id, turns, memories)
        late = await _late(store, user_id, job | {"memories": memories})
        await _delete_all(store, MEMORIES, user_id, _by_thread(late))
        memories = memories | late
        # A summary of another thread may contain a deleted memory that had replaced what the thread said.
        retold |= await untold.threads_that_say(store, user_id, memories) - turns.keys()
    redo = [
        thread_id
        for thread_id, ids in [*turns.items(), *((thread_id, []) for thread_id in sorted(retold))]
        if await _clear_thread(store, counters, user_id, thread_id, ids)
    ]
    if not job["keeps_memories"]:
        await _mend(store, user_id, turns, memories)
        for container in (MEMORIES, SUMMARIES):
            for letter in await store.query(container, queries.DEAD_LETTERS, (user_id,)):
                if not letter["turn_ids"]:  # of a step over memories, or of corrections; its error may quote them
                    await untold.mark_again(store, user_id, letter["thread_id"])
                    await store.delete(container, letter["id"], (user_id, letter["thread_id"]))
    is_told = bool(memories) or USER_SUMMARY_THREAD in accounts
    if is_told and await _reset(store, (user_id, USER_SUMMARY_THREAD), "profile", [user_summary_id(user_id)]):
        await counters.redo_profile(user_id)
        redo.append(USER_SUMMARY_THREAD)
    # Last: a request that still runs may have read the deleted data and keep a reply. A later one cannot.
    await forget_replies(store, user_id)
    for left in [] if job["keeps_memories"] else left_by(job | {"memories": memories}):
        await store.upsert(MEMORIES, left)
    await end_job(store, job)
    return redo


async def _unsay(store: Store, counters: Counters, job: Document) -> bool:
    """Removes a turn that was taken back from index, view and counters; False if something was derived from it."""
    [(thread_id, (ts, at))] = job["popped"].items()
    [turn_id] = job["turns"][thread_id]
    partition, said = (job["user_id"], thread_id), Said(turn_id, ts, at)
    await uncount(store, counters, partition, said)
    if await derived_from(store, partition, said):  # after the cursors: nothing more can be committed
        return False
    await _delete_chunks(store, partition[0], {thread_id: await _chunks_of(store, partition, [turn_id])})
    await _clear_letters(store, partition)
    await _forget_turns(store, *partition, {turn_id})
    await _recount(store, partition)
    return True


async def finish_forgettings(store: Store, counters: Counters, user_id: str | None = None) -> int:
    """Finishes forgettings that a crash interrupted, of one user or (None, for the operator) all; returns how many."""
    rows = await jobs_of(store, user_id)
    for row in rows:
        await finish_forgetting(store, counters, row)
    return len(rows)


async def finish_forgetting(store: Store, counters: Counters, row: Document) -> None:
    """Finishes the forgetting of a row that a listing found, if no other process has."""
    job = await read_job(store, row)
    if job is not None:
        await carry_out(store, counters, job)


async def delete_items(store: Store, container: str, partition: Sequence[str], ids: Collection[str]) -> int:
    """Deletes the items that exist, in transactional batches; returns how many."""

    async def delete_some(some: list[str]) -> int:
        there = await store.query(container, queries.IDS_THAT_EXIST, partition, ids=some)
        if there:
            with racing():  # another process may delete one of them
                await store.batch(container, partition, [delete(item_id) for item_id in there])
        return len(there)

    what = f"items of {'/'.join(partition)}"
    return sum([await until_written(partial(delete_some, some), what) for some in in_batches(ids)])


async def _delete_all(store: Store, container: str, user_id: str, ids: Mapping[str, Collection[str]]) -> int:
    """Deletes items by their threads, a few threads at a time; returns how many."""
    work = (partial(delete_items, store, container, (user_id, thread_id), some) for thread_id, some in ids.items())
    return sum(await a_few(work, PARALLEL))


async def delete_chunks(store: Store, user_id: str, thread_id: str) -> int:
    """Deletes all chunks of a thread; returns how many. The index step does not make them again.

    The cursor's new ETag makes an indexing that runs meanwhile fail; it then starts again.
    """
    partition = (user_id, thread_id)
    await change_existing(store, MEMORIES, cursor_id("index"), partition, dict)
    found = await store.query(MEMORIES, queries.CHUNK_IDS, partition)
    return await _delete_chunks(store, user_id, {thread_id: found})


async def _chunks_of(store: Store, partition: Sequence[str], turn_ids: Sequence[str]) -> list[str]:
    """The ids of all chunks of deleted turns, and of those of short replies to them.

    Finds them by their source, which is not indexed, so the thread's chunks are read. Their ids cannot be computed,
    because it is unknown into how many parts each turn was ever cut. Of many turns, all chunks are read, once.
    """
    if len(turn_ids) <= NAMED_AT_ONCE:
        few: list[str] = await store.query(MEMORIES, queries.CHUNKS_OF, partition, turns=list(turn_ids))
        return few
    gone = set(turn_ids)
    rows = await store.query(MEMORIES, queries.SOURCES_OF_CHUNKS, partition)
    return [row["id"] for row in rows if not gone.isdisjoint(row["source_turn_ids"])]


async def _delete_chunks(store: Store, user_id: str, chunks: Mapping[str, Collection[str]]) -> int:
    """Deletes chunks, by thread; returns how many. First removes their ids from the links of the chunks that stay."""
    gone = {chunk_id: "" for ids in chunks.values() for chunk_id in ids}
    if len(gone) <= NAMED_AT_ONCE:
        rows = await store.query(MEMORIES, queries.LINKED_WITH, (user_id,), ids=list(gone)) if gone else []
    else:
        rows = await store.query(MEMORIES, queries.LINKS, (user_id,))
        rows = [row for row in rows if not gone.keys().isdisjoint(row["near_ids"])]
    mend = partial(_mended, turns=set(), memories=gone)
    await a_few(
        (
            partial(change_existing, store, MEMORIES, row["id"], (user_id, row["thread_id"]), mend)
            for row in rows
            if row["id"] not in gone
        ),
        PARALLEL,
    )
    return await _delete_all(store, MEMORIES, user_id, chunks)


def _by_thread(memories: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for memory_id, thread_id in memories.items():
        found.setdefault(thread_id, []).append(memory_id)
    return found


async def _late(store: Store, user_id: str, job: Document) -> dict[str, str]:
    """The memories derived from a job's turns or memories after the job was planned.

    That includes a correction by hand: no model derived it, and it is in the thread of the memory that it corrects.
    """
    known = {*job["memories"], *job["kept"]}
    turns = {thread_id: set(ids) for thread_id, ids in job["turns"].items()}
    rows = await store.query(MEMORIES, queries.EVERY_MEMORY, (user_id,))
    memories = [memory for memory in (from_document(Memory, row) for row in rows) if memory.id not in known]
    return {
        memory.id: memory.thread_id
        for memory in memories
        if made_from(memory, job["memories"])
        or (memory.model is None and any(job["memories"].get(old) == memory.thread_id for old in memory.supersedes_ids))
        or not turns.get(memory.thread_id, set()).isdisjoint(memory.source_turn_ids)
    }


async def _touch_cursors(
    store: Store, user_id: str, turns: Mapping[str, Iterable[str]], memories: Mapping[str, str]
) -> None:
    """Gives new ETags to the cursors of these threads and of the user, and removes the deleted ids from them."""
    for container in (MEMORIES, SUMMARIES):
        for row in await store.query(container, queries.CURSORS, (user_id,)):
            if row["thread_id"] in turns or is_reserved(row["thread_id"]):
                change = partial(_unseen, turns=set(turns.get(row["thread_id"], ())), memories=memories)
                await change_existing(store, container, row["id"], (user_id, row["thread_id"]), change)


def _unseen(cursor: Document, turns: set[str], memories: Mapping[str, str]) -> Document:
    def is_gone(item: str) -> bool:
        return item in turns or item in memories

    extra = dict(cursor["extra"])
    if "intents" in extra:  # left by a process that was killed
        extra["intents"] = {
            name: [intent for intent in intents if not any(map(is_gone, _named(intent)))]
            for name, intents in extra["intents"].items()
        }
    return cursor | Cursor.from_document(cursor).without([*turns, *memories]).to_document() | {"extra": extra}


def _named(intent: Document | str) -> Iterable[str]:
    """The ids in an intent: an intent about chunks is just an id."""
    return [intent] if isinstance(intent, str) else map(str, intent.values())


async def _mend(store: Store, user_id: str, turns: Mapping[str, list[str]], memories: Mapping[str, str]) -> None:
    """Removes deleted ids from the memories that stay. What a deleted memory had replaced becomes active again."""
    everywhere = {turn_id for ids in turns.values() for turn_id in ids}
    by_thread = {thread_id: set(ids) for thread_id, ids in turns.items()}
    for row in await store.query(MEMORIES, queries.EVERY_MEMORY, (user_id,)):
        # A merged memory names turns of several threads.
        gone = everywhere if is_reserved(row["thread_id"]) else by_thread.get(row["thread_id"], set())
        mended = _mended(row, gone, memories)
        if mended != row:
            partition = (user_id, row["thread_id"])
            mend = partial(_mended, turns=gone, memories=memories)
            await change_existing(store, MEMORIES, row["id"], partition, mend)


def _mended(document: Document, turns: set[str], memories: Mapping[str, str]) -> Document:
    mended = dict(document)
    if not turns.isdisjoint(document.get("source_turn_ids", ())):
        mended["source_turn_ids"] = [turn_id for turn_id in document["source_turn_ids"] if turn_id not in turns]
        mended.pop("quote", None)
        mended.pop("time_phrase", None)
    for name in ("source_ids", "supersedes_ids", "related_ids", "near_ids"):
        if name in document:
            mended[name] = [memory_id for memory_id in document[name] if memory_id not in memories]
    successor = document.get("superseded_by")
    if successor in memories and successor != NOBODY:
        if document.get("supersede_reason") in ("update", "contradict"):
            mended.pop("valid_to", None)
        mended = {name: value for name, value in mended.items() if name not in SUPERSESSION}
    return mended


async def _clear_thread(store: Store, counters: Counters, user_id: str, thread_id: str, turn_ids: list[str]) -> bool:
    """Removes turns from what is kept about their thread; True if its summary must be rebuilt."""
    partition = (user_id, thread_id)
    gone = set(turn_ids)
    await _clear_letters(store, partition)
    ids = [summary_id(user_id, thread_id), state_id(user_id, thread_id)]
    await _forget_turns(store, user_id, thread_id, gone)
    redo = await _reset(store, partition, "summarize", ids)
    if redo:
        await untold.mark_again(store, user_id, thread_id)
    await counters.forget(user_id, thread_id, gone, redo=["summarize"] if redo else [])
    await _recount(store, partition)
    return redo


async def _clear_letters(store: Store, partition: tuple[str, str]) -> None:
    """Removes turns that are gone from the dead letters of their thread."""
    for container in (MEMORIES, SUMMARIES):
        for letter in await store.query(container, queries.DEAD_LETTERS, partition):
            # Turns that are not forgotten may have expired.
            there = set(await store.query(TURNS, queries.IDS_THAT_EXIST, partition, ids=letter["turn_ids"]))
            left = [turn_id for turn_id in letter["turn_ids"] if turn_id in there]
            if not left:
                await store.delete(container, letter["id"], partition)
            elif len(left) < len(letter["turn_ids"]):
                # The error may quote what was forgotten.
                mended = {"turn_ids": left, "error": "some of its turns were forgotten; replay the rest"}
                await change_existing(store, container, letter["id"], partition, partial(_with, fields=mended))


def _with(document: Document, fields: Document) -> Document:
    return document | fields


async def _recount(store: Store, partition: tuple[str, str]) -> None:
    """Corrects how many of the remaining turns extraction has covered."""

    async def attempt() -> None:
        document = await store.read(MEMORIES, cursor_id("extract"), partition)
        if document is None:
            return
        cursor = Cursor.from_document(document)
        covered = await covered_turns(store, partition, cursor)
        if document["count"] != covered:
            with racing():
                await store.replace(MEMORIES, document | {"count": covered}, document["_etag"])

    await until_written(attempt, f"the cursor of {partition[1]}")


async def _reset(store: Store, partition: tuple[str, str], step: str, ids: Sequence[str]) -> bool:
    """Deletes what a step made and resets its cursor, in one batch; True if there was anything.

    An imported summary may have no cursor.
    """

    async def attempt() -> bool:
        # The cursor first: whatever the step commits after this changes the ETag, and the batch fails.
        cursor = await store.read(SUMMARIES, cursor_id(step), partition)
        there: list[str] = await store.query(SUMMARIES, queries.IDS_THAT_EXIST, partition, ids=list(ids))
        if cursor is None:
            return bool(await delete_items(store, SUMMARIES, partition, there))
        start = cursor | (await _cleared_cursor(store, *partition)).to_document() | {"runs": cursor["runs"] + 1}
        with racing():
            reset = [*(delete(item_id) for item_id in there), replace(start, cursor["_etag"])]
            await store.batch(SUMMARIES, partition, reset)
        return True

    return await until_written(attempt, f"{step} of {partition[1]}")


async def _cleared_cursor(store: Store, user_id: str, thread_id: str) -> Cursor:
    """A cursor that covers all turns up to the last clearing; a new summary begins after that."""
    window = await read_window(store, user_id, thread_id)
    if not window.cleared[0]:
        return Cursor()
    rows = await store.query(TURNS, queries.TURNS_UP_TO, (user_id, thread_id), end=window.cleared[0])
    # A turn written after the clearing is live, however old its time.
    covered = [
        (row["id"], int(row["_ts"]))
        for row in rows
        if (row["created_at"], row["id"]) <= window.cleared and not window.cursor.is_new(row["id"], int(row["_ts"]))
    ]
    return Cursor().advanced(covered) if covered else Cursor()


async def _forget_turns(store: Store, user_id: str, thread_id: str, gone: Collection[str]) -> None:
    """Removes deleted turns from a window. If one was the window's edge, the turn before it becomes the edge.

    Raises:
        StoreUnavailable: if other writers keep moving the window.
    """

    async def edge(position: Position) -> Position:
        if position[1] not in gone:
            return position
        rows = await store.query(TURNS, queries.TURNS_UP_TO, (user_id, thread_id), end=position[0])
        left = [(row["created_at"], row["id"]) for row in rows]
        return max((one for one in left if one <= position), default=("", ""))

    async def attempt() -> None:
        window = await read_window(store, user_id, thread_id)
        if window.etag is None:
            return
        left = dataclasses.replace(
            window,
            cursor=window.cursor.without(gone),
            through=await edge(window.through),
            cleared=await edge(window.cleared),
        )
        with racing():
            await store.batch(SUMMARIES, (user_id, thread_id), [put_window(user_id, thread_id, left)])

    await until_written(attempt, f"the live view of {thread_id}")
