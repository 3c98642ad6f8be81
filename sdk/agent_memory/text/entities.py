"""Entities: the people, places and things named in a text, by capital letters and the words around them.

No model is called and nothing is stored. In a script without capitals nothing is found; a caller can pass known names.
German, which capitalises every noun, gives many things.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple

from agent_memory.text.dates import DAY_NAMES, MONTH_NAMES
from agent_memory.text.patterns import WORD
from agent_memory.text.stop_words import FUNCTION_WORDS, QUESTION_WORDS

EntityKind = Literal["person", "place", "thing"]

_MARKS = frozenset(".!?؟…。！？:\n")
_JOINS = frozenset((" ", "-", "'", "’", " & "))
_TITLES = frozenset(("dr", "mr", "mrs", "ms", "prof"))
_NO_NAMES = frozenset(
    {"user", "agent", "assistant", "ok", "okay", "yes", "hi", "hello", "thanks"}
    | _TITLES
    | {name.lower() for name in (*MONTH_NAMES, *DAY_NAMES)}
    | QUESTION_WORDS
    | FUNCTION_WORDS
)
_OF_PEOPLE = frozenset(
    """sister brother mother father mom mum dad wife husband son daughter friend boss colleague partner girlfriend
    boyfriend uncle aunt cousin neighbour neighbor teacher doctor manager grandmother grandfather dr mr mrs ms called
    named with schwester bruder mutter vater frau mann freund freundin kollege hermana hermano madre padre esposa
    esposo amiga amigo irmã irmão mãe pai soeur sœur frère mère père sorella fratello""".split()
)
"""A name after one of these is usually a person's."""
_OF_PLACES = frozenset("in near at visit visited visiting en em à em nach aus".split())
_OF_WAYS = frozenset("to from".split())
_TRAVEL = frozenset(
    "move moved moving travel travelled traveling trip fly flew flying flight go going went come came drive".split()
)
"""Before "to" and "from" they show that the next name is a place."""
_DEEDS = frozenset(
    "says said thinks likes loves lives works wants told asked studies plays met married mentioned prefers".split()
)
"""A name before one of these is usually a person's."""


class Mention(NamedTuple):
    """A name in a text, its possible kind (None: unknown), and whether it begins a sentence.

    `whole` is the name with the word of grammar that begins the sentence before it: "Los Angeles" or "But Angela".
    """

    name: str
    kind: EntityKind | None
    begins: bool
    whole: str | None = None


def mentions(text: str) -> list[Mention]:
    """The names in a text in their order: runs of capitalised words, without days, months and words of grammar."""
    words = list(WORD.finditer(text))
    found: list[Mention] = []
    at = 0
    while at < len(words):
        end = _run(text, words, at)
        if end > at:
            name = text[words[at].start() : words[end - 1].end()]
            begins = _begins(text, words, at)
            # "Ask Ana": a verb at the start of a sentence is not part of the name after it.
            leads = at > 0 and _begins(text, words, at - 1) and _leads(text, words, at - 1)
            whole = f"{words[at - 1][0]} {name}" if leads else None
            found.append(Mention(name, _kind(words, at, end), begins, whole))
        at = max(end, at + 1)
    return found


def names_in(text: str, known: Collection[str]) -> set[str]:
    """Which of these names a text holds as whole words, in any case."""
    folded = text.casefold()
    return {name for name in known if _holds(folded, name.casefold())}


def _run(text: str, words: list[re.Match[str]], at: int) -> int:
    """Behind the last word of the name that begins at a word; `at` if none does."""
    end = at
    while end < len(words) and (
        _is_name(words[end][0]) or (_leads(text, words, end) and not _begins(text, words, end))
    ):
        if end > at and text[words[end - 1].end() : words[end].start()] not in _JOINS:
            break
        end += 1
    return end


def _leads(text: str, words: list[re.Match[str]], at: int) -> bool:
    """Whether a word of grammar has a capital and a name behind it, as in "Los Angeles" or "De Gaulle"."""
    word, rest = words[at][0], words[at + 1 : at + 2]
    if len(word) < 2 or not word[0].isupper() or word.isupper() or word.casefold() not in FUNCTION_WORDS:
        return False
    return bool(rest) and text[words[at].end() : rest[0].start()] == " " and _is_name(rest[0][0])


def _is_name(word: str) -> bool:
    return len(word) > 1 and word[0].isupper() and word.casefold() not in _NO_NAMES


def _begins(text: str, words: list[re.Match[str]], at: int) -> bool:
    gap = text[words[at - 1].end() : words[at].start()] if at else ""
    return at == 0 or not _MARKS.isdisjoint(gap)


def _kind(words: list[re.Match[str]], at: int, end: int) -> EntityKind | None:
    before = [words[place][0].casefold() for place in range(max(0, at - 3), at)]
    behind = words[end][0].casefold() if end < len(words) else ""
    if before and before[-1] in _OF_PLACES:
        return "place"
    if len(before) > 1 and before[-1] in _OF_WAYS and not _TRAVEL.isdisjoint(before[:-1]):
        return "place"
    if behind in _DEEDS or not _OF_PEOPLE.isdisjoint(before[-2:]):
        return "person"
    return None


def _holds(folded: str, name: str) -> bool:
    at = folded.find(name)
    while at >= 0:
        before, behind = folded[at - 1 : at], folded[at + len(name) : at + len(name) + 1]
        # A script without blanks between words has no borders to look at.
        if not name.isascii() or not (before.isalnum() or behind.isalnum()):
            return True
        at = folded.find(name, at + 1)
    return False


def most_likely(kinds: Iterable[EntityKind | None]) -> EntityKind:
    """What a name is of, by what its mentions show: a thing if they show nothing, a person if they are even."""
    votes = [kind for kind in kinds if kind is not None]
    order: tuple[EntityKind, ...] = ("person", "place", "thing")
    return max(order, key=votes.count) if votes else "thing"
