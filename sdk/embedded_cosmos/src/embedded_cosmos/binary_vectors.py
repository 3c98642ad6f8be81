"""The vectors of stored documents, as binary numbers beside the JSON of the rest.

To parse the numbers of a vector takes several times as long as everything else of a document, and as text they take
two to five times as much space. So a stored body has `[]` in place of its vectors, which are in a table of their own.
Vectors that binary numbers would change (integers, other lengths) stay in the body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from embedded_cosmos.bodies import LOG, parse_body
from embedded_cosmos.catalog import Container
from embedded_cosmos.errors import CosmosError, damaged
from embedded_cosmos.properties import JsonObject
from embedded_cosmos.storage import Storage

WHOLE = "body, fields, numbers"
"""The columns of a whole document, in WITH_VECTORS."""
WITH_VECTORS = "items LEFT JOIN vectors ON vectors.item = items.number"
SET_VECTORS = """
INSERT INTO vectors VALUES (?, ?, ?)
ON CONFLICT (item) DO UPDATE SET fields = excluded.fields, numbers = excluded.numbers
WHERE fields <> excluded.fields OR numbers <> excluded.numbers
"""

_SINGLE, _DOUBLE = np.dtype("<f4"), np.dtype("<f8")
_ROWS_AT_ONCE = 1024


class Vectors(NamedTuple):
    """The vectors of one document.

    Attributes:
        fields: Their names and lengths, as JSON.
        numbers: All their numbers in this order, of 4 bytes if that is exact, else of 8.
    """

    fields: bytes
    numbers: bytes


def apart(document: JsonObject, body: bytes, lengths: Mapping[str, int]) -> tuple[bytes, Vectors | None]:
    """The body to store for a document, and the vectors that are stored beside it.

    Args:
        document: The document.
        body: Its JSON.
        lengths: The lengths of vectors in fields of the document, according to the policy.
    """
    fields: dict[str, int] = {}
    numbers: list[float] = []
    for name, length in lengths.items():
        vector, mark = document.get(name), _mark(name)
        start = body.find(mark)
        # If an inner object has such a field too, it stays.
        if vector is not None and _is_exact(vector, length) and body.find(mark, start + 1) < 0:
            end = start + len(mark) + len(orjson.dumps(vector))
            body = b"%b%b[]%b" % (body[:start], mark, body[end:])
            fields[name] = length
            numbers += vector
    if not fields:
        return body, None
    single = np.array(numbers, _SINGLE)
    is_enough = orjson.loads(_as_json(single)) == numbers
    return body, Vectors(orjson.dumps(fields), (single if is_enough else np.array(numbers, _DOUBLE)).tobytes())


def whole(item_id: str, body: bytes, fields: bytes | None, numbers: bytes | None) -> bytes:
    """The body of a document with its vectors; raises 500 when these are damaged."""
    if fields is None or numbers is None:
        return body
    row, start = _numbers_of(item_id, Vectors(fields, numbers)), 0
    for name, length in _lengths(fields).items():
        mark = _mark(name)
        body = body.replace(mark + b"[]", mark + _as_json(row[start : start + length]), 1)
        start += length
    return body


def sound_whole(item_id: str, body: bytes, fields: bytes | None, numbers: bytes | None) -> bytes | None:
    """The body of a document with its vectors; None when it is damaged, which is logged."""
    try:
        parse_body(item_id, body)
        return whole(item_id, body, fields, numbers)
    except CosmosError as error:
        LOG.error("Left out of what is read: %s", error.message)
        return None


class StoredDocuments:
    """The documents of a range as they are stored. Those in memory have no vectors."""

    def __init__(self, storage: Storage, container: Container, epk_min: str, epk_max: str) -> None:
        self._storage = storage
        self._range = (container.number, epk_min, epk_max)

    def document(self, number: int) -> JsonObject | None:
        """A document with its vectors; None if it is damaged."""
        body = sound_whole(*self._storage.execute(_ITEM, (number,)).fetchone())
        return None if body is None else orjson.loads(body)

    def vectors(self, field: str) -> Iterator[tuple[list[int], NDArray[Any]]]:
        """The binary vectors of a field: some items, and a matrix with a row for each."""
        cursor = self._storage.execute(_VECTORS, self._range)
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            for (fields, size), alike in groupby(rows, lambda row: (row[1], len(row[2]))):
                lengths = _lengths(fields)
                kind, count = _kind(fields, size), sum(lengths.values())
                if kind is None or field not in lengths:
                    continue
                by_item = {item: numbers for item, _, numbers in alike}
                matrix = np.frombuffer(b"".join(by_item.values()), kind).reshape(-1, count)
                start = sum(list(lengths.values())[: list(lengths).index(field)])
                yield list(by_item), matrix[:, start : start + lengths[field]]


def _is_exact(vector: Any, length: int) -> bool:
    """Whether a value is a vector of this length that binary numbers do not change."""
    if type(vector) is not list or len(vector) != length or {*map(type, vector)} != {float}:
        return False
    with np.errstate(over="ignore"):
        return bool(np.isfinite(np.array(vector, _SINGLE)).all())


def _numbers_of(item_id: str, vectors: Vectors) -> NDArray[Any]:
    kind = _kind(vectors.fields, len(vectors.numbers))
    if kind is None:
        raise damaged(item_id)
    return np.frombuffer(vectors.numbers, kind)


def _kind(fields: bytes, size: int) -> np.dtype[Any] | None:
    """The type of numbers that take so many bytes; None if these are no such fields."""
    count = sum(_lengths(fields).values())
    return next((kind for kind in (_SINGLE, _DOUBLE) if count and size == count * kind.itemsize), None)


@lru_cache(maxsize=64)
def _lengths(fields: bytes) -> dict[str, int]:
    """The lengths of vectors by field; none if this is no such JSON."""
    try:
        lengths = orjson.loads(fields)
    except orjson.JSONDecodeError:
        return {}
    is_sound = isinstance(lengths, dict) and all(isinstance(length, int) for length in lengths.values())
    return lengths if is_sound else {}


def _mark(name: str) -> bytes:
    # Inside of a text, a quotation mark has a backslash, so this is a name.
    return orjson.dumps(name) + b":"


def _as_json(numbers: NDArray[Any]) -> bytes:
    """As JSON, with the fewest digits that give the same numbers."""
    return orjson.dumps(numbers, option=orjson.OPT_SERIALIZE_NUMPY)


_ITEM = f"SELECT id, {WHOLE} FROM {WITH_VECTORS} WHERE number = ?"
_VECTORS = """
SELECT item, fields, numbers FROM items JOIN vectors ON vectors.item = items.number
WHERE container = ? AND epk >= ? AND epk < ?
"""
