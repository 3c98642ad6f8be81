"""A context in lines of JSON: `POST /v1/context/stream` sends the first sections while the search goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from agent_memory.api.binding import scope_of
from agent_memory.api.errors import documented
from agent_memory.api.identity import UserId, caller_of, check_member
from agent_memory.contract.schemas import NDJSON
from agent_memory.contract.table import ENDPOINTS
from agent_memory.models import ContextSection
from agent_memory.scopes import AsyncUserScope

router = APIRouter()

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
