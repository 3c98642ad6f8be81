"""Rendering: the lines of a context that fit its budget, and its text (docs/decisions/0010).

Three forms: `sections` (the default), `bullets`, `xml`. After the line that says that nothing is remembered, every form
puts what changes least first. None contains a clock or a score, so that equal questions give equal texts. The notice
comes last, after the text that it describes. What somebody once said is one line that cannot pass for anything but a
quotation: an agent can quote it but need not obey it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from itertools import pairwise
from typing import Any, NamedTuple

from agent_memory.models import ContextFormat, Memory, day, there
from agent_memory.screening.injected import BULLETS_HEADER, HEADER, NOTICE, XML_END, XML_HEADER
from agent_memory.store.chunks import head_of, told_by
from agent_memory.store.ids import group_of
from agent_memory.text.folding import folded
from agent_memory.text.patterns import linear
from agent_memory.text.tokens import TokenCounter

_OPENING = linear(r"[<\[]")
_MARKS = {"<": ("|", "｜", "s>", "/s>", "sys>", "/sys>", "<sys>", "</sys>"), "[": ("inst]", "/inst]")}
"""What follows "<" or "[" in the marks of chat templates. Some servers join all messages to one string, in which such a
mark would start a new message."""
_WHOLE_MARKS = [bracket + mark for bracket, marks in _MARKS.items() for mark in marks]
_LONGEST_MARK = 7


def quoted(text: str) -> str:
    """A folded text on one line, in which a space breaks up the marks of chat templates.

    On a line that begins with "- " it cannot start a section, a role or a message.
    """
    line = " ".join(folded(text).split())
    lower = line.lower()
    if not any(mark in lower for mark in _WHOLE_MARKS):
        return line

    def apart(bracket: re.Match[str]) -> str:
        behind = line[bracket.end() : bracket.end() + _LONGEST_MARK].lower()
        return f"{bracket[0]} " if behind.startswith(_MARKS[bracket[0]]) else bracket[0]

    return _OPENING.sub(apart, line)


_OWN_SIGNS = linear(
    r"\s[/…]\s[^:/…]{1,60}:\s|\[\d{1,2} [A-Z][a-z]+ \d{4}\]\s|\(said \d"
    r"|^\s*(?:Nothing is remembered about|No memory clearly answers) this question"
)
"""How a line of a context shows the next speaker, a day, or that nothing was found."""


def marked_off(said: str) -> str:
    """What somebody said; in quotation marks if a part of it looks as if the context itself had written it."""
    return f'"{said.replace(chr(34), chr(39))}"' if _OWN_SIGNS.search(said) else said


def escaped(text: str) -> str:
    """A text that cannot close an XML element."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


STATIC = "Known Facts:"
PROFILE = "Profile:"
STANDING = "Standing Requests:"
NOTHING = ""
FACTS = "Personal Facts:"
PREFERENCES = "Preferences:"
CONTEXT = "Context:"
HOW_TO = "Procedures:"
PAST = "Past Conversations:"
HELP = "May Help:"
STATE = "Current State:"
SUMMARY = "This Conversation So Far:"
ARCHIVE = "From Other Conversations:"

ORDER = (NOTHING, STATIC, PROFILE, STANDING, FACTS, PREFERENCES, CONTEXT, HOW_TO, PAST, HELP, STATE, SUMMARY, ARCHIVE)
_XML_BLOCKS = {
    "static_memory": (STATIC,),
    "extractive_memory": (NOTHING, PROFILE, STANDING, FACTS, PREFERENCES, CONTEXT, HOW_TO, HELP),
    "vector_memory": (PAST, ARCHIVE),
    "conversation_summary": (STATE, SUMMARY),
}


_LONGEST_TALK = 700
"""Approximate maximum of characters in a joined line: a longer one is hard to read. A choice."""
_NO_BRACKETS = str.maketrans("", "", "()")
"""So that a name in a note ends where the note does (`screening.injected`)."""


class Talk(NamedTuple):
    """The place of a chunk: the conversation, the start of its lines (the day), the position of the turn."""

    thread_id: str
    head: str
    position: int


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a section. `text` is its content, `dated` adds when it was said, `used` is its reported entry."""

    section: str
    text: str
    used: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    place: str = ""
    """The sort key of a section's lines; lines of one place keep their order."""
    talk: Talk | None = None
    """For chunks: where it was said."""
    parts: tuple[Line, ...] = ()
    """The lines that were put together in it."""

    @property
    def dated(self) -> str:
        """The text with when it was said."""
        return f"{self.text} ({self.note})" if self.note else self.text


def memory_line(
    memory: Memory,
    score: float | None = None,
    *,
    newer_id: str | None = None,
    is_newer: bool = False,
    zone: tzinfo = UTC,
) -> Line:
    """The line of a memory, with the day on which it was said, and until when it was true if it no longer is.

    Days are those in `zone`. If another line is marked as older than this one (`is_newer`), the line also shows the day
    on which it was last said again. Only that day must be later than the older line.

    If the context also shows something newer about the same thing (`newer_id`), the line says so, and its entry in the
    report has `earlier` and `newer_id`.
    """
    note = place = ""
    if memory.type == "static":
        place = memory.id
    elif memory.kind != "chunk":  # the text of a chunk begins with its day
        note = f"said {day(there(memory.created_at, zone))}"
        if is_newer and (again := day(there(memory.last_said_at, zone))) not in note:
            note += f", again {again}"
        if memory.valid_to is not None and memory.superseded_by is not None:
            note += f", until {day(there(memory.valid_to, zone))}"
    used: dict[str, Any] = {"id": memory.id, "type": memory.type}
    group = group_of(memory.user_id)
    if group is not None:
        used["group"] = group
        shared = "shared in " + group.translate(_NO_BRACKETS)
        note = f"{note}, {shared}" if note else shared
    if newer_id is not None or (memory.valid_to is not None and memory.superseded_by is not None):
        used["earlier"] = True
    if newer_id is not None:
        used["newer_id"] = newer_id
        note = f"{note}, earlier" if note else "earlier"
    said = told_by(memory)
    text = memory.content.removesuffix(said) + marked_off(said)
    talk = None
    if memory.kind == "chunk":
        used["kind"] = memory.kind
        head, position = head_of(memory), memory.metadata.get("position")
        if position is not None and head:
            talk = Talk(f"{memory.user_id} {memory.thread_id}", head, int(position))
    used |= {} if score is None else {"score": score}
    return Line(section_of(memory), text, used, note, place, talk)


def section_of(memory: Memory) -> str:
    """The section of a context in which a memory is shown."""
    if memory.type == "static":
        return STATIC
    if memory.type == "procedural":
        return HOW_TO
    if memory.type in ("episodic", "reflection"):
        return PAST
    return {"preference": PREFERENCES, "context": CONTEXT}.get(memory.kind or "", FACTS)


def profile_line(text: str, memory_ids: Sequence[str] = ()) -> Line:
    """A line of the user's profile, with its source memories."""
    return Line(PROFILE, text, {"type": "user_summary"} | ({"ids": list(memory_ids)} if memory_ids else {}))


def render(lines: Sequence[Line], form: ContextFormat = "sections") -> str:
    """The lines in one of the three forms; an empty text if there are none."""
    if not lines:
        return ""
    ordered = laid_out(lines)
    match form:
        case "sections":
            return _sections(ordered)
        case "bullets":
            return "\n".join([BULLETS_HEADER, "", *(f"- {quoted(line.text)}" for line in ordered), "", NOTICE])
        case "xml":
            return _xml(ordered)


def laid_out(lines: Iterable[Line]) -> list[Line]:
    """The lines in the order of the text: by section, with turns of one conversation together."""
    return _together(sorted(lines, key=lambda line: (ORDER.index(line.section), line.place)))


def joins(line: Line, other: Line) -> bool:
    """Whether two lines are joined, if the result is not too long."""
    if line.talk is None or other.talk is None or line.section != other.section:
        return False
    return line.talk[:2] == other.talk[:2]


def _together(lines: Sequence[Line]) -> list[Line]:
    """Joins neighbouring turns into one line, in the order of the conversation, at the position of the best of them."""
    talks: dict[tuple[str, str, str], list[tuple[int, int]]] = defaultdict(list)
    for place, line in enumerate(lines):
        if line.talk is not None:
            talks[line.section, line.talk.thread_id, line.talk.head].append((line.talk.position, place))
    joined = {place: line for place, line in enumerate(lines) if line.talk is None}
    for spots in talks.values():
        stretch: list[int] = []
        for _, place in sorted(spots):
            length = sum(len(lines[one].text) for one in (*stretch, place))
            if stretch and joins(lines[stretch[-1]], lines[place]) and length <= _LONGEST_TALK:
                joined.pop(min(stretch))
            else:
                stretch = []
            stretch.append(place)
            joined[min(stretch)] = _joined([lines[one] for one in stretch])
    return [joined[place] for place in sorted(joined)]


def _joined(lines: Sequence[Line]) -> Line:
    """Turns of one conversation on one line: the day once, " / " between neighbours, " … " for gaps."""
    if len(lines) == 1:
        return lines[0]
    text = lines[0].dated
    for before, line in pairwise(lines):
        assert before.talk is not None
        assert line.talk is not None
        gap = line.talk.position - before.talk.position
        text += (" / " if gap <= 1 else " … ") + line.dated.removeprefix(line.talk.head)
    return replace(lines[0], text=text, note="", parts=tuple(lines))


def _sections(lines: Sequence[Line]) -> str:
    blocks = []
    for section in dict.fromkeys(line.section for line in lines):
        items = [f"- {quoted(line.dated)}" for line in lines if line.section == section]
        blocks.append("\n".join([section, *items] if section else items))
    return "\n\n".join([HEADER, *blocks, NOTICE])


def _xml(lines: Sequence[Line]) -> str:
    blocks = [
        _element(name, [line for line in lines if line.section in sections]) for name, sections in _XML_BLOCKS.items()
    ]
    return "\n".join([XML_HEADER, *(block for block in blocks if block), f"    {NOTICE}", XML_END])


def _element(name: str, lines: Iterable[Line]) -> str:
    items = [f"      - {escaped(quoted(line.dated))}" for line in lines]
    return "\n".join([f"    <{name}>", *items, f"    </{name}>"]) if items else ""


TURNS = "turns"
"""The part that is not rendered: turns are separate messages."""
HINTS = "hints"
"""The part that never takes more than its share, because nobody asked for it."""
SHARES = {
    "nothing": 0.2,
    "standing": 0.15,
    "memories": 0.45,
    TURNS: 0.25,
    HINTS: 0.2,
    "archive": 0.2,
    "state": 0.1,
    "summary": 0.15,
    "profile": 0.04,
    "static": 0.1,
}
"""How the budget is first divided, in the order of value. What a part leaves goes to the others, in this order."""
_LONGEST_SHARE = 0.4
"""The share of the budget above which a line is cut, so that one pasted page does not displace everything else."""
_CHARACTERS_PER_TOKEN = 12
"""More than any language has on average. A text is cut to this length before its tokens are counted: counting is
slow."""
_ROOMY = 200
"""In tokens. From this budget on, static knowledge is placed first."""
_SECTION_TOKENS = 6
"""A section's title with the blank line before it."""


@dataclass(frozen=True, slots=True)
class Fit:
    """What fits of each part, best first; what does not fit; and the cost of the rendered text."""

    kept: dict[str, list[Line]]
    left_out: list[Line]
    text: str
    tokens: int


def fit(parts: Mapping[str, Sequence[Line]], tokens: TokenCounter, budget: int, form: ContextFormat) -> Fit:
    """Chooses lines, best first within each part, until the budget is full, and renders them.

    Static knowledge comes first (unless the budget is small). Then the best memory may use the whole budget, then every
    part gets its share, and the rest goes to the parts in the order of their value. If a line does not fit, a shorter
    one may, but turns stay the newest ones without a gap. Nothing is shown twice, except that a turn may repeat a line.
    """
    longest = max(1, int(budget * _LONGEST_SHARE))
    lines = {name: [_shortened(line, tokens, longest) for line in parts.get(name, ())] for name in SHARES}
    packing = _Packing(
        {name: [line for line in part if line.text] for name, part in lines.items()},
        tokens,
        budget - tokens.count(render([Line(STATIC, "")], form)) + _SECTION_TOKENS,
    )
    shares = {name: int(budget * share) for name, share in SHARES.items()}
    if budget >= _ROOMY:
        packing.take("static", shares["static"])
    packing.take("nothing", budget)
    packing.take("memories", budget, most=1)
    for name, share in shares.items():
        packing.take(name, share)
    for name in SHARES:
        if name != HINTS:
            packing.take(name, budget)
    return packing.rendered(budget, form)


class _Packing:
    """Lines on their way from waiting to kept."""

    def __init__(self, waiting: dict[str, list[Line]], tokens: TokenCounter, room: int) -> None:
        self._waiting = waiting
        self._tokens = tokens
        self._room = room
        self._kept: dict[str, list[Line]] = {name: [] for name in waiting}
        self._spent = dict.fromkeys(waiting, 0)
        self._order: list[tuple[str, Line]] = []
        self._texts: dict[str, Line] = {}
        self._sections = {TURNS}

    def take(self, name: str, share: int, most: int | None = None) -> None:
        """Keeps what fits of a part, which may cost `share` tokens in all, and adds at most so many lines."""
        for line in self._waiting[name][:most]:
            same = self._texts.get(line.text.casefold())
            if same is not None and name != TURNS:
                # The line that says the same counts for both in `used`.
                same.used.update(line.used | same.used)
                self._waiting[name].remove(line)
                continue
            alone = not any(joins(line, other) for other in self._kept[name])
            said = line.dated if alone else line.dated.removeprefix(line.talk.head if line.talk else "")
            cost = self._tokens.count(f"- {said}\n") + _SECTION_TOKENS * (line.section not in self._sections)
            if cost > min(self._room, share - self._spent[name]):
                if name == TURNS:
                    return
                continue
            self._waiting[name].remove(line)
            self._kept[name].append(line)
            self._order.append((name, line))
            self._texts[line.text.casefold()] = line
            self._sections.add(line.section)
            self._spent[name] += cost
            self._room -= cost

    def rendered(self, budget: int, form: ContextFormat) -> Fit:
        """The text of what was kept. If it is over the budget after all, the lines added last are dropped."""
        while True:
            text = render([line for name, lines in self._kept.items() if name != TURNS for line in lines], form)
            spent = self._tokens.count(text) + sum(self._tokens.count(line.text) for line in self._kept[TURNS])
            if spent <= budget or not self._order:
                left_out = [line for lines in self._waiting.values() for line in lines]
                _number(line for name, lines in self._kept.items() if name != TURNS for line in lines)
                return Fit(self._kept, left_out, text, spent)
            name, line = self._order.pop()
            self._kept[name].remove(line)
            self._waiting[name].insert(0, line)


def _number(lines: Iterable[Line]) -> None:
    """Notes which line of the text shows which memory: lines of one conversation are joined."""
    for number, line in enumerate(laid_out(lines), 1):
        for part in line.parts or (line,):
            part.used["line"] = number


def _shortened(line: Line, tokens: TokenCounter, longest: int) -> Line:
    """The line, or its beginning if it takes more than `longest` tokens. Turns keep their own line breaks."""
    most = longest * _CHARACTERS_PER_TOKEN
    head = line.text[:most] if line.section == TURNS else quoted(line.text[:most])
    cut = tokens.truncate(head, longest)
    if cut == head and len(line.text) <= most:
        return replace(line, text=head)
    return replace(line, text=cut.rstrip() + "…", used=line.used | {"cut": True})
