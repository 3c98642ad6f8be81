"""Files as lists of objects: JSON, JSON lines, CSV, and the zip archives in which chat services export.

Each object comes with its place, for error messages. For a file without objects, the error says what it is and what to
do.
"""

from __future__ import annotations

import csv
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import StringIO
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.transfer.readers.utterances import FilePlace, NothingSaid, known_role

Row = tuple[FilePlace, Any]

UNPACKED_BYTES = 512 * 1024 * 1024
"""Most bytes of an archive's conversations when unpacked. Parsed JSON takes several times as much memory."""
UNPACKED_TIMES = 200
"""Largest ratio of unpacked to packed size. Conversations have about 10; a larger ratio suggests a zip bomb."""
_SMALL = 64 * 1024 * 1024
"""Up to this size in bytes, the ratio does not matter: a log that somebody pasted packs as well as a bomb."""

_DOCUMENTS = (".json", ".af")
_TREES = {"mapping", "chat_messages"}
_LINES = (".jsonl", ".ndjson")
_TABLES = (".csv", ".tsv")
_BROKEN = (zipfile.BadZipFile, zlib.error, LZMAError, RuntimeError, NotImplementedError, EOFError)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_BINARY = {
    b"SQLite format 3\0": ("a SQLite database", "a store is opened with --store; a transcript is JSON or CSV"),
    b"\x1f\x8b": ("compressed with gzip", "unpack it first: gunzip FILE"),
    b"%PDF": ("a PDF", 'write the conversation as lines like {"role": "user", "content": "…"}'),
}
_WANTED = 'write a line for each turn: {"role": "user", "content": "…"} or {"role": "assistant", "content": "…"}'


def rows_of(path: Path) -> list[Row]:
    """The objects of a file, each with its place.

    Raises:
        InvalidInput: if the file cannot be read or holds no objects.
    """
    try:
        if is_zip(path):
            files = unpacked(path, _holds_conversations)
            if not files:
                missing = NothingSaid(f"{path}: the archive holds no conversations.json")
                missing.add_note("the exports of ChatGPT and Claude hold one; unpack others, and name the file in it")
                raise missing
            return [row for entry, data in files for row in _rows(f"{path}/{entry.filename}", ".json", data)]
        return _rows(str(path), path.suffix.lower(), path.read_bytes())
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror or error}") from error


def is_zip(path: Path) -> bool:
    """Whether a file begins as a zip archive does. Raises OSError if it cannot be read."""
    with path.open("rb") as file:
        return file.read(4) in _ZIP


def unpacked(path: Path, wanted: Callable[[str], bool]) -> list[tuple[zipfile.ZipInfo, bytes]]:
    """The files of an archive that are wanted by their names, with what is in them. Nothing is written to disk.

    Raises:
        InvalidInput: if the archive is broken, or these files would take too much memory.
        OSError: if it cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            files = [entry for entry in archive.infolist() if wanted(entry.filename) and not entry.is_dir()]
            size, packed = sum(entry.file_size for entry in files), sum(entry.compress_size for entry in files)
            if size > UNPACKED_BYTES or size > max(_SMALL, packed * UNPACKED_TIMES):
                huge = InvalidInput(f"{path}: what it holds would take {size / 1e6:,.0f} MB unpacked")
                huge.add_note("if that is right, unpack the archive, and name the file in it")
                raise huge
            # `read` stops at the size that the entry declares.
            return [(entry, archive.read(entry)) for entry in files]
    except _BROKEN as error:
        raise InvalidInput(f"{path}: the archive cannot be read: {error}") from error


def _holds_conversations(name: str) -> bool:
    file = PurePosixPath(name).name
    return file.startswith("conversations") and file.endswith(".json")


def _rows(name: str, suffix: str, data: bytes) -> list[Row]:
    text = _text(name, data)
    if suffix in _TABLES:
        return list(_read_table(name, text))
    if suffix in _LINES or _is_lines(text):
        lines = ((FilePlace(name, number), line) for number, line in enumerate(text.split("\n"), start=1))
        return [(place, _parse(place, line)) for place, line in lines if line.strip()]
    if not text.strip():
        return []
    if suffix not in _DOCUMENTS and not text.lstrip().startswith(("{", "[")):
        if _is_table(text):
            return list(_read_table(name, text))
        raise FilePlace(name).error("plain text, which does not say who speaks", _hint_for_text(text))
    return _document(name, text)


def _text(name: str, data: bytes) -> str:
    for magic, (what, hint) in _BINARY.items():
        if data.startswith(magic):
            raise FilePlace(name).error(f"this is {what}, not a transcript", hint)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):  # Excel's "Unicode text"
        return data.decode("utf-16", errors="replace")
    if b"\0" in data[:8192]:
        raise FilePlace(name).error("this is a binary file, not a transcript", _WANTED)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = FilePlace(name, data.count(b"\n", 0, error.start) + 1)
        raise place.error("not UTF-8 text", "save the file as UTF-8") from None


def _hint_for_text(text: str) -> str:
    if text.lstrip()[:15].lower().startswith(("<!doctype", "<html")):
        return "exports of ChatGPT hold conversations.json beside their HTML: give that, or the zip"
    return _WANTED


def _is_lines(text: str) -> bool:
    """Whether the first non-empty line is a whole object, and another line follows."""
    first, _, rest = text.lstrip().partition("\n")
    if not first.startswith("{") or not rest.strip():
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _document(name: str, text: str) -> list[Row]:
    """One JSON document: a list, or a single object, which counts as a list of one."""
    whole = _parse(FilePlace(name), text)
    if isinstance(whole, str) and whole.startswith("{"):  # some agent files of Letta are JSON in a JSON text
        whole = _parse(FilePlace(name), whole)
    listed = whole.get("conversations") if isinstance(whole, dict) else None
    if isinstance(listed, list) and any(isinstance(one, dict) and _TREES & one.keys() for one in listed):
        whole = listed  # some exports of chat services put their list into an object
    items = whole if isinstance(whole, list) else [whole]
    return [(FilePlace(name, item=f"item {number}"), item) for number, item in enumerate(items, start=1)]


def _parse(place: FilePlace, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = place.line or error.lineno
        raise FilePlace(place.file, line).error(f"not valid JSON: {error.msg} (column {error.colno})") from None
    except (ValueError, RecursionError) as error:
        raise place.error(f"JSON that cannot be read: {error}") from None


# --- tables -------------------------------------------------------------------------------------------------

_SPEAKERS = ("role", "speaker", "sender", "from", "author", "who", "name")
_CONTENTS = ("content", "text", "message", "body", "utterance", "value")
_OTHER_COLUMNS = {
    "created_at": ("created_at", "timestamp", "time", "date", "datetime", "ts", "sent_at"),
    "thread_id": ("thread_id", "conversation_id", "session_id", "chat_id", "thread", "conversation", "session"),
    "user_id": ("user_id", "user"),
    "id": ("id", "message_id"),
}
"""The possible names of a column, in order of priority."""
_DELIMITERS = ",;\t|"
_TABLE_WANTED = (
    "name the columns role (user or assistant) and content and, where they are known, created_at and thread_id"
)


def _is_table(text: str) -> bool:
    """Whether the first line is the header of a table of turns."""
    names = _header(text)
    return _named(names, _SPEAKERS) is not None and _named(names, _CONTENTS) is not None


def _read_table(file: str, text: str) -> Iterator[tuple[FilePlace, dict[str, Any]]]:
    """Reads rows as the fields of turns. A speaker without a known role is a user with that name.

    Raises:
        InvalidInput: if no column says who speaks or what is said, or a row cannot be read.
    """
    names = _header(text)
    speaker, content = _named(names, _SPEAKERS), _named(names, _CONTENTS)
    if text.strip() and (speaker is None or content is None):
        missing = "who speaks" if speaker is None else "what is said"
        raise FilePlace(file, 1).error(f"no column says {missing}: they are {', '.join(names)[:200]}", _TABLE_WANTED)
    others = {ours: column for ours, theirs in _OTHER_COLUMNS.items() if (column := _named(names, theirs)) is not None}
    rows = csv.reader(StringIO(text.lstrip("\r\n"), newline=""), delimiter=_delimiter(text))
    try:
        next(rows, None)
        for row in rows:
            if any(cell.strip() for cell in row):
                cells = dict(zip(names, row, strict=False))
                said = {"content": cells.get(content or "", ""), **_who(speaker or "", cells.get(speaker or "", ""))}
                more = {ours: cells[theirs] for ours, theirs in others.items() if cells.get(theirs)}
                yield FilePlace(file, rows.line_num), said | more
    except csv.Error as error:
        raise FilePlace(file, rows.line_num).error(f"not a row of CSV: {error}") from None


def _who(column: str, speaker: str) -> dict[str, str]:
    if column == "role" or known_role(speaker) or not speaker.strip():
        return {"role": speaker.strip()}
    return {"role": "user", "name": speaker.strip()}


def _header(text: str) -> list[str]:
    first = text.lstrip("\r\n").partition("\n")[0]
    return [name.strip().lower() for name in next(csv.reader([first], delimiter=_delimiter(text)), [])]


def _delimiter(text: str) -> str:
    """The delimiter that is most frequent in the first line."""
    first = text.lstrip("\r\n").partition("\n")[0]
    return max(_DELIMITERS, key=first.count)


def _named(names: list[str], wanted: tuple[str, ...]) -> str | None:
    return next((name for name in wanted if name in names), None)
