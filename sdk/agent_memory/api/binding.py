"""Binding: makes a route of each endpoint of the table, and answers a write with an Idempotency-Key once.

A repeated request gets the same response, and nothing is done. Responses are kept in the store (`store/replies.py`), so
that any process can serve the repeated request. Each such write costs two more requests to the store.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from inspect import Parameter, Signature
from typing import Annotated, Any, cast

from fastapi import APIRouter, Header, Query, Request, Response

from agent_memory.api.errors import documented
from agent_memory.api.identity import GROUP_HEADER, UserId, caller_of, check_member
from agent_memory.contract.endpoint import IF_MATCH, Endpoint
from agent_memory.errors import AgentMemoryError, Conflict, InvalidInput, NotFound, StoreUnavailable
from agent_memory.memory import AsyncMemory
from agent_memory.models import MemoryConfig, Model
from agent_memory.scopes import AsyncThreadScope, AsyncUserScope
from agent_memory.store.client import Store
from agent_memory.store.documents import Document
from agent_memory.store.ids import group_of
from agent_memory.store.pages import before_of, next_token
from agent_memory.store.replies import at_work, claim_key, free_key, keep_reply, renew_claim

_VOLATILE = {"access_count", "last_accessed_at"}
"""Fields that reads change. If an ETag covered them, every read would make a write with `If-Match` fail."""

IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=255,
        description="A request repeated with the same key within ten minutes is done once, and answered alike.",
    ),
]
IfMatch = Annotated[str | None, Header(description="The ETag that you read. If it has changed, the answer is 409.")]


def add_endpoint(router: APIRouter, endpoint: Endpoint) -> None:
    """Adds the route of an endpoint."""
    router.add_api_route(
        endpoint.path,
        _handler(endpoint),
        methods=[endpoint.verb],
        status_code=endpoint.status,
        response_model=endpoint.answer,
        responses=documented(*endpoint.raises, missing=endpoint.may_be_missing, writes=endpoint.writes),
        summary=endpoint.doc.summary,
        description=endpoint.doc.text or None,
        operation_id=_operation(endpoint),
        tags=[endpoint.path.split("/")[2]],
    )


def tag_of(model: Model) -> str:
    """The ETag of what was read: its own, or one that changes with any field except the traces of readers."""
    own = getattr(model, "etag", None)
    if isinstance(own, str):
        return own
    return f'"{hashlib.sha256(model.model_dump_json(exclude=_VOLATILE).encode()).hexdigest()[:32]}"'


async def answer_once(
    request: Request, user_id: str, key: str | None, work: Callable[[], Awaitable[Response]]
) -> Response:
    """Does a write; with an Idempotency-Key, only once."""
    if key is None:
        return await work()
    memory = cast(AsyncMemory, request.app.state.memory)
    asked = (
        f"{request.method} {request.url.path}?{request.url.query}\n{hashlib.sha256(await request.body()).hexdigest()}"
    )
    return await answer_once_for(memory.runtime.store, user_id, key, asked, work)


def _operation(endpoint: Endpoint) -> str:
    return f"{endpoint.scope}_{endpoint.name}"


def _handler(endpoint: Endpoint) -> Callable[..., Awaitable[Response]]:
    async def handle(
        request: Request,
        user_id: str,
        given: Model | None = None,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **path: str,
    ) -> Response:
        async def work() -> Response:
            if if_match is not None and endpoint.guard is not None:
                await _check(endpoint, request, user_id, path, if_match)
            return await _run(endpoint, request, user_id, path, given, if_match)

        # A dry run writes nothing, and its response is full of text to be forgotten.
        key = None if getattr(given, "dry_run", False) else idempotency_key
        return await answer_once(request, user_id, key, work)

    def named(name: str, annotation: Any, default: Any = Parameter.empty) -> Parameter:
        return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)

    parameters = [named("request", Request), named("user_id", UserId)]
    parameters += [named(name, str) for name in endpoint.path_names]
    model = endpoint.given
    if model is not None:
        parameters.append(named("given", Annotated[model, Query()] if endpoint.verb in ("GET", "DELETE") else model))
    if endpoint.conditional:
        parameters.append(named("if_match", IfMatch, None))
    if endpoint.writes:
        parameters.append(named("idempotency_key", IdempotencyKey, None))
    handle.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # what FastAPI reads
    return handle


async def _check(endpoint: Endpoint, request: Request, user_id: str, path: dict[str, str], if_match: str) -> None:
    assert endpoint.guard is not None
    scope = scope_of(request, user_id, path.get("thread_id"))
    current: Model = await endpoint.guard(scope, **{name: path[name] for name in path if name != "thread_id"})
    if if_match != "*" and tag_of(current) not in [tag.strip() for tag in if_match.split(",")]:
        raise Conflict("this was changed since it was read: If-Match names another ETag")


async def _run(
    endpoint: Endpoint,
    request: Request,
    user_id: str,
    path: dict[str, str],
    given: Model | None,
    if_match: str | None,
) -> Response:
    arguments: dict[str, Any] = {name: value for name, value in path.items() if name != "thread_id"}
    if given is not None:
        arguments |= {name: getattr(given, name) for name in given.model_fields_set if name != "user_id"}
    if endpoint.takes_tag and if_match not in (None, "*"):
        arguments[IF_MATCH] = if_match
    thread_id = path.get("thread_id")
    if endpoint.threads_too:
        thread_id = arguments.pop("thread_id", None)
    config, resources = (arguments.pop(name, None) for name in ("memory_config", "resources"))
    if endpoint.paged:
        token = arguments.pop("continuation", None)
        arguments |= {endpoint.paged: getattr(given, endpoint.paged)}
        arguments |= {"before": before_of(token)} if token is not None else {}
    if "groups" in arguments:
        check_member(await caller_of(request), arguments["groups"])
    scope = scope_of(request, user_id, thread_id, config, resources)
    if not hasattr(scope, endpoint.name):
        raise InvalidInput(f"{endpoint.name} is for groups only: name the group in the header {GROUP_HEADER}")
    result = await getattr(scope, endpoint.name)(**arguments)
    if result is None:
        raise NotFound(f"there is no {endpoint.name} here yet")
    answer = _answer(endpoint, result, arguments)
    headers = {"ETag": tag_of(answer)} if endpoint.tagged else {}
    return Response(answer.model_dump_json(), endpoint.status, headers, "application/json")


def scope_of(
    request: Request,
    user_id: str,
    thread_id: str | None = None,
    config: MemoryConfig | None = None,
    resources: Sequence[str] | None = None,
) -> AsyncUserScope | AsyncThreadScope:
    """The scope of a request, with its restrictions."""
    memory, group = cast(AsyncMemory, request.app.state.memory), group_of(user_id)
    if group is None:
        user = memory.user(user_id, config=config)
    else:
        user = memory.group(group, member=request.state.member, config=config)
    return user if thread_id is None else user.thread(thread_id, resources=resources)


def owned(request: Request, user_id: str, config: MemoryConfig | None = None) -> AsyncUserScope:
    """The scope of the user, or of the group, that a request is for."""
    scope = scope_of(request, user_id, config=config)
    assert isinstance(scope, AsyncUserScope)
    return scope


def _answer(endpoint: Endpoint, result: Any, arguments: dict[str, Any]) -> Model:
    if isinstance(result, Model):
        return result
    fields = {endpoint.noun: result}
    if endpoint.paged:
        fields["next"] = next_token(result, arguments[endpoint.paged], endpoint.paged_by)
    return endpoint.answer.model_construct(**fields)


WAIT_SECONDS = 20.0
"""How long a second request waits for the answer to the first."""
FIRST_POLL, LONGEST_POLL = 0.05, 1.0
RENEW_SECONDS = 20.0
"""Seconds between two heartbeats of a request at work. After three times as long without one it counts as dead."""
MOST_BYTES = 500_000
"""The longest answer that is kept. A document may have 2 MB, and JSON inside JSON takes up to three times the room."""


async def answer_once_for(
    store: Store, user_id: str, key: str, request: str, work: Callable[[], Awaitable[Response]]
) -> Response:
    """Does the work, unless it was done under this key; returns the response. A failure may be tried again.

    Raises:
        Conflict: if the key belongs to another request, or its response is no longer kept.
        StoreUnavailable: if the same request is still running; the call may be repeated.
    """
    deadline, wait = time.monotonic() + WAIT_SECONDS, 0.0
    while True:
        claim, ours = await claim_key(store, user_id, key, request, waiting=wait > 0)
        if ours:
            return await _do(store, claim, work)
        if claim["state"] == "answered":
            reply = claim["reply"]
            return Response(reply["body"], reply["status"], reply["headers"])
        if claim["state"] == "gone":
            raise Conflict("this was done under this Idempotency-Key, and its answer is not kept any more")
        if time.monotonic() > deadline:
            raise StoreUnavailable("the first request with this Idempotency-Key is still running: try again")
        wait = min(2 * wait or FIRST_POLL, LONGEST_POLL)
        await asyncio.sleep(wait)


async def _do(store: Store, claim: Document, work: Callable[[], Awaitable[Response]]) -> Response:
    try:
        async with _at_work(store, claim):
            made = await work()
    except Exception:
        with contextlib.suppress(AgentMemoryError):  # a claim that cannot be freed runs out
            await free_key(store, claim)
        raise
    headers = {name: value for name, value in made.headers.items() if name != "content-length"}
    reply = {"status": made.status_code, "headers": headers, "body": bytes(made.body).decode()}
    with contextlib.suppress(
        AgentMemoryError
        # The write has succeeded even if its reply cannot be stored: the caller still gets the reply, and a repeated
        # request waits.
    ):
        await keep_reply(store, claim, reply if len(made.body) <= MOST_BYTES else None)
    return made


@asynccontextmanager
async def _at_work(store: Store, claim: Document) -> AsyncIterator[None]:
    """Keeps a claim alive while its work is done."""
    renewing, token = asyncio.create_task(_renew(store, claim)), at_work.set(claim["id"])
    try:
        yield
    finally:
        at_work.reset(token)
        renewing.cancel()
        await asyncio.wait([renewing])


async def _renew(store: Store, claim: Document) -> None:
    while True:
        await asyncio.sleep(RENEW_SECONDS)
        with contextlib.suppress(AgentMemoryError):  # the next time, perhaps
            await renew_claim(store, claim)
