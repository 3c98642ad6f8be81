"""Which documents of which shards a query is about: slots, in the order of rids, shard after shard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embedded_cosmos.properties import JsonObject
from embedded_cosmos.query.columns import Slots
from embedded_cosmos.query.index import Shard


@dataclass(frozen=True, slots=True)
class Test:
    """A condition on a document, and whether it looks at vectors."""

    passes: Callable[[JsonObject], bool]
    whole: bool


@dataclass(frozen=True, slots=True)
class Part:
    """The documents selected in one shard; those that fail the test, if there is one, do not count."""

    shard: Shard
    slots: Slots
    test: Test | None

    def settled(self) -> Part:
        """The same documents, the test applied to all of them."""
        if self.test is None:
            return self
        document, passes, whole = self.shard.document, self.test.passes, self.test.whole
        passing = [slot for slot in self.slots.tolist() if passes(document(slot, whole))]
        return Part(self.shard, np.array(passing, np.intp), None)

    def documents(self, whole: bool) -> Iterator[JsonObject]:
        """The documents in order, the test applied one by one; whole ones have their vectors."""
        whole = whole or (self.test is not None and self.test.whole)
        documents = (self.shard.document(slot, whole) for slot in self.slots.tolist())
        return documents if self.test is None else filter(self.test.passes, documents)


@dataclass(frozen=True, slots=True)
class Selection:
    """All selected documents, numbered through."""

    parts: tuple[Part, ...]

    def settled(self) -> Selection:
        """The same documents, no test left to apply."""
        return Selection(tuple(part.settled() for part in self.parts))

    def __len__(self) -> int:
        return sum(len(part.slots) for part in self.parts)

    def documents(self, whole: bool) -> Iterator[JsonObject]:
        """The documents; of several shards in the order of their rids, as of one partition."""
        if len(self.parts) == 1:
            return self.parts[0].documents(whole)
        settled = self.settled()
        return settled.pick(np.argsort(settled.rids(), kind="stable"), whole)

    def rids(self) -> NDArray[np.int64]:
        """The rid of every selected document."""
        return _joined([part.shard.rids(part.slots) for part in self.parts], np.int64)

    def pick(self, positions: Slots, whole: bool) -> Iterator[JsonObject]:
        """The documents at these positions; the selection must be settled."""
        numbers, slots = self._places(positions)
        shards = [part.shard for part in self.parts]
        return (
            shards[number].document(slot, whole) for number, slot in zip(numbers.tolist(), slots.tolist(), strict=True)
        )

    def gather(
        self, values: Callable[[Part], NDArray[np.float64]], positions: Slots | None = None
    ) -> NDArray[np.float64]:
        """One number for every selected document, or for those at some positions, computed shard by shard."""
        if positions is None:
            return _joined([values(part) for part in self.parts], np.float64)
        numbers, slots = self._places(positions)
        gathered = np.empty(len(positions), np.float64)
        for number, part in enumerate(self.parts):
            here = numbers == number
            if here.any():
                gathered[here] = values(Part(part.shard, slots[here], None))
        return gathered

    def _places(self, positions: Slots) -> tuple[Slots, Slots]:
        """The number of the part that each position lies in, and the slot there."""
        if len(self.parts) == 1:
            return np.zeros(len(positions), np.intp), self.parts[0].slots[positions]
        ends = np.cumsum([len(part.slots) for part in self.parts])
        slots = np.concatenate([part.slots for part in self.parts])[positions] if self.parts else positions
        return np.searchsorted(ends, positions, side="right"), slots


def _joined(arrays: list[NDArray[np.float64]] | list[NDArray[np.int64]], dtype: type) -> NDArray:  # type: ignore[type-arg]
    return np.concatenate(arrays) if arrays else np.zeros(0, dtype)
