from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from azure.core.exceptions import AzureError, ServiceRequestError, ServiceResponseError
from azure.cosmos import ContainerProxy, CosmosClient, PartitionKey
from azure.cosmos.aio import CosmosClient as AsyncCosmosClient
from azure.cosmos.exceptions import CosmosHttpResponseError

from embedded_cosmos import AsyncTransport, Engine, FaultPlan, FaultRule
from embedded_cosmos.messages import Request
from embedded_cosmos.server import LoopbackServer

ITEM = {"id": "1", "user_id": "alice", "thread_id": "t1"}
KEY = ["alice", "t1"]


def statuses(engine: Engine, times: int, method: str = "GET", path: str = "/dbs/db/colls/items/docs/1/") -> list[int]:
    headers = {"x-ms-documentdb-partitionkey": '["alice","t1"]'}
    return [engine.handle(Request(method, path, headers)).status for _ in range(times)]


def plan(engine: Engine, *rules: FaultRule, seed: int = 0) -> FaultPlan:
    engine.faults = FaultPlan(seed, list(rules))
    return engine.faults


@pytest.mark.parametrize(
    ("fault", "status", "substatus"),
    [
        ("throttle", 429, "3200"),
        ("gone", 410, "1002"),
        ("behind", 404, "1002"),
        ("retry_with", 449, None),
        ("unavailable", 503, None),
    ],
)
def test_what_a_client_is_answered(
    engine: Engine, container: ContainerProxy, fault: Any, status: int, substatus: str | None
) -> None:
    made = plan(engine, FaultRule(fault, retry_after_ms=25))
    headers = {"x-ms-documentdb-partitionkey": '["alice","t1"]'}
    response = engine.handle(Request("GET", "/dbs/db/colls/items/docs/1/", headers))
    assert (response.status, response.headers.get("x-ms-substatus")) == (status, substatus)
    assert response.headers.get("x-ms-retry-after-ms") == ("25" if fault == "throttle" else None)
    assert made.injected == Counter({fault: 1})
    engine.faults = None
    assert statuses(engine, 1) == [404]


def test_rules_say_when(engine: Engine, container: ContainerProxy) -> None:
    plan(engine, FaultRule("unavailable", every=3))
    assert statuses(engine, 7) == [404, 404, 503, 404, 404, 503, 404]
    plan(engine, FaultRule("unavailable", first=2))
    assert statuses(engine, 4) == [503, 503, 404, 404]
    plan(engine, FaultRule("unavailable", every=2, first=5))
    assert statuses(engine, 8) == [404, 503, 404, 503, 404, 404, 404, 404]


def test_the_seed_decides_and_decides_again(engine: Engine, container: ContainerProxy) -> None:
    def run(seed: int) -> list[int]:
        plan(engine, FaultRule("unavailable", probability=0.3), FaultRule("throttle", probability=0.2), seed=seed)
        return statuses(engine, 200)

    assert run(7) == run(7) != run(8)
    counts = Counter(run(7))
    assert 40 <= counts[503] <= 80
    # The first rule that applies wins, and the second one still has its own fifth of the requests.
    assert 15 <= counts[429] <= 45


def test_rules_say_what(engine: Engine, client: CosmosClient, container: ContainerProxy) -> None:
    other = client.get_database_client("db").create_container("other", PartitionKey(path="/id"))
    made = plan(engine, FaultRule("retry_with", operations={"create", "batch"}, container="items"))
    with pytest.raises(CosmosHttpResponseError) as error:
        container.create_item(ITEM)
    assert error.value.status_code == 449
    with pytest.raises(CosmosHttpResponseError):
        container.execute_item_batch([("upsert", (ITEM,))], KEY)
    item = container.upsert_item(ITEM)
    other.create_item({"id": "1"})
    assert made.injected == {"retry_with": 2}
    # The item itself leads to the container by its resource ids, not by its name.
    plan(engine, FaultRule("retry_with", operations={"delete"}, container="items"))
    with pytest.raises(CosmosHttpResponseError):
        container.delete_item(item, KEY)


@pytest.mark.parametrize(
    ("operation", "call"),
    [
        ("read", lambda items: items.read_item("1", KEY)),
        ("create", lambda items: items.create_item(ITEM | {"id": "2"})),
        ("upsert", lambda items: items.upsert_item(ITEM)),
        ("replace", lambda items: items.replace_item("1", ITEM)),
        ("patch", lambda items: items.patch_item("1", KEY, [{"op": "set", "path": "/n", "value": 1}])),
        ("delete", lambda items: items.delete_item("1", KEY)),
        ("batch", lambda items: items.execute_item_batch([("read", ("1",))], KEY)),
        ("query", lambda items: list(items.query_items("SELECT * FROM c", partition_key=KEY))),
        ("read_feed", lambda items: list(items.read_all_items())),
        ("change_feed", lambda items: list(items.query_items_change_feed(start_time="Beginning"))),
        ("delete_by_key", lambda items: items.delete_all_items_by_partition_key(KEY)),
        ("metadata", lambda items: items.read()),
    ],
)
def test_every_operation_can_be_named(
    engine: Engine, container: ContainerProxy, operation: Any, call: Callable[[ContainerProxy], Any]
) -> None:
    container.create_item(ITEM)
    plan(engine, FaultRule("retry_with", operations={operation}))
    with pytest.raises(CosmosHttpResponseError) as error:
        call(container)
    assert error.value.status_code == 449
    everything_else = {"read", "create", "upsert", "replace", "patch", "delete", "batch", "query"} - {operation}
    plan(engine, FaultRule("retry_with", operations=everything_else))
    if operation not in everything_else:
        call(container)


def test_a_throttled_client_waits_and_succeeds(engine: Engine, container: ContainerProxy) -> None:
    made = plan(engine, FaultRule("throttle", first=3, retry_after_ms=20))
    started = time.monotonic()
    assert container.create_item(ITEM)["id"] == "1"
    assert time.monotonic() - started >= 0.06
    assert made.injected == {"throttle": 3}


def test_a_delay_is_one(engine: Engine, container: ContainerProxy) -> None:
    plan(engine, FaultRule("delay", delay_ms=50))
    started = time.monotonic()
    container.create_item(ITEM)
    assert time.monotonic() - started >= 0.05


def test_a_connection_that_breaks_before_or_after_the_write(engine: Engine, container: ContainerProxy) -> None:
    for fault, is_there in (("drop_before", False), ("drop_after", True)):
        plan(engine, FaultRule(fault, operations={"create"}))  # type: ignore[arg-type]
        with pytest.raises(ServiceResponseError):
            container.create_item(ITEM | {"id": fault})
        engine.faults = None
        query = f"SELECT VALUE COUNT(1) FROM c WHERE c.id = '{fault}'"
        assert list(container.query_items(query, partition_key=KEY)) == [int(is_there)]


async def test_the_async_client_meets_the_same(engine: Engine, container: ContainerProxy) -> None:
    async with AsyncCosmosClient(engine.url, engine.credential, transport=AsyncTransport(engine)) as client:
        items = client.get_database_client("db").get_container_client("items")
        plan(engine, FaultRule("drop_after", operations={"create"}))
        with pytest.raises(ServiceResponseError):
            await items.create_item(ITEM)
        made = plan(engine, FaultRule("throttle", first=2))
        assert (await items.read_item("1", KEY))["id"] == "1"
        assert made.injected == {"throttle": 2}


def test_the_same_over_a_socket(engine: Engine, container: ContainerProxy) -> None:
    with LoopbackServer(engine) as server:
        items = CosmosClient(server.url, server.key).get_database_client("db").get_container_client("items")
        items.read()
        for fault in ("drop_before", "drop_after"):
            plan(engine, FaultRule(fault, operations={"create"}))  # type: ignore[arg-type]
            with pytest.raises((ServiceRequestError, ServiceResponseError)):
                items.create_item(ITEM | {"id": fault})
        engine.faults = None
        assert [item["id"] for item in items.read_all_items()] == ["drop_after"]
        made = plan(engine, FaultRule("throttle", first=2))
        assert items.read_item("drop_after", KEY)["id"] == "drop_after"
        assert made.injected == {"throttle": 2}


async def test_the_async_client_repeats_a_write_whose_answer_never_came(
    engine: Engine, container: ContainerProxy
) -> None:
    """Worth a rehearsal: over a socket this client takes a broken connection for a request that was never sent."""
    with LoopbackServer(engine) as server:
        async with AsyncCosmosClient(server.url, server.key) as client:
            items = client.get_database_client("db").get_container_client("items")
            await items.read()
            plan(engine, FaultRule("drop_after", operations={"create"}, first=1))
            with pytest.raises(AzureError) as error:
                await items.create_item(ITEM)
    assert isinstance(error.value, CosmosHttpResponseError)
    assert error.value.status_code == 409


def test_a_plan_from_a_file(tmp_path: Path, connect: Any) -> None:
    path = tmp_path / "faults.json"
    path.write_text('{"seed": 3, "rules": [{"fault": "throttle", "operations": ["query"], "every": 2}]}')
    loaded = FaultPlan.from_file(path)
    assert loaded == FaultPlan(3, [FaultRule("throttle", operations={"query"}, every=2)])
    with Engine(faults=loaded) as engine:
        connect(engine).create_database("db")
        assert engine.faults is loaded


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "'rules'"),
        ("{", "unexpected end"),
        ('{"rules": [], "sede": 1}', "'rules'"),
        ('{"rules": [{"every": 2}]}', "'fault'"),
        ('{"rules": [{"fault": "throttle", "evry": 2}]}', "'fault' and perhaps"),
        ('{"rules": [{"fault": "earthquake"}]}', "none of throttle"),
        ('{"rules": [{"fault": "throttle", "operations": ["reed"]}]}', "Unknown operations"),
        ('{"rules": [{"fault": "throttle", "every": 0}]}', "'every' begins at 1"),
        ('{"rules": [{"fault": "throttle", "probability": 2}]}', "between 0 and 1"),
    ],
)
def test_an_unusable_plan_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        FaultPlan.from_json(text.encode())
