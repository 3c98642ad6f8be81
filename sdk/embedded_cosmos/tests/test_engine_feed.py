from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import ContainerProxy, DatabaseProxy, PartitionKey
from azure.cosmos.aio import CosmosClient as AsyncCosmosClient
from azure.cosmos.exceptions import CosmosHttpResponseError

from embedded_cosmos import Engine


def add(container: ContainerProxy, item_id: str, user: str = "alice", thread: str = "t1", **values: Any) -> None:
    container.upsert_item({"id": item_id, "user_id": user, "thread_id": thread, **values})


def read(container: ContainerProxy, **options: Any) -> tuple[list[str], str]:
    """The ids of the changes up to now, and the continuation after them."""
    ids = [change["id"] for change in container.query_items_change_feed(**options)]
    return ids, container.client_connection.last_response_headers["etag"]


def test_the_feed_has_each_change_once_and_in_order(container: ContainerProxy) -> None:
    for item_id in ("1", "2", "3"):
        add(container, item_id)
    ids, continuation = read(container, start_time="Beginning")
    assert ids == ["1", "2", "3"]
    assert read(container, continuation=continuation)[0] == []
    add(container, "1")
    add(container, "4")
    assert read(container, continuation=continuation)[0] == ["1", "4"]


def test_an_item_changed_twice_appears_once_at_its_latest(container: ContainerProxy) -> None:
    add(container, "1", n=1)
    add(container, "2", n=1)
    add(container, "1", n=2)
    changes = list(container.query_items_change_feed(start_time="Beginning"))
    assert [(change["id"], change["n"], change["_lsn"]) for change in changes] == [("2", 1, 2), ("1", 2, 3)]


def test_what_is_deleted_or_expired_does_not_appear(container: ContainerProxy, clock: Any) -> None:
    for item_id, ttl in (("stays", -1), ("expires", 10), ("deleted", -1)):
        add(container, item_id, ttl=ttl)
    container.delete_item("deleted", ["alice", "t1"])
    assert read(container, start_time="Beginning")[0] == ["stays", "expires"]
    clock.advance(10)
    assert read(container, start_time="Beginning")[0] == ["stays"]


def test_the_feed_starts_from_now_or_from_a_time(container: ContainerProxy, clock: Any) -> None:
    add(container, "old")
    ids, continuation = read(container, start_time="Now")
    assert ids == []
    clock.advance(60)
    noon = datetime.fromtimestamp(clock(), UTC)
    add(container, "new")
    assert read(container, continuation=continuation)[0] == ["new"]
    assert read(container, start_time=noon)[0] == ["new"]
    clock.advance(60)
    assert read(container, start_time=datetime.fromtimestamp(clock(), UTC))[0] == []


def test_the_feed_of_a_key_of_a_prefix_and_of_a_range(container: ContainerProxy) -> None:
    for user, thread in (("alice", "t1"), ("alice", "t2"), ("bob", "t1")):
        add(container, f"{user}-{thread}", user, thread)
    assert read(container, start_time="Beginning", partition_key=["alice", "t2"])[0] == ["alice-t2"]
    assert read(container, start_time="Beginning", partition_key=["alice"])[0] == ["alice-t1", "alice-t2"]
    bob = container.feed_range_from_partition_key(["bob"])
    ids, continuation = read(container, start_time="Beginning", feed_range=bob)
    assert ids == ["bob-t1"]
    add(container, "later", "alice", "t1")
    add(container, "later", "bob", "t9")
    assert read(container, continuation=continuation)[0] == ["later"]
    ranges = list(container.read_feed_ranges())
    changed = [read(container, start_time="Beginning", feed_range=each)[0] for each in ranges]
    assert sorted(item_id for ids in changed for item_id in ids) == ["alice-t1", "alice-t2", "bob-t1", "later", "later"]


def test_pages_are_small_but_never_part_a_transaction(container: ContainerProxy) -> None:
    add(container, "0")
    batch = [("create", ({"id": str(n), "user_id": "alice", "thread_id": "t1"},)) for n in range(1, 8)]
    container.execute_item_batch(batch, ["alice", "t1"])
    add(container, "8")
    pages = container.query_items_change_feed(start_time="Beginning", max_item_count=2).by_page()
    assert [[change["id"] for change in page] for page in pages if page] == [
        ["0", "1", "2", "3", "4", "5", "6", "7"],
        ["8"],
    ]


def test_a_continuation_outlives_the_engine(tmp_path: Path, connect: Any) -> None:
    path = tmp_path / "store.db"
    with Engine(path) as engine:
        container = connect(engine).create_database("db").create_container("c", PartitionKey(path="/user_id"))
        for number in range(3):
            add(container, str(number))
        container.delete_item("2", "alice")
        _, continuation = read(container, start_time="Beginning")
    with Engine(path) as engine:
        container = connect(engine).get_database_client("db").get_container_client("c")
        assert read(container, continuation=continuation)[0] == []
        add(container, "3")
        assert read(container, continuation=continuation)[0] == ["3"]


def test_only_the_latest_version_mode_is_covered(container: ContainerProxy) -> None:
    with pytest.raises(CosmosHttpResponseError) as error:
        list(container.query_items_change_feed(mode="AllVersionsAndDeletes"))
    assert error.value.status_code == 400
    assert "not supported" in error.value.http_error_message


async def test_the_async_client_reads_the_feed(async_client: AsyncCosmosClient, container: ContainerProxy) -> None:
    add(container, "1")
    proxy = async_client.get_database_client("db").get_container_client("items")
    feed = proxy.query_items_change_feed(start_time="Beginning", partition_key=["alice", "t1"])
    assert [change["id"] async for change in feed] == ["1"]


def test_the_read_feed_pages_through_everything_while_it_changes(database: DatabaseProxy) -> None:
    container = database.create_container("paged", PartitionKey(path="/user_id"))
    for number in range(10):
        add(container, f"{number:02}", user=f"u{number % 3}")
    pages = container.read_all_items(max_item_count=4).by_page()
    seen = [found["id"] for found in next(pages)]
    for item_id in seen:
        container.delete_item(item_id, f"u{int(item_id) % 3}")
    for page in pages:
        seen += [found["id"] for found in page]
    assert sorted(seen) == [f"{number:02}" for number in range(10)]
