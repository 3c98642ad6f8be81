"""A server of the API in this process, on uvicorn: it reports when it is ready, and stops on request."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from agent_memory.errors import ConfigurationError

HEAD_SECONDS = 15.0
"""Seconds within which the head of a request must arrive. Browsers and proxies send it in one piece."""
READ_SECONDS = 60.0
"""Seconds within which a slow client must read at least a part of its answer; else the connection is closed."""
GRACE_SECONDS = 10
"""Seconds that requests get to end when the server is stopped."""


async def serve(app: FastAPI, host: str, port: int, on_ready: Callable[[str], None]) -> None:
    """Serves an app until SIGINT or SIGTERM; port 0 takes a free one.

    Args:
        app: The app.
        host: The address to listen on.
        port: The port.
        on_ready: Called with the URL when requests are answered.

    Raises:
        ConfigurationError: if the address cannot be listened on.
    """
    with _listening(host, port) as listener:
        await _Server(server_config(app), lambda: on_ready(_url(listener))).serve(sockets=[listener])


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[str]:
    """Serves an app to programs on this machine while the block runs; yields its URL. The caller handles signals."""
    answers = asyncio.Event()
    with _listening("127.0.0.1", 0) as listener:
        server = _Quiet(server_config(app), answers.set)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await answers.wait()
            yield _url(listener)
        finally:
            server.should_exit = True
            await task


def server_config(app: FastAPI) -> uvicorn.Config:
    """The configuration of uvicorn for an app."""
    return uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        log_level="warning",
        access_log=False,
        lifespan="off",
        proxy_headers=False,  # a proxy's statement about the caller is not a credential
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


class _Flow(FlowControl):
    """uvicorn's control of reading, which reads nothing more while many bytes wait for the answer before them.

    uvicorn itself reads on at each of a client's requests, however many more of them it has read already.
    """

    def __init__(self, transport: asyncio.Transport, conn: h11.Connection) -> None:
        super().__init__(transport)
        self._conn = conn

    def resume_reading(self) -> None:
        """Reads on, unless much of what was read still waits."""
        if self.read_paused and len(self._conn.trailing_data[0]) <= HIGH_WATER_LIMIT:
            super().resume_reading()


class _Connection(H11Protocol):
    """uvicorn's connection, closed if the client sends no head of a request in time, or does not read the answer.

    uvicorn itself waits for ever. The time of a body is bounded by `BodyLimit`, between two requests by uvicorn.
    """

    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Waits for the first request."""
        super().connection_made(transport)
        self.flow = _Flow(transport, self.conn)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Takes a part of a request."""
        super().data_received(data)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits for nothing more."""
        super().connection_lost(exc)
        self._stop_waiting()
        self._was_read()

    def pause_writing(self) -> None:
        """Waits for the client to read."""
        super().pause_writing()
        self._unread = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Goes on."""
        super().resume_writing()
        self._was_read()

    def _was_read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _await_head(self) -> None:
        if self._is_answering():
            self._stop_waiting()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._hang_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _hang_up(self) -> None:
        self._deadline = None
        if not self._is_answering():
            self.transport.close()

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete


class _Server(uvicorn.Server):
    """uvicorn's server, which does not raise the signal again that stopped it: the store is still open then."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begins to answer."""
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Lets signals stop the server, and nothing else."""
        from signal import SIGINT, SIGTERM

        loop = asyncio.get_running_loop()
        for number in (SIGINT, SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (SIGINT, SIGTERM):
                loop.remove_signal_handler(number)


class _Quiet(_Server):
    """A server that leaves signals to others."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures none."""
        yield


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only for a socket that names TCP. Without it each answer waits 40 ms to be acknowledged.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            refused = ConfigurationError(f"cannot listen on {host} port {port}: {error}")
            if error.errno == errno.EADDRINUSE:
                refused.add_note("choose another port: --port PORT")
            raise refused from error
        yield listener
    finally:
        listener.close()


def _url(listener: socket.socket) -> str:
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
