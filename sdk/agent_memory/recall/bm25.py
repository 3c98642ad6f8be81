"""BM25 over the candidates of one search (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).

Azure ranks by full text but gives no score, so the candidates are scored here, where their texts are.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from agent_memory.language.stems import stem

K1 = 1.2
B = 0.75

_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """The stems of a text's words."""
    return [stem(word) for word in _WORD.findall(text.lower())]


def bm25(terms: Sequence[str], texts: Mapping[str, str]) -> dict[str, float]:
    """How well each text matches the terms; 0 for those that share no word with them."""
    wanted = {part for term in terms for part in words(term)}
    counts = {key: Counter(words(text)) for key, text in texts.items()}
    lengths = {key: count.total() for key, count in counts.items()}
    average = max(1.0, sum(lengths.values()) / max(1, len(lengths)))
    weights = {}
    for term in wanted:
        having = sum(term in count for count in counts.values())
        weights[term] = math.log(1 + (len(counts) - having + 0.5) / (having + 0.5))
    return {
        key: sum(
            weights[term] * count[term] * (K1 + 1) / (count[term] + K1 * (1 - B + B * lengths[key] / average))
            for term in wanted
            if count[term]
        )
        for key, count in counts.items()
    }
