"""Opens a transcript: finds out which format it has, and reads it into utterances.

Nothing is left out silently: what cannot be read stops the reading, with the file, the line and the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

from agent_memory.cli.chatgpt import is_chatgpt, read_chatgpt
from agent_memory.cli.locomo import is_locomo, read_locomo
from agent_memory.cli.messages import read_messages
from agent_memory.cli.utterances import Place, Utterance
from agent_memory.errors import InvalidInput
from agent_memory.patterns import linear

_FORBIDDEN = linear(r"[/\\?#\x00-\x1f\x7f]")


class Format(StrEnum):
    """The formats that are understood."""

    MESSAGES = "messages"
    CHATGPT = "chatgpt"
    LOCOMO = "locomo"


def read_transcript(path: Path, format: Format | None = None) -> Iterator[Utterance]:
    """Reads a transcript, in the order of the file.

    `messages` is JSON or JSON lines: turns, or conversations of messages as chat APIs take them. `chatgpt` is
    the `conversations.json` of an export, `locomo` the data set of that name. Without `format` it is told from
    the content.

    Raises:
        InvalidInput: if the file cannot be read, or something in it is wrong; the message says where.
    """
    rows = _rows(path)
    if not rows:
        raise InvalidInput(f"{path}: the file holds no turns")
    match format or _detect(rows[0][1]):
        case Format.CHATGPT:
            return read_chatgpt(rows)
        case Format.LOCOMO:
            return read_locomo(rows)
        case Format.MESSAGES:
            return read_messages(rows, _thread_id(path))


def _detect(row: object) -> Format:
    if is_chatgpt(row):
        return Format.CHATGPT
    return Format.LOCOMO if is_locomo(row) else Format.MESSAGES


def _thread_id(path: Path) -> str:
    """The thread of turns that name none: the file's name, without what ids may not hold."""
    return _FORBIDDEN.sub("-", path.stem).lstrip("_")[:200] or "transcript"


def _rows(path: Path) -> list[tuple[Place, Any]]:
    """The objects of a file, whether it is one JSON document or has one object a line, each with its place."""
    text = _read(path)
    if path.suffix.lower() not in (".jsonl", ".ndjson") and not _is_lines(text):
        return _document(path, text)
    lines = ((Place(str(path), number), line) for number, line in enumerate(text.split("\n"), start=1))
    return [(place, _parse(place, line)) for place, line in lines if line.strip()]


def _read(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror or error}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Place(str(path), data.count(b"\n", 0, error.start) + 1).error("not UTF-8 text") from None


def _is_lines(text: str) -> bool:
    """Whether the first line that says something is a whole object, and another follows it."""
    first, _, rest = text.lstrip().partition("\n")
    if not first.startswith("{") or not rest.strip():
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _document(path: Path, text: str) -> list[tuple[Place, Any]]:
    """One JSON document: a list, or a single object that is taken as a list of one."""
    if not text.strip():
        return []
    whole = _parse(Place(str(path)), text)
    items = whole if isinstance(whole, list) else [whole]
    return [(Place(str(path), item=f"item {number}"), item) for number, item in enumerate(items, start=1)]


def _parse(place: Place, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = place.line or error.lineno
        raise Place(place.file, line).error(f"not valid JSON: {error.msg} (column {error.colno})") from None
    except (ValueError, RecursionError) as error:
        raise place.error(f"JSON that cannot be read: {error}") from None
