"""BM25 over the candidates of one search (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).

Azure ranks by full text but gives no score, so the candidates are scored here, where their texts are.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from agent_memory.language.stems import stem
from agent_memory.recall.terms import CJK, is_cjk, pairs

K1 = 1.2
B = 0.4
"""Less than usual (0.75): a longer turn is more often the one that answers than a wordy one. LoCoMo: +1 in 100."""

_WORD = re.compile(rf"[{CJK}]+|(?:(?![{CJK}])\w)+")


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """The stems of a text's words, without case and accents; of scripts without spaces, the signs and their pairs.

    Remembered, because searches of one user meet the same texts again and again.
    """
    return tuple(part for word in _WORD.findall(_folded(text)) for part in _parts(word))


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    bare = (sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))
    return unicodedata.normalize("NFC", "".join(bare))


def _parts(word: str) -> list[str]:
    if is_cjk(word):
        return [*word, *pairs(word)] if len(word) > 1 else [word]
    return [stem(word)]


class Bm25:
    """Texts made ready to be scored."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._counts = {key: Counter(words(text)) for key, text in texts.items()}
        self._lengths = {key: count.total() for key, count in self._counts.items()}
        self._average = max(1.0, sum(self._lengths.values()) / max(1, len(texts)))

    def scores(self, terms: Sequence[str]) -> dict[str, float]:
        """How well each text matches the terms; 0 for those that share no word with them."""
        weights = {term: self._weight(term) for term in {part for term in terms for part in words(term)}}
        return {
            key: sum(
                weight * count[term] * (K1 + 1) / (count[term] + K1 * (1 - B + B * self._lengths[key] / self._average))
                for term, weight in weights.items()
                if count[term]
            )
            for key, count in self._counts.items()
        }

    def _weight(self, term: str) -> float:
        having = sum(term in count for count in self._counts.values())
        return math.log(1 + (len(self._counts) - having + 0.5) / (having + 0.5))
