"""The routes: each one call of a scope."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse

from agent_memory.api.identity import UserId
from agent_memory.api.processing import STEPS, Processing
from agent_memory.api.schemas import (
    AddTurns,
    ContextQuery,
    Hits,
    ProcessQuery,
    ProcessRun,
    SearchQuery,
    Turns,
)
from agent_memory.errors import InvalidInput, NotFound
from agent_memory.memory import AsyncMemory
from agent_memory.models import Context, Health, Receipt

router = APIRouter()


def _memory(request: Request) -> AsyncMemory:
    return cast(AsyncMemory, request.app.state.memory)


def _processing(request: Request) -> Processing:
    return cast(Processing, request.app.state.processing)


OpenMemory = Annotated[AsyncMemory, Depends(_memory)]
OpenProcessing = Annotated[Processing, Depends(_processing)]


@router.post("/v1/threads/{thread_id}/turns", status_code=201)
async def add_turns(memory: OpenMemory, user_id: UserId, thread_id: str, body: AddTurns) -> Receipt:
    """Keeps turns of a conversation; repeating it with the same ids adds nothing."""
    return await memory.user(user_id).thread(thread_id).add_many(body.turns)


@router.get("/v1/threads/{thread_id}/turns")
async def get_turns(
    memory: OpenMemory, user_id: UserId, thread_id: str, last: Annotated[int | None, Query(ge=1, le=1000)] = None
) -> Turns:
    """The turns of a conversation, or its last ones."""
    return Turns(turns=await memory.user(user_id).thread(thread_id).turns(last))


@router.post("/v1/context")
async def get_context(memory: OpenMemory, user_id: UserId, body: ContextQuery) -> Context:
    """What an agent should be told before it answers; empty rather than an error when memory cannot help."""
    user = memory.user(user_id)
    scope = user if body.thread_id is None else user.thread(body.thread_id)
    return await scope.context(body.query, budget=body.budget, limit=body.limit, as_of=body.as_of)


@router.post("/v1/search")
async def search(memory: OpenMemory, user_id: UserId, body: SearchQuery) -> Hits:
    """The memories that matter for a query."""
    user = memory.user(user_id)
    scope = user if body.thread_id is None else user.thread(body.thread_id)
    return Hits(hits=await scope.search(body.query, limit=body.limit, types=body.types, as_of=body.as_of))


@router.post("/v1/process/{step}")
async def start_process(
    processing: OpenProcessing, user_id: UserId, step: str, body: ProcessQuery | None = None
) -> JSONResponse:
    """Processes now what the user wrote: 202 when it goes on behind the answer, 200 when it is done."""
    if step not in STEPS:
        raise InvalidInput(f"no step {step!r}; there are {', '.join(STEPS)}")
    run = await processing.start(user_id, STEPS[step], body or ProcessQuery())
    return _answer(run)


@router.get("/v1/process/{run_id}")
async def get_process(processing: OpenProcessing, user_id: UserId, run_id: str) -> JSONResponse:
    """How far such a run is."""
    run = await processing.status(user_id, run_id)
    if run is None:
        raise NotFound(f"no run {run_id} of this user")
    return _answer(run)


@router.get("/health")
async def health(memory: OpenMemory) -> JSONResponse:
    """Whether the parts answer; 503 if one does not."""
    found: Health = await memory.health()
    return JSONResponse(found.model_dump(mode="json"), status_code=200 if found.ok else 503)


def _answer(run: ProcessRun) -> JSONResponse:
    running = run.status == "running"
    headers = {"Location": f"/v1/process/{run.id}", "Retry-After": "5"} if running else {}
    body = run.model_dump(mode="json", exclude_none=True)
    return JSONResponse(body, status_code=202 if running else 200, headers=headers)
