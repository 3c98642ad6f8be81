"""Reads a transcript: detects its format, and turns it into utterances.

An unreadable line stops the reading; the error names the file, the line and the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from agent_memory.errors import InvalidInput
from agent_memory.transfer.readers import Format
from agent_memory.transfer.readers.chatgpt import is_chatgpt, is_claude, read_chatgpt, read_claude
from agent_memory.transfer.readers.files import Row, rows_of
from agent_memory.transfer.readers.letta import is_letta, read_letta
from agent_memory.transfer.readers.locomo import is_locomo, read_locomo
from agent_memory.transfer.readers.messages import read_messages
from agent_memory.transfer.readers.openai import is_openai, read_openai
from agent_memory.transfer.readers.utterances import FilePlace, Utterance, id_of


@dataclass(frozen=True, slots=True)
class _Reader:
    """A format: a test of the first object, and the reader. The reader's second argument is the default thread."""

    recognises: Callable[[object], bool]
    read: Callable[[list[Row], str], Iterator[Utterance]]


READERS = {
    Format.CHATGPT: _Reader(is_chatgpt, lambda rows, _: read_chatgpt(rows)),
    Format.CLAUDE: _Reader(is_claude, lambda rows, _: read_claude(rows)),
    Format.LETTA: _Reader(is_letta, read_letta),
    Format.OPENAI: _Reader(is_openai, read_openai),
    Format.LOCOMO: _Reader(is_locomo, lambda rows, _: read_locomo(rows)),
    Format.MESSAGES: _Reader(lambda _: True, read_messages),
}
"""The readers, in the order in which they are tried."""


_SPEECH = {"role", "content", "messages", "conversations", "sender", "from", "speaker"}
"""Fields that a message or a conversation has."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A file whose format is known. `thread_id` is that of turns that name none."""

    format: Format
    rows: list[Row]
    thread_id: str

    def is_talk(self) -> bool:
        """Whether it looks like conversations; any object is read as a message if nothing else is recognised."""
        first = self.rows[0][1]
        return self.format != Format.MESSAGES or (isinstance(first, dict) and not _SPEECH.isdisjoint(first))

    def utterances(self) -> Iterator[Utterance]:
        """What was said, in the order of the file. Raises InvalidInput: at the first invalid line."""
        return READERS[self.format].read(self.rows, self.thread_id)


def read_transcript(path: Path, format: Format | None = None) -> Iterator[Utterance]:
    """What was said in a file, in its order; the rest as `transcript_of`.

    Raises:
        InvalidInput: as `transcript_of`, or at the first invalid line.
    """
    return transcript_of(path, format).utterances()


def transcript_of(path: Path, format: Format | None = None) -> Transcript:
    """Reads the objects of a transcript, and detects its format.

    `messages` is JSON, JSON lines or CSV with turns, or with conversations of messages as in chat APIs. `chatgpt` and
    `claude` are the `conversations.json` of an export, or the zip that holds it. `letta` is an agent file, or messages
    that Letta's API lists. `openai` is what OpenAI's API lists of a conversation or a thread. `locomo` is the data set
    of that name. Without `format`, the content decides.

    Raises:
        InvalidInput: if the file cannot be read. The message says where, and the note says what to do.
    """
    rows = rows_of(path)
    if not rows:
        raise InvalidInput(f"{path}: the file holds no turns")
    place, first = rows[0]
    if format is None:
        _refuse_foreign(place, first)
        format = next(name for name, reader in READERS.items() if reader.recognises(first))
    return Transcript(format, rows, _thread_id(path))


def _thread_id(path: Path) -> str:
    """The default thread: the file's name, without characters that ids must not have."""
    return id_of(path.stem) or "transcript"


@dataclass(frozen=True, slots=True)
class _Foreign:
    """A kind of file. Its first object has all of `fields` and none of `not_fields`."""

    what: str
    hint: str
    fields: frozenset[str]
    not_fields: frozenset[str] = frozenset({"role", "content", "messages", "conversations"})


_IMPORT = "import memories with: agent-memory import FILE --user ID"
_ZEP = ("edges", "facts", "fact")
_FOREIGN = (
    _Foreign("an export of this toolkit", _IMPORT, frozenset({"type", "format", "version"})),
    _Foreign("memories of mem0", _IMPORT, frozenset({"memory"})),
    _Foreign("memories of mem0", _IMPORT, frozenset({"results"})),
    *(_Foreign("facts of Zep", _IMPORT, frozenset({name})) for name in _ZEP),
    _Foreign("passages of Letta", _IMPORT, frozenset({"passages"})),
    _Foreign("passages of Letta", _IMPORT, frozenset({"text", "archive_id"})),
    _Foreign("items of a LangGraph store", _IMPORT, frozenset({"namespace", "key", "value"})),
    _Foreign("memories of Hindsight", _IMPORT, frozenset({"text", "fact_type"})),
    _Foreign("what Claude remembers", _IMPORT, frozenset({"conversations_memory"})),
)


def _refuse_foreign(place: FilePlace, first: object) -> None:
    """Refuses a file of another system that holds no conversations.

    Raises:
        InvalidInput: with the kind, and a note that says what to do.
    """
    if isinstance(first, dict) and isinstance(first.get("items"), list):  # a page of a listing
        first = next(iter(first["items"]), None)
    if isinstance(first, dict):
        for kind in _FOREIGN:
            if kind.fields <= first.keys() and not kind.not_fields & first.keys():
                raise FilePlace(place.file).error(f"this holds {kind.what}, not conversations", kind.hint)
