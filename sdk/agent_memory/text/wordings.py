"""Wordings: what decides whether two texts make the same claim in other words.

"I paid Ana 50 euros" and "I paid Ana 60 euros" have a cosine of 0.97 (all-MiniLM-L6-v2), two wordings of one claim may
have 0.7. So the words decide too. A text may leave words of the claim out, or add some. If each has words of its own,
they must mean nearly the same, and not be the names of two things.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from agent_memory.calibration import CLAIM_SHARE, Calibration
from agent_memory.text.dates import CALENDAR
from agent_memory.text.figures import FIGURE, NUMBERS
from agent_memory.text.folding import folded
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.people import KIN, SAME_KIN
from agent_memory.text.sentences import sentences
from agent_memory.text.stems import stem
from agent_memory.text.stop_words import CLAIM_WORDS
from agent_memory.text.terms import is_cjk, pairs

_PARTS = linear(r"(\w+)(?:['’](\w+))?")
"""A word, and what follows its apostrophe: a short ending ("we're"), or the word itself ("d'arachides")."""
_TELLING = 3
"""Fewest letters of a word that carries meaning."""
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_VALUES = {name: str(number) for name, number in NUMBERS.items() if number > 1} | {
    word: word for word in (*CALENDAR, *_ORDINALS.split())
}
_KINDS = {
    word: word
    for word in """left right north south east west upstairs downstairs red white black green blue yellow brown pink
    purple orange grey silver golden""".split()
}
_KINDS |= dict.fromkeys("like likes love loves enjoy enjoys adore".split(), "like")
_KINDS |= dict.fromkeys("hate hates dislike dislikes detest loathe".split(), "hate")
"""Words that exclude each other, so that they are compared as values, too."""
_KIN_STEMS = frozenset(stem(SAME_KIN.get(word, word)) for word in KIN)
_BEFORE_KIN = frozenset("ex former step half late".split())
"""Words that make a relative another person: "my ex-wife"."""
_LABEL = linear(r"\p{L} ([A-HJ-Z])\b")
"""A letter that tells one of several: "Bus A"."""
_AMOUNT = linear(rf"({FIGURE.pattern})(?:\s?[a-zµ%°]{{1,2}}\b)?", re.IGNORECASE)
"""A figure with its unit, if that is short: "50 mg", "10km"."""
_SPEAKER = linear(r"^\p{L}[\w .'@-]{0,40}: (?:\p{Lu}|\P{L})")
_CARRIED = linear(r" \((?:asked|after): ")
"""What stands before the words that a short reply answers or corrects."""
_DATE = linear(r" \(([^()]{0,30}\d{4})\)")
"""How extraction writes the date that it worked out: "yesterday (28 January 2023)"."""


class Wording(NamedTuple):
    """What a text says, as far as it is compared.

    Attributes:
        words: The stems of its content words, without figures.
        values: Its figures, numbers, ordinals, weekdays and months.
        names: Those of its words that may name one of several: capitalised ones and kin.
        order: All content words in their order, which tells who trusts whom.
    """

    words: frozenset[str]
    values: frozenset[str]
    names: frozenset[str]
    order: tuple[str, ...] = ()

    def keyed(self, key: Callable[[str], str]) -> Wording:
        """The same with a key in place of each word."""
        words, values, names = (frozenset(map(key, part)) for part in self[:3])
        return Wording(words, values, names, tuple(map(key, self.order)))


def words_in(text: str) -> list[str]:
    """The words of a folded text, without short endings: "we're" is "we", "d'arachides" is "d" and "arachides"."""
    return [word for found in _PARTS.findall(text) for word in found if word == found[0] or len(word) >= _TELLING]


@lru_cache(maxsize=256)  # the claims about a topic are compared with the same texts
def wording_of(text: str) -> Wording:
    """The wording of a claim, without its speaker, the question that it answers, and dates that were worked out.

    Such dates count among the values.
    """
    claim = folded(text[: found.start()] if (found := _CARRIED.search(text)) else text)
    claim = claim[found.end() - 1 :] if (found := _SPEAKER.match(claim)) else claim
    dated = " ".join(found[1] for found in _DATE.finditer(claim))
    values = {figure.strip(".,:") for figure in FIGURE.findall(f"{claim} {dated}")}
    values |= {f"label {found[1]}" for found in _LABEL.finditer(claim)}
    words, named, order, before = set[str](), set[str](), list[str](), ""
    for word in words_in(_AMOUNT.sub(" ", _DATE.sub(" ", claim))):
        lower = word.lower()
        values |= {_KINDS[lower]} if lower in _KINDS else set()
        if lower in _VALUES:
            values.add(_VALUES[lower])
        elif lower not in CLAIM_WORDS:
            stems = pairs(lower) if is_cjk(lower) else [stem(SAME_KIN.get(lower, lower))]
            words.update(stems)
            named.update(stems if word[0].isupper() or lower in KIN else ())
            order += stems
            if lower in KIN:
                values.add(f"{before} {stems[0]}" if before in _BEFORE_KIN else stems[0])
        before = lower
    values |= {word for word in WORD.findall(dated.lower()) if word in CALENDAR}
    return Wording(frozenset(words), frozenset(values), frozenset(named), tuple(order))


@lru_cache(maxsize=256)
def wordings(text: str) -> tuple[Wording, ...]:
    """The wordings of a text and of each of its sentences: any of them may make a claim."""
    return tuple(dict.fromkeys(wording_of(part) for part in (text, *sentences(text))))


def _is_turned_round(claim: Wording, other: Wording) -> bool:
    """Whether the two say the same with two names swapped: "Ana trusts Bob", "Bob trusts Ana"."""
    if claim.order == other.order or sorted(claim.order) != sorted(other.order):
        return False
    moved = [at for at, pair in enumerate(zip(claim.order, other.order, strict=True)) if len(set(pair)) > 1]
    names = (claim.names & other.names) - _KIN_STEMS
    # Neighbours are a list, whose order says nothing: "Bob and Ana are married".
    return moved[-1] - moved[0] > 1 and all(claim.order[at] in names for at in moved)


def is_same(claim: Wording, other: Wording, cosine: float, limits: Calibration) -> bool:
    """Whether another wording makes the same claim."""
    if claim.values - other.values and other.values - claim.values:
        return False
    if _is_turned_round(claim, other):
        return False
    shared = claim.words & other.words
    if len(shared) < CLAIM_SHARE * len(claim.words) or not shared:
        return False
    missing, added = claim.words - shared, other.words - shared
    if not (missing and added):
        return cosine >= (limits.near_claim if len(shared) > 1 else limits.topic)
    return cosine >= limits.same_claim and not (missing & claim.names and added & other.names)
