"""The first query of a user after the store was opened: what it reads, and what stays in memory."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from azure.cosmos import ContainerProxy, CosmosClient, PartitionKey

from embedded_cosmos import Engine
from embedded_cosmos.bodies import lists_left_out

Connect = Callable[[Engine], CosmosClient]
POLICY = {"vectorEmbeddings": [{"path": "/v", "dataType": "float32", "dimensions": 3, "distanceFunction": "cosine"}]}
NUMBERS = [0.1, -2.5, 3e-9]


@pytest.mark.parametrize(
    ("document", "left_out"),
    [
        ({"id": "1", "v": NUMBERS, "n": 2}, True),
        ({"v": NUMBERS}, True),
        ({"text": 'so ,"v":[1,2,3] and "v":[ too', "v": NUMBERS}, True),
        ({'x,"v': [7], "v": NUMBERS}, False),
        ({"v": [1, 2, 3], "w": [4, 5]}, True),
        ({"v": [0.5, 1.5]}, False),
        ({"v": [[1], [2], [3]]}, False),
        ({"v": ["a", 1, 2]}, False),
        ({"v": [None, 1, 2]}, False),
        ({"v": []}, False),
        ({"v": "none"}, False),
        ({"inner": {"v": NUMBERS}}, False),
        ({"inner": {"v": NUMBERS}, "v": NUMBERS}, False),
        ({"inner": [{"v": NUMBERS}], "v": None}, False),
    ],
)
def test_only_vectors_of_the_document_itself_are_left_out(document: dict[str, Any], left_out: bool) -> None:
    expected = {**document, "v": []} if left_out else document
    parsed = lists_left_out({"v": 3})(orjson.dumps(document))
    assert parsed == expected
    assert list(parsed) == list(document)


def test_vectors_of_a_reopened_store_are_found_and_shown_as_written(tmp_path: Path, connect: Connect) -> None:
    rng = random.Random(3)
    written: dict[str, Any] = {str(n): [rng.random() for _ in range(3)] for n in range(30)}
    written |= {"short": [0.5], "text": "none", "huge": [1e300, 0.0, 0.0], "rounded": [0.1, 0.2, 1]}
    with Engine(tmp_path / "store.db") as engine:
        container = connect(engine).create_database("db").create_container(
            "c", PartitionKey(path="/user"), vector_embedding_policy=POLICY
        )  # fmt: skip
        for item_id, vector in written.items():
            container.create_item({"id": item_id, "user": "u", "v": vector, "deep": {"v": [1, 2, 3]}})
        warm = _found(container)
    with Engine(tmp_path / "store.db") as engine:
        container = connect(engine).get_database_client("db").get_container_client("c")
        assert {row["id"]: row["v"] for row in _rows(container, "SELECT * FROM c")} == written
        container.upsert_item({"id": "0", "user": "u", "v": [1.0, 0.0, 0.0]})
        assert _rows(container, "SELECT VALUE c.v FROM c WHERE c.id = '0'") == [[1.0, 0.0, 0.0]]
        container.upsert_item({"id": "0", "user": "u", "v": written["0"]})
        assert _found(container) == warm
        assert _rows(container, "SELECT VALUE c.id FROM c WHERE c.v[2] = 1") == ["rounded"]
        assert len(_rows(container, "SELECT VALUE c.id FROM c WHERE IS_ARRAY(c.v)")) == len(written) - 1


def _found(container: ContainerProxy) -> Any:
    query = "SELECT TOP 40 c.id, VectorDistance(c.v, [1, 2, 3]) AS s FROM c ORDER BY VectorDistance(c.v, [1, 2, 3])"
    return _rows(container, query)


def _rows(container: ContainerProxy, query: str) -> list[Any]:
    return list(container.query_items(query, partition_key="u"))


def test_a_user_who_is_larger_than_the_limit_is_loaded_once(connect: Connect) -> None:
    with Engine(cache_bytes=20_000) as engine:
        container = connect(engine).create_database("db").create_container("c", PartitionKey(path="/user"))
        for number in range(24):
            user = "large" if number < 20 else f"small{number}"
            container.create_item({"id": str(number), "user": user, "text": "x" * 4000})
        shards = engine._rest._data._queries._shards
        seen = set()
        for user in ("large", "small20", "large", "small21", "small22", "small23", "large"):
            assert next(iter(container.query_items("SELECT VALUE c.user FROM c", partition_key=user))) == user
            seen.add(id(max(shards._shards.values(), key=len)))
        assert len(seen) == 1
        assert len(shards._shards) < 4
