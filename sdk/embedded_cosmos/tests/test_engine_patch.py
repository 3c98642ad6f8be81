from __future__ import annotations

from typing import Any

import pytest
from azure.cosmos import ContainerProxy
from azure.cosmos.exceptions import (
    CosmosAccessConditionFailedError,
    CosmosHttpResponseError,
    CosmosResourceNotFoundError,
)

from embedded_cosmos.errors import CosmosError
from embedded_cosmos.patch import apply_patch

KEY = ["alice", "t1"]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/color", "value": "red"}, {"color": "red"}),
        ({"op": "add", "path": "/n", "value": None}, {"n": None}),
        ({"op": "add", "path": "/list/1", "value": "x"}, {"list": [1, "x", 2]}),
        ({"op": "add", "path": "/list/2", "value": 3}, {"list": [1, 2, 3]}),
        ({"op": "add", "path": "/list/-", "value": 3}, {"list": [1, 2, 3]}),
        ({"op": "add", "path": "/deep/new", "value": {"a": 1}}, {"deep": {"x": 1, "new": {"a": 1}}}),
        ({"op": "set", "path": "/list/0", "value": 9}, {"list": [9, 2]}),
        ({"op": "set", "path": "/list/2", "value": 3}, {"list": [1, 2, 3]}),
        ({"op": "set", "path": "/n", "value": "text"}, {"n": "text"}),
        ({"op": "replace", "path": "/deep/x", "value": 2}, {"deep": {"x": 2}}),
        ({"op": "replace", "path": "/list/1", "value": 7}, {"list": [1, 7]}),
        ({"op": "remove", "path": "/list/0"}, {"list": [2]}),
        ({"op": "incr", "path": "/n", "value": 2}, {"n": 5}),
        ({"op": "incr", "path": "/n", "value": -0.5}, {"n": 2.5}),
        ({"op": "incr", "path": "/absent", "value": 4}, {"absent": 4}),
        ({"op": "incr", "path": "/list/1", "value": 1}, {"list": [1, 3]}),
        ({"op": "move", "from": "/n", "path": "/deep/n"}, {"deep": {"x": 1, "n": 3}}),
        ({"op": "move", "from": "/list/0", "path": "/list/1"}, {"list": [2, 1]}),
        ({"op": "Add", "path": "/a~1b~0c", "value": 1}, {"a/b~c": 1}),
    ],
)
def test_operations_do_what_azure_documents(operation: dict[str, Any], expected: dict[str, Any]) -> None:
    document = {"id": "1", "n": 3, "list": [1, 2], "deep": {"x": 1}}
    apply_patch(document, [operation])
    assert {name: document[name] for name in expected} == expected


@pytest.mark.parametrize(
    "operations",
    [
        [],
        None,
        ["add"],
        [{"op": "test", "path": "/n", "value": 1}],
        [{"op": "add", "path": "/n"}],
        [{"op": "add", "path": "n", "value": 1}],
        [{"op": "add", "path": "/", "value": 1}],
        [{"op": "add", "path": "/absent/x", "value": 1}],
        [{"op": "add", "path": "/n/x", "value": 1}],
        [{"op": "add", "path": "/list/4", "value": 1}],
        [{"op": "replace", "path": "/absent", "value": 1}],
        [{"op": "remove", "path": "/absent"}],
        [{"op": "remove", "path": "/list/2"}],
        [{"op": "incr", "path": "/text", "value": 1}],
        [{"op": "incr", "path": "/n", "value": "1"}],
        [{"op": "move", "from": "/absent", "path": "/n"}],
        [{"op": "move", "from": "/deep", "path": "/deep/x"}],
        [{"op": "set", "path": "/_ts", "value": 1}],
        [{"op": "incr", "path": "/n", "value": 1}] * 11,
    ],
)
def test_what_cannot_be_done_is_refused(operations: Any) -> None:
    with pytest.raises(CosmosError) as error:
        apply_patch({"n": 3, "text": "x", "list": [1, 2], "deep": {"x": 1}}, operations)
    assert error.value.status == 400


@pytest.fixture
def item(container: ContainerProxy) -> dict[str, Any]:
    return container.create_item({"id": "1", "user_id": "alice", "thread_id": "t1", "n": 3, "state": "open"})


def test_a_patch_changes_what_it_names_and_no_more(container: ContainerProxy, item: dict[str, Any]) -> None:
    operations = [{"op": "incr", "path": "/n", "value": 7}, {"op": "add", "path": "/color", "value": "red"}]
    patched = container.patch_item("1", KEY, operations)
    assert (patched["n"], patched["color"], patched["state"]) == (10, "red", "open")
    assert patched["_etag"] != item["_etag"]
    assert container.read_item("1", KEY) == patched


def test_a_patch_is_all_or_nothing(container: ContainerProxy, item: dict[str, Any]) -> None:
    operations = [{"op": "incr", "path": "/n", "value": 7}, {"op": "remove", "path": "/absent"}]
    with pytest.raises(CosmosHttpResponseError) as error:
        container.patch_item("1", KEY, operations)
    assert error.value.status_code == 400
    assert "Operation(2)" in error.value.http_error_message
    assert container.read_item("1", KEY) == item


def test_a_patch_applies_only_where_its_condition_holds(container: ContainerProxy, item: dict[str, Any]) -> None:
    close = [{"op": "set", "path": "/state", "value": "closed"}]
    container.patch_item("1", KEY, close, filter_predicate="from c where c.state = 'open' and c.n = 3")
    with pytest.raises(CosmosAccessConditionFailedError):
        container.patch_item("1", KEY, close, filter_predicate="from c where c.state = 'open'")


@pytest.mark.parametrize("path", ["/id", "/user_id", "/thread_id"])
def test_a_patch_leaves_id_and_key_alone(container: ContainerProxy, item: dict[str, Any], path: str) -> None:
    with pytest.raises(CosmosHttpResponseError) as error:
        container.patch_item("1", KEY, [{"op": "set", "path": path, "value": "other"}])
    assert error.value.status_code == 400
    assert container.read_item("1", KEY) == item


def test_a_patch_needs_an_item(container: ContainerProxy) -> None:
    with pytest.raises(CosmosResourceNotFoundError):
        container.patch_item("absent", KEY, [{"op": "set", "path": "/n", "value": 1}])


def test_the_target_of_a_move_is_found_after_the_source_is_removed() -> None:
    document: dict[str, Any] = {"rows": [{"n": 1}, {"n": 2}, {"n": 3}]}
    apply_patch(document, [{"op": "move", "from": "/rows/0", "path": "/rows/1/moved"}])
    assert document == {"rows": [{"n": 2}, {"n": 3, "moved": {"n": 1}}]}
