"""One run: puts every question to every system, keeps the answers as they came, and computes their figures.

The baselines are plain ways to search the same text that this library indexes: one turn with its date and speaker. All
figures of a ranking are shares from 0 to 1.
"""

from __future__ import annotations

import asyncio
import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

from agent_memory.evaluation.adapters import Adapter, Told
from agent_memory.evaluation.dataset import ADVERSARIAL, UNANSWERABLE, Conversation, Question
from agent_memory.language.tasks import EmbeddingModel, Vector
from agent_memory.models import Turn
from agent_memory.recall.relevance import Bm25
from agent_memory.store.chunks import chunk_text
from agent_memory.store.turns import make_turns
from agent_memory.text.terms import query_terms

DEPTHS = (5, 10, 20)
"""Where recall is measured."""
CUT = 10
"""Where hit and nDCG are measured."""


def distinct(hits: Iterable[Sequence[str]]) -> list[str]:
    """The source turns of hits, best hit first, each turn once: a hit that cites three turns takes three places."""
    return list(dict.fromkeys(turn for hit in hits for turn in hit))


def recall(ranking: Sequence[str], evidence: frozenset[str], depth: int) -> float:
    """The share of the evidence among the first turns."""
    return len(evidence.intersection(ranking[:depth])) / len(evidence)


def hit(ranking: Sequence[str], evidence: frozenset[str], depth: int) -> float:
    """1 if any of the evidence is among the first turns."""
    return float(not evidence.isdisjoint(ranking[:depth]))


def ndcg(ranking: Sequence[str], evidence: frozenset[str], depth: int) -> float:
    """Discounted cumulative gain by the best possible one (Järvelin and Kekäläinen 2002; gain 1, log2 discount)."""
    gain = sum(1 / math.log2(place + 2) for place, turn in enumerate(ranking[:depth]) if turn in evidence)
    best = sum(1 / math.log2(place + 2) for place in range(min(len(evidence), depth)))
    return gain / best


def measures(ranking: Sequence[str], evidence: frozenset[str]) -> dict[str, float]:
    """The figures of one question."""
    recalls = {f"recall@{depth}": recall(ranking, evidence, depth) for depth in DEPTHS}
    return {**recalls, f"hit@{CUT}": hit(ranking, evidence, CUT), f"ndcg@{CUT}": ndcg(ranking, evidence, CUT)}


Progress = Callable[[int, int], None]
"""Receives the number of turns and questions that are done, and the total."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one system found for one question."""

    system: str
    conversation: str
    question: str
    category: str
    evidence: list[str]
    found: list[str]
    milliseconds: float
    figures: dict[str, float]
    context: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The raw results of a run, and its figures."""

    system: str
    answers: list[Answer]
    conversations: int
    turns: int
    budget: int
    ingest_seconds: float

    def report(self) -> dict[str, Any]:
        """The figures, as `agent-memory eval --json` prints them. Overall is without adversarial questions."""
        own = [answer for answer in self.answers if answer.system == self.system]
        others = list(dict.fromkeys(answer.system for answer in self.answers if answer.system != self.system))
        categories = sorted({answer.category for answer in own if answer.evidence})
        return {
            "system": self.system,
            "conversations": self.conversations,
            "turns": self.turns,
            "ingest_seconds": round(self.ingest_seconds, 1),
            "overall": _figures(_counted(own)),
            "categories": {name: _figures(a for a in own if a.evidence and a.category == name) for name in categories},
            "context": {"budget": self.budget, **_context(_counted(own))},
            "updates": _updates(own),
            "abstention": _abstention(own),
            "relevance": _relevance(own),
            "baselines": {name: _figures(_counted(a for a in self.answers if a.system == name)) for name in others},
        }

    def rows(self) -> list[dict[str, Any]]:
        """The raw answers, one row a question and system."""
        return [asdict(answer) for answer in self.answers]


def evaluate(
    system: Adapter,
    conversations: Sequence[Conversation],
    *,
    baselines: Sequence[Adapter] = (),
    budget: int = 650,
    progress: Progress = lambda done, total: None,
) -> Evaluation:
    """Ingests all conversations into each system, then runs all questions.

    A system returns as many results as the deepest measure needs, in one call.
    """
    answers: list[Answer] = []
    done, ingest_seconds = 0, 0.0
    total = (1 + len(baselines)) * sum(talk.turns + len(talk.questions) for talk in conversations)
    for asked in (system, *baselines):
        for conversation in conversations:
            began = time.perf_counter()
            asked.ingest(conversation)
            ingest_seconds += time.perf_counter() - began if asked is system else 0.0
            progress(done := done + conversation.turns, total)
        for conversation in conversations:
            for question in conversation.questions:
                answers.append(_ask(asked, conversation, question, budget))
                progress(done := done + 1, total)
    return Evaluation(
        system=system.name,
        answers=answers,
        conversations=len(conversations),
        turns=sum(conversation.turns for conversation in conversations),
        budget=budget,
        ingest_seconds=ingest_seconds,
    )


def _ask(system: Adapter, conversation: Conversation, question: Question, budget: int) -> Answer:
    began = time.perf_counter()
    found = distinct(system.search(conversation, question.text, max(DEPTHS)))
    searched = time.perf_counter()
    told = system.context(conversation, question.text, budget)
    milliseconds = (time.perf_counter() - searched) * 1000
    return Answer(
        system=system.name,
        conversation=conversation.name,
        question=question.text,
        category=question.category,
        evidence=sorted(question.evidence),
        found=found,
        milliseconds=(searched - began) * 1000,
        figures=measures(found, question.evidence) if question.evidence else {},
        context={} if told is None else {**_told(question, told), "milliseconds": milliseconds},
    )


def _told(question: Question, told: Told) -> dict[str, float]:
    numbers = [place if line.number is None else -line.number for place, line in enumerate(told.lines)]
    helping = {
        number for number, line in zip(numbers, told.lines, strict=True) if not line.turns.isdisjoint(question.evidence)
    }
    figures: dict[str, float] = {
        "tokens": told.tokens,
        "hit": float(not question.evidence.isdisjoint(told.turns)),
        "all_evidence": float(question.evidence <= told.turns),
        "lines": len(set(numbers)),
        "useful_lines": len(helping),
    }
    if told.relevance is not None:
        figures["relevance"] = told.relevance
    if question.current and question.stale:
        current = not told.turns.isdisjoint(question.current)
        old = [line for line in told.lines if not line.turns.isdisjoint(question.stale - question.current)]
        unmarked = any(not line.is_older for line in old)
        figures |= {"current": current, "stale_only": bool(old) and not current, "both_unmarked": current and unmarked}
    return figures


def _counted(answers: Iterable[Answer]) -> list[Answer]:
    return [answer for answer in answers if answer.evidence and answer.category != ADVERSARIAL]


def _figures(answers: Iterable[Answer]) -> dict[str, float]:
    """The means over questions, how far the recall at `CUT` may be off (95 %), and the median time."""
    chosen = list(answers)
    if not chosen:
        return {"questions": 0}
    means = {name: _mean(answer.figures[name] for answer in chosen) for name in chosen[0].figures}
    spread = statistics.pstdev(answer.figures[f"recall@{CUT}"] for answer in chosen)
    means[f"recall@{CUT}_off_by"] = round(1.96 * spread / math.sqrt(len(chosen)), 4)
    milliseconds = statistics.median(answer.milliseconds for answer in chosen)
    return {"questions": len(chosen), **means, "milliseconds_p50": round(milliseconds, 2)}


def _context(answers: Sequence[Answer]) -> dict[str, float]:
    told = [answer.context for answer in answers if answer.context]
    if not told:
        return {}
    means = {name: _mean(context[name] for context in told) for name in ("hit", "all_evidence")}
    lines = sum(context["lines"] for context in told)
    helpful = sum(context["useful_lines"] for context in told)
    return {
        **means,
        "useful_lines": round(helpful / max(lines, 1), 4),
        "tokens": round(statistics.mean(context["tokens"] for context in told), 1),
        "milliseconds_p50": round(statistics.median(context["milliseconds"] for context in told), 2),
    }


def _updates(answers: Iterable[Answer]) -> dict[str, float]:
    """How many contexts about a change show the current value, only the old one, or both unmarked."""
    told = [answer.context for answer in answers if "current" in answer.context]
    counts = {name: sum(context[name] for context in told) for name in ("current", "stale_only", "both_unmarked")}
    return {"questions": len(told), **counts}


def _abstention(answers: Iterable[Answer]) -> dict[str, float]:
    """What contexts show if nothing answers the question."""
    told = [answer.context for answer in answers if answer.category in UNANSWERABLE and answer.context]
    tokens = {"tokens": round(statistics.mean(context["tokens"] for context in told), 1)} if told else {}
    return {"questions": len(told), **tokens}


def _relevance(answers: Iterable[Answer]) -> dict[str, dict[str, float]]:
    """How many contexts contain evidence, by their relevance in steps of a fifth.

    For an unanswerable or adversarial question, none does.
    """
    steps: dict[int, list[float]] = {step: [] for step in range(5)}
    for answer in answers:
        if "relevance" in answer.context:
            hit = answer.context["hit"] if answer.evidence and answer.category != ADVERSARIAL else 0.0
            steps[min(int(answer.context["relevance"] * 5), 4)].append(hit)
    return {f"{step / 5:.1f}": {"contexts": len(hits), "evidence": _mean(hits)} for step, hits in steps.items() if hits}


def _mean(values: Iterable[float]) -> float:
    return round(statistics.mean(values), 4)


RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009). Most systems do not change it."""

Scores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Index:
    """The turns of a conversation, as a baseline indexes them."""

    vectors: Mapping[str, Vector]
    words: Bm25
    beside: Mapping[str, Sequence[str]]
    """The turns before and after each one in its conversation."""


class Baseline:
    """One way to score all turns of a conversation."""

    def __init__(self, name: str, embeddings: EmbeddingModel, score: Callable[[Index, Vector, str], Scores]) -> None:
        self.name = name
        self._embeddings = embeddings
        self._score = score
        self._indices: dict[str, Index] = {}

    def ingest(self, conversation: Conversation) -> None:
        """Indexes the turns."""
        texts = indexed_texts(conversation)
        vectors = asyncio.run(self._embeddings.embed(list(texts.values()))).vectors
        beside: dict[str, list[str]] = {key: [] for key in texts}
        for one, other in pairwise(_turns(conversation)):
            if one.thread_id == other.thread_id:
                beside[one.id].append(other.id)
                beside[other.id].append(one.id)
        self._indices[conversation.name] = Index(dict(zip(texts, vectors, strict=True)), Bm25(texts), beside)

    def search(self, conversation: Conversation, question: str, limit: int) -> list[list[str]]:
        """Scores every turn."""
        vector = asyncio.run(self._embeddings.embed([question])).vectors[0]
        scores = self._score(self._indices[conversation.name], vector, question)
        return [[turn] for turn in _ranked(scores)[:limit]]

    def context(self, conversation: Conversation, question: str, budget: int) -> Told | None:
        """A plain search makes no context."""
        return None


def baselines(embeddings: EmbeddingModel) -> list[Baseline]:
    """Cosine of the vectors, BM25 of the stemmed words, reciprocal rank fusion of both with k = 60, and their sum."""
    return [
        Baseline("dense", embeddings, dense),
        Baseline("bm25", embeddings, words),
        Baseline("rrf", embeddings, reciprocal_ranks),
        Baseline("smoothed", embeddings, smoothed),
    ]


def dense(index: Index, vector: Vector, question: str) -> Scores:
    """Cosine; vectors have length 1."""
    return {key: sum(a * b for a, b in zip(vector, other, strict=True)) for key, other in index.vectors.items()}


def words(index: Index, vector: Vector, question: str) -> Scores:
    """BM25; turns without a word of the question come last."""
    return index.words.scores(query_terms(question))


def reciprocal_ranks(index: Index, vector: Vector, question: str) -> Scores:
    """The sum of 1 / (k + place) over both rankings."""
    scores: dict[str, float] = {}
    for ranking in (_ranked(dense(index, vector, question)), _ranked(words(index, vector, question))):
        for place, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1 / (RRF_K + place)
    return scores


def smoothed(index: Index, vector: Vector, question: str) -> Scores:
    """Cosine and BM25, each brought to 0 to 1 and added, with half of the better neighbour's sum."""
    by_vector, by_words = _scaled(dense(index, vector, question)), _scaled(words(index, vector, question))
    own = {key: by_vector[key] + by_words[key] for key in index.vectors}
    return {key: score + 0.5 * max((own[one] for one in index.beside[key]), default=0.0) for key, score in own.items()}


def _scaled(scores: Scores) -> Scores:
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {key: (score - low) / (high - low) if high > low else 0.0 for key, score in scores.items()}


def _ranked(scores: Scores) -> list[str]:
    return sorted(scores, key=lambda key: -scores[key])


def indexed_texts(conversation: Conversation) -> dict[str, str]:
    """The text of each turn as a search indexes it, by the turn's id."""
    return {turn.id: chunk_text(turn) for turn in _turns(conversation)}


def _turns(conversation: Conversation) -> list[Turn]:
    return [
        turn
        for thread_id, turns in conversation.threads.items()
        for turn in make_turns(list(turns), conversation.name, thread_id)
    ]
