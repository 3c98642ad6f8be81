"""The ASGI app and its OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.openapi.utils import get_openapi

from agent_memory.api import account, events, operator, responses, routes
from agent_memory.api.admission import Admission, Load
from agent_memory.api.credentials import KEY_HEADER
from agent_memory.api.errors import AnswerUnexpected, add_error_handlers
from agent_memory.api.explorer import Explorer, UnderPage, router as explorer_routes
from agent_memory.api.guard import BodyLimit, Guard, Rates
from agent_memory.api.identity import USER_HEADER, Identity
from agent_memory.api.mcp import McpOptions, add_mcp
from agent_memory.api.processing import Processing
from agent_memory.api.sessions import SessionIdentity
from agent_memory.memory import AsyncMemory

_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token of the issuer, or an API key."},
    "key": {"type": "apiKey", "in": "header", "name": KEY_HEADER},
    "user": {
        "type": "apiKey",
        "in": "header",
        "name": USER_HEADER,
        "description": "Whom a service acts for. Alone, it is believed for development only.",
    },
}


def describe(app: FastAPI) -> dict[str, Any]:
    """The document of an app, made once."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title, version=app.version, summary=app.summary, description=app.description, routes=app.routes
        )
        for path, operations in document["paths"].items():
            for operation in operations.values():
                # FastAPI expects its own answer to invalid input, which is a 400 here.
                operation["responses"].pop("422", None)
                operation["security"] = [] if path == "/health" else [{name: []} for name in _SCHEMES]
        document["components"]["securitySchemes"] = _SCHEMES
        for name in ("HTTPValidationError", "ValidationError"):
            document["components"]["schemas"].pop(name, None)
        app.openapi_schema = document
    return app.openapi_schema


VERSION = "1"
"""The version of the API: the first part of most paths."""
MAX_BODY_BYTES = 4 * 1024 * 1024


def create_app(
    memory: AsyncMemory,
    processing: Processing,
    identity: Identity,
    *,
    rate_limit: str | None = None,
    max_body_bytes: int = MAX_BODY_BYTES,
    allowed_origins: Iterable[str] = (),
    mcp: McpOptions | None = None,
    explorer: Explorer | None = None,
    stream_seconds: float = 0.0,
    load: Load | None = None,
) -> FastAPI:
    """The API over a memory that the caller opens and closes.

    Args:
        memory: The memory to serve.
        processing: Runs the steps for `POST /v1/process/…`.
        identity: Which credentials it accepts.
        rate_limit: Maximum requests of one caller, such as `600/minute`; by default no limit.
        max_body_bytes: The maximum size of a request.
        allowed_origins: Other sites whose pages may call it from a browser, such as `https://app.example`.
        mcp: How `/mcp` presents itself.
        explorer: Whether to serve the explorer under `/ui/`.
        stream_seconds: How long a stream of `/v1/events` lasts. With 0, it sends what is new and ends.
        load: How many contexts, searches and new turns it works on at a time; by default any number.
    """
    app = FastAPI(
        title="Agent Memory",
        version=VERSION,
        summary="A memory that outlives an agent's context window.",
        redirect_slashes=False,
    )
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]  # as in FastAPI's documentation
    app.state.memory = memory
    app.state.processing = processing
    app.state.identity = app.state.credentials = identity
    app.state.stream_seconds = stream_seconds
    app.state.rates = Rates(rate_limit)
    add_error_handlers(app)
    app.routes.extend(_ROUTES)
    add_mcp(app, mcp or McpOptions())
    if explorer is not None:
        app.state.explorer = explorer
        app.state.identity = SessionIdentity(explorer.sessions, identity)
        app.routes.extend(explorer_routes.routes)
    app.add_api_route("/", _about, include_in_schema=False)
    app.routes.extend(_BY_ACCOUNT.routes)
    origins = frozenset(origin.lower() for origin in allowed_origins)
    if load is not None:
        app.add_middleware(Admission, load=load)
    app.add_middleware(BodyLimit, max_bytes=max_body_bytes)
    if origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(origins),
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=["ETag", "Location", "Retry-After"],
        )
    app.add_middleware(Guard, allowed_origins=origins)
    if explorer is not None:
        app.add_middleware(UnderPage)
    app.add_middleware(AnswerUnexpected)
    return app


# An app that included the routers would build each route anew at its first request, which takes a tenth of a second.
_ROUTES = [
    route for router in (routes.router, events.router, responses.router, operator.router) for route in router.routes
]
_BY_ACCOUNT = APIRouter()
_BY_ACCOUNT.include_router(account.router, prefix="/api/memory")
_BY_ACCOUNT.include_router(account.router, prefix="/memory", include_in_schema=False)


async def _about() -> dict[str, str]:
    """Names the service, and where its documentation is."""
    return {
        "name": "Agent Memory",
        "version": VERSION,
        "openapi": "/openapi.json",
        "docs": "/docs",
        "health": "/health",
        "mcp": "/mcp",
    }
