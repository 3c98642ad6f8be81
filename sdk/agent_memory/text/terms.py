"""The words of a question that are worth a full-text search."""

from __future__ import annotations

import re

from agent_memory.text.patterns import linear
from agent_memory.text.stop_words import QUESTION_WORDS

MAX_TERMS = 30
"""Most terms of one search, because Azure Cosmos DB limits them. Questions have fewer, pasted text more."""

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Characters of Chinese, Japanese and Korean, as part of a character class. These scripts have no spaces."""

# Marks and letters have no character in common, and nothing follows, so it backtracks over one mark at most.
_WORD = re.compile(rf"[{CJK}]+|[^\W{CJK}]+(?:[.,:'’\-][^\W{CJK}]+)*")
_SIGN = re.compile(f"[{CJK}]")  # one class: it reads every character once
_UNSPACED = linear(f"[{CJK}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


def query_terms(query: str) -> list[str]:
    """The distinct words of a query in order, lower-cased, without function words.

    For scripts without spaces, it returns pairs of neighbouring characters. A query of function words alone keeps them.
    """
    words = _words(query)
    return (_telling(words) or words)[:MAX_TERMS]


def says_something(query: str) -> bool:
    """Whether a query has words that show its subject."""
    return bool(_telling(_words(query)))


def _words(query: str) -> list[str]:
    found = (word.lower().replace("’", "'") for word in _WORD.findall(query))
    return list(dict.fromkeys(part for word in found for part in (pairs(word) if is_cjk(word) else [word])))


def _telling(words: list[str]) -> list[str]:
    return [word for word in words if word not in QUESTION_WORDS and word.removesuffix("'s") not in QUESTION_WORDS]


def is_cjk(word: str) -> bool:
    """Whether a word is in a script without spaces between words."""
    return _SIGN.match(word) is not None


def is_unspaced(word: str) -> bool:
    """Whether a word is in a script without spaces: Chinese, Japanese, Korean, Thai, Lao, Burmese or Khmer."""
    return _UNSPACED.search(word) is not None


def pairs(word: str) -> list[str]:
    """The pairs of neighbouring characters of a word; a single character as it is."""
    return [word[start : start + 2] for start in range(len(word) - 1)] or [word]
