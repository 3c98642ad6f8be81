from __future__ import annotations

from typing import Any

import pytest
from azure.cosmos import ContainerProxy, DatabaseProxy, PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError, CosmosResourceNotFoundError


def make(database: DatabaseProxy, default_ttl: int | None) -> ContainerProxy:
    return database.create_container("c", PartitionKey(path="/pk"), default_ttl=default_ttl)


def ids(container: ContainerProxy) -> list[str]:
    found = [row["id"] for row in container.query_items("SELECT c.id FROM c ORDER BY c.id", partition_key="p")]
    assert sorted(row["id"] for row in container.read_all_items()) == found
    return found


def test_items_vanish_when_their_time_is_over(database: DatabaseProxy, clock: Any) -> None:
    container = make(database, 10)
    for item_id, ttl in (("default", None), ("short", 5), ("long", 20), ("forever", -1)):
        container.create_item({"id": item_id, "pk": "p"} | ({} if ttl is None else {"ttl": ttl}))
    assert ids(container) == ["default", "forever", "long", "short"]
    clock.advance(5)
    assert ids(container) == ["default", "forever", "long"]
    clock.advance(5)
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("default", "p")
    assert ids(container) == ["forever", "long"]
    clock.advance(1000)
    assert ids(container) == ["forever"]


def test_a_write_starts_the_time_anew_and_an_expired_id_is_free(database: DatabaseProxy, clock: Any) -> None:
    container = make(database, 10)
    container.create_item({"id": "1", "pk": "p"})
    clock.advance(9)
    container.patch_item("1", "p", [{"op": "set", "path": "/n", "value": 1}])
    clock.advance(9)
    assert ids(container) == ["1"]
    clock.advance(1)
    container.create_item({"id": "1", "pk": "p"})
    assert ids(container) == ["1"]


def test_an_items_ttl_counts_only_while_the_container_has_one(database: DatabaseProxy, clock: Any) -> None:
    container = make(database, None)
    container.create_item({"id": "1", "pk": "p", "ttl": 5})
    container.create_item({"id": "2", "pk": "p"})
    clock.advance(6)
    assert ids(container) == ["1", "2"]
    database.replace_container("c", PartitionKey(path="/pk"), default_ttl=-1)
    assert ids(container) == ["2"]
    database.replace_container("c", PartitionKey(path="/pk"), default_ttl=6)
    assert ids(container) == []


@pytest.mark.parametrize("ttl", [0, -2, 1.5, "5", True, None, 2**31])
def test_unusable_ttls_are_refused(database: DatabaseProxy, ttl: Any) -> None:
    container = make(database, -1)
    with pytest.raises(CosmosHttpResponseError) as error:
        container.create_item({"id": "1", "pk": "p", "ttl": ttl})
    assert error.value.status_code == 400
