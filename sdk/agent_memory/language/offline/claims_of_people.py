"""Claims about people: who they are, where they live and work, what they have and plan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from agent_memory.language.offline import lexicon, values, vocabulary
from agent_memory.language.offline.claims import Claim, Reader, Relation
from agent_memory.language.offline.grammar import Clause
from agent_memory.language.offline.phrases import (
    aside_topic,
    head_words,
    kind_mark,
    place,
    stems,
    text_value,
    without_times,
)
from agent_memory.language.offline.text import canon, content_stems
from agent_memory.language.offline.values import Value
from agent_memory.text.patterns import Bounded, bounded, plain_words

_RATE = bounded(
    r"\b(?:[\w.]+ (?:days?|hours?|times?|nights?)|once|twice) (?:a|per|each|every) (?:day|night|week|month|year)\b.*"
    r"|\b\d+\w*/week\b.*"
)
_DAILY = bounded(
    r"(?P<amount>\d[\d.,]* ?(?P<unit>[a-z]+)) (?:of \w+ )?(?:every|each|a|per) (?:day|morning|night|evening|week)\b"
)
_MONEY = bounded(r"[$€£]|\b(?:dollars|euros|pounds)\b")
_TO_SPEND = bounded(r"\bto spend\b(?: on)? ?(.*)|^(?:up to|at most|max\w*) .* on (.+)|^an? .*?budget .*?for (.+)")
_COUNTED = bounded(
    r"(?:only )?(?:\d{1,2}|" + "|".join(lexicon.NUMBERS) + r") (?:[a-z]+ )?"
    r"(kids?|children|sons?|daughters?|siblings?|brothers?|sisters?|employees|people)\b"
)  # fmt: skip
_MOVE = bounded(r"(?:\w+ )?(?:(?:back|over|out|down|up) )?(?:from (?P<old>.+?) )?(?:here )?(?:to|into) (?P<new>.+)")
_HAVING_NAMED = bounded(r"an? (?:\w+ )?(?P<who>[a-z-]+) (?:named|called) (?P<name>[A-Z]\w*)")
_ROLE = bounded(
    r"(?:\w+ )?(?:promoted )?(?:to |working as )?(?:an? |the )?((?:[\w-]+ ){0,3}?[\w-]+)(?= (?:at|for|in|with)\b|,|$)"
)
_AS_ROLE = bounded(r"\bas (?:an? |the )?(.+)")
_IN_DEPARTMENT = bounded(r"^(?:\w+ )?in (.+)", re.I)
_TO_DEPARTMENT = bounded(rf"(?:over )?to (?:the )?({plain_words(vocabulary.DEPARTMENTS)}\b.*)", re.I)
_JOINED = bounded(r"(?:^|\bat |\bwith )((?:the )?[A-Z][\w&-]*.*)")
_TO_MANAGER = bounded(r"(?:\w+ )?to ([A-Z]\w+.*)")
_FROM = bounded(r"\bfrom ([A-Z][\w ]+)")
_FIRST_NAME = bounded(r"[A-Z][a-z]+")
_DUES = bounded(r"\b(rent|mortgage|tuition)\b")
_PAID_FOR = bounded(r"\b(?:in|for) (?:the |my )?(\w+)")
_AT_EMPLOYER = bounded(r"\b(?:at|for) ((?:the )?[A-Z].*)")


def _residence(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """I live in Porto; we moved from Lisbon to Porto; I am based in Oslo."""
    if clause.thing or clause.time == "ahead":
        return
    after = " ".join(clause.rest)
    old = None
    moved = clause.verb in {"move", "reloc"}
    if moved and not _is_ahead(after, said_at):
        match = _MOVE.match(after)
        new = place(match["new"]) if match else None
        origin = match["old"] if match and match["old"] else (_FROM.findall(after) or [""])[0]
        old = place(origin)
    elif clause.time == "past":
        return
    elif clause.verb in {"live", "resid", "settl"}:
        match = bounded(r"(?:\w+ )?(?:in|at) (.+)").match(after)
        new = place(match[1]) if match else None
    elif clause.verb == "be":
        match = bounded(r"(?:based|living|located|settled) (?:in|out of) (.+)").match(after)
        new = place(match[1]) if match else None
    else:
        return
    if new and not (moved and (new.said.lower() in vocabulary.DEPARTMENTS or kind_mark(new))):
        yield Claim(clause.owner, "attribute", frozenset({"residence"}), new, clause.negative, moved, replaced=old)


def _is_ahead(text: str, said_at: datetime) -> bool:
    """Whether a text names a time still to come ("moving to Porto next month")."""
    when = values.read_time(text, said_at)
    return bool(when and when.first and when.first > said_at)


def _workplace(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """I work at Nuvela as a nurse; I joined Acme; I left Acme; I moved to Sales; I report to Ana."""
    if clause.thing or clause.time == "ahead":
        return
    after = " ".join(clause.rest)
    patterns: dict[str, Bounded] = {}
    gone = False
    if clause.verb == "work" and clause.time != "past":
        patterns = {"employ": _AT_EMPLOYER, "role": _AS_ROLE, "depart": _IN_DEPARTMENT}
    elif clause.verb in {"join", "leav", "quit"} or (clause.verb == "start" and bounded(r"\bat [A-Z]").search(after)):
        patterns = {"employ": _JOINED}
        gone = clause.verb in {"leav", "quit"}
    elif clause.verb in {"move", "transfer", "switch"}:
        patterns = {"depart": _TO_DEPARTMENT}
    elif clause.verb == "report":
        patterns = {"manag": _TO_MANAGER}
    for attribute, pattern in patterns.items():
        match = pattern.search(after)
        value = text_value(match[1]) if match else None
        if value:
            changed = clause.verb not in {"work", "report"}
            yield Claim(clause.owner, "attribute", frozenset({attribute}), value, clause.negative != gone, changed)


def _name(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """I am Sarah from Marketing; my name is Sarah."""
    after = " ".join(clause.rest)
    if clause.negative or clause.time != "now":
        return
    pet = _HAVING_NAMED.match(after) if clause.verb == "have" else None
    if pet and pet["who"].lower() in vocabulary.KIN:
        yield Claim(f"{clause.owner}.{canon(pet['who'].lower())}", "kin", frozenset({"name"}), text_value(pet["name"]))
    if clause.verb == "name" and "." in clause.owner and after[:1].isupper():
        yield Claim(clause.owner, "kin", frozenset({"name"}), text_value(after))
    if clause.verb != "be":
        return
    if [word.lower() for word in clause.thing] == ["name"]:
        value = text_value(after)
        if value and value.said[0].isupper():
            # One may have two dogs, but only one name.
            relation: Relation = "attribute" if "." not in clause.owner else "kin"
            yield Claim(clause.owner, relation, frozenset({"name"}), value)
    elif not clause.thing and (
        match := bounded(r"([A-Z][a-z]+(?: [A-Z][a-z]+)?) (?:from|in|with|at) ([A-Z].*)").match(after)
    ):
        yield Claim(clause.owner, "attribute", frozenset({"name"}), values.read_text(match[1].split()))
        if match[2].split()[0].lower() in vocabulary.DEPARTMENTS:
            yield Claim(clause.owner, "attribute", frozenset({"depart"}), text_value(match[2]))
    elif not clause.thing and _FIRST_NAME.fullmatch(after) and after.lower() not in vocabulary.NOT_FIRST_NAMES:
        yield Claim(clause.owner, "attribute", frozenset({"name"}), values.read_text([after]))


def _role(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """I am a data engineer at Nuvela; I got promoted to team lead."""
    promoted = clause.verb in {"becom", "promot"} or (clause.verb == "get" and "promoted" in clause.after)
    plain = clause.verb == "be" and clause.time == "now" and not clause.after.startswith(("my ", "our "))
    if clause.thing or not (promoted or plain):
        return
    match = _ROLE.match(clause.after)
    words = match[1].split() if match else []
    if not words or (words[-1] not in vocabulary.JOBS and not (promoted and words[-1] in {"lead", "head", "manager"})):
        return
    yield Claim(clause.owner, "attribute", frozenset({"role"}), values.read_text(words), clause.negative, promoted)
    employer = _AT_EMPLOYER.search(" ".join(clause.rest))
    value = text_value(employer[1]) if employer else None
    if value and not clause.negative:
        yield Claim(clause.owner, "attribute", frozenset({"employ"}), value)


def _figures(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """I am 34; I weigh 80 kg; I earn $90k; I pay $1,200 in rent; I have two kids; I work four days a week."""
    if clause.thing or clause.time in {"past", "ahead"}:
        return
    number = values.read_number(bounded(r",(?!\d)| and | but | because ").split(clause.after)[0])
    if number is None:
        return
    topic = _figure_topic(clause)
    if topic == {"age"}:
        number = values.read_number(f"{clause.after.split()[0]} years") or number
    if topic:
        yield Claim(clause.owner, "attribute", topic | aside_topic(clause), number, clause.negative)
        yield from _routine(clause, said_at)


def _figure_topic(clause: Clause) -> frozenset[str]:
    """What a number in the predicate is a number of."""
    after = clause.after
    if _MONEY.search(after) and (spending := _TO_SPEND.search(after)):
        purpose = next((group for group in spending.groups() if group), "")
        return frozenset({"budget"}) | stems(head_words(purpose.split()))
    match clause.verb:
        case "be" if group := bounded(r"an? (team|group|company|class|crew|household|family) of ").match(after):
            return frozenset({canon(group[1]), "size"})
        case "be" if bounded(r"\d{1,3}(?: years? old)?$|\d{1,3} years? old").match(after):
            return frozenset({"age"})
        case "weigh":
            return frozenset({"weight"})
        case "earn" | "make" if bounded(r"[$€£]|k\b|a year|a month").search(after):
            return frozenset({"salari"})
        case "pay":
            named = _DUES.search(after) or _PAID_FOR.search(after)
            return stems([named[1]]) if named else frozenset()
        case "have":
            counted = _COUNTED.match(after)
            return frozenset({"count", canon(counted[1])}) if counted and not clause.negative else frozenset()
        case "take" | "use" if dose := bounded(r"\d[\d.,]* ?(?:mg|ml|g|mcg|iu|units) of (.+)").match(after):
            return frozenset({"dose"}) | stems(head_words(dose[1].split()))
    if not _RATE.search(after):
        return frozenset()
    doing = frozenset({canon(clause.verb)}) if clause.verb not in {"do", "go", "be", "have", "come"} else frozenset()
    return stems(_RATE.sub("", after).split()) | doing


def _belongings(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """I drive a Tesla; I am single; I got married; we are getting married in June."""
    if clause.thing or clause.time == "ahead":
        return
    if clause.verb == "get" and clause.time == "now" and (wedding := bounded(r"married (.+)").match(clause.after)):
        when = values.read_time(wedding[1], said_at)
        if when:
            yield Claim(clause.owner, "attribute", frozenset({canon("wedding")}), when, clause.negative)
    word = next((status for status in vocabulary.RELATIONSHIPS if bounded(rf"{status}\b").match(clause.after)), "")
    if clause.verb == "drive" and clause.time == "now":
        match = bounded(r"(?:an? |my )?((?:\w+ )?[A-Z][\w-]+(?: [\w-]+)?)$").match(" ".join(clause.rest))
        value = values.read_text(match[1].split()) if match else None
        if value:
            yield Claim(clause.owner, "attribute", frozenset({"car"}), value, clause.negative)
    elif word and (clause.verb, clause.time) in {("be", "now"), ("get", "past")}:
        status = Value("text", frozenset({word}), word, shown=word)
        yield Claim(clause.owner, "attribute", frozenset({"marital"}), status, clause.negative, clause.verb == "get")


def _journey(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """We fly out on 12 March and are back on the 22nd."""
    after = clause.after
    back = clause.verb in {"return", "com", "fli", "be", "get"} and bounded(r"(?:back|home)\b").match(after)
    out = clause.verb in {"fli", "leav", "depart", "head", "travel"} and not back
    if clause.thing or clause.time == "past" or not (back or out or clause.verb == "return"):
        return
    when = values.read_time(bounded(r"\band\b").split(after)[0], said_at)
    if when and when.kind == "date":
        goal = bounded(r"\bto ([A-Z][\w-]*)").search(" ".join(clause.rest))
        side = "depart" if out else "return"
        yield Claim(clause.owner, "journey", frozenset({side}) | (stems([goal[1]]) if goal else frozenset()), when)


def _kin(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """Leo is my partner: who somebody is, which never excludes anything."""
    match = bounded(r"(?:my|our) (?:\w+ )?(\w+)$").match(clause.after)
    if clause.verb == "be" and match and match[1] in vocabulary.KIN and clause.owner not in {"self", "it"}:
        yield Claim(clause.owner, "kin", frozenset({canon(match[1])}), None, clause.negative)


def _trait(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """I am left-handed; my partner is a microbiologist."""
    if clause.verb != "be" or clause.time != "now" or clause.thing:
        return
    word = bounded(r"(?:an? )?((?:[\w-]+ )?[\w-]+)$").match(clause.after)
    last = word[1].split()[-1] if word else ""
    if last in vocabulary.TRAITS | vocabulary.NOT_FIRST_NAMES or last.endswith(vocabulary.JOB_ENDINGS):
        yield Claim(clause.owner, "trait", stems([last]), None, clause.negative)


def _routine(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """I work from home on Tuesdays and Thursdays; I run 5 km every morning."""
    if clause.thing or clause.time == "past" or clause.verb in {"be", "have", ""}:
        return
    amount = _DAILY.match(clause.after)
    if amount:
        topic = stems([amount["unit"]]) | {canon(clause.verb)}
        yield Claim(clause.owner, "routine", topic, values.read_number(amount["amount"]), clause.negative)
    when = values.read_time(clause.after, said_at)
    if when and when.kind == "weekday":
        doing = bounded(r"\b(?:on|every|each)\b|:").split(clause.after)[0]
        topic = stems(_RATE.sub("", doing).split()) | {canon(clause.verb)}
        yield Claim(clause.owner, "routine", topic, when, clause.negative)


def _plan(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """I am planning a trip to Hawaii; we cancelled the Hawaii trip; the trip is cancelled."""
    cancelled = clause.verb in {"cancel", "scrap"} or (clause.verb == "call" and clause.rest[-1:] == ("off",)) or (
        clause.verb == "be" and clause.after.startswith(("cancelled", "canceled", "called off", "off"))
    )  # fmt: skip
    if not cancelled and (clause.verb not in {"plan", "book", "organ", "arrang", "prepar"} or clause.thing):
        return
    topic = stems(clause.thing or clause.rest) - {"off", "cancel"}
    if topic and len(topic) <= 8:
        yield Claim(clause.owner, "plan", topic | aside_topic(clause), None, clause.negative != cancelled, cancelled)


def _state(clause: Clause, said_at: datetime) -> Iterator[Claim]:
    """Any other plain yes-or-no statement: compared only with its exact denial."""
    if clause.owner == "it" or not clause.rest or clause.time in {"past", "wish"}:
        return
    topic = content_stems(without_times(" ".join((*clause.thing, *clause.rest))))
    doing = {canon(clause.verb)} - {"be", "have", ""} | ({"ahead"} if clause.time == "ahead" else set())
    if 0 < len(topic) <= 6:
        yield Claim(clause.owner, "state", topic | doing, None, clause.negative)


PEOPLE: tuple[Reader, ...] = (
    _name, _workplace, _residence, _role, _figures, _routine, _belongings, _journey, _plan,
)  # fmt: skip
"""Readers of what people say of themselves and others; the first that finds something has it."""

WISHES: tuple[Reader, ...] = (_journey,)
"""Readers of what is only wanted or planned."""

TRAITS: tuple[Reader, ...] = (_kin, _trait)
"""Readers of what people are to others and in themselves."""

STATES: tuple[Reader, ...] = (_state,)
"""Reader of any other statement that has a denial, tried when all others found nothing."""
