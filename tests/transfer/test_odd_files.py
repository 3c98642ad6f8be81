"""Odd files of other systems: a database of LangGraph's, empty and huge ones, other time zones, the same id twice.

The schema of the database is that of `langgraph-checkpoint-sqlite` 3.1; `make integrations ARGS=langgraph` reads one
that the package itself wrote.
"""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent_memory import AsyncMemory
from agent_memory.cli.main import app
from agent_memory.errors import InvalidInput
from agent_memory.transfer.moving import contents_of
from agent_memory.transfer.origins import Origin

TABLE = (
    "CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL, created_at TIMESTAMP,"
    " updated_at TIMESTAMP, expires_at TIMESTAMP, ttl_minutes REAL, PRIMARY KEY (prefix, key))"
)
SAID = "2025-05-04 10:00:00"
ITEMS: list[tuple[str, str, Any, datetime | None]] = [
    ("memories.ana", "tea", {"text": "Drinks green tea.", "cups": 3}, None),
    ("memories.ana", "bike", {"kind": "Memory", "content": {"content": "Cycles to work."}}, None),
    ("memories.ana", "parking", {"text": "Parked on level 3."}, datetime(2025, 5, 5, tzinfo=UTC)),
    ("memories.ana", "pass", {"text": "Has a visitor's pass."}, datetime.now(UTC) + timedelta(days=3650)),
    ("memories.bob", "ski", {"text": "Skis."}, None),
]


def database(path: Path, *statements: str, items: Any = ITEMS) -> Path:
    with closing(sqlite3.connect(path)) as made, made:
        made.execute(TABLE)
        for prefix, key, value, expires in items:
            stored = value if isinstance(value, bytes) else json.dumps(value).encode()
            row = (prefix, key, stored, SAID, SAID, None if expires is None else str(expires), None)
            made.execute("INSERT INTO store VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        for statement in statements:
            made.execute(statement)
    return path


def mem0(path: Path, *memories: dict[str, Any]) -> Path:
    common = {"user_id": "ana", "created_at": "2025-01-01T00:00:00Z"}
    path.write_text(json.dumps({"results": [common | {"id": str(n)} | one for n, one in enumerate(memories)]}))
    return path


@pytest.mark.parametrize("origin", [None, Origin.LANGGRAPH])
async def test_the_database_of_a_langgraph_store_comes_over(memory: AsyncMemory, tmp_path: Path, origin: Any):
    file = database(tmp_path / "store.db")
    before = file.read_bytes()
    ana = memory.user("ana")
    for expected in ({"memory": 3}, {}):
        assert (await ana.import_lines(contents_of(file, origin, "ana").lines)).created == expected
    found = {one.content: one for one in await ana.memories()}
    assert found.keys() == {"Drinks green tea.", "Cycles to work.", "Has a visitor's pass."}
    tea = found["Drinks green tea."]
    assert tea.created_at == datetime(2025, 5, 4, 10, tzinfo=UTC)
    assert tea.metadata == {"cups": 3, "namespace": ["memories", "ana"], "key": "tea", "imported_from": "langgraph"}
    assert found["Has a visitor's pass."].expires_at == ITEMS[3][3]
    assert file.read_bytes() == before
    with pytest.raises(InvalidInput, match="memories of 2 owners: memories/ana, memories/bob"):
        contents_of(file)


def test_a_database_that_is_still_in_use_is_read_with_what_is_not_in_its_file_yet(tmp_path: Path):
    file = database(tmp_path / "store.db", items=())
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("INSERT INTO store (prefix, key, value) VALUES ('memories.ana', 'k', '{\"text\": \"Skis.\"}')")
        assert contents_of(file).counts() == {"memory": 1}


@pytest.mark.parametrize(
    ("statements", "items", "said"),
    [
        ((), [("a", "k", b"{", None)], "the value of a/k is not valid JSON"),
        ((), [("a", "k", b"\xff", None)], "the value of a/k is not valid JSON"),
        ((), [("a", "k", b"[" * 100_000, None)], "the value of a/k is not valid JSON"),
        ((), [], "its list of memories is empty"),
        (("DROP TABLE store",), ITEMS, "no table of a LangGraph store"),
        (("ALTER TABLE store DROP COLUMN value",), ITEMS, "no table of a LangGraph store"),
        (("ALTER TABLE store RENAME TO s", "CREATE VIEW store AS SELECT * FROM s"), ITEMS, "no table of a LangGraph"),
        (("UPDATE store SET expires_at = 'soon'",), ITEMS, "not a time: 'soon'"),
        (("UPDATE store SET created_at = 'soon'",), ITEMS[:1], "memory 1 of the file: created_at"),
    ],
)
def test_another_database_is_refused(tmp_path: Path, statements: tuple[str, ...], items: Any, said: str):
    with pytest.raises(InvalidInput, match=said):
        contents_of(database(tmp_path / "s.db", *statements, items=items), Origin.LANGGRAPH)


def test_a_damaged_database_is_refused(tmp_path: Path):
    file = database(tmp_path / "s.db")
    whole = file.read_bytes()
    for damaged in (whole[:100], whole[:5000], whole[:20] + b"\xff" * 2000 + whole[2020:]):
        file.write_bytes(damaged)
        with pytest.raises(InvalidInput):
            contents_of(file, Origin.LANGGRAPH)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        (" \r\n\t", "the file is empty"),
        ("[]", "its list of memories is empty"),
        ('{"results": []}', "its list of memories is empty"),
    ],
)
def test_an_empty_file_is_said_to_be_empty(tmp_path: Path, text: str, said: str):
    (tmp_path / "m.json").write_text(text)
    done = CliRunner().invoke(app, ["import", str(tmp_path / "m.json"), "--from", "mem0", "--dry-run"])
    assert done.exit_code == 2
    assert said in done.output


async def test_times_of_other_zones_are_kept_in_utc(memory: AsyncMemory, tmp_path: Path):
    times = ["2025-01-01T00:00:00+05:30", "2025-01-01T00:00:00-08:00", "2025-01-01", 1735689600]
    file = mem0(tmp_path / "m.json", *({"memory": f"Fact {n}", "created_at": time} for n, time in enumerate(times)))
    (tmp_path / "bom.json").write_bytes(b"\xef\xbb\xbf" + file.read_bytes())  # as programs of Windows write it
    await memory.user("ana").import_lines(contents_of(tmp_path / "bom.json").lines)
    kept = {one.content: one.created_at for one in await memory.user("ana").memories()}
    midnight = datetime(2025, 1, 1, tzinfo=UTC)
    hours = [-5.5, 8, 0, 0]
    assert kept == {f"Fact {n}": midnight + timedelta(hours=shift) for n, shift in enumerate(hours)}


async def test_the_same_id_twice_is_the_same_memory_or_an_error(memory: AsyncMemory, tmp_path: Path):
    same = mem0(tmp_path / "same.json", *[{"id": "1", "memory": "Likes tea"}] * 2)
    assert (await memory.user("ana").import_lines(contents_of(same).lines)).created == {"memory": 1}
    other = mem0(tmp_path / "other.json", {"id": "1", "memory": "Likes tea"}, {"id": "1", "memory": "Likes coffee"})
    with pytest.raises(InvalidInput, match="memory 2 of the file has the id of memory 1, and another text"):
        contents_of(other)


def test_a_memory_that_no_store_takes_is_found_before_anything_is_written(tmp_path: Path):
    file = mem0(tmp_path / "m.json", {"memory": "Likes tea"}, {"memory": "word " * 500_000})
    with pytest.raises(InvalidInput, match="memory 2 of the file is larger than 1700000 bytes"):
        contents_of(file)
    assert contents_of(mem0(file, {"memory": "Likes tea", "metadata": {"note": "x" * 1_000_000}})).lines


def test_a_separator_of_lines_within_a_text_does_not_end_a_line_of_a_file(tmp_path: Path):
    said = ["one\u2028two", "three\x85four"]
    records = [
        json.dumps({"id": str(n), "user_id": "ana", "memory": text}, ensure_ascii=False) for n, text in enumerate(said)
    ]
    (tmp_path / "m.jsonl").write_text("\n".join(records), "utf-8")
    lines = [json.loads(line) for line in contents_of(tmp_path / "m.jsonl", Origin.MEM0, "ana").lines]
    assert [line["content"] for line in lines if line["type"] == "memory"] == said
