"""Statements: the sentences of a text in the form in which two memories are compared (`recall.changes`).

A text is read once, because searches of one user meet the same texts again and again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from agent_memory.text.figures import FIGURE, NUMBERS
from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.sentences import sentences
from agent_memory.text.stems import stem
from agent_memory.text.stop_words import FUNCTION_WORDS, QUESTION_WORDS

NEWER = frozenset(
    """actually anymore bumped cancelled canceled changed changing correction dropped ended finally gone instead longer
    moved moving never now quit raised replaced rescheduled scrapped stopped swapped switched switching update updated
    upped

    abgesagt doch geändert gekündigt gewechselt jetzt mehr nunmehr statt stattdessen umgezogen verlegt verschoben

    ahora cambiado cambiada cambié cambió dejé mudé ya
    maintenant désormais changé changée déménagé déplacé déplacée plutôt annulé annulée
    agora mudei mudou cancelado cancelada cancelei
    adesso ora cambiato cambiata spostato spostata annullato annullata invece
    nu verhuisd veranderd verplaatst verzet overgestapt voortaan""".split()
)
"""Words by which people say that something is no longer as it was, in seven languages."""
_FOR_NOW = linear(r"\bfor now\b")
_UNITS = {"$": "money", "€": "money", "£": "money", "¥": "money", "%": "share", "eur": "money", "usd": "money"}
_MOST = 40
"""Sentences of a text that are read. It bounds the work."""
_MONTHS = frozenset(
    """january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec""".split()
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as it is compared."""

    stems: frozenset[str]
    values: Mapping[str, frozenset[str]]
    """The figures, by what they measure: money, a share, a time, a day, or "" if that is not known."""
    is_change: bool


class Told(NamedTuple):
    """A text as it is compared: its statements, with the stems of all and the figures of several digits."""

    statements: tuple[Statement, ...]
    words: frozenset[str]
    is_change: bool
    is_foreign: bool


def overtakes(new: Statement, old: Statement, asked: frozenset[str]) -> bool:
    """Whether one says something else about the question than the other: in words of change, or in other figures.

    The newer one must have all words of the question that the older one has. Both must share two words, one of them
    from the question; if only the figures differ, both words must be from the question.

    Without the first rule, 9 pairs of 20 labelled conversations count as changes, of which 7 are, and none of the 41
    pairs that only look like one. If one shared word were enough for figures, too: 16, of which 8 are, and 1 of the 41.
    In BEAM, 7 current values were marked as older; the rule removes 3 of these marks.
    """
    common = new.stems & old.stems
    shared = common & asked
    if not shared or shared != old.stems & asked:
        return False
    return (new.is_change and len(common) > 1) or (len(shared) > 1 and values_differ(new, old))


def values_differ(new: Statement, old: Statement) -> bool:
    """Whether both have figures of one kind, and none in common."""
    kinds = new.values.keys() & old.values.keys()
    theirs = frozenset[str]().union(*(old.values[kind] for kind in kinds))
    return bool(kinds) and all(new.values[kind].isdisjoint(theirs) for kind in kinds)


@lru_cache(maxsize=4096)
def told_in(text: str) -> Told:
    """What a text states."""
    statements = tuple(map(_statement, sentences(text)[:_MOST]))
    figures = (figure for one in statements for of_kind in one.values.values() for figure in of_kind)
    words = frozenset(figure for figure in figures if len(figure) > 1).union(*(one.stems for one in statements))
    return Told(statements, words, any(one.is_change for one in statements), is_foreign(text))


def stems_of(text: str) -> frozenset[str]:
    """The stems of the words of a text that tell what it is about."""
    return _stems(word.lower() for word in WORD.findall(text))


def _stems(words: Iterable[str]) -> frozenset[str]:
    return frozenset(filter(None, map(_telling_stem, words)))


@lru_cache(maxsize=65536)
def _telling_stem(word: str) -> str | None:
    is_telling = len(word) > 1 and not word.isdigit() and word not in QUESTION_WORDS and word not in FUNCTION_WORDS
    return stem(word) if is_telling else None


def _statement(sentence: str) -> Statement:
    words = [(word[0].lower(), word.start(), word.end()) for word in WORD.finditer(sentence)]
    values: dict[str, set[str]] = {}
    for found in FIGURE.finditer(sentence):
        kind = _kind(sentence, found[0], found.start(), found.end(), words)
        values.setdefault(kind, set()).add(found[0].replace(",", ""))
    for word, start, end in words:
        if word in NUMBERS and word != "one":  # "the blue one" is no figure
            figure = str(NUMBERS[word])
            values.setdefault(_kind(sentence, figure, start, end, words), set()).add(figure)
    figures = {kind: frozenset(of_kind) for kind, of_kind in values.items()}
    stems = _stems(word for word, _, _ in words)
    lasting = WORD.findall(_FOR_NOW.sub(" ", sentence.lower()))
    return Statement(stems, figures, not NEWER.isdisjoint(lasting))


def _kind(sentence: str, figure: str, start: int, end: int, words: Sequence[tuple[str, int, int]]) -> str:
    """What a figure measures, by the signs and words beside it."""
    at, behind = bisect_right(words, start, key=itemgetter(2)), bisect_left(words, end, key=itemgetter(1))
    before, after = ([word for word, _, _ in near] for near in (words[max(at - 1, 0) : at], words[behind : behind + 1]))
    sign = _UNITS.get(sentence[start - 1 : start]) or _UNITS.get(sentence[end : end + 1])
    kind = sign or next((_UNITS[word] for word in after if word in _UNITS), "")
    if not kind and ":" in figure:
        kind = "time"
    if not kind and not _MONTHS.isdisjoint((*before, *after)):
        kind = "day"
    return kind
