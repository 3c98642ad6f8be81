"""The SQLite file: its schema, transactions, and how it is opened safely.

Every acknowledged write is a committed transaction of the write-ahead log. With `synchronous=NORMAL` that survives
the death of the process (`kill -9`); a power failure may take the last few transactions, whole, without harm to the
file. With `FULL` every commit waits for the disk and survives that too.

Deleted data is overwritten (`secure_delete`), but earlier versions of a page stay in the write-ahead log until it is
cut. `scrub` cuts it, and overwrites copies that moved rows left in old pages. `scrub_due` says that it is needed.
No temporary files are written.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Literal

from embedded_cosmos.errors import EngineFileError
from embedded_cosmos.file_lock import FileLock
from embedded_cosmos.pages import zero_gaps

LOG = logging.getLogger(__name__)

Synchronous = Literal["NORMAL", "FULL"]

APPLICATION_ID = 0x436F736D  # "Cosm"
SCHEMA_VERSION = 4
CHANGING_VERSION = 3
"""A file of an earlier version that is being brought up to date (`upgrade.py`): bodies may contain their vectors."""
EARLIER_VERSIONS = (1, 2, CHANGING_VERSION)
"""1 did not overwrite deleted documents, 2 had all vectors in the bodies."""
BUSY_MILLISECONDS = 5000
"""How long a statement waits for another program that locks the file."""
MAX_VACUUM_IN_RAM = 256 * 1024 * 1024
"""Files up to this size in bytes are rewritten in RAM, larger ones through a temporary file."""

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


_VECTORS = """
-- The vectors of an item whose body has `[]` in their place; see binary_vectors.py.
CREATE TABLE IF NOT EXISTS vectors (
    item INTEGER PRIMARY KEY REFERENCES items ON DELETE CASCADE,
    fields BLOB NOT NULL,
    numbers BLOB NOT NULL
);
"""

_NO_VECTORS = "CREATE TEMP TABLE vectors (item INTEGER PRIMARY KEY, fields BLOB NOT NULL, numbers BLOB NOT NULL)"
"""Stands for the table in a file of an earlier version that is only read as yet: nothing is written to the file."""


class Storage:
    """One connection to one file, or to RAM when there is no path. Callers take turns; see `Engine`.

    Attributes:
        path: The file; None in RAM.
        scrub_due: Whether bytes of deleted documents may be in the file or its log that `scrub` would take out.
    """

    def __init__(self, path: Path | None, synchronous: Synchronous) -> None:
        self.path = path
        self.scrub_due = False
        self._is_read_elsewhere = False
        self._pages: IO[bytes] | None = None
        self._lock = None if path is None else FileLock(path)
        try:
            self._connection = _connect(None if self._lock is None else self._lock.store, path, synchronous)
        except BaseException:
            self._release()
            raise
        self.execute = self._connection.execute
        if self._lock is not None:
            # Closed after the connection: closing any descriptor of the file releases the connection's locks.
            self._pages = self._lock.store.open("r+b", buffering=0)
            if not self.is_outdated:
                self.scrub()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction: all statements of the block take effect, or none."""
        try:
            self.execute("BEGIN IMMEDIATE")
            yield
            self.execute("COMMIT")
        except BaseException:
            self.abandon()
            raise

    @property
    def is_outdated(self) -> bool:
        """Whether an earlier version wrote the file, which was not rewritten to its end since."""
        (version,) = self.execute("PRAGMA user_version").fetchone()
        return bool(version != SCHEMA_VERSION)

    @property
    def is_in_place(self) -> bool:
        """Whether the file was neither deleted nor replaced since it was opened."""
        return self._lock is None or self._lock.is_in_place

    def begin_upgrade(self) -> None:
        """Mark the file as being brought up to date, and give it the table for vectors.

        Raises an error of SQLite, with nothing changed, when the disk is full or another program writes.
        """
        with self.transaction():
            self.execute("DROP TABLE IF EXISTS temp.vectors")
            self.execute(_VECTORS)
            self.execute(f"PRAGMA user_version = {CHANGING_VERSION}")

    def rewrite(self) -> None:
        """Rewrite the file without unused space and what was deleted, and mark it as up to date.

        A crash leaves it unchanged. Raises an error of SQLite when the disk is full or another program reads.
        """
        query = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        if self.execute(query).fetchone()[0] > MAX_VACUUM_IN_RAM:
            self.execute("PRAGMA temp_store = FILE")
        try:
            self.execute("VACUUM")
            self.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        finally:
            with suppress(sqlite3.Error):
                self.execute("PRAGMA temp_store = MEMORY")

    def abandon(self) -> None:
        """Roll back a transaction that an interrupt left open."""
        if self._connection.in_transaction:
            self.execute("ROLLBACK")

    def scrub(self) -> bool:
        """Cut the log and overwrite the gaps of pages, so that neither holds deleted data.

        Costs a read of the whole file and three waits for the disk. Impossible as long as another program reads
        the file, since what it reads may be in the log; then, or if the disk fails, the result is False and the scrub
        stays due.
        """
        if self._pages is None:
            self.scrub_due = False
            return True
        self.scrub_due = True
        try:
            self.scrub_due = not self._scrub(self._pages)
        except (sqlite3.Error, OSError) as error:
            LOG.warning("What was deleted is not overwritten yet, which will be tried again: %s", error)
            return False
        if self.scrub_due != self._is_read_elsewhere:
            self._is_read_elsewhere = self.scrub_due
            LOG.warning(
                "Another program reads the store file: what was deleted stays in its log until that ends"
                if self.scrub_due
                else "What was deleted is overwritten now: the other program has ended"
            )
        return not self.scrub_due

    def _scrub(self, pages: IO[bytes]) -> bool:
        self.execute("PRAGMA busy_timeout = 0")
        try:
            (busy, _, _) = self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if busy:
                return False
            # This keeps other programs from writing. The log is empty, so the file holds all data.
            self.execute("BEGIN IMMEDIATE")
            try:
                (page_size,) = self.execute("PRAGMA page_size").fetchone()
                if zero_gaps(pages, page_size):
                    # SQLite's pages in memory still hold the old gaps and would write them again.
                    self.execute("PRAGMA shrink_memory")
                    os.fsync(pages.fileno())
            finally:
                self.execute("ROLLBACK")
        finally:
            self.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
        return True

    def close(self) -> None:
        """Close the file and let others open it."""
        if self.scrub_due:
            self.scrub()
        self._connection.close()
        if self._pages is not None:
            self._pages.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()


def _connect(file: Path | None, named: Path | None, synchronous: Synchronous) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            file or ":memory:", isolation_level=None, check_same_thread=False, timeout=BUSY_MILLISECONDS / 1000
        )
    except sqlite3.Error as error:
        raise EngineFileError(f"{named} cannot be opened: {error}.") from error
    try:
        _prepare(connection, named, synchronous)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise EngineFileError(f"{named} is not a store of embedded_cosmos, or is damaged: {error}.") from error
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
    if not is_new and version not in (SCHEMA_VERSION, *EARLIER_VERSIONS):
        raise EngineFileError(
            f"{path} has schema version {version}, but this version of embedded_cosmos reads up to {SCHEMA_VERSION}."
        )
    _overwrite_deleted(connection, path)
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA foreign_keys = ON")
    if is_new:
        marks = f"PRAGMA application_id = {APPLICATION_ID};PRAGMA user_version = {SCHEMA_VERSION};"
        connection.executescript(f"BEGIN;{_SCHEMA}{_VECTORS}{marks}COMMIT;")
        return
    damage = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if damage != "ok":
        raise EngineFileError(f"{path} is damaged: {damage}.")
    if version not in (SCHEMA_VERSION, CHANGING_VERSION):
        connection.execute(_NO_VECTORS)


def _overwrite_deleted(connection: sqlite3.Connection, path: Path | None) -> None:
    """Make SQLite overwrite deleted data, however it was compiled. Raises if it cannot."""
    row = connection.execute("PRAGMA secure_delete = ON").fetchone()
    if row is None or row[0] != 1:
        raise EngineFileError(
            f"{path or 'A store in RAM'} cannot be opened: this SQLite ({sqlite3.sqlite_version}) knows no"
            " 'PRAGMA secure_delete', so what is deleted would stay in the file. Use another build of Python or SQLite."
        )
