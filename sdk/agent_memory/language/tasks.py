"""What this library asks of a language model: named tasks with typed input, typed output and a prompt file.

An adapter runs any task. It is told nothing but the task and its input, so a transcript can reach a model only
as the data of an input model, and an answer can reach the store only through an output model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from agent_memory.models import FactKind, Role, Usage, UtcTime


class Data(BaseModel):
    """The base of task inputs and outputs. Fields a model adds on its own are ignored, not an error."""

    model_config = ConfigDict(extra="ignore")


In = TypeVar("In", bound=Data)
Out = TypeVar("Out", bound=Data)


class TurnView(Data):
    """A turn as a model sees it. `ref` (t1, t2, …) is what an answer cites; real ids stay with us."""

    ref: str
    role: Role
    name: str | None = None
    content: str
    created_at: UtcTime


class FactView(Data):
    """A remembered fact as a model sees it. `ref` (f1, f2, …) is what an answer cites."""

    ref: str
    kind: str
    content: str
    quote: str | None = None
    confidence: float = 0.8
    said_at: UtcTime


class ExtractInput(Data):
    """Turns to extract memories from. `before` are the turns ahead of them: context, never a source.

    `never` names what the user wants nothing remembered of.
    """

    turns: list[TurnView]
    before: list[TurnView] = Field(default_factory=list)
    never: list[str] = Field(default_factory=list)


class ExtractedMemory(Data):
    """One memory found in a transcript.

    `turns` are refs of the turns that it rests on, the one that settles it last; `quote` is verbatim from one
    of them. `content` stands alone: it names what and whom it is about. `metadata` is what a program can use
    of it.
    """

    type: Literal["fact", "procedural", "episodic"] = "fact"
    kind: FactKind = "fact"
    content: str = Field(min_length=1)
    quote: str
    turns: list[str] = Field(min_length=1)
    confidence: float = Field(default=0.8, ge=0, le=1)
    importance: float = Field(default=0.5, ge=0, le=1)
    valid_from: UtcTime | None = None
    valid_to: UtcTime | None = None
    time_phrase: str | None = None
    tags: list[str] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)


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
    """What was believed, and what is since another conversation, with when it was said there."""

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

    @property
    def of_extraction(self) -> ExtractInput:
        """What the extraction alone is given."""
        return ExtractInput(turns=self.turns, before=self.before, never=self.never)

    @property
    def of_summary(self) -> SummarizeInput:
        """What the summary alone is given."""
        return SummarizeInput(
            earlier=self.earlier,
            earlier_state=self.earlier_state,
            turns=self.turns,
            never=self.never,
            corrections=self.corrections,
        )


class ExtractAndSummarizeOutput(Data):
    """The answers to both."""

    # One that cannot be used is None: it is asked for alone, and the other counts all the same.
    extraction: ExtractOutput | SkipJsonSchema[None] = None
    summary: SummarizeOutput | SkipJsonSchema[None] = None


class ProfileView(Data):
    """A user's profile, in or out."""

    preferences: list[str] = Field(default_factory=list)
    current_work: list[str] = Field(default_factory=list)
    environment: list[str] = Field(default_factory=list)
    constraints: list[str] = Field(default_factory=list)
    personal: list[str] = Field(default_factory=list)


class ProfileInput(Data):
    """Facts to merge into a profile.

    `gone` are facts that the earlier profile may rest on and that are no longer true: they must leave it.
    """

    earlier: ProfileView | None = None
    facts: list[FactView]
    gone: list[FactView] = Field(default_factory=list)


class ProfileOutput(ProfileView):
    """The merged profile."""


class ReconcileInput(Data):
    """Active facts of one user, newest first, in which to find duplicates and contradictions."""

    facts: list[FactView]


class Duplicates(Data):
    """Facts (two or more refs) that make one claim in different words, and the claim in one sentence."""

    refs: list[str] = Field(min_length=2)
    content: str = Field(min_length=1)


class Contradiction(Data):
    """Two facts that cannot both be true now. Who wins is not the model's to say: newer, then surer, wins."""

    refs: list[str] = Field(min_length=2, max_length=2)
    reason: Literal["duplicate", "contradict", "update"] = "contradict"


class ReconcileOutput(Data):
    """What a reconciliation found; facts in neither list are kept."""

    duplicates: list[Duplicates] = Field(default_factory=list)
    contradictions: list[Contradiction] = Field(default_factory=list)


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


class NoteView(Data):
    """A memory that a search found, as a model sees it. `ref` (n1, n2, …) is what an answer cites."""

    ref: str
    said: UtcTime
    text: str


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


class MessageView(Data):
    """A message of a live conversation, as chat APIs know it."""

    role: str
    content: str


class ReplyInput(Data):
    """A live conversation that waits for its next message, with what memory brought as messages of the system."""

    messages: list[MessageView]


class ReplyOutput(Data):
    """What the agent says next."""

    reply: str = Field(min_length=1)


class Group(Data):
    """Memories that are about one thing."""

    facts: list[FactView]


class ConsolidateInput(Data):
    """Groups of facts, each about one thing, to be told in fewer sentences.

    Facts that were `named` are to become one, all of them; a figure that a later one replaces may be left out.
    """

    groups: list[Group]
    named: bool | None = None


class Conclusion(Data):
    """A sentence or more that take several memories (refs) together."""

    refs: list[str] = Field(min_length=2)
    content: str = Field(min_length=1)


class ConsolidateOutput(Data):
    """What stands for several facts and says all that they say; facts in none of these stay as they are."""

    merged: list[Conclusion] = Field(default_factory=list)


class SynthesizeInput(Data):
    """Groups of how-tos, each for one purpose, from different conversations."""

    groups: list[Group]


class SynthesizeOutput(Data):
    """One procedure for a group, if its how-tos are for one purpose; the later ones correct the earlier."""

    procedures: list[Conclusion] = Field(default_factory=list)


class Insight(Conclusion):
    """A pattern that several memories show. `replaces` are refs of earlier insights that it brings up to date."""

    kind: Literal["insight", "lesson"] = "insight"
    replaces: list[str] = Field(default_factory=list)


class ReflectInput(Data):
    """What is remembered of one user, newest first, and the insights drawn from it so far (refs r1, r2, …)."""

    memories: list[FactView]
    earlier: list[FactView] = Field(default_factory=list)


class ReflectOutput(Data):
    """What the memories show together that none of them says."""

    insights: list[Insight] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Task(Generic[In, Out]):
    """One use of a language model. `name` is also the name of its prompt file."""

    name: str
    input: type[In]
    output: type[Out]
    temperature: float = 0.1
    max_tokens: int = 2000
    timeout: float = 60.0


EXTRACT = Task("extract", ExtractInput, ExtractOutput)
SUMMARIZE = Task("summarize", SummarizeInput, SummarizeOutput)
EXTRACT_AND_SUMMARIZE = Task(
    "extract_and_summarize", ExtractAndSummarizeInput, ExtractAndSummarizeOutput, max_tokens=4000, timeout=120.0
)
PROFILE = Task("profile", ProfileInput, ProfileOutput)
RECONCILE = Task("reconcile", ReconcileInput, ReconcileOutput)
ARCHIVE = Task("archive", ArchiveInput, ArchiveOutput)
CONSOLIDATE = Task("consolidate", ConsolidateInput, ConsolidateOutput)
SYNTHESIZE = Task("synthesize", SynthesizeInput, SynthesizeOutput)
REFLECT = Task("reflect", ReflectInput, ReflectOutput)
RERANK = Task("rerank", RerankInput, RerankOutput, temperature=0.0, max_tokens=300, timeout=30.0)
QUERY_REWRITE = Task("query_rewrite", QueryRewriteInput, QueryRewriteOutput, max_tokens=100, timeout=30.0)
SELECT = Task("select", SelectInput, SelectOutput, temperature=0.0, max_tokens=300, timeout=30.0)
REPLY = Task("reply", ReplyInput, ReplyOutput, temperature=0.7)
HYDE = Task("hyde", HydeInput, HydeOutput, max_tokens=100, timeout=30.0)


@dataclass(frozen=True, slots=True)
class TaskResult(Generic[Out]):
    """What a task gave. `rejected` says why items of the answer were dropped, one line each."""

    output: Out
    model: str
    prompt_version: str
    usage: Usage
    rejected: list[str] = field(default_factory=list)


@runtime_checkable
class ChatModel(Protocol):
    """Runs tasks."""

    @property
    def model_id(self) -> str:
        """What derived documents name as their maker."""
        ...

    def prompt_version(self, task: Task[Any, Any]) -> str:
        """The version of what a task is run with: its prompt, or the rules in its place."""
        ...

    async def run(self, task: Task[In, Out], data: In) -> TaskResult[Out]:
        """Runs one task.

        Raises:
            ModelError: retryable for a timeout, a throttled call or a server fault; not retryable for an
                answer that could not be used after the adapter's own bounded attempts.
        """
        ...

    async def close(self) -> None:
        """Frees connections. Harmless when called twice."""
        ...


Vector = list[float]


@dataclass(frozen=True, slots=True)
class Embedded:
    """One vector a text, in order, each of Euclidean length 1."""

    vectors: list[Vector]
    usage: Usage


@runtime_checkable
class EmbeddingModel(Protocol):
    """Turns texts into vectors."""

    @property
    def model_id(self) -> str:
        """Stored beside every vector: vectors of different models are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...

    async def embed(self, texts: list[str]) -> Embedded:
        """Embeds texts in order; an empty list gives an empty list.

        Raises:
            ModelError: as `ChatModel.run`.
        """
        ...

    async def close(self) -> None:
        """Frees connections. Harmless when called twice."""
        ...
