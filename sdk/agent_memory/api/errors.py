"""Errors as the API returns them: `{"error": {"code", "message"}}`.

The status shows whether the caller or the service must act.
"""

from __future__ import annotations

import logging
import math
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent_memory.contract.schemas import Problem
from agent_memory.errors import (
    AgentMemoryError,
    Conflict,
    InvalidInput,
    MemoryDisabled,
    ModelError,
    NotFound,
    QuotaExceeded,
    StaticMemoryError,
    StoreUnavailable,
)

logger = logging.getLogger("agent_memory")

_UNREADABLE = "There was an error parsing the body"
"""FastAPI's error type for a body that is not valid JSON; it does not say why."""
_NO_ROUTE = "Not Found"
"""What the framework says of a path without a route."""
RETRY_AFTER = 5.0
"""The `Retry-After` of an answer, in seconds, if the error has none."""

_STATUS: dict[type[AgentMemoryError], int] = {
    InvalidInput: 400,
    NotFound: 404,
    Conflict: 409,
    QuotaExceeded: 402,
    MemoryDisabled: 403,
    StaticMemoryError: 403,
    StoreUnavailable: 503,
}
_MEANINGS = {
    400: "Something in the request cannot be used.",
    401: "The request does not show who it comes from.",
    402: "The user's tier allows no more memories.",
    403: "The caller may not do this, or memory is switched off.",
    404: "There is no such item; another user's item looks the same.",
    409: "The id has other content, the item has changed since it was read, or the key is for another request.",
    413: "The request is too large.",
    429: "Too many requests; Retry-After says when to try again.",
    500: "An unexpected fault.",
    502: "A model gave no usable answer.",
    503: "The store or a model does not respond; Retry-After says when to try again.",
}
CODES = {
    400: InvalidInput.code,
    401: "unauthenticated",
    403: "forbidden",
    # Not `not_found`: clients take that for an item that there is none of yet, such as a profile.
    404: "no_such_path",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
    429: "rate_limited",
    503: StoreUnavailable.code,
}


def error_response(
    status: int, code: str, message: str, retry_after: float | None = None, headers: dict[str, str] | None = None
) -> JSONResponse:
    """One error."""
    wait = {"Retry-After": str(math.ceil(retry_after))} if retry_after is not None else {}
    body = {"error": {"code": code, "message": message}}
    return JSONResponse(body, status_code=status, headers=wait | (headers or {}))


def documented(
    *raised: type[AgentMemoryError], missing: bool = False, writes: bool = False
) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the OpenAPI document: the common ones, and those that it raises itself."""
    statuses = {400, 401, 403, 413, 429, 500, 503} | {_STATUS.get(error, 502) for error in raised}
    statuses |= ({404} if missing else set()) | ({409} if writes else set())
    return {status: {"model": Problem, "description": _MEANINGS[status]} for status in sorted(statuses)}


def is_json(request: Request) -> bool:
    """Whether a request declares its body as JSON."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower().endswith("json")


def status_of(error: AgentMemoryError) -> int:
    """The HTTP status of an error of ours; what is not the caller's fault is a 500 or above."""
    if isinstance(error, ModelError):
        return 503 if error.retryable else 502
    return _STATUS.get(type(error), 500)


def response_to(error: AgentMemoryError) -> JSONResponse:
    """The answer to a request that met an error of ours; the log has those that are not the caller's fault."""
    status = status_of(error)
    if status >= 500:
        logger.warning("a request failed (%s): %s", error.code, error)
    wait = (getattr(error, "retry_after", None) or RETRY_AFTER) if error.retryable else None
    return error_response(status, error.code, str(error), wait)


def refusal_of(error: AgentMemoryError | HTTPException) -> JSONResponse:
    """The answer to a request that met an error of ours or of the framework."""
    if isinstance(error, AgentMemoryError):
        return response_to(error)
    code = CODES.get(error.status_code, "http_error")
    message = str(error.detail)
    if message == _NO_ROUTE:
        message = "this API has no such path; /openapi.json lists its paths"
    if message == _UNREADABLE:
        why = "it is nested too deeply" if isinstance(error.__cause__, RecursionError) else error.__cause__
        message = f"the body is not valid JSON: {why}"
    return error_response(error.status_code, code, message, headers=dict(error.headers or {}))


def add_error_handlers(app: FastAPI) -> None:
    """Lets an app answer every error in one form."""

    @app.exception_handler(AgentMemoryError)
    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: AgentMemoryError | HTTPException) -> JSONResponse:
        return refusal_of(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        problem = error.errors()[0]
        if problem["loc"] == ("body",) and not is_json(request):
            return error_response(400, InvalidInput.code, "send content-type: application/json with a JSON body")
        if problem["type"] == "json_invalid":
            why = f"{problem.get('ctx', {}).get('error', 'it cannot be read')} (character {problem['loc'][-1]})"
            return error_response(400, InvalidInput.code, f"the body is not valid JSON: {why}")
        place = ".".join(str(part) for part in problem["loc"])
        return error_response(400, InvalidInput.code, f"{place}: {problem['msg']}")


class AnswerUnexpected:
    """Answers 500 to unexpected errors; the log has the details.

    A handler for `Exception` would answer too, but then raise again, and a function host would send no response.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            logger.exception("a request met an unexpected fault")
            if started:
                raise
            await error_response(500, "internal", "an unexpected error; the log has the details")(scope, receive, send)
