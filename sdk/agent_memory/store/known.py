"""What a process caches about its store: settings that it read, and which users wrote turns lately."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from agent_memory.store.containers import SUMMARIES, TURNS

SETTINGS_SECONDS = 30.0
"""How long settings are used before they are read again. A change in this process takes effect immediately, one in
another process after this time at most. Processing reads them each time. A choice."""
MOST_KNOWN = 10_000
"""Users and threads whose settings, or whose last writing, a process remembers."""
OTHERS_SECONDS = 5.0
"""How long a process relies on having found no fresh turns. It finds a turn written by another process after this time
at the latest, its own turns immediately. A choice."""
_CLOCKS_DIFFER = 2.0
"""Tolerance in seconds between our clock and the times of the store, which are whole seconds."""

Key = tuple[str, str]
"""User and thread: the partition of the document."""
Kept = Mapping[str, Any]


class KnownSettings:
    """Settings documents by partition, each for `SETTINGS_SECONDS`; absent ones are known to be absent."""

    def __init__(self) -> None:
        self._documents: OrderedDict[Key, tuple[float, Kept]] = OrderedDict()
        self._reads: dict[Key, object] = {}

    async def get(self, key: Key, read: Callable[[], Awaitable[Kept]]) -> Kept:
        """The document of a partition: the cached one, else the result of `read`; empty if there is none."""
        known = self._documents.get(key)
        if known is not None and time.monotonic() - known[0] <= SETTINGS_SECONDS:
            return known[1]
        with self.reading([key]) as put:
            document = await read()
            put({key: document})
        return document

    @contextmanager
    def reading(self, keys: Sequence[Key]) -> Iterator[Callable[[Mapping[Key, Kept]], None]]:
        """Marks these documents as being read, and returns a function that caches them.

        A document that is written meanwhile is not cached as it was read.
        """
        reading = object()
        for key in keys:
            self._reads[key] = reading

        def put(documents: Mapping[Key, Kept]) -> None:
            for key, document in documents.items():
                if self._reads.get(key) is reading:
                    self._documents[key] = (time.monotonic(), document)
                    self._documents.move_to_end(key)
            while len(self._documents) > MOST_KNOWN:
                self._documents.popitem(last=False)

        try:
            yield put
        finally:
            for key in keys:
                if self._reads.get(key) is reading:
                    del self._reads[key]

    def drop(self, key: Key) -> None:
        """Forgets a document, because it may have changed."""
        self._documents.pop(key, None)
        self._reads.pop(key, None)


class Known:
    """What a process knows: settings that it read, and when turns of each user may have been written.

    Args:
        alone: Whether nobody else writes to the store.
    """

    def __init__(self, *, alone: bool) -> None:
        self.settings = KnownSettings()
        self.schema: int | None = None
        """The version of the documents that the store began with, if it was read."""
        self._alone = alone
        self._since = time.monotonic()
        self._wrote_turns: dict[str, float] = {}
        self._saw_none: dict[str, float] = {}

    def written(self, container: str, where: Mapping[str, Any] | Sequence[str]) -> None:
        """Notes that a document, or something in a partition, may have been written just now."""
        if container == SUMMARIES:
            key = (where["user_id"], where["thread_id"]) if isinstance(where, Mapping) else (where[0], where[1])
            self.settings.drop(key)
        elif container == TURNS:
            user_id = where["user_id"] if isinstance(where, Mapping) else where[0]
            self._saw_none.pop(user_id, None)
            if len(self._wrote_turns) >= MOST_KNOWN and user_id not in self._wrote_turns:
                self._since, self._wrote_turns = time.monotonic(), {}
                self._saw_none.clear()
            self._wrote_turns[user_id] = time.monotonic()

    def may_be_fresh(self, user_id: str, seconds: float) -> bool:
        """Whether turns of a user may have been written in the last `seconds`."""
        clock = time.monotonic()
        if not self._alone:
            return clock - self._saw_none.get(user_id, -OTHERS_SECONDS) >= OTHERS_SECONDS
        return clock - self._wrote_turns.get(user_id, self._since) < seconds + _CLOCKS_DIFFER

    def saw_no_turns(self, user_id: str, began: float) -> None:
        """Notes that a query for recent turns of a user, begun at this time (`time.monotonic`), found none."""
        if self._wrote_turns.get(user_id, self._since) < began:
            if len(self._saw_none) >= MOST_KNOWN:
                self._saw_none.clear()
            self._saw_none[user_id] = began
