"""What a store is asked: the requests of the Cosmos SDK, seen where they leave it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import pytest
from azure.core.pipeline.transport import AsyncHttpResponse, HttpRequest

import embedded_cosmos
from embedded_cosmos import AsyncTransport
from embedded_cosmos.messages import Request

Asked = Counter[tuple[str, ...]]
"""Method, path, query, partition, status and request units of each request; how often."""

_REACH = ("x-ms-documentdb-partitionkey", "x-ms-start-epk", "x-ms-end-epk")
_asked: ContextVar[Asked | None] = ContextVar("asked", default=None)


class Recording(AsyncTransport):
    """Notes requests made on behalf of whoever listens; not those of background work, which began before."""

    async def send(self, request: HttpRequest, **options: Any) -> AsyncHttpResponse:
        """Answers a request, and notes it."""
        response = await super().send(request, **options)
        asked = _asked.get()
        if asked is not None and not str(request.url).endswith("/pkranges/"):  # the SDK's map, read once
            asked[_shape(request, response)] += 1
        return response


class Heedless(AsyncTransport):
    """Answers a query to a key, or to a prefix of one, from all documents of the container.

    An image of Microsoft's emulator did so for prefixes (issue 329 of Azure/azure-cosmos-db-emulator-docker).
    """

    async def send(self, request: HttpRequest, **options: Any) -> AsyncHttpResponse:
        """Answers a request as if a query had named no key."""
        if str(request.headers.get("x-ms-documentdb-isquery", "")).lower() == "true":
            for name in _REACH:
                request.headers.pop(name, None)
            request.headers["x-ms-documentdb-query-enablecrosspartition"] = "True"
        return await super().send(request, **options)


@dataclass(slots=True)
class Trips:
    """What a call asks for: requests, documents and bytes of the answers, and how many round trips are in a row."""

    requests: int = 0
    documents: int = 0
    bytes: int = 0
    sequential: int = 0
    _leaving: asyncio.Future[None] | None = field(default=None, repr=False, compare=False)

    async def leave(self) -> None:
        """Waits until whoever can send a request now has done so; they all leave together."""
        if self._leaving is not None:
            await asyncio.shield(self._leaving)
            return
        self._leaving = asyncio.get_running_loop().create_future()
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        leaving, self._leaving = self._leaving, None
        self.sequential += 1
        leaving.set_result(None)


_TURNS = 200
"""Of the event loop: more than a call takes to send all that waits for no answer."""
_trips: ContextVar[Trips | None] = ContextVar("trips", default=None)


class Counting(AsyncTransport):
    """Counts the round trips of whoever listens, as a distant store would make them."""

    def _is_quick(self, request: Request) -> bool:
        """Answers all on the loop: how long a thread takes must not tell what leaves together."""
        return True

    async def send(self, request: HttpRequest, **options: Any) -> AsyncHttpResponse:
        """Answers a request together with all that are sent meanwhile."""
        trips = None if str(request.url).endswith("/pkranges/") else _trips.get()
        if trips is None:
            return await super().send(request, **options)
        await trips.leave()
        response = await super().send(request, **options)
        trips.requests += 1
        trips.documents += int(response.headers.get("x-ms-item-count", 0))
        trips.bytes += len(response.body())
        return response


def count_trips(patch: pytest.MonkeyPatch) -> None:
    """From now on a memory that is opened counts round trips."""
    patch.setattr(embedded_cosmos, "AsyncTransport", Counting)


@contextmanager
def trips_meanwhile() -> Iterator[Trips]:
    """Counts what is asked inside."""
    trips = Trips()
    token = _trips.set(trips)
    try:
        yield trips
    finally:
        _trips.reset(token)


def ignore_keys(patch: pytest.MonkeyPatch) -> None:
    """From now on a memory that is opened has a store that does not heed the keys of queries."""
    patch.setattr(embedded_cosmos, "AsyncTransport", Heedless)


def record_requests(patch: pytest.MonkeyPatch) -> None:
    """From now on a memory that is opened notes what it asks."""
    patch.setattr(embedded_cosmos, "AsyncTransport", Recording)


@contextmanager
def asked_meanwhile() -> Iterator[Asked]:
    """Collects what is asked inside."""
    asked: Asked = Counter()
    token = _asked.set(asked)
    try:
        yield asked
    finally:
        _asked.reset(token)


def _shape(request: HttpRequest, response: AsyncHttpResponse) -> tuple[str, ...]:
    headers = request.headers
    reach = [str(headers.get(name, "")) for name in _REACH]
    return (
        str(request.method),
        str(request.url).partition("/dbs/")[2],
        _query(request),
        *reach,
        str(response.status_code),
        response.headers["x-ms-request-charge"],
    )


def _query(request: HttpRequest) -> str:
    if str(request.headers.get("x-ms-documentdb-isquery", "")).lower() != "true":
        return ""
    return str(json.loads(request.data)["query"])  # type: ignore[arg-type]
