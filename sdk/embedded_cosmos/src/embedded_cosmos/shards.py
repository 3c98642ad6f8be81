"""Shards: the documents that queries read, in memory. Each value of the first key level has one, loaded on demand.

SQLite holds the truth. A shard is filled at the first query that needs it, then follows every committed change, and
is dropped whole, least recently used first, when all but the largest together pass the limit. The largest does not
count: otherwise, if it alone passed the limit, any two queries in turn would load it each time, which takes seconds.
"""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter

from embedded_cosmos.binary_vectors import StoredDocuments
from embedded_cosmos.bodies import sound_body
from embedded_cosmos.catalog import Container
from embedded_cosmos.partition import EPK_LEVEL_DIGITS, MAX_EPK, EpkRange, shard_key
from embedded_cosmos.properties import JsonObject
from embedded_cosmos.query.index import Shard
from embedded_cosmos.storage import Storage

ShardId = tuple[int, str]


@dataclass(frozen=True, slots=True)
class ItemChange:
    """A committed write: the new document, or None when the item is gone."""

    number: int
    epk: str
    document: JsonObject | None


class ShardCache:
    """The loaded shards of all containers."""

    def __init__(self, storage: Storage, limit: int) -> None:
        self._storage = storage
        self._limit = limit
        self._shards: OrderedDict[ShardId, Shard] = OrderedDict()
        self._sizes: dict[ShardId, int] = {}
        self._total = 0

    @contextmanager
    def covering(self, container: Container, epks: EpkRange) -> Iterator[list[Shard]]:
        """The shards that hold any item of the range, in the order of their keys."""
        shards = {(container.number, key): self._load(container, key) for key in self.keys(container, epks)}
        yield list(shards.values())
        # A query builds columns, vectors and postings, so their size is known only now.
        for shard_id, shard in shards.items():
            self._total += shard.nbytes - self._sizes.get(shard_id, 0)
            self._sizes[shard_id] = shard.nbytes
        largest = max(self._sizes, key=self._sizes.__getitem__, default=None)
        dropping = (shard_id for shard_id in list(self._shards) if shard_id != largest)
        while largest is not None and self._total - self._sizes[largest] > self._limit:
            self._drop(next(dropping))

    def loaded(self, container: Container, epks: EpkRange) -> Shard | None:
        """The one shard that holds all items of the range, if it is in memory."""
        return self._shards.get((container.number, shard_key(epks.min))) if is_in_one_shard(epks) else None

    def apply(self, container: Container, changes: Iterable[ItemChange]) -> None:
        """Apply a commit to the loaded shards."""
        for change in changes:
            shard_id = (container.number, shard_key(change.epk))
            shard = self._shards.get(shard_id)
            if shard is None:
                continue
            if change.document is None:
                shard.remove(change.number)
            else:
                shard.put(change.number, change.document, change.epk)

    def forget(self, container: Container) -> None:
        """Drop the shards of a deleted or redefined container."""
        for shard_id in [shard_id for shard_id in self._shards if shard_id[0] == container.number]:
            self._drop(shard_id)

    def _drop(self, shard_id: ShardId) -> None:
        del self._shards[shard_id]
        self._total -= self._sizes.pop(shard_id, 0)

    def all_loaded(self, container: Container, epks: EpkRange) -> bool:
        """Whether all shards that hold any item of the range are in memory."""
        return all((container.number, key) in self._shards for key in self.keys(container, epks))

    def keys(self, container: Container, epks: EpkRange) -> Iterator[str]:
        """The keys of the shards that hold any item of the range, in order."""
        if is_in_one_shard(epks):
            yield shard_key(epks.min)
            return
        start = epks.min
        while row := self._storage.execute(_NEXT_EPK, (container.number, start, epks.max)).fetchone():
            key = shard_key(row[0])
            yield key
            start = key + MAX_EPK

    def _load(self, container: Container, key: str) -> Shard:
        shard_id = (container.number, key)
        shard = self._shards.get(shard_id)
        if shard is not None:
            self._shards.move_to_end(shard_id)
            return shard
        stored = StoredDocuments(self._storage, container, key, key + MAX_EPK)
        shard = Shard(container.properties, stored.document, stored.vectors)
        with _collector_paused():
            rows = self._storage.execute(_ALL_ITEMS, (container.number, key, key + MAX_EPK))
            documents = [(number, epk, name, sound_body(name, body), len(body)) for number, epk, name, body in rows]
            # SQLite would copy all bodies to sort them.
            for number, epk, item_id, document, size in sorted(documents, key=itemgetter(0)):
                if document is None:
                    shard.damaged[number] = item_id
                else:
                    shard.put(number, document, epk, size)
        self._shards[shard_id] = shard
        return shard


def is_in_one_shard(epks: EpkRange) -> bool:
    """Whether one shard holds all items of the range."""
    key = shard_key(epks.min)
    return len(key) == EPK_LEVEL_DIGITS and epks.max <= key + MAX_EPK


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Without the garbage collector, which finds nothing in parsed JSON and doubles the time of parsing much of it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


_NEXT_EPK = "SELECT epk FROM items WHERE container = ? AND epk >= ? AND epk < ? ORDER BY epk LIMIT 1"
_ALL_ITEMS = "SELECT number, epk, id, body FROM items WHERE container = ? AND epk >= ? AND epk < ?"
