from __future__ import annotations

from typing import Any

import pytest
from azure.cosmos import DatabaseProxy, PartitionKey
from azure.cosmos.exceptions import CosmosResourceExistsError
from azure.cosmos.partition_key import NonePartitionKeyValue
from hypothesis import HealthCheck, example, given, settings, strategies as st

from embedded_cosmos.errors import CosmosError
from embedded_cosmos.partition import UNDEFINED, key_of, make_key, parse_key

COMPONENTS = st.one_of(
    st.text(max_size=60), st.integers(-(2**53), 2**53), st.floats(allow_nan=False), st.booleans(), st.none()
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(COMPONENTS, min_size=1, max_size=3))
def test_effective_keys_are_those_of_the_sdk(database: DatabaseProxy, values: list[object]) -> None:
    paths = ["/a", "/b", "/c"][: len(values)]
    container = database.create_container_if_not_exists(
        f"keys{len(values)}", PartitionKey(path=paths, kind="MultiHash")
    )
    expected = container.feed_range_from_partition_key(values)["Range"]["min"]
    assert make_key(values, len(values)).epk == expected


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.one_of(st.text(max_size=200), st.floats(allow_nan=False), st.integers(0, 2**32 - 1), st.booleans()))
@example("")
@example("x" * 100)
@example("x" * 101)
@example("ü" * 60)
@example("ü" * 120)
@example(0)
@example(-0.0)
def test_effective_keys_of_version_1_are_those_of_the_sdk(database: DatabaseProxy, value: Any) -> None:
    container = database.create_container_if_not_exists("v1", PartitionKey(path="/a", kind="Hash", version=1))
    expected = container.feed_range_from_partition_key(value)["Range"]["min"]
    assert make_key([value], 1, version=1).epk == expected


def test_items_under_keys_of_version_1(database: DatabaseProxy) -> None:
    container = database.create_container("v1", PartitionKey(path="/pk", kind="Hash", version=1))
    keys = ["alice", "alice2", "", 7, 7.5, True, None]
    for number, key in enumerate(keys):
        container.create_item({"id": str(number), "pk": key})
    assert container.read()["partitionKey"]["version"] == 1
    assert [container.read_item("3", 7)["pk"], container.read_item("5", True)["pk"]] == [7, True]
    for number, key in enumerate(keys):
        found = container.query_items(
            "SELECT VALUE c.id FROM c", feed_range=container.feed_range_from_partition_key(key)
        )
        assert list(found) == [str(number)]
    everything = container.query_items("SELECT VALUE c.id FROM c ORDER BY c.id", enable_cross_partition_query=True)
    assert list(everything) == [str(number) for number in range(len(keys))]
    container.create_item({"id": "long", "pk": "x" * 100 + "1"})
    # To version 1 these two are one key; Azure answers the same.
    with pytest.raises(CosmosResourceExistsError):
        container.create_item({"id": "long", "pk": "x" * 100 + "2"})


def test_an_absent_component_is_not_null(database: DatabaseProxy) -> None:
    container = database.create_container("one", PartitionKey(path="/pk"))
    expected = container.feed_range_from_partition_key(NonePartitionKeyValue)["Range"]["min"]
    assert make_key([UNDEFINED], 1).epk == expected != make_key([None], 1).epk


def test_a_prefix_covers_exactly_the_keys_under_it() -> None:
    prefix = parse_key('["alice"]', 2)
    assert not prefix.is_full
    assert prefix.range.min <= parse_key('["alice","t1"]', 2).epk < prefix.range.max
    assert not prefix.range.min <= parse_key('["bob","t1"]', 2).epk < prefix.range.max


def test_equal_values_of_other_types_are_other_keys() -> None:
    assert len({make_key([value], 1).epk for value in (1, True, "1")}) == 3
    assert make_key([1], 1).epk == make_key([1.0], 1).epk


def test_keys_are_read_from_nested_paths() -> None:
    segments = (("who", "id"), ("thread",))
    assert key_of({"who": {"id": "alice"}}, segments).epk == make_key(["alice", UNDEFINED], 2).epk
    assert key_of({"who": {"id": "alice"}, "thread": ["t"]}, segments).epk == make_key(["alice", UNDEFINED], 2).epk


@pytest.mark.parametrize("header", ["alice", "[]", '["a","b","c"]', '[{"a":1}]', "{}", f'["{"x" * 2049}"]'])
def test_unusable_keys_are_refused(header: str) -> None:
    with pytest.raises(CosmosError) as error:
        parse_key(header, 2)
    assert error.value.status == 400
