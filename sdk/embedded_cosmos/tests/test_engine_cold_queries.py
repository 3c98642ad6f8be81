"""The first query of a user after the store was opened: what it reads, and what stays in memory."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import ContainerProxy, CosmosClient, PartitionKey

from embedded_cosmos import Engine, first_page
from embedded_cosmos.shards import ShardCache

Connect = Callable[[Engine], CosmosClient]
POLICY = {"vectorEmbeddings": [{"path": "/v", "dataType": "float32", "dimensions": 3, "distanceFunction": "cosine"}]}


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


HARD = [
    {"at": "2026-01-05", "inner": {"at": "2030"}},
    {"inner": {"at": "1"}},
    {"inner": [{"at": "2032"}], "at": "2026-02-02"},
    {"text": 'quoted ,"at":"2033" and {"at":"', "at": "2026-01-20"},
    {'x"at': "2034", "at": "2026-01-21"},
    {"at": 'a "quoted" \\ time'},
    {"at": "é\u2028ü"},
    {"at": "\U0001f600"},
    {"at": "ﬀ"},
    {"at": ""},
    {"at": None},
    {"at": 7},
    {"at": True},
    {},
]


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The shards that were loaded, in a world where ten documents are many."""
    found: list[str] = []
    load = ShardCache._load

    def noted(cache: ShardCache, container: Any, key: str) -> Any:
        if cache._shards.get((container.number, key)) is None:
            found.append(key)
        return load(cache, container, key)

    monkeypatch.setattr(ShardCache, "_load", noted)
    monkeypatch.setattr(first_page, "MANY", 10)
    return found


LISTINGS = [
    "SELECT TOP 3 c.id FROM c ORDER BY c.at DESC",
    "SELECT TOP 12 * FROM c ORDER BY c.at DESC",
    "SELECT c.id, c.at FROM c WHERE c.n > 20 ORDER BY c.at DESC OFFSET 2 LIMIT 5",
    "SELECT VALUE c.id FROM c WHERE c.user = 'u' AND NOT IS_DEFINED(c.inner) ORDER BY c.at DESC OFFSET 0 LIMIT 6",
]


@pytest.mark.parametrize("query", LISTINGS)
@pytest.mark.parametrize("seed", range(3))
def test_a_first_page_from_the_file_is_the_one_of_the_loaded_user(
    tmp_path: Path, connect: Connect, loads: list[str], query: str, seed: int
) -> None:
    rng = random.Random(seed)
    documents = [{"at": f"2026-0{rng.randint(1, 3)}-0{rng.randint(1, 9)}"} for _ in range(60)] + HARD
    rng.shuffle(documents)
    with Engine(tmp_path / "store.db") as engine:
        container = connect(engine).create_database("db").create_container("c", PartitionKey(path="/user"))
        for number, document in enumerate(documents):
            container.create_item({"id": f"i{number}", "user": "u", "n": number, **document})
    with Engine(tmp_path / "store.db") as engine:
        container = connect(engine).get_database_client("db").get_container_client("c")
        cold = _rows(container, query)
        assert loads == []
        assert _rows(container, query) == cold  # who asks again gets the whole user into memory
        assert len(loads) == 1


@pytest.mark.parametrize(
    "query",
    [
        "SELECT TOP 3 c.id FROM c ORDER BY c.at",
        "SELECT TOP 3 c.id FROM c",
        "SELECT c.id FROM c ORDER BY c.at DESC",
        "SELECT DISTINCT TOP 3 c.at FROM c ORDER BY c.at DESC",
        "SELECT TOP 30 c.id FROM c WHERE c.n = 5 ORDER BY c.at DESC",
        "SELECT TOP 3 t AS tag FROM c JOIN t IN c.tags ORDER BY c.at DESC",
        "SELECT TOP 3 c.id FROM c ORDER BY c.listed DESC",
        "SELECT TOP 3 c.id FROM c ORDER BY c.inner_only DESC",
    ],
)
def test_what_only_the_whole_user_can_tell_is_read_from_the_whole_user(
    tmp_path: Path, connect: Connect, loads: list[str], query: str
) -> None:
    with Engine(tmp_path / "store.db") as engine:
        container = connect(engine).create_database("db").create_container("c", PartitionKey(path="/user"))
        for n in range(20):
            item = {"id": f"i{n}", "user": "u", "n": n, "at": f"{n:02}", "tags": ["x"], "listed": "z" if n else ["a"]}
            container.create_item(item | ({"inner_only": "a"} if n else {"inner": {"inner_only": "z"}}))
        warm = _rows(container, query)
    loads.clear()
    with Engine(tmp_path / "store.db") as engine:
        container = connect(engine).get_database_client("db").get_container_client("c")
        assert _rows(container, query) == warm
        assert len(loads) == 1


def test_the_users_of_a_container_are_listed_without_loading_them(
    tmp_path: Path, connect: Connect, loads: list[str]
) -> None:
    users = ["", "a", "A", "ä", 'the "quoted"', "\U0001f600", "z" * 300]
    with Engine(tmp_path / "store.db") as engine:
        container = connect(engine).create_database("db").create_container(
            "c", PartitionKey(path=["/user", "/thread"], kind="MultiHash")
        )  # fmt: skip
        for number, user in enumerate(users * 3):
            container.create_item({"id": str(number), "user": user, "thread": f"t{number}"})
    with Engine(tmp_path / "store.db") as engine:
        container = connect(engine).get_database_client("db").get_container_client("c")

        def listed(query: str = "SELECT DISTINCT VALUE c.user FROM c") -> list[Any]:
            return list(container.query_items(query, enable_cross_partition_query=True))

        assert sorted(listed()) == sorted(users)
        assert loads == []
        for number in [users.index("ä") + len(users) * times for times in range(3)]:
            container.delete_item(str(number), ["ä", f"t{number}"])
        assert sorted(listed()) == sorted(set(users) - {"ä"})
        assert len(listed("SELECT DISTINCT VALUE c.thread FROM c")) == 3 * (len(users) - 1)
        assert listed("SELECT DISTINCT VALUE c.user FROM c WHERE c.thread = 't1'") == ["a"]
        for key in (7, True):
            container.create_item({"id": "other", "user": key, "thread": "t"})
        assert len(listed()) == len(users) - 1 + 2


@pytest.mark.parametrize(
    "query",
    [
        "SELECT VALUE c.id FROM c WHERE c.kind = 'odd' AND c.n > 3",
        "SELECT * FROM c WHERE 'the \"ödd\"' = c.kind",
        "SELECT VALUE COUNT(1) FROM c WHERE c.kind = @kind",
        "SELECT VALUE c.id FROM c WHERE c.kind = 'nowhere'",
    ],
)
def test_few_documents_of_all_users_are_found_without_loading_them(
    tmp_path: Path, connect: Connect, loads: list[str], query: str
) -> None:
    rng = random.Random(5)
    kinds = ["odd", "even", 'the "ödd"', 7, None, {"kind": "odd"}, ["odd"]]
    with Engine(tmp_path / "store.db") as engine:
        container = connect(engine).create_database("db").create_container("c", PartitionKey(path="/user"))
        for n in range(60):
            inner = {"inner": {"kind": "odd"}, "text": '"kind":"odd"'} if n % 9 == 0 else {}
            item = {"id": f"i{n}", "user": f"u{rng.randrange(8)}", "n": n, "kind": rng.choice(kinds), **inner}
            container.create_item(item)
    with Engine(tmp_path / "store.db") as engine:
        container = connect(engine).get_database_client("db").get_container_client("c")

        def found() -> list[Any]:
            kind = [{"name": "@kind", "value": "odd"}]
            return list(container.query_items(query, parameters=kind, enable_cross_partition_query=True))

        cold = [found() for _ in range(3)]
        assert loads == []
        assert cold == [found()] * 3  # who goes on asking gets all users into memory
        assert len(loads) == 8
