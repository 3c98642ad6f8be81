"""A server of the API in this process, on uvicorn: it says when it is ready, and stops when it is asked to."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from agent_memory.errors import ConfigurationError

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
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        proxy_headers=False,  # what a proxy says of who asks is no credential
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    with _listening(host, port) as listener:
        await _Server(config, lambda: on_ready(_url(listener))).serve(sockets=[listener])


class _Server(uvicorn.Server):
    """uvicorn's server raises the signal again that stopped it, which would end the process with its store open."""

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
        """Lets signals end the serving, and nothing else."""
        from signal import SIGINT, SIGTERM

        loop = asyncio.get_running_loop()
        for number in (SIGINT, SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (SIGINT, SIGTERM):
                loop.remove_signal_handler(number)


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise ConfigurationError(f"cannot listen on {host} port {port}: {error}") from error
        yield listener
    finally:
        listener.close()


def _url(listener: socket.socket) -> str:
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
