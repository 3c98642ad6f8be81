"""Requests refused before anything else: from other sites' pages, with two lengths, or with a path that is not text."""

from __future__ import annotations

from collections.abc import Set
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent_memory.api.errors import error_response
from agent_memory.api.origin import is_cross_site
from agent_memory.errors import InvalidInput

OPEN_PATHS = frozenset({"/", "/health", "/openapi.json", "/docs", "/redoc"})
"""What a link on any page may lead to: it does nothing, and holds nothing of anybody's."""


class Guard:
    """Refuses requests from other sites' pages, requests with two lengths, and paths that are not UTF-8."""

    def __init__(self, app: ASGIApp, allowed_origins: Set[str] = frozenset()) -> None:
        self._app = app
        self._allowed = allowed_origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or answers 400 or 403."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if "transfer-encoding" in headers and "content-length" in headers:
            # A proxy that believed the other one would have taken a part of the body for a request (RFC 9112, 6.3).
            message = "send Content-Length or Transfer-Encoding, not both"
            refusal = error_response(400, InvalidInput.code, message, headers={"Connection": "close"})
            await refusal(scope, receive, send)
        elif not _is_text(scope):
            await error_response(400, InvalidInput.code, "the path is not UTF-8")(scope, receive, send)
        elif not _is_open(scope) and is_cross_site(headers, self._allowed):
            message = "a page of another site sent this; AGENT_MEMORY_ALLOWED_ORIGINS lists the allowed sites"
            await error_response(403, "forbidden", message)(scope, receive, send)
        else:
            await self._app(scope, receive, _unkept(send))


def _unkept(send: Send) -> Send:
    """Says of each answer that nobody may keep it, and that it is of the type that it names."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("Cache-Control", "no-store")
            headers.setdefault("X-Content-Type-Options", "nosniff")
        await send(message)

    return with_headers


def _is_open(scope: Scope) -> bool:
    if scope["method"] not in ("GET", "HEAD"):
        return False
    path = scope["path"]
    return path in OPEN_PATHS or path == "/ui" or (path.startswith("/ui/") and path != "/ui/session")


def _is_text(scope: Scope) -> bool:
    """Whether a path is UTF-8: servers put a replacement character for what is not, so that two ids would be one."""
    try:
        unquote_to_bytes(scope.get("raw_path") or b"").decode()
    except UnicodeDecodeError:
        return False
    return True
