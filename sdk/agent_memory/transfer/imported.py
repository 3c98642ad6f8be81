"""Shared by the readers of other systems: makes the line of an export from a memory of another system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.models import iso, now
from agent_memory.store.ids import USER_THREAD, derived_id

Record = dict[str, Any]

PIECE = 1000
"""Maximum characters of one memory cut from a long text. Embedding models read about this much."""


class NoMemories(InvalidInput):
    """A file holds nothing that import knows as memories; it may hold conversations."""

    code = InvalidInput.code


def id_in(system: str, *key: str) -> str:
    """The id of a memory of another system. It is made from that system's id, so an import can be repeated."""
    return derived_id("fact", system, *key)


def imported(system: str, key: Iterable[str], content: object, said: object, **others: Any) -> Record:
    """A memory as the line of an export. `said` is when. Other fields that are None are left out."""
    metadata = {**(others.pop("metadata", None) or {}), "imported_from": system}
    line = {
        "type": "memory",
        "memory_type": "fact",
        "id": id_in(system, *key),
        "thread_id": USER_THREAD,
        "kind": "fact",
        "content": content,
        "source": "imported",
        "created_at": said,
        "valid_from": said,
        "recorded_at": iso(now()),
        "metadata": metadata,
    }
    return line | {name: value for name, value in others.items() if value is not None}


def pieces(text: str) -> Iterator[str]:
    """The paragraphs of a text, without repetitions; a long one in pieces that end with a line or a word."""
    seen: set[str] = set()
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        rest = paragraph.strip()
        while rest:
            cut = len(rest) if len(rest) <= PIECE else _end(rest)
            piece, rest = rest[:cut].strip(), rest[cut:].strip()
            if piece not in seen:
                yield piece
            seen.add(piece)


def _end(text: str) -> int:
    """Where to cut: after the last line that fits, else after the last word."""
    return next((cut for end in ("\n", " ") if (cut := text.rfind(end, 0, PIECE)) > 0), PIECE)


def object_in(record: Mapping[str, Any], name: str) -> Record:
    """The object under a name; empty if there is none. Raises InvalidInput if something else is there."""
    value = record.get(name) or {}
    if not isinstance(value, dict):
        raise InvalidInput(f"{name} of a memory must be an object, not {value!r:.60}")
    return value


def list_in(record: Mapping[str, Any], name: str) -> list[Any]:
    """The list under a name; empty if there is none. Raises InvalidInput if something else is there."""
    value = record.get(name) or []
    if not isinstance(value, list):
        raise InvalidInput(f"{name} must be a list, not {value!r:.60}")
    return value


def is_past(time: object) -> bool:
    """Whether a time in ISO 8601 is over. Raises InvalidInput if it is no such time."""
    try:
        read = datetime.fromisoformat(str(time))
    except ValueError:
        raise InvalidInput(f"not a time: {time!r:.60}") from None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)) <= now()
