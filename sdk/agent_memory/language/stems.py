"""Stems of English words, by the Snowball stemmer; words of other languages mostly pass unchanged."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache, lru_cache

_stemming = threading.Lock()


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    with _stemming:  # a stemmer keeps the word that it works on
        return _stemmer()(word)


@cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer

    function: Callable[[str], str] = snowballstemmer.stemmer("english").stemWord
    return function
