from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import hypothesis
import pytest
from azure.cosmos import ContainerProxy, CosmosClient, DatabaseProxy, PartitionKey
from azure.cosmos.aio import CosmosClient as AsyncCosmosClient

from embedded_cosmos import AsyncTransport, Engine, SyncTransport

hypothesis.settings.load_profile("ci")  # the same examples each time, however long they take


class Clock:
    """A clock that moves only when told to."""

    def __init__(self) -> None:
        self.now = float(int(time.time()))

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_health_check_beside_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """The synchronous client checks the endpoints' health before it goes on, and not in a thread of its own.

    The thread writes retry counts into the last response's headers (`_retry_utility.Execute`). Under load a test failed
    because the client was copying them.
    """

    def check(_: Any, target: Callable[..., None], options: dict[str, Any]) -> None:
        with contextlib.suppress(Exception):  # as the thread does
            target(**options)

    monkeypatch.setattr("azure.cosmos._global_endpoint_manager._GlobalEndpointManager._start_background_refresh", check)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(clock: Clock) -> Iterator[Engine]:
    with Engine(clock=clock) as engine:
        yield engine


@pytest.fixture
def connect() -> Callable[[Engine], CosmosClient]:
    return lambda engine: CosmosClient(engine.url, engine.credential, transport=SyncTransport(engine))


@pytest.fixture
def client(engine: Engine, connect: Callable[[Engine], CosmosClient]) -> CosmosClient:
    return connect(engine)


@pytest.fixture
async def async_client(engine: Engine) -> AsyncIterator[AsyncCosmosClient]:
    async with AsyncCosmosClient(engine.url, engine.credential, transport=AsyncTransport(engine)) as client:
        yield client


@pytest.fixture
def database(client: CosmosClient) -> DatabaseProxy:
    return client.create_database("db")


@pytest.fixture
def container(database: DatabaseProxy) -> ContainerProxy:
    """A container with a hierarchical key, as the toolkit's are."""
    return database.create_container("items", PartitionKey(path=["/user_id", "/thread_id"]), default_ttl=-1)
