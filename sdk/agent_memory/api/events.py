"""Streams: changes of memories as server-sent events (`GET /v1/events`), and contexts as lines of JSON.

A stream of events ends after a while, and the client continues with the id of the last event, which browsers and
libraries do by themselves. So a server can stop, and a host that collects an answer before it sends it (Azure
Functions) still works: there a stream sends what is new, and ends.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse

from agent_memory.api.binding import owned, scope_of
from agent_memory.api.errors import documented
from agent_memory.api.identity import UserId, caller_of, check_member
from agent_memory.contract.schemas import NDJSON
from agent_memory.contract.table import ENDPOINTS
from agent_memory.errors import AgentMemoryError
from agent_memory.models import ContextSection, MemoryChange
from agent_memory.scopes import AsyncUserScope

router = APIRouter()

STREAM_SECONDS = 300.0
"""How long a stream of `agent-memory serve` lasts. A choice."""
LOOK_SECONDS = 2.0
"""Seconds between two polls of the store. Each poll costs one query."""
BEAT_SECONDS = 15.0
"""Seconds after which a stream without events sends a comment, so that no proxy closes it (HTML standard, 9.2.7)."""
RETRY_MILLISECONDS = 2000
"""How long a client waits before it connects again, in milliseconds."""
_TEXT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events: the type of a change, a `MemoryChange` as JSON, and as id the cursor after it.",
        "content": {"text/event-stream": {}},
    }
}


@router.get(
    "/v1/events",
    response_class=StreamingResponse,
    responses=documented() | _TEXT,
    tags=["events"],
    operation_id="user_events",
)
async def events(
    request: Request,
    user_id: UserId,
    cursor: Annotated[str | None, Query(max_length=255, description="`now`, or where to begin.")] = None,
    last_event_id: Annotated[
        str | None, Header(max_length=255, description="The id of the last event received.")
    ] = None,
) -> StreamingResponse:
    """Streams the changes of the user's memories as they happen.

    Begins with the oldest memory, unless `cursor` or `Last-Event-ID` say otherwise. See `GET /v1/changes`.
    """
    scope = owned(request, user_id)
    lasts: float = request.app.state.stream_seconds
    # An invalid request must fail before the stream begins.
    first = await scope.changes(cursor=last_event_id or cursor)
    body = _stream(scope, first.cursor, [*first.changes], lasts, more=first.more)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(body, media_type="text/event-stream", headers=headers)


async def _stream(
    scope: AsyncUserScope, cursor: str, found: list[MemoryChange], lasts: float, *, more: bool
) -> AsyncIterator[str]:
    ends = said = time.monotonic()
    ends += lasts
    # A client that has received no event yet must be able to continue: the comments below have an id too.
    yield f"retry: {RETRY_MILLISECONDS}\n: memory changes\n\n"
    while True:
        for change in found:
            yield f"id: {change.cursor}\nevent: {change.type}\ndata: {change.model_dump_json()}\n\n"
        if not more:
            if found or time.monotonic() - said >= BEAT_SECONDS:
                said = time.monotonic()
                yield f"id: {cursor}\n: here\n\n"
            if time.monotonic() + LOOK_SECONDS > ends:
                return
            await asyncio.sleep(LOOK_SECONDS)
        try:
            page = await scope.changes(cursor=cursor)
        except AgentMemoryError:
            return  # The client connects again, and gets an error status.
        found, cursor, more = page.changes, page.cursor, page.more


_CONTEXT = next(endpoint for endpoint in ENDPOINTS if endpoint.call is AsyncUserScope.context)
assert _CONTEXT.given is not None
ContextRequest = _CONTEXT.given
_LINES: dict[int | str, dict[str, Any]] = {
    200: {
        "model": ContextSection,
        "description": "One `ContextSection` a line. The last one is named `context` and has the whole context.",
        "content": {NDJSON: {}},
    }
}


@router.post(
    "/v1/context/stream",
    response_class=StreamingResponse,
    responses=documented() | _LINES,
    tags=["context"],
    operation_id="user_context_stream",
)
async def context_stream(request: Request, user_id: UserId, given: ContextRequest) -> StreamingResponse:  # type: ignore[valid-type]  # made from the method
    """A context for an agent, section by section. Takes the body of `POST /v1/context`."""
    arguments = {name: getattr(given, name) for name in given.model_fields_set if name != "user_id"}  # type: ignore[attr-defined]
    thread_id, config, resources = (arguments.pop(name, None) for name in ("thread_id", "memory_config", "resources"))
    if "groups" in arguments:
        check_member(await caller_of(request), arguments["groups"])
    sections = scope_of(request, user_id, thread_id, config, resources).context_stream(**arguments)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_lines(sections), media_type=NDJSON, headers=headers)


async def _lines(sections: AsyncIterator[ContextSection]) -> AsyncIterator[str]:
    async for section in sections:
        yield section.model_dump_json() + "\n"
