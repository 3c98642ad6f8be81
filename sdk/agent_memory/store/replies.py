"""Replies: the responses to writes with an Idempotency-Key, so that a repeated write gets the same response.

A request claims its key by creating the key's document before it does the work. So of several equal concurrent
requests, in any process, only one does the work. The documents stay in the user's partition for ten minutes. They hold
hashes of key and request, not their text. When the user forgets anything, the stored responses are deleted and the
claims stay. A request that is still running may have read what was forgotten: its claim becomes `silent`, and its
response is not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from agent_memory.errors import Conflict
from agent_memory.models import iso, now
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.documents import Document, Operation, in_batches, replace
from agent_memory.store.ids import REPLIES_THREAD, derived_id
from agent_memory.store.updates import change_existing, racing, until_written

KEPT_SECONDS = 600
CLAIM_SECONDS = 60
"""After how long a request that claimed a key and has not answered counts as dead."""

at_work: ContextVar[str] = ContextVar("at_work", default="")
"""The id of the claim that the current task works under, if any."""


async def claim_key(
    store: Store, user_id: str, key: str, request: str, *, waiting: bool = False
) -> tuple[Document, bool]:
    """The document of a key, and whether this call claimed it; if not, its `state` shows the owner's progress.

    `request` is hashed. Costs one write if the key is new, and one read while `waiting` for the key's owner.

    Raises:
        Conflict: if the key was used for another request.
        StoreUnavailable: if others keep claiming and releasing the key.
    """
    fresh = {
        "id": derived_id("reply", user_id, key),
        "user_id": user_id,
        "thread_id": REPLIES_THREAD,
        "type": "reply",
        "state": "claimed",
        "request": derived_id("request", user_id, key, request),
        "claimed_at": iso(now()),
        "owner": uuid4().hex,
        "ttl": KEPT_SECONDS,
    }
    expected = waiting

    async def attempt() -> tuple[Document, bool]:
        nonlocal expected
        known = await store.read(SUMMARIES, str(fresh["id"]), (user_id, REPLIES_THREAD)) if expected else None
        expected = True
        if known is None:
            with racing():
                return await store.create(SUMMARIES, fresh), True
        if known["state"] != "free" and known["request"] != fresh["request"]:
            raise Conflict("this Idempotency-Key was used for another request")
        if known["state"] == "free" or (known["state"] == "claimed" and _is_dead(known)):
            with racing():
                return await store.replace(SUMMARIES, fresh, known["_etag"]), True
        return known, False

    return await until_written(attempt, "the claim of this Idempotency-Key")


async def renew_claim(store: Store, claim: Document) -> None:
    """Notes that the owner of a claim is alive."""
    await _change(store, claim, lambda known: known | {"claimed_at": iso(now())})


async def keep_reply(store: Store, claim: Document, reply: Mapping[str, Any] | None) -> None:
    """Keeps the answer; with None, or if something was forgotten meanwhile, only the fact that there was one.

    Keeps nothing if the user was erased, or another request took over.
    """

    def answered(known: Document) -> Document:
        if reply is None or known.get("silent"):
            return known | {"state": "gone"}
        return known | {"state": "answered", "reply": dict(reply)}

    await _change(store, claim, answered)


async def free_key(store: Store, claim: Document) -> None:
    """Frees a key after its request failed, also for another request."""
    await _change(store, claim, lambda known: known | {"state": "free"})


async def forget_replies(store: Store, user_id: str) -> None:
    """Deletes the stored responses of a user, and prevents storing pending ones, except that of the deletion itself.

    The claims stay, so a repeated write brings nothing back. Costs one query, and one write for each 100 replies.

    Raises:
        StoreUnavailable: if others keep changing them.
    """
    partition = (user_id, REPLIES_THREAD)

    async def attempt() -> None:
        rows = await store.query(SUMMARIES, queries.TELLING_REPLIES, partition, own=at_work.get())
        for some in in_batches(rows):
            with racing():  # a reply may be answered, freed or renewed meanwhile
                await store.batch(SUMMARIES, partition, [_silenced(row) for row in some])

    await until_written(attempt, f"the replies to {user_id}")


def _silenced(row: Document) -> Operation:
    known = {name: value for name, value in row.items() if name != "_etag"}
    change = {"silent": True} if row["state"] == "claimed" else {"state": "gone"}
    return replace(known | change, row["_etag"])


async def _change(store: Store, claim: Document, change: Callable[[Document], Document]) -> None:
    """Changes a claim while its owner still holds it, even if somebody else has written it."""

    def if_owned(known: Document) -> Document | None:
        owned = known["state"] == "claimed" and known.get("owner") == claim["owner"]
        return change(known) if owned else None

    partition = (claim["user_id"], REPLIES_THREAD)
    await change_existing(store, SUMMARIES, claim["id"], partition, if_owned, known=claim)


def _is_dead(known: Document) -> bool:
    return datetime.fromisoformat(known["claimed_at"]) < now() - timedelta(seconds=CLAIM_SECONDS)
