"""Vector, full-text and hybrid search over partitions, merged by the clients."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from two_modes import TwoModes

WORDS = "sea sand sun surf boat harbour wave wind salt gull rope mast deck crew sail tide storm chart".split()
POLICIES: dict[str, Any] = {
    "vector_embedding_policy": {
        "vectorEmbeddings": [
            {"path": "/near", "dataType": "float32", "dimensions": 8, "distanceFunction": "cosine"},
            {"path": "/far", "dataType": "float32", "dimensions": 8, "distanceFunction": "euclidean"},
        ]
    },
    "full_text_policy": {
        "defaultLanguage": "en-US",
        "fullTextPaths": [{"path": "/text", "language": "en-US"}],
    },
    "indexing_policy": {
        "vectorIndexes": [{"path": "/near", "type": "flat"}, {"path": "/far", "type": "flat"}],
        "fullTextIndexes": [{"path": "/text"}],
    },
}


def documents(count: int) -> list[dict[str, Any]]:
    chance = random.Random(7)
    made = []
    for number in range(count):
        document: dict[str, Any] = {
            "id": str(number),
            "user": f"user{number % 13}",
            "thread": "t",
            "kind": "ab"[number % 2],
            "near": [chance.uniform(-1, 1) for _ in range(8)],
            "far": [chance.uniform(-1, 1) for _ in range(8)],
            # Lengths that differ keep scores apart.
            "text": " ".join(chance.choices(WORDS, k=5 + number)),
        }
        if number % 11 == 0:
            del document["near"]
        if number % 17 == 3:
            del document["text"]
        made.append(document)
    return made


@pytest.fixture(scope="module")
def modes() -> Iterator[TwoModes]:
    with TwoModes(documents(60), **POLICIES) as modes:
        yield modes


VECTOR = [0.3, -0.2, 0.9, 0.1, -0.5, 0.4, 0.0, 0.7]
PARAMETERS = [{"name": "@v", "value": VECTOR}, {"name": "@word", "value": "harbour"}, {"name": "@n", "value": 9}]
NEAR, FAR = "VectorDistance(c.near, @v)", "VectorDistance(c.far, @v)"
WORDY, PHRASE = "FullTextScore(c.text, @word, 'sails')", "FullTextScore(c.text, 'sea sand', 'storm')"
QUERIES = [
    f"SELECT TOP @n c.id, {NEAR} AS score FROM c ORDER BY {NEAR}",
    f"SELECT TOP 5 c.id, {FAR} AS score FROM c WHERE c.kind = 'a' ORDER BY {FAR}",
    f"SELECT VALUE c.id FROM c ORDER BY {FAR} OFFSET 4 LIMIT 7",
    "SELECT TOP 8 c.id FROM c ORDER BY VectorDistance(c.near, @v, true, {distanceFunction: 'euclidean'})",
    f"SELECT DISTINCT TOP 6 c.id FROM c ORDER BY {NEAR}",
    f"SELECT TOP 9 c.id FROM c WHERE FullTextContains(c.text, @word) ORDER BY RANK {WORDY}",
    f"SELECT TOP 12 c.id, c.kind FROM c WHERE FullTextContains(c.text, 'storm') ORDER BY RANK {PHRASE}",
    f"SELECT TOP 10 c.id FROM c ORDER BY RANK RRF({NEAR}, {FAR})",
    f"SELECT TOP 15 c.id FROM c ORDER BY RANK RRF({NEAR}, {WORDY})",
    f"SELECT TOP 15 c.id FROM c WHERE c.kind = 'b' ORDER BY RANK RRF({WORDY}, {FAR}, [2, 0.7])",
    f"SELECT TOP 15 * FROM c ORDER BY RANK RRF({NEAR}, {FAR}, [1, -0.4])",
    f"SELECT c.id FROM c ORDER BY RANK RRF({WORDY}, {NEAR}, {PHRASE}) OFFSET 3 LIMIT 6",
    "SELECT TOP 5 c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'nowhere'), VectorDistance(c.near, @v))",
    f"SELECT TOP 5 c.id FROM c WHERE c.kind = 'z' ORDER BY RANK RRF({NEAR}, {WORDY})",
]


def ids(rows: list[Any]) -> list[str]:
    return [row if isinstance(row, str) else row["id"] for row in rows]


@pytest.mark.parametrize("query", QUERIES)
def test_merged_search_finds_what_the_direct_one_finds(modes: TwoModes, query: str) -> None:
    fast, strict = modes.query(query, parameters=PARAMETERS)
    assert_alike(fast, strict)


@pytest.mark.parametrize("query", QUERIES)
async def test_the_asynchronous_client_merges_searches_alike(modes: TwoModes, query: str) -> None:
    fast, _ = modes.query(query, parameters=PARAMETERS)
    assert_alike(fast, await modes.query_async(query, parameters=PARAMETERS))


def assert_alike(fast: list[Any], strict: list[Any]) -> None:
    assert ids(fast) == ids(strict)
    for left, right in zip(fast, strict, strict=True):
        if isinstance(left, dict) and "score" in left:
            assert left["score"] == pytest.approx(right["score"])


def test_ranking_within_a_key_is_planned_too(modes: TwoModes) -> None:
    query = f"SELECT TOP 60 c.id, c.user FROM c WHERE c.user = 'user1' ORDER BY RANK RRF({NEAR}, {WORDY})"
    fast, strict = modes.query(query, parameters=PARAMETERS)
    assert {row["user"] for row in strict} == {"user1"}
    assert set(ids(fast)) == set(ids(strict))  # in another order: one counts the words of the key, one of all keys


def test_statistics_are_those_of_all_partitions_unless_told_otherwise(modes: TwoModes) -> None:
    query = f"SELECT TOP 40 VALUE c.id FROM c WHERE FullTextContains(c.text, @word) ORDER BY RANK {WORDY}"
    requests: list[str] = []
    handle = modes.strict_engine.handle

    def recording(request: Any) -> Any:
        if b"_FULLTEXTSCORE" in request.body:
            requests.append(request.body.decode())
        return handle(request)

    modes.strict_engine.handle = recording  # type: ignore[method-assign]
    try:
        modes.query(query, parameters=PARAMETERS)
    finally:
        del modes.strict_engine.handle
    assert len(requests) == 3
    assert all(r"[\"harbour\",\"sails\"], 60, " in request for request in requests), "60 documents, in every partition"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (f"SELECT c.id FROM c ORDER BY {NEAR}", "without TOP or LIMIT"),
        (f"SELECT c.id FROM c ORDER BY RANK {WORDY}", "without TOP or LIMIT"),
        (f"SELECT TOP 50001 c.id FROM c ORDER BY {NEAR}", "more items than the max"),
        (f"SELECT TOP 1001 c.id FROM c ORDER BY RANK {WORDY}", "more items than the max"),
    ],
)
def test_what_plans_let_clients_check_is_checked(modes: TwoModes, query: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        list(modes.strict.query_items(query, parameters=PARAMETERS, enable_cross_partition_query=True))


def test_more_than_the_candidates_of_one_partition() -> None:
    with TwoModes(documents(400), partitions=2, **POLICIES) as modes:
        fast, strict = modes.query(f"SELECT TOP 10 c.id FROM c ORDER BY RANK RRF({NEAR}, {FAR})", parameters=PARAMETERS)
        assert len(strict) == 10
        # Each partition gives as many candidates as one alone would, so more take part; the best stay the best.
        assert len(set(ids(fast)[:5]) & set(ids(strict))) >= 4
