"""Queries that could be answered here and are refused, because Azure refuses them."""

from __future__ import annotations

from typing import Any

import pytest
from query_world import CROSS_PARTITION, World

from embedded_cosmos.errors import CosmosError

POLICIES: dict[str, Any] = {
    "vectorEmbeddingPolicy": {
        "vectorEmbeddings": [{"path": "/v", "dataType": "float32", "dimensions": 1, "distanceFunction": "cosine"}]
    },
    "fullTextPolicy": {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/text"}]},
    "indexingPolicy": {
        "includedPaths": [{"path": "/*"}, {"path": "/big/title/?"}],
        "excludedPaths": [{"path": "/big/*"}, {"path": "/secret/?"}, {"path": '/"_etag"/?'}],
        "compositeIndexes": [
            [{"path": "/a"}, {"path": "/b", "order": "descending"}],
            [{"path": "/a"}, {"path": "/b"}, {"path": "/n/c"}],
        ],
    },
}


@pytest.fixture
def world() -> World:
    return World(
        [{"id": "1", "v": [1], "text": "word", "a": 1, "b": 1, "big": {"title": "t", "body": "b"}}], **POLICIES
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT * FROM c ORDER BY VectorDistance(c.v, [1])", "needs TOP or OFFSET LIMIT"),
        ("SELECT * FROM c ORDER BY RANK FullTextScore(c.text, 'x')", "needs TOP or OFFSET LIMIT"),
        (
            "SELECT TOP 1 * FROM c ORDER BY VectorDistance(c.v, [1]) ASC",
            r"sorting order \(ASC or DESC\) with VectorDistance",
        ),
        (
            "SELECT TOP 1 * FROM c ORDER BY RANK FullTextScore(c.text, 'x') DESC",
            r"\(ASC or DESC\) in the ORDER BY RANK",
        ),
        ("SELECT TOP 1 * FROM c ORDER BY FullTextScore(c.text, 'x')", "need the RANK keyword"),
        ("SELECT TOP 1 * FROM c ORDER BY RANK c.a", "ORDER BY RANK takes one of"),
        ("SELECT TOP 1 * FROM c ORDER BY c.a, VectorDistance(c.v, [1])", "the only item of ORDER BY"),
        ("SELECT TOP 1 * FROM c ORDER BY 1 - VectorDistance(c.v, [1])", "the only item of ORDER BY"),
        ("SELECT TOP 1 COUNT(1) FROM c ORDER BY VectorDistance(c.v, [1])", "aggregates or GROUP BY"),
        ("SELECT TOP 1 c.id FROM c JOIN t IN c.tags ORDER BY VectorDistance(c.v, [1])", "combined with JOIN"),
        ("SELECT * FROM c ORDER BY c.a, c.b", "does not have a corresponding composite index"),
        ("SELECT * FROM c ORDER BY c.b DESC, c.a", "does not have a corresponding composite index"),
        ("SELECT * FROM c ORDER BY c.a, c.b, c.n.c DESC", "does not have a corresponding composite index"),
        ("SELECT * FROM c ORDER BY c.secret", "order-by item is excluded: include /secret"),
        ("SELECT * FROM c ORDER BY c.big.body", "order-by item is excluded"),
        ("SELECT * FROM c ORDER BY c._etag", "order-by item is excluded"),
        ("SELECT * FROM c ORDER BY LOWER(c.a)", "could not be mapped to a document path"),
        ("SELECT * FROM c ORDER BY c", "could not be mapped to a document path"),
        ("SELECT VALUE t FROM c JOIN t IN c.tags ORDER BY t.x", "correlated collections"),
    ],
)
def test_what_azure_refuses_is_refused(world: World, text: str, reason: str) -> None:
    with pytest.raises(CosmosError, match=reason) as caught:
        world.query(text)
    assert caught.value.status == 400


@pytest.mark.parametrize(
    "text",
    [
        "SELECT TOP 1 * FROM c ORDER BY VectorDistance(c.v, [1])",
        "SELECT * FROM c ORDER BY RANK VectorDistance(c.v, [1]) OFFSET 0 LIMIT 1",
        "SELECT * FROM c ORDER BY c.a, c.b DESC",
        "SELECT * FROM c ORDER BY c.a DESC, c.b ASC",
        "SELECT * FROM c ORDER BY c.a DESC, c.b DESC, c.n.c DESC",
        "SELECT * FROM c ORDER BY c.big.title",
        "SELECT * FROM c ORDER BY c.any.thing",
        "SELECT * FROM c ORDER BY c['id']",
    ],
)
def test_what_the_index_serves_is_answered(world: World, text: str) -> None:
    assert [row["id"] for row in world.query(text)] == ["1"]


@pytest.mark.req("S1-40")
def test_sorting_by_a_path_outside_the_index_fails() -> None:
    policy = {"includedPaths": [{"path": "/type/?"}, {"path": "/created_at/?"}], "excludedPaths": [{"path": "/*"}]}
    world = World([{"id": "1", "created_at": "2026"}], indexingPolicy=policy)
    assert len(world.query("SELECT * FROM c ORDER BY c.created_at")) == 1
    assert len(world.query("SELECT * FROM c ORDER BY c._ts")) == 1
    without = {"includedPaths": [{"path": "/type/?"}], "excludedPaths": [{"path": "/*"}]}
    with pytest.raises(CosmosError, match="order-by item is excluded"):
        World(indexingPolicy=without).query("SELECT * FROM c ORDER BY c.created_at")


def test_nothing_can_be_sorted_without_an_index() -> None:
    with pytest.raises(CosmosError, match="order-by item is excluded"):
        World(indexingPolicy={"indexingMode": "none"}).query("SELECT * FROM c ORDER BY c.a")


def test_partitions_are_not_merged_for_groups_and_lists_of_aggregates(world: World) -> None:
    for text in ("SELECT COUNT(1) FROM c", "SELECT COUNT(1) + 5 FROM c", "SELECT MAX(c.a) AS m FROM c"):
        with pytest.raises(CosmosError, match="only supports 'VALUE <AggregateFunc>'"):
            world.query(text, CROSS_PARTITION)
    with pytest.raises(CosmosError, match="GROUP BY"):
        world.query("SELECT c.a FROM c GROUP BY c.a", CROSS_PARTITION)
    assert world.query("SELECT VALUE COUNT(1) FROM c", CROSS_PARTITION) == [1]


def test_an_aggregate_without_a_value_is_null_over_partitions(world: World) -> None:
    assert world.query("SELECT VALUE MAX(c.nothing) FROM c", CROSS_PARTITION) == [None]
    assert world.query("SELECT VALUE MAX(c.nothing) FROM c") == []
    assert world.query("SELECT VALUE c.nothing FROM c", CROSS_PARTITION) == []
