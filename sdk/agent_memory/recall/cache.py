"""Cache: results of recent searches, valid while the user's memories have not changed.

Each process has its own. A mark in the store shows all of them that something has changed: every write of a user's
memories or turns changes it, and it is read before a cached result is returned. A key holds the user, the mark and
every option of the search, so no result can reach another user or another question.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from agent_memory.models import Hit

MOST_ENTRIES = 1000
"""Maximum searches in the cache; the least recently used is dropped first."""


@dataclass(slots=True)
class HitCache:
    """Hits by key, for `seconds`."""

    seconds: float
    _entries: OrderedDict[str, tuple[float, list[Hit]]] = field(default_factory=OrderedDict)

    def get(self, key: str) -> list[Hit] | None:
        """The hits under a key, as copies, unless they are too old."""
        entry = self._entries.get(key)
        if entry is None or time.monotonic() - entry[0] > self.seconds:
            return None
        self._entries.move_to_end(key)
        return [hit.model_copy(deep=True) for hit in entry[1]]

    def put(self, key: str, hits: list[Hit]) -> None:
        """Keeps hits under a key."""
        self._entries[key] = (time.monotonic(), [hit.model_copy(deep=True) for hit in hits])
        self._entries.move_to_end(key)
        while len(self._entries) > MOST_ENTRIES:
            self._entries.popitem(last=False)


def cache_key(*parts: Any) -> str:
    """One key of all that an answer depends on."""
    return hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()
