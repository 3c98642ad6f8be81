"""The words of a question that are worth a full-text search."""

from __future__ import annotations

import re

from agent_memory.text.stop_words import QUESTION_WORDS

MAX_TERMS = 30
"""Azure Cosmos DB accepts no more than this many terms well; questions are shorter, pasted text is not."""

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Signs of Chinese, Japanese and Korean, for a class of a pattern: they are not written in words."""

# Marks and signs of words have no character in common, and nothing follows: it never goes back further than a mark.
_WORD = re.compile(rf"[{CJK}]+|[^\W{CJK}]+(?:[.,:'’\-][^\W{CJK}]+)*")
_SIGN = re.compile(f"[{CJK}]")  # one class: it reads every character once


def query_terms(query: str) -> list[str]:
    """The distinct words of a query in order, lower-cased, without function words.

    Of scripts without spaces, pairs of neighbouring signs. A query of function words only keeps them all: then they
    are all there is to go by.
    """
    words = _words(query)
    return (_telling(words) or words)[:MAX_TERMS]


def says_something(query: str) -> bool:
    """Whether a query has words that say what it is about."""
    return bool(_telling(_words(query)))


def _words(query: str) -> list[str]:
    found = (word.lower().replace("’", "'") for word in _WORD.findall(query))
    return list(dict.fromkeys(part for word in found for part in (pairs(word) if is_cjk(word) else [word])))


def _telling(words: list[str]) -> list[str]:
    return [word for word in words if word not in QUESTION_WORDS and word.removesuffix("'s") not in QUESTION_WORDS]


def is_cjk(word: str) -> bool:
    """Whether a word is of a script without spaces between words."""
    return _SIGN.match(word) is not None


def has_cjk(text: str) -> bool:
    """Whether any part of a text is of such a script."""
    return not text.isascii() and _SIGN.search(text) is not None


def pairs(word: str) -> list[str]:
    """The pairs of neighbouring signs of a word; a single sign as it is."""
    return [word[start : start + 2] for start in range(len(word) - 1)] or [word]
