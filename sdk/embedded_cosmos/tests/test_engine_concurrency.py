from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from azure.core import MatchConditions
from azure.core.pipeline.transport import HttpRequest
from azure.cosmos import ContainerProxy, DatabaseProxy, PartitionKey
from azure.cosmos.aio import ContainerProxy as AsyncContainerProxy, CosmosClient as AsyncCosmosClient
from azure.cosmos.exceptions import CosmosAccessConditionFailedError

from embedded_cosmos import AsyncTransport, Engine
from embedded_cosmos.messages import CONTINUATION, IS_QUERY, MAX_ITEM_COUNT, PARTITION_KEY, Request, Response
from embedded_cosmos.queries import QUICK_DOCUMENTS

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


async def raise_by_one(container: AsyncContainerProxy) -> None:
    item = await container.read_item("counter", KEY)
    await container.replace_item("counter", item | {"n": item["n"] + 1})


@pytest.mark.parametrize(("interleave", "lost"), [("", False), ("7", True)])
async def test_with_a_seed_tasks_interleave_at_every_request(
    engine: Engine, container: ContainerProxy, monkeypatch: pytest.MonkeyPatch, interleave: str, lost: bool
) -> None:
    """A change without an ETag loses updates where tasks interleave, and only there."""
    monkeypatch.setenv("EMBEDDED_COSMOS_INTERLEAVE", interleave)
    container.create_item({"id": "counter", "user_id": "alice", "thread_id": "t1", "n": 0})
    async with AsyncCosmosClient(engine.url, engine.credential, transport=AsyncTransport(engine)) as client:
        proxy = client.get_database_client("db").get_container_client("items")
        await raise_by_one(proxy)
        await asyncio.gather(*(raise_by_one(proxy) for _ in range(8)))
    assert (container.read_item("counter", KEY)["n"] < 9) is lost


async def test_a_seed_gives_the_same_order_again(engine: Engine) -> None:
    """Asked of the transport itself: a client also reads the account, in a task and a thread of its own."""

    async def order(seed: int) -> list[int]:
        done: list[int] = []
        transport = AsyncTransport(engine, interleave=seed)

        async def read(number: int) -> None:
            response = await transport.send(HttpRequest("GET", engine.url))
            assert response.status_code == 200
            done.append(number)

        await asyncio.gather(*(read(number) for number in range(8)))
        return done

    assert await order(1) == await order(1)
    assert len({tuple(await order(seed)) for seed in range(5)}) > 1


def test_a_seed_that_is_no_number_is_refused(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDED_COSMOS_INTERLEAVE", "yes")
    with pytest.raises(ValueError, match="EMBEDDED_COSMOS_INTERLEAVE must be a whole number"):
        AsyncTransport(engine)


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


def asking(text: str, thread: str = "t1") -> Request:
    headers = {IS_QUERY: "true", PARTITION_KEY: json.dumps(["alice", thread])}
    return Request("POST", "/dbs/db/colls/items/docs", headers, json.dumps({"query": text}).encode())


class Waiting:
    """A lock that is waited for also by those who would not wait."""

    def __init__(self, lock: Any) -> None:
        self._lock = lock
        self.release = lock.release

    def acquire(self, blocking: bool = True) -> bool:
        return bool(self._lock.acquire())

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


def at_once(engine: Engine, request: Request) -> Response | None:
    """What the engine answers at once when nothing else asks it: a client reads the account in a thread of its own."""
    lock = engine._lock
    engine._lock = Waiting(lock)  # type: ignore[assignment]
    try:
        return engine.try_handle(request)
    finally:
        engine._lock = lock


def rows(response: Response) -> list[Any]:
    return list(json.loads(response.body)["Documents"])


def fill(container: ContainerProxy, thread: str, count: int) -> None:
    for number in range(count):
        container.create_item({"id": str(number), "user_id": "alice", "thread_id": thread, "n": number})


def test_a_query_that_was_short_before_is_answered_at_once(engine: Engine, container: ContainerProxy) -> None:
    fill(container, "t1", 3)
    request = asking("SELECT VALUE c.n FROM c ORDER BY c.n DESC")
    assert at_once(engine, request) is None, "what it needs is not in memory yet"
    assert rows(engine.handle(request)) == [2, 1, 0]
    answer = at_once(engine, request)
    assert answer is not None
    assert rows(answer) == [2, 1, 0]
    container.delete_item("1", KEY)
    assert rows(at_once(engine, request) or engine.handle(request)) == [2, 0]


def test_a_query_over_many_documents_is_not_answered_at_once(engine: Engine, container: ContainerProxy) -> None:
    fill(container, "t1", QUICK_DOCUMENTS)
    fill(container, "t2", QUICK_DOCUMENTS + 1)
    text = "SELECT VALUE c.n FROM c"
    engine.handle(asking(text))
    assert at_once(engine, asking(text)) is not None
    assert at_once(engine, asking(text, "t2")) is None
    assert len(rows(engine.handle(asking(text, "t2")))) == QUICK_DOCUMENTS + 1
    assert at_once(engine, asking(text)) is None, "a query that was long once may be again"


def test_the_next_page_of_a_query_is_not_answered_at_once(engine: Engine, container: ContainerProxy) -> None:
    fill(container, "t1", 3)
    request = asking("SELECT VALUE c.n FROM c")
    headers = {**request.headers, MAX_ITEM_COUNT: "2"}
    first = engine.handle(replace(request, headers=headers))
    request = replace(request, headers=headers | {CONTINUATION: first.headers[CONTINUATION]})
    assert at_once(engine, request) is None
    assert rows(engine.handle(request)) == [2]


def test_a_ranking_query_is_not_answered_at_once(engine: Engine, database: DatabaseProxy) -> None:
    database.create_container(
        "items",
        PartitionKey(path=["/user_id", "/thread_id"]),
        full_text_policy={"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/text", "language": "en-US"}]},
    ).create_item({"id": "1", "user_id": "alice", "thread_id": "t1", "text": "a red kite"})
    request = asking("SELECT TOP 5 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, 'kite')")
    for _ in range(2):
        assert rows(engine.handle(request)) == ["1"]
        assert at_once(engine, request) is None
