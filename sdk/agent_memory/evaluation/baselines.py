"""The plain ways to search, over the same text that this library indexes: one turn with its date and speaker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent_memory.evaluation.adapters import Told
from agent_memory.evaluation.dataset import Conversation
from agent_memory.language.tasks import EmbeddingModel, Vector
from agent_memory.models import Turn
from agent_memory.recall.relevance import Bm25
from agent_memory.store.chunks import chunk_text
from agent_memory.store.turns import make_turns
from agent_memory.text.terms import query_terms

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
        texts = {turn.id: chunk_text(turn) for turn in _turns(conversation)}
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


def _turns(conversation: Conversation) -> list[Turn]:
    return [
        turn
        for thread_id, turns in conversation.threads.items()
        for turn in make_turns(list(turns), conversation.name, thread_id)
    ]
