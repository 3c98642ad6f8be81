"""Around calls to Cosmos DB: request units are counted, and the errors of the SDK become ours.

Notes that are not urgent are collected, and many of them written in one request, a little later.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from azure.core.exceptions import AzureError, HttpResponseError, ServiceRequestError, ServiceResponseError

from agent_memory.errors import AgentMemoryError, ConfigurationError, Conflict, InvalidInput, NotFound, StoreUnavailable
from agent_memory.telemetry import note_request

_REFUSALS = frozenset({401, 403, 500, 503, 507})
_BEHIND = 1002
"""The substatus of a 404 that says nothing of a document: no replica has what the session has seen."""
_TRANSIENT = frozenset({408, 410, 429, 449, 500, 502, 503, 504})
_meter: ContextVar[list[float] | None] = ContextVar("request_units", default=None)


@contextmanager
def metered() -> Iterator[list[float]]:
    """Collects the request units of each store call made inside the block, in order."""
    charges: list[float] = []
    token = _meter.set(charges)
    try:
        yield charges
    finally:
        _meter.reset(token)


def record(headers: Mapping[str, Any], _body: Any = None) -> None:
    """Adds a call's request units to the innermost `metered` block. The SDK calls it with each response."""
    units = float(headers.get("x-ms-request-charge", 0))
    note_request(units)
    charges = _meter.get()
    if charges is not None:
        charges.append(units)


def refuses_writes(error: AgentMemoryError) -> bool:
    """Whether a failed write means that other writes will fail too: no answer, no permission or no space."""
    cause = error.__cause__
    return not isinstance(cause, HttpResponseError) or cause.status_code in _REFUSALS


def translate(error: AzureError) -> AgentMemoryError:
    """Our error for an error of the Cosmos SDK."""
    if isinstance(error, ServiceRequestError | ServiceResponseError):
        return StoreUnavailable(f"the store did not answer: {error}")
    status = error.status_code if isinstance(error, HttpResponseError) else None
    message = _message(str(getattr(error, "http_error_message", None) or error).split("\n", 1)[0])
    if status == 404 and getattr(error, "sub_status", None) == _BEHIND:
        return StoreUnavailable(f"the store has not yet what this process has seen: {message}")
    if status == 404:
        return NotFound(f"not in the store: {message}")
    if status in (409, 412):
        return Conflict(f"somebody else wrote first: {message}")
    if status == 413:
        return InvalidInput(f"too large for one document or batch (2 MB): {message}")
    if status in (401, 403):
        return ConfigurationError(f"the store refused the credentials or the permission: {message}")
    if status == 400:
        return ConfigurationError(f"the store refused the request: {message}")
    if status in _TRANSIENT:
        return StoreUnavailable(f"the store is unavailable or throttled ({status}): {message}")
    return StoreUnavailable(f"the store failed: {message}")


def _message(given: str) -> str:
    """The sentence in an error's body, which is JSON."""
    try:
        body = json.loads(given)
    except ValueError:
        return given
    return str(body["message"]) if isinstance(body, dict) and body.get("message") else given


@contextmanager
def translated() -> Iterator[None]:
    """Around a call of the SDK: turns its errors into ours."""
    try:
        yield
    except AzureError as error:
        raise translate(error) from error


@contextmanager
def into_container() -> Iterator[None]:
    """Around a call without an item: "not found" can only mean that the container is missing."""
    try:
        with translated():
            yield
    except NotFound as error:
        raise ConfigurationError("there is no memory store in this database yet: call create_memory_store()") from error


class WriteBehind:
    """Calls `flush` `delay` seconds after something was noted, until nothing is `waiting`, and once more at the end."""

    def __init__(
        self, flush: Callable[[], Awaitable[None]], waiting: Callable[[], bool], delay: float, name: str
    ) -> None:
        self._flush = flush
        self._waiting = waiting
        self._delay = delay
        self._name = name
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def soon(self) -> None:
        """Schedules a write of the notes. Costs no request."""
        if self._task is None or self._task.done():
            self._closing = asyncio.Event()
            self._task = asyncio.create_task(self._write(), name=self._name)

    async def close(self) -> None:
        """Writes the waiting notes, and ends. Does not cancel a running write, because its result would be unknown."""
        task, self._task = self._task, None
        if task is not None:
            self._closing.set()
            await asyncio.wait([task])
        await self._flush()

    async def _write(self) -> None:
        while self._waiting():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), self._delay)
                return
            await self._flush()
