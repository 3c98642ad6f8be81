from __future__ import annotations

from typing import Any

import pytest
from azure.core import MatchConditions
from azure.cosmos import ContainerProxy, DatabaseProxy, PartitionKey
from azure.cosmos.aio import CosmosClient as AsyncCosmosClient
from azure.cosmos.exceptions import (
    CosmosAccessConditionFailedError,
    CosmosHttpResponseError,
    CosmosResourceExistsError,
    CosmosResourceNotFoundError,
)

from embedded_cosmos import Engine
from embedded_cosmos.messages import Request

KEY = ["alice", "t1"]


def item(item_id: str = "1", **values: Any) -> dict[str, Any]:
    return {"id": item_id, "user_id": "alice", "thread_id": "t1", **values}


def test_an_item_lives_from_create_to_delete(container: ContainerProxy) -> None:
    created = container.create_item(item(text="hello", nested={"list": [1, 2.5, None, True]}))
    assert {"_rid", "_self", "_etag", "_attachments", "_ts"} <= created.keys()
    assert container.read_item("1", KEY) == created
    replaced = container.replace_item("1", item(text="goodbye"))
    assert (replaced["text"], "nested" in replaced) == ("goodbye", False)
    assert replaced["_rid"] == created["_rid"]
    assert replaced["_etag"] != created["_etag"]
    container.delete_item("1", KEY)
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("1", KEY)
    with pytest.raises(CosmosResourceNotFoundError):
        container.delete_item("1", KEY)
    with pytest.raises(CosmosResourceNotFoundError):
        container.replace_item("1", item())


def test_upsert_creates_then_replaces(container: ContainerProxy) -> None:
    statuses: list[int] = []

    def note(response: Any) -> None:
        statuses.append(response.http_response.status_code)

    container.upsert_item(item(n=1), raw_response_hook=note)
    container.upsert_item(item(n=2), raw_response_hook=note)
    assert statuses == [201, 200]
    assert container.read_item("1", KEY)["n"] == 2


def test_an_id_is_taken_within_its_partition_only(container: ContainerProxy) -> None:
    container.create_item(item())
    with pytest.raises(CosmosResourceExistsError):
        container.create_item(item())
    container.create_item(item() | {"thread_id": "t2"})
    assert container.read_item("1", ["alice", "t2"])["thread_id"] == "t2"


def test_a_replace_may_give_an_item_a_new_id(container: ContainerProxy) -> None:
    created = container.create_item(item("old"))
    container.create_item(item("taken"))
    assert container.replace_item("old", item("new"))["_rid"] == created["_rid"]
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("old", KEY)
    with pytest.raises(CosmosResourceExistsError):
        container.replace_item("new", item("taken"))


@pytest.mark.req("S0-105")
def test_writes_go_through_only_if_the_item_is_unchanged(container: ContainerProxy) -> None:
    first = container.create_item(item(n=1))
    second = container.replace_item("1", item(n=2), etag=first["_etag"], match_condition=MatchConditions.IfNotModified)
    stale = {"etag": first["_etag"], "match_condition": MatchConditions.IfNotModified}
    with pytest.raises(CosmosAccessConditionFailedError):
        container.replace_item("1", item(n=3), **stale)
    with pytest.raises(CosmosAccessConditionFailedError):
        container.upsert_item(item(n=3), **stale)
    with pytest.raises(CosmosAccessConditionFailedError):
        container.patch_item("1", KEY, [{"op": "incr", "path": "/n", "value": 1}], **stale)
    with pytest.raises(CosmosAccessConditionFailedError):
        container.delete_item("1", KEY, **stale)
    assert container.read_item("1", KEY) == second
    # As in Azure, the condition of an upsert says nothing about an item that is not there.
    assert container.upsert_item(item("absent"), **stale)["id"] == "absent"


def test_a_read_of_a_known_version_answers_304(container: ContainerProxy) -> None:
    created = container.create_item(item())
    statuses: list[int] = []
    container.read_item(
        "1",
        KEY,
        etag=created["_etag"],
        match_condition=MatchConditions.IfModified,
        raw_response_hook=lambda response: statuses.append(response.http_response.status_code),
    )
    assert statuses == [304]


def test_items_are_found_by_self_link(container: ContainerProxy) -> None:
    created = container.create_item(item(n=1))
    assert container.read_item(created, KEY) == created
    container.delete_item(created, KEY)
    assert list(container.read_all_items()) == []


def test_the_systems_properties_are_the_systems(container: ContainerProxy) -> None:
    created = container.create_item(item(_ts=1, _etag="mine", _rid="mine", _lsn=7))
    assert created["_etag"] != "mine"
    assert created["_ts"] > 1
    assert "_lsn" not in created


@pytest.mark.parametrize("item_id", ["a/b", "a\\b", "a?b", "a#b", "", "é" * 512, 7, None])
def test_unusable_ids_are_refused(engine: Engine, container: ContainerProxy, item_id: Any) -> None:
    import orjson

    headers = {"x-ms-documentdb-partitionkey": '["alice","t1"]'}
    request = Request("POST", "/dbs/db/colls/items/docs/", headers, orjson.dumps(item() | {"id": item_id}))
    assert engine.handle(request).status == 400


@pytest.mark.parametrize("item_id", ["with space", "100%", "a+b", "ümläut", "日本", "a&b=c", "x" * 1023, "%2F"])
def test_odd_ids_are_found_again(container: ContainerProxy, item_id: str) -> None:
    container.create_item(item(item_id))
    assert container.read_item(item_id, KEY)["id"] == item_id


def test_a_key_that_is_not_the_documents_is_refused(engine: Engine, container: ContainerProxy) -> None:
    body = b'{"id":"1","user_id":"alice","thread_id":"t2"}'
    for header in ('["alice","t1"]', '["alice"]'):
        headers = {"x-ms-documentdb-partitionkey": header}
        response = engine.handle(Request("POST", "/dbs/db/colls/items/docs/", headers, body))
        assert (response.status, response.headers["x-ms-substatus"]) == (400, "1001")
    response = engine.handle(Request("POST", "/dbs/db/colls/items/docs/", {}, body))
    assert response.status == 400
    assert list(container.read_all_items()) == []


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"text"', b'{"id":"1","n":NaN}'])
def test_what_is_no_document_is_refused(engine: Engine, container: ContainerProxy, body: bytes) -> None:
    headers = {"x-ms-documentdb-partitionkey": '["alice","t1"]'}
    assert engine.handle(Request("POST", "/dbs/db/colls/items/docs/", headers, body)).status == 400


def test_an_item_over_two_megabytes_is_refused(container: ContainerProxy) -> None:
    container.create_item(item(text="x" * (2 * 1024 * 1024 - 1000)))
    with pytest.raises(CosmosHttpResponseError) as error:
        container.create_item(item("2", text="x" * (2 * 1024 * 1024)))
    assert error.value.status_code == 413


def test_items_without_a_key_have_one_place(database: DatabaseProxy) -> None:
    container = database.create_container("single", PartitionKey(path="/pk"))
    container.create_item({"id": "absent"})
    container.create_item({"id": "null", "pk": None})
    assert container.read_item("absent", {})["id"] == "absent"
    assert container.read_item("null", None)["id"] == "null"
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("absent", None)


def test_responses_carry_what_clients_rely_on(container: ContainerProxy) -> None:
    written = container.create_item(item(text="x" * 2048)).get_response_headers()
    assert float(written["x-ms-request-charge"]) > 10
    range_id = written["x-ms-documentdb-partitionkeyrangeid"]
    assert range_id in "012"
    assert (written["lsn"], written["x-ms-session-token"]) == ("1", f"{range_id}:-1#1")
    assert written["x-ms-alt-content-path"] == "dbs/db/colls/items"
    read = container.read_item("1", KEY)
    headers = read.get_response_headers()
    assert headers["etag"] == read["_etag"]
    assert 2 < float(headers["x-ms-request-charge"]) < 3
    assert headers["x-ms-activity-id"]


def test_the_body_is_left_out_when_not_wanted(container: ContainerProxy) -> None:
    response = container.create_item(item(), no_response=True)
    assert dict(response) == {}
    assert response.get_response_headers()["etag"]


def test_time_never_runs_backwards_within_a_container(container: ContainerProxy, clock: Any) -> None:
    first = container.create_item(item())["_ts"]
    clock.advance(-100)
    assert container.create_item(item("2"))["_ts"] == first
    clock.advance(200)
    assert container.create_item(item("3"))["_ts"] == first + 100


def test_many_items_are_read_at_once(container: ContainerProxy) -> None:
    for number in range(5):
        container.create_item(item(str(number)) | {"thread_id": f"t{number % 2}"})
    wanted = [("1", ["alice", "t1"]), ("4", ["alice", "t0"]), ("4", ["alice", "t1"])]
    assert [found["id"] for found in container.read_items(wanted)] == ["1", "4"]


@pytest.mark.req("S1-63")
def test_a_logical_partition_is_emptied_at_once(container: ContainerProxy) -> None:
    for thread in ("t1", "t2"):
        for number in range(3):
            container.create_item(item(str(number)) | {"thread_id": thread})
    container.delete_all_items_by_partition_key(KEY)
    assert {found["thread_id"] for found in container.read_all_items()} == {"t2"}
    with pytest.raises(CosmosHttpResponseError) as error:
        container.delete_all_items_by_partition_key(["alice"])
    assert error.value.status_code == 400


async def test_the_async_client_writes_and_reads_alike(
    async_client: AsyncCosmosClient, container: ContainerProxy
) -> None:
    proxy = async_client.get_database_client("db").get_container_client("items")
    created = await proxy.create_item(item(n=1))
    await proxy.patch_item("1", KEY, [{"op": "incr", "path": "/n", "value": 1}])
    with pytest.raises(CosmosAccessConditionFailedError):
        await proxy.replace_item("1", item(), etag=created["_etag"], match_condition=MatchConditions.IfNotModified)
    assert (await proxy.read_item("1", KEY))["n"] == 2
    await proxy.execute_item_batch([("upsert", (item("2"),)), ("delete", ("1",))], KEY)
    assert [found["id"] async for found in proxy.read_all_items()] == ["2"]
    assert container.read_item("2", KEY)["id"] == "2"
