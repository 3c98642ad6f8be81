"""Responses to writes with an Idempotency-Key: a repeated request gets the same response, and nothing is done.

They are kept in the store (`store/replies.py`), so that any process can serve the repeated request. Each such write
costs two more requests to the store.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from fastapi import Response

from agent_memory.errors import AgentMemoryError, Conflict, StoreUnavailable
from agent_memory.store.client import Store
from agent_memory.store.documents import Document
from agent_memory.store.replies import at_work, claim_key, free_key, keep_reply, renew_claim

WAIT_SECONDS = 20.0
"""How long a second request waits for the answer to the first."""
FIRST_POLL, LONGEST_POLL = 0.05, 1.0
RENEW_SECONDS = 20.0
"""Seconds between two heartbeats of a request at work. After three times as long without one it counts as dead."""
MOST_BYTES = 500_000
"""The longest answer that is kept. A document may have 2 MB, and JSON inside JSON takes up to three times the room."""


async def answer_once_for(
    store: Store, user_id: str, key: str, request: str, work: Callable[[], Awaitable[Response]]
) -> Response:
    """Does the work, unless it was done under this key; returns the response. A failure may be tried again.

    Raises:
        Conflict: if the key belongs to another request, or its response is no longer kept.
        StoreUnavailable: if the same request is still running; the call may be repeated.
    """
    deadline, wait = time.monotonic() + WAIT_SECONDS, 0.0
    while True:
        claim, ours = await claim_key(store, user_id, key, request, waiting=wait > 0)
        if ours:
            return await _do(store, claim, work)
        if claim["state"] == "answered":
            reply = claim["reply"]
            return Response(reply["body"], reply["status"], reply["headers"])
        if claim["state"] == "gone":
            raise Conflict("this was done under this Idempotency-Key, and its answer is not kept any more")
        if time.monotonic() > deadline:
            raise StoreUnavailable("the first request with this Idempotency-Key is still running: try again")
        wait = min(2 * wait or FIRST_POLL, LONGEST_POLL)
        await asyncio.sleep(wait)


async def _do(store: Store, claim: Document, work: Callable[[], Awaitable[Response]]) -> Response:
    try:
        async with _at_work(store, claim):
            made = await work()
    except Exception:
        with contextlib.suppress(AgentMemoryError):  # a claim that cannot be freed runs out
            await free_key(store, claim)
        raise
    headers = {name: value for name, value in made.headers.items() if name != "content-length"}
    reply = {"status": made.status_code, "headers": headers, "body": bytes(made.body).decode()}
    with contextlib.suppress(
        AgentMemoryError
        # The write has succeeded even if its reply cannot be stored: the caller still gets the reply, and a repeated
        # request waits.
    ):
        await keep_reply(store, claim, reply if len(made.body) <= MOST_BYTES else None)
    return made


@asynccontextmanager
async def _at_work(store: Store, claim: Document) -> AsyncIterator[None]:
    """Keeps a claim alive while its work is done."""
    renewing, token = asyncio.create_task(_renew(store, claim)), at_work.set(claim["id"])
    try:
        yield
    finally:
        at_work.reset(token)
        renewing.cancel()
        await asyncio.wait([renewing])


async def _renew(store: Store, claim: Document) -> None:
    while True:
        await asyncio.sleep(RENEW_SECONDS)
        with contextlib.suppress(AgentMemoryError):  # the next time, perhaps
            await renew_claim(store, claim)
