"""Finds what a talk is about: the noun phrases that name a trip, a project, a class, and the tags of a statement."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from agent_memory.language.offline import lexicon, vocabulary
from agent_memory.language.offline.phrases import attribute_kind
from agent_memory.language.offline.text import canon, content_stems, expand, stem
from agent_memory.text.patterns import linear, plain_words

# Each way ends in its only repeat: it never goes back.
_PART = re.compile(r"[^\W\d_][\w'&+#-]*|\d[\w.]*|[.,;:!?()]")
_REMOTE_WORK = linear(r"\b(?:work(?:ing)? from home|remote work|home office|parental leave|on-call)\b", re.I)
_LOWER_WORD = re.compile(r"[a-z][\w'-]+")  # it ends in its only repeat
_DEPENDENT = linear(
    rf"\b((?:[\w'-]+ )?{plain_words(vocabulary.DEPENDENT)})"
    r"(?: (for|of) ((?:the |my |our |a )?(?:[\w'-]+ ){0,2}[\w'-]+))?",
    re.I,
)
_LINKS = frozenset("to for in at of about on".split())
_NOT_PLACES = lexicon.MONTHS | lexicon.WEEKDAYS | {"i", "i'm", "i've", "ok"}


def topics(text: str) -> list[str]:
    """The topics that a text names, in order: "kitchen renovation", "trip to Hawaii", "budget for the Hawaii trip"."""
    words = _PART.findall(expand(text))
    found: list[str] = [match.lower() for match in _REMOTE_WORK.findall(text)]
    position = 0
    while position < len(words):
        word = words[position].lower()
        if word in vocabulary.TOPIC_HEADS and not _is_verb_here(words, position):
            end = _last_head(words, position)
            phrase = [*_modifiers(words, position), *words[position : end + 1], *_link(words, end)]
            if len(phrase) > 1 or word not in _PLAIN_HEADS:
                found.append(" ".join(phrase))
            position = end + max(1, len(_link(words, end)))
        else:
            position += 1
    return list(dict.fromkeys(found))


_PLAIN_HEADS = frozenset("""
    play film movie book van deck roof dinner job shift game match race team store shop company script paper report
    call move trip class course party project plan lesson lessons band photographer season program training feature
    set gym dog cat garden
""".split())  # fmt: skip
"""Heads that name a topic only with a word before or after them."""


def _last_head(words: list[str], position: int) -> int:
    """The last word of a compound ("launch campaign")."""
    while position + 1 < len(words) and words[position + 1].lower() in vocabulary.TOPIC_HEADS:
        position += 1
    return position


def _is_verb_here(words: list[str], position: int) -> bool:
    """Whether a head is used as a verb ("I book", "to move", "can launch")."""
    before = words[position - 1].lower() if position else ""
    after = words[position + 1].lower() if position + 1 < len(words) else ""
    return before in {"i", "we", "they", "you", "to", "can", "will", "would", "should", "not", "must", "and"} and (
        after in {"the", "a", "an", "my", "our", "it", "to", "with", "in", "them", "on", "every", "for", "him", "her"}
        or before in {"i", "we", "they", "you", "not"}
    )  # fmt: skip


def _modifiers(words: list[str], position: int) -> list[str]:
    """Up to three words before a head that narrow it down."""
    kept: list[str] = []
    for word in reversed(words[max(0, position - 3) : position]):
        lower = word.lower()
        if not word[0].isalpha() or lower in _no_modifiers():
            break
        if lower not in vocabulary.TOPIC_HEADS and _is_verb_form(lower):
            break
        kept.insert(0, word)
    return kept


@cache
def _no_modifiers() -> frozenset[str]:
    return lexicon.STOPWORDS | lexicon.ADVERBS | lexicon.ADDITIVE_WORDS | lexicon.FINITE | _LOOSE


_LOOSE = frozenset("""
    new first second third last next big small great good nice amazing awesome own same whole little old upcoming
    current recent favorite favourite annual local long short special different another perfect couple few several
    many two three four five quick beautiful lovely huge fun cool latest busy wonderful
""".split())  # fmt: skip


def _is_verb_form(word: str) -> bool:
    return word.endswith(("ing", "ed")) and stem(word) in _verb_stems()


@cache
def _verb_stems() -> frozenset[str]:
    return frozenset(
        stem(verb) for verb in lexicon.INFORMATIVE | lexicon.CHANGING | lexicon.WEAK_VERBS | lexicon.INTENDING
    )


def _link(words: list[str], position: int) -> list[str]:
    """What follows a head and says which: "to Hawaii", "for the marketing team", "in Lisbon"."""
    if position + 1 >= len(words) or words[position + 1].lower() not in _LINKS:
        return []
    link = words[position + 1].lower()
    rest = words[position + 2 : position + 6]
    taken: list[str] = []
    for word in rest:
        if taken and not word[0].isupper():
            break
        if word[0].isupper() and word.lower() not in _NOT_PLACES:
            taken.append(word)
        elif word.lower() != "the" or taken:
            break
    return [link, *taken] if taken else []


def narrowed(text: str) -> list[str]:
    """The attributes with their topic that a text names ("budget for the Hawaii trip"), for "it" to stand for."""
    found = _DEPENDENT.findall(expand(text))
    phrases = []
    for attribute, link, belonging in found:
        first, _, head = attribute.rpartition(" ")
        keeps_first = first and first.lower() not in lexicon.STOPWORDS | lexicon.ADVERBS | _LOOSE
        named = topics(belonging) if belonging else []
        if named:
            phrases.append(f"{head} {link} the {named[0]}")
        elif keeps_first and stem(first.lower()) not in _verb_stems():
            phrases.append(attribute)
    return phrases


def proper_nouns(text: str) -> list[str]:
    """Capitalised words that do not stand at the start of a sentence."""
    words = _PART.findall(text)
    return [
        word.removesuffix("'s")
        for before, word in zip([".", *words], words, strict=False)
        if word[0].isupper() and before not in ".!?:" and word.lower() not in _NOT_PLACES and len(word) > 1
    ]


def tags(text: str, name: str = "") -> list[str]:
    """Up to three words that say what a statement is about, lower case; the name of who said it is none."""
    named = [word.lower() for word in proper_nouns(text)]
    heads = [_head(topic) for topic in topics(text)]
    words = _LOWER_WORD.findall(text.lower())
    attributes = [word for word in words if attribute_kind(canon(word)) and not _is_verb_form(word)]
    topical = [word for word in words if len(word) > 3 and _is_topical(word)]
    found = dict.fromkeys([*named, *heads, *attributes, *topical])
    return [word for word in found if len(word) > 2 and word != name.lower()][:3]


def _head(topic: str) -> str:
    """The noun of a topic: "trip" of "trip to Hawaii", "renovation" of "kitchen renovation"."""
    first, last = topic.split()[0], topic.split()[-1]
    return (last if last[0].islower() else first).lower()


def _is_topical(word: str) -> bool:
    return (
        "'" not in word
        and not word.endswith(("ing", "ed", "ly"))
        and word not in _untopical()
        and stem(word) not in _verb_stems()
    )


@cache
def _untopical() -> frozenset[str]:
    times = lexicon.MONTHS | lexicon.WEEKDAYS | lexicon.TIME_WORDS
    common = lexicon.STOPWORDS | lexicon.GENERIC_NOUNS | lexicon.ADVERBS | lexicon.EMOTIONS | lexicon.FINITE
    return common | times | _LOOSE | frozenset({"towards", "around", "together"})


def main_topic(texts: list[str]) -> str:
    """What several texts are mostly about: the topic whose words turn up most, else the words that do."""
    stems = [content_stems(text) for text in texts]
    phrases = {content_stems(topic): topic for text in texts for topic in topics(text)}
    shares = {topic: sum(len(about & stem_set) for stem_set in stems) for about, topic in phrases.items() if about}
    best = max(shares, key=lambda topic: shares[topic], default="")
    if best and (shares[best] >= 3 or len(texts) < 8):
        return best
    words = Counter(word for text in texts for word in tags(text))
    return ", ".join(word for word, _ in words.most_common(2))
