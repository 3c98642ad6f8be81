"""Restatements: whether one sentence about a user repeats another, or gives a new value for it.

A cosine alone cannot tell "a dog called Rex" from "a dog called Max": of 24 labelled pairs that differ, 9 are above the
threshold (`tools/calibrate_duplicates.py` prints the table). So two sentences must also have the same content words,
the same negations, and the same names in the same order. One amount of money may differ: then the second sentence gives
a new value. Everything else is left to reconciliation.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

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
    if names(old) != names(new) or _against(old) != _against(new):
        return None
    if (_telling(old) ^ _telling(new)) - _fillers():
        return None
    before, after = FIGURE.findall(old), FIGURE.findall(new)
    ours, theirs = _amounts(old), _amounts(new)
    if sorted(before) == sorted(after):
        return "duplicate" if sorted(ours) == sorted(theirs) else None
    if len(ours) != 1 or len(theirs) != 1 or ours[0][0] != theirs[0][0]:
        return None
    before.remove(ours[0][1])
    after.remove(theirs[0][1])
    return "update" if sorted(before) == sorted(after) else None


def _telling(text: str) -> set[str]:
    """The stems of a sentence's content words, without figures."""
    return {stem for stem in stems(FIGURE.sub(" ", text)) if stem not in _ABOUT and not stem.isdigit()}


def _amounts(text: str) -> list[tuple[str, str]]:
    """The amounts of money in a text, with their currencies."""
    return [(found[1], found[2]) for found in _AMOUNT.finditer(text) if not found[3]]


def _against(text: str) -> set[str]:
    words = _WORD.findall(text.lower())
    return {word for word in words if word.rstrip("sd") in _AGAINST or word in _AGAINST or word[-3:-1] in ("n'", "n’")}
