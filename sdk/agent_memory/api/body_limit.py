"""A limit on the size of requests, by what they say and by what they send."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agent_memory.api.errors import error_response


class BodyLimit:
    """Answers 413 to a request with a larger body, ahead of anything that would read it."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on with its whole body, unless that is too large."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        body = bytearray()
        more = not declared.isdigit() or int(declared) <= self._max_bytes
        too_large = not more
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            too_large = len(body) > self._max_bytes
            more = message.get("more_body", False) and not too_large
        if too_large:
            refusal = error_response(413, "too_large", f"a request has at most {self._max_bytes} bytes")
            await refusal(scope, receive, send)
            return
        await self._app(scope, _replay(bytes(body), receive), send)


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
