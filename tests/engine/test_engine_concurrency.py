from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from azure.core import MatchConditions
from azure.cosmos import ContainerProxy
from azure.cosmos.aio import CosmosClient as AsyncCosmosClient
from azure.cosmos.exceptions import CosmosAccessConditionFailedError

from embedded_cosmos import AsyncTransport, Engine

KEY = ["alice", "t1"]


def bump(container: ContainerProxy) -> None:
    """Add one by read and conditional replace, as long as it takes."""
    while True:
        item = container.read_item("counter", KEY)
        item["n"] += 1
        try:
            container.replace_item("counter", item, etag=item["_etag"], match_condition=MatchConditions.IfNotModified)
        except CosmosAccessConditionFailedError:
            continue
        return


@pytest.mark.req("S0-105")
def test_no_update_is_lost_between_threads(container: ContainerProxy) -> None:
    container.create_item({"id": "counter", "user_id": "alice", "thread_id": "t1", "n": 0})
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: bump(container), range(64)))
    assert container.read_item("counter", KEY)["n"] == 64


def test_threads_write_and_query_at_once(container: ContainerProxy) -> None:
    def work(worker: int) -> int:
        for number in range(20):
            container.create_item({"id": f"{worker}-{number}", "user_id": "alice", "thread_id": f"t{worker}"})
        query = "SELECT VALUE COUNT(1) FROM c"
        return next(iter(container.query_items(query, partition_key=["alice", f"t{worker}"])))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [20] * 8
    sequence = [change["_lsn"] for change in container.query_items_change_feed(start_time="Beginning")]
    assert sequence == list(range(1, 161))


async def write(engine: Engine, worker: int) -> int:
    async with AsyncCosmosClient(engine.url, engine.credential, transport=AsyncTransport(engine)) as client:
        container = client.get_database_client("db").get_container_client("items")
        items = [{"id": f"{worker}-{n}", "user_id": "alice", "thread_id": "t1", "big": "x" * 70_000} for n in range(10)]
        await asyncio.gather(*(container.create_item(item) for item in items))
        found = [row async for row in container.query_items("SELECT VALUE c.id FROM c", partition_key=KEY)]
        assert {item["id"] for item in items} <= set(found)
        return len(items)


def test_event_loops_share_an_engine(engine: Engine, container: ContainerProxy) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda worker: asyncio.run(write(engine, worker)), range(4))) == [10] * 4
    assert len(list(container.read_all_items())) == 40


async def test_the_loop_stays_free_while_the_engine_is_busy(engine: Engine, container: ContainerProxy) -> None:
    """A point read that must wait for its turn waits in a thread."""
    container.create_item({"id": "1", "user_id": "alice", "thread_id": "t1"})
    async with AsyncCosmosClient(engine.url, engine.credential, transport=AsyncTransport(engine)) as client:
        proxy = client.get_database_client("db").get_container_client("items")
        await proxy.read_item("1", KEY)
        with engine._lock:
            reading = asyncio.create_task(proxy.read_item("1", KEY))
            await asyncio.sleep(0.05)
            assert not reading.done()
        assert (await reading)["id"] == "1"


def test_clients_of_one_engine_see_each_others_writes(engine: Engine, container: ContainerProxy, connect: Any) -> None:
    other = connect(engine).get_database_client("db").get_container_client("items")
    other.create_item({"id": "1", "user_id": "alice", "thread_id": "t1"})
    assert container.read_item("1", KEY)["id"] == "1"


def test_closing_a_client_leaves_the_engine_open(engine: Engine, connect: Any) -> None:
    with connect(engine) as client:
        client.create_database("db")
    assert [database["id"] for database in connect(engine).list_databases()] == ["db"]
