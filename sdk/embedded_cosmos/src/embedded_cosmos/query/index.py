"""The documents of one first-level partition key, in memory, with their indexes for queries.

Every document has a slot. Columns, texts and vectors are indexed when a query first needs them, and kept up to date
from then on. Documents are kept without the vectors of the policy, which would take most of the memory; a query that
shows or calculates with one as a value reads the document from the store. Slots are not reused, so that their order
stays the order of rids, which is Cosmos DB's own; when too many are dead the shard starts again with the live ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import Protocol, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from embedded_cosmos.properties import ContainerProperties, JsonObject, path_segments
from embedded_cosmos.query.analysis import Analyzer
from embedded_cosmos.query.columns import Column, Mask, Slots, grown
from embedded_cosmos.query.elements import ElementIndex
from embedded_cosmos.query.fulltext import TextIndex
from embedded_cosmos.query.vectors import Vector, VectorIndex
from embedded_cosmos.sql.operators import member
from embedded_cosmos.sql.values import UNDEFINED, Json

Keys = tuple[str | int, ...]

_FIRST_CAPACITY = 64
_DEAD_TOLERATED = 1024
_QUICKLY_FILTERED = 100_000
"""A filter scans this many slots in about 1 ms."""
_QUERIES_REMEMBERED = 256
_LONGEST_REMEMBERED = 8 * 1024
_LEFT_OUT: list[Json] = []
_BYTES_OF_JSON = 2.5
"""The memory that a document takes as Python objects, for each byte of its JSON. Measured: 2.3."""


class _Index(Protocol):
    @property
    def nbytes(self) -> int: ...

    def reserve(self, capacity: int) -> None: ...


class _Adding(_Index, Protocol):
    def add(self, slot: int, value: Json) -> None: ...


_I = TypeVar("_I", bound=_Index)
_A = TypeVar("_A", bound=_Adding)


class Shard:
    """The live documents of one first-level partition-key value of one container.

    Writers need exclusive access; readers may share it.

    Attributes:
        damaged: The ids, by rid, of documents that are in the store and cannot be read.
    """

    def __init__(
        self,
        properties: ContainerProperties,
        stored: Callable[[int], JsonObject | None],
        binary: Callable[[str], Iterable[tuple[Sequence[int], Vector]]] = lambda field: (),
    ) -> None:
        """An empty shard.

        Args:
            properties: Those of its container.
            stored: Reads the whole document of a rid from the store; None if it is damaged.
            binary: Reads the vectors of a field that the store has as binary numbers: rids, and a matrix of them.
        """
        self.properties = properties
        self._stored = stored
        self._binary = binary
        self._dimensions: dict[Keys, int] = {
            path_segments(path): embedding.dimensions for path, embedding in properties.vector_embeddings.items()
        }
        self.damaged: dict[int, str] = {}
        self._lock = Lock()
        self._clear()

    def _clear(self) -> None:
        self._slots: dict[int, int] = {}
        self._documents: list[JsonObject | None] = []
        self._sizes: list[int] = []
        self._document_bytes = 0
        self._rids = np.zeros(_FIRST_CAPACITY, np.int64)
        self._live = np.zeros(_FIRST_CAPACITY, np.bool_)
        self._in_rid_order = True
        self._epks = Column(_FIRST_CAPACITY)
        self._columns: dict[Keys, Column] = {}
        self._vectors: dict[Keys, VectorIndex] = {}
        self._texts: dict[Keys, TextIndex] = {}
        self._elements: dict[Keys, ElementIndex] = {}
        self._is_quick: dict[str, bool] = {}

    def put(self, rid: int, document: JsonObject, epk: str, size: int | None = None) -> None:
        """Insert the document, or replace the one of this rid. The shard keeps it; it must not change afterwards.

        As long as no query has used the shard, lists of the policy's vectors may be empty. `size` is that of the JSON
        without these, if it is known.
        """
        self.damaged.pop(rid, None)
        slot = self._slots.get(rid)
        if slot is None:
            slot = self._append(rid)
        else:
            self._forget(slot)
        self._store(slot, document, size)
        self._epks.put(slot, epk)
        for keys, column in list(self._columns.items()):
            column.put(slot, value_at(document, keys))
            if column.distinct_strings > 2 * len(self) + _DEAD_TOLERATED:
                del self._columns[keys]
                self._is_quick.clear()
        for keys, texts in self._texts.items():
            texts.add(slot, value_at(document, keys))
        for keys, elements in self._elements.items():
            elements.add(slot, value_at(document, keys))
        for keys, vectors in self._vectors.items():
            vectors.put(slot, value_at(document, keys))

    def remove(self, rid: int) -> None:
        """Remove the document with this rid, if there is one."""
        self.damaged.pop(rid, None)
        slot = self._slots.pop(rid, None)
        if slot is None:
            return
        self._forget(slot)
        self._documents[slot] = None
        self._live[slot] = False
        dead = self.size - len(self)
        if dead > _DEAD_TOLERATED and dead > len(self):
            self._compact()

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def size(self) -> int:
        """How many slots are in use, dead ones included."""
        return len(self._documents)

    @property
    def nbytes(self) -> int:
        """An estimate of the memory held."""
        own = self._rids.nbytes + self._live.nbytes + 100 * self.size
        return self._document_bytes + own + sum(index.nbytes for index in self._indexes())

    def document(self, slot: int, whole: bool = True) -> JsonObject:
        """The document of a live slot; unless it is to be whole, vectors of the policy may be empty."""
        document = self._documents[slot]
        assert document is not None, "a selected slot is live"
        if whole and any(value_at(document, keys) == _LEFT_OUT for keys in self._dimensions):
            return self._stored(int(self._rids[slot])) or document
        return document

    def within(self, epk_min: str, epk_max: str) -> Mask:
        """The live slots whose effective partition key is in the half-open range."""
        live = self._live[: self.size]
        first = self._epks.below(epk_min, inclusive=False)
        last = self._epks.below(epk_max, inclusive=False)
        if first == 0 and last == self._epks.distinct_strings:
            return live
        ranks = self._epks.ranks(self.size)
        return live & (ranks >= first) & (ranks < last)

    def in_order(self, slots: Slots) -> Slots:
        """The slots in the order of their rids."""
        return slots if self._in_rid_order else slots[np.argsort(self._rids[slots], kind="stable")]

    def rids(self, slots: Slots) -> NDArray[np.int64]:
        """The rids of these slots."""
        return self._rids[slots]

    def column(self, keys: Keys) -> Column:
        """The values of a property."""
        # Of a list, a column only knows that it is one.
        inside = any(len(keys) > len(of_vector) and overlap(keys, of_vector) for of_vector in self._dimensions)

        def build() -> Column:
            column = Column(len(self._rids))
            slots = list(self._slots.values())
            column.fill(slots, (value_at(self.document(slot, inside), keys) for slot in slots))
            return column

        return self._built(self._columns, keys, build)

    def reader(self, keys: Keys) -> Callable[[int], Json]:
        """What reads a property of a slot; vectors of the policy may be empty."""
        return lambda slot: value_at(self.document(slot, whole=False), keys)

    def vectors(self, keys: Keys) -> VectorIndex:
        """The vectors of a property that is in the vector policy."""

        def build() -> VectorIndex:
            index = VectorIndex(self._dimensions[keys], len(self._rids))
            if len(keys) == 1:
                for rids, matrix in self._binary(str(keys[0])):
                    known = np.array([rid in self._slots for rid in rids], np.bool_)
                    index.fill([self._slots[rid] for rid in rids if rid in self._slots], matrix[known])
            for slot in self._slots.values():
                if not index.has(slot) and value_at(self.document(slot, whole=False), keys) == _LEFT_OUT:
                    index.put(slot, value_at(self.document(slot), keys))
            return index

        return self._built(self._vectors, keys, build)

    def texts(self, keys: Keys, analyzer: Analyzer) -> TextIndex:
        """The inverted index of a property."""
        return self._built(self._texts, keys, lambda: self._filled(TextIndex(analyzer, len(self._rids)), keys))

    def elements(self, keys: Keys) -> ElementIndex:
        """The strings in the lists of a property that is no vector of the policy."""
        return self._built(self._elements, keys, lambda: self._filled(ElementIndex(), keys))

    def is_vector(self, keys: Keys) -> bool:
        """Whether a path is that of a vector of the policy, or of what contains one or is in one."""
        return any(overlap(keys, of_vector) for of_vector in self._dimensions)

    def _filled(self, index: _A, keys: Keys) -> _A:
        for slot in self._slots.values():
            index.add(slot, value_at(self.document(slot, whole=False), keys))
        return index

    def _built(self, indexes: dict[Keys, _I], keys: Keys, build: Callable[[], _I]) -> _I:
        index = indexes.get(keys)
        if index is None:
            with self._lock:
                index = indexes.get(keys)
                if index is None:
                    index = indexes[keys] = build()
        return index

    def is_quick(self, query: str) -> bool:
        """Whether a query ran over this shard, so that what it needs is built, and was not found to take long."""
        return self.size <= _QUICKLY_FILTERED and self._is_quick.get(query, False)

    def ran(self, query: str, *, quick: bool) -> None:
        """Remember that a query ran, or that it takes long. Once it takes long, that stays so.

        Long texts are not remembered: they contain their values and will not come again.
        """
        if len(query) > _LONGEST_REMEMBERED:
            return
        if len(self._is_quick) >= _QUERIES_REMEMBERED:
            self._is_quick.clear()
        self._is_quick[query] = quick and self._is_quick.get(query, True)

    def _append(self, rid: int) -> int:
        slot = len(self._documents)
        if slot == len(self._rids):
            self._grow(2 * slot)
        if slot and rid < self._rids[slot - 1]:
            self._in_rid_order = False
        self._slots[rid] = slot
        self._documents.append(None)
        self._sizes.append(0)
        self._rids[slot] = rid
        self._live[slot] = True
        return slot

    def _store(self, slot: int, document: JsonObject, size: int | None) -> None:
        for keys in self._dimensions:
            if type(vector := value_at(document, keys)) is list and vector:
                document, size = _with_value(document, keys, _LEFT_OUT), None
        self._documents[slot] = document
        self._sizes[slot] = int(_BYTES_OF_JSON * (size or len(orjson.dumps(document))))
        self._document_bytes += self._sizes[slot]

    def _forget(self, slot: int) -> None:
        document = self.document(slot, whole=False)
        self._document_bytes -= self._sizes[slot]
        for vectors in self._vectors.values():
            vectors.discard(slot)
        for keys, texts in self._texts.items():
            texts.discard(slot, value_at(document, keys))
        for keys, elements in self._elements.items():
            elements.discard(slot, value_at(document, keys))

    def _grow(self, capacity: int) -> None:
        self._rids = grown(self._rids, capacity)
        self._live = grown(self._live, capacity)
        for index in self._indexes():
            index.reserve(capacity)

    def _indexes(self) -> Iterator[_Index]:
        yield self._epks
        yield from self._columns.values()
        yield from self._vectors.values()
        yield from self._texts.values()
        yield from self._elements.values()

    def _compact(self) -> None:
        epks = self._epks
        living = [(rid, self.document(slot, whole=False), epks.string(slot)) for rid, slot in self._slots.items()]
        self._clear()
        for rid, document, epk in living:
            self.put(rid, document, epk)


def value_at(document: JsonObject, keys: Keys) -> Json:
    """The value at a path of constant keys, or undefined."""
    value: Json = document
    for key in keys:
        value = value.get(key, UNDEFINED) if type(value) is dict and type(key) is str else member(value, key)
    return value


def overlap(left: Keys, right: Keys) -> bool:
    """Whether one path is the other, or leads into it."""
    shared = min(len(left), len(right))
    return left[:shared] == right[:shared]


def _with_value(document: JsonObject, keys: Keys, value: Json) -> JsonObject:
    """A copy of the document with another value at a path that it has; members keep their order."""
    name, *rest = keys
    assert type(name) is str, "paths of policies have names only"
    return {**document, name: _with_value(document[name], tuple(rest), value) if rest else value}
