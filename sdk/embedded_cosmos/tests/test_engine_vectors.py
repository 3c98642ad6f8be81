"""Vectors are stored as binary numbers beside the documents: nobody notices, and what is deleted takes them along."""

from __future__ import annotations

import logging
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from azure.cosmos import ContainerProxy, CosmosClient, PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError
from file_bytes import traces

from embedded_cosmos import Engine, first_page, upgrade
from embedded_cosmos.binary_vectors import apart, whole
from embedded_cosmos.storage import SCHEMA_VERSION, Storage

Connect = Callable[[Engine], CosmosClient]
LENGTH = 8
EMBEDDING = {"path": "/v", "dataType": "float32", "dimensions": LENGTH, "distanceFunction": "cosine"}
POLICY = {"vectorEmbeddings": [EMBEDDING]}
NUMBERS = [0.1, -2.5, 3e-6]
NEAREST = (
    "SELECT TOP 9 c.id, VectorDistance(c.v, [1,2,3,4,5,6,7,8]) AS s FROM c"
    " ORDER BY VectorDistance(c.v, [1,2,3,4,5,6,7,8])"
)


@pytest.mark.parametrize(
    ("document", "names"),
    [
        ({"id": "1", "v": NUMBERS, "n": 2}, ["v"]),
        ({"v": NUMBERS, "w": [0.25, -0.0]}, ["v", "w"]),
        ({"v": NUMBERS, "w": [1, 2]}, ["v"]),
        ({"v": [1 / 3, 2.0, 1e-30], "w": [0.5, 0.1]}, ["v", "w"]),
        ({"text": 'so ,"v":[] and "v":[ too', "v": NUMBERS}, ["v"]),
        ({'x"v': [], "v": NUMBERS}, []),
        ({'x,"v': [7], "v": NUMBERS}, []),
        ({"inner": {"v": NUMBERS}}, []),
        ({"inner": {"v": NUMBERS}, "v": NUMBERS}, []),
        ({"inner": [{"v": []}], "v": NUMBERS}, []),
        ({"inner": [{"v": [9]}], "v": NUMBERS}, []),
        ({"v": NUMBERS, "w": NUMBERS[:2], "inner": {"w": 1}}, ["v"]),
        *(({"v": v}, []) for v in ([1, 0.5, 2], [0.5], [[1], [2], [3]], ["a", 1.0, 2.0], [], "none", None)),
        ({"v": [1e300, 0.0, 0.0]}, []),
    ],
)
def test_a_document_comes_back_as_it_was(document: dict[str, Any], names: list[str]) -> None:
    body = orjson.dumps(document)
    kept, vectors = apart(document, body, {"v": 3, "w": 2})
    assert orjson.loads(kept) == document | {name: [] for name in names}
    assert (vectors is None) == (names == [])
    again = orjson.loads(whole("1", kept, *(vectors or (None, None))))
    assert repr(again) == repr(document)


def test_numbers_take_four_bytes_where_that_is_exact() -> None:
    for number, size in ((0.1234567, 4), (0.123456789, 8), (1.0, 4)):
        _, vectors = apart({"v": [number] * 3}, orjson.dumps({"v": [number] * 3}), {"v": 3})
        assert vectors is not None
        assert len(vectors.numbers) == 3 * size


def embedding(rng: random.Random) -> list[float]:
    return [round(rng.uniform(-1, 1), 7) for _ in range(LENGTH)]


def fill(engine: Engine, connect: Connect, count: int = 30) -> ContainerProxy:
    container = connect(engine).create_database("db").create_container(
        "c", PartitionKey(path="/pk"), vector_embedding_policy=POLICY, default_ttl=-1
    )  # fmt: skip
    rng = random.Random(7)
    for n in range(count):
        item = {"id": f"{n}", "pk": "p", "at": f"{n:02}", "kind": "odd" if n % 2 else "even", "v": embedding(rng)}
        container.create_item(item | ({"inner": {"v": item["v"]}} if n % 5 == 0 else {}))
    return container


def reopened(engine: Engine, connect: Connect) -> ContainerProxy:
    return connect(engine).get_database_client("db").get_container_client("c")


def rows(container: ContainerProxy, query: str) -> list[Any]:
    return list(container.query_items(query, partition_key="p"))


def test_every_way_of_reading_gives_whole_documents(tmp_path: Path, connect: Connect, monkeypatch: Any) -> None:
    monkeypatch.setattr(first_page, "MANY", 10)
    with Engine(tmp_path / "store.db") as engine:
        container = fill(engine, connect)
        written = {item["id"]: item for item in container.read_all_items()}
        in_order = sorted(written.values(), key=lambda item: int(item["id"]))
        nearest = rows(container, NEAREST)
        assert len({item["v"][0] for item in written.values()}) == 30
    with Engine(tmp_path / "store.db") as engine:
        container = reopened(engine, connect)
        assert container.read_item("3", "p") == written["3"]
        newest = [written[name] for name in ("29", "28", "27")]
        assert rows(container, "SELECT TOP 3 * FROM c ORDER BY c.at DESC") == newest
        odd = container.query_items("SELECT * FROM c WHERE c.kind = 'odd'", enable_cross_partition_query=True)
        assert list(odd) == [item for item in in_order if item["kind"] == "odd"]
        assert rows(container, NEAREST) == nearest
        assert rows(container, "SELECT * FROM c") == in_order
        changes = [{**item} for item in container.query_items_change_feed(start_time="Beginning")]
        assert [item.pop("_lsn") for item in changes] == list(range(1, 31))
        assert changes == in_order
        container.patch_item("3", "p", [{"op": "set", "path": "/n", "value": 1}])
        assert container.read_item("3", "p")["v"] == written["3"]["v"]


def test_a_vector_is_written_again_only_when_it_changes(tmp_path: Path, connect: Connect) -> None:
    with Engine(tmp_path / "store.db") as engine:
        container = fill(engine, connect, count=2)
        execute = engine._storage.execute

        def changes(item: dict[str, Any]) -> int:
            execute("CREATE TEMP TABLE IF NOT EXISTS seen (n)")
            execute(
                "CREATE TEMP TRIGGER IF NOT EXISTS t AFTER UPDATE ON vectors BEGIN INSERT INTO seen VALUES (1); END"
            )
            execute("DELETE FROM seen")
            container.upsert_item(item)
            return int(execute("SELECT count(*) FROM seen").fetchone()[0])

        item = container.read_item("1", "p")
        assert changes({**item, "n": 1}) == 0
        assert changes({**item, "v": [0.5] * LENGTH}) == 1
        assert container.read_item("1", "p")["v"] == [0.5] * LENGTH
        for vector in ([1, 2, 3], None):
            container.upsert_item({**item, "v": vector})
            assert container.read_item("1", "p")["v"] == vector
            assert execute("SELECT count(*) FROM vectors").fetchone() == (0,)
        assert rows(container, NEAREST)[0]["id"] == "0"


def number_bytes(item: dict[str, Any]) -> bytes:
    return np.array(item["v"], "<f4").tobytes()


@pytest.mark.parametrize("way", ["delete", "replace", "remove", "expire", "delete container"])
def test_a_vector_leaves_the_file_with_its_document(tmp_path: Path, connect: Connect, clock: Any, way: str) -> None:
    path = tmp_path / "store.db"
    with Engine(path, clock=clock) as engine:
        container = fill(engine, connect, count=60)
        items = {item["id"]: item for item in container.read_all_items()}
        gone = [items[f"{n}"] for n in range(1, 60, 2)]
        assert traces(path, *map(number_bytes, gone))
        for item in gone:
            if way == "delete":
                container.delete_item(item["id"], "p")
            elif way == "replace":
                container.replace_item(item["id"], {**item, "v": [0.5] * LENGTH, "inner": None})
            elif way == "remove":
                paths = ["/v", "/inner"] if "inner" in item else ["/v"]
                container.patch_item(item["id"], "p", [{"op": "remove", "path": each} for each in paths])
            elif way == "expire":
                container.patch_item(item["id"], "p", [{"op": "set", "path": "/ttl", "value": 5}])
        if way == "delete container":
            connect(engine).get_database_client("db").delete_container("c")
        clock.advance(10)
        engine.tidy()
        engine.scrub()
        assert traces(path, *map(number_bytes, gone)) == {}


def test_a_damaged_vector_is_named_and_hides_no_other(tmp_path: Path, connect: Connect, caplog: Any) -> None:
    path = tmp_path / "store.db"
    with Engine(path) as engine:
        fill(engine, connect)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE vectors SET numbers = x'00' WHERE item = 2")
        connection.execute("UPDATE vectors SET fields = 'v' WHERE item = 3")
    connection.close()
    with Engine(path) as engine, caplog.at_level(logging.ERROR):
        container = reopened(engine, connect)
        for name in ("1", "2"):
            with pytest.raises(CosmosHttpResponseError, match=f"'{name}' is damaged in the store file") as error:
                container.read_item(name, "p")
            assert error.value.status_code == 500
        assert len(list(container.read_all_items())) == 28
        assert not {"1", "2"} & {row["id"] for row in rows(container, NEAREST.replace("TOP 9", "TOP 90"))}
        container.upsert_item({"id": "1", "pk": "p", "v": [0.5] * LENGTH})
        assert container.read_item("1", "p")["v"] == [0.5] * LENGTH
        container.delete_item("2", "p")


def make_earlier(path: Path, connect: Connect) -> tuple[list[Any], list[Any]]:
    """A store as earlier versions wrote it; its items, and those nearest to a vector."""
    with Engine(path) as engine:
        container = fill(engine, connect)
        found = list(container.read_all_items()), rows(container, NEAREST)
        for item in found[0]:
            engine._storage.execute("UPDATE items SET body = ? WHERE id = ?", (orjson.dumps(item), item["id"]))
        engine._storage.execute("DROP TABLE vectors")
        engine._storage.execute("PRAGMA user_version = 2")
    return found


def check_upgraded(path: Path, connect: Connect, found: tuple[list[Any], list[Any]]) -> None:
    with Engine(path) as engine:
        container = reopened(engine, connect)
        assert (list(container.read_all_items()), rows(container, NEAREST)) == found
        assert engine._storage.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert engine._storage.execute("SELECT count(*) FROM vectors").fetchone() == (24,)


def test_a_store_of_an_earlier_version_is_brought_up_to_date(tmp_path: Path, connect: Connect, caplog: Any) -> None:
    found = make_earlier(tmp_path / "store.db", connect)
    check_upgraded(tmp_path / "store.db", connect, found)
    assert "is rewritten once" in caplog.text
    caplog.clear()
    check_upgraded(tmp_path / "store.db", connect, found)
    assert caplog.records == []


class Killed(BaseException):
    """Nothing that runs may go on."""


@pytest.mark.parametrize("deaths", [[0], [1], [2, 1], [99]])
def test_a_process_that_dies_while_it_rewrites_loses_nothing(
    tmp_path: Path, connect: Connect, monkeypatch: Any, deaths: list[int]
) -> None:
    path, copy = tmp_path / "store.db", tmp_path / "copy.db"
    found = make_earlier(path, connect)
    monkeypatch.setattr(upgrade, "_DOCUMENTS_AT_ONCE", 7)
    left = 0

    def die() -> None:
        for suffix in ("", "-wal"):
            if path.with_name(path.name + suffix).exists():
                shutil.copy(path.with_name(path.name + suffix), copy.with_name(copy.name + suffix))
        raise Killed

    def dying(step: Any) -> Any:
        @contextmanager
        def transaction(storage: Storage) -> Iterator[None]:
            nonlocal left
            with step(storage):
                yield
                if left == 0:
                    die()
                left -= 1

        return transaction

    for batches in deaths:
        left = batches
        with monkeypatch.context() as patched:
            patched.setattr(Storage, "transaction", dying(Storage.transaction))
            patched.setattr(Storage, "rewrite", lambda storage: die())
            with pytest.raises(Killed):
                Engine(path)
        for suffix in ("", "-wal"):
            if copy.with_name(copy.name + suffix).exists():
                shutil.move(copy.with_name(copy.name + suffix), path.with_name(path.name + suffix))
    check_upgraded(path, connect, found)


def test_a_second_process_is_refused_while_the_first_rewrites(
    tmp_path: Path, connect: Connect, monkeypatch: Any
) -> None:
    path = tmp_path / "store.db"
    found = make_earlier(path, connect)
    refused: list[str] = []

    def crowded(*given: Any) -> Any:
        if not refused:
            script = "import sys; from embedded_cosmos import Engine; Engine(sys.argv[1])"
            process = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=False)
            refused.append(process.stderr)
        return apart(*given)

    with monkeypatch.context() as patched:
        patched.setattr(upgrade, "apart", crowded)
        Engine(path).close()
    assert [f"is open in another process: {os.getpid()}" in one for one in refused] == [True]
    check_upgraded(path, connect, found)


def test_a_store_that_cannot_be_rewritten_works_all_the_same(
    tmp_path: Path, connect: Connect, monkeypatch: Any
) -> None:
    path = tmp_path / "store.db"
    found = make_earlier(path, connect)

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(upgrade, "apart", full)
        with Engine(path) as engine:
            container = reopened(engine, connect)
            assert (list(container.read_all_items()), rows(container, NEAREST)) == found
            container.upsert_item(found[0][0])
            [found[0][0]] = [item for item in container.read_all_items() if item["id"] == found[0][0]["id"]]
    check_upgraded(path, connect, found)
