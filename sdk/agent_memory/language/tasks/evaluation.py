"""Tasks of an evaluation: answering a question from a context, judging the answer, and marking what was extracted."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from agent_memory.language.tasks.task import Data, Task


class AnswerInput(Data):
    """A question, and all that memory tells about it."""

    question: str
    asked_on: str | None = Field(default=None, description="The day of the question, where the data set says it.")
    context: str


class AnswerOutput(Data):
    """The answer, in a sentence or less."""

    answer: str


class JudgeInput(Data):
    """An answer, and what the data set expects. With a `rubric`, the judge decides each of its points."""

    question: str
    expected: str
    rubric: list[str] = Field(default_factory=list)
    answer: str


class JudgeOutput(Data):
    """Whether the answer is right, and why, in a few words. `points` are the met ones of the rubric, from 1."""

    why: str
    points: list[int] = Field(default_factory=list)
    correct: bool


class MarkedMemory(Data):
    """A memory that was extracted from a message."""

    number: int
    kind: str
    content: str
    valid_from: str | None = None
    valid_to: str | None = None


class MarkInput(Data):
    """A message, what was extracted from it, and what a careful reader noted. Both are numbered from 1."""

    said_at: datetime
    before: str | None = None
    text: str
    memories: list[MarkedMemory]
    observations: list[str] = Field(default_factory=list)


class Mark(Data):
    """The mark of one memory."""

    number: int
    why: str
    mark: Literal["good", "weak", "bad"]


class MarkOutput(Data):
    """The marks, and which observations a good memory says."""

    marks: list[Mark]
    found: list[int] = Field(default_factory=list)


ANSWER = Task("answer", AnswerInput, AnswerOutput, temperature=0.0, max_tokens=400)
JUDGE = Task("judge", JudgeInput, JudgeOutput, temperature=0.0, max_tokens=300)
MARK = Task("mark", MarkInput, MarkOutput, temperature=0.0, max_tokens=1500)
