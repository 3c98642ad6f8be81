"""What some work asks of the store: requests, round trips one after another, bytes, and request units by container.

Requests that leave before any answer has come are one round trip. Bytes are those of the answers' bodies, request units
the engine's estimate from the size of documents: right in scale only.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from azure.core.pipeline.transport import AsyncHttpResponse, HttpRequest

from embedded_cosmos import AsyncTransport
from embedded_cosmos.messages import Request

_LOOP_TURNS = 200
"""More than anything here takes to send all that waits for no answer."""


@dataclass
class Asked:
    """What some work asked of the store. `in_a_row` counts round trips, `units` are request units by container."""

    requests: int = 0
    in_a_row: int = 0
    bytes: int = 0
    units: dict[str, float] = field(default_factory=lambda: defaultdict(float))


class _Trip:
    """Work in progress, and the round trip that is about to leave."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self._leaving: asyncio.Future[None] | None = None

    async def leave(self) -> None:
        """Waits until whoever can send a request now has done so; they all leave together."""
        if self._leaving is not None:
            await asyncio.shield(self._leaving)
            return
        self._leaving = asyncio.get_running_loop().create_future()
        for _ in range(_LOOP_TURNS):
            await asyncio.sleep(0)
        leaving, self._leaving = self._leaving, None
        self.asked.in_a_row += 1
        leaving.set_result(None)


_trip: ContextVar[_Trip | None] = ContextVar("trip", default=None)


@contextmanager
def counting(asked: Asked) -> Iterator[None]:
    """Adds what is asked in this block to `asked`, but nothing of background work."""
    token = _trip.set(_Trip(asked))
    try:
        yield
    finally:
        _trip.reset(token)


class Counting(AsyncTransport):
    """Takes the place of the engine's transport, and counts."""

    def _is_quick(self, request: Request) -> bool:
        """Answers on the loop while it counts: the time that a thread takes must not decide what leaves together."""
        return True if _trip.get() is not None else super()._is_quick(request)

    async def send(self, request: HttpRequest, **options: Any) -> AsyncHttpResponse:
        """Answers a request, and counts it."""
        trip = None if str(request.url).endswith("/pkranges/") else _trip.get()  # the SDK's map is read once
        if trip is None:
            return await super().send(request, **options)
        await trip.leave()
        response = await super().send(request, **options)
        _, _, place = str(request.url).partition("/colls/")
        trip.asked.requests += 1
        trip.asked.bytes += len(response.body())
        trip.asked.units[place.split("/")[0] or "account"] += float(response.headers.get("x-ms-request-charge", 0))
        return response
