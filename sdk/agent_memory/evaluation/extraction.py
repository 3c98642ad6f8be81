"""How well memories are extracted from single messages, against labels of what is worth keeping and what is wrong.

A memory is *good* if it has the words of a `keep` label and the label's date, *bad* if it has those of a `not` label or
another date than the label's, and *weak* otherwise: true perhaps, but nothing that a reader would have noted.

A judge marks extracted memories: precision by a rubric, recall against what a careful reader noted. The rubric is a
part of the prompt `mark`, which a run prints.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_memory.errors import InvalidInput
from agent_memory.evaluation.recorded import Counted, Job, interval
from agent_memory.language.tasks import (
    EXTRACT,
    MARK,
    ExtractedMemory,
    ExtractInput,
    ExtractOutput,
    Mark,
    MarkedMemory,
    MarkInput,
    TurnView,
)
from agent_memory.text.patterns import linear

Verdict = Literal["good", "weak", "bad"]
Extractor = Callable[[ExtractInput], Awaitable[ExtractOutput]]

_OF_ANOTHER = linear(
    r"(?i)\b(?:my|our|your|his|her|their|mein|meine|mi|mon|ma|minha|meu|mia|mio|mijn) [a-z]+|\bof (?:mine|ours)\b"
    r"|\b(?:he|she|they|you)\b"
)
"""Words that show that a text is about somebody other than the speaker. Coarse: used only for labels with an owner."""
_MONTHS = tuple("january february march april may june july august september october november december".split())
_SAME_KIND = {
    "event": {"fact", "context", "decision"},
    "fact": {"fact", "context"},
    "decision": {"decision", "fact", "context"},
}


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Dates(_Row):
    """A range of days, both ends included. Without `to` only the day `from`; without `from` anything up to `to`."""

    first: date | None = Field(default=None, alias="from")
    last: date | None = Field(default=None, alias="to")


class Keep(_Row):
    """What a careful reader would note.

    `words`: the memory contains at least one word of each group, in upper or lower case.
    """

    kind: str
    about: str
    about_alt: list[str] = Field(default_factory=list)
    words: list[list[str]]
    dates: Dates | None = None


class Wrong(_Row):
    """What must not be concluded; with `about` only as a memory of that owner."""

    words: list[list[str]]
    why: str
    about: str | None = None


class Labelled(_Row):
    """One message with its labels. `before` is the message just before it."""

    id: str
    lang: str
    domain: str
    said_at: datetime
    before: str | None = None
    text: str
    keep: list[Keep] = Field(default_factory=list)
    wrong: list[Wrong] = Field(alias="not", default_factory=list)
    tolerate: list[dict[str, Any]] = Field(default_factory=list)


def read_labels(path: Path) -> list[Labelled]:
    """The labelled messages of a file, one JSON object a line.

    Raises:
        InvalidInput: if the file cannot be read, or a line is not a labelled message.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror or error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(Labelled.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the line"
            raise InvalidInput(f"{path}, line {number}: {place}: {first['msg']}") from error
    if not found:
        raise InvalidInput(f"{path}: there is no labelled message in it")
    return found


def message_of(row: Labelled) -> ExtractInput:
    """What an extractor is shown: the message, said to an assistant."""
    before = [] if row.before is None else [_turn("t1", "agent", row.before, row.said_at - timedelta(minutes=1))]
    return ExtractInput(before=before, turns=[_turn("t2", "user", row.text, row.said_at)])


async def memories_of(row: Labelled, extract: Extractor) -> list[ExtractedMemory]:
    """What an extractor takes from a message."""
    return (await extract(message_of(row))).memories


async def score(rows: Sequence[Labelled], extract: Extractor) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Runs an extractor over labelled messages.

    Returns the figures, for all and for each language and domain, and one row for each message with its memories,
    their verdicts and the labels that were missed.
    """
    judged: list[dict[str, Any]] = []
    for row in rows:
        memories = await memories_of(row, extract)
        verdicts = [judge(memory, row) for memory in memories]
        found = [any(_keeps(memory, keep) == "good" for memory in memories) for keep in row.keep]
        told = [_told(memory, verdict) for memory, verdict in zip(memories, verdicts, strict=True)]
        missed = [keep.words for keep, was in zip(row.keep, found, strict=True) if not was]
        judged.append(
            {
                "id": row.id, "lang": row.lang, "domain": row.domain, "text": row.text, "memories": told,
                "missed": missed, "kept": sum(found), "keeps": len(found), **_counted(row, memories),
            }
        )  # fmt: skip
    report = {"messages": len(rows), **_figures(judged)}
    for part in ("lang", "domain"):
        names = sorted({str(one[part]) for one in judged})
        report[part] = {name: _figures([one for one in judged if one[part] == name]) for name in names}
    return report, judged


def judge(memory: ExtractedMemory, row: Labelled) -> Verdict:
    """The verdict on a memory of a message, by the message's labels."""
    kept = {_keeps(memory, keep) for keep in row.keep}
    owners = {owner for keep in row.keep for owner in (keep.about, *keep.about_alt)}
    if any(_is_wrong(memory, wrong, owners) for wrong in row.wrong) or ("bad" in kept and "good" not in kept):
        return "bad"
    return "good" if "good" in kept else "weak"


def _turn(ref: str, role: Literal["user", "agent"], content: str, at: datetime) -> TurnView:
    return TurnView(ref=ref, role=role, content=content, created_at=at)


def _has(content: str, words: Iterable[Sequence[str]]) -> bool:
    folded = content.casefold().replace("’", "'")
    return all(any(way.casefold() in folded for way in group) for group in words)


def _keeps(memory: ExtractedMemory, keep: Keep) -> Verdict | None:
    """How well a memory matches a label: "weak" without its date, "bad" with another one; None if its words differ."""
    if not _has(memory.content, keep.words):
        return None
    if keep.dates is None:
        return "good"
    given = _date_of(memory, keep.dates)
    if given is not None:
        return "good" if given else "bad"
    return "good" if _written(memory.content, keep.dates) else "weak"


def _date_of(memory: ExtractedMemory, dates: Dates) -> bool | None:
    """Whether the memory's own date is the label's; None if it has none."""
    if dates.first is None:
        last = memory.valid_to
        # The end of a memory is the moment after it.
        return None if last is None or dates.last is None else abs((last.date() - dates.last).days) <= 1
    if memory.valid_from is None:
        return None
    return dates.first <= memory.valid_from.date() <= (dates.last or dates.first)


def _written(content: str, dates: Dates) -> bool:
    """Whether the words of a memory give the date themselves."""
    day = dates.first or dates.last
    if day is None:
        return False
    folded = content.casefold()
    month = _MONTHS[day.month - 1]
    whole = dates.first is not None and dates.last is not None and dates.first != dates.last
    if str(day.year) in folded and whole:
        return True
    return (month in folded or f" {month[:3]}" in folded) and (whole or str(day.day) in folded)


def _is_wrong(memory: ExtractedMemory, wrong: Wrong, owners: set[str]) -> bool:
    """Whether a memory draws a forbidden conclusion. A question in it is not a conclusion."""
    said = memory.content.partition(" (asked: ")[0]
    return not said.rstrip().endswith("?") and _has(said, wrong.words) and _is_of(said, wrong.about, owners)


def _is_of(said: str, owner: str | None, owners: set[str]) -> bool:
    """Whether a memory belongs to an owner: it has the right person, and no other owner in the labels."""
    if owner is None:
        return True
    if any(other.casefold() in said.casefold() for other in owners - {owner, "user"}):
        return False
    return (owner != "user") == bool(_OF_ANOTHER.search(said))


def _same_kind(memory: ExtractedMemory, keep: Keep) -> bool:
    if keep.kind == "procedure":
        return memory.type == "procedural"
    return memory.kind in _SAME_KIND.get(keep.kind, {keep.kind})


def _counted(row: Labelled, memories: Sequence[ExtractedMemory]) -> dict[str, int]:
    kept = [(memory, keep) for memory in memories for keep in row.keep if _keeps(memory, keep)]
    dated = [_keeps(memory, keep) for memory, keep in kept if keep.dates is not None]
    return {
        "right_kinds": sum(_same_kind(memory, keep) for memory, keep in kept),
        "kinds": len(kept),
        "wrong_dates": dated.count("bad"),
        "dates": len(dated),
    }


def _told(memory: ExtractedMemory, verdict: Verdict) -> dict[str, Any]:
    said = {"verdict": verdict, "kind": memory.kind, "content": memory.content}
    return said | {
        name: value.date().isoformat()
        for name, value in (("from", memory.valid_from), ("to", memory.valid_to))
        if value is not None
    }


def _figures(judged: Sequence[dict[str, Any]]) -> dict[str, Any]:
    verdicts = Counter(memory["verdict"] for one in judged for memory in one["memories"])
    memories = verdicts.total()
    total = {name: sum(one[name] for one in judged) for name in
             ("kept", "keeps", "right_kinds", "kinds", "wrong_dates", "dates")}  # fmt: skip
    return {
        "memories": memories,
        **{verdict: _share(verdicts[verdict], memories) for verdict in ("good", "weak", "bad")},
        "recall": _share(total["kept"], total["keeps"]),
        "right_kinds": _share(total["right_kinds"], total["kinds"]),
        "wrong_dates": _share(total["wrong_dates"], total["dates"]),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def lines(judged: Iterable[dict[str, Any]]) -> str:
    """The rows of `score` as lines of JSON."""
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in judged)


MARKS = ("good", "weak", "bad")


@dataclass(frozen=True, slots=True)
class Marked:
    """A message, what was extracted from it, and the judge's marks. `error` if a model failed."""

    row: Labelled
    memories: list[ExtractedMemory] = field(default_factory=list)
    marks: dict[int, Mark] = field(default_factory=dict)
    found: set[int] = field(default_factory=set)
    error: str | None = None

    def line(self) -> dict[str, Any]:
        """As a line of a report."""
        return {
            "id": self.row.id,
            "text": self.row.text,
            "memories": [
                {"content": memory.content, "kind": memory.kind, **_said(self.marks.get(number))}
                for number, memory in enumerate(self.memories, 1)
            ],
            "missed": [said for number, said in enumerate(_observations(self.row), 1) if number not in self.found],
            "error": self.error,
        }


def to_mark(row: Labelled, memories: Sequence[ExtractedMemory]) -> MarkInput:
    """What the judge is shown of a message."""
    shown = [
        MarkedMemory(
            number=number,
            kind=memory.kind,
            content=memory.content,
            valid_from=_day(memory.valid_from),
            valid_to=_day(memory.valid_to),
        )
        for number, memory in enumerate(memories, 1)
    ]
    return MarkInput(
        said_at=row.said_at, before=row.before, text=row.text, memories=shown, observations=_observations(row)
    )


async def _mark(chat: Counted, row: Labelled) -> Marked:
    """Extracts and marks. A message from which nothing is extracted is not shown to the judge."""
    memories = (await chat.run(EXTRACT, message_of(row))).memories
    if not memories:
        return Marked(row)
    output = await chat.run(MARK, to_mark(row, memories))
    marks = {mark.number: mark for mark in output.marks if 1 <= mark.number <= len(memories)}
    return Marked(row, memories, marks, set(output.found))


MARKING = Job(
    what="messages",
    tasks=(EXTRACT, MARK),
    inputs=lambda row: (message_of(row), to_mark(row, [])),
    one=_mark,
    failed=lambda row, why: Marked(row, error=why),
    tokens_out=150,  # two memories, or their marks
)
"""Gets memories extracted from messages, and marked."""


def report(marked: Sequence[Marked]) -> dict[str, Any]:
    """The share of each mark and of the observations that were found, each with its 95 % interval.

    `agreement` is the share of memories for which the judge and the labels agree, if there are labels.
    """
    read = [one for one in marked if one.error is None]
    marks: Counter[str] = Counter(mark.mark for one in read for mark in one.marks.values())
    observed = [_observations(one.row) for one in read]
    found = sum(len(one.found & set(range(1, len(seen) + 1))) for one, seen in zip(read, observed, strict=True))
    same = [
        one.marks[number].mark == judge(memory, one.row)
        for one in read
        if one.row.keep or one.row.wrong
        for number, memory in enumerate(one.memories, 1)
        if number in one.marks
    ]
    return {
        "messages": len(marked),
        "memories": sum(len(one.memories) for one in read),
        **{mark: share(marks[mark], marks.total()) for mark in MARKS},
        "recall": share(found, sum(map(len, observed))),
        "agreement": share(sum(same), len(same)),
        "unmarked": sum(len(one.memories) - len(one.marks) for one in read),
        "failed": len(marked) - len(read),
        "failures": dict(Counter(one.error for one in marked if one.error is not None).most_common()),
    }


def share(part: int, whole: int) -> dict[str, float | int | None]:
    """A share with its 95 % interval."""
    low, high = interval(part, whole)
    return {"of": whole, "share": round(part / whole, 4) if whole else None, "low": low, "high": high}


def _observations(row: Labelled) -> list[str]:
    return [_noted(keep) for keep in row.keep]


def _noted(keep: Keep) -> str:
    """A label as a note: its kind, its owner, the words of each group, and the days."""
    words = ", ".join(" or ".join(group) for group in keep.words)
    days = [day.isoformat() for day in (keep.dates.first, keep.dates.last) if day] if keep.dates else []
    return f"{keep.kind} about {keep.about}: {words}" + (f" ({' to '.join(days)})" if days else "")


def _day(moment: datetime | None) -> str | None:
    return None if moment is None else moment.date().isoformat()


def _said(mark: Mark | None) -> dict[str, str | None]:
    return {"mark": mark.mark if mark else None, "why": mark.why if mark else None}
