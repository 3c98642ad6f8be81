"""Finds what a talk is about: the noun phrases that name a trip, a project, a class, and the tags of a statement."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_memory.language.offline import lexicon
from agent_memory.language.offline.text import canon, canons, content_stems, expand
from agent_memory.language.offline.verbs import is_gerund, is_past
from agent_memory.text.names import names
from agent_memory.text.patterns import bounded, plain_words

_LOWER_WORD = re.compile(r"[a-z][\w'-]+")  # it ends in its only repeat
_TOPIC = bounded(
    rf"(?P<before>(?:[\w'-]+ ){{0,2}})"
    rf"(?P<head>\b{plain_words(lexicon.TOPIC_HEADS)}(?: {plain_words(lexicon.TOPIC_HEADS)})?\b)"
    r"(?P<link> (?:to|for|in|of|at) (?:the )?(?-i:[A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2}))?",
    re.I,
)
_SURE, _SHORT = 3, 8
"""How often words of a topic turn up in a talk that is not short, and how many texts are. Choices."""
_MODIFIED_ONLY = lexicon.words(
    "app move party project course class lesson report presentation paper book album release flat shop event campaign"
    " application website"
)
"""Heads that name a topic only with a word before or after them."""
_ACTING = lexicon.words("i we they you to can will would should not must")
_LOOSE = lexicon.words("""
    new first second third last next big small great good nice own same whole little old upcoming current recent
    annual long short special different another several many quick similar certain particular
""")
_NO_MODIFIERS = lexicon.STOPWORDS | lexicon.ADVERBS | lexicon.FINITE | lexicon.COMMANDS | _LOOSE
_ATTRIBUTES = canons(lexicon.ATTRIBUTES)


def topics(text: str) -> list[str]:
    """The topics that a text names, in order: "kitchen renovation", "trip to Hawaii"."""
    found = []
    for match in _TOPIC.finditer(expand(text)):
        before = match["before"].split()
        if before and before[-1].lower() in _ACTING:
            continue  # a verb: "I book", "to move"
        kept: list[str] = []
        for word in reversed(before):
            lower = word.lower()
            in_name = bool(kept) and kept[0][0].isupper() and word[0].isupper() and lower in _LOOSE  # New Yorker
            if not in_name and (lower in _NO_MODIFIERS or is_gerund(lower) or is_past(lower)):
                break
            kept.insert(0, word)
        link = (match["link"] or "") if (match["link"] or "").split()[-1:] != ["I"] else ""
        if kept or link or match["head"].lower() not in _MODIFIED_ONLY:
            found.append(" ".join([*kept, match["head"]]) + link)
    return list(dict.fromkeys(found))


def tags(text: str, name: str = "") -> list[str]:
    """Up to three words that say what a statement is about, lower case; the name of who said it is none."""
    named = [word.lower() for word in names(text)]
    heads = [word for topic in topics(text) for word in topic.lower().split() if word in lexicon.TOPIC_HEADS]
    words = _LOWER_WORD.findall(expand(text).lower())
    attributes = [word for word in words if word in lexicon.ATTRIBUTES]
    dull = _NO_MODIFIERS | lexicon.GENERIC | lexicon.EMOTIONS | lexicon.WEEKDAYS | lexicon.TIME_WORDS
    topical = [word for word in words if len(word) > 3 and not (word in dull or word.endswith(("ing", "ed", "ly")))]
    found = dict.fromkeys([*named, *heads, *attributes, *topical])
    return [word for word in found if len(word) > 2 and word not in lexicon.MONTHS and word != name.lower()][:3]


def main_topic(texts: Sequence[str], others: Sequence[str] = ()) -> str:
    """What several texts are mostly about: the topic that they name whose words turn up most; "" if none is sure.

    A topic that turns up once may only have been mentioned in passing, unless the first text names it.

    Args:
        texts: What users said, oldest first.
        others: What others said, which names no topic.
    """
    stems = [content_stems(text) for text in (*texts, *others)]
    phrases = {content_stems(topic): topic for text in texts for topic in topics(text)}
    about = max(
        filter(None, phrases), key=lambda words: sum(len(words & one) for one in stems), default=frozenset[str]()
    )
    if not about:
        return ""
    share = sum(len(about & one) for one in stems)
    is_spread = sum(not about.isdisjoint(one) for one in stems) > 1 or about <= stems[0]
    return phrases[about] if is_spread and (share >= _SURE or len(stems) < _SHORT) else ""


def is_attribute(word: str) -> bool:
    """Whether a word names an attribute that has a value."""
    return canon(word) in _ATTRIBUTES
