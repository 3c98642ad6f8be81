"""The first page of a long listing, read from the file while its shard is not in memory.

To load a shard of 100,000 documents takes seconds. `SELECT TOP n … FROM c WHERE … ORDER BY c.field DESC` needs one
text of each document, which is found without parsing, and a few whole documents: those with the highest texts. If they
give the n rows, no other document can be among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from embedded_cosmos.binary_vectors import StoredDocuments
from embedded_cosmos.bodies import sound_body
from embedded_cosmos.catalog import Container
from embedded_cosmos.query.execute import Scope, execute
from embedded_cosmos.query.index import Shard
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.aggregates import aggregates_of
from embedded_cosmos.sql.rows import window
from embedded_cosmos.sql.values import Json
from embedded_cosmos.storage import Storage

MANY = 20_000
"""Shards with at most this many documents are loaded in less than half a second, which serves later queries too."""
_MOST_ROWS = 1000
_TRIED = (4, 32)
"""For each row, how many documents are read; then how many if the first were too few."""

_QUOTE = ord('"')

_Key = tuple[bytes, int]


def first_page(storage: Storage, container: Container, query: ast.Query, scope: Scope) -> list[Json] | None:
    """The rows of the query. None if it is no such listing, or only the whole shard can tell."""
    field, (start, stop) = _ordered_by(query), window(query)
    if field is None or not stop or stop > _MOST_ROWS or container.properties.computed_properties:
        return None
    where = (container.number, scope.epk_min, scope.epk_max)
    if storage.execute(_NTH, (*where, MANY)).fetchone() is None:
        return None
    keys = _keys(storage.execute(_BODIES, where), field)
    if keys is None:
        return None
    keys.sort(reverse=True)
    stored = StoredDocuments(storage, container, scope.epk_min, scope.epk_max)
    for times in _TRIED:
        shard = _shard_of(storage, container, stored, keys[: times * stop], field)
        rows = None if shard is None else execute(query, [shard], scope, container.properties)
        if rows is None or len(rows) == stop - start:
            return rows
    return None


def _ordered_by(query: ast.Query) -> str | None:
    """The field by which a query lists items in descending order; None for any other query."""
    if len(query.sources) != 1 or len(query.order_by) != 1 or query.select.distinct or aggregates_of(query):
        return None
    [source], [item] = query.sources, query.order_by
    place = ast.property_of(item.expression)
    is_listing = isinstance(source.origin, ast.Identifier) and not source.iterate and not query.group_by
    descends = item.direction == "DESC" and not query.by_rank
    return place[1] if is_listing and descends and place is not None and place[0] == source.alias else None


def _keys(bodies: Iterator[tuple[int, str, bytes]], field: str) -> list[_Key] | None:
    """The text that each document has in the field, with its number; what has none sorts below, in descending order.

    None if a list or an object is there, which sorts above.
    """
    name = orjson.dumps(field) + b":"
    keys: list[_Key] = []
    for number, item_id, body in bodies:
        # Inside of a text, a quotation mark has a backslash, so this is a name, perhaps of an inner object.
        at = body.find(name)
        if at < 0:
            continue
        start = at + len(name) + 1
        end = body.find(b'"', start)
        key = body[start:end]
        if body[start - 1] != _QUOTE or b"\\" in key or body[at - 1] not in b",{" or body.find(name, start) >= 0:
            value = (sound_body(item_id, body) or {}).get(field)
            if isinstance(value, list | dict):
                return None
            if not isinstance(value, str):
                continue
            key = value.encode()
        keys.append((key, number))
    return keys


def _shard_of(
    storage: Storage, container: Container, stored: StoredDocuments, keys: Sequence[_Key], field: str
) -> Shard | None:
    """A shard of these documents alone. None if one cannot be read, or has its key only in an inner object."""
    shard = Shard(container.properties, stored.document)
    for key, number in sorted(keys, key=lambda each: each[1]):
        epk, item_id, body = storage.execute(_ITEM, (number,)).fetchone()
        document = sound_body(item_id, body)
        if document is None or not isinstance(value := document.get(field), str):
            return None
        if value.encode() != key:
            return None
        shard.put(number, document, epk)
    return shard


_WHERE = "FROM items WHERE container = ? AND epk >= ? AND epk < ?"
_NTH = f"SELECT 1 {_WHERE} LIMIT 1 OFFSET ?"
_BODIES = f"SELECT number, id, body {_WHERE}"
_ITEM = "SELECT epk, id, body FROM items WHERE number = ?"
