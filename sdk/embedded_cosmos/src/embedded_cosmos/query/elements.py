"""Which documents of a shard have a string in a list: an inverted index of one property, kept up to date."""

from __future__ import annotations

import numpy as np

from embedded_cosmos.query.columns import Mask
from embedded_cosmos.sql.values import Json

_BYTES_PER_STRING = 320
"""The memory of a string's entry and of a set of up to four slots. Measured: 300 to 330."""


class ElementIndex:
    """The strings in the lists of one property, and the slots whose list has each."""

    def __init__(self) -> None:
        self._slots: dict[str, set[int]] = {}

    @property
    def nbytes(self) -> int:
        """An estimate of the memory held."""
        return _BYTES_PER_STRING * len(self._slots)

    def reserve(self, capacity: int) -> None:
        """Nothing: there is no array to make room in."""

    def add(self, slot: int, value: Json) -> None:
        """Index the list of a slot that has none. Anything but a list has no elements."""
        for text in _strings(value):
            self._slots.setdefault(text, set()).add(slot)

    def discard(self, slot: int, value: Json) -> None:
        """Remove the list of a slot; it must be the one that was added."""
        for text in _strings(value):
            slots = self._slots[text]
            slots.discard(slot)
            if not slots:
                del self._slots[text]

    def having(self, text: str, size: int) -> Mask:
        """The slots, of the first so many, whose list has this string."""
        mask = np.zeros(size, np.bool_)
        mask[list(self._slots.get(text, ()))] = True
        return mask


def _strings(value: Json) -> set[str]:
    return {item for item in value if type(item) is str} if type(value) is list else set()
