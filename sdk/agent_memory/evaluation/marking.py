"""A judge's marks for extracted memories: precision by a rubric, recall against what a careful reader noted.

The rubric is a part of the prompt `mark`, which a run prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent_memory.evaluation.answering import interval
from agent_memory.evaluation.extraction import Keep, Labelled, judge, message_of
from agent_memory.evaluation.recorded import Counted, Job
from agent_memory.language.tasks import EXTRACT, MARK, ExtractedMemory, Mark, MarkedMemory, MarkInput

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
