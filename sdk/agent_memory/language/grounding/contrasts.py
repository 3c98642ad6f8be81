"""Contrasts: finds claims that reverse a share or an exception, or name another one of a series.

Mostly for English. A claim is compared with the quoted sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from agent_memory.language.grounding.clauses import USER, stems_of
from agent_memory.language.grounding.polarity import NEGATORS, words_of
from agent_memory.text.patterns import linear
from agent_memory.text.people import AS_I, KIN, plain_kin
from agent_memory.text.stems import stem


def contrasts(content: str, quoted: str, said: str) -> str | None:
    """The first of these contrasts between a claim and what was said, in words; None if there is none.

    Args:
        content: the claim.
        quoted: the sentences that it quotes.
        said: all to which the claim may refer: the cited turns and those before them.
    """
    return (
        _other_of_a_row(content, quoted, said)
        or _other_share(content, quoted)
        or _excepted(content, quoted)
        or _of_relatives(content, quoted)
    )


_ROWS = [
    frozenset(words.split())
    for words in (
        "first second third fourth fifth last next",
        "red blue green black white yellow brown grey pink purple orange",
        "spring summer autumn winter",
        "left right",
        "upper lower",
    )
]


def _other_of_a_row(content: str, quoted: str, said: str) -> str | None:
    """Finds "the first Thursday" where the second Thursday was said."""
    known, here = set(pairwise(words_of(said))), frozenset(words_of(quoted))
    for word, behind in pairwise(words_of(content)):
        for row in _ROWS:
            if word not in row - here or (word, behind) in known:
                continue
            if any(other in row and thing == behind for other, thing in known):
                return f"nobody said {word} {behind}"
    return None


_FEW = linear(
    r"\b(?:(?:hardly|scarcely|barely) (?:any(?:one|body)?)|(?:almost |nearly |practically )?(?:nobody|no one|none)"
    r"|(?:very |only a )few|a minority)\b",
    re.IGNORECASE,
)
_MANY = linear(r"\b(?:most|everyone|everybody|all|a majority|the majority)\b", re.IGNORECASE)


def _other_share(content: str, quoted: str) -> str | None:
    """Finds "most people" where hardly anyone was said."""
    if not _FEW.search(quoted) or _MANY.search(quoted):
        return None
    many = _MANY.search(content)
    if many is None or _FEW.search(content) or not NEGATORS.isdisjoint(words_of(content)):
        return None
    return f"nobody said {many[0]}"


_EXCEPT = linear(
    r"\b(?:except(?:ing)?(?: for)?|apart from|other than|(?:every|any|no)(?:one|body|thing) but|all but|aside from)"
    r"\s+([^\s,.;!?][^,.;!?]*)",
    re.IGNORECASE,
)


def _excepted(content: str, quoted: str) -> str | None:
    """Finds "Lena got the shot" and "everyone got the shot" where everyone except Lena got it."""
    told = words_of(content)
    if _EXCEPT.search(content) or not (NEGATORS | _APART).isdisjoint(told):
        return None
    for found in _EXCEPT.findall(quoted):
        name = found.split()[0]
        if (
            name[0].isupper()
            and name.casefold() in told[:1]
            and stems_of([content]) & stems_of([quoted]) - {stem(name)}
        ):
            return f"{name} was excepted"
        if _MANY.search(content) and stems_of([content]).isdisjoint(stems_of([found])):
            return "it leaves out an exception"
    return None


_APART = frozenset("only but still remaining left alone".split())


def of_other_kin(content: str, cited: str, before: str) -> str | None:
    """Finds a relative of whom this was not said.

    "User's sister takes ibuprofen" where the user takes it and an earlier turn was about the sister, "User's mother"
    for the grandmother, "User's sister" for the sister-in-law.
    """
    words, earlier, told = words_of(cited), words_of(before), words_of(content)
    at = next((at for at, word in enumerate(told[:4]) if plain_kin([word]) & KIN), len(told))
    kin = min(_kin(told[at : at + 1]), default="")
    if not kin:
        return None
    if _other_in_a_line(told, at, kin, [*words, *earlier]) or _in_law_left_out(told, at, kin, words, earlier):
        return f"nobody said {kin}"
    is_of_self = not AS_I.isdisjoint(words) and _OTHERS.isdisjoint(words)
    return f"nobody said {kin} of this" if is_of_self and kin not in _kin(words) and kin in _kin(earlier) else None


def _other_in_a_line(told: Sequence[str], at: int, kin: str, near: Sequence[str]) -> bool:
    """Whether a claim is about the user's mother where the only relative of the talk is a grandmother."""
    named = [_kin([word]) for word in near if _kin([word])]
    owned = told[at - 1 : at] and (told[at - 1].endswith("'s") or not _SOME.isdisjoint(told[:at]))
    if not owned or len(named) != 1 or kin in named[0] or told[at + 1 : at + 3] == _IN_LAW:
        return False
    return any({kin, *named[0]} <= line for line in _LINES)


def _in_law_left_out(told: Sequence[str], at: int, kin: str, words: Sequence[str], earlier: Sequence[str]) -> bool:
    """Whether a claim is about a sister where each sister of the talk is a sister-in-law."""
    near = [*words, *earlier]
    places = [place for place, word in enumerate(near) if kin in _kin([word])]
    if kin not in _kin(words) or told[at + 1 : at + 3] == _IN_LAW:
        return False
    return all(near[place + 1 : place + 3] == _IN_LAW for place in places)


_OTHERS = frozenset("he she they him her his their them it this that these those we our one who also too both".split())
_SOME = frozenset("a an one two three four five several".split())
_IN_LAW = ["in", "law"]
_LINES = [
    frozenset(words.split())
    for words in (
        "mother father grandmother grandfather aunt uncle",
        "sister brother cousin",
        "son daughter niece nephew",
        "wife husband",
    )
]
"""Relatives of whom one is never another."""


def _kin(words: Iterable[str]) -> set[str]:
    return {one for word in words for one in plain_kin([word, word.removesuffix("s")]) if one in KIN}


_OF_MY = linear(
    r"(\p{L}{2,}) (?:de|del|di|do|da|von|van) (?:mon|ma|mes|notre|mi|mis|nuestr[oa]|mein(?:er|em|es)|unser(?:er|em|es)|"
    r"mi[oa]|il mio|la mia|meu|minha|mijn|onze) (\p{L}{2,})"
)


_MINE = linear(r"\b(?:le mien|la mienne|el mío|la mía|meiner|meine?s|de mijne|o meu|a minha)\b", re.IGNORECASE)


def _of_relatives(content: str, quoted: str) -> str | None:
    """Finds "le fils de l'utilisateur" where the son of a neighbour was mentioned."""
    words = words_of(content)
    for thing, owner in _OF_MY.findall(quoted.casefold()):
        place = words.index(thing) if thing in words and owner in KIN and owner not in words else len(words)
        is_alone = words_of(quoted).count(thing) == 1 and not _MINE.search(quoted)
        if is_alone and not USER.isdisjoint(words[place + 1 : place + 4]):
            return f"it was said of {owner}"
    return None


_WHO = linear(r"\bwho(?:['’]s| has| had| have| is| was)?\s+(?:just |recently |also |once )?(\p{L}{3,})", re.IGNORECASE)
_SELF_WHO = linear(
    r"\b(?:i['’]m|i am|i was|we['’]re|we are)\s+(?:\w+ )?(?:an?|one|someone|somebody|the)\b[^.,;!?]{0,40}?\bwho\b"
    r"|\b(?:me|myself|i),? who\b|^\W*who\b",
    re.IGNORECASE,
)


def of_relative(content: str, quoted: str, speaker: str) -> str | None:
    """Finds "User trained in Basel" where they write for a surgeon who trained there."""
    told = words_of(content)
    if told[:1] not in (["user"], [speaker]) or _SELF_WHO.search(quoted):
        return None
    verb = next((word for word in told[1:3] if word not in ("has", "had", "is", "was", "also")), "")
    said = [stem(word) for word in words_of(quoted)]
    for found in _WHO.finditer(quoted):
        if stem(found[1].casefold()) == stem(verb) and said.count(stem(verb)) == 1:
            return f"somebody else {found[1]}"
    return None
