"""Limits on the body of requests: the declared and the actual size, and the time to receive it."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent_memory.api.errors import error_response

BODY_SECONDS = 30.0
"""How long a body may take: the largest one at 1 Mbit/s. Whoever sends a byte a second holds nothing for hours."""


class _TooLarge(Exception):
    """The body is larger than it may be."""


class BodyLimit:
    """Answers 413 to a larger body and 408 to a slower one, before anything reads it."""

    def __init__(self, app: ASGIApp, max_bytes: int, seconds: float = BODY_SECONDS) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._seconds = seconds

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
        except TimeoutError:
            message = f"the body was not there after {self._seconds:g} seconds"
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
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > self._max_bytes:
                raise _TooLarge
            more = message.get("more_body", False)
        return bytes(body)


def replayed(body: bytes, receive: Receive) -> Receive:
    """A body that was read, to be read again."""
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
