"""VectorDistance, the full-text functions and their fusion."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from query_world import World

from embedded_cosmos.errors import CosmosError

POLICIES: dict[str, Any] = {
    "vectorEmbeddingPolicy": {
        "vectorEmbeddings": [
            {"path": "/v", "dataType": "float32", "dimensions": 2, "distanceFunction": "cosine"},
            {"path": "/far/w", "dataType": "float32", "dimensions": 2, "distanceFunction": "euclidean"},
        ]
    },
    "fullTextPolicy": {
        "defaultLanguage": "en-US",
        "fullTextPaths": [{"path": "/text"}, {"path": "/titel", "language": "de-DE"}],
    },
}
DOCUMENTS: list[dict[str, Any]] = [
    {"id": "east", "v": [2, 0], "far": {"w": [1.0, 1.0]}, "text": "Running shoes for the long run.", "kind": "a"},
    {"id": "north", "v": [0, 0.5], "far": {"w": [4.0, 5.0]}, "text": "The red bicycle of my neighbour", "kind": "b"},
    {"id": "northeast", "v": [1, 1], "far": {"w": [1.0, 2.0]}, "text": "A bicycle, painted red", "kind": "a"},
    {"id": "west", "v": [-1, 0], "text": "Nothing about it at all", "kind": "b"},
    {"id": "bare", "text": 7, "kind": "a"},
    {"id": "odd", "v": [1, 2, 3], "titel": "Das rote Fahrrad läuft", "kind": "a"},
]


@pytest.fixture
def world() -> World:
    return World(DOCUMENTS, **POLICIES)


def ids(world: World, tail: str, **parameters: Any) -> list[str]:
    return world.query(f"SELECT TOP 10 VALUE c.id FROM c {tail}", **parameters)


@pytest.mark.req("S1-23")
def test_the_nearest_come_first_with_their_similarity(world: World) -> None:
    rows = world.query(
        "SELECT TOP 3 c.id, VectorDistance(c.v, @q) AS score FROM c ORDER BY VectorDistance(c.v, @q)", q=[1, 0]
    )
    assert [row["id"] for row in rows] == ["east", "northeast", "north"]
    assert [row["score"] for row in rows] == pytest.approx([1, math.sqrt(0.5), 0])


def test_items_without_a_vector_of_the_dimension_are_left_out(world: World) -> None:
    assert ids(world, "ORDER BY VectorDistance(c.v, [1, 0])") == ["east", "northeast", "north", "west"]


def test_a_vector_of_other_dimensions_than_the_policy_says_meets_its_like_only(world: World) -> None:
    assert ids(world, "ORDER BY VectorDistance(c.v, [1, 2, 3])") == ["odd"]
    assert ids(world, "WHERE VectorDistance(c.v, [1]) > 0") == []


def test_a_text_outside_the_policy_is_searched_in_the_default_language(world: World) -> None:
    assert ids(world, "WHERE FullTextContains(c.kind, 'A')") == []
    assert ids(world, "WHERE FullTextContains(c.id, 'norths')") == ["north"]
    assert ids(world, "WHERE c.kind = 'b' ORDER BY RANK FullTextScore(c.id, 'westing')") == ["west", "north"]
    with pytest.raises(CosmosError, match="'/id' needs a full-text policy"):
        World(DOCUMENTS).query("SELECT * FROM c WHERE FullTextContains(c.id, 'north')")


def test_filters_and_windows_apply_before_and_after_the_ranking(world: World) -> None:
    assert ids(world, "WHERE c.kind = 'b' ORDER BY VectorDistance(c.v, [1, 0])") == ["north", "west"]
    assert ids(world, "WHERE LENGTH(c.id) = 4 ORDER BY VectorDistance(c.v, [1, 0])") == ["east", "west"]
    window = "SELECT VALUE c.id FROM c ORDER BY VectorDistance(c.v, [1, 0]) OFFSET 1 LIMIT 2"
    assert world.query(window) == ["northeast", "north"]


def test_a_distance_sorts_upwards_and_a_similarity_downwards(world: World) -> None:
    assert ids(world, "ORDER BY VectorDistance(c.far.w, [1, 1])") == ["east", "northeast", "north"]
    assert ids(world, "ORDER BY VectorDistance(c.v, [1, 0], true, {'distanceFunction': 'euclidean'})") == [
        "east", "northeast", "north", "west"
    ]  # fmt: skip
    assert ids(world, "ORDER BY VectorDistance(c.v, [1, 1], false, {'distanceFunction': 'DotProduct'})") == [
        "east", "northeast", "north", "west"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ("[3, 4], [0, 0], true, {'distanceFunction': 'euclidean'}", 5.0),
        ("[3, 4], [2, 1], true, {'distanceFunction': 'dotproduct'}", 10.0),
        ("[3, 4], [6, 8]", 1.0),
        ("[3, 4], [0, 0]", 0.0),
        ("[3, 4], [1]", "undefined"),
        ("[3, 4], 'x'", "undefined"),
    ],
)
def test_distances_of_any_two_vectors(world: World, arguments: str, value: Any) -> None:
    assert world.value(f"VectorDistance({arguments})") == pytest.approx(value)


def test_a_path_without_a_vector_policy_is_searched_by_brute_force() -> None:
    world = World({"id": str(n), "x": [n, 1] if n != 2 else "none"} for n in range(4))
    assert ids(world, "ORDER BY VectorDistance(c.x, [0, 1])") == ["0", "1", "3"]


def test_vectors_can_be_filtered_by_their_score(world: World) -> None:
    assert ids(world, "WHERE VectorDistance(c.v, [1, 0]) > 0.5") == ["east", "northeast"]
    assert ids(world, "WHERE NOT (VectorDistance(c.v, [1, 0]) > 0.5)") == ["north", "west"]
    assert ids(world, "WHERE 0.5 >= VectorDistance([1, 0], c.v) AND c.kind = 'b'") == ["north", "west"]
    assert ids(world, "WHERE VectorDistance(c.v, c.v) > 0.99") == ["east", "north", "northeast", "west", "odd"]


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("FullTextContains(c.text, 'bicycle')", ["north", "northeast"]),
        ("FullTextContains(c.text, 'BICYCLES')", ["north", "northeast"]),
        ("FullTextContains(c.text, 'run')", ["east"]),
        ("FullTextContains(c.text, 'red bicycle')", ["north"]),
        ("FullTextContains(c.text, 'bicycle red')", []),
        ("FullTextContains(c.text, 'the')", []),
        ("FullTextContains(c.text, 'unknown')", []),
        ("NOT FullTextContains(c.text, 'bicycle')", ["east", "west"]),
        ("FullTextContainsAll(c.text, 'red', 'neighbour')", ["north"]),
        ("FullTextContainsAny(c.text, 'neighbour', 'painted')", ["north", "northeast"]),
        ("FullTextContainsAny(c.text, @words)", ["east", "north"]),
        ("FullTextContains(c.text, 'red') AND c.kind = 'a'", ["northeast"]),
        (
            "FullTextContains(c.text, 'red') OR LENGTH(c.id) = 4",
            ["east", "north", "northeast", "west", "bare"],
        ),
        ("FullTextContains(c.titel, 'fahrrad')", ["odd"]),
        ("FullTextContains(c.titel, 'das')", ["odd"]),
        ("FullTextContains(c.titel, 'rot')", []),
    ],
)
def test_full_text_filters(world: World, condition: str, found: list[str]) -> None:
    assert ids(world, f"WHERE {condition}", words=["shoes", "neighbour"]) == found


def test_characters_of_unspaced_scripts_are_terms() -> None:
    world = World([{"id": "1", "text": "東京に行く"}, {"id": "2", "text": "京都"}], **POLICIES)
    assert ids(world, "WHERE FullTextContains(c.text, '東京')") == ["1"]
    assert ids(world, "WHERE FullTextContains(c.text, '京')") == ["1", "2"]


def test_rank_by_words_prefers_rare_words_and_short_texts() -> None:
    texts = ["apple pear", "apple apple pear banana", "apple", "pear with a very long tail of other words", "cherry"]
    world = World(({"id": str(n), "text": text} for n, text in enumerate(texts)), **POLICIES)
    assert ids(world, "ORDER BY RANK FullTextScore(c.text, 'cherry', 'apple')")[0] == "4"
    assert ids(world, "WHERE FullTextContains(c.text, 'apple') ORDER BY RANK FullTextScore(c.text, 'apple')") == [
        "2", "1", "0"
    ]  # fmt: skip
    both = ids(world, "ORDER BY RANK FullTextScore(c.text, 'apple', 'banana')")
    assert both == ids(world, "ORDER BY RANK FullTextScore(c.text, ['banana', 'apple'])")
    assert both[0] == "1"
    assert set(both) == set("01234"), "texts without the words are last, not lost"


def test_a_keyword_of_several_words_is_a_phrase() -> None:
    texts = ["red apple, red pear", "apple red", "a red apple and a red apple", "red", "the red apple of old"]
    world = World(({"id": str(n), "text": text} for n, text in enumerate(texts)), **POLICIES)
    assert ids(world, "ORDER BY RANK FullTextScore(c.text, 'Red apples')") == ["2", "4", "0", "1", "3"]


def test_scores_are_those_of_bm25() -> None:
    world = World([{"id": "a", "text": "cat dog dog"}, {"id": "b", "text": "cat"}], **POLICIES)
    (shard,) = world.shards.values()
    from embedded_cosmos.query.analysis import Analyzer

    index = shard.texts(("text",), Analyzer("en-US"))
    phrases, read = (("dog",),), shard.reader(("text",))
    scores = index.scores(phrases, index.statistics(phrases, len(shard), read), shard.size, read)
    rarity = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert scores.tolist() == pytest.approx([rarity * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2)), 0])


@pytest.mark.req("S1-24")
def test_fusion_prefers_what_both_arms_find() -> None:
    documents = [
        {"id": "vector", "v": [1, 0.1], "text": "something else"},
        {"id": "both", "v": [1, 0.2], "text": "peanut"},
        {"id": "words", "v": [0, 1], "text": "peanut allergy"},
        {"id": "wordy", "v": [-1, 1], "text": "peanut allergy again"},
        {"id": "neither", "v": [-1, 0], "text": "unrelated"},
    ]
    world = World(documents, **POLICIES)
    both = "VectorDistance(c.v, [1, 0]), FullTextScore(c.text, 'peanut')"
    assert ids(world, f"ORDER BY RANK RRF({both})")[0] == "both"
    assert ids(world, f"ORDER BY RANK RRF({both}, [10, 1])")[:2] == ["vector", "both"]
    assert ids(world, f"ORDER BY RANK RRF({both}, [1, -1])")[0] == "vector"
    assert ids(world, f"WHERE c.id != 'both' ORDER BY RANK RRF({both})") == ["vector", "words", "wordy", "neither"]


def test_fusion_adds_reciprocal_dense_ranks() -> None:
    # Ranks by vector: a 1, b 2, c 3; by words: b 1, a and c 2. Sums: a 1/61+1/62, b 1/62+1/61, c 1/63+1/62.
    documents = [
        {"id": "a", "v": [1, 0], "text": "x"},
        {"id": "b", "v": [1, 0.5], "text": "word"},
        {"id": "c", "v": [1, 1], "text": "x"},
    ]
    world = World(documents, **POLICIES)
    fused = "ORDER BY RANK RRF(VectorDistance(c.v, [1, 0]), FullTextScore(c.text, 'word'){})"
    assert ids(world, fused.format("")) == ["a", "b", "c"], "a and b are equal; the older is first"
    assert ids(world, fused.format(", [1, 1.1]")) == ["b", "a", "c"]


def test_fusion_of_many_items_takes_the_best_candidates_of_each_arm() -> None:
    documents = (
        {"id": str(n), "v": [1, n / 1000], "text": "needle " * (n - 989) if n >= 990 else "hay"} for n in range(1000)
    )
    world = World(documents, **POLICIES)
    both = "VectorDistance(c.v, [1, 0]), FullTextScore(c.text, 'needle')"
    assert ids(world, f"ORDER BY RANK RRF({both})") == [str(n) for n in range(10)]
    assert ids(world, f"ORDER BY RANK RRF({both}, [0, 1])")[0] == "999"
    assert set(ids(world, f"ORDER BY RANK RRF({both}, [1, 9])")) > {"0", "999"}


def test_conditions_on_few_of_many_items_are_those_on_all() -> None:
    documents = [
        {"id": str(n), "n": n, "v": [1, n], "text": "needle" if n % 2 else "hay", "tag": f"t{n % 3}"}
        for n in range(200)
    ]
    world = World(documents, **POLICIES)
    few = "c.n >= 100 AND c.n < 104"
    for condition, expected in (
        ("FullTextContains(c.text, 'needle')", ["101", "103"]),
        ("NOT FullTextContains(c.text, 'needle')", ["100", "102"]),
        ("VectorDistance(c.v, [1, 0]) < 0.0098", ["103"]),
        ("c.tag > 't1'", ["101"]),
        ("c.tag IN ('t0', 't2')", ["101", "102"]),
        ("(c.n = 101 OR (c.n > 101 AND c.tag = 't1'))", ["101", "103"]),
        ("(c.n = 1 OR true)", ["100", "101", "102", "103"]),
    ):
        assert world.query(f"SELECT VALUE c.id FROM c WHERE {few} AND {condition}") == expected, condition


@pytest.mark.parametrize("of_items", [239, 240, 241, 1000])
def test_fusion_finds_the_best_of_each_arm_however_many_are_alike(of_items: int) -> None:
    rng = random.Random(of_items)
    texts = ["needle " * rng.randrange(3) + "hay" for _ in range(of_items)]
    documents = [{"id": str(n), "v": [1, 0], "text": text} for n, text in enumerate(texts)]
    world = World(documents, **POLICIES)
    both = "VectorDistance(c.v, [1, 0]), FullTextScore(c.text, 'needle')"
    best = world.query(f"SELECT TOP 50 VALUE c.text FROM c ORDER BY RANK RRF({both})")
    assert best == sorted(texts, key=len, reverse=True)[:50]


def test_statistics_of_words_cover_all_shards() -> None:
    documents = [{"id": f"{user}{n}", "user": user, "text": "common"} for user in "ab" for n in range(5)]
    documents.append({"id": "rare", "user": "b", "text": "rare"})
    world = World(documents, **POLICIES)
    assert ids(world, "ORDER BY RANK FullTextScore(c.text, 'common', 'rare')")[0] == "rare"
    ranked = world.query("SELECT TOP 3 VALUE c.user FROM c ORDER BY RANK FullTextScore(c.text, 'common')")
    assert ranked == ["a", "a", "a"]


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        ("ORDER BY VectorDistance(c.v, 'x')", "non-empty array of numbers"),
        ("ORDER BY VectorDistance(c.v, [1, 'x'])", "non-empty array of numbers"),
        ("ORDER BY VectorDistance(c.other, [])", "non-empty array of numbers"),
        ("ORDER BY VectorDistance(c.v, c.v)", "a property path of the item and a constant vector"),
        ("ORDER BY VectorDistance(c.v)", "2 to 4 argument"),
        ("ORDER BY VectorDistance(c.v, [1, 0], 1)", "third argument"),
        ("ORDER BY VectorDistance(c.v, [1, 0], true, {'k': 1})", "fourth argument"),
        ("ORDER BY VectorDistance(c.v, [1, 0], true, {'distanceFunction': 'taxi'})", "distanceFunction"),
        ("WHERE FullTextContains('x', 'x')", "property path of the item"),
        ("WHERE FullTextContains(c, 'x')", "property path of the item"),
        ("JOIN t IN c.tags WHERE FullTextContains(t.text, 'x')", "property path of the item"),
        ("WHERE FullTextContains(c.text)", "at least 2"),
        ("WHERE FullTextContains(c.text, 'a', 'b')", "one keyword or phrase"),
        ("WHERE FullTextContains(c.text, 1)", "must be strings"),
        ("WHERE FullTextContains(c.text, c.kind)", "known beforehand"),
        ("WHERE FullTextContains(c.text, {'term': 'x', 'distance': 1})", "must be strings"),
        ("WHERE FullTextScore(c.text, 'x') > 1", "only allowed in the ORDER BY RANK clause"),
        ("ORDER BY RANK RRF(FullTextScore(c.text, 'x'))", "at least two score functions"),
        ("ORDER BY RANK RRF(FullTextScore(c.text, 'x'), LOWER(c.text))", "fuses VectorDistance and FullTextScore only"),
        ("ORDER BY RANK RRF(FullTextScore(c.text, 'x'), FullTextScore(c.text, 'y'), [1])", "array of 2 numbers"),
        ("ORDER BY RANK RRF([1, 2], FullTextScore(c.text, 'x'), FullTextScore(c.text, 'y'))", "after them"),
    ],
)
def test_searches_that_cannot_be_are_refused(world: World, tail: str, reason: str) -> None:
    with pytest.raises(CosmosError, match=reason) as caught:
        ids(world, tail)
    assert caught.value.status == 400


def test_a_score_of_words_cannot_be_selected(world: World) -> None:
    with pytest.raises(CosmosError, match="only allowed in the ORDER BY RANK clause"):
        world.query("SELECT TOP 1 FullTextScore(c.text, 'x') FROM c ORDER BY RANK FullTextScore(c.text, 'x')")
