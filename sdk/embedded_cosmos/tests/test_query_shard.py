"""A shard's indexes follow its documents through every change."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from query_world import EVERYWHERE, World, epk

from embedded_cosmos.query.execute import execute
from embedded_cosmos.query.index import Shard
from embedded_cosmos.sql.parser import parse

POLICIES: dict[str, Any] = {
    "vectorEmbeddingPolicy": {
        "vectorEmbeddings": [{"path": "/v", "dataType": "float32", "dimensions": 3, "distanceFunction": "dotproduct"}]
    },
    "fullTextPolicy": {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/text"}]},
}
QUERIES = [
    "SELECT VALUE c.id FROM c",
    "SELECT VALUE COUNT(1) FROM c WHERE c.n >= 5",
    "SELECT VALUE c.id FROM c WHERE c.n IN (1, 2, 'x', null) OR NOT IS_DEFINED(c.n)",
    "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 'fig') OR c.n > 8",
    "SELECT VALUE c.id FROM c WHERE NOT ARRAY_CONTAINS(c.tags, 'fig')",
    "SELECT TOP 5 VALUE c.id FROM c ORDER BY c.n DESC",
    "SELECT TOP 5 VALUE c.id FROM c WHERE c.word > 'b' ORDER BY c.word",
    "SELECT TOP 4 c.id, VectorDistance(c.v, [1, 2, 3]) AS s FROM c ORDER BY VectorDistance(c.v, [1, 2, 3])",
    "SELECT TOP 4 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, 'apple')",
    "SELECT VALUE c.id FROM c WHERE FullTextContains(c.text, 'apple pear')",
    "SELECT TOP 4 VALUE c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'pear'), VectorDistance(c.v, [3, -1, 0]))",
]
WORDS = ["apple", "pear", "plum", "the", "fig"]


def document(rng: random.Random, rid: int) -> dict[str, Any]:
    made: dict[str, Any] = {"id": f"d{rid}", "thread": f"t{rid % 3}"}
    optional = {
        "n": rng.choice([rng.randint(0, 9), rng.random() * 9, "x", None, True]),
        "word": "".join(rng.choices("abcd", k=3)),
        "v": rng.choice([[rng.randint(-3, 3) for _ in range(3)], [0.5, 0.25, rng.random()], "none"]),
        "tags": rng.choice([rng.choices([*WORDS, 1], k=rng.randint(0, 3)), "fig"]),
        "text": " ".join(rng.choices(WORDS, k=rng.randint(0, 6))),
    }
    made.update({name: value for name, value in optional.items() if rng.random() < 0.8})
    return made


@pytest.mark.parametrize("seed", range(4))
def test_after_any_changes_the_answers_are_those_of_a_fresh_shard(seed: int) -> None:
    rng = random.Random(seed)
    world = World(**POLICIES)
    live = world.stored
    shard = world.shards["u"] = Shard(world.properties, live.get)
    for step in range(400):
        if live and rng.random() < 0.35:
            rid = rng.choice(list(live))
            shard.remove(rid)
            del live[rid]
        else:
            rid = rng.choice(list(live)) if live and rng.random() < 0.3 else step + 1
            live[rid] = document(rng, rid)
            shard.put(rid, live[rid], epk("u", live[rid]["thread"]))
        if step % 40 == 0:
            fresh = World(**POLICIES)
            fresh.shards["u"] = Shard(world.properties, live.get)
            for rid in sorted(live):
                fresh.add(live[rid], rid)
            for text in QUERIES:
                assert world.query(text) == fresh.query(text), text
    assert len(shard) == len(live)


def test_a_shard_that_loses_most_of_its_documents_starts_again() -> None:
    world = World({"id": str(n), "n": n, "text": "apple"} for n in range(3000))
    (shard,) = world.shards.values()
    full = shard.nbytes
    assert world.query("SELECT VALUE COUNT(1) FROM c WHERE c.n < 3000") == [3000]
    for rid in range(1, 2900):
        shard.remove(rid)
    assert shard.size < 2000
    assert shard.nbytes < full / 2
    assert world.query("SELECT VALUE c.n FROM c WHERE c.n >= 2997") == [2997, 2998, 2999]


def test_removing_twice_or_something_unknown_changes_nothing() -> None:
    world = World([{"id": "1"}, {"id": "2"}])
    (shard,) = world.shards.values()
    for rid in (1, 1, 99):
        shard.remove(rid)
    assert len(shard) == 1
    assert world.query("SELECT VALUE c.id FROM c") == ["2"]


def test_documents_come_in_the_order_of_rids_however_they_were_put() -> None:
    world = World()
    for rid in (5, 1, 9, 3):
        world.add({"id": str(rid), "same": 0}, rid)
    assert world.query("SELECT VALUE c.id FROM c") == ["1", "3", "5", "9"]
    assert world.query("SELECT VALUE c.id FROM c ORDER BY c.same") == ["1", "3", "5", "9"]
    assert world.query("SELECT VALUE c.id FROM c ORDER BY c.same DESC") == ["9", "5", "3", "1"]


def test_integers_beyond_the_precision_of_doubles_are_distinguished() -> None:
    big = 2**53
    world = World({"id": str(n), "n": n} for n in (big, big + 1, big + 2))
    assert world.query("SELECT VALUE c.n FROM c WHERE c.n = @n", n=big + 1) == [big + 1]
    assert world.query("SELECT VALUE c.n FROM c WHERE c.n > @n", n=big) == [big + 1, big + 2]
    assert world.query("SELECT VALUE c.n FROM c ORDER BY c.n DESC") == [big + 2, big + 1, big]
    small = World([{"id": "1", "n": 1}])
    assert small.query("SELECT VALUE c.n FROM c WHERE c.n < @n", n=big + 1) == [1]


def test_replaced_strings_do_not_pile_up() -> None:
    world = World([{"id": "1", "s": "first"}])
    (shard,) = world.shards.values()
    assert world.query("SELECT VALUE c.id FROM c WHERE c.s = 'first'") == ["1"]
    before = shard.nbytes
    for n in range(5000):
        shard.put(1, {"id": "1", "s": f"text number {n}"}, epk("u", "t"))
        assert n % 500 or world.query("SELECT VALUE c.id FROM c WHERE c.s = @s", s=f"text number {n}") == ["1"]
    assert shard.nbytes < before + 200_000


def test_rows_of_an_empty_container() -> None:
    world = World(**POLICIES)
    for shards in ([], [Shard(world.properties, {}.get)]):
        for text in QUERIES:
            expected = [0] if "COUNT" in text else []
            assert execute(parse(text), shards, EVERYWHERE, world.properties) == expected


def test_vectors_come_back_as_they_were_written() -> None:
    float32 = [0.10000000149011612, -2.5, 3.0]
    others = [[1, 2, 3], [0.1, 0.2, 0.3], [1.5, 2, True], [1e300, 0.0, 0.0], [1.0, 2.0], "none", None]
    world = World(({"id": str(n), "v": v, "text": "x"} for n, v in enumerate([float32, *others])), **POLICIES)
    rows = world.query("SELECT * FROM c")
    assert json.dumps([row["v"] for row in rows]) == json.dumps([float32, *others])
    assert list(rows[0]) == ["id", "v", "text"]
    assert world.query("SELECT VALUE c.v[1] FROM c WHERE c.id = '0'") == [-2.5]
    assert world.query("SELECT VALUE c.id FROM c WHERE ARRAY_LENGTH(c.v) = 3 AND c.v[2] = 3") == ["0", "1"]
    assert world.query("SELECT VALUE c.id FROM c WHERE IS_ARRAY(c.v)") == list("012345")
    assert world.query("SELECT VALUE x FROM c JOIN x IN c.v WHERE c.id = '0'") == float32
    found = world.query("SELECT TOP 9 c.id, c.v FROM c ORDER BY VectorDistance(c.v, [1, 0, 0])")
    assert [row["id"] for row in found] == ["1", "0", "2"]
    assert found[1]["v"] == float32


def test_vectors_made_as_float32_take_little_memory() -> None:
    policy = {"path": "/v", "dataType": "float32", "dimensions": 384, "distanceFunction": "cosine"}
    world = World(
        ({"id": str(n), "v": [n / 1024 + i / 512 for i in range(384)]} for n in range(200)),
        vectorEmbeddingPolicy={"vectorEmbeddings": [policy]},
    )
    (shard,) = world.shards.values()
    assert shard.nbytes / 200 < 2500
    assert len(world.query("SELECT VALUE c.v FROM c WHERE c.id = '7'")[0]) == 384
