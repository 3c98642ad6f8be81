"""Databases and containers: held in memory, written through to SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import orjson

from embedded_cosmos.errors import conflict, not_found
from embedded_cosmos.etags import check_etag, new_etag
from embedded_cosmos.offers import Offers, throughput_of
from embedded_cosmos.partition import EpkRange
from embedded_cosmos.partition_map import Partitioning, PartitionMap, partition_map
from embedded_cosmos.policies import changed_definition, check_name, new_definition
from embedded_cosmos.properties import ContainerProperties, JsonObject
from embedded_cosmos.rids import container_rid, database_rid, last_number
from embedded_cosmos.storage import Storage

OWNER_NOT_FOUND = 1003


@dataclass(frozen=True, slots=True)
class Database:
    """A database."""

    number: int
    id: str
    etag: str
    ts: int

    @property
    def rid(self) -> str:
        """The resource id."""
        return database_rid(self.number)

    @property
    def self_link(self) -> str:
        """The path of rids that names the database."""
        return f"dbs/{self.rid}/"

    def to_json(self) -> JsonObject:
        """The resource as clients see it."""
        return {
            "id": self.id,
            "_rid": self.rid,
            "_self": self.self_link,
            "_etag": self.etag,
            "_colls": "colls/",
            "_users": "users/",
            "_ts": self.ts,
        }


@dataclass(slots=True)
class Container:
    """A container, with the position of its sequence of changes."""

    number: int
    database: Database
    definition: JsonObject
    etag: str
    ts: int
    lsn: int = 0
    items_ts: int = 0
    last_item: int = 0
    next_expiry: float = float("inf")
    """No item expires before this."""
    id: str = field(init=False)
    rid: str = field(init=False)
    properties: ContainerProperties = field(init=False)
    partitions: PartitionMap = field(init=False)
    """A single one, unless the engine simulates more."""
    alt_path: str = field(init=False)

    def __post_init__(self) -> None:
        self.id = self.definition["id"]
        self.rid = container_rid(self.database.number, self.number)
        self.alt_path = f"dbs/{self.database.id}/colls/{self.id}"
        self.redefine(self.definition)
        self.divide(1)

    def divide(self, count: int) -> None:
        """Set the number of partitions."""
        self.partitions = partition_map(count, self.properties.partition_key_version)

    def redefine(self, definition: JsonObject) -> None:
        """Apply a changed definition."""
        self.definition = definition
        self.properties = ContainerProperties.from_json({**definition, "_rid": self.rid})

    @property
    def self_link(self) -> str:
        """The path of rids that names the container."""
        return f"dbs/{self.database.rid}/colls/{self.rid}/"

    def to_json(self) -> JsonObject:
        """The resource as clients see it."""
        return {
            **self.definition,
            "_rid": self.rid,
            "_ts": self.ts,
            "_self": self.self_link,
            "_etag": self.etag,
            "_docs": "docs/",
            "_sprocs": "sprocs/",
            "_triggers": "triggers/",
            "_udfs": "udfs/",
            "_conflicts": "conflicts/",
        }


@dataclass(frozen=True, slots=True)
class Usage:
    """How many items a container has, and how many bytes they take: JSON, and binary vectors."""

    items: int
    nbytes: int

    @property
    def kibibytes(self) -> int:
        """The size in KiB, rounded up."""
        return -(-self.nbytes // 1024)


class Catalog:
    """All databases and containers of one store, with their offers."""

    def __init__(
        self, storage: Storage, offers: Offers, clock: Callable[[], float], partitioning: Partitioning
    ) -> None:
        self._storage = storage
        self._partitioning = partitioning
        self._offers = offers
        self._clock = clock
        self._databases = {row[1]: Database(*row) for row in storage.execute("SELECT * FROM databases")}
        self._containers: dict[tuple[int, str], Container] = {}
        by_number = {database.number: database for database in self._databases.values()}
        for number, database, definition, etag, ts, lsn, items_ts, last_item, next_expiry in storage.execute(_LOAD):
            self._add(
                Container(
                    number,
                    by_number[database],
                    orjson.loads(definition),
                    etag,
                    ts,
                    lsn,
                    items_ts,
                    last_item,
                    float("inf") if next_expiry is None else next_expiry,
                )
            )

    def databases(self) -> list[Database]:
        """All databases, oldest first."""
        return list(self._databases.values())

    def containers(self, database: Database) -> list[Container]:
        """All containers of a database, oldest first."""
        return [container for (owner, _), container in self._containers.items() if owner == database.number]

    def database(self, ref: str, substatus: int | None = None) -> Database:
        """The database of that name, or else of that rid."""
        return self._databases.get(ref) or _by_rid(self._databases.values(), ref, "database", substatus)

    def container(self, database: str, ref: str, substatus: int | None = None) -> Container:
        """The container of that name, or else of that rid."""
        owner = self.database(database, substatus)
        found = self._containers.get((owner.number, ref))
        return found or _by_rid(self.containers(owner), ref, "container", substatus)

    def create_database(self, body: JsonObject, offer: JsonObject | None) -> Database:
        """Make an empty database."""
        name, etag, ts = check_name(body.get("id")), new_etag(), int(self._clock())
        if name in self._databases:
            raise conflict(f"A database with the id '{name}' already exists.")
        with self._storage.transaction():
            cursor = self._storage.execute("INSERT INTO databases (id, etag, ts) VALUES (?, ?, ?)", (name, etag, ts))
            database = Database(_row_number(cursor), name, etag, ts)
            self._offers.create(database.self_link, database.rid, offer, ts)
        self._databases[name] = database
        return database

    def delete_database(self, database: Database, if_match: str | None) -> list[Container]:
        """Delete a database with everything in it. Returns the deleted containers."""
        check_etag(database.etag, if_match)
        gone = self.containers(database)
        with self._storage.transaction():
            self._storage.execute("DELETE FROM databases WHERE number = ?", (database.number,))
            for link in [database.self_link, *(container.self_link for container in gone)]:
                self._offers.delete(link)
        for container in gone:
            del self._containers[database.number, container.id]
        del self._databases[database.id]
        return gone

    def create_container(self, database: Database, body: JsonObject, offer: JsonObject | None) -> Container:
        """Make an empty container."""
        definition = new_definition(body)
        name, etag, ts = definition["id"], new_etag(), int(self._clock())
        if (database.number, name) in self._containers:
            raise conflict(f"A container with the id '{name}' already exists in database '{database.id}'.")
        with self._storage.transaction():
            cursor = self._storage.execute(
                "INSERT INTO containers (database, id, definition, etag, ts) VALUES (?, ?, ?, ?, ?)",
                (database.number, name, orjson.dumps(definition), etag, ts),
            )
            number = _row_number(cursor)
            self._storage.execute("INSERT INTO positions VALUES (?, 0, 0, 0)", (number,))
            container = Container(number, database, definition, etag, ts)
            self._offers.create(container.self_link, container.rid, offer, ts)
        return self._add(container)

    def replace_container(self, container: Container, body: JsonObject, if_match: str | None) -> None:
        """Change a container's TTL, indexing or full-text policy."""
        check_etag(container.etag, if_match)
        definition = changed_definition(container.definition, body)
        etag, ts, default_ttl = new_etag(), int(self._clock()), definition.get("defaultTtl")
        with self._storage.transaction():
            self._storage.execute(
                "UPDATE containers SET definition = ?, etag = ?, ts = ? WHERE number = ?",
                (orjson.dumps(definition), etag, ts, container.number),
            )
            if default_ttl != container.definition.get("defaultTtl"):
                self._storage.execute(_RESET_EXPIRY, (default_ttl, default_ttl, default_ttl, container.number))
        container.etag, container.ts = etag, ts
        container.redefine(definition)
        # This may be too early. Then the next sweep finds nothing and corrects it.
        container.next_expiry = 0

    def delete_container(self, container: Container, if_match: str | None) -> None:
        """Delete a container with all its items."""
        check_etag(container.etag, if_match)
        with self._storage.transaction():
            self._storage.execute("DELETE FROM containers WHERE number = ?", (container.number,))
            self._offers.delete(container.self_link)
        del self._containers[container.database.number, container.id]

    def usage(self, container: Container, epks: EpkRange) -> Usage:
        """The size of a range of a container. It reads the whole range, so it is computed on demand only."""
        return Usage(*self._storage.execute(_USAGE, (container.number, epks.min, epks.max)).fetchone())

    def _add(self, container: Container) -> Container:
        container.divide(self._partitioning.count(throughput_of(self._offers.of(container.self_link))))
        self._containers[container.database.number, container.id] = container
        return container


_LOAD = """
SELECT c.number, c.database, c.definition, c.etag, c.ts, p.lsn, p.ts, p.item,
       (SELECT min(expires_at) FROM items WHERE container = c.number AND expires_at IS NOT NULL)
FROM containers c JOIN positions p ON p.container = c.number ORDER BY c.number
"""

_USAGE = """
SELECT count(*), coalesce(sum(length(body) + coalesce(length(numbers), 0)), 0)
FROM items LEFT JOIN vectors ON vectors.item = items.number WHERE container = ? AND epk >= ? AND epk < ?
"""

# An item's own TTL counts only while the container's is set; -1 means never.
_RESET_EXPIRY = """
UPDATE items SET expires_at = CASE
    WHEN ? IS NULL OR coalesce(ttl, ?) = -1 THEN NULL
    ELSE ts + coalesce(ttl, ?) END
WHERE container = ?
"""

Resource = TypeVar("Resource", Database, Container)


def _by_rid(candidates: Iterable[Resource], ref: str, kind: str, substatus: int | None) -> Resource:
    number = last_number(ref)
    for candidate in candidates:
        if candidate.number == number and candidate.rid == ref:
            return candidate
    raise not_found(f"The {kind} '{ref}' does not exist.", substatus)


def _row_number(cursor: sqlite3.Cursor) -> int:
    number: Any = cursor.lastrowid
    return int(number)
