"""Similarity: whether two texts make the same claim, and whether a text is about a topic.

A cosine alone does not show this: two wordings of one claim and two claims about one thing have similar cosines
(`agent_memory.calibration` has the figures). So they need an identifying figure in common (a code, an amount, a
number), or a medium or high cosine together with their words (`text.wordings`). The rules prefer to miss a wording
rather than match another claim. Naming a topic instead of a claim matches more. An answer says little by itself ("Got
it: Fabrikam."), but its place shows what it is about. So a single weaker sign is enough there, unless the answer
continues with something else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from agent_memory.calibration import CLAIM_OVERLAP, TOPIC_SHARE, Calibration, calibration_of
from agent_memory.text.dates import CALENDAR
from agent_memory.text.figures import telling_figures
from agent_memory.text.folding import folded
from agent_memory.text.languages import is_foreign
from agent_memory.text.names import names
from agent_memory.text.sentences import sentences
from agent_memory.text.stems import stem
from agent_memory.text.stop_words import CLAIM_WORDS, FOREIGN_WORDS, FUNCTION_WORDS
from agent_memory.text.terms import is_unspaced, pairs
from agent_memory.text.wordings import is_same, wording_of, wordings, words_in

LITTLE = 3
"""Most new words in an answer that only acknowledges ("Got it, I'll keep that in mind")."""
_TELLING = 3
"""Fewest letters of a word that carries meaning."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """Compares texts by their words and by the cosines of an embedding model."""

    limits: Calibration

    @classmethod
    def of(cls, embedding_model: str) -> Likeness:
        """The comparison for a model."""
        return cls(calibration_of(embedding_model))

    def same_claim(self, one: str, other: str, cosine: float | None) -> bool:
        """Whether two texts make the same claim, in whatever words."""
        if telling_figures(one) & telling_figures(other):
            return True
        if cosine is None:
            return False
        claim, limits = wording_of(one), self.limits
        return cosine >= limits.near_claim and any(is_same(claim, found, cosine, limits) for found in wordings(other))

    def about(self, topic: str, text: str, cosine: float | None) -> bool:
        """Whether a text is about a topic: it has all its words, some of them and a medium cosine, or a high cosine."""
        wanted, said = stems(topic), stems(text)
        shared = [word for word in wanted if word in said or (is_unspaced(word) and word in text)]
        share = len(shared) / len(wanted) if wanted else 0.0
        if share == 1.0:
            return True
        return cosine is not None and (
            cosine >= self.limits.topic or (cosine >= self.limits.near_claim and share >= TOPIC_SHARE)
        )

    def takes_up(self, topic: str, said: str, answer: str, cosine: float) -> bool:
        """Whether the `answer` to something that was `said` about a topic repeats it or takes up the topic.

        It does in each of these cases: they share an identifying figure; the answer has all words of the topic, or
        half of them (more than one, or a name); they share most of the shorter text's words; they share one word and
        the cosine is medium. Another shared name, or one word of a topic of two, counts only if the answer adds few
        words of its own, because it may continue with something else.

        In other languages than English the cosine does not count. A model trained on English gives any two sentences of
        another language similar vectors (0.32 to 0.76 in 29 pairs that have nothing in common). There the words decide.
        """
        if telling_figures(said) & telling_figures(answer):
            return True
        wanted, told, answered = _telling(topic), stems(said), stems(answer)
        shared, names = wanted & answered, {stem(name) for name in _names_in_both(said, answer)}
        half = bool(shared) and 2 * len(shared) >= len(wanted)
        if half and (shared == wanted or len(shared) > 1 or shared & names):
            return True
        if (half or names) and len(answered - told - wanted) <= LITTLE:
            return True
        if _overlap(told, answered) >= CLAIM_OVERLAP:
            return True
        telling = {word for word in told & answered if len(word) >= _TELLING and word not in FUNCTION_WORDS}
        if is_foreign(f"{said} {answer}"):
            new = answered - told - wanted - FUNCTION_WORDS
            return bool(telling) and (len(telling) > 1 or len(new) <= LITTLE)
        return cosine >= self.limits.near_claim and bool(told & answered)


def _names_in_both(one: str, other: str) -> set[str]:
    """The words that both texts have and that are names in one of them. Names of months and weekdays do not count."""
    named = {name.lower() for text in (one, other) for name in names(folded(text))}
    return (named - CALENDAR) & _words(one) & _words(other)


@lru_cache(maxsize=4)  # one topic is compared with many texts
def stems(text: str) -> frozenset[str]:
    """The stems of a text's words, without small words."""
    return frozenset(stem(word) for word in _words(text))


def roots(text: str) -> set[str]:
    """The beginnings that all forms of a text's words share: "allerg" for allergy, "celer" for celery."""
    return {word[: _alike(word, stem(word))] for word in _words(text)}


def _alike(one: str, other: str) -> int:
    """The length of the beginning that two words share."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _words(text: str) -> set[str]:
    """The words of a text; of a script without spaces, the pairs of neighbouring characters."""
    found = {word.casefold() for word in words_in(folded(text))}
    return {part for word in found for part in (pairs(word) if is_unspaced(word) else [word])} - CLAIM_WORDS


def _telling(text: str) -> frozenset[str]:
    """The stems of a text's words without the small words of all known languages; all stems if no others are left."""
    words = stems(text)
    return words - FOREIGN_WORDS or words


def telling_part(text: str, topic: str) -> str:
    """The sentences of a text that have words of a topic; the whole text if none has."""
    wanted = stems(topic)
    told = [sentence for sentence in sentences(text) if wanted & stems(sentence)]
    return " ".join(told) or text


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two vectors; 0.0 if one of them has no length."""
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


def _overlap(one: Set[str], other: Set[str]) -> float:
    """The share of the smaller set's words that the other has too."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def middle(vectors: Sequence[Sequence[float]]) -> list[float]:
    """The direction in the middle of vectors. Each counts alike, whatever its length."""
    lengths = [math.sqrt(sum(number * number for number in vector)) or 1.0 for vector in vectors]
    return [
        sum(number / length for number, length in zip(column, lengths, strict=True))
        for column in zip(*vectors, strict=True)
    ]
