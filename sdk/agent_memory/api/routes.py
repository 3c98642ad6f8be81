"""The routes that are more than a call of a scope: writing turns, processing, import, erasure, health."""

from __future__ import annotations

from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Request, Response

from agent_memory.api.binding import IdempotencyKey, add_endpoint, answer_once, owned, scope_of
from agent_memory.api.errors import documented
from agent_memory.api.identity import UserId
from agent_memory.api.processing import Processing, steps_in_urls
from agent_memory.contract.schemas import NDJSON, AddTurns, Alive, ProcessQuery, ProcessRun
from agent_memory.contract.table import ENDPOINTS
from agent_memory.errors import Conflict, InvalidInput, MemoryDisabled, ModelError, NotFound
from agent_memory.health import glance_at
from agent_memory.memory import AsyncMemory
from agent_memory.models import ForgetReceipt, ImportReceipt, Receipt
from agent_memory.scopes import AsyncThreadScope
from agent_memory.store.ids import derived_id

router = APIRouter()
for _endpoint in ENDPOINTS:
    add_endpoint(router, _endpoint)


def _memory(request: Request) -> AsyncMemory:
    return cast(AsyncMemory, request.app.state.memory)


def _processing(request: Request) -> Processing:
    return cast(Processing, request.app.state.processing)


OpenMemory = Annotated[AsyncMemory, Depends(_memory)]
OpenProcessing = Annotated[Processing, Depends(_processing)]

_RUN: dict[int | str, dict[str, Any]] = {
    202: {
        "model": ProcessRun,
        "description": "The work continues after the response.",
        "headers": {"Location": {"description": "Where to read the progress.", "schema": {"type": "string"}}},
    }
}


@router.post(
    "/v1/threads/{thread_id}/turns",
    status_code=201,
    response_model=Receipt,
    responses=documented(Conflict, writes=True),
    tags=["threads"],
    operation_id="thread_add_many",
)
async def add_turns(
    request: Request,
    user_id: UserId,
    thread_id: str,
    body: AddTurns,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Stores turns of a conversation.

    Repeating it with the same ids adds nothing. With an Idempotency-Key, turns without an id get one that is made from
    the key, so that any process recognises them.
    """
    turns = body.turns
    if idempotency_key is not None:
        turns = [
            turn if turn.id is not None else turn.model_copy(update={"id": derived_id("turn", idempotency_key, str(n))})
            for n, turn in enumerate(turns)
        ]

    async def work() -> Response:
        thread = scope_of(request, user_id, thread_id, body.memory_config, body.resources)
        assert isinstance(thread, AsyncThreadScope)
        receipt = await thread.add_many(turns)
        return Response(receipt.model_dump_json(), 201, media_type="application/json")

    return await answer_once(request, user_id, idempotency_key, work)


@router.post(
    "/v1/threads/{thread_id}/end",
    response_model=ProcessRun,
    responses=documented(ModelError) | _RUN,
    tags=["threads"],
    operation_id="thread_end",
)
async def end_thread(processing: OpenProcessing, user_id: UserId, thread_id: str) -> Response:
    """Ends a conversation: processes all its turns now, however few."""
    return _answer(await processing.start(user_id, "settle", ProcessQuery(thread_id=thread_id)))


@router.post(
    "/v1/process/{step}",
    response_model=ProcessRun,
    responses=documented(ModelError) | _RUN,
    tags=["process"],
    operation_id="process",
)
async def start_process(
    processing: OpenProcessing, user_id: UserId, step: str, body: ProcessQuery | None = None
) -> Response:
    """Processes now what the user wrote: 202 if the work continues after the response, 200 if it is done."""
    names = steps_in_urls()
    if step not in names:
        raise InvalidInput(f"no step {step!r}; the steps are {', '.join(names)}")
    return _answer(await processing.start(user_id, names[step], body or ProcessQuery()))


@router.get(
    "/v1/process/{run_id}",
    response_model=ProcessRun,
    responses=documented(NotFound) | _RUN,
    tags=["process"],
    operation_id="process_status",
)
async def get_process(processing: OpenProcessing, user_id: UserId, run_id: str) -> Response:
    """The progress of a run."""
    run = await processing.status(user_id, run_id)
    if run is None:
        raise NotFound("this user has no such run")
    return _answer(run)


_LINES = {"content": {NDJSON: {"schema": {"type": "string"}}}}


@router.post(
    "/v1/import",
    responses=documented(Conflict, MemoryDisabled, ModelError),
    openapi_extra={"requestBody": {"required": True, **_LINES}},
    tags=["transfer"],
    operation_id="user_import_lines",
)
async def import_lines(request: Request, user_id: UserId) -> ImportReceipt:
    """Imports the lines of an export. Existing data stays as it is, so the request may be repeated.

    Send a long export in pieces, each with the header line first, and with a thread's line before its turns.
    """
    try:
        text = (await request.body()).decode()
    except UnicodeDecodeError as error:
        raise InvalidInput("an export is UTF-8") from error
    return await owned(request, user_id).import_lines(text.split("\n"))


@router.delete("/v1/users/me", responses=documented(), tags=["transfer"], operation_id="user_erase")
async def erase(request: Request, user_id: UserId) -> ForgetReceipt:
    """Erases the user: every document in every container, verified at the end. It cannot be undone."""
    return await owned(request, user_id).forget(everything=True)


@router.get(
    "/health",
    response_model=Alive,
    responses={503: {"model": Alive, "description": "The store does not take reads and writes."}},
    tags=["health"],
    operation_id="health",
)
async def health(memory: OpenMemory) -> Response:
    """Whether the parts respond, and which do not; nothing else, because anybody may call this.

    If a model fails, the status is still 200: turns are still accepted, and found by their words.
    """
    stands, failing = await glance_at(memory.runtime)
    alive = Alive(ok=not failing, failing=failing)
    return Response(alive.model_dump_json(exclude_defaults=True), 200 if stands else 503, media_type="application/json")


def _answer(run: ProcessRun) -> Response:
    running = run.status == "running"
    headers = {"Location": f"/v1/process/{run.id}", "Retry-After": "5"} if running else {}
    return Response(run.model_dump_json(exclude_none=True), 202 if running else 200, headers, "application/json")
