"""Retention: after how many days memories of a type are deleted, by the store itself (never, by default).

The time runs from when a document was last written, so that what is said again is kept again as long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_memory.errors import InvalidInput
from agent_memory.rules.switches import Rules
from agent_memory.store.documents import Document

SECONDS_PER_DAY = 86_400
TYPES = ("fact", "episodic", "procedural", "reflection")


def check_retention(days: Mapping[str, int]) -> dict[str, int]:
    """Returns what somebody wants kept for how many days.

    Raises:
        InvalidInput: for a type that there is not, or a time that no store can keep.
    """
    for name, number in days.items():
        if name not in TYPES:
            raise InvalidInput(f"retention_days: no memory type {name!r}; there are {', '.join(TYPES)}")
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 36_500:
            raise InvalidInput(f"retention_days: {name} is a number of days from 1 to 36500, not {number!r:.60}")
    return dict(days)


def with_retention(documents: Sequence[Document], rules: Rules) -> list[Document]:
    """These documents, each with the time to live that the settings give its type, if any."""
    if not rules.retention_days:
        return list(documents)
    return [_with_ttl(document, rules.retention_days.get(str(document.get("type")))) for document in documents]


def _with_ttl(document: Document, days: int | None) -> Document:
    return document if days is None else document | {"ttl": days * SECONDS_PER_DAY}
