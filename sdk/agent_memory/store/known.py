"""What a process caches about its store: settings that it read, and which users wrote turns lately."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic_core import from_json, to_json

from agent_memory.store.containers import SUMMARIES, TURNS

SETTINGS_SECONDS = 30.0
"""How long settings are used before they are read again. A change in this process takes effect immediately, one in
another process after this time at most. Processing reads them each time. A choice."""
MOST_KNOWN = 10_000
"""Users and threads whose settings, or whose last writing, a process remembers."""
MOST_ROWS = 1_000
LARGEST_ROWS = 64 * 1024
"""Queries whose rows a process remembers, and bytes of the rows of one. A choice."""
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


class KnownRows:
    """The rows of queries over one user's part of a container, until something of the user is written there.

    They are used for `SETTINGS_SECONDS` at most, because documents expire without a write. They are kept as JSON, so
    that nobody can change them.
    """

    def __init__(self) -> None:
        self._rows: dict[str, tuple[float, bytes]] = {}
        self._keys: dict[Key, set[str]] = {}

    async def get(self, key: str, owner: Key, read: Callable[[], Awaitable[list[Any]]]) -> list[Any]:
        """The known rows under a key, else the result of `read`. `owner` names the container and the user."""
        known = self._rows.get(key)
        if known is not None and time.monotonic() - known[0] <= SETTINGS_SECONDS:
            rows: list[Any] = from_json(known[1])
            return rows
        began, keys = time.monotonic(), self._keys.setdefault(owner, set())
        rows = await read()
        # A write since then has taken the set away: these rows may be older than it.
        if self._keys.get(owner) is keys and len(kept := to_json(rows)) <= LARGEST_ROWS:
            keys.add(key)
            self._rows[key] = (began, kept)
        if max(len(self._rows), len(self._keys)) > MOST_ROWS:
            self._rows.clear()
            self._keys.clear()
        return rows

    def drop(self, owner: Key) -> None:
        """Forgets all rows of a user in a container, because they may have changed."""
        for key in self._keys.pop(owner, ()):
            self._rows.pop(key, None)


class Known:
    """What a process knows: settings and other rows that it read, and when turns of each user may have been written.

    Args:
        alone: Whether nobody else writes to the store.
    """

    def __init__(self, *, alone: bool) -> None:
        self.settings = KnownSettings()
        self._rows = KnownRows() if alone else None
        self.schema: int | None = None
        """The version of the documents that the store began with, if it was read."""
        self._alone = alone
        self._since = time.monotonic()
        self._wrote_turns: dict[str, float] = {}
        self._saw_none: dict[str, float] = {}

    async def rows(self, key: str, owner: Key, read: Callable[[], Awaitable[list[Any]]]) -> list[Any]:
        """The rows that `read` returns, perhaps from an earlier reading (`KnownRows`) if nobody else can write.

        `owner` is SUMMARIES or TURNS, and the user.
        """
        return await (read() if self._rows is None else self._rows.get(key, owner, read))

    def written(self, container: str, where: Mapping[str, Any] | Sequence[str]) -> None:
        """Notes that a document, or something in a partition, may have been written just now."""
        if container not in (SUMMARIES, TURNS):
            return
        user_id, thread_id = (where["user_id"], where["thread_id"]) if isinstance(where, Mapping) else where[:2]
        if self._rows is not None:
            self._rows.drop((container, user_id))
        if container == SUMMARIES:
            self.settings.drop((user_id, thread_id))
            return
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
