"""The canary: azure-cosmos does not document `transport=`, and a newer version may stop taking it.

If these tests fail after an update of azure-cosmos, read "When azure-cosmos takes no transport" in the README of
embedded_cosmos: everything else still works through the loopback server.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pytest
from azure.cosmos import CosmosClient
from azure.cosmos.aio import CosmosClient as AsyncCosmosClient

from embedded_cosmos import AsyncTransport, Engine, SyncTransport

WAY_OUT = (
    f"azure-cosmos {version('azure-cosmos')} does not send its requests through the transport= that it was given, so"
    " the embedded engine cannot be reached in process. Stay with the last version that did, or reach the engine over a"
    " socket, through embedded_cosmos.server.LoopbackServer: see 'When azure-cosmos takes no transport' in"
    " sdk/embedded_cosmos/README.md."
)


class CountingSync(SyncTransport):
    count = 0

    def send(self, request: Any, **options: Any) -> Any:
        self.count += 1
        return super().send(request, **options)


class CountingAsync(AsyncTransport):
    count = 0

    async def send(self, request: Any, **options: Any) -> Any:
        self.count += 1
        return await super().send(request, **options)


def check_sync(engine: Engine, make_client: Callable[..., Any]) -> None:
    transport = CountingSync(engine)
    try:
        make_client(engine.url, engine.credential, transport=transport).create_database("canary")
    except (TypeError, ValueError) as error:
        pytest.fail(f"{WAY_OUT} It said: {error}")
    if transport.count < 2:
        pytest.fail(WAY_OUT)


async def check_async(engine: Engine, make_client: Callable[..., Any]) -> None:
    transport = CountingAsync(engine)
    try:
        async with make_client(engine.url, engine.credential, transport=transport) as client:
            await client.create_database("canary")
    except (TypeError, ValueError) as error:
        pytest.fail(f"{WAY_OUT} It said: {error}")
    if transport.count < 2:
        pytest.fail(WAY_OUT)


def test_the_sync_client_uses_the_transport_that_it_is_given(engine: Engine) -> None:
    check_sync(engine, CosmosClient)


async def test_the_async_client_uses_the_transport_that_it_is_given(engine: Engine) -> None:
    await check_async(engine, AsyncCosmosClient)


class DeafClient:
    """Takes a transport and does not use it."""

    def __init__(self, *_arguments: Any, **_options: Any) -> None:
        pass

    def create_database(self, _name: str) -> None:
        pass


def refusing_client(*_arguments: Any, transport: object) -> None:
    raise ValueError("'transport' is not supported by this backend")


@pytest.mark.parametrize("make_client", [DeafClient, refusing_client])
def test_the_canary_sings(engine: Engine, make_client: Callable[..., Any]) -> None:
    with pytest.raises(pytest.fail.Exception, match="LoopbackServer"):
        check_sync(engine, make_client)
