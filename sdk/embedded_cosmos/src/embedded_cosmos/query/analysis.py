"""Text to index terms: lower-case words, for English without stop words and reduced to their stems."""

from __future__ import annotations

import re
from functools import lru_cache
from threading import Lock

import Stemmer

# Chinese, Japanese and Korean are not written in words; every character is a term.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
# One repeat of one class with nothing after it never backtracks.
_TERM = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")

ENGLISH_STOP_WORDS = frozenset(
    word
    for line in """
    a about above after again against all am an and any are as at be because been before being below between both but
    by can could did do does doing down during each few for from further had has have having he her here hers herself
    him himself his how i if in into is it its itself just me more most my myself no nor not now of off on once only
    or other our ours ourselves out over own same she should so some such than that the their theirs them themselves
    then there these they this those through to too under until up very was we were what when where which while who
    whom why will with would you your yours yourself yourselves
    """.splitlines()
    for word in line.split()
)


class Analyzer:
    """Turns text of one language into terms."""

    def __init__(self, language: str) -> None:
        self._english = language.lower().startswith("en")
        self._last: tuple[str, list[str]] = ("", [])
        """The text that was read last, and its terms: several conditions in turn look at the text of one item."""

    def terms(self, text: str) -> list[str]:
        """The terms of the text, in order. They must not be changed."""
        last, terms = self._last
        if last is not text:
            terms = _TERM.findall(text.lower())
            if self._english:
                terms = [_stem(word) for word in terms if word not in ENGLISH_STOP_WORDS]
            self._last = (text, terms)
        return terms


_stemmer = Stemmer.Stemmer("english")
_stemming = Lock()


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    with _stemming:  # a stemmer keeps the word that it works on
        return str(_stemmer.stemWord(word))
