"""Jobs for two models: one does a task for each row, another judges the result.

The answers are kept in a file, so that a run can continue after a stop, or be replayed at no cost. The main job answers
each question from a context, and judges if the answer is correct. The contexts are built first, so the cost of the run
is known before any model is called.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from agent_memory.errors import InvalidInput, ModelError
from agent_memory.evaluation.adapters import Adapter
from agent_memory.evaluation.dataset import ADVERSARIAL, UNANSWERABLE, Conversation, Question
from agent_memory.language.prompts import PromptFolder
from agent_memory.language.roles import model_of
from agent_memory.language.tasks import (
    ANSWER,
    JUDGE,
    AnswerInput,
    ChatModel,
    Data,
    In,
    JudgeInput,
    Out,
    Task,
    TaskResult,
)
from agent_memory.models import Usage
from agent_memory.text.tokens import ApproximateTokens


class RecordedChat:
    """A chat model that calls another one only for answers missing in the file, and writes each answer to the file."""

    def __init__(self, path: Path | None, chat: ChatModel | None) -> None:
        """Reads the file.

        Args:
            path: The file: one JSON answer per line. None: nothing is kept.
            chat: The model to call; None: only the file answers, from any model.

        Raises:
            InvalidInput: if the file cannot be read.
        """
        self._path = path
        self._chat = chat
        self._known: dict[str, dict[str, Any]] = {}
        if path is not None and path.exists():
            _end_last_line(path)
            entries = [_entry(line) for line in path.read_text("utf-8", "replace").splitlines()]
            read = [entry for entry in entries if entry is not None]  # a line cut off by a stop is requested again
            if entries and not read:
                raise InvalidInput(f"{path}: no line of it is a recorded answer")
            for entry in read:
                self._remember(entry)

    @property
    def model_id(self) -> str:
        """That of the wrapped model."""
        return self._chat.model_id if self._chat is not None else "recorded"

    def prompt_version(self, task: Task[Any, Any]) -> str:
        """That of the wrapped model."""
        return self._chat.prompt_version(task) if self._chat is not None else "recorded"

    def has(self, task: Task[In, Out], data: In) -> bool:
        """Whether the file answers this."""
        return self._key(task, data) in self._known

    async def run(self, task: Task[In, Out], data: In) -> TaskResult[Out]:
        """The recorded answer, else one of the model, which is recorded.

        A recorded answer costs nothing.

        Raises:
            ModelError: as the model does; not retryable, if there is none and nothing is recorded.
        """
        key = self._key(task, data)
        if key in self._known:
            entry = self._known[key]
            output = task.output.model_validate(entry["output"])
            return TaskResult(output, entry["model"], entry["prompt_version"], Usage())
        if self._chat is None:
            raise ModelError(f"no answer to this {task.name!r} is recorded, and there is no model to call")
        result = await self._chat.run(task, data)
        entry = {
            "key": key,
            "task": task.name,
            "model": result.model,
            "prompt_version": result.prompt_version,
            "input": data.model_dump(mode="json"),
            "output": result.output.model_dump(mode="json"),
            "usage": result.usage.model_dump(exclude_defaults=True),
        }
        self._remember(entry)
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        return result

    async def close(self) -> None:
        """Closes the wrapped model."""
        if self._chat is not None:
            await self._chat.close()

    def _remember(self, entry: dict[str, Any]) -> None:
        self._known[entry["key"] if self._chat is not None else _input_key(entry["task"], entry["input"])] = entry

    def _key(self, task: Task[Any, Any], data: Data) -> str:
        """The key of a question: another prompt or model makes another key, unless only the file answers."""
        shown = data.model_dump(mode="json")
        if self._chat is None:
            return _input_key(task.name, shown)
        model = model_of(self._chat, task)
        return _digest([task.name, model.model_id if model else "", self._chat.prompt_version(task), shown])


def _input_key(task: str, shown: dict[str, Any]) -> str:
    return _digest([task, shown])


def _digest(asked: list[Any]) -> str:
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:32]


def _entry(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    fields = ("key", "task", "model", "prompt_version", "input", "output")
    return entry if isinstance(entry, dict) and all(name in entry for name in fields) else None


def _end_last_line(path: Path) -> None:
    """Ends a line cut off by a stop, so that the next one starts on a new line."""
    with path.open("rb+") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")


AT_ONCE = 8
"""Rows that are worked on at the same time. A choice."""

Row = TypeVar("Row")
Result = TypeVar("Result")


class Counted:
    """A chat model that adds up what its calls cost."""

    def __init__(self, chat: RecordedChat) -> None:
        self._chat = chat
        self.usage = Usage()

    async def run(self, task: Task[In, Out], data: In) -> Out:
        """The output for a task. Raises ModelError as the model does."""
        try:
            result = await self._chat.run(task, data)
        except ModelError as error:
            self.usage += Usage.model_validate(error.cost)
            raise
        self.usage += result.usage
        return result.output


@dataclass(frozen=True, slots=True)
class Job(Generic[Row, Result]):
    """A job for two models.

    Attributes:
        what: What the rows are, as in "20 questions".
        tasks: The tasks of the first and of the second model.
        inputs: The inputs of both for a row, for the estimate: the second one without the first one's output.
        one: Does a row.
        failed: The result of a row for which a model failed, with the reason.
        tokens_out: Tokens of an output, for the estimate. A choice.
    """

    what: str
    tasks: tuple[Task[Any, Any], Task[Any, Any]]
    inputs: Callable[[Row], tuple[Data, Data]]
    one: Callable[[Counted, Row], Awaitable[Result]]
    failed: Callable[[Row, str], Result]
    tokens_out: int

    def missing(self, rows: Sequence[Row], chat: RecordedChat) -> list[Row]:
        """The rows for which the first model must be called."""
        return [row for row in rows if not chat.has(self.tasks[0], self.inputs(row)[0])]

    def tokens(self, rows: Sequence[Row]) -> int:
        """About how many tokens are sent for rows."""
        prompts, count = PromptFolder(), ApproximateTokens()
        fixed = sum(count.count(prompts.load(task.name).render()) for task in self.tasks)
        return sum(fixed + sum(count.count(data.model_dump_json()) for data in self.inputs(row)) for row in rows)

    async def run(
        self, rows: Sequence[Row], chat: RecordedChat, progress: Callable[[int, int], None]
    ) -> tuple[list[Result], Usage]:
        """Does all rows; returns the results and what they cost."""
        counted = Counted(chat)
        places = asyncio.Semaphore(AT_ONCE)
        done = 0

        async def one(row: Row) -> Result:
            nonlocal done
            async with places:
                try:
                    return await self.one(counted, row)
                except ModelError as error:
                    return self.failed(row, str(error))
                finally:
                    done += 1
                    progress(done, len(rows))

        return list(await asyncio.gather(*map(one, rows))), counted.usage


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
        "failures": dict(Counter(one.error for one in judged if one.error is not None).most_common()),
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
