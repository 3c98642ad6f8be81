"""Cursors: which items of a partition have been covered, in the server's order (docs/decisions/0004).

A cursor holds the highest `_ts` covered and the ids seen in a short window before it. An item is new if its
`_ts` is not older than that window and its id is not among those seen. (Turns never change; of documents that do,
the ETag is taken for the id.) So turns with an old `created_at`, turns
of one second, and turns that become visible late are neither skipped nor taken twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

OVERLAP_SECONDS = 2
"""How far behind the highest `_ts` an item may still turn up. `_ts` is set by the server in whole seconds, and
the writes of one partition are replicated in order, so only the second that is not over yet is open."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a step has come. `count` is how many items it has covered since the beginning."""

    ts: int = 0
    seen: Mapping[str, int] = field(default_factory=dict)
    count: int = 0
    runs: int = 0

    @property
    def since(self) -> int:
        """The `_ts` from which new items may lie."""
        return max(0, self.ts - OVERLAP_SECONDS)

    def is_new(self, item_id: str, ts: int) -> bool:
        """Whether an item has not been covered."""
        return ts >= self.since and item_id not in self.seen

    def advanced(self, items: Iterable[tuple[str, int]]) -> Cursor:
        """The cursor after these items (id and `_ts`), each of which was new."""
        fresh = dict(items)
        ts = max([self.ts, *fresh.values()])
        window = {i: t for i, t in {**self.seen, **fresh}.items() if t >= ts - OVERLAP_SECONDS}
        return Cursor(ts, window, self.count + len(fresh), self.runs + 1)

    def to_document(self) -> dict[str, Any]:
        """The fields that a stored cursor holds."""
        return {"ts": self.ts, "seen": dict(self.seen), "count": self.count, "runs": self.runs}

    @classmethod
    def from_document(cls, document: Mapping[str, Any] | None) -> Cursor:
        """Reads a stored cursor; nothing stored is the beginning."""
        if document is None:
            return cls()
        return cls(document["ts"], document["seen"], document["count"], document["runs"])
