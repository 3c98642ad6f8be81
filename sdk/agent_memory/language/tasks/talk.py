"""Tasks that read turns: extraction, summary, archive, and the live reply."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from agent_memory.language.tasks.task import Data, MessageView, Task, TurnView
from agent_memory.models import Extraction, FactKind, UtcTime
from agent_memory.text.patterns import linear

Kind = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$"), WithJsonSchema({"type": "string", "enum": list(get_args(FactKind))})
]
"""The kind of a fact. Custom ones are known with the input alone: `language.custom` checks them."""


_YEAR_FIRST = linear(r"^([1-9]\d{3})(?:-?(0[1-9]|1[0-2])(?:-?(0[1-9]|[12]\d|3[01]))?)?$")
_FIRST_OF_SECONDS = 10**9
"""Numbers from here on are seconds since 1970: this one is in 2001."""


def _dated(value: object) -> object:
    """A year, a month or a day that is written as a number ("2026", 20260301), as a date.

    Raises:
        ValueError: it is another small number, which would be a second of 1970.
    """
    text = str(value).strip() if isinstance(value, int | float | str) and not isinstance(value, bool) else ""
    if found := _YEAR_FIRST.match(text):
        return f"{found[1]}-{found[2] or '01'}-{found[3] or '01'}"
    try:
        small = abs(float(text)) < _FIRST_OF_SECONDS
    except ValueError:
        return value
    if small:
        raise ValueError("a small number is no date")
    return value


Dated = Annotated[UtcTime | None, BeforeValidator(_dated)]
"""A time that a model wrote."""


class ExtractInput(Data):
    """Turns to extract memories from. `before` are the turns ahead of them: context, never a source.

    `never` names what the user wants nothing remembered of. `custom` is the operator's: it is no part of the document
    with the turns, but of the system message (`language.custom`).
    """

    turns: list[TurnView]
    before: list[TurnView] = Field(default_factory=list)
    never: list[str] = Field(default_factory=list)
    custom: Extraction | None = Field(default=None, exclude=True)


class ExtractedMemory(Data):
    """One memory found in a transcript.

    `turns` are refs of the turns that it rests on, the one that settles it last; `quote` is verbatim from one
    of them. `content` stands alone: it names what and whom it is about. `metadata` is what a program can use
    of it.
    """

    type: Literal["fact", "procedural", "episodic"] = "fact"
    kind: Kind = "fact"
    content: str = Field(min_length=1)
    quote: str
    turns: list[str] = Field(min_length=1)
    confidence: float = Field(default=0.8, ge=0, le=1)
    importance: float = Field(default=0.5, ge=0, le=1)
    valid_from: Dated = None
    valid_to: Dated = None
    time_phrase: str | None = None
    tags: list[str] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)
    data: SkipJsonSchema[Any] = None


class ExtractOutput(Data):
    """What an extraction found; nothing is a good answer."""

    worth_extracting: bool = True
    memories: list[ExtractedMemory] = Field(default_factory=list)


class SummaryView(Data):
    """A thread's summary, in or out."""

    topic: str = ""
    key_points: list[str] = Field(default_factory=list)
    decisions: list[str] = Field(default_factory=list)
    open_issues: list[str] = Field(default_factory=list)
    next_steps: list[str] = Field(default_factory=list)


class Correction(Data):
    """What was believed, and what is true since another conversation, with the time at which it was said there."""

    was: str
    now: str
    said_at: UtcTime


class SummarizeInput(Data):
    """New turns to merge into a summary. `earlier` and `earlier_state` are what the last merge gave, if any.

    `never` names what the user wants nothing remembered of. With `corrections` there may be no turns.
    """

    earlier: SummaryView | None = None
    earlier_state: dict[str, Any] = Field(default_factory=dict)
    turns: list[TurnView]
    never: list[str] = Field(default_factory=list)
    corrections: list[Correction] = Field(default_factory=list)


class SummarizeOutput(SummaryView):
    """The merged summary, with the thread's current state as data (values the talk has settled)."""

    state: dict[str, Any] = Field(default_factory=dict)


class ExtractAndSummarizeInput(Data):
    """Turns to extract memories from and to merge into a summary, in one call: the fields of both inputs."""

    turns: list[TurnView]
    before: list[TurnView] = Field(default_factory=list)
    never: list[str] = Field(default_factory=list)
    earlier: SummaryView | None = None
    earlier_state: dict[str, Any] = Field(default_factory=dict)
    corrections: list[Correction] = Field(default_factory=list)
    custom: Extraction | None = Field(default=None, exclude=True)

    @property
    def of_extraction(self) -> ExtractInput:
        """The input of the extraction alone."""
        return ExtractInput(turns=self.turns, before=self.before, never=self.never, custom=self.custom)

    @property
    def of_summary(self) -> SummarizeInput:
        """The input of the summary alone."""
        return SummarizeInput(
            earlier=self.earlier,
            earlier_state=self.earlier_state,
            turns=self.turns,
            never=self.never,
            corrections=self.corrections,
        )


class ExtractAndSummarizeOutput(Data):
    """The answers to both."""

    # An unusable answer is None: it is requested again on its own, and the other one is used.
    extraction: ExtractOutput | SkipJsonSchema[None] = None
    summary: SummarizeOutput | SkipJsonSchema[None] = None


class ArchiveInput(Data):
    """A stretch of a conversation to give an account of."""

    turns: list[TurnView]


class ArchiveOutput(Data):
    """The account: a narrative, and what the talk was about in lists."""

    summary: str = Field(min_length=1)
    topics: list[str] = Field(default_factory=list)
    entities: list[str] = Field(default_factory=list)
    decisions: list[str] = Field(default_factory=list)
    questions: list[str] = Field(default_factory=list)


class ReplyInput(Data):
    """A live conversation that waits for its next message, with what memory brought as messages of the system."""

    messages: list[MessageView]


class ReplyOutput(Data):
    """What the agent says next."""

    reply: str = Field(min_length=1)


EXTRACT = Task("extract", ExtractInput, ExtractOutput)
SUMMARIZE = Task("summarize", SummarizeInput, SummarizeOutput)
EXTRACT_AND_SUMMARIZE = Task(
    "extract_and_summarize", ExtractAndSummarizeInput, ExtractAndSummarizeOutput, max_tokens=4000, timeout=120.0
)
ARCHIVE = Task("archive", ArchiveInput, ArchiveOutput)
REPLY = Task("reply", ReplyInput, ReplyOutput, temperature=0.7)
