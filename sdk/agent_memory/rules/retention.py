"""Retention: after how many days the store deletes memories of a type. By default it never does.

The days count from the last write of a document. A memory that is said again is written again, so its time starts anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_memory.errors import InvalidInput
from agent_memory.rules.switches import Rules
from agent_memory.store.documents import Document

SECONDS_PER_DAY = 86_400
TYPES = ("fact", "episodic", "procedural", "reflection")


def check_retention(days: Mapping[str, int]) -> dict[str, int]:
    """Checks a caller's days for each memory type, and returns them.

    Raises:
        InvalidInput: for an unknown type, or a number of days outside 1 to 36500.
    """
    for name, number in days.items():
        if name not in TYPES:
            raise InvalidInput(f"retention_days: no memory type {name!r}; there are {', '.join(TYPES)}")
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 36_500:
            raise InvalidInput(f"retention_days: {name} is a number of days from 1 to 36500, not {number!r:.60}")
    return dict(days)


def with_retention(documents: Sequence[Document], rules: Rules) -> list[Document]:
    """The documents, each with the time to live that the settings give to its type, if any.

    Raw talk may have a shorter one (`talk_days`); what was derived from it stays.
    """

    def limited(document: Document) -> Document:
        days = [rules.retention_days.get(str(document.get("type")))]
        if document.get("kind") == "chunk":
            days.append(rules.talk_days)
        shortest = min((number for number in days if number is not None), default=None)
        return document if shortest is None else document | {"ttl": shortest * SECONDS_PER_DAY}

    return [limited(document) for document in documents]
