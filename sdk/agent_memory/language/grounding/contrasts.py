"""Contrasts: finds claims that reverse an order, a share or an exception, or name another one of a series.

Mostly for English. A claim is compared with the quoted sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from agent_memory.language.grounding.clauses import USER, content_words
from agent_memory.language.grounding.polarity import NEGATORS, words_of
from agent_memory.text.patterns import linear
from agent_memory.text.people import KIN
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
        or _other_order(content, quoted)
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


_THEN = linear(r"\bfirst,?\s+([^.;!?]{3,200}?),?\s+(?:and\s+)?then\s+([^.;!?]{3,200})", re.IGNORECASE)
_BEFORE = linear(r"^(.{3,200}?)\s(before|after)\s(.{3,200})$", re.IGNORECASE)


def _other_order(content: str, quoted: str) -> str | None:
    """Finds "the frontend before the database" where the database comes first, then the frontend."""
    told, found = _BEFORE.search(content), _THEN.search(quoted)
    if told is None or found is None:
        return None
    earlier, later = (told[1], told[3]) if told[2].lower() == "before" else (told[3], told[1])
    first, then = _stems(found[1]), _stems(found[2])
    is_turned = _stems(earlier) & (then - first) and _stems(later) & (first - then)
    is_kept = _stems(earlier) & (first - then) and _stems(later) & (then - first)
    return "it was to happen in the other order" if is_turned and not is_kept else None


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
    r"\b(?i:except(?: for)?|apart from|other than|(?:every|any|no)(?:one|body) but|all but|aside from)"
    r"\s+(\p{Lu}[\p{L}\p{M}]+)"
)


def _excepted(content: str, quoted: str) -> str | None:
    """Finds "Lena got the shot" where everyone except Lena got it."""
    for found in _EXCEPT.finditer(quoted):
        name = found[1].casefold()
        told = words_of(content)
        if name in told[:1] and NEGATORS.isdisjoint(told) and not _EXCEPT.search(content) and "only" not in told:
            shared = _stems(content) & _stems(quoted) - {stem(name)}
            if shared:
                return f"{found[1]} was excepted"
    return None


def of_other_kin(content: str, cited: str, before: str) -> str | None:
    """Finds "User's sister takes ibuprofen" where the user takes it, and an earlier turn was about the sister."""
    words = words_of(cited)
    if "i" not in words and not any(word.startswith(("i'", "i’")) for word in words):
        return None
    if not _OTHERS.isdisjoint(words):
        return None
    here, earlier = _kin(words), _kin(words_of(before))
    told = next(iter(_kin(words_of(content)[:4])), None)
    return f"nobody said {told} of this" if told and told not in here and told in earlier else None


_OTHERS = frozenset("he she they him her his their them it this that these those we our one who also too both".split())


def _kin(words: Iterable[str]) -> frozenset[str]:
    return frozenset(bare for word in words if (bare := word.removesuffix("'s").removesuffix("’s")) in KIN)


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


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in content_words(words_of(text)))
