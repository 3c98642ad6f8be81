"""Answers from contexts: a model answers each question from a context, and a judge decides if the answer is correct.

The contexts are built first, so the cost of the run is known before any model is called.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.evaluation.adapters import Adapter
from agent_memory.evaluation.dataset import ADVERSARIAL, UNANSWERABLE, Conversation, Question
from agent_memory.evaluation.recorded import Counted, Job
from agent_memory.language.tasks import ANSWER, JUDGE, AnswerInput, JudgeInput

NOT_KNOWN = "Nothing is known that answers this."
"""The expected answer to a question that nothing answers, if the data set gives none."""
NOTHING_TOLD = "(nothing is remembered)"
Z = 1.96
"""The quantile of the normal distribution for a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question, and the context for it."""

    conversation: str
    question: Question
    context: str
    tokens: int

    @property
    def expected(self) -> str:
        """What the answer should say."""
        if self.question.category == ADVERSARIAL or (
            not self.question.answer and self.question.category in UNANSWERABLE
        ):
            return NOT_KNOWN
        return self.question.answer

    def to_answer(self) -> AnswerInput:
        """The input of the answering model, without the expected answer."""
        asked = self.question
        return AnswerInput(question=asked.text, asked_on=asked.asked_on, context=self.context or NOTHING_TOLD)

    def to_judge(self, answer: str) -> JudgeInput:
        """What the judge is shown: never the context."""
        asked = self.question
        return JudgeInput(question=asked.text, expected=self.expected, rubric=list(asked.rubric), answer=answer)


@dataclass(frozen=True, slots=True)
class Judged:
    """A model's answer to one question, and the judge's verdict. `error` if one of them failed."""

    case: Case
    answer: str = ""
    correct: bool = False
    points: float | None = None
    why: str = ""
    error: str | None = None

    def row(self) -> dict[str, Any]:
        """As a line of a report."""
        return {
            "conversation": self.case.conversation,
            "question": self.case.question.text,
            "category": self.case.question.category,
            "expected": self.case.expected,
            "context": self.case.context,
            "answer": self.answer,
            "correct": self.correct,
            "points": self.points,
            "why": self.why,
            "error": self.error,
        }


def cases(system: Adapter, conversations: Sequence[Conversation], budget: int) -> list[Case]:
    """The context of a system, which has ingested these, for each question with a reference answer.

    Raises:
        InvalidInput: if the system returns contexts without their text.
    """
    found = []
    for conversation in conversations:
        for question in conversation.questions:
            told = system.context(conversation, question.text, budget)
            if told is not None and told.tokens and not told.text:
                raise InvalidInput(
                    f"{system.name} returns no text of its contexts (Told.text): nothing can be answered"
                )
            case = Case(conversation.name, question, told.text if told else "", told.tokens if told else 0)
            if case.expected:
                found.append(case)
    return found


async def _answer(chat: Counted, case: Case) -> Judged:
    answer = (await chat.run(ANSWER, case.to_answer())).answer
    verdict, rubric = await chat.run(JUDGE, case.to_judge(answer)), case.question.rubric
    met = {number for number in verdict.points if 1 <= number <= len(rubric)}
    points = len(met) / len(rubric) if rubric else None
    correct = len(met) == len(rubric) if rubric else verdict.correct
    return Judged(case, answer, correct, points, verdict.why)


ANSWERS = Job(
    what="questions",
    tasks=(ANSWER, JUDGE),
    inputs=lambda case: (case.to_answer(), case.to_judge(case.expected)),
    one=_answer,
    failed=lambda case, why: Judged(case, error=why),
    tokens_out=60,
)
"""Gets questions answered and judged. Until there are answers, the expected ones stand for them in the estimate."""


def report(judged: Sequence[Judged]) -> dict[str, Any]:
    """The share of right answers, over all and by category, each with its interval. Overall is without adversarial.

    Questions without an answer or a verdict are in no share: an outage says nothing about a memory.
    """
    categories = sorted({one.case.question.category for one in judged})
    counted = [one for one in judged if one.case.question.category != ADVERSARIAL]
    return {
        "overall": _share(counted),
        "categories": {
            name: _share(one for one in judged if one.case.question.category == name) for name in categories
        },
        "context_tokens": round(sum(one.case.tokens for one in judged) / max(len(judged), 1), 1),
        "failed": sum(one.error is not None for one in judged),
    }


def _share(judged: Iterable[Judged]) -> dict[str, float]:
    chosen = [one for one in judged if one.error is None]
    right = sum(one.correct for one in chosen)
    low, high = interval(right, len(chosen))
    figures = {"questions": len(chosen), "correct": round(right / max(len(chosen), 1), 4), "low": low, "high": high}
    points = [one.points for one in chosen if one.points is not None]
    return figures | ({"points": round(sum(points) / len(points), 4)} if points else {})


def interval(right: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    if not of:
        return 0.0, 1.0
    share = right / of
    middle = share + Z * Z / (2 * of)
    spread = Z * math.sqrt(share * (1 - share) / of + Z * Z / (4 * of * of))
    scale = 1 + Z * Z / of
    return round(max(0.0, (middle - spread) / scale), 4), round(min(1.0, (middle + spread) / scale), 4)
