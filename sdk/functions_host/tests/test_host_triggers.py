"""Triggers of the local host: change feeds with leases and retries, timers that were missed, routes."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("azure_functions_runtime", reason="Microsoft's worker library needs Python 3.13")

import aiohttp
import toy_function_app as toy
from azure.cosmos.aio import ContainerProxy, CosmosClient
from azure.cosmos.partition_key import PartitionKey
from toy_host import ToyHost, eventually, toy_host

from embedded_cosmos import Engine
from embedded_cosmos.server import LoopbackServer
from functions_host.errors import HostError
from functions_host.feed import CosmosTrigger
from functions_host.http import aiohttp_paths
from functions_host.invoker import WEBHOOKS
from functions_host.settings import CosmosConnection
from functions_host.timers import TimerTrigger

pytestmark = pytest.mark.filterwarnings("ignore:azure.functions df_loads was called without expected_type")


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[ToyHost]:
    async with toy_host(tmp_path / "state.db") as opened:
        yield opened


class Bricks:
    """The container that the toy app's change feed trigger reads, and the one for its leases."""

    def __init__(self, server: LoopbackServer, bricks: ContainerProxy, leases: ContainerProxy) -> None:
        self._server = server
        self.container = bricks
        self.leases = leases

    async def add(self, *names: str) -> None:
        for name in names:
            await self.container.create_item({"id": name, "wall": "north"})

    @contextlib.asynccontextmanager
    async def read_by(self, host: ToyHost, owner: str = "me") -> AsyncIterator["asyncio.Task[None]"]:
        """Feeds the toy function meanwhile."""
        connection = CosmosConnection(self._server.url, self._server.key)
        trigger = CosmosTrigger(host.functions["on_brick"], host.invoker, connection, owner, 0.02)
        task = asyncio.create_task(trigger.run())
        try:
            yield task
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def bricks() -> AsyncIterator[Bricks]:
    with Engine() as engine, contextlib.closing(LoopbackServer(engine)) as server:
        async with CosmosClient(server.url, server.key) as client:
            database = await client.create_database("toys")
            container = await database.create_container("bricks", PartitionKey("/wall"))
            leases = await database.create_container("leases", PartitionKey("/id"))
            yield Bricks(server, container, leases)


def handed_out() -> list[object]:
    return [given for name, given in toy.performed if name == "on_brick"]


async def test_a_feed_is_handed_out_in_batches_from_the_beginning_and_goes_on_after_a_restart(
    host: ToyHost, bricks: Bricks
):
    await bricks.add("a", "b", "c", "d")
    async with bricks.read_by(host):
        await eventually(lambda: handed_out() == [["a", "b", "c"], ["d"]])
        await bricks.add("e")
        await eventually(lambda: handed_out()[-1] == ["e"])
    await bricks.add("f")
    async with bricks.read_by(host):
        await eventually(lambda: len(handed_out()) == 4)
    # A host that is stopped between a batch and its checkpoint hands the batch out again, as Azure does.
    assert handed_out()[-1] in (["f"], ["e", "f"])


async def test_a_batch_is_retried_as_often_as_its_policy_allows_and_then_skipped(host: ToyHost, bricks: Bricks):
    await bricks.add("a")
    toy.failures["on_brick"] = 3
    async with bricks.read_by(host):
        await eventually(lambda: len(handed_out()) == 2)
        await bricks.add("b")
        await eventually(lambda: len(handed_out()) == 4)
    assert handed_out() == [["a"], ["a"], ["b"], ["b"]]


async def test_one_host_at_a_time_reads_a_feed(host: ToyHost, bricks: Bricks):
    await bricks.add("a")
    async with bricks.read_by(host, "first"):
        await eventually(lambda: handed_out() == [["a"]])
        async with bricks.read_by(host, "second"):
            await bricks.add("b")
            await eventually(lambda: handed_out()[-1] == ["b"])
            await asyncio.sleep(0.2)
            assert handed_out() == [["a"], ["b"]]
    (lease,) = [item async for item in bricks.leases.read_all_items()]
    assert lease["Owner"] == "first"
    past = (datetime.now(UTC) - timedelta(seconds=1)).isoformat()
    await bricks.leases.upsert_item(lease | {"Expires": past})  # the first has given no sign of life for long
    async with bricks.read_by(host, "second"):
        await bricks.add("c")
        await eventually(lambda: handed_out()[-1] == ["c"])
    (lease,) = [item async for item in bricks.leases.read_all_items()]
    assert lease["Owner"] == "second"


async def test_a_feed_without_a_lease_container_waits_for_one(
    host: ToyHost, bricks: Bricks, caplog: pytest.LogCaptureFixture
):
    with Engine() as engine, contextlib.closing(LoopbackServer(engine)) as server:
        empty = Bricks(server, bricks.container, bricks.leases)
        async with empty.read_by(host):
            await eventually(lambda: "lease container is missing" in caplog.text)
            async with CosmosClient(server.url, server.key) as client:
                database = await client.create_database("toys")
                for name in ("bricks", "leases"):
                    container = await database.create_container(name, PartitionKey("/id"))
                    if name == "bricks":
                        await container.create_item({"id": "z"})
            await eventually(lambda: handed_out() == [["z"]])


async def test_a_timer_that_was_missed_runs_at_once_and_says_so(host: ToyHost):
    trigger = TimerTrigger(host.functions["nightly"], host.invoker, host.hub)
    host.hub.ran("nightly", datetime.now(UTC) - timedelta(days=2))
    task = asyncio.create_task(trigger.run())
    await eventually(lambda: toy.performed == [("nightly", True)])
    await eventually(lambda: (host.hub.last_run("nightly") or datetime.min.replace(tzinfo=UTC)).date() == _today())
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert toy.performed == [("nightly", True)]


def _today() -> object:
    return datetime.now(UTC).date()


def test_routes_become_those_of_the_web_server():
    assert aiohttp_paths("/{*path}") == ["/{path:.*}"]
    assert aiohttp_paths("/api/shelf/{name}/{place?}") == ["/api/shelf/{name}", "/api/shelf/{name}/{place}"]
    with pytest.raises(HostError, match="constraints"):
        aiohttp_paths("/items/{id:int}")


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"via": "1.1 proxy"},
        {"x-forwarded-for": "192.0.2.1"},
        {"x-forwarded-proto": "https"},
        {"origin": "https://evil.example"},
        {"sec-fetch-site": "cross-site"},
    ],
)
async def test_pages_and_proxies_are_refused(host: ToyHost, headers: dict[str, str]):
    """No keys are checked, so a timer, the orchestrations and the app itself are for programs of this machine."""
    places = [
        ("POST", "/admin/functions/nightly"),
        ("GET", "/admin/host/status"),
        ("GET", f"{WEBHOOKS}/instances"),
        ("POST", "/api/shelf/a"),
    ]
    async with aiohttp.ClientSession() as http:
        for verb, path in places:
            async with http.request(verb, f"{host.url}{path}", headers=headers) as answer:
                assert answer.status == 403, (verb, path)
        async with http.get(f"{host.url}/admin/host/status", headers={"host": "localhost:7071"}) as answer:
            assert answer.status == 200
    assert not toy.performed
