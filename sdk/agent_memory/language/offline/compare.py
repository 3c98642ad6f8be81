"""Compares claims: what excludes what, rule by rule.

The rules prefer silence. Two claims about different topics are never brought together, a topic named on one side
only is not enough, and what a person may have several of (hobbies, pets, tools, trips) never excludes another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Literal

from agent_memory.language.offline import vocabulary
from agent_memory.language.offline.claims import Claim
from agent_memory.language.offline.phrases import weak_topics
from agent_memory.language.offline.text import canon
from agent_memory.language.offline.values import Value

Verdict = Literal["update", "contradict"]
Rule = Callable[[Claim, Claim], bool]

_FOOD_RELATIONS = {"affinity", "habit"}


def excludes(newer: Claim, older: Claim) -> Verdict | None:
    """Whether two claims cannot both be true now: "update" if the newer one says or implies a change."""
    if newer.owner != older.owner or _is_one_of_many(newer.owner) or (newer.hedged and not older.hedged):
        return None
    if not any(rule(newer, older) for rule in _RULES):
        return None
    counted = newer.value is not None and newer.value.kind != "text" and newer.relation == "attribute"
    return "update" if newer.change or counted else "contradict"


def _is_one_of_many(owner: str) -> bool:
    """Whether a person without a name may be another one each time ("my friend", "a colleague of mine")."""
    return owner.rpartition(".")[2] in _many()


@cache
def _many() -> frozenset[str]:
    return frozenset(canon(word) for word in vocabulary.MANY_KIN)


def same_topic(one: frozenset[str], two: frozenset[str]) -> bool:
    """Whether two topics are one; words that add nothing ("trip", "project") may be missing on one side."""
    strong = _strong(one), _strong(two)
    return strong[0] == strong[1] if strong[0] or strong[1] else one == two


def topic_key(claim: Claim) -> frozenset[str]:
    """The part of a claim's topic that tells it from others, equal for one topic in other words."""
    return _strong(claim.topic) or claim.topic


def presumed_topic(claim: Claim, known: Iterable[frozenset[str]]) -> frozenset[str]:
    """The topic that a change of a bare attribute presumes: "my budget is now $15,000" is about the one budget known.

    A claim that names its topic, says nothing of a change, or could be about several keeps its own.
    """
    own = topic_key(claim)
    if not claim.change or claim.relation != "attribute" or not own <= _measures():
        return own
    fitting = {topic for topic in known if own < topic}
    return fitting.pop() if len(fitting) == 1 else own


@cache
def _measures() -> frozenset[str]:
    """What says nothing without what it is of, or is a measure of something ("rate limit")."""
    return frozenset(canon(word) for word in vocabulary.DEPENDENT.keys() | vocabulary.ATTRIBUTES["number"])


def same_claim(one: Claim, two: Claim) -> bool:
    """Whether two claims say the same."""
    if (one.owner, one.relation, one.negative, one.hedged) != (two.owner, two.relation, two.negative, two.hedged):
        return False
    if (one.value is None) != (two.value is None) or not same_topic(one.topic, two.topic):
        return False
    return one.value is None or two.value is None or one.value.compare(two.value) == "same"


def _strong(topic: frozenset[str]) -> frozenset[str]:
    return topic - weak_topics()


# ---------------------------------------------------------------------------------------------------- rules


def another_value(newer: Claim, older: Claim) -> bool:
    """The budget is $10,000 / the budget is $15,000; I live in Lisbon / I moved to Porto."""
    return (
        newer.relation == older.relation == "attribute"
        and not (newer.negative or older.negative or newer.additive)
        and same_topic(newer.topic, older.topic)
        and _differ(newer.value, older.value)
    )


def another_place(newer: Claim, older: Claim) -> bool:
    """The wedding is in Lisbon / the wedding is in Porto."""
    return (
        newer.relation == older.relation == "place"
        and not (newer.negative or older.negative or newer.additive)
        and newer.topic == older.topic
        and _differ(newer.value, older.value)
    )


def denied_value(newer: Claim, older: Claim) -> bool:
    """I work at Nuvela / I left Nuvela."""
    return (
        newer.relation == older.relation
        and newer.relation in {"attribute", "diet", "tool"}
        and newer.negative != older.negative
        and (newer.relation == "tool" or same_topic(newer.topic, older.topic))
        and _agree(newer.value, older.value)
    )


def replaced_value(newer: Claim, older: Claim) -> bool:
    """The Hawaii budget is $10,000 / we raised the budget from $10,000: the newer one names the older value."""
    return (
        newer.relation == older.relation == "attribute"
        and newer.replaced is not None
        and not (newer.negative or older.negative)
        and bool(_strong(newer.topic) & _strong(older.topic))
        and (_strong(newer.topic) <= _strong(older.topic) or _strong(older.topic) <= _strong(newer.topic))
        and _agree(newer.replaced, older.value)
        and _differ(newer.value, older.value)
    )


def another_diet(newer: Claim, older: Claim) -> bool:
    """I am vegetarian / I am vegan now."""
    return (
        newer.relation == older.relation == "diet"
        and not (newer.negative or older.negative)
        and _diets(newer) <= vocabulary.EATING_DIETS
        and _diets(older) <= vocabulary.EATING_DIETS
        and _diets(newer) != _diets(older)
    )


def diet_and_food(newer: Claim, older: Claim) -> bool:
    """I love steak / I am vegetarian."""
    for diet, food in ((newer, older), (older, newer)):
        if diet.relation == "diet" and food.relation in _FOOD_RELATIONS and not (diet.negative or food.negative):
            forbidden = frozenset().union(*(vocabulary.DIETS[name] for name in _diets(diet)))
            if _groups(food.topic) & forbidden:
                return True
    return False


def opposite_liking(newer: Claim, older: Claim) -> bool:
    """I love coffee / I don't drink coffee any more; I eat steak / I gave up meat."""
    if (
        newer.relation not in _FOOD_RELATIONS
        or older.relation not in _FOOD_RELATIONS
        or newer.negative == older.negative
    ):
        return False
    positive, negative = (older, newer) if newer.negative else (newer, older)
    if positive.relation == "habit" and negative.relation == "affinity":
        return False  # One may do what one dislikes.
    if positive.topic == negative.topic:
        return True
    names = {name for name in _groups(negative.topic) if negative.topic == {canon(name)}}
    return bool(names & _groups(positive.topic))


def given_up(newer: Claim, older: Claim) -> bool:
    """I smoke five cigarettes a day / I quit smoking: who gives up a habit does none of it any more."""
    return (
        newer.relation == older.relation == "habit"
        and newer.negative
        and newer.change
        and not older.negative
        and len(newer.topic) == 1
        and newer.topic < older.topic
    )


def opposite_preference(newer: Claim, older: Claim) -> bool:
    """I prefer window seats / I prefer aisle seats; tea to coffee / coffee to tea."""
    return (
        newer.relation == older.relation == "preference"
        and not newer.additive
        and newer.topic == older.topic
        and _differ(newer.value, older.value)
    )


def denied(newer: Claim, older: Claim) -> bool:
    """I am allergic to nuts / I am no longer allergic to nuts; I can drive / I can't drive.

    An allergy is never taken back by liking the food: being wrong here could harm someone.
    """
    return (
        newer.relation == older.relation
        and newer.relation in {"allergy", "trait", "state"}
        and newer.negative != older.negative
        and newer.topic == older.topic
    )


def cancelled(newer: Claim, older: Claim) -> bool:
    """We are planning a trip to Hawaii / the Hawaii trip is cancelled."""
    return (
        newer.relation == older.relation == "plan"
        and newer.negative
        and not older.negative
        and bool(_strong(newer.topic))
        and _strong(newer.topic) <= older.topic
    )


def another_tool(newer: Claim, older: Claim) -> bool:
    """We deploy with Helm / we switched to Kustomize: the same work, or the tool that was named as left."""
    if not newer.relation == older.relation == "tool" or newer.negative or older.negative or newer.additive:
        return False
    if not _differ(newer.value, older.value):
        return False
    if newer.replaced is not None:
        return _agree(newer.replaced, older.value)
    kinds = [{word for word in claim.topic if word.startswith("#")} for claim in (newer, older)]
    purposes = [claim.topic - kind - {"tool"} for claim, kind in zip((newer, older), kinds, strict=True)]
    if newer.change:
        unlike = purposes[0] and purposes[1] and not purposes[0] & purposes[1]
        return bool(kinds[0] & kinds[1] or purposes[0] & purposes[1]) and not (
            unlike and not _same_work(purposes, kinds)
        )
    return bool(purposes[0]) and purposes[0] == purposes[1] and (kinds[0] == kinds[1])


def _same_work(purposes: list[frozenset[str]], kinds: list[set[str]]) -> bool:
    """Whether purposes in other words are the work of the tools' own kind ("deploy" for cluster deployment)."""
    work = {canon(word) for kind in kinds[0] & kinds[1] for word in kind.removeprefix("#").split()}
    return all(
        any(word in work or any(word[:5] == other[:5] for other in work) for word in purpose) for purpose in purposes
    )


def rearranged(newer: Claim, older: Claim) -> bool:
    """We fly out on 12 March / we now fly out on 19 March: only if said as a change, for there may be two journeys."""
    return (
        newer.relation == older.relation
        and newer.relation in {"journey", "routine"}
        and newer.change
        and not newer.additive
        and newer.topic == older.topic
        and _differ(newer.value, older.value)
    )


def left_behind(newer: Claim, older: Claim) -> bool:
    """Our registry is Harbor / we switched from Harbor to another: the newer one names what it leaves."""
    return (
        {newer.relation, older.relation} == {"tool", "attribute"}
        and not (newer.negative or older.negative)
        and newer.replaced is not None
        and _agree(newer.replaced, older.value)
    )


_RULES: tuple[Rule, ...] = (
    another_value, another_place, denied_value, replaced_value, another_diet, diet_and_food, opposite_liking, given_up,
    opposite_preference, denied, cancelled, rearranged, left_behind, another_tool,
)  # fmt: skip


def _differ(one: Value | None, two: Value | None) -> bool:
    if one is None or two is None:
        return False
    if one.kind == two.kind == "text" and _levels(one) != _levels(two):
        return False
    return one.compare(two) == "different"


def _agree(one: Value | None, two: Value | None) -> bool:
    return one is not None and two is not None and (
        one.compare(two) == "same" or (one.kind == two.kind == "text" and bool(one.core) and one.core <= two.core)
    )  # fmt: skip


def _levels(value: Value) -> bool:
    """Whether a place is a country or state: one may live in Portugal and in Porto."""
    return value.said.lower() in vocabulary.COUNTRIES


def _diets(claim: Claim) -> set[str]:
    return {entry for entry in claim.value.core if isinstance(entry, str)} if claim.value else set()


@cache
def _food_groups() -> dict[str, frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for group, foods in vocabulary.FOODS.items():
        for food in foods:
            groups.setdefault(canon(food), set()).add(group)
    return {food: frozenset(names) for food, names in groups.items()}


@cache
def _meatless() -> frozenset[str]:
    return frozenset(canon(word) for word in vocabulary.MEATLESS)


def _groups(topic: frozenset[str]) -> frozenset[str]:
    """The food groups that a topic belongs to; none for a substitute ("vegan burgers", "oat milk")."""
    if topic & _meatless():
        return frozenset()
    known = _food_groups()
    return frozenset().union(*(known.get(word, frozenset()) for word in topic))
