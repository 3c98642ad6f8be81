"""Replies: what was answered to a write under an Idempotency-Key, so that it is answered alike when asked again.

A key is claimed ahead of the work by creating its document, so that of those who ask at once, through whatever
process, one does the work. The documents lie in the user's partition for ten minutes. They hold neither the key nor the
request, only hashes of them; what a reply said goes when anything is forgotten, and the claim stays.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from agent_memory.errors import Conflict, NotFound, StoreUnavailable
from agent_memory.models import iso, now
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.documents import Document
from agent_memory.store.ids import REPLIES_THREAD, derived_id

KEPT_SECONDS = 600
CLAIM_SECONDS = 60
"""After which whoever claimed a key and has not answered is taken for dead."""


async def claim_key(store: Store, user_id: str, key: str, request: str) -> tuple[Document, bool]:
    """The document of a key, and whether it was claimed by this call; if not, its `state` says how far it is.

    `request` is hashed. Costs one write if the key is new.

    Raises:
        Conflict: if the key stands for another request.
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
        "ttl": KEPT_SECONDS,
    }
    for _ in range(3):
        with contextlib.suppress(Conflict):
            return await store.create(SUMMARIES, fresh), True
        known = await store.read(SUMMARIES, str(fresh["id"]), (user_id, REPLIES_THREAD))
        if known is None:
            continue
        if known["state"] != "free" and known["request"] != fresh["request"]:
            raise Conflict("this Idempotency-Key was used for another request")
        if known["state"] == "free" or (known["state"] == "claimed" and _is_dead(known)):
            with contextlib.suppress(Conflict, NotFound):
                return await store.replace(SUMMARIES, fresh, known["_etag"]), True
            continue
        return known, False
    raise StoreUnavailable("others use this Idempotency-Key too: ask again")


async def keep_reply(store: Store, claim: Document, reply: Mapping[str, Any] | None) -> None:
    """Keeps what was answered; with None, only that it was. Not if the user was erased, or another took over."""
    state = {"state": "gone"} if reply is None else {"state": "answered", "reply": dict(reply)}
    await _replace(store, claim, claim | state)


async def free_key(store: Store, claim: Document) -> None:
    """Lets a key be used again after its request failed, also for another request."""
    await _replace(store, claim, claim | {"state": "free"})


async def forget_replies(store: Store, user_id: str) -> None:
    """Deletes what was answered to a user. That it was stays: a write that is repeated brings nothing back."""
    for known in await store.query(SUMMARIES, queries.ANSWERED, (user_id, REPLIES_THREAD)):
        kept = {name: value for name, value in known.items() if name != "reply"}
        await _replace(store, known, kept | {"state": "gone"})


async def _replace(store: Store, known: Document, changed: Document) -> None:
    with contextlib.suppress(Conflict, NotFound):
        await store.replace(SUMMARIES, changed, known["_etag"])


def _is_dead(known: Document) -> bool:
    return datetime.fromisoformat(known["claimed_at"]) < now() - timedelta(seconds=CLAIM_SECONDS)
