"""One property of all documents of a shard as arrays, for filters and sorting without touching the documents."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from embedded_cosmos.sql.values import EXACT_INTEGER, UNDEFINED, Json

_T = TypeVar("_T", bound=np.generic)
Mask = NDArray[np.bool_]
Slots = NDArray[np.intp]
NO_CODE = -1
"""The code for a string that no document ever had."""


class Kind(IntEnum):
    """The type of a value, in the order of ORDER BY."""

    UNDEFINED = 0
    NULL = 1
    FALSE = 2
    TRUE = 3
    NUMBER = 4
    STRING = 5
    ARRAY = 6
    OBJECT = 7


_KINDS: dict[type, Kind] = {int: Kind.NUMBER, float: Kind.NUMBER, str: Kind.STRING, list: Kind.ARRAY, dict: Kind.OBJECT}


def kind_of(value: Json) -> Kind:
    """The kind of a JSON value or of `undefined`."""
    kind = _KINDS.get(type(value))
    if kind is not None:
        return kind
    if value is None:
        return Kind.NULL
    if value is UNDEFINED:
        return Kind.UNDEFINED
    return Kind.TRUE if value else Kind.FALSE


class Column:
    """The kind of every slot's value, and the value itself: a number, or the code of an interned string."""

    def __init__(self, capacity: int) -> None:
        self.kinds = np.zeros(capacity, np.uint8)
        self.values = np.zeros(capacity, np.float64)
        self.exact = True
        """Whether every number is held exactly; integers beyond 2^53 are not."""
        self._codes: dict[str, int] = {}
        self._strings: list[str] = []
        self._sorted: tuple[list[str], NDArray[np.int32]] = ([], np.zeros(0, np.int32))

    def reserve(self, capacity: int) -> None:
        """Make room for slots below the capacity."""
        self.kinds = grown(self.kinds, capacity)
        self.values = grown(self.values, capacity)

    def put(self, slot: int, value: Json) -> None:
        """Set the value of a slot."""
        kind = kind_of(value)
        self.kinds[slot] = kind
        self.values[slot] = self._encoded(kind, value)

    def fill(self, slots: Sequence[int], of_slots: Iterable[Json]) -> None:
        """Set the values of many slots."""
        values = list(of_slots)
        kinds = list(map(kind_of, values))
        self.kinds[slots] = kinds
        self.values[slots] = list(map(self._encoded, kinds, values))

    def _encoded(self, kind: Kind, value: Json) -> float:
        if kind is Kind.STRING:
            code = self._codes.get(value)
            if code is None:
                code = self._codes[value] = len(self._strings)
                self._strings.append(value)
            return code
        if kind is Kind.NUMBER:
            if type(value) is int and abs(value) > EXACT_INTEGER:
                self.exact = False
            return float(value)
        return 0.0

    @property
    def distinct_strings(self) -> int:
        """How many distinct strings were ever stored, including those of replaced documents."""
        return len(self._strings)

    @property
    def nbytes(self) -> int:
        """An estimate of the memory held."""
        return self.kinds.nbytes + self.values.nbytes + 120 * len(self._strings)

    def code(self, text: str) -> int:
        """The code of a string; NO_CODE when no document ever had it."""
        return self._codes.get(text, NO_CODE)

    def string(self, slot: int) -> str:
        """The value of a slot that holds a string."""
        return self._strings[int(self.values[slot])]

    def below(self, text: str, *, inclusive: bool) -> int:
        """How many distinct strings come before this one (or are it)."""
        strings, _ = self._order()
        return bisect_right(strings, text) if inclusive else bisect_left(strings, text)

    def ranks(self, size: int) -> NDArray[np.float64]:
        """Sort values of the first slots: their number, or the rank of their string. Other kinds have none."""
        values = self.values[:size]
        strings = self.kinds[:size] == Kind.STRING
        if not strings.any():
            return values
        _, ranks = self._order()
        codes = np.where(strings, values, 0).astype(np.intp)
        return np.where(strings, ranks[codes], values)

    def _order(self) -> tuple[list[str], NDArray[np.int32]]:
        ordered, ranks = self._sorted
        count = len(self._strings)
        if len(ordered) != count:
            # The list is mostly sorted, so Python's sort needs one pass.
            ordered = sorted([*ordered, *self._strings[len(ordered) : count]])
            ranks = np.empty(count, np.int32)
            ranks[[self._codes[text] for text in ordered]] = np.arange(count, dtype=np.int32)
            self._sorted = (ordered, ranks)
        return ordered, ranks


def grown(array: NDArray[_T], capacity: int) -> NDArray[_T]:
    """A copy of the array with zeros up to the capacity."""
    copy = np.zeros((capacity, *array.shape[1:]), array.dtype)
    copy[: len(array)] = array
    return copy
