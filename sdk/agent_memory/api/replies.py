"""Answers to writes that came with an Idempotency-Key: asked again, the same answer is given and nothing is done.

They are kept in this process, for a while. Another process does the work again, which is harmless: turns get ids that
are made of the key, what is remembered word for word is not remembered twice, and a memory that was updated already is
a conflict.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import Response

from agent_memory.errors import Conflict

KEPT_SECONDS = 600.0
KEPT_REPLIES = 10_000


@dataclass(frozen=True, slots=True)
class _Entry:
    fingerprint: str
    answer: asyncio.Future[Response]
    begun: float


class Replies:
    """The answers of one app."""

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple[str, str], _Entry] = OrderedDict()

    async def once(self, user_id: str, key: str, request: bytes, work: Callable[[], Awaitable[Response]]) -> Response:
        """Does the work, unless it was done under this key; its answer. A failure may be tried again.

        Raises:
            Conflict: if the key stands for another request.
        """
        self._forget_old()
        fingerprint = hashlib.sha256(request).hexdigest()
        known = self._entries.get((user_id, key))
        if known is not None:
            if known.fingerprint != fingerprint:
                raise Conflict("this Idempotency-Key was used for another request")
            return await asyncio.shield(known.answer)
        answer: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self._entries[user_id, key] = _Entry(fingerprint, answer, time.monotonic())
        try:
            made = await work()
        except BaseException as error:
            del self._entries[user_id, key]
            # Whoever waits for the same answer is told to try again.
            answer.set_exception(
                Conflict(f"the first request with this Idempotency-Key failed: {type(error).__name__}")
            )
            answer.exception()
            raise
        answer.set_result(made)
        return made

    def drop(self, user_id: str) -> None:
        """Forgets what was answered to a user."""
        for known in [one for one in self._entries if one[0] == user_id]:
            del self._entries[known]

    def _forget_old(self) -> None:
        oldest = time.monotonic() - KEPT_SECONDS
        while self._entries:
            first = next(iter(self._entries.values()))
            if first.begun > oldest and len(self._entries) <= KEPT_REPLIES:
                return
            self._entries.popitem(last=False)
