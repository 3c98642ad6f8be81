"""Samples for a person to judge (memories shown for a question, and extracted facts), and the sums of their marks.

The samples of a seed are the same on every run over the same data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from agent_memory.errors import InvalidInput
from agent_memory.evaluation.adapters import AgentMemory
from agent_memory.evaluation.dataset import ADVERSARIAL, Conversation, Question
from agent_memory.models import Memory, Turn, day
from agent_memory.sync import UserScope
from agent_memory.text.patterns import linear

About = Literal["memory", "fact"]
"""An injected memory, which should help with its question; or a fact, which should be what was said."""

_MEMORIES = ("fact", "episodic", "procedural", "reflection")


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample to judge, with its source turns.

    Attributes:
        about: What is judged.
        conversation: The conversation of the memory.
        question: The question, for an injected memory.
        text: What the memory says.
        said: Its source turns: day, speaker and words.
        machine: The automatic check. For an injected memory: it comes from a turn that is evidence in the data set. For
            a fact: its quote is in one of its turns, letter by letter.
    """

    about: About
    conversation: str
    question: str | None
    text: str
    said: list[str]
    machine: bool


def draw(
    system: AgentMemory, conversations: Sequence[Conversation], count: int, *, seed: int = 0, budget: int = 650
) -> list[Sample]:
    """Draws `count` questions with one memory of each one's context, and `count` facts; fewer if there are no more.

    The conversations must have been ingested. Adversarial questions, which nothing answers, are left out.
    """
    random = Random(seed)
    asked = [(talk, question) for talk in conversations for question in talk.questions]
    answerable = [(talk, question) for talk, question in asked if question.category != ADVERSARIAL]
    random.shuffle(answerable)
    told: list[Sample] = []
    for talk, question in answerable:
        if len(told) == count:
            break
        if sample := _told(system.user(talk), question, random, budget):
            told.append(sample)
    facts = [(talk, fact) for talk in conversations for fact in system.user(talk).memories(types=["fact"])]
    facts.sort(key=lambda pair: (pair[0].name, pair[1].id))
    chosen = random.sample(facts, min(count, len(facts)))
    return [*told, *(_extracted(system.user(talk), fact) for talk, fact in chosen)]


def _told(user: UserScope, question: Question, random: Random, budget: int) -> Sample | None:
    """One memory of the context of a question; None if it holds none."""
    used = [item["id"] for item in user.context(question.text, budget=budget).used if item["type"] in _MEMORIES]
    if not used:
        return None
    found = user.why(random.choice(used))
    relevant = not question.evidence.isdisjoint(turn.id for turn in found.turns)
    return Sample("memory", user.user_id, question.text, found.memory.content, _lines(found.turns), relevant)


def _extracted(user: UserScope, fact: Memory) -> Sample:
    turns = user.why(fact.id).turns
    verbatim = fact.quote is not None and any(fact.quote in turn.content for turn in turns)
    return Sample("fact", user.user_id, None, fact.content, _lines(turns), verbatim)


def _lines(turns: Sequence[Turn]) -> list[str]:
    return [f"{day(turn.created_at)}, {turn.name or turn.role}: {turn.content}" for turn in turns]


ASKED: dict[About, str] = {
    "memory": "Does it help to answer the question?",
    "fact": "Was it said, and is it correct?",
}
MACHINE: dict[About, str] = {
    "memory": "comes from evidence in the data set",
    "fact": "its quote is in the conversation, letter by letter",
}

_HEAD = linear(r"## (\d+)\. (memory|fact)")
_BOX = linear(r"- \[( |x|X)\] (yes|no)")
_MACHINE = linear(r"By machine: (yes|no) \(")


@dataclass(frozen=True, slots=True)
class Mark:
    """The marks of one sample; `person` is None until somebody marks it."""

    about: About
    machine: bool
    person: bool | None


def page(samples: Sequence[Sample], *, title: str) -> str:
    """Markdown with two boxes per sample. Outside text is quoted on separate lines, so it cannot tick a box."""
    parts = [f"# {title}", "Put an x between the brackets of one box of each sample."]
    for number, sample in enumerate(samples, start=1):
        question = [f"> Question: {_one_line(sample.question)}", ">"] if sample.question else []
        said = [f"> - {_one_line(line)}" for line in sample.said] or ["> - (no turn is kept)"]
        known = f"By machine: {'yes' if sample.machine else 'no'} ({MACHINE[sample.about]})."
        quoted = [*question, f"> Remembered: {_one_line(sample.text)}", ">", "> Said:", ">", *said]
        boxes = f"{ASKED[sample.about]}\n\n- [ ] yes\n- [ ] no"
        parts += [f"## {number}. {sample.about}, {_one_line(sample.conversation)}", "\n".join(quoted), known, boxes]
    return "\n\n".join(parts) + "\n"


def read_page(text: str) -> list[Mark]:
    """The marks of a page. Raises InvalidInput if it is not such a page, or both boxes of a sample are ticked."""
    sections = [f"## {part}" for part in f"\n{text}".split("\n## ")[1:]]
    if not sections:
        raise InvalidInput("no samples: not a page that `judge --out` wrote")
    return [_read(section) for section in sections]


def _read(section: str) -> Mark:
    lines = section.splitlines()
    head, boxes = _HEAD.match(lines[0]), [box for line in lines if (box := _BOX.fullmatch(line.rstrip()))]
    known = next((found for line in lines if (found := _MACHINE.match(line))), None)
    if head is None or known is None or [box[2] for box in boxes] != ["yes", "no"]:
        raise InvalidInput(f"{lines[0][:40]!r}: a sample has its heading, a line `By machine`, and two boxes")
    yes, no = (box[1] != " " for box in boxes)
    if yes and no:
        raise InvalidInput(f"sample {head[1]}: both boxes are ticked")
    about: About = "memory" if head[2] == "memory" else "fact"
    return Mark(about, known[1] == "yes", yes if yes or no else None)


def summary(marks: Iterable[Mark]) -> dict[str, dict[str, Any]]:
    """For memories and facts: the number of samples, the automatic checks of all, and a person's marks."""
    rows = list(marks)
    return {about: _summed([row for row in rows if row.about == about]) for about in ("memory", "fact")}


def _summed(rows: Sequence[Mark]) -> dict[str, Any]:
    marked = [row.person for row in rows if row.person is not None]
    return {
        "samples": len(rows),
        "machine": _share([row.machine for row in rows]),
        "marked": len(marked),
        "good": sum(marked),
        "share": _share(marked),
        # Of all samples, marked or not: a review that is half done shows no majority yet.
        "majority": 2 * sum(marked) > len(rows),
    }


def _share(values: Sequence[bool]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())
