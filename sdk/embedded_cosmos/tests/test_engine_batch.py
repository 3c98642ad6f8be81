from __future__ import annotations

from typing import Any

import orjson
import pytest
from azure.cosmos import ContainerProxy
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError

from embedded_cosmos import Engine
from embedded_cosmos.messages import Request

KEY = ["alice", "t1"]


def item(item_id: str, **values: Any) -> dict[str, Any]:
    return {"id": item_id, "user_id": "alice", "thread_id": "t1", **values}


def contents(container: ContainerProxy) -> list[dict[str, Any]]:
    return sorted(container.read_all_items(), key=lambda found: found["id"])


def test_a_batch_of_every_operation(container: ContainerProxy) -> None:
    for name in ("replaced", "patched", "read", "deleted"):
        container.create_item(item(name, n=1))
    batch = [
        ("create", (item("created"),)),
        ("upsert", (item("upserted", n=1),)),
        ("upsert", (item("upserted", n=2),)),
        ("replace", ("replaced", item("replaced", n=2))),
        (
            "patch",
            ("patched", [{"op": "incr", "path": "/n", "value": 1}]),
            {"filter_predicate": "from c where c.n = 1"},
        ),
        ("read", ("read",)),
        ("delete", ("deleted",)),
    ]
    results = container.execute_item_batch(batch, KEY)
    assert [result["statusCode"] for result in results] == [201, 201, 200, 200, 200, 200, 204]
    found = {document["id"]: document for document in contents(container)}
    assert found.keys() == {"created", "upserted", "replaced", "patched", "read"}
    assert [found[name]["n"] for name in ("upserted", "replaced", "patched")] == [2, 2, 2]
    assert results[4]["resourceBody"] == found["patched"]
    assert results[4]["eTag"] == found["patched"]["_etag"]
    assert all(result["requestCharge"] > 0 for result in results)


def test_a_batch_is_one_step_of_the_containers_sequence(container: ContainerProxy) -> None:
    before = container.create_item(item("0")).get_response_headers()
    batch = container.execute_item_batch([("create", (item(str(n)),)) for n in range(1, 6)], KEY)
    assert int(batch.get_response_headers()["lsn"]) == int(before["lsn"]) + 1
    changes = list(container.query_items_change_feed(start_time="Beginning"))
    assert [(change["id"], change["_lsn"]) for change in changes[1:]] == [(str(n), 2) for n in range(1, 6)]


@pytest.mark.parametrize(
    ("failing", "status"),
    [
        (("create", (item("there"),)), 409),
        (("create", (item("x") | {"thread_id": "other"},)), 400),
        (("create", ({"id": "x"},)), 400),
        (("replace", ("absent", item("absent"))), 404),
        (("replace", ("there", item("there")), {"if_match_etag": '"stale"'}), 412),
        (("upsert", (item("there"),), {"if_match_etag": '"stale"'}), 412),
        (("delete", ("there",), {"if_match_etag": '"stale"'}), 412),
        (("delete", ("absent",)), 404),
        (("read", ("absent",)), 404),
        (("patch", ("there", [{"op": "remove", "path": "/absent"}])), 400),
        (
            (
                "patch",
                ("there", [{"op": "add", "path": "/n", "value": 2}]),
                {"filter_predicate": "from c where c.n = 5"},
            ),
            412,
        ),
    ],
)
def test_a_batch_that_fails_leaves_nothing_behind(container: ContainerProxy, failing: Any, status: int) -> None:
    container.create_item(item("there", n=1))
    before = contents(container)
    batch = [("create", (item("first"),)), ("delete", ("there",)), ("create", (item("there"),)), failing]
    with pytest.raises(CosmosBatchOperationError) as error:
        container.execute_item_batch([*batch, ("create", (item("last"),))], KEY)
    assert (error.value.status_code, error.value.error_index) == (status, 3)
    assert [result["statusCode"] for result in error.value.operation_responses] == [424, 424, 424, status, 424]
    assert contents(container) == before
    # The failed batch takes no place in the sequence either.
    assert container.create_item(item("next")).get_response_headers()["lsn"] == "2"


def test_queries_never_see_a_batch_that_failed(container: ContainerProxy) -> None:
    def ids() -> list[str]:
        return [found["id"] for found in container.query_items("SELECT c.id FROM c ORDER BY c.id", partition_key=KEY)]

    container.create_item(item("there"))
    assert ids() == ["there"]
    with pytest.raises(CosmosBatchOperationError):
        container.execute_item_batch([("create", (item("a"),)), ("delete", ("there",)), ("read", ("absent",))], KEY)
    assert ids() == ["there"]
    container.execute_item_batch([("create", (item("a"),)), ("delete", ("there",))], KEY)
    assert ids() == ["a"]


def test_batches_have_limits(container: ContainerProxy) -> None:
    for batch, status, reason in (
        ([], 400, "no operations"),
        ([("upsert", (item("1"),))] * 101, 400, "more operations"),
        ([("create", (item(str(n), text="x" * 300_000),)) for n in range(8)], 413, "limit"),
    ):
        with pytest.raises(CosmosHttpResponseError) as error:
            container.execute_item_batch(batch, KEY)
        assert error.value.status_code == status
        assert reason in str(error.value)
    with pytest.raises(CosmosHttpResponseError) as error:
        container.execute_item_batch([("create", (item("1"),))], ["alice"])
    assert (error.value.status_code, error.value.sub_status) == (400, 1001)
    container.execute_item_batch([("create", (item(str(n)),)) for n in range(100)], KEY)
    assert len(contents(container)) == 100


def bulk(engine: Engine, *operations: dict[str, Any], **headers: str) -> tuple[int, list[dict[str, Any]]]:
    """A batch of operations that each have a key of their own, as the JavaScript client sends them in bulk."""
    flags = {"x-ms-cosmos-is-batch-request": "true", "x-ms-cosmos-batch-atomic": "false"}
    key = {"partitionKey": '["alice","t1"]'}
    body = orjson.dumps([key | operation for operation in operations])
    response = engine.handle(Request("POST", "/dbs/db/colls/items/docs", flags | headers, body))
    return response.status, orjson.loads(response.body)


def test_in_bulk_every_operation_stands_alone(engine: Engine, container: ContainerProxy) -> None:
    bob = {"partitionKey": '["bob","t1"]', "resourceBody": item("1") | {"user_id": "bob"}}
    status, results = bulk(
        engine,
        {"operationType": "Create", "resourceBody": item("1")},
        {"operationType": "Create"} | bob,
        {"operationType": "Create", "resourceBody": item("1")},
        {"operationType": "Patch", "id": "1", "resourceBody": [{"op": "set", "path": "/n", "value": 5}]},
        {"operationType": "Read", "id": "absent"},
        {"operationType": "Read", "id": "1", "partitionKey": 7},
        **{"x-ms-cosmos-batch-continue-on-error": "true"},
    )
    assert status == 207
    assert [result["statusCode"] for result in results] == [201, 201, 409, 200, 404, 400]
    assert results[3]["resourceBody"]["n"] == 5
    assert "needs its 'partitionKey'" in results[5]["message"]
    assert {(each["user_id"], each["_lsn"]) for each in container.query_items_change_feed(start_time="Beginning")} == {
        ("bob", 2),
        ("alice", 3),
    }
    assert bulk(engine, {"operationType": "Delete", "id": "1"})[0] == 200


def test_in_bulk_an_error_ends_it_unless_told_otherwise(engine: Engine, container: ContainerProxy) -> None:
    create = {"operationType": "Create", "resourceBody": item("1")}
    status, results = bulk(engine, create, create, create | {"resourceBody": item("2")})
    assert (status, [result["statusCode"] for result in results]) == (207, [201, 409, 424])
    assert len(contents(container)) == 1


def test_in_bulk_a_range_that_is_not_there_is_gone(engine: Engine, container: ContainerProxy) -> None:
    read = {"operationType": "Read", "id": "1"}
    status, _ = bulk(engine, read, **{"x-ms-documentdb-partitionkeyrangeid": "99"})
    assert status == 410
