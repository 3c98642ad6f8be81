"""Vectors of a shard as one float32 matrix, and the distance functions of VectorDistance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast, get_args

import numpy as np
from numpy.typing import NDArray

from embedded_cosmos.properties import DistanceFunction
from embedded_cosmos.query.columns import Slots, grown
from embedded_cosmos.sql.values import UNDEFINED, Json

Vector = NDArray[np.float32]
Scores = NDArray[np.float64]

DISTANCE_FUNCTIONS: tuple[DistanceFunction, ...] = get_args(DistanceFunction)
_NUMBERS = {int, float}

# Picking a row out of the matrix costs as much as multiplying several in place; small copies stay in the cache.
_COPY_COST = 5
_CHUNK = 256


def as_vector(value: Json) -> Vector | None:
    """The array as float32; None when it is not a non-empty array of numbers that a float32 can hold."""
    if type(value) is not list or not value or not _NUMBERS.issuperset(map(type, value)):
        return None
    with np.errstate(over="ignore"):
        vector = np.array(value, np.float64).astype(np.float32)
    return vector if np.isfinite(vector).all() else None


def ascending(function: DistanceFunction) -> bool:
    """Whether the nearest vectors have the lowest values: a distance does, a similarity does not."""
    return function == "euclidean"


def distance(first: Vector | None, second: Vector | None, function: DistanceFunction) -> Json:
    """VectorDistance of two values; undefined unless they are vectors of the same dimension."""
    if first is None or second is None or first.shape != second.shape:
        return UNDEFINED
    return float(_scores(first[np.newaxis], _norms(first[np.newaxis]), second, function)[0])


class VectorIndex:
    """The vectors of one path by slot."""

    def __init__(self, dimensions: int, capacity: int) -> None:
        self._capacity = capacity
        self._matrix = np.zeros((0, dimensions), np.float32)
        """Starts empty, because most shards have no vectors."""
        self._norms = np.zeros(capacity, np.float32)
        self._present = np.zeros(capacity, np.bool_)
        self._count = 0

    @property
    def dimensions(self) -> int:
        """The length of every vector."""
        return self._matrix.shape[1]

    @property
    def nbytes(self) -> int:
        """The memory held; rows that were never written take none."""
        return self._count * 4 * self.dimensions + self._norms.nbytes + self._present.nbytes

    def reserve(self, capacity: int) -> None:
        """Make room for slots below the capacity."""
        self._capacity = capacity
        self._norms = grown(self._norms, capacity)
        self._present = grown(self._present, capacity)
        if len(self._matrix):
            self._matrix = grown(self._matrix, capacity)

    def put(self, slot: int, value: Json) -> None:
        """Set the vector of a slot that has none; what is not a vector of this dimension counts as none."""
        vector = as_vector(value)
        if vector is None or len(vector) != self.dimensions:
            return
        if not len(self._matrix):
            self._matrix = grown(self._matrix, self._capacity)
        self._matrix[slot] = vector
        self._norms[slot] = math.sqrt(float(vector @ vector))
        self._present[slot] = True
        self._count += 1

    def fill(self, slots: Sequence[int], vectors: Vector) -> None:
        """Set the vectors of slots that have none: the rows of a matrix, finite numbers all."""
        if not len(self._matrix):
            self._matrix = grown(self._matrix, self._capacity)
        self._matrix[slots] = vectors
        self._norms[slots] = _norms(self._matrix[slots])
        self._present[slots] = True
        self._count += len(slots)

    def has(self, slot: int) -> bool:
        """Whether a slot has a vector."""
        return bool(self._present[slot])

    def discard(self, slot: int) -> None:
        """Take the vector of a slot out again, if it has one."""
        self._count -= int(self._present[slot])
        self._present[slot] = False

    def scores(self, slots: Slots, query: Vector, function: DistanceFunction) -> Scores:
        """The distance function for these slots; NaN where a document has no vector."""
        if not len(self._matrix):
            return np.full(len(slots), np.nan)
        size = int(np.max(slots, initial=-1)) + 1
        if len(slots) * _COPY_COST > size:
            scores = _scores(self._matrix[:size], self._norms[:size], query, function)[slots]
        else:
            scores = np.empty(len(slots), np.float64)
            norms = self._norms[slots]
            rows = np.empty((min(_CHUNK, len(slots)), self.dimensions), np.float32)
            for start in range(0, len(slots), _CHUNK):
                end = start + _CHUNK
                # Unlike an index, `take` writes to memory that is in the cache already.
                chosen = np.take(self._matrix, slots[start:end], axis=0, out=rows[: len(slots) - start], mode="clip")
                scores[start:end] = _scores(chosen, norms[start:end], query, function)
        scores[~self._present[slots]] = np.nan
        return scores


def _norms(matrix: Vector) -> Vector:
    return cast(Vector, np.sqrt(np.vecdot(matrix, matrix)))


def _scores(matrix: Vector, norms: Vector, query: Vector, function: DistanceFunction) -> Scores:
    if function == "euclidean":
        return _norms(matrix - query).astype(np.float64)
    # One core only: on several busy cores, a product waits for the slowest.
    products: Scores = np.vecdot(matrix, query).astype(np.float64)
    if function == "cosine":
        lengths = norms.astype(np.float64) * math.sqrt(float(query @ query))
        lengths[lengths == 0] = 1.0  # the product with a vector of length 0 is 0
        products /= lengths
    return products
