"""The webhook: posts changes of memories to an address, signed, at least once and in the order of the change feed.

The store keeps the webhook's position, which advances when the receiver answers 2xx. So after a failure or a crash, the
webhook sends the same changes again, with the same ids.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import socket
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import tenacity
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver

from agent_memory.errors import AgentMemoryError, StoreUnavailable
from agent_memory.models import MemoryChange, iso, now
from agent_memory.settings import Webhook, is_public
from agent_memory.store.changes import changes_in
from agent_memory.store.client import Store
from agent_memory.store.containers import LEASES, MEMORIES
from agent_memory.store.documents import Document

logger = logging.getLogger("agent_memory")

LEASE = "feed_memories_webhook"
SIGNATURE, TIMESTAMP, DELIVERY = "X-Agent-Memory-Signature", "X-Agent-Memory-Timestamp", "X-Agent-Memory-Delivery"
PAGE = 100
"""Most documents of one message."""
TIMEOUT = aiohttp.ClientTimeout(total=10)
ATTEMPTS = 5
FIRST_WAIT = 0.5
LONGEST_WAIT = 20.0
"""In seconds, as for models (`language.retries`)."""
POLL_SECONDS = 2.0
LONGEST_PAUSE = 300.0
LOOK_BACK = timedelta(hours=1)
"""The oldest change that the function app sends: it keeps no record of what it has sent. See `send_batch`."""


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """The signature of a message: `v1=` and the HMAC-SHA256 of its timestamp, a dot, and its body."""
    signed = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return f"v1={signed.hexdigest()}"


def changes_of(documents: Iterable[Document], since: datetime) -> list[MemoryChange]:
    """The changes in documents of the feed for a receiver who has all changes up to `since`."""
    return [change for document in documents for change in changes_in(document, since)]


async def deliver(session: aiohttp.ClientSession, webhook: Webhook, changes: Sequence[MemoryChange]) -> None:
    """Posts changes as one message; tries again if the receiver does not answer 2xx.

    Raises:
        StoreUnavailable: if the receiver answered 2xx to none of the attempts.
    """
    if not changes:
        return
    told = [change.model_dump(mode="json", exclude={"cursor"}) for change in changes]
    body = json.dumps({"changes": told}, ensure_ascii=False).encode()
    name = hashlib.sha256("\n".join(change.id for change in changes).encode()).hexdigest()[:32]

    async def post() -> None:
        stamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            DELIVERY: name,
            TIMESTAMP: stamp,
            SIGNATURE: signature(webhook.secret, stamp, body),
        }
        # A redirect could lead to a private network, and is no 2xx.
        async with session.post(webhook.url, data=body, headers=headers, allow_redirects=False) as answer:
            if not 200 <= answer.status < 300:
                raise aiohttp.ClientError(f"it answered {answer.status}")

    retrying = tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception_type((aiohttp.ClientError, TimeoutError, OSError)),
        stop=tenacity.stop_after_attempt(ATTEMPTS),
        wait=tenacity.wait_random_exponential(multiplier=FIRST_WAIT, max=LONGEST_WAIT),
        reraise=True,
    )
    try:
        await retrying(post)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        reason = str(error) or type(error).__name__
        raise StoreUnavailable(f"the webhook took no message: {reason}") from error


def session_for(webhook: Webhook) -> aiohttp.ClientSession:
    """A session that connects to public addresses only, unless the webhook allows others. Keeps no cookies."""
    resolver = None if webhook.allow_private else PublicAddresses()
    connector = aiohttp.TCPConnector(resolver=resolver, limit=2)
    return aiohttp.ClientSession(connector=connector, timeout=TIMEOUT, cookie_jar=aiohttp.DummyCookieJar())


class PublicAddresses(AbstractResolver):
    """Resolves names to public addresses. The session connects to just these, so a second lookup cannot change them."""

    def __init__(self) -> None:
        self._inner = DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The public addresses of a host. Raises OSError if it has none."""
        found = [one for one in await self._inner.resolve(host, port, family) if is_public(one["host"])]
        if not found:
            raise OSError(f"{host} has no public address")
        return found

    async def close(self) -> None:
        """Closes the resolver behind it."""
        await self._inner.close()


class Notifier:
    """Sends the changes of a store to its webhook, in this process."""

    def __init__(self, store: Store, webhook: Webhook) -> None:
        self._store = store
        self._webhook = webhook
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts sending. Does nothing if it runs."""
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="agent-memory-webhook")

    async def stop(self) -> None:
        """Stops. After the next start, it sends the changes that the receiver has not confirmed."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def send(self, session: aiohttp.ClientSession) -> int:
        """Sends what the feed has by now. Returns how many changes there were.

        Raises:
            StoreUnavailable: if the receiver or the store does not answer.
        """
        lease = await self._store.read(LEASES, LEASE, (LEASE,))
        if lease is None:
            ranges = await self._store.feed_ranges(MEMORIES)
            lease = {"id": LEASE, "since": iso(now()), "parts": [{"range": part} for part in ranges]}
            await self._store.upsert(LEASES, lease)
        since, parts = datetime.fromisoformat(lease["since"]), lease["parts"]
        sent = 0
        for part in parts:
            feed = self._store.changes(part["range"], part.get("continuation"), PAGE, MEMORIES)
            async for page, continuation in feed:
                # Changes from before the webhook existed are skipped. The SDK could begin after them, but cannot read
                # the continuations of a feed that begins at a time (azure-cosmos 4.17.1).
                known = max(since, datetime.fromtimestamp(part.get("seen", 0), UTC))
                news = [document for document in page if document["_ts"] >= int(since.timestamp())]
                changes = changes_of(news, known)
                await deliver(session, self._webhook, changes)
                sent += len(changes)
                part |= {"continuation": continuation, "seen": max(document["_ts"] for document in page)}
                await self._store.upsert(LEASES, {"id": LEASE, "since": lease["since"], "parts": parts})
        return sent

    async def _work(self) -> None:
        failures = 0
        async with session_for(self._webhook) as session:
            while True:
                try:
                    await self.send(session)
                    failures = 0
                except AgentMemoryError as error:
                    failures += 1
                    logger.warning("Changes of memories wait for the webhook: %s", error)
                except Exception:  # if the task died, sending would stop silently
                    failures += 1
                    logger.exception("The webhook met a fault of its own and will be tried again")
                await asyncio.sleep(min(POLL_SECONDS * 2.0 ** min(failures, 10), LONGEST_PAUSE))


async def send_batch(webhook: Webhook, documents: Sequence[dict[str, Any]]) -> int:
    """Sends the changes of one batch of the change feed, for a host that keeps the position itself.

    A change that is older than `LOOK_BACK` when its document is written again counts as sent.

    Raises:
        StoreUnavailable: if the receiver did not confirm them; the host delivers the batch again.
    """
    oldest = min((document["_ts"] for document in documents), default=0)
    changes = changes_of(documents, datetime.fromtimestamp(oldest, UTC) - LOOK_BACK)
    async with session_for(webhook) as session:
        await deliver(session, webhook, changes)
    return len(changes)
