"""Query plans: what they say, and the queries that they send to each partition."""

from __future__ import annotations

from typing import Any

import pytest
from query_world import World

from embedded_cosmos.errors import CosmosError
from embedded_cosmos.partition import make_key
from embedded_cosmos.properties import ContainerProperties
from embedded_cosmos.query.plan import needs_merging, plan
from embedded_cosmos.sql.parser import parse

PROPERTIES = ContainerProperties.from_json(
    {
        "id": "c",
        "partitionKey": {"paths": ["/user", "/thread"], "kind": "MultiHash"},
        "vectorEmbeddingPolicy": {
            "vectorEmbeddings": [
                {"path": "/near", "dataType": "float32", "dimensions": 2, "distanceFunction": "cosine"},
                {"path": "/far", "dataType": "float32", "dimensions": 2, "distanceFunction": "euclidean"},
            ]
        },
        "fullTextPolicy": {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/text"}]},
    }
)
FILTER = "({documentdb-formattableorderbyquery-filter})"


def planned(text: str, **parameters: Any) -> dict[str, Any]:
    return plan(text, [{"name": f"@{name}", "value": value} for name, value in parameters.items()], PROPERTIES)


def info(text: str, **parameters: Any) -> dict[str, Any]:
    """What the client has to do, and nothing of what it has not."""
    return {
        name: value for name, value in planned(text, **parameters)["queryInfo"].items() if value not in (None, [], {})
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT * FROM c WHERE c.a = 1", {"rewrittenQuery": ""}),
        ("SELECT TOP 5 * FROM c", {"top": 5, "rewrittenQuery": ""}),
        (
            "SELECT c.a FROM c WHERE c.b OFFSET 2 LIMIT 3",
            {"offset": 2, "limit": 3, "rewrittenQuery": "SELECT c.a\nFROM c\nWHERE c.b\nOFFSET 0 LIMIT 5"},
        ),
        ("SELECT DISTINCT c.a FROM c", {"distinctType": "Unordered", "rewrittenQuery": ""}),
        (
            "SELECT DISTINCT TOP 4 VALUE c.a FROM c",
            {"distinctType": "Unordered", "top": 4, "rewrittenQuery": "SELECT DISTINCT VALUE c.a\nFROM c"},
        ),
        (
            "SELECT TOP 2 r.a, r[0] FROM root r WHERE r.b > 1 ORDER BY r.a DESC",
            {
                "top": 2,
                "orderBy": ["Descending"],
                "orderByExpressions": ["r.a"],
                "rewrittenQuery": 'SELECT TOP 2 r._rid, [{"item": r.a}] AS orderByItems,'
                ' {"a": r.a, "$1": r[0]} AS payload\n'
                f"FROM root AS r\nWHERE ((r.b > 1) AND {FILTER})\nORDER BY r.a DESC",
            },
        ),
        (
            "SELECT * FROM c ORDER BY c.a, c.b DESC OFFSET 1 LIMIT 2",
            {
                "offset": 1,
                "limit": 2,
                "orderBy": ["Ascending", "Descending"],
                "orderByExpressions": ["c.a", "c.b"],
                "rewrittenQuery": 'SELECT c._rid, [{"item": c.a}, {"item": c.b}] AS orderByItems, c AS payload\n'
                f"FROM c\nWHERE {FILTER}\nORDER BY c.a, c.b DESC\nOFFSET 0 LIMIT 3",
            },
        ),
        (
            "SELECT DISTINCT VALUE c.a FROM c ORDER BY c.a",
            {
                "distinctType": "Ordered",
                "orderBy": ["Ascending"],
                "orderByExpressions": ["c.a"],
                "rewrittenQuery": 'SELECT c._rid, [{"item": c.a}] AS orderByItems, c.a AS payload\n'
                f"FROM c\nWHERE ({FILTER} AND IS_DEFINED(c.a))\nORDER BY c.a",
            },
        ),
        (
            "SELECT TOP 3 VALUE AVG(c.a) FROM c WHERE c.b",
            {
                "top": 3,
                "aggregates": ["Average"],
                "rewrittenQuery": 'SELECT VALUE [{"item": {"sum": SUM(c.a), "count": COUNT(c.a)}}]\nFROM c\nWHERE c.b',
            },
        ),
        (
            "SELECT VALUE MAX(c.a) FROM c",
            {
                "aggregates": ["Max"],
                "rewrittenQuery": 'SELECT VALUE [{"item": MAX(c.a), "item2": {"max": MAX(c.a), "count": COUNT(c.a)}}]\n'
                "FROM c",
            },
        ),
        (
            "SELECT c.a, COUNT(1) AS n FROM c GROUP BY c.a",
            {
                "groupByExpressions": ["c.a"],
                "groupByAliases": ["a", "n"],
                "groupByAliasToAggregateType": {"a": None, "n": "Count"},
                "rewrittenQuery": 'SELECT [{"item": c.a}] AS groupByItems,'
                ' {"a": c.a, "n": {"item": COUNT(1)}} AS payload\n'
                "FROM c\nGROUP BY c.a",
            },
        ),
        (
            "SELECT VALUE SUM(c.n) FROM c GROUP BY c.a",
            {
                "groupByExpressions": ["c.a"],
                "aggregates": ["Sum"],
                "rewrittenQuery": 'SELECT [{"item": c.a}] AS groupByItems, [{"item": SUM(c.n)}] AS payload'
                "\nFROM c\nGROUP BY c.a",
            },
        ),
        (
            "SELECT SUM(c.n), MIN(c.n) AS least FROM c",
            {
                "groupByAliases": ["$1", "least"],
                "groupByAliasToAggregateType": {"$1": "Sum", "least": "Min"},
                "rewrittenQuery": 'SELECT {"$1": {"item": SUM(c.n)}, "least": {"item": MIN(c.n), "item2":'
                ' {"min": MIN(c.n), "count": COUNT(c.n)}}} AS payload\nFROM c',
            },
        ),
    ],
)
def test_plans_say_what_to_send_and_how_to_merge(text: str, expected: dict[str, Any]) -> None:
    found = info(text)
    is_value = " VALUE " in text
    defaults = {"distinctType": "None", "hasSelectValue": is_value, "hasNonStreamingOrderBy": False}
    assert found == defaults | expected
    parse(found["rewrittenQuery"].replace(FILTER, "true") or text)


@pytest.mark.parametrize(("path", "order"), [("near", "Descending"), ("far", "Ascending")])
def test_distances_are_sorted_by_what_their_function_means(path: str, order: str) -> None:
    found = info(f"SELECT TOP @n c.id FROM c ORDER BY VectorDistance(c.{path}, @v)", n=7, v=[1, 2])
    assert (found["top"], found["orderBy"], found["hasNonStreamingOrderBy"]) == (7, [order], True)
    assert "TOP 7" in found["rewrittenQuery"], "the number of rows is part of the plan"
    assert "@v" in found["rewrittenQuery"], "other parameters are the client's to send"


def test_hybrid_search_is_a_query_for_each_score() -> None:
    text = """SELECT c.id FROM c WHERE c.kind = @kind ORDER BY RANK RRF(
        FullTextScore(c.text, @word, 'two words'), VectorDistance(c.near, @v), [2, -1]) OFFSET 5 LIMIT 100"""
    search = planned(text, kind="k", word="one", v=[1, 2])["hybridSearchQueryInfo"]
    assert (search["skip"], search["take"], search["componentWeights"]) == (5, 100, [2, 1])
    assert search["requiresGlobalStatistics"]
    assert search["globalStatisticsQuery"] == (
        'SELECT COUNT(1) AS documentCount, [{"totalWordCount": SUM(_FULLTEXTWORDCOUNT(c.text)), "hitCounts":'
        ' [COUNTIF(FULLTEXTCONTAINS(c.text, "one")), COUNTIF(FULLTEXTCONTAINS(c.text, "two words"))]}]'
        " AS fullTextStatistics\nFROM c"
    )
    words, vectors = search["componentQueryInfos"]
    assert (words["orderBy"], vectors["orderBy"]) == (["Descending"], ["Ascending"])
    assert words["rewrittenQuery"].startswith("SELECT TOP 210 c._rid, ")
    assert words["orderByExpressions"][0] in words["rewrittenQuery"]
    assert "{documentdb-formattablehybridsearchquery-hitcountsarray-0}" in words["rewrittenQuery"]
    assert vectors["rewrittenQuery"].endswith("ORDER BY _VECTORSCORE(c.near, @v) ASC")
    assert "(_VECTORSCORE(c.near, @v) ?? 1.79769e+308)" in words["rewrittenQuery"], "the last of all, turned round"


def test_vectors_alone_need_no_statistics() -> None:
    text = "SELECT TOP 1 * FROM c ORDER BY RANK RRF(VectorDistance(c.near, [1, 2]), VectorDistance(c.far, [1, 2]))"
    search = planned(text)["hybridSearchQueryInfo"]
    assert not search["requiresGlobalStatistics"]
    assert (search["skip"], search["take"], search["componentWeights"]) == (None, 1, [])


EVERYWHERE = [{"min": "", "max": "FF", "isMinInclusive": True, "isMaxInclusive": False}]


def keys(*values: list[Any]) -> list[dict[str, Any]]:
    ranges = []
    for key in sorted((make_key(each, 2) for each in values), key=lambda key: key.epk):
        low, high = (key.epk, key.epk) if key.is_full else (key.range.min, key.range.max)
        ranges.append({"min": low, "max": high, "isMinInclusive": True, "isMaxInclusive": key.is_full})
    return ranges


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("c.user = 'u' AND c.thread = 't'", keys(["u", "t"])),
        ("'u' = c.user AND c.thread IN ('t', 1) AND c.x", keys(["u", "t"], ["u", 1])),
        ("c.user = 'u'", keys(["u"])),
        ("(c.user = 'u' OR c.user = 'w') AND c.thread = null", keys(["u", None], ["w", None])),
        ("c.user = @u", keys([True])),
        ("c.user = 'u' AND c.user IN ('u', 'w') AND c.thread = 1", keys(["u", 1])),
        ("c.thread = 't'", EVERYWHERE),
        ("c.user = 'u' OR c.x = 1", EVERYWHERE),
        ("c.user != 'u'", EVERYWHERE),
        ("NOT c.user = 'u'", EVERYWHERE),
        ("c.user = c.x", EVERYWHERE),
        ("c.user = [1]", EVERYWHERE),
        ("c.user = 'u' AND c.user = 'w'", [EVERYWHERE[0] | {"max": "", "isMaxInclusive": True}]),
    ],
)
def test_a_filter_on_the_key_says_where_to_look(where: str, expected: list[dict[str, Any]]) -> None:
    assert planned(f"SELECT * FROM c WHERE {where}", u=True)["queryRanges"] == expected


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("SELECT c.a FROM c GROUP BY c.a", "GroupBy"),
        ("SELECT VALUE COUNT(1) FROM c", "Aggregate"),
        ("SELECT VALUE COUNTIF(c.a) FROM c", "CountIf"),
        ("SELECT DISTINCT c.a FROM c", "Distinct"),
        ("SELECT * FROM c ORDER BY c.a", "OrderBy"),
        ("SELECT * FROM c ORDER BY c.a, c.b", "MultipleOrderBy"),
        ("SELECT TOP 1 * FROM c", "Top"),
        ("SELECT * FROM c OFFSET 0 LIMIT 1", "OffsetAndLimit"),
        ("SELECT TOP 1 * FROM c ORDER BY VectorDistance(c.near, [1, 2])", "NonStreamingOrderBy"),
        ("SELECT TOP 1 * FROM c ORDER BY RANK FullTextScore(c.text, 'x')", "HybridSearch"),
        (
            "SELECT TOP 1 * FROM c ORDER BY RANK"
            " RRF(FullTextScore(c.text, 'x'), VectorDistance(c.near, [1, 2]), [1, 2])",
            "WeightedRankFusion",
        ),
    ],
)
def test_clients_get_no_plan_that_they_could_not_carry_out(text: str, feature: str) -> None:
    everything = frozenset(
        "Aggregate CountIf Distinct GroupBy HybridSearch MultipleOrderBy NonStreamingOrderBy OffsetAndLimit OrderBy Top"
        " WeightedRankFusion".split()
    )
    plan(text, [], PROPERTIES, everything)
    with pytest.raises(CosmosError, match=f"does not support: .*{feature}"):
        plan(text, [], PROPERTIES, everything - {feature})


def test_what_streams_is_not_planned() -> None:
    assert not needs_merging("SELECT c.a FROM c JOIN t IN c.tags WHERE t = 1")
    assert not needs_merging("SELECT VALUE 1")
    assert needs_merging("SELECT VALUE COUNT(1) FROM c")


@pytest.mark.parametrize("call", ["_VectorScore(c.near, [1, 2])", "_FullTextScore(c.text, ['x'], 1, 1, [1])"])
def test_scores_of_plans_have_no_place_elsewhere(call: str) -> None:
    world = World([{"id": "1"}])
    with pytest.raises(CosmosError, match="only allowed in queries that a query plan gives"):
        world.query(f"SELECT * FROM c WHERE {call} > 0")
