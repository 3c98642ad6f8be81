"""Moving from another system: reads the memories and conversations of a file before anything is written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZipInfo

from agent_memory.errors import InvalidInput
from agent_memory.models import iso, now
from agent_memory.transfer import hindsight
from agent_memory.transfer.formats import as_export, as_lines, lines_of, records_of
from agent_memory.transfer.imported import NoMemories, Record
from agent_memory.transfer.origins import Origin
from agent_memory.transfer.readers import Format
from agent_memory.transfer.readers.chatgpt import remembered
from agent_memory.transfer.readers.files import is_zip, unpacked
from agent_memory.transfer.readers.transcripts import Transcript, read_transcript, transcript_of
from agent_memory.transfer.readers.utterances import NothingSaid, Utterance
from agent_memory.transfer.systems import is_sqlite, items_in

_TALK = {
    Origin.ZEP: Format.MESSAGES,
    Origin.LETTA: Format.LETTA,
    Origin.CLAUDE: Format.CLAUDE,
    Origin.CHATGPT: Format.CHATGPT,
    Origin.OPENAI: Format.OPENAI,
}
"""The systems whose files can hold conversations, and the format of those."""
_ONLY_TALK = (Origin.CHATGPT, Origin.OPENAI)
_OLDEST_ZIP = 1980
"""The year of a file in a zip archive whose time is not known."""


@dataclass(slots=True)
class Contents:
    """The contents of a file: memories and other items as lines of an export, and conversations."""

    lines: list[str] = field(default_factory=list)
    utterances: list[Utterance] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """How many there are of each kind: memories, those of them that are history, turns, threads and so on."""
        read = [json.loads(line) for line in self.lines]
        counted = Counter(str(line.get("type")) for line in read)
        del counted["header"]
        if old := sum(line.get("type") == "memory" and bool(line.get("superseded_by")) for line in read):
            counted["replaced memory"] = old
            counted["memory"] -= old
        counted["turn"] += len(self.utterances)
        counted["thread"] += len({(one.user_id, one.thread_id) for one in self.utterances})
        return {kind: number for kind, number in sorted(counted.items()) if number}


def contents_of(path: Path, origin: Origin | None = None, only: str | None = None) -> Contents:
    """Reads a file. Its format is detected, unless `origin` names the system that it is from.

    Files of Letta and the archive of Claude hold memories and conversations; both are read.

    Raises:
        InvalidInput: if it cannot be read, is of no known format or not from `origin`, or a part of it is broken.
    """
    try:
        return _contents(path, origin, only)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error


def _contents(path: Path, origin: Origin | None, only: str | None) -> Contents:
    if origin in _ONLY_TALK:
        return _talk(path, transcript_of(path, _TALK[origin]))
    try:
        contents = Contents(list(_lines(path, only, origin)))
    except NoMemories as error:
        if origin is not None and origin not in _TALK:
            raise
        return _talk_without_memories(path, origin, error)
    format = (
        Format.LETTA
        if origin == Origin.LETTA or path.suffix.lower() == ".af"
        else Format.CLAUDE
        if is_zip(path)
        else None
    )
    if format is not None:
        with suppress(NothingSaid):
            contents.utterances = list(read_transcript(path, format))
    return contents


def _talk(path: Path, transcript: Transcript) -> Contents:
    """The conversations of a file. Those of ChatGPT hold what it was asked to remember, too."""
    contents = Contents(utterances=list(transcript.utterances()))
    if transcript.format == Format.CHATGPT:
        contents.lines = list(as_lines(remembered(transcript.rows, iso(_written(path)))))
    return contents


def _talk_without_memories(path: Path, origin: Origin | None, error: NoMemories) -> Contents:
    """Conversations.

    Raises:
        InvalidInput: if they cannot be read. It says why; of a file that does not look like conversations, it says
            first why it holds no memories.
    """
    is_talk = is_zip(path)
    try:
        transcript = transcript_of(path, None if origin is None else _TALK[origin])
        is_talk = transcript.is_talk()
        return _talk(path, transcript)
    except InvalidInput as as_talk:
        if is_talk and not isinstance(as_talk, NothingSaid):
            raise
        error.add_note(f"read as conversations: {as_talk}")
        raise error from None


def _lines(path: Path, only: str | None, origin: Origin | None) -> Iterator[str]:
    system = None if origin is None else origin.value
    if is_zip(path):
        records, written = _archived(path)
        return lines_of(records, only, system, iso(written))
    if is_sqlite(path):
        return lines_of(records_of(items_in(path)), only, system, iso(_written(path)))
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise NoMemories(f"cannot read {path}: not UTF-8 text") from error
    return as_export(text, only, system, iso(_written(path)))


def _archived(path: Path) -> tuple[list[Record], datetime]:
    """The memories in an archive of Hindsight or Claude, and when it was written."""
    entries = unpacked(path, _holds_memories)
    if not entries:
        raise NoMemories(f"{path}: the archive holds no memories of Hindsight or Claude")
    files = {entry.filename: _json(path, entry.filename, data) for entry, data in entries}
    if hindsight.MANIFEST in files:
        records = records_of(hindsight.facts_in(files))
    else:
        records = [record for value in files.values() for record in records_of(value)]
    times = [time for entry, _ in entries if (time := _time_of(entry)) is not None]
    return records, max(times, default=_written(path))


def _time_of(entry: ZipInfo) -> datetime | None:
    """When a file went into its archive, if that is known. Archives name no zone; it is taken for UTC."""
    try:
        time = datetime(*entry.date_time, tzinfo=UTC)
    except ValueError:
        return None
    return min(time, now()) if time.year > _OLDEST_ZIP else None


def _written(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _holds_memories(name: str) -> bool:
    parts = PurePosixPath(name)
    archive_of_hindsight = name in (hindsight.MANIFEST, hindsight.OBSERVATIONS, hindsight.INVALIDATED)
    in_a_folder = parts.suffix == ".json" and parts.parent.name in ("documents", "memories")
    return archive_of_hindsight or parts.name == "memories.json" or in_a_folder


def _json(path: Path, name: str, data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path}/{name}: not valid JSON: {error}") from None
