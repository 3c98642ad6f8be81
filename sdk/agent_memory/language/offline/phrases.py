"""The phrases inside a clause: its objects, places, amounts, and the values that attributes take."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from functools import cache

from agent_memory.language.offline import lexicon, values, vocabulary
from agent_memory.language.offline.grammar import Clause
from agent_memory.language.offline.text import canon, content_stems, stem
from agent_memory.language.offline.values import Value
from agent_memory.text.patterns import bounded, either, plain_words

_ENDS_PHRASE = frozenset("""
    with since for and but because now near at from so which where when until again as by about , ; : instead after
    before during on to in of or that who than not if though into over around plus just this last next every these
    while per rather
""".split())  # fmt: skip
_SKIPPED = frozenset("a an the my our some about around now currently called named".split())
_OFTEN = either(r"""
    (?:almost_|nearly_)?(?:every|each)_(?:single_|other_)?\w+ once twice daily weekly often sometimes usually
    all_the_time a_lot on_(?:weekends?|weekdays|\w+days)(?:_\w+s)? in_the_(?:morning|evening|afternoon)s?
    (?:\d|two|three|four|five)_(?:times|days|cups)[^,]* for_(?:breakfast|lunch|dinner) anymore again always never too
    so_much very_much regularly since_.* for_\w+_years these_days right_now at_home at_all occasionally socially
""")
_MONTHS = plain_words(lexicon.MONTHS)
_SPAN = "week|month|year|spring|summer|autumn|winter"
_WHEN = rf"(?:in|on|since|from|until|last|next|this) (?:the )?(?:{_MONTHS}|(?:19|20)\d\d|{_SPAN})"
_TIME_QUALIFIER = bounded(rf"\b(?:{_WHEN}|{_OFTEN})\b", re.I)
_AFTERTHOUGHT = bounded(r",? (?:so|because|since|and so|which|as it|though|although)\b.*")
_CONDITION = bounded(r"\b(?:if|when|unless|except|but|than|because|before|after|without|only)\b")
_BEFORE_VALUE = bounded(
    r"^(?:(?:now|on|at|in|by|for|about|around|roughly|approximately|up to|set to|scheduled for|due|running on|moved to"
    r"|postponed to|port|version)\s+)+"
)
_AMOUNT_FIRST = bounded(r"(?:[^a-z]*\d[^\s]*|(?:" + "|".join(lexicon.NUMBERS) + r")\b)(?:\s[a-z.]+)?", re.I)
_HOMES = {"a", "an", "my", "our", "another", "his", "her", "their", "your", "one"}


def stems(words: Iterable[str]) -> frozenset[str]:
    """The canonical content stems of some words."""
    return content_stems(" ".join(words))


def head_words(words: Iterable[str]) -> list[str]:
    """The words of a phrase up to the first that begins another; a leading article is no part of it."""
    kept: list[str] = []
    for word in words:
        bare = word.strip(",")
        if not kept and bare.lower() in _SKIPPED:
            continue
        if bare.lower() in _ENDS_PHRASE or not bare:
            break
        kept.append(bare)
        if word.endswith(","):
            break
    return kept


def text_value(text: str) -> Value | None:
    """The words at the head of a phrase, as a value."""
    return values.read_text(head_words(text.split()))


def objects(after: str) -> list[frozenset[str]]:
    """What a verb of liking or doing is about: "jazz and rock" is two things, a condition stays part of its thing."""
    plain = _TIME_QUALIFIER.sub("", _AFTERTHOUGHT.sub("", after))
    parts = [plain] if _CONDITION.search(plain) else bounded(r",|\band\b|\bor\b|&").split(plain)
    topics = [content_stems(part) for part in parts]
    return [topic for topic in topics if 0 < len(topic) <= 5]


def without_times(text: str) -> str:
    """A phrase without the words that say how often or when."""
    return _TIME_QUALIFIER.sub("", text)


def place(text: str) -> Value | None:
    """A place: a capitalised name, or one lower-case word that is no kind of dwelling."""
    words = text.split()
    if words and words[0].lower() in _HOMES:
        inner = bounded(r"\bin ([A-Z][\w-]*(?: [A-Z][\w-]*)*)").search(text)
        return values.read_text(inner[1].split()) if inner else None
    kept: list[str] = []
    for word in words:
        bare = word.strip(",")
        if bare.lower() in _ENDS_PHRASE or (kept and not bare[:1].isupper()):
            break
        if bare:
            kept.append(bare)
    if not kept:
        return None
    lower = kept[0].islower()
    if lower and (len(words) > 2 or kept[0] in vocabulary.TOPIC_HEADS | lexicon.STOPWORDS):
        return None
    return values.read_text(kept)


def thing_topic(clause: Clause) -> tuple[frozenset[str], str]:
    """The topic of a noun phrase and its head: "budget for the Hawaii trip" is {budget, hawaii, trip} and budget."""
    text = " ".join(clause.thing).lower()
    for said, meant in vocabulary.ATTRIBUTE_SYNONYMS.items():
        text = bounded(rf"\b{re.escape(said)}\b").sub(meant, text)
    front = bounded(r"\s(?:for|of|on|in|at|to|with)\s").split(text)[0].split()
    head = front[-1] if front else ""
    if head in {"date", "time", "day", "amount", "number", "limit", "name"} and len(front) > 1:
        head = front[-2] if attribute_kind(canon(front[-2])) else head
    return stems(text.split()) | aside_topic(clause), canon(head)


@cache
def weak_topics() -> frozenset[str]:
    """Stems that may be left out of a topic without making it another one ("trip", "project")."""
    return frozenset(map(canon, vocabulary.WEAK_TOPICS))


def aside_topic(clause: Clause) -> frozenset[str]:
    """The topic that stood in brackets or in front."""
    return stems(clause.asides)


@cache
def _attribute_kinds() -> dict[str, str]:
    return {
        canon(vocabulary.ATTRIBUTE_SYNONYMS.get(name, name)): kind
        for kind, names in vocabulary.ATTRIBUTES.items()
        for name in names
    }


def attribute_kind(head: str) -> str:
    """The sort of value that an attribute takes, by the canonical stem of its head; "" if it is not known."""
    return _attribute_kinds().get(head, "")


def typed_value(text: str, kind: str, said_at: datetime) -> Value | None:
    """A value of the sort that the attribute takes; any number or time for an attribute that is not known."""
    if kind == "date":
        return values.read_time(text, said_at)
    bare = _BEFORE_VALUE.sub("", text.strip())
    if kind == "number":
        return values.read_number(bare)
    if kind in {"name", "text", "label"}:
        return _worded_value(bare, kind)
    amount = _AMOUNT_FIRST.match(bare)
    time = None if amount and not values.read_time(amount[0], said_at) else values.read_time(text, said_at)
    if time is not None:
        return time
    return values.read_number(bare) if amount else None


def _worded_value(text: str, kind: str) -> Value | None:
    if bounded(r"(?:so|very|really|pretty|quite|too|super|such|getting|going|not|still|all)\b", re.I).match(text):
        return None
    words = head_words(bounded(r"^(?:with|called|named)\s+").sub("", text).split())
    value = values.read_text(words)
    if value is None or len(words) > 5 or evaluative(value):
        return None
    named = any(word[0].isupper() or any(char.isdigit() for char in word) for word in words)
    return value if named or kind == "text" or (kind == "label" and len(words) == 1) else None


def evaluative(value: Value) -> bool:
    """Whether a value only says how good something is."""
    return bool(value.core & _judgements()) or any(
        isinstance(entry, str) and entry.endswith(("ful", "ous", "ive")) for entry in value.core
    )


@cache
def _judgements() -> frozenset[str]:
    return frozenset(stem(word) for word in lexicon.EMOTIONS | lexicon.GENERIC_NOUNS)


def kind_mark(tool: Value) -> frozenset[str]:
    """What a known tool is for, marked so that no word of a sentence can be taken for it."""
    kind = _tool_kinds().get(tool.said.lower().removeprefix("the "))
    return frozenset({f"#{kind}"}) if kind else frozenset()


@cache
def _tool_kinds() -> dict[str, str]:
    return {tool: kind for kind, tools in vocabulary.TOOLS.items() for tool in tools}
