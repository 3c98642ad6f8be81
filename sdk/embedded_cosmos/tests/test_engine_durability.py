from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import ContainerProxy, PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError

from embedded_cosmos import CosmosError, Engine
from embedded_cosmos.documents import Change
from embedded_cosmos.messages import Request

WRITER = """
import sys
from azure.cosmos import CosmosClient, PartitionKey
from embedded_cosmos import Engine, SyncTransport

engine = Engine(sys.argv[1])
client = CosmosClient(engine.url, engine.credential, transport=SyncTransport(engine))
container = client.create_database_if_not_exists("db").create_container_if_not_exists("c", PartitionKey(path="/pk"))
run = sys.argv[2]
for number in range(100_000):
    container.create_item({"id": f"{run}-{number}", "pk": "single"})
    print(f"{run}-{number}", flush=True)
    items = [{"id": f"{run}-{number}-{part}", "pk": "batch", "of": f"{run}-{number}"} for part in range(5)]
    batch = [("create", (item,)) for item in items]
    container.execute_item_batch(batch, "batch")
    print(f"batch {run}-{number}", flush=True)
"""


def write_until_killed(path: Path, run: int, acknowledgements: int) -> list[str]:
    """What a process was told had been written, before it was killed in the middle of the next write or so."""
    command = [sys.executable, "-c", WRITER, str(path), str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(acknowledgements)]
        time.sleep(0.002 * run)
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.readlines()
    assert process.returncode == -signal.SIGKILL
    return [line.strip() for line in lines if line.endswith("\n")]


def test_acknowledged_writes_survive_kill_9_and_batches_stay_whole(tmp_path: Path, connect: Any) -> None:
    path = tmp_path / "store.db"
    acknowledged = [line for run in range(3) for line in write_until_killed(path, run, 40 + run)]
    with Engine(path) as engine:
        container = connect(engine).get_database_client("db").get_container_client("c")
        items = list(container.read_all_items())
    singles = {item["id"] for item in items if item["pk"] == "single"}
    batches = [item["of"] for item in items if item["pk"] == "batch"]
    assert {line for line in acknowledged if not line.startswith("batch")} <= singles
    assert {line.removeprefix("batch ") for line in acknowledged if line.startswith("batch")} <= set(batches)
    assert {batches.count(of) for of in batches} == {5}


def test_everything_is_there_after_reopening(tmp_path: Path, connect: Any) -> None:
    path = tmp_path / "store.db"
    with Engine(path) as engine:
        container = (
            connect(engine).create_database("db").create_container("c", PartitionKey(path="/pk"), default_ttl=100)
        )
        item = container.create_item({"id": "1", "pk": "p", "text": "ünïcode", "n": 1.5})
        properties = container.read()
        container.create_item({"id": "last", "pk": "p"})
        container.delete_item("last", "p")
    with Engine(path) as engine:
        container = connect(engine).get_database_client("db").get_container_client("c")
        assert container.read() == properties
        assert container.read_item("1", "p") == item
        written = container.create_item({"id": "2", "pk": "p"})
        # Neither the sequence nor the item numbers go back to what a deleted item had.
        assert written.get_response_headers()["lsn"] == "4"
        assert written["_rid"] > item["_rid"]


def test_a_file_belongs_to_one_engine_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    script = "import sys; from embedded_cosmos import Engine; Engine(sys.argv[1])"
    with Engine(path):
        with pytest.raises(CosmosError, match="is open in another"):
            Engine(path)
        other = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=False)
        assert other.returncode == 1
        assert "EngineFileInUse" in other.stderr
        assert "is open in another process" in other.stderr
    Engine(path).close()


def test_a_foreign_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.db"
    text.write_text("not a database at all, but long enough to be taken for one" * 20)
    database = tmp_path / "other.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE users (id INTEGER)")
    connection.close()
    for path, reason in ((text, "is not a store"), (database, "another program")):
        before = path.read_bytes()
        with pytest.raises(CosmosError, match=reason):
            Engine(path)
        assert path.read_bytes() == before


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    Engine(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(CosmosError, match="schema version 99"):
        Engine(path)


@pytest.mark.parametrize("offset", [100, 4096 + 8, 4096 * 20])
def test_a_damaged_store_is_refused(tmp_path: Path, connect: Any, offset: int) -> None:
    path = tmp_path / "store.db"
    with Engine(path) as engine:
        container = connect(engine).create_database("db").create_container("c", PartitionKey(path="/pk"))
        for number in range(100):
            container.create_item({"id": str(number), "pk": "p", "text": "x" * 2000})
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(os.urandom(2000))
    with pytest.raises(CosmosError, match="damaged"):
        Engine(path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CosmosError, match=r"absent/store\.db cannot be opened"):
        Engine(tmp_path / "absent" / "store.db")


def test_a_closed_engine_says_so(tmp_path: Path, connect: Any) -> None:
    engine = Engine(tmp_path / "store.db")
    client = connect(engine)
    engine.close()
    engine.close()
    response = engine.handle(Request("GET", "/dbs/", {}))
    assert (response.status, b"The engine is closed" in response.body) == (503, True)
    with pytest.raises(CosmosHttpResponseError) as error:
        client.create_database("db")
    assert error.value.status_code == 503


def test_an_engine_in_ram_leaves_nothing_behind(tmp_path: Path, monkeypatch: Any, connect: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with Engine() as engine:
        connect(engine).create_database("db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("synchronous", "level"), [("NORMAL", 1), ("FULL", 2)])
def test_how_hard_a_commit_is_written_can_be_chosen(tmp_path: Path, connect: Any, synchronous: Any, level: int) -> None:
    with Engine(tmp_path / "store.db", synchronous=synchronous) as engine:
        assert engine._storage.execute("PRAGMA synchronous").fetchone() == (level,)
        assert engine._storage.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_an_interrupt_after_a_commit_does_not_break_the_sequence(container: ContainerProxy, monkeypatch: Any) -> None:
    """Ctrl-C between the commit and the memory that follows it: the write stands, and the next one comes after it."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    def add(item_id: str) -> None:
        container.create_item({"id": item_id, "user_id": "alice", "thread_id": "t1"})

    add("1")
    with monkeypatch.context() as patched:
        patched.setattr(Change, "publish", interrupt)
        with pytest.raises(KeyboardInterrupt):
            add("2")
    add("3")
    changes = list(container.query_items_change_feed(start_time="Beginning"))
    assert [(change["id"], change["_lsn"]) for change in changes] == [("1", 1), ("2", 2), ("3", 3)]
    query = "SELECT VALUE c.id FROM c ORDER BY c.id"
    assert list(container.query_items(query, partition_key=["alice"])) == ["1", "2", "3"]
