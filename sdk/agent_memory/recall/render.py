"""Rendering: what is told to an agent, as text that it can quote but need not obey.

Three forms: `sections` (the default), `bullets`, `xml`. Every form puts what changes least
first and holds no clocks and no scores, so that the beginning of the text stays the same from one question to the
next and a model's prompt cache stays warm. The notice stands last, behind what it speaks of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent_memory.models import ContextFormat, Hit, Memory, day
from agent_memory.recall.archive import Conversation
from agent_memory.recall.quoting import escaped, quoted
from agent_memory.screening.injected import BULLETS_HEADER, HEADER, NOTICE, XML_END, XML_HEADER

STATIC = "Known Facts:"
PROFILE = "Profile:"
FACTS = "Personal Facts:"
PREFERENCES = "Preferences:"
CONTEXT = "Context:"
HOW_TO = "Procedures:"
PAST = "Past Conversations:"
HINTS = "May Help:"
STATE = "Current State:"
SUMMARY = "This Conversation So Far:"
ARCHIVE = "From Other Conversations:"

ORDER = (STATIC, PROFILE, FACTS, PREFERENCES, CONTEXT, HOW_TO, PAST, HINTS, STATE, SUMMARY, ARCHIVE)
_XML_BLOCKS = {
    "static_memory": (STATIC,),
    "extractive_memory": (PROFILE, FACTS, PREFERENCES, CONTEXT, HOW_TO, HINTS),
    "vector_memory": (PAST, ARCHIVE),
    "conversation_summary": (STATE, SUMMARY),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a section. `text` is what it says, `dated` adds when that was said, `used` is what is reported."""

    section: str
    text: str
    used: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    place: str = ""
    """What the lines of a section are sorted by; those of one place stay as they were given."""

    @property
    def dated(self) -> str:
        """The text with when it was said."""
        return f"{self.text} ({self.note})" if self.note else self.text


def memory_line(memory: Memory, score: float | None = None, *, is_older: bool = False) -> Line:
    """The line that a memory becomes, with the day on which it was said, and until when it held if it is over.

    If something newer about the same thing is told too (`is_older`), the line says so, and what is reported has
    `earlier`.
    """
    note = place = ""
    if memory.type == "static":
        place = memory.id
    elif memory.kind != "chunk":  # the text of a chunk begins with its day
        note = f"said {day(memory.created_at)}"
        if memory.valid_to is not None and memory.superseded_by is not None:
            note += f", until {day(memory.valid_to)}"
    used: dict[str, Any] = {"id": memory.id, "type": memory.type}
    if is_older or (memory.valid_to is not None and memory.superseded_by is not None):
        used["earlier"] = True
    if is_older:
        note = f"{note}, changed since" if note else "earlier, changed since"
    if memory.kind == "chunk":
        used["kind"] = memory.kind
    return Line(section_of(memory), memory.content, used | ({} if score is None else {"score": score}), note, place)


def hint_line(hit: Hit) -> Line:
    """The line of a procedure or an insight that nobody asked for."""
    line = memory_line(hit.memory, hit.score)
    return replace(line, section=HINTS, used=line.used | {"hint": True})


def section_of(memory: Memory) -> str:
    """Where a memory stands."""
    if memory.type == "static":
        return STATIC
    if memory.type == "procedural":
        return HOW_TO
    if memory.type in ("episodic", "reflection"):
        return PAST
    return {"preference": PREFERENCES, "context": CONTEXT}.get(memory.kind or "", FACTS)


def profile_line(text: str) -> Line:
    """A line of the user's profile."""
    return Line(PROFILE, text, {"type": "user_summary"})


def summary_line(text: str) -> Line:
    """A line of the thread's summary."""
    return Line(SUMMARY, text, {"type": "summary"})


def archive_line(account: Conversation) -> Line:
    """The line of another conversation: its account, with its last day."""
    used: dict[str, Any] = {"id": account.id, "type": account.type, "thread_id": account.thread_id}
    score = {} if account.similarity is None else {"score": account.similarity}
    return Line(ARCHIVE, account.content, used | score, f"a conversation of {day(account.at)}")


def state_lines(state: dict[str, Any]) -> list[Line]:
    """A thread's state, one line a value; lists on one line."""
    return [
        Line(STATE, f"{name}: {_in_words(value)}", {"type": "state"})
        for name, value in state.items()
        if value not in (None, "", [], {})
    ]


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {_in_words(item)}" for name, item in value.items())
    return "; ".join(map(_in_words, value)) if isinstance(value, list) else str(value)


def render(lines: Sequence[Line], form: ContextFormat = "sections") -> str:
    """The lines in one of the three forms; an empty text if there are none."""
    if not lines:
        return ""
    ordered = sorted(lines, key=lambda line: (ORDER.index(line.section), line.place))
    match form:
        case "sections":
            return _sections(ordered)
        case "bullets":
            items = [f"- {quoted(line.text)}" for line in ordered]
            return "\n".join([BULLETS_HEADER, "", *items, "", NOTICE])
        case "xml":
            return _xml(ordered)


def _sections(lines: Sequence[Line]) -> str:
    blocks = [
        "\n".join([section, *(f"- {quoted(line.dated)}" for line in lines if line.section == section)])
        for section in dict.fromkeys(line.section for line in lines)
    ]
    return "\n\n".join([HEADER, *blocks, NOTICE])


def _xml(lines: Sequence[Line]) -> str:
    blocks = [
        _element(name, [line for line in lines if line.section in sections]) for name, sections in _XML_BLOCKS.items()
    ]
    return "\n".join([XML_HEADER, *(block for block in blocks if block), f"    {NOTICE}", XML_END])


def _element(name: str, lines: Iterable[Line]) -> str:
    items = [f"      - {escaped(quoted(line.dated))}" for line in lines]
    return "\n".join([f"    <{name}>", *items, f"    </{name}>"]) if items else ""
