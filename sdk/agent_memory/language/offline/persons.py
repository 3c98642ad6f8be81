"""Turns what people say of themselves into what can be said of them: "I work here" → "Sarah works here"."""

from __future__ import annotations

import re
from functools import cache

from agent_memory.language.offline import lexicon
from agent_memory.language.offline.text import straighten
from agent_memory.language.offline.verbs import is_past
from agent_memory.text.patterns import bounded, plain_words

_FIRST_PERSON = bounded(
    r"\b(i'm|i've|i'll|i'd|im|ive|we're|we've|we'll|we'd|i|me|my|mine|myself|we|us|our|ours|ourselves)\b(?!')", re.I
)
_LATER = {
    "i": "they", "i'm": "they're", "im": "they're", "i've": "they've", "ive": "they've", "i'll": "they'll",
    "i'd": "they'd", "me": "them", "my": "their", "mine": "theirs", "myself": "themself", "we": "they",
    "we're": "they're",
    "we've": "they've", "we'll": "they'll", "we'd": "they'd", "us": "them", "our": "their", "ours": "theirs",
    "ourselves": "themselves",
}  # fmt: skip
_SINGULAR = {
    "am": "is", "have": "has", "do": "does", "don't": "doesn't", "dont": "doesn't", "haven't": "hasn't", "go": "goes",
    "wanna": "wants to", "gotta": "has to",
}  # fmt: skip
_UNCHANGED = frozenset("""
    was were had did didn't couldn't can can't cannot could will won't would wouldn't should shouldn't may might
    must used ought is has does hadn't wasn't doesn't isn't hasn't
""".split())  # fmt: skip
_WITHOUT_ACTOR = bounded(
    r"(?:\w+ly )?(?:took (?:me|us|some|a while|a lot|time|ages)|turned out|meant|felt|looked|sounded|was|were)\b", re.I
)
_VERB = bounded(rf"((?:\s+{plain_words(lexicon.ADVERBS)})*\s+)([\w']+)")
_COORDINATED = bounded(r"\b(and|but|or)( also| then| now| still| really| just)? ([a-z]+)\b")


def attributed(text: str, name: str) -> str:
    """A first-person statement as one about `name`; where the grammar is not plain, the name is put in front of it."""
    plain = straighten(text)
    elided = _elided(plain, name)
    if elided is not None:
        return elided
    first = _FIRST_PERSON.search(plain)
    word = first[0].lower() if first else ""
    if first is None or word.startswith(("we", "us", "our")):
        return f"{name}: {plain}"
    before, after = plain[: first.start()], plain[first.end() :]
    if word == "i" and bounded(r"\b(?:and|or)\s+$").search(before):
        return before + name + _later(after)
    if word in {"my", "mine"}:
        return before + f"{name}'s" + _later(after)
    if word in {"me", "myself"}:
        return before + name + _later(after)
    return before + name + _conjugated(word, after)


def _elided(plain: str, name: str) -> str | None:
    """Puts back a left-out "I": "Went to Rome" → "Sarah went to Rome"; None if nothing was left out."""
    head = next((word for word in map(str.lower, bounded(r"[\w']+").findall(plain)) if word not in lexicon.ADVERBS), "")
    rest = _later(plain[:1].lower() + plain[1:])
    if head == "been":
        return (
            f"{name} has {rest}"
            if bounded(r"(?:\w+ly )?been (?:\w+ing|busy|to|off|on|sick|really|so)\b").match(rest)
            else None
        )
    if is_past(head) and not _WITHOUT_ACTOR.match(plain):
        return f"{name} {rest}"
    return None


def _conjugated(pronoun: str, after: str) -> str:
    if pronoun in {"i'm", "im"}:
        return " is" + _later(after)
    if pronoun in {"i've", "ive"}:
        return " has" + _later(after)
    if pronoun == "i'll":
        return " will" + _later(after)
    if pronoun == "i'd":
        return " would" + _later(after)
    words = _VERB.match(after)
    if words is None:
        return _later(after)
    verb = words[2]
    follows = _coordinated(after[words.end() :]) if _is_present(verb) else after[words.end() :]
    return words[1] + _third_person(verb) + _later(follows)


def _is_present(verb: str) -> bool:
    lower = verb.lower()
    return lower in _SINGULAR or not (lower in _UNCHANGED or is_past(lower) or lower in lexicon.BASE_OR_PAST)


def _third_person(verb: str) -> str:
    """The third person singular of a present verb; pasts and auxiliaries stay."""
    lower = verb.lower()
    if lower in _SINGULAR:
        return _SINGULAR[lower]
    if not _is_present(lower) or lower.endswith("ing"):
        return verb
    if lower.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if lower.endswith("y") and lower[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def _coordinated(text: str) -> str:
    """Carries the third person over to verbs that share the subject: "… and live in Porto"."""
    return _COORDINATED.sub(
        lambda match: (
            f"{match[1]}{match[2] or ''} {_third_person(match[3])}" if match[3] in _stative_bases() else match[0]
        ),
        text,
        count=1,
    )


def _later(text: str) -> str:
    """Mentions after the first: singular they."""
    replaced = _FIRST_PERSON.sub(lambda match: _LATER[match[0].lower()], text)
    return bounded(r"\bthey (am|was)\b").sub(lambda match: "they are" if match[1] == "am" else "they were", replaced)


@cache
def _stative_bases() -> frozenset[str]:
    return frozenset("live work love like hate prefer have own need want speak play drive use enjoy study".split())
