"""The server that the scripted models share."""

import asyncio
import gc
import socket
import warnings
from contextlib import ExitStack

from tcp_server import tcp_server


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readexactly(1)
    writer.write(b"x" * 50_000_000)  # more than fits between the two


def test_no_connection_outlives_the_server() -> None:
    """A connection that outlives its event loop warns when it is collected, which may be in any later test."""

    async def stop_with(clients: ExitStack) -> None:
        async with tcp_server(answer) as url:
            address = "127.0.0.1", int(url.rpartition(":")[2])
            does_not_read = clients.enter_context(socket.create_connection(address))
            does_not_read.send(b"?")
            clients.enter_context(socket.create_connection(address))
            await asyncio.to_thread(does_not_read.recv, 1)

    with warnings.catch_warnings(record=True) as left:
        warnings.simplefilter("always")
        gc.collect()
        left.clear()  # of earlier tests
        with ExitStack() as clients:
            asyncio.run(stop_with(clients))
            gc.collect()
    assert [str(one.message) for one in left] == []
