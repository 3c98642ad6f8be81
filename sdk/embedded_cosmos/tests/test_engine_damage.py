"""Damaged documents, documents nested too deep, and disks that are full."""

from __future__ import annotations

import json
import logging
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import ContainerProxy, PartitionKey
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError

from embedded_cosmos import CosmosError, Engine
from embedded_cosmos.bodies import MAX_NESTING, nesting


def fill(engine: Engine, connect: Any) -> ContainerProxy:
    container = connect(engine).create_database("db").create_container("c", PartitionKey(path="/pk"))
    for name in ("first", "hurt", "last"):
        container.create_item({"id": name, "pk": "p", "text": "said"})
    return container


def damage(path: Path, body: bytes) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE items SET body = ? WHERE id = 'hurt'", (body,))
    connection.close()


def reopened(engine: Engine, connect: Any) -> ContainerProxy:
    return connect(engine).get_database_client("db").get_container_client("c")


BODIES = {"cut": b'{"id":"hurt","pk":"p","te', "no text": b"\xff\xfe\x00", "no object": b"[1]", "nothing": b""}


@pytest.mark.parametrize("body", list(BODIES.values()), ids=list(BODIES))
def test_a_damaged_document_is_named_and_hides_no_other(tmp_path: Path, connect: Any, caplog: Any, body: bytes) -> None:
    path = tmp_path / "store.db"
    with Engine(path) as engine:
        fill(engine, connect)
    damage(path, body)
    with Engine(path) as engine, caplog.at_level(logging.ERROR):
        container = reopened(engine, connect)
        for attempt in (
            lambda: container.read_item("hurt", "p"),
            lambda: container.patch_item("hurt", "p", [{"op": "set", "path": "/x", "value": 1}]),
        ):
            with pytest.raises(CosmosHttpResponseError, match="'hurt' is damaged in the store file") as error:
                attempt()
            assert error.value.status_code == 500
        with pytest.raises(CosmosBatchOperationError) as failed:
            container.execute_item_batch([("read", ("hurt",))], "p")
        assert "'hurt' is damaged" in failed.value.operation_responses[0]["message"]
        assert container.read_item("last", "p")["text"] == "said"
        assert [item["id"] for item in container.query_items("SELECT * FROM c", partition_key="p")] == ["first", "last"]
        assert [item["id"] for item in container.read_all_items()] == ["first", "last"]
        by_id = "SELECT * FROM c WHERE c.id = @id"
        for name in ("hurt", "last"):
            asked = container.query_items(by_id, parameters=[{"name": "@id", "value": name}], partition_key="p")
            if name == "hurt":
                with pytest.raises(CosmosHttpResponseError, match="'hurt' is damaged"):
                    list(asked)
            else:
                assert len(list(asked)) == 1
        changes = container.query_items_change_feed(start_time="Beginning")
        assert [item["id"] for item in changes] == ["first", "last"]
        assert "'hurt' is damaged" in caplog.text
        container.upsert_item({"id": "hurt", "pk": "p", "text": "healed"})
        assert container.read_item("hurt", "p")["text"] == "healed"
        healed = container.query_items(by_id, parameters=[{"name": "@id", "value": "hurt"}], partition_key="p")
        assert [item["text"] for item in healed] == ["healed"]
        container.delete_item("hurt", "p")


def test_a_damaged_definition_is_reported_at_opening(tmp_path: Path, connect: Any) -> None:
    path = tmp_path / "store.db"
    with Engine(path) as engine:
        fill(engine, connect)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE containers SET definition = '{'")
    connection.close()
    for _ in range(2):
        with pytest.raises(CosmosError, match="is damaged: the definition of a container"):
            Engine(path)


def nested(levels: int) -> Any:
    value: Any = "innermost"
    for level in range(levels):
        value = [value] if level % 2 else {"x": value}
    return value


@pytest.mark.parametrize("levels", [129, 250, 300, 900, 1100])
def test_documents_nested_too_deep_are_refused(container: ContainerProxy, levels: int) -> None:
    document = {"id": "1", "user_id": "u", "thread_id": "t", "deep": nested(levels)}
    for write in (container.create_item, container.upsert_item):
        with pytest.raises(CosmosHttpResponseError) as error:
            write(document)
        assert error.value.status_code == 400
    with pytest.raises((CosmosBatchOperationError, CosmosHttpResponseError)) as failed:
        container.execute_item_batch([("create", (document,))], ["u", "t"])
    assert failed.value.status_code == 400


def test_documents_may_be_nested_128_levels_deep(container: ContainerProxy) -> None:
    document = {"id": "1", "user_id": "u", "thread_id": "t", "deep": nested(MAX_NESTING)}
    container.create_item(document)
    assert container.read_item("1", ["u", "t"])["deep"] == document["deep"]
    with pytest.raises(CosmosHttpResponseError, match="nested deeper than 128 levels"):
        container.patch_item("1", ["u", "t"], [{"op": "set", "path": "/new", "value": nested(MAX_NESTING + 1)}])
    flat = {"id": "2", "user_id": "u", "thread_id": "t", "text": "[{" * 500, "rows": [{} for _ in range(500)]}
    assert container.create_item(flat)["text"] == flat["text"]


def test_nesting_is_counted_without_recursion() -> None:
    assert [nesting(value) for value in (1, {}, {"a": 1}, {"a": {}}, [[], [[1]]])] == [0, 0, 0, 1, 2]
    assert nesting(json.loads("[" * 900 + "]" * 900)) == 899
    assert nesting(nested(100_000)) == 99_999


def test_a_full_disk_stops_writes_alone_and_for_as_long_as_it_is_full(tmp_path: Path, connect: Any, clock: Any) -> None:
    with Engine(tmp_path / "store.db", clock=clock) as engine:
        database = connect(engine).create_database("db")
        container = database.create_container("c", PartitionKey(path="/pk"), default_ttl=-1)
        container.create_item({"id": "1", "pk": "p", "text": "said"})
        container.create_item({"id": "short", "pk": "p", "ttl": 10})
        (pages,) = engine._storage.execute("PRAGMA page_count").fetchone()
        engine._storage.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(CosmosHttpResponseError, match="disk of the store file is full") as error:
            container.create_item({"id": "2", "pk": "p", "text": "x" * 50_000})
        assert error.value.status_code == 500
        assert container.read_item("1", "p")["text"] == "said"
        assert [item["id"] for item in container.query_items("SELECT c.id FROM c", partition_key="p")] == ["1", "short"]
        engine._storage.execute("PRAGMA max_page_count = 1000000")
        container.create_item({"id": "2", "pk": "p", "text": "x" * 50_000})


def test_reads_continue_where_expired_documents_cannot_be_deleted(tmp_path: Path, connect: Any, clock: Any) -> None:
    with Engine(tmp_path / "store.db", clock=clock) as engine:
        database = connect(engine).create_database("db")
        container = database.create_container("c", PartitionKey(path="/pk"), default_ttl=-1)
        container.create_item({"id": "1", "pk": "p", "text": "said"})
        container.create_item({"id": "short", "pk": "p", "ttl": 10})
        engine._storage.execute("PRAGMA query_only = ON")
        clock.advance(11)
        assert container.read_item("1", "p")["text"] == "said"
        engine._storage.execute("PRAGMA query_only = OFF")
        assert [item["id"] for item in container.read_all_items()] == ["1"]
