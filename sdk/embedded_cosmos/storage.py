"""The SQLite file: opening it safely, its schema, and transactions.

Every acknowledged write is a committed transaction of the write-ahead log. With `synchronous=NORMAL` that survives
the death of the process (`kill -9`); a power failure may take the last few transactions, whole, without harm to the
file. With `FULL` every commit waits for the disk and survives that too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from embedded_cosmos.errors import EngineFileError
from embedded_cosmos.file_lock import FileLock

Synchronous = Literal["NORMAL", "FULL"]

APPLICATION_ID = 0x436F736D  # "Cosm"
SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE databases (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    etag TEXT NOT NULL,
    ts INTEGER NOT NULL
);
CREATE TABLE containers (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    database INTEGER NOT NULL REFERENCES databases ON DELETE CASCADE,
    id TEXT NOT NULL,
    definition BLOB NOT NULL,
    etag TEXT NOT NULL,
    ts INTEGER NOT NULL,
    UNIQUE (database, id)
);
-- Apart from the definition, because every write moves it: the last sequence number, time and item number in use.
CREATE TABLE positions (
    container INTEGER PRIMARY KEY REFERENCES containers ON DELETE CASCADE,
    lsn INTEGER NOT NULL,
    ts INTEGER NOT NULL,
    item INTEGER NOT NULL
);
CREATE TABLE items (
    number INTEGER PRIMARY KEY,
    container INTEGER NOT NULL REFERENCES containers ON DELETE CASCADE,
    epk TEXT NOT NULL,
    id TEXT NOT NULL,
    body BLOB NOT NULL,
    etag TEXT NOT NULL,
    ts INTEGER NOT NULL,
    lsn INTEGER NOT NULL,
    ttl INTEGER,
    expires_at INTEGER,
    UNIQUE (container, epk, id)
);
CREATE INDEX items_in_order ON items (container, lsn);
CREATE INDEX items_expiring ON items (container, expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE offers (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    resource TEXT NOT NULL UNIQUE,
    body BLOB NOT NULL
);
"""


class Storage:
    """One connection to one file, or to RAM when there is no path. Callers take turns; see `Engine`."""

    def __init__(self, path: Path | None, synchronous: Synchronous) -> None:
        self._lock = None if path is None else FileLock(path)
        try:
            self._connection = _connect(path, synchronous)
        except BaseException:
            self._release()
            raise
        self.execute = self._connection.execute

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of the block's statements, or none of them."""
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Roll back what an interrupt may have left open."""
        if self._connection.in_transaction:
            self.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file and let others open it."""
        self._connection.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()


def _connect(path: Path | None, synchronous: Synchronous) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(path or ":memory:", isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise EngineFileError(f"{path} cannot be opened: {error}.") from error
    try:
        _prepare(connection, path, synchronous)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise EngineFileError(f"{path} is not a store of embedded_cosmos, or is damaged: {error}.") from error
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path | None, synchronous: Synchronous) -> None:
    application, version, tables = (
        connection.execute(query).fetchone()[0]
        for query in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
    )
    is_new = tables == 0 and application == 0
    if not is_new and application != APPLICATION_ID:
        raise EngineFileError(f"{path} is an SQLite database of another program, not a store of embedded_cosmos.")
    if not is_new and version != SCHEMA_VERSION:
        raise EngineFileError(
            f"{path} has schema version {version}, but this version of embedded_cosmos reads {SCHEMA_VERSION}."
        )
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA foreign_keys = ON")
    if is_new:
        connection.executescript(
            f"BEGIN;{_SCHEMA}PRAGMA application_id = {APPLICATION_ID};PRAGMA user_version = {SCHEMA_VERSION};COMMIT;"
        )
        return
    damage = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if damage != "ok":
        raise EngineFileError(f"{path} is damaged: {damage}.")
