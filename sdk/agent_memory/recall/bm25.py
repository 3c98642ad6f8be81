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

from agent_memory.calibration import BM25_B, BM25_K1
from agent_memory.text.patterns import WORD
from agent_memory.text.stems import stem
from agent_memory.text.terms import CJK, is_cjk, pairs

_FEWEST = 20
"""Minimum number of texts that show how rare a word is. Of two texts, a word in both would count a tenth of an unknown
word. A choice."""
# No open repeat: it reads a bounded number of characters at each place.
_JOINT = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|_")
"""Where names in programs join their words: "OOMKilled", "user_id"."""
# Each alternative is one repeat of one class with nothing after it: it never goes back, and reads every character once.
_WORD_OR_CJK = re.compile(rf"[{CJK}]+|[^\W{CJK}]+")
_SIGN = re.compile(f"[{CJK}]")


@lru_cache(maxsize=8192)
def words(text: str) -> Mapping[str, int]:
    """How often the stem of each word is in a text, without case and accents.

    For scripts without spaces, it counts characters and their pairs. The results are cached, because searches of one
    user meet the same texts again and again.
    """
    folded = _folded(text)
    if not folded.isascii() and _SIGN.search(folded):
        return Counter(part for word in _WORD_OR_CJK.findall(folded) for part in _parts(word))
    found = WORD.findall(folded)
    if _JOINT.search(text):
        joined = (word for word in WORD.findall(text) if _JOINT.search(word))
        found += [part.lower() for word in joined for part in _JOINT.split(word) if part]
    return Counter(map(stem, found))


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
        self._counts = {key: words(text) for key, text in texts.items()}
        lengths = {key: sum(count.values()) for key, count in self._counts.items()}
        average = max(1.0, sum(lengths.values()) / max(1, len(texts)))
        self._norms = {key: BM25_K1 * (1 - BM25_B + BM25_B * length / average) for key, length in lengths.items()}

    def scores(self, terms: Sequence[str]) -> dict[str, float]:
        """How well each text matches the terms; 0 for those that share no word with them."""
        scores = dict.fromkeys(self._counts, 0.0)
        for term, weight in self.weights(terms).items():
            for key, count in self._counts.items():
                if times := count.get(term, 0):
                    scores[key] += weight * times * (BM25_K1 + 1) / (times + self._norms[key])
        return scores

    def coverage(self, terms: Sequence[str]) -> dict[str, float]:
        """What share of the terms each text has, from 0 to 1; a rare term counts more than one that many texts have."""
        weights = self.weights(terms)
        total = sum(weights.values()) or 1.0
        return {
            key: sum(weight for term, weight in weights.items() if term in count) / total
            for key, count in self._counts.items()
        }

    def weights(self, terms: Sequence[str]) -> dict[str, float]:
        """How rare each word of the terms (its stem) is. Few texts count as more, because they do not show it."""
        texts = max(len(self._counts), _FEWEST)
        weights = {}
        for term in dict.fromkeys(part for asked in terms for part in words(asked)):
            having = sum(term in count for count in self._counts.values())
            weights[term] = math.log(1 + (texts - having + 0.5) / (having + 0.5))
        return weights
