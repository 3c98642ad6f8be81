"""ORDER BY over columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embedded_cosmos.query.columns import Kind, Slots
from embedded_cosmos.query.index import Keys, Shard
from embedded_cosmos.query.selection import Part


@dataclass(frozen=True, slots=True)
class SortKey:
    """One property of ORDER BY."""

    keys: Keys
    descending: bool


def ordered(part: Part, sort_keys: tuple[SortKey, ...], limit: int | None) -> Part | None:
    """The part sorted, cut to the limit when every document counts; None when the columns cannot tell the order."""
    if limit is None or part.test is not None:
        order = _order(part.shard, part.slots, sort_keys)
        return None if order is None else Part(part.shard, part.slots[order], part.test)
    slots = _head(part.shard, part.slots, sort_keys[0], limit)
    order = _order(part.shard, slots, sort_keys)
    return None if order is None else Part(part.shard, slots[order][:limit], None)


def _order(shard: Shard, slots: Slots, sort_keys: tuple[SortKey, ...]) -> Slots | None:
    """The places of the slots in sorted order; equal ones by rid, backwards when the first key descends."""
    columns: list[NDArray[np.float64] | NDArray[np.int8] | NDArray[np.int64]] = []
    for sort_key in reversed(sort_keys):
        column = shard.column(sort_key.keys)
        kinds = column.kinds[slots].astype(np.int8)
        if not column.exact or (kinds >= Kind.ARRAY).any():
            return None
        values = np.where(kinds >= Kind.NUMBER, column.ranks(shard.size)[slots], 0)
        columns += [-values, -kinds] if sort_key.descending else [values, kinds]
    rids = shard.rids(slots)
    columns.insert(0, -rids if sort_keys[0].descending else rids)
    return np.lexsort(columns)


def _head(shard: Shard, slots: Slots, sort_key: SortKey, limit: int) -> Slots:
    """The slots that can be among the first few, ties included; all when their values are of several types."""
    column = shard.column(sort_key.keys)
    kinds = column.kinds[slots]
    if not 0 < limit < len(slots) // 2 or (kinds != kinds[0]).any() or kinds[0] < Kind.NUMBER:
        return slots
    values = column.ranks(shard.size)[slots]
    if sort_key.descending:
        values = -values
    head: Slots = slots[values <= np.partition(values, limit - 1)[limit - 1]]
    return head
