"""Tasks around a question: rewriting it, answering it, choosing among what a search found; and judging answers."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from agent_memory.language.tasks.task import Data, LocalTime, NoteView, Task


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


class RerankInput(Data):
    """What a search found for a question, best first."""

    question: str
    notes: list[NoteView]


class RerankOutput(Data):
    """The refs in the order in which the notes help to answer."""

    refs: list[str]


class SelectInput(Data):
    """What is remembered that may matter for a message, and what the application wants chosen of it."""

    wanted: str
    message: str
    notes: list[NoteView]


class SelectOutput(Data):
    """The refs of those that matter, the most helpful first."""

    refs: list[str]


class QueryRewriteInput(Data):
    """A question that is not self-contained, what its user said before it, and what that is about."""

    question: str
    messages: list[str] = Field(default_factory=list)
    terms: list[str] = Field(default_factory=list)


class QueryRewriteOutput(Data):
    """The question as somebody would ask it who knows nothing of the talk."""

    query: str


class HydeInput(Data):
    """A question for which a hypothetical answer is wanted."""

    question: str


class HydeOutput(Data):
    """A sentence as it might stand in the memory that answers the question. It is searched by, never shown."""

    answer: str


class RatedNote(NoteView):
    """A note, and how likely it bears on the question, from 0 to 1; None if that is not known."""

    relevance: float | None = None


class ReflectOnInput(Data):
    """A question about a user, and what a search found for it, nearest first."""

    question: str
    today: LocalTime
    notes: list[RatedNote]


class Quotation(Data):
    """Words of a note, as they stand in it."""

    ref: str
    quote: str


class CitedText(Data):
    """A sentence of an answer, and the words that it rests on."""

    text: str = Field(min_length=1)
    evidence: list[Quotation]


class ReflectOnOutput(Data):
    """The answer in its order; empty if the notes do not give one."""

    sentences: list[CitedText] = Field(default_factory=list)


QUERY_REWRITE = Task("query_rewrite", QueryRewriteInput, QueryRewriteOutput, max_tokens=100, timeout=30.0)
HYDE = Task("hyde", HydeInput, HydeOutput, max_tokens=100, timeout=30.0)
RERANK = Task("rerank", RerankInput, RerankOutput, temperature=0.0, max_tokens=300, timeout=30.0)
SELECT = Task("select", SelectInput, SelectOutput, temperature=0.0, max_tokens=300, timeout=30.0)
REFLECT_ON = Task("reflect_on", ReflectOnInput, ReflectOnOutput, temperature=0.0, max_tokens=1500)
