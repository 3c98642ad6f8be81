from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator

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
