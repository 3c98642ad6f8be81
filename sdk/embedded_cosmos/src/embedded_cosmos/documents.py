"""Items: point reads, and changes. Each change (a write or a batch) is one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import orjson

from embedded_cosmos.binary_vectors import SET_VECTORS, WHOLE, WITH_VECTORS, apart, sound_whole
from embedded_cosmos.bodies import encode_body
from embedded_cosmos.catalog import Container
from embedded_cosmos.errors import bad_request, conflict, damaged, not_found, precondition_failed, too_large
from embedded_cosmos.etags import check_etag, new_etag
from embedded_cosmos.partition import PartitionKey, key_of
from embedded_cosmos.patch import apply_patch
from embedded_cosmos.policies import check_item_id
from embedded_cosmos.properties import MAX_TTL, SYSTEM_PROPERTIES, JsonObject, is_ttl
from embedded_cosmos.query.execute import compile_condition
from embedded_cosmos.rids import item_rid, last_number
from embedded_cosmos.shards import ItemChange, ShardCache
from embedded_cosmos.storage import Storage

MAX_ITEM_BYTES = 2 * 1024 * 1024
KEY_MISMATCH = 1001
KEY_MISMATCH_MESSAGE = (
    "Partition key provided either doesn't correspond to definition in the collection"
    " or doesn't match partition key field values specified in the document."
)


@dataclass(frozen=True, slots=True)
class Item:
    """A stored version of a document; `body` is its JSON with the system's properties, empty if it is damaged."""

    number: int
    epk: str
    id: str
    body: bytes
    etag: str
    lsn: int

    def sound(self) -> Item:
        """The same item; raises 500 when it is damaged."""
        if not self.body:
            raise damaged(self.id)
        return self


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions on the current version of an item. The request fails if they do not hold."""

    if_match: str | None = None
    if_none_match: str | None = None


UNCONDITIONAL = Conditions()


def check_size(size: int) -> None:
    """Raises 413 when an item of that many bytes is too large."""
    if size > MAX_ITEM_BYTES:
        raise too_large(f"The item has {size} bytes; the limit is {MAX_ITEM_BYTES}.")


class Documents:
    """The items of all containers."""

    def __init__(self, storage: Storage, shards: ShardCache, clock: Callable[[], float]) -> None:
        self._storage = storage
        self._shards = shards
        self._clock = clock
        self._last_item = storage.execute("SELECT coalesce(max(item), 0) FROM positions").fetchone()[0]

    def read(self, container: Container, key: PartitionKey, ref: str) -> Item:
        """The item of that id, or else of that rid; raises 404, or 500 if it is damaged."""
        self.expire(container)
        return _find(self._storage, container, key, ref).sound()

    def expire(self, container: Container) -> None:
        """Delete expired items. If the store cannot be written, they stay for now, and reads still work."""
        if container.next_expiry <= self._clock():
            with suppress(sqlite3.Error), self.change(container):
                pass

    @contextmanager
    def change(self, container: Container) -> Iterator[Change]:
        """A transaction on one container. The state in memory changes only after the commit."""
        with self._storage.transaction():
            change = Change(self._storage, container, self._clock(), self._last_item)
            yield change
            change.finish()
        # A rollback frees the item numbers of its change.
        self._last_item = change.last_item
        change.publish()
        self._shards.apply(container, change.changes)


class Change:
    """The writes of one transaction. They share one sequence number, as a batch does in Cosmos DB."""

    def __init__(self, storage: Storage, container: Container, now: float, last_item: int) -> None:
        self._storage = storage
        self._container = container
        self._ts = max(int(now), container.items_ts)
        self._next_expiry = container.next_expiry
        self.lsn = container.lsn + 1
        self.last_item = last_item
        self.changes: list[ItemChange] = []
        if self._next_expiry <= now:
            self._sweep(now)

    def read(self, key: PartitionKey, ref: str) -> Item:
        """The item as it is within this transaction; raises 404."""
        return _find(self._storage, self._container, key, ref)

    def create(self, key: PartitionKey, document: Any) -> Item:
        """Store a new document; raises 409 when the id is taken."""
        self._check(document, key)
        return self._insert(document, key)

    def upsert(self, key: PartitionKey, document: Any, conditions: Conditions = UNCONDITIONAL) -> tuple[Item, bool]:
        """Store a document, new or not; also says whether it is new. Conditions apply to an existing one."""
        self._check(document, key)
        existing = _by_id(self._storage, self._container, key, document["id"])
        if existing is None:
            return self._insert(document, key), True
        return self._update(existing, document, key, conditions), False

    def replace(self, key: PartitionKey, ref: str, document: Any, conditions: Conditions = UNCONDITIONAL) -> Item:
        """Store a new version of an existing item, perhaps under a new id; raises 404."""
        existing = self.read(key, ref)
        self._check(document, key)
        return self._update(existing, document, key, conditions)

    def patch(
        self,
        key: PartitionKey,
        ref: str,
        operations: Any,
        condition: str | None,
        conditions: Conditions = UNCONDITIONAL,
    ) -> Item:
        """Change parts of an existing item; raises 404, or 412 when `condition` does not hold."""
        existing = self.read(key, ref)
        document = orjson.loads(existing.sound().body)
        if condition is not None and not compile_condition(condition)(document):
            raise precondition_failed("The patch's condition does not hold for the item.")
        apply_patch(document, operations)
        if document.get("id") != existing.id:
            raise bad_request("A patch cannot change the id of an item.")
        self._check(document, key)
        return self._update(existing, document, key, conditions)

    def delete(self, key: PartitionKey, ref: str, conditions: Conditions = UNCONDITIONAL) -> Item:
        """Delete an item; raises 404."""
        existing = self.read(key, ref)
        check_etag(existing.etag, conditions.if_match, conditions.if_none_match)
        self._storage.execute("DELETE FROM items WHERE number = ?", (existing.number,))
        self.changes.append(ItemChange(existing.number, existing.epk, None))
        return existing

    def delete_all(self, key: PartitionKey) -> None:
        """Delete all items of a logical partition."""
        self._delete_where("epk = ?", key.epk)

    def finish(self) -> None:
        """Store the container's position, as the last statement of the transaction."""
        if self.changes:
            self._storage.execute(_ADVANCE, (self.lsn, self._ts, self.last_item, self._container.number))

    def publish(self) -> None:
        """Update the container in memory after the commit."""
        if self.changes:
            self._container.lsn = self.lsn
            self._container.items_ts = self._ts
        self._container.next_expiry = self._next_expiry

    def _check(self, document: Any, key: PartitionKey) -> None:
        if not isinstance(document, dict):
            raise bad_request("The body of an item must be a JSON object.")
        check_item_id(document.get("id"))
        properties = self._container.properties
        actual = key_of(document, properties.key_segments, properties.partition_key_version)
        if not key.is_full or actual.epk != key.epk:
            raise bad_request(KEY_MISMATCH_MESSAGE, KEY_MISMATCH)

    def _insert(self, document: JsonObject, key: PartitionKey) -> Item:
        self.last_item += 1
        return self._store(_INSERT, self.last_item, document, key)

    def _update(self, existing: Item, document: JsonObject, key: PartitionKey, conditions: Conditions) -> Item:
        check_etag(existing.etag, conditions.if_match, conditions.if_none_match)
        return self._store(_UPDATE, existing.number, document, key)

    def _store(self, statement: str, number: int, document: JsonObject, key: PartitionKey) -> Item:
        container, etag = self._container, new_etag()
        rid = item_rid(container.database.number, container.number, number)
        stored = {name: value for name, value in document.items() if name not in SYSTEM_PROPERTIES}
        stored["_rid"] = rid
        stored["_self"] = f"{container.self_link}docs/{rid}/"
        stored["_etag"] = etag
        stored["_attachments"] = "attachments/"
        stored["_ts"] = self._ts
        body = encode_body(stored)
        check_size(len(body))
        ttl, expires_at = self._expiry(stored)
        item = Item(number, key.epk, stored["id"], body, etag, self.lsn)
        kept, vectors = apart(stored, body, container.properties.vector_fields)
        values = (item.epk, item.id, kept, etag, self._ts, self.lsn, ttl, expires_at, container.number, number)
        try:
            self._storage.execute(statement, values)
        except sqlite3.IntegrityError:
            raise conflict(f"An item with the id '{item.id}' already exists under this partition key.") from None
        if vectors is not None:
            self._storage.execute(SET_VECTORS, (number, *vectors))
        elif container.properties.vector_fields:
            self._storage.execute("DELETE FROM vectors WHERE item = ?", (number,))
        self.changes.append(ItemChange(number, item.epk, stored))
        if expires_at is not None:
            self._next_expiry = min(self._next_expiry, expires_at)
        return item

    def _expiry(self, document: JsonObject) -> tuple[int | None, int | None]:
        default = self._container.properties.default_ttl
        if default is None:
            ttl = document.get("ttl")
            return (ttl if is_ttl(ttl) else None), None
        ttl = document.get("ttl", default)
        if not is_ttl(ttl):
            raise bad_request(f"The item's 'ttl' must be -1 or from 1 to {MAX_TTL}, not {ttl!r}.")
        return document.get("ttl"), (None if ttl == -1 else self._ts + ttl)

    def _sweep(self, now: float) -> None:
        if self._delete_where("expires_at <= ?", now):
            # Expired items must leave the file for good.
            self._storage.scrub_due = True
        (earliest,) = self._storage.execute(_NEXT_EXPIRY, (self._container.number,)).fetchone()
        self._next_expiry = float("inf") if earliest is None else earliest

    def _delete_where(self, condition: str, value: object) -> int:
        where, values = f"FROM items WHERE container = ? AND {condition}", (self._container.number, value)
        rows = self._storage.execute(f"SELECT number, epk {where}", values).fetchall()
        self._storage.execute(f"DELETE {where}", values)
        self.changes.extend(ItemChange(number, epk, None) for number, epk in rows)
        return len(rows)


_COLUMNS = f"number, epk, id, etag, lsn, {WHOLE}"
_INSERT = """
INSERT INTO items (epk, id, body, etag, ts, lsn, ttl, expires_at, container, number)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_UPDATE = """
UPDATE items SET epk = ?, id = ?, body = ?, etag = ?, ts = ?, lsn = ?, ttl = ?, expires_at = ?
WHERE container = ? AND number = ?
"""
_ADVANCE = "UPDATE positions SET lsn = ?, ts = ?, item = ? WHERE container = ?"
_NEXT_EXPIRY = "SELECT min(expires_at) FROM items WHERE container = ? AND expires_at IS NOT NULL"
_BY_ID = f"SELECT {_COLUMNS} FROM {WITH_VECTORS} WHERE container = ? AND epk = ? AND id = ?"
_BY_NUMBER = f"SELECT {_COLUMNS} FROM {WITH_VECTORS} WHERE container = ? AND epk = ? AND number = ?"


def _find(storage: Storage, container: Container, key: PartitionKey, ref: str) -> Item:
    item = _by_id(storage, container, key, ref) or _by_rid(storage, container, key, ref)
    if item is None:
        raise not_found(f"Entity with the specified id does not exist in the system: '{ref}'.")
    return item


def _by_id(storage: Storage, container: Container, key: PartitionKey, item_id: str) -> Item | None:
    if not key.is_full:
        raise bad_request(KEY_MISMATCH_MESSAGE, KEY_MISMATCH)
    return _item(storage.execute(_BY_ID, (container.number, key.epk, item_id)).fetchone())


def _by_rid(storage: Storage, container: Container, key: PartitionKey, rid: str) -> Item | None:
    number = last_number(rid)
    if number is None or item_rid(container.database.number, container.number, number) != rid:
        return None
    return _item(storage.execute(_BY_NUMBER, (container.number, key.epk, number)).fetchone())


def _item(row: Sequence[Any] | None) -> Item | None:
    if row is None:
        return None
    number, epk, item_id, etag, lsn, *stored = row
    return Item(number, epk, item_id, sound_whole(item_id, *stored) or b"", etag, lsn)
