"""Finds, among the facts of one user, those that say the same and those that exclude each other."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent_memory.language.offline import claims as reading, foreign, lexicon, values
from agent_memory.language.offline.claims import BACK, ENDED, ONE_AT_A_TIME, Claim, Verdict
from agent_memory.language.offline.endings import Permission, lifts, permission, prohibition, withdrawn
from agent_memory.language.offline.foreign import Told
from agent_memory.language.offline.grammar import is_one_of_many
from agent_memory.language.offline.speech import is_standing_order
from agent_memory.language.offline.text import canon, canons, content_stems, expand, stems, tokens
from agent_memory.language.offline.values import Core, Value
from agent_memory.language.tasks import Contradiction, Duplicates, FactView, ReconcileInput, ReconcileOutput
from agent_memory.text import dates
from agent_memory.text.patterns import bounded
from agent_memory.text.restated import restates

_WEAK = canons(lexicon.WEAK_TOPICS)
_PLAIN_FRAMES = stems(lexicon.TOOL_VERBS | lexicon.words("tool live work")) | _WEAK
_PARTNERS = canons(lexicon.words("wife husband partner spouse fiance fiancé fiancee fiancée girlfriend boyfriend"))
_PETS = canons(lexicon.words("dog cat puppy kitten rabbit hamster parrot horse pet roommate flatmate housemate tenant"))
_FAMILY = canons(lexicon.KIN) - _PARTNERS - _PETS
"""Who stays who they are, whatever they leave."""
_ALONE = lexicon.words("single divorced widowed separated")
_PARTED = Claim("self", ENDED, change=True, replaced=values.text(""))
_MEASURES = canons(lexicon.MEASURES)
_INTOLERANT = canons(lexicon.words("allergic allergy intolerant intolerance"))
_FILLERS = canons(
    lexicon.ADVERBS | lexicon.CHANGING | lexicon.words("big huge fan name call live base date day report")
)
"""Stems that do not make another statement: adverbs, and what a claim implies ("is named")."""
_SPEAKER = bounded(r"^[^:]{1,40}: ")
_FROM_NOW = bounded(r"\b(?:from now on|always)\b", re.I)
_SHORTEST_CHOICE = 3
"""Words of a standing instruction whose choice can be told from the rest. A choice."""
_UNCHOSEN = lexicon.words("a an the please now from on instead always")
_FORBIDDING = bounded(r"\b(?:not|never|no|without)\b", re.I)
_FORMING = canons(lexicon.COMMANDS)
_MOST_LEFT = 3
"""Words of an instruction that a withdrawal need not repeat: its verb, and for what. A choice."""
_CHOICES = (
    lexicon.words("english german french spanish italian portuguese dutch polish russian chinese japanese korean"),
    lexicon.words("aisle window middle"),
    lexicon.words("metric imperial"),
    lexicon.words("short long brief detailed"),
    lexicon.words("celsius fahrenheit"),
    lexicon.words("tabs spaces"),
    lexicon.words("formal informal"),
)
"""Words of which an instruction can choose one. A choice."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact with what the rules read in it.

    Attributes:
        choice: The words of a standing instruction that forbids nothing; none for other facts.
        allowed: What it allows.
        forbidden: The words of what it forbids.
        withdrawn: The stems of an instruction that it takes back.
        figures: Its dates, clock times and amounts.
        foreign: What it says, if it is in another language than English.
    """

    fact: FactView
    claims: tuple[Claim, ...]
    times: tuple[str, ...]
    stems: frozenset[str]
    choice: tuple[str, ...] = ()
    allowed: Permission | None = None
    forbidden: tuple[str, ...] = ()
    withdrawn: frozenset[str] = frozenset()
    foreign: tuple[Told, ...] = ()
    figures: Core = frozenset()


def reconcile(data: ReconcileInput) -> ReconcileOutput:
    """One pass over all facts. Every loser of a contradiction is named once, with the next fact that replaced it."""
    newest_first = sorted(data.facts, key=lambda fact: fact.said_at, reverse=True)
    statements = _with_presumed_topics([read(fact) for fact in newest_first])
    losers: dict[str, Contradiction] = {}
    for at, older in enumerate(statements):
        for newer in reversed(statements[:at]):
            verdict = contradiction(newer, older)
            if verdict:
                refs = [newer.fact.ref, older.fact.ref]
                losers[older.fact.ref] = Contradiction(refs=refs, reason=verdict)
                break
    standing = [statement for statement in statements if statement.fact.ref not in losers]
    return ReconcileOutput(duplicates=_groups(standing), contradictions=list(losers.values()))


def read(fact: FactView) -> Statement:
    """Reads one fact."""
    text = fact.content
    moments = dates.find(text, fact.said_at)
    times = tuple(moment.label for moment in moments)
    told = foreign.told(_SPEAKER.sub("", text), fact.said_at)
    claims, forbidden = () if told else reading.read(text, fact.said_at), prohibition(text)
    gone = content_stems(withdrawn(text) or "") - _FORMING
    figures = values.figures(text, moments)
    return Statement(
        fact, claims, times, content_stems(text), _choice(text), permission(text), forbidden, gone, told, figures
    )


def _with_presumed_topics(statements: list[Statement]) -> list[Statement]:
    """The statements, those that change a bare attribute being about the only one that the others know."""
    known = [claim for statement in statements for claim in statement.claims]

    def completed(claim: Claim) -> Claim:
        topic = presumed_topic(claim, (one for one in known if one.owner == claim.owner))
        return claim if topic == topic_key(claim.topic) else dataclasses.replace(claim, topic=topic)

    return [dataclasses.replace(statement, claims=tuple(map(completed, statement.claims))) for statement in statements]


def contradiction(newer: Statement, older: Statement) -> Verdict | None:
    """Whether two facts cannot both be true now. A fact that claims more than what is excluded stays."""
    if (newer.allowed and lifts(newer.allowed, older.forbidden)) or _is_other_choice(newer.choice, older.choice):
        return "update"
    if newer.withdrawn and newer.withdrawn <= older.stems and is_standing_order(older.fact.content):
        return "update" if not older.withdrawn and len(older.stems - newer.withdrawn) <= _MOST_LEFT else None
    if newer.foreign and older.foreign:
        replaced = (any(foreign.replaces(new, old) for new in newer.foreign) for old in older.foreign)
        return "update" if all(replaced) else None
    about = older.stems
    told = [claim for claim in older.claims if claim.topic != ENDED]
    changes = [claim for claim in newer.claims if claim.topic != ENDED or _gone(claim) <= about]
    if not told:
        gone = [_gone(claim) for claim in changes if claim.topic == ENDED and claim.owner == "self"]
        is_over = any(one and len(about - one) <= 1 for one in gone)
        return "update" if is_over and not about & _FAMILY else None
    verdicts = [[found for one in changes if (found := excludes(one, two))] for two in told]
    return verdicts[0][0] if verdicts and all(verdicts) else None


def _gone(claim: Claim) -> frozenset[object]:
    """The stems of what a claim says is over; all of them must be in the statement that it ends."""
    return frozenset(claim.replaced.core) if claim.replaced and claim.replaced.said else frozenset()


def _is_other_choice(newer: Sequence[str], older: Sequence[str]) -> bool:
    """Whether two standing instructions differ in one word only, with which each makes another choice.

    "Always book me a window seat" replaces "… an aisle seat", and "… in German" replaces "… in English".
    """
    if len(newer) != len(older) or len(newer) < _SHORTEST_CHOICE:
        return False
    pairs = [{new, old} for new, old in zip(newer, older, strict=True) if new != old]
    return len(pairs) == 1 and any(pairs[0] <= choices for choices in _CHOICES)


def _choice(text: str) -> tuple[str, ...]:
    if _FORBIDDING.search(expand(text)) or not (is_standing_order(text) or _FROM_NOW.search(text)):
        return ()
    words = (word.lower() for word in tokens(text.partition(": ")[2] or text))
    return tuple(word for word in words if word not in _UNCHOSEN)


def duplicates(one: Statement, two: Statement) -> bool:
    """Whether two facts say the same: in the same words but for small ones, or claim for claim with nothing left over.

    Likeness of spelling is no reason: "visits on 14 March" and "visits on 21 March" look the same and are two facts.
    """
    if one.times == two.times and restates(one.fact.content, two.fact.content) == "duplicate":
        return True
    if not one.claims or len(one.claims) != len(two.claims) or _left_over(one) != _left_over(two):
        return False
    return all(same_claim(first, second) for first, second in zip(one.claims, two.claims, strict=True))


def _left_over(statement: Statement) -> frozenset[object]:
    """The stems and figures of a statement that its claims do not cover."""
    said = [one for claim in statement.claims for one in claim.values]
    cores = frozenset[object]().union(*(one.core for one in said))
    covered = cores.union(*(claim.topic for claim in statement.claims))
    words = frozenset(filter(str.isalpha, statement.stems)) - covered - _FILLERS
    told = {one.hour for one in said} | {values.without_year(core) for core in cores if isinstance(core, str)}
    return words | (statement.figures - cores - told)


def _groups(statements: list[Statement]) -> list[Duplicates]:
    groups: list[list[Statement]] = []
    for statement in statements:
        known = next((group for group in groups if any(duplicates(statement, other) for other in group)), None)
        if known is None:
            groups.append([statement])
        else:
            known.append(statement)
    return [
        Duplicates(refs=[statement.fact.ref for statement in group], content=group[0].fact.content)
        for group in groups  # the newest first: of two that differ in a word, it is how it is now
        if len(group) > 1
    ]


def excludes(newer: Claim, older: Claim) -> Verdict | None:
    """Whether two claims cannot both be true now: "update" if the newer one says or implies a change."""
    if newer.topic == ENDED:
        return "update" if _is_over(newer, older) else None
    if newer.topic == {"marit"} and {value.said for value in newer.values} & _ALONE and _is_over(_PARTED, older):
        return "update"
    if not _same_owner(newer.owner, older.owner) or is_one_of_many(newer.owner):
        return None
    if newer.hedged and not older.hedged:
        return None
    if not (_is_food_of_another_diet(newer, older) or _is_eaten_again(newer, older) or _excludes(newer, older)):
        return None
    counted = any(value.kind != "text" for value in newer.values)
    return "update" if newer.change or counted else "contradict"


def _excludes(newer: Claim, older: Claim) -> bool:
    if _ends(newer, older) or _is_other_version(newer, older):
        return True
    denied = newer.negative and not older.negative
    if denied and newer.change and newer.topic < older.topic and "love" not in newer.topic:
        # Who no longer uses it, no longer uses it for anything.
        return all(any(_agree(one, two) for two in older.values) for one in newer.values if one.kind == "text")
    if not same_topic(newer.topic, older.topic):
        return False
    pairs = [(one, two) for one in newer.values for two in older.values if one.kind == two.kind]
    if newer.negative != older.negative:
        return all(_agree(one, two) for one, two in pairs) and len(newer.values) <= len(older.values)
    if newer.negative or newer.additive:
        return False
    if newer.topic == {"use"} and newer.replaced and not any(_agree(newer.replaced, one) for one in older.values):
        return False  # one uses many things, and this one was not named: "switched from Harbor to …" keeps the Mac
    differing = [one for one, two in pairs if one.compare(two) == "different"]
    single = (newer.lasting and older.lasting) or newer.change
    # One may live in Portugal and in Porto, and speak two languages.
    named = bool(newer.topic & ONE_AT_A_TIME) and bool(differing) and differing[0].kind == "text"
    return len(differing) == 1 and single and (newer.change or not named)


def _same_owner(one: str, two: str) -> bool:
    """Whether both are of the same person: "self.sister.jean" is "jean"."""
    short, long = sorted((one, two), key=len)
    return one == two or (
        short != "self" and "." not in short and long.startswith("self.") and long.endswith(f".{short}")
    )


def _is_over(newer: Claim, older: Claim) -> bool:
    """Whether what the newer claim says is over is what the older one is about."""
    gone = newer.replaced.core if newer.replaced else frozenset()
    # Anna may be over as the name of my girlfriend; what is my brother's goes on.
    related = older.topic | {older.owner.rpartition(".")[2]}
    is_self = newer.owner == "self" and (older.owner == "self" or "name" in older.topic) and not related & _FAMILY
    if older.negative or not (is_self or _same_owner(newer.owner, older.owner)):
        return False
    if newer.replaced and not newer.replaced.said:
        return older.owner.rpartition(".")[2] in _PARTNERS and "name" in older.topic
    left = older.topic - gone - _PLAIN_FRAMES - {"name"}
    if len(left) > 1 or "favorit" in older.topic:
        return False
    named = [value.core for value in older.values if value.kind == "text"]
    if named:
        return all(core <= gone or gone <= core for core in named) and len(named) == len(older.values)
    return gone <= older.topic


def _ends(newer: Claim, older: Claim) -> bool:
    """Whether the newer claim names the older one's value as what is no longer so, and the older says no more."""
    gone = newer.replaced
    if gone is None or newer.negative or older.negative:
        return False
    if any(one.compare(two) == "same" for one in newer.values for two in older.values):
        return False
    if any(_agree(gone, value) for value in older.values):
        of_one, of_other = newer.topic - _PLAIN_FRAMES, older.topic - _PLAIN_FRAMES
        elsewhere = of_one and of_other and of_one.isdisjoint(of_other)  # "… for internal chat", "… with clients"
        return not elsewhere if gone.kind == "text" else bool((newer.topic & older.topic) - _WEAK)
    left = older.topic - {str(stem) for stem in gone.core} - newer.topic
    return gone.core < older.topic and not older.values and len(left) <= newer.change


def _is_other_version(newer: Claim, older: Claim) -> bool:
    """Whether a change gives another version of what the older claim names ("upgraded to Node 22")."""
    pairs = ((one, two) for one in newer.values for two in older.values if one.core != two.core)
    name = next((_unnumbered(one) for one, two in pairs if _unnumbered(one) == _unnumbered(two)), frozenset())
    return newer.change and bool(name) and len(older.topic - newer.topic - name) <= 1


def _unnumbered(value: Value) -> frozenset[str]:
    """The words of a name that ends in a version, without the version."""
    words = frozenset(str(word) for word in value.core if str(word).strip("v.0123456789"))
    return words if value.kind == "text" and len(words) < len(value.core) else frozenset()


def _is_food_of_another_diet(newer: Claim, older: Claim) -> bool:
    """I love steak / I am vegetarian."""
    for diet, food in ((newer, older), (older, newer)):
        if diet.topic == {"diet"} and "love" in food.topic and not (diet.negative or food.negative):
            groups = [group for value in diet.values for group in lexicon.DIETS.get(value.said, "").split()]
            foods = {canon(one) for group in groups for one in lexicon.FOODS[group]}
            return bool(food.topic & foods) and not food.topic & {canon(word) for word in lexicon.MEATLESS}
    return False


def _is_eaten_again(newer: Claim, older: Claim) -> bool:
    """Bea is allergic to eggs / Bea can eat eggs now."""
    eaten = newer.change and not newer.negative and "love" in newer.topic
    return eaten and bool(older.topic & _INTOLERANT) and newer.topic - {"love"} <= older.topic and not older.negative


def same_topic(one: frozenset[str], two: frozenset[str]) -> bool:
    """Whether two topics are one; words that add nothing ("trip", "project") may be missing on one side.

    They say what a favourite is one of.
    """
    return one == two if "favorit" in one & two else topic_key(one) == topic_key(two)


def topic_key(topic: frozenset[str]) -> frozenset[str]:
    """The part of a topic that tells it from others, equal for one topic in other words."""
    return topic - _WEAK or topic


def presumed_topic(claim: Claim, known: Iterable[Claim]) -> frozenset[str]:
    """The topic that a change presumes: "my budget is now $15,000" is about the one budget known.

    "I pushed the import to 04:00" is about the one import that has an hour. A claim that says nothing of a change,
    could be about several, or has a known value under its own topic ("my budget is $10,000") keeps its own.
    """
    own = topic_key(claim.topic)
    known = list(known)
    if not claim.change or not claim.values or not own:
        return own
    if any(topic_key(one.topic) == own and one.values and not one.change for one in known):
        return own
    sorts = {value.kind for value in claim.values} - {"text"}
    fitting = {
        topic_key(one.topic)
        for one in known
        if own < topic_key(one.topic)
        and topic_key(one.topic) - own != BACK
        and (own <= _MEASURES or (claim.lasting and one.lasting and sorts & {value.kind for value in one.values}))
    }
    return fitting.pop() if len(fitting) == 1 else own


def same_claim(one: Claim, two: Claim) -> bool:
    """Whether two claims say the same."""
    if (one.owner, one.negative, one.hedged) != (two.owner, two.negative, two.hedged):
        return False
    if len(one.values) != len(two.values) or not same_topic(one.topic, two.topic):
        return False
    return all(first.compare(second) == "same" for first, second in zip(one.values, two.values, strict=True))


def _agree(one: Value, two: Value) -> bool:
    nested = one.kind == two.kind == "text" and bool(one.core) and one.core <= two.core
    if not (one.hour and two.hour):  # who speaks of the day means it at any hour
        one, two = (dataclasses.replace(value, hour="") for value in (one, two))
    return one.compare(two) == "same" or nested
