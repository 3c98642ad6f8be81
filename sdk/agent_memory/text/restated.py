"""Restatements: whether one sentence about a user repeats another, or gives a new value for it.

A cosine alone cannot tell "a dog called Rex" from "a dog called Max": of 24 labelled pairs that differ, 9 are above the
threshold (`tools/calibrate_duplicates.py` prints the table). So two sentences must also have the same content words,
the same negations, and the same names in the same order. One amount of money may differ: then the second sentence gives
a new value. Everything else is left to reconciliation.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Literal, NamedTuple

from agent_memory.text.figures import FIGURE
from agent_memory.text.likeness import stems
from agent_memory.text.names import names
from agent_memory.text.patterns import linear

Restated = Literal["duplicate", "update"]

_AMOUNT = linear(r"([$€£¥])\s?(\d+(?:[.,]\d+)*)(\w*)")
_WORD = linear(r"\w+(?:['’]\w+)?")
_AGAINST = frozenset(
    """avoid cannot dislike except hardly hate never no nobody none nor not nothing quit refuse seldom stop
    without""".split()
)
_FILLERS = """actually again also always changed currently decreased increased just lowered newly now raised really
    reduced revised still today total updated very"""
_ABOUT = frozenset({"user", "users"})


@cache
def _fillers() -> frozenset[str]:
    return frozenset(stems(_FILLERS))


def restates(old: str, new: str) -> Restated | None:
    """Whether a new sentence repeats an old one, or repeats it with another amount of money. Ignores cosines."""
    before, after = _read(old), _read(new)
    if before.names != after.names or before.against != after.against:
        return None
    if (before.telling ^ after.telling) - _fillers():
        return None
    ours, theirs = before.amounts, after.amounts
    if before.figures == after.figures:
        return "duplicate" if ours == theirs else None
    if len(ours) != 1 or len(theirs) != 1 or ours[0][0] != theirs[0][0]:
        return None
    ahead, behind = list(before.figures), list(after.figures)
    ahead.remove(ours[0][1])
    behind.remove(theirs[0][1])
    return "update" if ahead == behind else None


class _Sentence(NamedTuple):
    """A sentence as it is compared. Figures and amounts are sorted."""

    names: list[str]
    against: set[str]
    telling: set[str]
    figures: list[str]
    amounts: list[tuple[str, str]]


@lru_cache(maxsize=1024)
def _read(text: str) -> _Sentence:
    return _Sentence(names(text), _against(text), _telling(text), sorted(FIGURE.findall(text)), sorted(_amounts(text)))


def _telling(text: str) -> set[str]:
    """The stems of a sentence's content words, without figures."""
    return {stem for stem in stems(FIGURE.sub(" ", text)) if stem not in _ABOUT and not stem.isdigit()}


def _amounts(text: str) -> list[tuple[str, str]]:
    """The amounts of money in a text, with their currencies."""
    return [(found[1], found[2]) for found in _AMOUNT.finditer(text) if not found[3]]


def _against(text: str) -> set[str]:
    words = _WORD.findall(text.lower())
    return {word for word in words if word.rstrip("sd") in _AGAINST or word in _AGAINST or word[-3:-1] in ("n'", "n’")}
