"""The database of LangGraph's SQLite store: its items, as `Item.dict()` would write them.

The schema is that of `langgraph-checkpoint-sqlite` 3: a table `store`, whose `prefix` is the namespace, with its labels
joined by full stops (LangGraph allows none in a label). Times are in UTC. The file is opened read-only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.transfer.imported import NoMemories, Record, is_past

_MAGIC = b"SQLite format 3\0"
_COLUMNS = "prefix, key, value, created_at, updated_at"


def is_sqlite(path: Path) -> bool:
    """Whether a file begins as a SQLite database does.

    Raises:
        OSError: if it cannot be read.
    """
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def items_in(path: Path) -> list[Record]:
    """The items of a store, without those that have expired.

    Raises:
        NoMemories: if the database is not that of a store of LangGraph.
        InvalidInput: if it is broken, or a value is no JSON.
    """
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")  # a schema from outside calls no functions
            return list(_items(path, database))
    except sqlite3.Error as error:
        broken = InvalidInput(f"{path}: the database cannot be read: {error}")
        broken.add_note("stop the program that uses it, and copy FILE-wal with it if there is one")
        raise broken from error


def _items(path: Path, database: sqlite3.Connection) -> Iterator[Record]:
    columns = {str(row[1]) for row in database.execute("PRAGMA table_info(store)")}
    plain = "SELECT 1 FROM sqlite_schema WHERE name = 'store' AND type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    if not database.execute(plain).fetchone() or not {"prefix", "key", "value"} <= columns:
        raise NoMemories(f"{path}: the database has no table of a LangGraph store")
    expiry = "expires_at" if "expires_at" in columns else "NULL"
    for prefix, key, value, created, updated, expires in database.execute(f"SELECT {_COLUMNS}, {expiry} FROM store"):
        if expires is not None and is_past(expires):
            continue
        item = {"namespace": str(prefix).split("."), "key": key, "value": _value(path, prefix, key, value)}
        yield item | {"created_at": created, "updated_at": updated, "expires_at": expires}


def _value(path: Path, prefix: object, key: object, value: bytes | str | float | None) -> Any:
    try:
        return json.loads(value)  # type: ignore[arg-type]  # a number or NULL is refused below
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{path}: the value of {prefix}/{key} is not valid JSON: {error}") from None
