"""The guard: where a request comes from, how large it may be, and how many a caller may send.

A request comes from a program on this machine, a proxy, or a page of the web: its headers say so. The local host of the
function app asks the same questions.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import time
from collections.abc import Mapping, Set
from urllib.parse import unquote_to_bytes, urlsplit

from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent_memory.api.errors import RETRY_AFTER, error_response
from agent_memory.errors import ConfigurationError, InvalidInput, StoreUnavailable
from agent_memory.text.patterns import linear

BODY_SECONDS = 30.0
"""Seconds that a body may take: enough for the largest at 1 Mbit/s. A slow sender cannot hold a connection for
hours."""


MOST_AT_ONCE = 256 * 1024 * 1024
"""Bytes of unfinished bodies that a process holds: 64 of the largest by default. Bodies are read before credentials are
checked, so anybody can send one."""
SMALL = 64 * 1024
"""A body of up to this many bytes is taken even then: questions and turns are smaller."""


class _TooLarge(Exception):
    """The body is larger than it may be."""


class _NoRoom(Exception):
    """Too much arrives at the same time."""


class BodyLimit:
    """Answers 413 to a body that is too large, 408 to one that is too slow, and 503 while too much arrives at once.

    All this happens before anything else reads the body. The largest body alone always has room.
    """

    def __init__(
        self, app: ASGIApp, max_bytes: int, seconds: float = BODY_SECONDS, most_at_once: int = MOST_AT_ONCE
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._most_at_once = max(most_at_once, max_bytes)
        self._arriving = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on with its whole body, unless that is too large or too slow."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._read(scope, receive)
        except _TooLarge:
            refusal = error_response(413, "too_large", f"a request has at most {self._max_bytes} bytes")
            await refusal(scope, receive, send)
        except _NoRoom:
            message, close = "the server is busy: too many large requests arrive", {"Connection": "close"}
            await error_response(503, StoreUnavailable.code, message, RETRY_AFTER, close)(scope, receive, send)
        except TimeoutError:
            message = f"the body had not arrived after {self._seconds:g} seconds"
            refusal = error_response(408, "too_slow", message, headers={"Connection": "close"})
            await refusal(scope, receive, send)
        else:
            if body is not None:
                await self._app(scope, replayed(body, receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body; None when the client has gone."""
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > self._max_bytes:
            raise _TooLarge
        body = bytearray()
        more = True
        try:
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                part = message.get("body", b"")
                body += part
                self._arriving += len(part)
                if len(body) > self._max_bytes:
                    raise _TooLarge
                if len(body) > SMALL and self._arriving > self._most_at_once:
                    raise _NoRoom
                more = message.get("more_body", False)
            return bytes(body)
        finally:
            self._arriving -= len(body)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Returns a `receive` that gives a body again that was read already."""
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


class Rates:
    """Limits such as `20/second;600/minute`, for each caller and the user that it acts for. Without text: no limit."""

    def __init__(self, text: str | None = None) -> None:
        try:
            self._limits: list[RateLimitItem] = parse_many(text) if text else []
        except ValueError as error:
            raise ConfigurationError(f"{text!r} is not a rate limit such as 600/minute") from error
        self._window = SlidingWindowCounterRateLimiter(MemoryStorage())

    def take(self, caller: str, user_id: str) -> None:
        """Counts a request. Raises HTTPException: 429, if the caller has sent too many."""
        for limit in self._limits:
            if not self._window.hit(limit, caller, user_id):
                resets = self._window.get_window_stats(limit, caller, user_id).reset_time
                wait = max(1, math.ceil(resets - time.time()))
                raise HTTPException(429, f"at most {limit}", headers={"Retry-After": str(wait)})


OPEN_PATHS = frozenset({"/", "/health", "/openapi.json", "/docs", "/redoc"})
"""Paths that any page may link to: they change nothing, and show nobody's data."""


_HOST = linear(r"^[\w.%~!$&'()*+,;=-]*(?::[0-9]*)?$|^\[[0-9A-Fa-f:.%\w]+\](?::[0-9]*)?$")
"""A name or an IPv4 address, or an IPv6 address in brackets, perhaps with a port (RFC 3986, 3.2.2)."""


class Guard:
    """Refuses requests from other sites' pages, with two lengths, without a host name, and paths that are not UTF-8."""

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
            # A proxy that used the other length would take a part of the body for a request (RFC 9112, 6.3).
            message = "send Content-Length or Transfer-Encoding, not both"
            refusal = error_response(400, InvalidInput.code, message, headers={"Connection": "close"})
            await refusal(scope, receive, send)
        elif not _HOST.search(headers.get("host", "")):
            # RFC 9112, 3.2. An address that is put together from such a name would have another path.
            await error_response(400, InvalidInput.code, "the header Host is not a host name")(scope, receive, send)
        elif not _is_text(scope):
            await error_response(400, InvalidInput.code, "the path is not UTF-8")(scope, receive, send)
        elif not _is_open(scope) and is_cross_site(headers, self._allowed):
            message = "a page of another site sent this; AGENT_MEMORY_ALLOWED_ORIGINS lists the allowed sites"
            await error_response(403, "forbidden", message)(scope, receive, send)
        else:
            await self._app(scope, receive, _unkept(send))


def _unkept(send: Send) -> Send:
    """Adds the headers that forbid to cache an answer and to guess its type."""

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
    """Whether a path is UTF-8. Servers replace invalid bytes by one character, so two ids could become the same."""
    try:
        unquote_to_bytes(scope.get("raw_path") or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


_PROXY_PREFIXES = ("x-forwarded", "x-original-")
_PROXY_HEADERS = {
    "cf-connecting-ip",
    "client-ip",
    "fastly-client-ip",
    "forwarded",
    "true-client-ip",
    "via",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-real-ip",
}
"""Headers that proxies add: RFC 7239 (Forwarded), RFC 9110 (Via), and their older and unofficial names."""


def is_local(peer: str | None, headers: Mapping[str, str]) -> bool:
    """Whether the caller is a program on this machine, for itself, using a host name of this machine.

    A proxy on this machine calls for others, and says so in a header. A web page that points its own host name to this
    machine cannot hide that name from the Host header.

    Args:
        peer: The address at the other end of the connection, if known.
        headers: The headers of the request.
    """
    return _is_loopback(peer or "") and _is_loopback(_host_name(headers.get("host", ""))) and not _by_proxy(headers)


def is_rebound(peer: str | None, headers: Mapping[str, str], hosts: Set[str] = frozenset()) -> bool:
    """Whether the caller is a program on this machine, using a foreign host name.

    A web page does this when it points its own host name to this machine (DNS rebinding). So does a proxy on this
    machine, which says so in a header.

    Args:
        peer: The address at the other end of the connection, if known.
        headers: The headers of the request.
        hosts: Further host names of this server, with their ports.
    """
    host = headers.get("host", "").lower()
    is_known = _is_loopback(_host_name(host)) or host in hosts
    return _is_loopback(peer or "") and not is_known and not _by_proxy(headers)


def is_cross_site(headers: Mapping[str, str], allowed: Set[str] = frozenset()) -> bool:
    """Whether a browser sends the request for a page of another origin.

    Browsers report this in headers that pages cannot set: Sec-Fetch-Site (W3C Fetch Metadata), or Origin if they do not
    send that one. Other programs send neither.

    Args:
        headers: The headers of the request.
        allowed: Origins whose pages are allowed, such as `https://app.example`.
    """
    origin = headers.get("origin")
    if origin is not None and origin.lower() in allowed:
        return False
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site.lower() not in ("same-origin", "none")
    return origin is not None and _authority(origin) != headers.get("host", "").lower()


def _by_proxy(headers: Mapping[str, str]) -> bool:
    names = [name.lower() for name in headers]
    return any(name in _PROXY_HEADERS or name.startswith(_PROXY_PREFIXES) for name in names)


def _host_name(host: str) -> str:
    """The name in a Host header, without port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def _authority(origin: str) -> str | None:
    """The host and port of an origin; None if it is not one, such as `null`."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None
