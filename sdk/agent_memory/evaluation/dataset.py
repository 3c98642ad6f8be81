"""The data of an evaluation: conversations, and questions whose answers are in known turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_memory.models import TurnInput

ADVERSARIAL = "adversarial"
"""The category of questions that the conversation does not answer; it does not count in an overall figure."""


UNANSWERABLE = frozenset(("abstention", "unanswerable"))
"""Categories of questions without any evidence: a context should show little."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the ids of the turns that answer it: none if nothing does.

    If the answer changed, `stale` are the turns with an older one, and `current` those with the current one. `answer`
    is the correct answer in the data set, `rubric` its points if it lists them, `asked_on` the day of the question.
    """

    text: str
    category: str
    evidence: frozenset[str]
    stale: frozenset[str] = frozenset()
    current: frozenset[str] = frozenset()
    answer: str = ""
    rubric: tuple[str, ...] = ()
    asked_on: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """Everything that one user said, by thread, and the questions about it. Every turn has an id and a time."""

    name: str
    threads: Mapping[str, Sequence[TurnInput]]
    questions: Sequence[Question]

    @property
    def turns(self) -> int:
        """How many turns it has."""
        return sum(len(turns) for turns in self.threads.values())
