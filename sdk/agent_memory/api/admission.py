"""Admission: how many contexts, searches and new turns a server works on at a time, and what becomes of the others.

A context has a time limit, so many at once would all run out of time and lose parts. Instead a few requests run and the
others wait for their turn: under load a context is slower, not poorer. Users take turns, so that one who asks much does
not hold up the others. Who waits too long, or finds too many waiting, gets a 503 with `Retry-After`. Only callers with
credentials wait, so nobody else can fill the line.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from agent_memory.api.errors import error_response, refusal_of
from agent_memory.api.guard import replayed
from agent_memory.api.identity import GROUP_HEADER, USER_HEADER, caller_of
from agent_memory.errors import AgentMemoryError, StoreUnavailable

_IN_TURN = ("/context", "/context/stream", "/search", "/turns")
"""How the paths end whose requests take turns: those of every message. Others are rare, or last for minutes."""


@dataclass(frozen=True, slots=True)
class Load:
    """How much a server takes on.

    Attributes:
        at_once: Requests at work at a time. A context takes 20 to 30 ms of a processor, and a process uses little more
            than one, so more would only make each take longer. With a store on a server, each mostly waits for it.
        most_waiting: How many may wait.
        seconds: How long one waits at most: ten less than `Memory.remote` waits for an answer, for the work itself.
        retry_after: What the server then asks a client to wait, in seconds.
    """

    at_once: int = 4
    most_waiting: int = 1000
    seconds: float = 50.0
    retry_after: float = 5.0


WITH_A_SERVER = Load(at_once=16)
"""For a process whose store is on a server."""


class Busy(Exception):
    """No turn comes in time."""


class Turns:
    """A few work at a time. The others wait, and users take turns."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._free = load.at_once
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}
        """By user, the next user first."""
        self._count = 0

    @asynccontextmanager
    async def turn(self, who: Hashable) -> AsyncIterator[None]:
        """Waits for a turn of this user, and has it while the block runs.

        Raises:
            Busy: if too many wait already, or it took too long.
        """
        await self._take(who)
        try:
            yield
        finally:
            self._give()

    async def _take(self, who: Hashable) -> None:
        if self._free:
            self._free -= 1
            return
        if self._count >= self._load.most_waiting:
            raise Busy
        ready = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(who, deque()).append(ready)
        self._count += 1
        try:
            async with asyncio.timeout(self._load.seconds):
                await ready
        except BaseException as error:
            if not ready.cancelled():  # its turn came at the same moment
                self._give()
            if isinstance(error, TimeoutError):
                raise Busy from None
            raise
        finally:
            self._count -= 1

    def _give(self) -> None:
        while self._waiting:
            who = next(iter(self._waiting))
            theirs = self._waiting.pop(who)
            ready = theirs.popleft()
            if theirs:
                self._waiting[who] = theirs  # behind the other users
            if not ready.done():
                ready.set_result(None)
                return
        self._free += 1


class Admission:
    """Lets requests take turns. Passes those on that are rare."""

    def __init__(self, app: ASGIApp, load: Load) -> None:
        self._app = app
        self._load = load
        self._turns = Turns(load)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on when its turn comes, unless its client has gone by then. Refuses unknown callers."""
        if scope["type"] != "http" or not scope["path"].endswith(_IN_TURN):
            await self._app(scope, receive, send)
            return
        body = (await receive()).get("body", b"")  # the whole body, see `BodyLimit`
        request = Request(scope, replayed(body, receive))
        try:
            caller = await caller_of(request)
        except (HTTPException, AgentMemoryError) as error:
            await refusal_of(error)(scope, receive, send)
            return
        who = (caller.name, *map(request.headers.get, (USER_HEADER, GROUP_HEADER)))
        gone = asyncio.ensure_future(receive())
        try:
            async with self._turns.turn(who):
                if not gone.done():
                    gone.cancel()
                    await self._app(scope, replayed(body, receive), send)
        except Busy:
            message = "the server is busy: too many requests wait"
            refusal = error_response(503, StoreUnavailable.code, message, self._load.retry_after)
            await refusal(scope, receive, send)
        finally:
            gone.cancel()
