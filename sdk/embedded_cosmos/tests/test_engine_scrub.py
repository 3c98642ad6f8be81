"""What was deleted is gone from the bytes of the file, its log and its index, whoever compiled SQLite."""

from __future__ import annotations

import logging
import os
import random
import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import ContainerProxy, PartitionKey
from file_bytes import traces

import embedded_cosmos.storage
from embedded_cosmos import CosmosError, Engine
from embedded_cosmos.storage import Storage

SUPPORT = Path(__file__).parent / "support"
SECRET = "xylophone-7391"


def fill(engine: Engine, connect: Any, count: int = 60) -> ContainerProxy:
    """A container in which every third item tells a secret, some on pages of their own."""
    container = connect(engine).create_database("db").create_container("c", PartitionKey(path="/pk"), default_ttl=-1)
    for number in range(count):
        text = f"{SECRET} " * (number * 7 % 400) if number % 3 == 0 else "nothing"
        container.create_item({"id": f"{number}", "pk": "p", "text": text + (SECRET if number % 3 == 0 else "")})
    return container


def delete_secrets(container: ContainerProxy, count: int = 60) -> None:
    for number in range(0, count, 3):
        container.delete_item(f"{number}", "p")


def live(storage: Storage, chance: random.Random, count: int) -> tuple[list[int], list[int]]:
    """Writes, changes and deletes rows so that pages split and merge; the numbers of those that are left, and gone."""
    with storage.transaction():
        storage.execute("INSERT INTO databases VALUES (1, 'd', 'e', 1)")
        storage.execute("INSERT INTO containers VALUES (1, 1, 'c', '{}', 'e', 1)")
    alive: list[int] = []
    dead: list[int] = []

    def step(number: int) -> None:
        what = chance.random()
        if what < 0.55 or not alive:
            alive.append(number)
            row = (number, f"{chance.getrandbits(64):016X}", f"id{number:07d}", body(number, chance))
            storage.execute("INSERT INTO items VALUES (?, 1, ?, ?, ?, 'e', 1, 1, NULL, NULL)", row)
        elif what < 0.8:
            storage.execute(
                "UPDATE items SET body = ? WHERE number = ?", (body(chosen := chance.choice(alive), chance), chosen)
            )
        else:
            dead.append(alive.pop(chance.randrange(len(alive))))
            storage.execute("DELETE FROM items WHERE number = ?", (dead[-1],))

    for number in range(count):
        step(number)
    for number in [number for number in alive if number % 10]:
        alive.remove(number)
        dead.append(number)
        storage.execute("DELETE FROM items WHERE number = ?", (number,))
    return alive, dead


def body(number: int, chance: random.Random) -> bytes:
    return f"<{number:07d}>".encode() * chance.choice([1, 2, 3, 5, 8, 13, 21, 34, 55, 200])


def words_of(numbers: list[int]) -> set[bytes]:
    return {form % number for number in numbers for form in (b"<%07d>", b"id%07d")}


def live_and_die(path: Path, seed: int) -> set[bytes]:
    """What was said in rows that are gone from a store that was scrubbed, and written to after that."""
    chance = random.Random(seed)
    storage = Storage(path, "NORMAL")
    alive, dead = live(storage, chance, 8000)
    assert storage.scrub()
    # What SQLite still held of the pages in memory must not come back with the next change of them.
    for number in list(alive):
        storage.execute("UPDATE items SET lsn = 2, body = ? WHERE number = ?", (body(number, chance), number))
    storage.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert storage.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    storage.close()
    return words_of(dead)


def words_in(path: Path) -> set[bytes]:
    return set(re.findall(rb"<\d{7}>|id\d{7}", path.read_bytes()))


@pytest.mark.parametrize("seed", [3, 4])
def test_no_row_is_left_on_pages_that_split_and_merge(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "store.db"
    words = live_and_die(path, seed)
    assert len(words) > 8000
    assert words & words_in(path) == set()


def test_what_is_due_is_scrubbed_when_the_store_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    storage = Storage(path, "NORMAL")
    _, dead = live(storage, random.Random(3), 2000)
    storage.scrub_due = True
    storage.close()
    assert words_of(dead) & words_in(path) == set()


def run_with_other_sqlite(code: str, *arguments: object) -> str:
    program = f"import sys; sys.path[:0] = [{str(SUPPORT)!r}, {str(Path(__file__).parent)!r}]\nimport other_sqlite\n"
    command = [sys.executable, "-c", f"{program}other_sqlite.use()\n{code}", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="pysqlite3-binary has wheels for Linux alone")
def test_an_sqlite_that_overwrites_nothing_by_itself_is_made_to(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    code = """
from pathlib import Path
import sqlite3
from azure.cosmos import CosmosClient
from embedded_cosmos import Engine, SyncTransport
from test_engine_scrub import SECRET, delete_secrets, fill, live_and_die, traces, words_in

connect = lambda engine: CosmosClient(engine.url, engine.credential, transport=SyncTransport(engine))
assert sqlite3.connect(":memory:").execute("PRAGMA secure_delete").fetchone() == (0,)
path = Path(sys.argv[1])
with Engine(path) as engine:
    container = fill(engine, connect)
    assert traces(path, SECRET)
    delete_secrets(container)
    assert engine.scrub()
    print(traces(path, SECRET))
words = live_and_die(path.with_name("other.db"), 3)
print(len(words & words_in(path.with_name("other.db"))))
"""
    assert run_with_other_sqlite(code, path).split() == ["{}", "0"]


def test_a_scrub_cleans_file_and_log_of_an_open_store(tmp_path: Path, connect: Any) -> None:
    path = tmp_path / "store.db"
    with Engine(path) as engine:
        container = fill(engine, connect)
        delete_secrets(container)
        assert "store.db-wal" in traces(path, SECRET)
        assert engine.scrub()
        assert traces(path, SECRET) == {}
        assert len(list(container.read_all_items())) == 40
    with Engine(path) as engine:
        assert engine.scrub()
    assert traces(path, SECRET) == {}


def test_what_is_replaced_goes_too(tmp_path: Path, connect: Any) -> None:
    path = tmp_path / "store.db"
    with Engine(path) as engine:
        container = fill(engine, connect)
        for number in range(0, 60, 3):
            container.upsert_item({"id": f"{number}", "pk": "p", "text": "a word"})
        assert engine.scrub()
        assert traces(path, SECRET) == {}


def test_what_expires_is_scrubbed_by_the_next_tidying(tmp_path: Path, connect: Any, clock: Any) -> None:
    path = tmp_path / "store.db"
    with Engine(path, clock=clock) as engine:
        container = fill(engine, connect)
        for number in range(0, 60, 3):
            container.patch_item(f"{number}", "p", [{"op": "set", "path": "/ttl", "value": 10}])
        assert engine.tidy()
        assert traces(path, SECRET)
        clock.advance(11)
        assert engine.tidy()
        assert traces(path, SECRET) == {}


def test_what_expired_unnoticed_is_scrubbed_at_the_next_tidying(tmp_path: Path, connect: Any, clock: Any) -> None:
    path = tmp_path / "store.db"
    with Engine(path, clock=clock) as engine:
        container = fill(engine, connect, 3)
        container.patch_item("0", "p", [{"op": "set", "path": "/ttl", "value": 10}])
        clock.advance(11)
        assert len(list(container.read_all_items())) == 2, "a read sweeps"
        assert traces(path, SECRET)
        assert engine.tidy()
        assert traces(path, SECRET) == {}


def test_a_scrub_is_repeated_when_a_reader_has_ended(tmp_path: Path, connect: Any, caplog: Any) -> None:
    path = tmp_path / "store.db"
    with Engine(path) as engine:
        container = fill(engine, connect)
        reader = sqlite3.connect(path)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM items").fetchone()
        delete_secrets(container)
        with caplog.at_level(logging.WARNING):
            assert not engine.scrub()
            assert not engine.tidy()
        assert [record.message for record in caplog.records if "Another program reads" in record.message] != []
        assert traces(path, SECRET)
        assert len(list(container.read_all_items())) == 40
        reader.close()
        assert engine.tidy()
        assert traces(path, SECRET) == {}


def test_a_crash_ahead_of_the_scrub_is_made_up_for_at_the_next_opening(tmp_path: Path, connect: Any) -> None:
    path, copy = tmp_path / "store.db", tmp_path / "copy.db"
    with Engine(path) as engine:
        delete_secrets(fill(engine, connect))
        for suffix in ("", "-wal"):
            copy.with_name(copy.name + suffix).write_bytes(path.with_name(path.name + suffix).read_bytes())
    assert traces(copy, SECRET)
    with Engine(copy):
        assert traces(copy, SECRET) == {}


def make_old(path: Path, connect: Any) -> None:
    """A store as earlier versions left it, with an SQLite that overwrites nothing."""
    with Engine(path) as engine:
        engine._storage.execute("PRAGMA secure_delete = OFF")
        delete_secrets(fill(engine, connect))
        engine._storage.execute("PRAGMA user_version = 1")
    assert traces(path, SECRET)


def test_a_store_of_an_earlier_version_is_rewritten_once(tmp_path: Path, connect: Any, caplog: Any) -> None:
    path = tmp_path / "store.db"
    make_old(path, connect)
    with Engine(path) as engine:
        assert traces(path, SECRET) == {}
        container = connect(engine).get_database_client("db").get_container_client("c")
        assert len(list(container.read_all_items())) == 40
    assert [record.message for record in caplog.records if "is rewritten once" in record.message] != []
    caplog.clear()
    Engine(path).close()
    assert caplog.records == []


def test_a_store_that_cannot_be_rewritten_is_opened_all_the_same(tmp_path: Path, connect: Any, caplog: Any) -> None:
    path = tmp_path / "store.db"
    make_old(path, connect)
    reader = sqlite3.connect(path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM items").fetchone()
    with Engine(path) as engine:
        container = connect(engine).get_database_client("db").get_container_client("c")
        assert len(list(container.read_all_items())) == 40
        reader.close()
    Engine(path).close()
    assert traces(path, SECRET) == {}


def test_an_sqlite_that_cannot_overwrite_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    class Deaf(sqlite3.Connection):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            return super().execute("SELECT 0" if "secure_delete" in sql else sql, *parameters)

    def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
        return Deaf(*arguments, **options)

    monkeypatch.setattr(embedded_cosmos.storage.sqlite3, "connect", connect)
    with pytest.raises(CosmosError, match="knows no 'PRAGMA secure_delete'"):
        Engine(tmp_path / "store.db")


def test_a_scrub_in_ram_or_after_the_end_has_nothing_to_do() -> None:
    with Engine() as engine:
        assert engine.scrub()
        assert engine.tidy()
    assert engine.scrub()
    assert engine.tidy()


def test_no_temporary_files_are_written(tmp_path: Path) -> None:
    with Engine(tmp_path / "store.db") as engine:
        assert engine._storage.execute("PRAGMA temp_store").fetchone() == (2,)
        assert sorted(os.listdir(tmp_path)) == ["store.db", "store.db-lock", "store.db-shm", "store.db-wal"]
