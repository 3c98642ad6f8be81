"""Audit: who read or changed a user's memory, when and from where. Entries hold ids, never words.

Entries are stored with the user, in pages of as many as a document holds, a hundred at most. The store deletes them
after some days, and erasing the user deletes them, too. They are written in the background once a second, so no search
waits for them. A process that is killed loses the entries of the last second. Entries that cannot be written are kept
for the next try.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import defaultdict
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime

from agent_memory.errors import AgentMemoryError
from agent_memory.models import AuditEntry, iso, now
from agent_memory.store import queries
from agent_memory.store.calls import WriteBehind
from agent_memory.store.client import Store
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.documents import Document, from_document, in_batches
from agent_memory.store.ids import AUDIT_THREAD, new_turn_id

logger = logging.getLogger("agent_memory")

MOST_IDS = 100
"""Maximum ids in one entry; `count` has the full number."""
MOST_WAITING = 10_000
"""Maximum entries that wait while the store does not respond. Beyond that, the oldest are dropped."""
DELAY = 1.0


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something: their name, through which interface, and from which address."""

    name: str = "application"
    via: str = "sdk"
    address: str | None = None


_actor: ContextVar[Actor] = ContextVar("actor", default=Actor())  # noqa: B039 (it is frozen)


def acts(actor: Actor) -> None:
    """Sets who acts from now on, in this task and in the tasks that it starts."""
    _actor.set(actor)


@contextlib.contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Sets who acts inside the block."""
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)


def _size(entry: AuditEntry) -> int:
    return len(json.dumps(entry.model_dump(mode="json")))


class Auditor:
    """Writes the entries of all users of a store. They are kept for `days`; 0 switches the audit off."""

    def __init__(self, store: Store, days: int, delay: float = DELAY) -> None:
        self._store = store
        self._days = days
        self._waiting: dict[str, list[AuditEntry]] = defaultdict(list)
        self._writing = asyncio.Lock()
        self._behind = WriteBehind(self.flush, lambda: bool(self._waiting), delay, "agent-memory-audit")

    def note(self, user_id: str, action: str, *, changes: bool, thread_id: str | None, ids: list[str]) -> None:
        """Notes an operation, to be written soon. Makes no request."""
        if self._days <= 0:
            return
        actor = _actor.get()
        entry = AuditEntry(
            at=now(),
            action=action,
            changes=changes,
            actor=actor.name,
            via=actor.via,
            address=actor.address,
            thread_id=thread_id,
            ids=ids[:MOST_IDS],
            count=len(ids),
        )
        self._waiting[user_id].append(entry)
        self._behind.soon()

    async def drop(self, user_id: str) -> None:
        """Drops the unwritten entries of a user who is being erased."""
        async with self._writing:
            self._waiting.pop(user_id, None)

    async def entries(self, user_id: str, since: datetime | None, limit: int) -> list[AuditEntry]:
        """The newest entries of a user, newest first."""
        await self.flush()
        rows = await self._store.query(
            SUMMARIES, queries.AUDIT_PAGES, (user_id, AUDIT_THREAD), since=iso(since) if since else "", limit=limit
        )
        found = [from_document(AuditEntry, entry) for row in rows for entry in row["entries"]]
        newest = sorted((one for one in found if since is None or one.at >= since), key=lambda one: one.at)
        return newest[::-1][:limit]

    async def flush(self) -> None:
        """Writes the waiting entries."""
        async with self._writing:
            for user_id in list(self._waiting):
                while page := next(in_batches(self._waiting.get(user_id, ()), _size), None):
                    try:
                        await self._store.create(SUMMARIES, self._page(user_id, page))
                    except AgentMemoryError as error:
                        logger.warning("audit entries of %d operations wait: %s", len(page), error)
                        self._bound(user_id)
                        return
                    del self._waiting[user_id][: len(page)]
                self._waiting.pop(user_id, None)

    async def close(self) -> None:
        """Writes the waiting entries, and stops."""
        await self._behind.close()

    def _bound(self, user_id: str) -> None:
        waiting = self._waiting[user_id]
        if len(waiting) > MOST_WAITING:
            logger.error("%d audit entries are dropped", len(waiting) - MOST_WAITING)
            del waiting[:-MOST_WAITING]

    def _page(self, user_id: str, entries: list[AuditEntry]) -> Document:
        return {
            "id": f"audit_{new_turn_id()}",
            "user_id": user_id,
            "thread_id": AUDIT_THREAD,
            "type": "audit",
            "until": iso(entries[-1].at),
            "entries": [entry.model_dump(mode="json", exclude_none=True) for entry in entries],
            "ttl": self._days * 86_400,
        }
