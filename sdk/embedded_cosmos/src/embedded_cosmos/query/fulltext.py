"""An inverted index of one text path, kept up to date document by document, with BM25 scores."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from embedded_cosmos.query.analysis import Analyzer
from embedded_cosmos.query.columns import Mask, grown
from embedded_cosmos.sql.values import Json

Phrase = tuple[str, ...]
"""Terms that follow each other."""
TextOf = Callable[[int], Json]
"""The text of a slot."""

K1 = 1.2
B = 0.75
_ABSENT = -1
_NONE = np.zeros(0, np.uint32)


@dataclass(frozen=True, slots=True)
class Statistics:
    """The figures of the whole collection that BM25 needs, summed over its shards. Documents without text count."""

    documents: int
    words: int
    hits: tuple[int, ...]

    def __add__(self, other: Statistics) -> Statistics:
        hits = tuple(mine + theirs for mine, theirs in zip(self.hits, other.hits, strict=True))
        return Statistics(self.documents + other.documents, self.words + other.words, hits)


class _Posting:
    """The slots with a term, in no order, and how often each has it."""

    __slots__ = ("counts", "slots")

    def __init__(self) -> None:
        self.slots = array("I")
        self.counts = array("I")

    def add(self, slot: int, count: int) -> None:
        self.slots.append(slot)
        self.counts.append(count)

    def discard(self, slot: int) -> None:
        position = self.slots.index(slot)
        self.slots[position], self.counts[position] = self.slots[-1], self.counts[-1]
        self.slots.pop()
        self.counts.pop()


class TextIndex:
    """The terms of one path by slot."""

    def __init__(self, analyzer: Analyzer, capacity: int) -> None:
        self.analyzer = analyzer
        self._postings: dict[str, _Posting] = {}
        self._lengths = np.full(capacity, _ABSENT, np.int32)
        self._words = 0

    @property
    def nbytes(self) -> int:
        """An estimate of the memory held."""
        return self._lengths.nbytes + 300 * len(self._postings) + 12 * self._words

    def reserve(self, capacity: int) -> None:
        """Make room for slots below the capacity."""
        size = len(self._lengths)
        self._lengths = grown(self._lengths, capacity)
        self._lengths[size:] = _ABSENT

    def add(self, slot: int, text: Json) -> None:
        """Index the text of a slot that has none. Anything but a string counts as no text."""
        if type(text) is not str:
            return
        terms = self.analyzer.terms(text)
        for term, count in Counter(terms).items():
            posting = self._postings.get(term)
            if posting is None:
                posting = self._postings[term] = _Posting()
            posting.add(slot, count)
        self._lengths[slot] = len(terms)
        self._words += len(terms)

    def discard(self, slot: int, text: Json) -> None:
        """Remove the text of a slot; it must be the one that was added."""
        if type(text) is not str:
            return
        terms = self.analyzer.terms(text)
        for term in set(terms):
            posting = self._postings[term]
            posting.discard(slot)
            if not posting.slots:
                del self._postings[term]
        self._lengths[slot] = _ABSENT
        self._words -= len(terms)

    def with_text(self, size: int) -> Mask:
        """The slots, of the first so many, that have a text at all."""
        return np.not_equal(self._lengths[:size], _ABSENT)

    def containing(self, phrase: Phrase, size: int, text_of: TextOf) -> Mask:
        """The slots, of the first so many, whose text has a phrase."""
        mask = np.zeros(size, np.bool_)
        mask[self._occurrences(phrase, text_of)[0]] = True
        return mask

    def statistics(self, phrases: Sequence[Phrase], documents: int, text_of: TextOf) -> Statistics:
        """The share of this shard, which has so many documents, in the statistics of the collection."""
        hits = tuple(len(self._occurrences(phrase, text_of)[0]) for phrase in phrases)
        return Statistics(documents, self._words, hits)

    def scores(
        self, phrases: Sequence[Phrase], statistics: Statistics, size: int, text_of: TextOf
    ) -> NDArray[np.float64]:
        """BM25 of the first so many slots; zero where no phrase occurs."""
        scores = np.zeros(size, np.float64)
        mean_length = statistics.words / statistics.documents if statistics.documents else 0
        if not mean_length:
            return scores
        of_lengths = K1 * (1 - B + B * self._lengths[:size] / mean_length)
        for phrase, hits in zip(phrases, statistics.hits, strict=True):
            slots, counts = self._occurrences(phrase, text_of)
            if len(slots):
                rarity = math.log1p((statistics.documents - hits + 0.5) / (hits + 0.5))
                shares = counts * (rarity * (K1 + 1)) / (counts + of_lengths.take(slots))
                scores += np.bincount(slots, shares, size)
        return scores

    def _occurrences(self, phrase: Phrase, text_of: TextOf) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """The slots that have a phrase, and how often each."""
        if len(phrase) == 1:
            posting = self._postings.get(phrase[0])
            if posting is None:
                return _NONE, _NONE
            return np.frombuffer(posting.slots, np.uint32), np.frombuffer(posting.counts, np.uint32)
        slots = self._with_all(phrase)
        counts = np.array(
            [occurrences(phrase, self.analyzer.terms(text_of(slot))) for slot in slots.tolist()], np.uint32
        )
        return slots[counts > 0], counts[counts > 0]

    def _with_all(self, terms: Phrase) -> NDArray[np.uint32]:
        return reduce(np.intersect1d, (self._slots(term) for term in dict.fromkeys(terms))) if terms else _NONE

    def _slots(self, term: str) -> NDArray[np.uint32]:
        posting = self._postings.get(term)
        return _NONE if posting is None else np.frombuffer(posting.slots, np.uint32)


def occurrences(phrase: Phrase, text: Sequence[str]) -> int:
    """How often the terms follow each other in the text. An empty list occurs nowhere."""
    length, wanted = len(phrase), list(phrase)
    if length < 2:
        return sum(map(text.count, wanted))
    return sum(text[start : start + length] == wanted for start in range(len(text) - length + 1))
