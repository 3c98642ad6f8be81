"""The engine behind a socket: Cosmos DB's REST API over HTTP or HTTPS, for clients that cannot be given a transport.

`python -m embedded_cosmos` runs it as a separate process; `LoopbackServer` runs it in a thread of this one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from aiohttp import web

from embedded_cosmos.auth import WELL_KNOWN_KEY, Authorizer
from embedded_cosmos.engine import Engine
from embedded_cosmos.errors import CosmosError, too_large
from embedded_cosmos.faults import ConnectionDropped
from embedded_cosmos.messages import REQUEST_CHARGE, Request, Response
from embedded_cosmos.rest import error_response

LOG = logging.getLogger(__name__)
LOOPBACK = "127.0.0.1"
MAX_BODY_BYTES = 8 * 1024 * 1024
MAX_HEADER_BYTES = 64 * 1024
SECONDS_TO_FINISH = 5.0
SECONDS_TO_HANG_UP = 0.02
# The engine answers one request at a time. The others wait in the pool, also during a delay of a fault plan.
_THREADS = 8


class Server:
    """Serves one engine, which the caller opens and closes."""

    def __init__(self, engine: Engine, authorizer: Authorizer, tls: ssl.SSLContext | None = None) -> None:
        """Prepare a server.

        Args:
            engine: The engine.
            authorizer: Checks who may send requests.
            tls: For HTTPS; without it, HTTP.
        """
        self._engine = engine
        self._authorizer = authorizer
        self._tls = tls
        self._pool = ThreadPoolExecutor(_THREADS, "embedded_cosmos")
        application = web.Application(client_max_size=MAX_BODY_BYTES)
        application.router.add_route("*", "/{path:.*}", self._serve)
        # Continuation tokens travel in headers.
        self._runner = web.AppRunner(
            application,
            access_log=None,
            shutdown_timeout=SECONDS_TO_FINISH,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )
        self._listener: asyncio.Server | None = None

    async def start(self, host: str = LOOPBACK, port: int = 0) -> str:
        """Listen on a port (0: a free one) and return the URL. Raises OSError if the address is not available."""
        await self._runner.setup()
        connections = self._runner.server
        assert connections is not None
        self._listener = await asyncio.get_running_loop().create_server(connections, host, port, ssl=self._tls)
        scheme = "http" if self._tls is None else "https"
        name = f"[{host}]" if ":" in host else host
        return f"{scheme}://{name}:{self._listener.sockets[0].getsockname()[1]}/"

    async def stop(self) -> None:
        """Accept no more requests, answer the running ones, and close the connections."""
        await self._accept_no_more()
        handlers = self._runner.server.connections if self._runner.server is not None else []
        transports = [handler.transport for handler in handlers if handler.transport is not None]
        await self._runner.cleanup()
        self._pool.shutdown()
        # The clean-up asks connections to close. A TLS connection waits for its client to agree, or to shake hands.
        if sys.version_info < (3, 13):  # asyncio does not know a server's connections yet
            for transport in transports:
                transport.abort()
            await asyncio.sleep(SECONDS_TO_HANG_UP)
        elif self._listener is not None:
            self._listener.abort_clients()
            await self._listener.wait_closed()

    async def _accept_no_more(self) -> None:
        if self._listener is None:
            return
        # asyncio sets up a connection one round after it accepts it, and leaks it if the listener closes in between.
        with contextlib.suppress(NotImplementedError):  # the loop of Windows has no readers
            for accepting in self._listener.sockets:
                asyncio.get_running_loop().remove_reader(accepting)
        await asyncio.sleep(0)
        self._listener.close()

    async def _serve(self, http: web.Request) -> web.StreamResponse:
        started = time.perf_counter()
        path = http.raw_path.partition("?")[0]
        request = Request(http.method, path, http.headers, base_url=f"{http.scheme}://{http.host}/")
        try:
            response = await self._answer(http, request)
        except ConnectionDropped as dropped:
            LOG.info("%s %s dropped: %s", request.method, path, dropped)
            return _hung_up(http)
        milliseconds = 1000 * (time.perf_counter() - started)
        charge = response.headers[REQUEST_CHARGE]
        LOG.info("%s %s %d %.1f ms %s RU", request.method, path, response.status, milliseconds, charge)
        return web.Response(status=response.status, headers=response.headers, body=response.body)

    async def _answer(self, http: web.Request, request: Request) -> Response:
        try:
            self._authorizer.check(request)
        except CosmosError as error:
            return error_response(request, error)
        try:
            body = await http.read()
        except web.HTTPRequestEntityTooLarge:
            return error_response(request, too_large(f"A request has at most {MAX_BODY_BYTES} bytes."))
        whole = Request(request.method, request.path, request.headers, body, request.base_url)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, self._engine.handle, whole)
        except ConnectionDropped:
            raise
        except Exception:
            LOG.exception("%s %s failed", request.method, request.path)
            failure = CosmosError(500, "InternalServerError", "The engine failed; its log says how.")
            return error_response(request, failure)


def _hung_up(http: web.Request) -> web.StreamResponse:
    if http.transport is not None:
        http.transport.abort()
    # The client is gone, but the library needs a response.
    return web.Response()


class LoopbackServer:
    """A server in a thread of this process, on a free port of the loopback interface.

        with Engine("memory.db") as engine, LoopbackServer(engine) as server:
            client = CosmosClient(server.url, server.key)

    This is the way to an engine for clients in other languages, and for an azure-cosmos that takes no `transport=`.
    """

    def __init__(self, engine: Engine, key: str = WELL_KNOWN_KEY, tls: ssl.SSLContext | None = None) -> None:
        """Start to serve.

        Args:
            engine: The engine.
            key: What clients must sign with, in base64.
            tls: For HTTPS; without it, HTTP.
        """
        self.key = key
        self._server = Server(engine, Authorizer(key), tls)
        started: Future[str] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._run(started)), name="embedded_cosmos", daemon=True
        )
        self._thread.start()
        self.url = started.result()

    async def _run(self, started: Future[str]) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        try:
            started.set_result(await self._server.start())
        except BaseException as error:
            started.set_exception(error)
            return
        await self._stopping.wait()
        await self._server.stop()

    def close(self) -> None:
        """Stop serving. The engine stays open."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
