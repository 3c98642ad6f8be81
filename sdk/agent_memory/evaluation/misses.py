"""The failure report of an evaluation: why the evidence of a question was not among the first results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import Any, Literal, Protocol, runtime_checkable

from agent_memory.evaluation.adapters import Adapter, Result
from agent_memory.evaluation.dataset import ADVERSARIAL, Conversation, Question
from agent_memory.evaluation.harness import CUT, DEPTHS, distinct, indexed_texts
from agent_memory.recall.explain import shared_terms
from agent_memory.text.terms import query_terms

REACH = 100
"""How many results are searched for evidence that the measured search missed: the maximum of a search. This search
reads more candidates than the measured one, so the rank may be a good one."""
SHOWN = 3
"""Maximum results to list of those that rank before the evidence."""

MissClass = Literal["several hops", "found below k", "no shared word", "not a candidate"]
CLASSES: dict[MissClass, str] = {
    "several hops": "some of the turns that answer are among the first, others are not",
    "found below k": "a turn that answers is found, but not among the first",
    "no shared word": "nothing that answers is found, and none of it shares a word with the question",
    "not a candidate": "nothing that answers is found, although it shares words with the question",
}
"""Why a question is missed; the first that fits."""


@runtime_checkable
class Explains(Protocol):
    """An adapter that explains its results."""

    def explained(self, conversation: Conversation, question: str, limit: int) -> list[Result]:
        """At most `limit` results, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Miss:
    """A question whose evidence is not all among the first results.

    `rank` is the best place of a missing turn, from 1; None if none was found. `outranked_by` are the first results
    before it that are not evidence.
    """

    conversation: str
    question: str
    category: str
    kind: MissClass
    missing: list[str]
    rank: int | None
    shared_words: list[str]
    outranked_by: list[Result]


def misses(system: Adapter, conversations: Iterable[Conversation]) -> list[Miss]:
    """Asks every question with evidence again. Adversarial ones are left out."""
    return [
        miss
        for conversation in conversations
        for texts in [indexed_texts(conversation)]
        for question in conversation.questions
        if question.evidence and question.category != ADVERSARIAL
        if (miss := _miss(system, conversation, question, texts)) is not None
    ]


def report(found: Sequence[Miss]) -> dict[str, Any]:
    """Misses as `agent-memory eval --misses --json` prints them."""
    counted = Counter(miss.kind for miss in found)
    return {
        "count": len(found),
        "classes": {name: counted[name] for name in CLASSES},
        "questions": [{("class" if name == "kind" else name): one for name, one in asdict(m).items()} for m in found],
    }


def _miss(system: Adapter, conversation: Conversation, question: Question, texts: Mapping[str, str]) -> Miss | None:
    results = _results(system, conversation, question.text, max(DEPTHS))
    missing = question.evidence.difference(distinct(result.turns for result in results)[:CUT])
    if not missing:
        return None
    rank = _rank(results, missing)
    if rank is None:
        rank = _rank(_results(system, conversation, question.text, REACH), missing)
    terms = query_terms(question.text)
    shared = {term for turn in missing for term in shared_terms(terms, texts.get(turn, ""))}
    kind: MissClass = "not a candidate" if shared else "no shared word"
    if rank is not None:
        kind = "found below k"
    if len(missing) < len(question.evidence):
        kind = "several hops"
    others = [result for result in _before(results, missing) if question.evidence.isdisjoint(result.turns)]
    return Miss(
        conversation=conversation.name,
        question=question.text,
        category=question.category,
        kind=kind,
        missing=sorted(missing),
        rank=rank,
        shared_words=sorted(shared),
        outranked_by=[_told(result, texts) for result in others[:SHOWN]],
    )


def _results(system: Adapter, conversation: Conversation, question: str, limit: int) -> list[Result]:
    if isinstance(system, Explains):
        return system.explained(conversation, question, limit)
    return [Result(turns) for turns in system.search(conversation, question, limit)]


def _rank(results: Sequence[Result], missing: frozenset[str]) -> int | None:
    ranking = distinct(result.turns for result in results)
    return next((place for place, turn in enumerate(ranking, 1) if turn in missing), None)


def _before(results: Sequence[Result], missing: frozenset[str]) -> Iterator[Result]:
    """The results before the first that has missing evidence; all, if none has."""
    return takewhile(lambda result: missing.isdisjoint(result.turns), results)


def _told(result: Result, texts: Mapping[str, str]) -> Result:
    said = result.text or " ".join(texts.get(turn, turn) for turn in result.turns)
    return Result(result.turns, said, result.why)
