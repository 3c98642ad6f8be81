"""Stems of English words, by the Snowball stemmer; words of other languages mostly pass unchanged."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

import Stemmer

_stemmer = Stemmer.Stemmer("english")
_stemming = Lock()


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of a lower-case word."""
    with _stemming:  # a stemmer keeps the word that it works on
        return str(_stemmer.stemWord(word))
