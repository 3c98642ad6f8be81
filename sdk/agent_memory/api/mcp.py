"""`/mcp`: the caller's memory, over the Model Context Protocol (streamable HTTP, stateless).

The credentials are those of the rest of the API. Each request is independent, so that any replica can answer it and
nothing is kept between requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from agent_memory.api.errors import error_response
from agent_memory.api.guard import is_rebound, replayed
from agent_memory.api.identity import caller_of, user_of
from agent_memory.api.processing import Processing
from agent_memory.audit import Actor, acts
from agent_memory.contract.schemas import ProcessQuery
from agent_memory.errors import ConfigurationError
from agent_memory.extras import require
from agent_memory.memory import AsyncMemory
from agent_memory.remote.http import error_of

if TYPE_CHECKING:
    from agent_memory.mcp.calls import Work

PATH = "/mcp"
METADATA_PATH = "/.well-known/oauth-protected-resource"
"""The path of a protected resource's metadata (RFC 9728); for `/mcp`, its path is appended."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class McpOptions:
    """How `/mcp` presents itself.

    Attributes:
        public_url: The public URL of the API, if it is behind a proxy.
        issuers: The issuers of the tokens that it accepts.
        scopes: The scopes that a client should request.
        streams: Whether a response may come in parts, so that long work shows its progress.
    """

    public_url: str | None = None
    issuers: Sequence[str] = ()
    scopes: Sequence[str] = ()
    streams: bool = True
    hosts: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        url = self.public_url
        if url is not None and not url.startswith(("http://", "https://")):
            raise ConfigurationError(f"AGENT_MEMORY_PUBLIC_URL takes a URL such as https://memory.example, not {url!r}")
        hosts = frozenset() if url is None else frozenset({urlsplit(url).netloc.lower()})
        object.__setattr__(self, "hosts", hosts)


def add_mcp(app: FastAPI, options: McpOptions) -> None:
    """Adds `/mcp` and its metadata to the API. The package of the extra `mcp` is imported at the first request."""
    app.add_route(PATH, _Endpoint(options), include_in_schema=False)  # type: ignore[arg-type]  # an ASGI app is a route too
    metadata = _Metadata(options)
    for path in (METADATA_PATH + PATH, METADATA_PATH):
        app.add_api_route(path, metadata.answer, include_in_schema=False)


class _Metadata:
    """Serves the metadata with the issuers of the tokens that `/mcp` accepts (RFC 9728)."""

    def __init__(self, options: McpOptions) -> None:
        self._options = options

    async def answer(self, request: Request) -> Response:
        """The metadata."""
        said: dict[str, Any] = {
            "resource": f"{_base(request, self._options)}{PATH}",
            "resource_name": "Agent Memory",
            "bearer_methods_supported": ["header"],
        }
        said |= {"authorization_servers": list(self._options.issuers)} if self._options.issuers else {}
        said |= {"scopes_supported": list(self._options.scopes)} if self._options.scopes else {}
        return JSONResponse(said, headers={"Cache-Control": "max-age=300"})


class _Endpoint:
    """Checks the caller, and passes the request to the MCP server."""

    def __init__(self, options: McpOptions) -> None:
        self._options = options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        peer = request.client.host if request.client else None
        if is_rebound(peer, request.headers, self._options.hosts):
            message = "this host name is not one of this machine; AGENT_MEMORY_PUBLIC_URL can allow another"
            await error_response(421, "forbidden", message)(scope, receive, send)
            return
        if request.method != "POST":
            # There is no session to end, and the server sends no messages on its own.
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        user_id = await self._user(request)
        acts(Actor((await caller_of(request)).name, "mcp", peer))
        token = _guest.set(_Guest(request.app, user_id))
        try:
            await self._serve(scope, replayed(await request.body(), receive), send)
        finally:
            _guest.reset(token)

    async def _user(self, request: Request) -> str:
        """The calling user. A refusal has the address of the metadata, as in RFC 9728."""
        try:
            return await user_of(request)
        except HTTPException as refusal:
            if refusal.status_code == 401:
                where = f'resource_metadata="{_base(request, self._options)}{METADATA_PATH}{PATH}"'
                scopes = f', scope="{" ".join(self._options.scopes)}"' if self._options.scopes else ""
                headers = {"WWW-Authenticate": f'Bearer realm="agent-memory", {where}{scopes}'}
                raise HTTPException(401, refusal.detail, headers=headers) from refusal
            raise

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        require("mcp", "mcp")
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        manager = StreamableHTTPSessionManager(
            await asyncio.to_thread(_server), json_response=not self._options.streams, stateless=True
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)


@dataclass(frozen=True, slots=True)
class _Guest:
    """The caller, and the app that serves the request."""

    app: FastAPI
    user_id: str


_guest: ContextVar[_Guest] = ContextVar("guest")


class _HttpDoor:
    """Opens the memory of the user whose request is being answered."""

    async def ask(self, work: Work[T]) -> T:
        """Does the work on the memory of the credential's user."""
        from agent_memory.mcp.calls import Visit

        guest = _guest.get()
        memory, processing = cast(AsyncMemory, guest.app.state.memory), cast(Processing, guest.app.state.processing)

        async def end(thread_id: str) -> bool:
            run = await processing.start(guest.user_id, "settle", ProcessQuery(thread_id=thread_id))
            if run.status == "failed":
                raise error_of(run.code or "", run.error or "the turns could not be processed")
            return run.status == "completed"

        return await work(Visit(memory.user(guest.user_id), end))


@cache
def _server() -> Any:
    from agent_memory.mcp import make_server

    return make_server(_HttpDoor())._lowlevel_server


def _base(request: Request, options: McpOptions) -> str:
    """The URL of the API as the client knows it."""
    return options.public_url.rstrip("/") if options.public_url else str(request.base_url).rstrip("/")
