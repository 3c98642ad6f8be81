"""A stand-in for a large model: it does as it is told by the transcript, and fails when a test wants it to.

A user's line `fact: key=value` is a fact, `howto: …` a procedure; two facts of one key contradict each other unless
their values have the same letters, and then they are duplicates.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any, Literal, cast

from agent_memory.errors import ModelError
from agent_memory.language.tasks import (
    ArchiveInput,
    ArchiveOutput,
    CitedText,
    Conclusion,
    ConsolidateInput,
    ConsolidateOutput,
    Contradiction,
    Duplicates,
    ExtractAndSummarizeInput,
    ExtractAndSummarizeOutput,
    ExtractedMemory,
    ExtractInput,
    ExtractOutput,
    Group,
    In,
    Insight,
    Out,
    ProfileInput,
    ProfileOutput,
    Quotation,
    ReconcileInput,
    ReconcileOutput,
    ReflectInput,
    ReflectOnInput,
    ReflectOnOutput,
    ReflectOutput,
    ReplyInput,
    ReplyOutput,
    RerankInput,
    RerankOutput,
    SummarizeInput,
    SummarizeOutput,
    SynthesizeInput,
    SynthesizeOutput,
    Task,
    TaskResult,
)
from agent_memory.models import Usage

Fault = Callable[[str, int], ModelError | None]


class ScriptedChat:
    """A `ChatModel` without a model. `fault(task, call)` may give an error for the n-th call of a task."""

    def __init__(self, fault: Fault | None = None) -> None:
        self.calls: Counter[str] = Counter()
        self.seen: list[Any] = []
        self.fault = fault
        self.version = "script-1"
        self.outputs: dict[str, Callable[[Any], Any]] = dict(_RULES)

    @property
    def model_id(self) -> str:
        return "scripted"

    def prompt_version(self, task: Task[Any, Any]) -> str:
        return self.version

    async def run(self, task: Task[In, Out], data: In) -> TaskResult[Out]:
        self.calls[task.name] += 1
        self.seen.append(data)
        error = self.fault(task.name, self.calls[task.name]) if self.fault else None
        if error is not None:
            raise error
        output = self.outputs[task.name]
        usage = Usage(model_calls=1, input_tokens=10, output_tokens=5)
        return TaskResult(cast(Out, output(cast(Any, data))), "scripted", self.version, usage)

    async def close(self) -> None:
        pass


def _extract(data: ExtractInput) -> ExtractOutput:
    kinds: dict[str, Literal["fact", "procedural"]] = {"fact": "fact", "howto": "procedural"}
    return ExtractOutput(
        memories=[
            ExtractedMemory(type=kinds[kind], content=text.strip(), quote=line, turns=[turn.ref])
            for turn in data.turns
            if turn.role == "user"
            for line in turn.content.splitlines()
            for kind, _, text in [line.partition(":")]
            if kind in kinds
        ]
    )


def _summarize(data: SummarizeInput) -> SummarizeOutput:
    points = [*(data.earlier.key_points if data.earlier else []), *(turn.content for turn in data.turns)]
    last = data.turns[-1].content if data.turns else data.earlier_state.get("last", "")
    for correction in data.corrections:
        points = [point.replace(correction.was, correction.now) for point in points]
        last = last.replace(correction.was, correction.now)
    return SummarizeOutput(topic="script", key_points=points, state={"last": last})


def _extract_and_summarize(data: ExtractAndSummarizeInput) -> ExtractAndSummarizeOutput:
    return ExtractAndSummarizeOutput(extraction=_extract(data.of_extraction), summary=_summarize(data.of_summary))


def _archive(data: ArchiveInput) -> ArchiveOutput:
    words = [turn.content for turn in data.turns]
    return ArchiveOutput(
        summary=" / ".join(words),
        topics=[word.removeprefix("topic:").strip() for word in words if word.startswith("topic:")],
        entities=["Script"],
        decisions=[word for word in words if word.startswith("decided:")],
        questions=[word for word in words if word.endswith("?")],
    )


def _profile(data: ProfileInput) -> ProfileOutput:
    gone = {fact.content for fact in data.gone}
    lines = [*(fact.content for fact in data.facts), *(data.earlier.personal if data.earlier else [])]
    return ProfileOutput(personal=[line for line in dict.fromkeys(lines) if line not in gone])


def _rerank(data: RerankInput) -> RerankOutput:
    """The order in which they were found."""
    return RerankOutput(refs=[note.ref for note in data.notes])


def _reply(data: ReplyInput) -> ReplyOutput:
    """The last message, with how many there are: "3: What's my name?"."""
    return ReplyOutput(reply=f"{len(data.messages)}: {data.messages[-1].content}")


def _letters(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


def _reconcile(data: ReconcileInput) -> ReconcileOutput:
    found = ReconcileOutput()
    facts = [(fact.ref, *fact.content.partition("=")[::2]) for fact in data.facts if "=" in fact.content]
    for (one, key, value), (two, other_key, other_value) in itertools.combinations(facts, 2):
        if key != other_key:
            continue
        if _letters(value) == _letters(other_value):
            found.duplicates.append(Duplicates(refs=[one, two], content=f"{key}={value.upper()}"))
        else:
            found.contradictions.append(Contradiction(refs=[one, two]))
    return found


def _conclusions(groups: list[Group]) -> list[Conclusion]:
    """One for each group, that says all of it."""
    return [
        Conclusion(refs=[fact.ref for fact in group.facts], content=" + ".join(fact.content for fact in group.facts))
        for group in groups
    ]


def _consolidate(data: ConsolidateInput) -> ConsolidateOutput:
    return ConsolidateOutput(merged=_conclusions(data.groups))


def _synthesize(data: SynthesizeInput) -> SynthesizeOutput:
    return SynthesizeOutput(procedures=_conclusions(data.groups))


def _reflect(data: ReflectInput) -> ReflectOutput:
    """One insight of all that there is, in the place of all earlier ones."""
    refs = [memory.ref for memory in data.memories]
    insight = Insight(refs=refs, content=f"{len(refs)} memories", replaces=[old.ref for old in data.earlier])
    return ReflectOutput(insights=[insight])


def _reflect_on(data: ReflectOnInput) -> ReflectOnOutput:
    """Repeats each note that has a word of the question."""
    asked = set(data.question.lower().split())
    return ReflectOnOutput(
        sentences=[
            CitedText(text=note.text, evidence=[Quotation(ref=note.ref, quote=note.text)])
            for note in data.notes
            if not asked.isdisjoint(note.text.lower().split())
        ]
    )


_RULES: dict[str, Callable[[Any], Any]] = {
    "extract": _extract,
    "summarize": _summarize,
    "extract_and_summarize": _extract_and_summarize,
    "profile": _profile,
    "reconcile": _reconcile,
    "archive": _archive,
    "consolidate": _consolidate,
    "synthesize": _synthesize,
    "reflect": _reflect,
    "rerank": _rerank,
    "reflect_on": _reflect_on,
    "reply": _reply,
}
