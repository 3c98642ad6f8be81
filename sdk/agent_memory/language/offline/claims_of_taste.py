"""Claims about taste: what people eat, like, prefer and do again and again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cache

from agent_memory.language.offline import lexicon, values, vocabulary
from agent_memory.language.offline.claims import Claim, Reader
from agent_memory.language.offline.grammar import Clause
from agent_memory.language.offline.phrases import evaluative, head_words, objects, stems, text_value, without_times
from agent_memory.language.offline.text import canon, stem
from agent_memory.language.offline.values import Value
from agent_memory.language.offline.verbs import is_gerund
from agent_memory.text.patterns import bounded

_DIET_SPELLINGS = (("gluten free", "gluten-free"), ("dairy free", "dairy-free"), ("plant based", "plant-based"),
                   ("lactose intolerant", "lactose-intolerant"))  # fmt: skip
_ALLERGY = bounded(r"(?:an? )?(?:severe |bad |mild )?([\w ]+?) (?:allergy|allergies|intolerance)\b")
_ALLERGIC_TO = bounded(r"(?:\w+ )?(?:allergic|intolerant) to (.+)|(?:an? )?(?:\w+ )?(?:allergy|intolerance) to (.+)")
_FOND = bounded(
    r"(?:an? )?(?:(?:big|huge|great|massive|real|total) )?(?P<how>fan of|fond of|into|crazy about|obsessed with|keen on"
    r"|addicted to|passionate about|sucker for|tired of|sick of|lover of) (?P<what>.+)"
)
_LIKED_LIGHTLY = bounded(
    r"^(?:to )?(?:eating|drinking|having|going to|listening to|watching|doing|playing|a|an|the|some|any|my|to) "
)
_NOT_A_THING = bounded(r"(?:it|that|this|them|you|to be|how|when|what|the way|seeing|being|him|her)\b")
_RATHER_THAN = bounded(r"\b(?:over|rather than|instead of|to(?! (?:be|have|work|do|get|go)\b))\s")


def _diet(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """I am vegetarian; I follow a vegan diet; I went vegan."""
    turning = clause.verb in {"go", "turn", "becom"}
    if clause.thing or not (turning or (clause.verb in {"be", "follow", "stay", "eat"} and clause.time == "now")):
        return
    after = clause.after
    for apart, joined in _DIET_SPELLINGS:
        after = after.replace(apart, joined)
    for word in bounded(r"[\w-]+").findall(after)[:5]:
        name = word.removesuffix("s")
        if name in vocabulary.DIETS:
            diet = Value("text", frozenset({name}), word, shown=name)
            yield Claim(clause.owner, "diet", frozenset({"diet"}), diet, clause.negative, turning)


def _allergy(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """I am allergic to shellfish; I have a nut allergy."""
    if len(clause.thing) > 1 or clause.time == "past" or clause.verb not in {"be", "have", "develop"}:
        return
    owner = clause.thing[0].lower() if clause.thing else clause.owner  # "mateo is allergic": a name in lower case
    match = _ALLERGIC_TO.match(clause.after) or (_ALLERGY.match(clause.after) if clause.verb != "be" else None)
    listed = next((group for group in match.groups() if group), "") if match else ""
    for item in bounded(r",| and | or ").split(listed):
        yield Claim(owner, "allergy", stems(head_words(item.split())), None, clause.negative)


def _affinity(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """I love jazz; I can't stand olives; I am not a fan of horror films."""
    if clause.thing or clause.time == "past":
        return
    after = clause.after
    liking = _likings().get(clause.verb, 0)
    negative = clause.negative
    fond = _FOND.match(after) if clause.verb in {"be", "becom"} else None
    if clause.verb == "stand" and negative:
        liking, negative = -1, False
    elif fond:
        liking, after = (-1 if fond["how"] in {"tired of", "sick of"} else 1), fond["what"]
    if not liking or _NOT_A_THING.match(after):
        return
    for topic in objects(_LIKED_LIGHTLY.sub("", after)):
        yield Claim(clause.owner, "affinity", topic, None, (liking < 0) != negative)


def _preference(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """I prefer tea to coffee; I prefer aisle seats (the noun is the topic, what stands before it the value)."""
    if clause.verb != "prefer" or clause.thing or clause.time == "past" or clause.negative:
        return
    after = bounded(r"^to ").sub("", clause.after)
    chosen, _, other = _RATHER_THAN.sub("|", after).partition("|")
    words = [word for word in head_words(chosen.split()) if word not in lexicon.STOPWORDS]
    first, second = values.read_text(words), text_value(other)
    if first and second:
        yield Claim(clause.owner, "preference", stems(words) | stems(other.split()), first, replaced=second)
    elif len(words) > 1:
        yield Claim(clause.owner, "preference", frozenset({canon(words[-1])}), values.read_text(words[:-1]))
    elif words and is_gerund(words[0]):
        when = values.read_text([word for word in after.split()[1:] if word not in lexicon.STOPWORDS])
        yield Claim(clause.owner, "preference", frozenset({canon(words[0])}), when)


def _favorite(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """My favourite colour is green."""
    thing = [word.lower() for word in clause.thing]
    if clause.verb != "be" or clause.time != "now" or clause.negative or len(thing) < 2 or canon(thing[0]) != "favorit":
        return
    value = text_value(" ".join(clause.rest))
    plural = thing[-1].endswith("s") and not thing[-1].endswith("ss")
    if value and not plural and not evaluative(value):
        yield Claim(clause.owner, "attribute", stems(thing), value)


def _habit(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """I drink coffee; I don't smoke; I gave up meat; I speak French."""
    if clause.thing or clause.time == "past" or not (clause.verb == "any" or clause.verb in _habits()):
        return
    consuming = clause.verb in _consuming() | {"any"}
    topics = objects(clause.after)
    if not topics and not without_times(clause.after).strip():
        topics = [frozenset()]
    for topic in topics:
        if consuming and topic:
            yield Claim(clause.owner, "affinity", topic, None, clause.negative)
        else:
            yield Claim(clause.owner, "habit", topic | {canon(clause.verb)}, None, clause.negative)


TASTE: tuple[Reader, ...] = (_diet, _allergy, _preference, _favorite)
"""Readers of what people eat and prefer; the first that finds something has it."""

HABITS: tuple[Reader, ...] = (_affinity, _habit)
"""Readers of likes and habits, which claim yes or no."""


@cache
def _likings() -> dict[str, int]:
    return {stem(verb): sign for verb, sign in lexicon.LIKING.items()}


@cache
def _habits() -> frozenset[str]:
    return frozenset(stem(verb) for verb in lexicon.HABITS)


@cache
def _consuming() -> frozenset[str]:
    return frozenset(stem(verb) for verb in lexicon.CONSUMING)
