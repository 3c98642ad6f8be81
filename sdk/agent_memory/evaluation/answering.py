"""Answers from contexts: a model answers each question from a context, and a judge decides if the answer is correct.

The contexts are built first, so the cost of the run is known before any model is called.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_memory.errors import InvalidInput, ModelError
from agent_memory.evaluation.adapters import Adapter
from agent_memory.evaluation.dataset import ADVERSARIAL, UNANSWERABLE, Conversation, Question
from agent_memory.evaluation.recorded import RecordedChat
from agent_memory.language.tasks import ANSWER, JUDGE, AnswerInput, Data, JudgeInput, Task
from agent_memory.models import Usage
from agent_memory.text.tokens import TokenCounter

AT_ONCE = 8
"""Questions that are answered at the same time. A choice."""
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


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a run: calls that are not recorded yet, and the tokens that they send."""

    calls: int
    input_tokens: int
    recorded: int


@dataclass(slots=True)
class Run:
    """The judged answers, and what they cost."""

    judged: list[Judged] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)


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


def cost(
    asked: Sequence[Case], chat: RecordedChat, count: TokenCounter, prompts: Callable[[Task[Any, Any]], str]
) -> Cost:
    """The estimated cost of answering and judging these.

    The answers to judge are unknown yet, so the expected ones count instead; an answer that is not recorded is not
    judged either.
    """
    calls = tokens = recorded = 0
    sizes = {task.name: count.count(prompts(task)) for task in (ANSWER, JUDGE)}
    for case in asked:
        steps: list[tuple[Task[Any, Any], Data]] = [(ANSWER, case.to_answer()), (JUDGE, case.to_judge(case.expected))]
        if chat.has(*steps[0]):
            recorded += 1
            steps = steps[1:]
        for task, data in steps:
            calls += 1
            tokens += sizes[task.name] + count.count(data.model_dump_json())
    return Cost(calls, tokens, recorded)


async def answer_all(
    asked: Sequence[Case], chat: RecordedChat, progress: Callable[[int, int], None] = lambda done, total: None
) -> Run:
    """Gets all questions answered and judged. One without an answer or a verdict has the reason."""
    run = Run()
    places = asyncio.Semaphore(AT_ONCE)
    done = 0

    async def one(case: Case) -> Judged:
        nonlocal done
        async with places:
            try:
                answered = await chat.run(ANSWER, case.to_answer())
                run.usage += answered.usage
                judged = await chat.run(JUDGE, case.to_judge(answered.output.answer))
                run.usage += judged.usage
            except ModelError as error:
                run.usage += Usage.model_validate(error.cost)
                return Judged(case, error=str(error))
            finally:
                done += 1
                progress(done, len(asked))
        verdict, rubric = judged.output, case.question.rubric
        met = {number for number in verdict.points if 1 <= number <= len(rubric)}
        points = len(met) / len(rubric) if rubric else None
        correct = len(met) == len(rubric) if rubric else verdict.correct
        return Judged(case, answered.output.answer, correct, points, verdict.why)

    run.judged = list(await asyncio.gather(*(one(case) for case in asked)))
    return run


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
