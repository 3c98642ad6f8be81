"""Moving a store to another embedding model while it is used (docs/decisions/0029).

`fill`: each memory gets a second vector next to the first, in the same document. `switch`: one write makes the new
model the store's. `clean`: memories written meanwhile get their vector, and the old vectors are removed. All state of a
move is in the store, so it continues where it was interrupted, also in another process.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from azure.core import MatchConditions
from pydantic import ValidationError

from agent_memory.errors import AgentMemoryError, ConfigurationError, Conflict, ModelError, NotFound
from agent_memory.gathering import a_few
from agent_memory.language.current import CurrentEmbeddings
from agent_memory.language.tasks import EmbeddingModel
from agent_memory.models import Memory, ReembedPlan, ReembedResult, Usage
from agent_memory.steps.archive import told_of
from agent_memory.store import queries
from agent_memory.store.calls import record, translated
from agent_memory.store.chunks import spoken
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, MEMORIES, SUMMARIES
from agent_memory.store.documents import VECTOR_DECIMALS, Document, from_document
from agent_memory.store.embedding_model import add_vector_path, read_identity
from agent_memory.store.vectors import field_of

PAGE = 100
"""Memories that are read, embedded and written at a time. A choice."""
AT_ONCE = 8
"""Writes at a time. A choice."""
SETTLING_SECONDS = 90.0
"""How long both vectors are written before the switch, and kept after it, if other processes use the store. These check
the store's model every 30 s. Work that they began with the old model ends with it."""
ALONE_SECONDS = 12.0
"""The same if only this process uses the store, and has a memory open: a search waits up to 10 s for its vector."""
CHARACTERS_PER_TOKEN = 4
"""For an estimate. This is the figure for English; other languages have fewer."""

Progress = Callable[[int, int], None]
"""Receives how many memories are done, and the total."""


async def plan(store: Store, target: EmbeddingModel) -> ReembedPlan:
    """What a move to a model would cost now. Reads counts only.

    Raises:
        ConfigurationError: if the store has no vectors yet.
    """
    identity = await _identity(store)
    here = identity.get("field", "embedding")
    there = _field(identity, target)
    memories = characters = 0
    if there != here:
        where = f"FROM c WHERE {_lacking(here, there)}"
        for name in (MEMORIES, SUMMARIES):
            memories += sum(await _rows(store, name, f"SELECT VALUE COUNT(1) {where}"))
            characters += sum(await _rows(store, name, f"SELECT VALUE SUM(LENGTH(c.content)) {where}"))
    move = identity.get("move")
    return ReembedPlan(
        from_model=identity["embedding_model"],
        to_model=target.model_id,
        dimensions=target.dimensions,
        memories=memories,
        tokens=math.ceil(characters / CHARACTERS_PER_TOKEN),
        under_way=move is not None,
        finished=there == here and move is None,
    )


async def reembed(
    store: Store,
    target: EmbeddingModel,
    current: CurrentEmbeddings | None = None,
    *,
    rate: float | None = None,
    progress: Progress | None = None,
) -> ReembedResult:
    """Moves a store to a model, from wherever an earlier run stopped.

    Args:
        store: The open store.
        target: The model to move to.
        current: The embedding model of the memory that is open here, if one is.
        rate: Memories a second at most.
        progress: Called with the number of memories that are done, and of how many.
    """
    total = (await plan(store, target)).memories
    result = ReembedResult(to_model=target.model_id)
    if progress is not None:
        progress(0, total)
    while True:
        piece = await move(store, target, current, rate=rate)
        result = piece.model_copy(
            update={
                "embedded": result.embedded + piece.embedded,
                "removed": result.removed + piece.removed,
                "failed": result.failed + piece.failed,
                "usage": result.usage + piece.usage,
            }
        )
        if progress is not None:
            progress(result.embedded, max(total, result.embedded))
        if piece.done:
            return result


async def move(
    store: Store, target: EmbeddingModel, current: CurrentEmbeddings | None = None, *, rate: float | None = None
) -> ReembedResult:
    """One piece of a move: at most `PAGE` memories, or one change of phase. May be repeated.

    Raises:
        ConfigurationError: if a move to another model is under way, or the store takes no second path for vectors.
        ModelError: if the model is unavailable.
        StoreUnavailable: if the store is.
    """
    identity = await _identity(store)
    moving = identity.get("move")
    if moving is None:
        if identity["embedding_model"] == target.model_id:
            return ReembedResult(to_model=target.model_id, done=True)
        return await _begin(store, identity, target)
    if moving["to"] != target.model_id:
        raise ConfigurationError(
            f"this store is moving to {moving['to']}; finish that first: name that model, then {target.model_id}"
        )
    here, there = moving["fields"][moving["from"]], moving["fields"][moving["to"]]
    switched = identity["embedding_model"] == target.model_id
    store.vectors.settle(identity)
    if current is not None:
        follow(store, identity, current, target)
    filled = await _fill(store, here, there, target, rate)
    if filled is not None:
        return filled
    settling = SETTLING_SECONDS if not store.in_process else ALONE_SECONDS if current is not None else 0.0
    settles = settling - (time.time() - moving.get("switched_at" if switched else "began_at", 0.0))
    if settles > 0:
        await asyncio.sleep(min(settles, 30.0))
        return ReembedResult(to_model=target.model_id, switched=switched)
    if not switched:
        await _switch(store, identity, target, there)
        if current is not None:
            follow(store, await _identity(store), current, target)
        return ReembedResult(to_model=target.model_id, switched=True)
    removed = await _clean(store, here, there)
    if removed:
        return ReembedResult(to_model=target.model_id, switched=True, removed=removed)
    await _replace(store, identity, {"move": None})
    return ReembedResult(to_model=target.model_id, switched=True, done=True)


def follow(store: Store, identity: Document, current: CurrentEmbeddings, target: EmbeddingModel) -> bool:
    """Makes an open memory follow the store's identity: write both vectors, or switch to the new model.

    Returns:
        False if the store has a model that is not known here.
    """
    store.vectors.settle(identity)
    moving = identity.get("move") or {}
    if identity["embedding_model"] == target.model_id:
        if current.model_id != target.model_id:
            current.adopt(target)
    elif moving.get("to") == target.model_id and current.writes is current.asked:
        store.vectors.keep_beside(moving["fields"][target.model_id], target.model_id)
        current.accompany(target, store.vectors.put_beside)
    return bool(identity["embedding_model"] == current.model_id)


async def _identity(store: Store) -> Document:
    identity = await read_identity(store)
    if identity is None:
        raise ConfigurationError("this store has no embedding model yet: nothing was written to it")
    return identity


def _field(identity: Document, target: EmbeddingModel) -> str:
    same = identity["embedding_model"] == target.model_id
    return str(identity.get("field", "embedding")) if same else field_of(target.model_id)


async def _begin(store: Store, identity: Document, target: EmbeddingModel) -> ReembedResult:
    here, there = identity.get("field", "embedding"), field_of(target.model_id)
    await add_vector_path(store, there, target.dimensions)
    first = identity["embedding_model"]
    fields = {first: here, target.model_id: there}
    begun = {"from": first, "to": target.model_id, "fields": fields, "began_at": time.time()}
    await _replace(store, identity, {"move": begun})
    return ReembedResult(to_model=target.model_id)


async def _switch(store: Store, identity: Document, target: EmbeddingModel, there: str) -> None:
    moved = identity["move"] | {"switched_at": time.time()}
    changes = {"embedding_model": target.model_id, "dimensions": target.dimensions, "field": there, "move": moved}
    await _replace(store, identity, changes)


async def _replace(store: Store, identity: Document, changes: Document) -> None:
    """Changes the identity, unless another run was faster: then the next piece sees what it did."""
    changed = {name: value for name, value in (identity | changes).items() if value is not None}
    try:
        with translated():
            await store.container(COUNTER).replace_item(
                identity["id"], changed, etag=identity["_etag"], match_condition=MatchConditions.IfNotModified
            )
    except Conflict:
        return
    store.vectors.settle(changed)


def _lacking(here: str, there: str) -> str:
    """Documents with a vector of one model and none of the other. Tombstones keep theirs: their text is gone."""
    return f'IS_DEFINED(c.{here}_model) AND NOT IS_DEFINED(c.{there}_model) AND c.type != "tombstone"'


async def _fill(
    store: Store, here: str, there: str, target: EmbeddingModel, rate: float | None
) -> ReembedResult | None:
    """Adds the second vector to the next memories; None if all have one."""
    began = time.monotonic()
    for name, chosen in ((MEMORIES, queries.MEMORY_FIELDS), (SUMMARIES, "c.id, c.user_id, c.thread_id, c.content")):
        sql = f"SELECT TOP {PAGE} {chosen}, c.ttl, c._ts, c._etag FROM c WHERE {_lacking(here, there)}"
        rows: list[Document] = await _rows(store, name, sql)
        if not rows:
            continue
        vectors, usage, failed = await _embedded(target, [_text(row) for row in rows])
        with_vectors = zip(rows, vectors, strict=True)
        writes = (partial(_set, store, name, row, there, target.model_id, vector) for row, vector in with_vectors)
        await a_few(writes, AT_ONCE)
        if rate:
            await asyncio.sleep(max(0.0, len(rows) / rate - (time.monotonic() - began)))
        return ReembedResult(to_model=target.model_id, embedded=len(rows) - failed, failed=failed, usage=usage)
    return None


def _text(row: Document) -> str:
    """The text behind a document's vector: what the step that wrote it embedded."""
    content = str(row["content"])
    try:
        if row.get("kind") == "chunk":
            return spoken(from_document(Memory, row))
        if row.get("kind") == "session":
            about = row["metadata"]
            return told_of(
                content.partition("## Summary: ")[2] or content,
                about.get("conversation_topics", []),
                about.get("entities_mentioned", []),
            )
    except (ValidationError, KeyError):
        return content
    return content


async def _embedded(target: EmbeddingModel, texts: list[str]) -> tuple[Sequence[Sequence[float] | None], Usage, int]:
    """The vectors of texts, their cost, and how many texts the model refuses for good: these have none."""
    try:
        embedded = await target.embed(texts)
        return embedded.vectors, embedded.usage, 0
    except ModelError as error:
        if error.retryable:
            raise
        if len(texts) == 1:
            await target.embed(["word"])  # raises if the model refuses everything, and not this text
            return [None], Usage(), 1
    half = len(texts) // 2
    first, second = await _embedded(target, texts[:half]), await _embedded(target, texts[half:])
    return [*first[0], *second[0]], first[1] + second[1], first[2] + second[2]


async def _set(
    store: Store, container: str, row: Document, field: str, model_id: str, vector: Sequence[float] | None
) -> None:
    operations: list[Document] = [{"op": "set", "path": f"/{field}_model", "value": model_id if vector else "none"}]
    if vector:
        rounded = [round(value, VECTOR_DECIMALS) for value in vector]
        operations.append({"op": "set", "path": f"/{field}", "value": rounded})
    await _patch(store, container, row, operations)


async def _clean(store: Store, here: str, there: str) -> int:
    """Removes the old vectors of the next documents. Returns their number."""
    for name in (MEMORIES, SUMMARIES):
        sql = (
            f"SELECT TOP {PAGE} c.id, c.user_id, c.thread_id, c.ttl, c._ts, c._etag, IS_DEFINED(c.{here}) AS has"
            f" FROM c WHERE IS_DEFINED(c.{here}_model) AND IS_DEFINED(c.{there}_model)"
        )
        rows: list[Document] = await _rows(store, name, sql)
        if rows:
            await a_few((partial(_unset, store, name, row, here) for row in rows), AT_ONCE)
            return len(rows)
    return 0


async def _unset(store: Store, container: str, row: Document, field: str) -> None:
    gone = [f"/{field}_model"] + ([f"/{field}"] if row["has"] else [])
    await _patch(store, container, row, [{"op": "remove", "path": path} for path in gone])


async def _patch(store: Store, container: str, row: Document, operations: list[Document]) -> None:
    """Changes a document as it was read; one that changed meanwhile is read again by the next piece.

    A time to live counts from the last write, so the remaining time is written too.
    """
    ttl = row.get("ttl")
    if isinstance(ttl, int) and ttl > 0:
        left = max(1, ttl - int(time.time() - row["_ts"]))
        operations = [*operations, {"op": "set", "path": "/ttl", "value": left}]
    try:
        with translated():
            await store.container(container).patch_item(
                row["id"],
                [row["user_id"], row["thread_id"]],
                operations,
                etag=row["_etag"],
                match_condition=MatchConditions.IfNotModified,
                response_hook=record,
            )
    except (Conflict, NotFound):
        return


async def _rows(store: Store, container: str, sql: str) -> list[Any]:
    """The rows of a query over a container as it is stored. It names fields, so it does not pass `store.vectors`."""
    with translated():
        pages = store.container(container).query_items(sql, response_hook=record)
        return [row async for row in pages]


logger = logging.getLogger("agent_memory")

WATCH_SECONDS = 30.0
"""Seconds between two checks of the store. Each costs one point read. `reembed.SETTLING_SECONDS` is longer."""


async def catch_up(store: Store, current: CurrentEmbeddings) -> None:
    """Does once what `watch` does: switches to the next model if the store has, or helps to fill its vectors."""
    identity = await read_identity(store)
    if identity is None:
        return
    known = follow(store, identity, current, current.next or current.asked)
    if not known:
        logger.error(
            "The store has moved to the embedding model %s, and this process has %s: set AGENT_MEMORY_EMBEDDINGS and"
            " restart it. Until then it finds memories only by their words.",
            identity["embedding_model"],
            current.model_id,
        )


async def watch(store: Store, current: CurrentEmbeddings) -> None:
    """Catches up again and again, until it is cancelled."""
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        try:
            await catch_up(store, current)
        except AgentMemoryError as error:
            logger.warning("The store's embedding model could not be read: %s", error)
