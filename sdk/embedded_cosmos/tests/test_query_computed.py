"""Computed properties: queries use them like stored ones."""

from __future__ import annotations

import pytest
from query_world import World

from embedded_cosmos.errors import CosmosError
from embedded_cosmos.properties import ContainerProperties
from embedded_cosmos.query.computed import check_computed_properties

COMPUTED = [
    {"name": "lower", "query": "SELECT VALUE LOWER(item.name) FROM item"},
    {"name": "total", "query": "SELECT VALUE c.price * c.count FROM c"},
    {"name": "parts", "query": "SELECT VALUE {a: c.price, b: c.tags} FROM c"},
]
DOCUMENTS = [
    {"id": "1", "name": "Lamp", "price": 10, "count": 2, "tags": ["home"]},
    {"id": "2", "name": "LAMP", "price": 5, "count": 3, "tags": []},
    {"id": "3", "name": "Desk", "price": 100, "count": 1, "lower": "stored"},
]


@pytest.fixture
def world() -> World:
    return World(DOCUMENTS, computedProperties=COMPUTED)


def test_filters_columns_and_groups_use_them(world: World) -> None:
    assert world.query("SELECT VALUE x.id FROM x WHERE x.lower = 'lamp' AND x.total > 15") == ["1"]
    assert world.query("SELECT c.id, c.total, c.parts.a FROM c WHERE c.total < 100") == [
        {"id": "1", "total": 20, "a": 10},
        {"id": "2", "total": 15, "a": 5},
    ]
    assert world.query("SELECT c.lower, COUNT(1) AS n FROM c GROUP BY c.lower") == [
        {"lower": "lamp", "n": 2},
        {"lower": "desk", "n": 1},
    ]
    assert world.query("SELECT VALUE SUM(c.total) FROM c") == [135]
    assert world.query("SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE c.total = 20)") == [
        "1"
    ]


def test_they_are_not_part_of_the_item(world: World) -> None:
    (row,) = world.query("SELECT * FROM c WHERE c.lower = 'desk'")
    assert row["lower"] == "stored"
    assert "total" not in row
    assert world.query("SELECT VALUE c.unknown FROM c") == []


def test_they_are_no_order(world: World) -> None:
    with pytest.raises(CosmosError, match="stored properties only"):
        world.query("SELECT * FROM c ORDER BY c.total")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT c.a FROM c",
        "SELECT * FROM c",
        "SELECT VALUE c.a FROM c WHERE c.b",
        "SELECT VALUE t FROM c JOIN t IN c.tags",
        "SELECT VALUE 1",
        "SELECT TOP 1 VALUE c.a FROM c",
        "SELECT VALUE c.a FROM",
    ],
)
def test_what_is_no_expression_over_an_item_is_refused(query: str) -> None:
    properties = ContainerProperties.from_json(
        {"id": "c", "partitionKey": {"paths": ["/id"]}, "computedProperties": [{"name": "n", "query": query}]}
    )
    with pytest.raises(CosmosError, match="The computed property 'n' is invalid"):
        check_computed_properties(properties.computed_properties)
