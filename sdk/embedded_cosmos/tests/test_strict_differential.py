"""Whatever a client asks across partitions, merging gives the rows of the direct answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError
from hypothesis import HealthCheck, given, settings, strategies as st
from two_modes import TwoModes

USERS = ("ann", "bob", "cyd", "dan", "eve", "fay", "gus", "hal")
DOCUMENTS = [
    {
        "id": str(number),
        "user": USERS[number * 5 % 8],
        "thread": f"t{number % 3}",
        "number": number * 37 % 64,
        "kind": "abcd"[number * number % 4],
        "size": number % 5 / 2,
        "tags": [f"g{tag}" for tag in range(number % 4)],
        **({"rare": number} if number % 7 == 0 else {}),
    }
    for number in range(64)
]
INDEXES = {
    "compositeIndexes": [
        [{"path": "/kind", "order": "ascending"}, {"path": "/number", "order": "descending"}],
        [{"path": "/size", "order": "ascending"}, {"path": "/number", "order": "ascending"}],
    ]
}


@pytest.fixture(scope="module")
def modes() -> Iterator[TwoModes]:
    with TwoModes(DOCUMENTS, indexing_policy=INDEXES) as modes:
        yield modes


@dataclass(frozen=True)
class Question:
    """A query, and what of its rows is certain: their order, or which they are at all."""

    text: str
    is_sorted: bool = False
    is_cut: bool = False


conditions = st.sampled_from(
    [
        "c.number >= 20",
        "c.number < @low",
        "c.kind = 'b'",
        "c.kind IN ('a', 'd')",
        "NOT IS_DEFINED(c.rare)",
        "c.user = 'ann'",
        "c.user IN ('bob', 'gus') AND c.thread = 't1'",
        "ARRAY_CONTAINS(c.tags, 'g1')",
        "STARTSWITH(c.user, 'f') OR c.size > 1",
        "EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 'g2')",
        "c.number > 1000",
    ]
)
wheres = st.one_of(st.just(""), conditions.map(lambda text: f" WHERE {text}"))
columns = st.sampled_from(
    ["*", "c.id, c.number", "VALUE c.id", "VALUE {n: c.number, k: c.kind}", "c.rare, c.size AS s"]
)
# Numbers differ in every document, so that the order is certain.
orders = st.sampled_from(["c.number", "c.number DESC", "c.kind ASC, c.number DESC", "c.size, c.number"])
cuts = st.one_of(
    st.none(),
    st.tuples(st.just("TOP"), st.integers(0, 70)),
    st.tuples(st.just("OFFSET"), st.integers(0, 70), st.integers(0, 20)),
)
AGGREGATES = [
    "COUNT(1)",
    "COUNT(c.rare)",
    "SUM(c.number)",
    "AVG(c.size)",
    "MIN(c.user)",
    "MAX(c.rare)",
    "SUM(c.size * 2)",
]


@st.composite
def selections(draw: st.DrawFn) -> Question:
    order, cut = draw(st.one_of(st.none(), orders)), draw(cuts)
    top = f"TOP {cut[1]} " if cut is not None and cut[0] == "TOP" else ""
    window = f" OFFSET {cut[1]} LIMIT {cut[2]}" if cut is not None and cut[0] == "OFFSET" else ""
    sorting = f" ORDER BY {order}" if order is not None else ""
    text = f"SELECT {top}{draw(columns)} FROM c{draw(wheres)}{sorting}{window}"
    return Question(text, order is not None, cut is not None)


aggregations = st.builds(
    lambda aggregate, where: Question(f"SELECT VALUE {aggregate} FROM c{where}"), st.sampled_from(AGGREGATES), wheres
)
distincts = st.builds(
    lambda shown, where: Question(f"SELECT DISTINCT {shown} FROM c{where}"),
    st.sampled_from(["VALUE c.kind", "c.kind, c.size", "VALUE c.tags", "c.user"]),
    wheres,
)
sorted_distincts = st.builds(
    lambda name, direction, where: Question(
        f"SELECT DISTINCT VALUE c.{name} FROM c{where} ORDER BY c.{name}{direction}", True
    ),
    st.sampled_from(["kind", "size", "user"]),
    st.sampled_from(["", " DESC"]),
    wheres,
)
joins = st.builds(
    lambda where: Question(f"SELECT c.id, t FROM c JOIN t IN c.tags{where} ORDER BY c.number", True), wheres
)
questions = st.one_of(selections(), aggregations, distincts, sorted_distincts, joins)


def canonical(rows: list[Any]) -> list[str]:
    system = {"_rid", "_self", "_etag", "_attachments", "_ts"}
    plain = [{k: v for k, v in row.items() if k not in system} if isinstance(row, dict) else row for row in rows]
    # The clients make a float of every average.
    numbers = [int(row) if isinstance(row, float) and row.is_integer() else row for row in plain]
    return [json.dumps(row, sort_keys=True) for row in numbers]


def check(question: Question, fast: list[Any], strict: list[Any]) -> None:
    left, right = canonical(fast), canonical(strict)
    if question.is_sorted:
        assert left == right, question.text
    elif question.is_cut:
        # Which come first is nowhere said; how many, and that none comes twice, is.
        assert len(left) == len(right), question.text
    else:
        assert Counter(left) == Counter(right), question.text


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=questions, page=st.one_of(st.none(), st.integers(1, 30)), low=st.integers(0, 64))
def test_merged_rows_are_the_direct_ones(modes: TwoModes, question: Question, page: int | None, low: int) -> None:
    fast, strict = modes.query(question.text, parameters=[{"name": "@low", "value": low}], max_item_count=page)
    check(question, fast, strict)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(question=questions, low=st.integers(0, 64))
async def test_the_asynchronous_client_merges_alike(modes: TwoModes, question: Question, low: int) -> None:
    parameters = [{"name": "@low", "value": low}]
    fast, _ = modes.query(question.text, parameters=parameters)
    check(question, fast, await modes.query_async(question.text, parameters=parameters))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT COUNT(1) FROM c", "only supports 'VALUE <AggregateFunc>'"),
        ("SELECT VALUE COUNT(1) + 1 FROM c", "Compositions of aggregates"),
        ("SELECT VALUE {n: COUNT(1)} FROM c", "Compositions of aggregates"),
        ("SELECT c.kind FROM c GROUP BY c.kind", "GROUP BY|GroupBy"),
        ("SELECT COUNT(1) FROM c WHERE c.user = 'ann' AND c.thread = 't0'", "only supports 'VALUE <AggregateFunc>'"),
        ("SELECT c.kind, c.number FROM c ORDER BY c.number, c.kind", "composite index"),
        ("SELECT * FROM c ORDER BY LOWER(c.kind)", "could not be mapped"),
        ("SELECT * FROM c ORDER BY", "Syntax error"),
        ("SELECT TOP 1 NOSUCH(c.kind) FROM c", "NOSUCH"),
    ],
)
def test_both_modes_refuse_the_same(modes: TwoModes, text: str, reason: str) -> None:
    for container in (modes.fast, modes.strict):
        with pytest.raises(CosmosHttpResponseError, match=reason) as error:
            list(container.query_items(text, enable_cross_partition_query=True))
        assert error.value.status_code == 400


def test_one_key_is_answered_directly(modes: TwoModes) -> None:
    for options in ({"partition_key": ["ann", "t0"]}, {"partition_key": ["ann"]}):
        for text in (
            "SELECT COUNT(1) AS n, MAX(c.number) AS most FROM c",
            "SELECT c.kind, COUNT(1) AS n FROM c GROUP BY c.kind",
            "SELECT VALUE SUM(c.number) + 1 FROM c",
            "SELECT DISTINCT TOP 2 VALUE c.kind FROM c",
        ):
            fast, strict = (list(each.query_items(text, **options)) for each in (modes.fast, modes.strict))
            assert canonical(fast) == canonical(strict)


def test_values_of_several_types_are_no_order_across_partitions(modes: TwoModes) -> None:
    # The clients compare values of one type only; the direct answer knows an order of types.
    with pytest.raises(ValueError, match=r"Expected (NoValue, but got Number|Number, but got NoValue)"):
        modes.query("SELECT c.id FROM c ORDER BY c.rare")
