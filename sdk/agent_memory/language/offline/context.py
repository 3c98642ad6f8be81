"""Makes a statement stand alone: the day a relative time means, the topic it lacks, the person a pronoun stands for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agent_memory.language.offline import lexicon, topics, vocabulary
from agent_memory.language.offline.claims import Claim
from agent_memory.language.offline.grammar import Clause, parse
from agent_memory.language.offline.kinds import requires
from agent_memory.language.offline.phrases import thing_topic, typed_value, weak_topics
from agent_memory.language.offline.statements import trimmed
from agent_memory.language.offline.text import canon, content_stems, straighten
from agent_memory.language.offline.verbs import is_past
from agent_memory.text import dates
from agent_memory.text.dates import Moment
from agent_memory.text.patterns import bounded, either, plain_words

_NAMED_MONTH = bounded(rf"\b{plain_words(lexicon.MONTHS)}\b", re.I)
_ANCHORED = bounded(r"^(?:next|last|this|coming|past)\b", re.I)
_ATTRIBUTE = plain_words(vocabulary.DEPENDENT)
_BARE_ATTRIBUTE = bounded(rf"^(?:(?:my|our|the) )?(?:\w+ )?({_ATTRIBUTE})\b(?= (?!for\b|of\b|on\b))", re.I)
_CHANGING = either("""
    raised increased lowered cut moved pushed changed set bumped reduced postponed rescheduled shifted extended
    dropped made make moving pushing raising
""")
_CHANGED_IT = bounded(
    rf"^(?:i|we|they) (?:have |just |had |are |am )*{_CHANGING} (?:it|(?:the|our|my) {_ATTRIBUTE})\b(?! (?:for|of)\b)",
    re.I,
)
_JOINT = bounded(r"[,;]\s+|\s+(?:and|but|so|because|while)\s+")
_TURNED = bounded(
    rf"\b(?:i|we)(?: \w+ly| just| have)? {either('stopped quit started began gave became turned switched')}\b", re.I
)
_ONWARD = bounded(
    r"\b(?:start|starts|starting|beginning|from|effective|due)\b(?: in| on)? [A-Za-z\d]+"
    rf"|\b{either('booked reserved scheduled arranged planned registered signed_up invited')}\b.* (?:for|on|from|in) ",
    re.I,
)
_SOME_ONE = bounded(r"\b(?:the|that|this) (?:\w+ )?one\b(?=[.,!]|$| (?:for|in|with|from|at|and|because)\b)", re.I)
_PERSON = bounded(rf"\b(?:[Mm]y|[Oo]ur) (?:\w+ )?{plain_words(vocabulary.KIN)}\b(?!')(?: [A-Z][a-z]+)?")
_HE_OR_SHE = bounded(r"(?:he|she)(?:\b(?!')|(?P<short>'s (?:been|got)|'s)\b)", re.I)
_WRITTEN_OUT = {"'s": " is", "'s been": " has been", "'s got": " has got"}
_PLACED = bounded(r"\b(?:at|in|on|from) (?:the )?[A-Z][\w'-]*\.?(?: [A-Z][\w'-]*)*")
_OF_SOMEBODY = bounded(r"\b(?:his|her|my|our)\b", re.I)
_PLURAL_KIN = bounded(r"(?:[^s]s|children|family|team|crew|band|parents)$")
_NEAREST = 12
"""Sentences before a statement in which the date that the talk is about is looked for."""
_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Dating:
    """From when and until when a statement is true, as far as it says so."""

    valid_from: datetime | None = None
    valid_to: datetime | None = None


def moments(text: str, said_at: datetime, nearest_first: Sequence[str] = ()) -> tuple[Moment, ...]:
    """The times that a statement names.

    A bare "Friday" or "June" lies behind or ahead as its own clause does; where the clause does not say, the nearest
    such month or day of a month is meant, and the next such weekday.
    """
    ahead = dates.find(text, said_at, "future")
    if not ahead:
        return ()
    near = _date_of_talk(nearest_first, said_at) if any(moment.phrase.startswith("the ") for moment in ahead) else None
    ahead = dates.find(text, said_at, "future", near)
    behind = {moment.start: moment for moment in dates.find(text, said_at, "past", near)}
    return tuple(_placed_in_time(text, moment, behind.get(moment.start, moment), said_at) for moment in ahead)


def _placed_in_time(text: str, ahead: Moment, behind: Moment, said_at: datetime) -> Moment:
    if ahead.first == behind.first or ahead.first is None or behind.first is None:
        return ahead
    clause_text = _clause_at(text, ahead.start)
    if not _ONWARD.search(text[: ahead.start + len(ahead.phrase)]) and _looks_back(clause_text):
        return behind
    if not _NAMED_MONTH.search(ahead.phrase) or _looks_ahead(clause_text):
        return ahead
    return behind if said_at - behind.first < ahead.first - said_at else ahead


def _looks_ahead(text: str) -> bool:
    """Whether a clause tells of what is to come."""
    clause = parse(text)
    return clause is not None and clause.time in {"ahead", "wish"}


def _date_of_talk(nearest_first: Sequence[str], said_at: datetime) -> datetime | None:
    """The last date with a month of its own that the talk before named."""
    named = (
        moment.first
        for text in nearest_first[:_NEAREST]
        for moment in reversed(dates.find(text, said_at))
        if moment.grain in {"day", "month"} and _NAMED_MONTH.search(moment.phrase)
    )
    return next(named, None)


def _clause_at(text: str, position: int) -> str:
    """The part of a sentence, between commas and conjunctions, in which a position lies."""
    starts = [match.end() for match in _JOINT.finditer(text) if match.end() <= position]
    ends = [match.start() for match in _JOINT.finditer(text) if match.start() >= position]
    part = text[starts[-1] if starts else 0 : ends[0] if ends else len(text)]
    return part if len(part.split()) > 3 else text


def _looks_back(text: str) -> bool:
    """Whether a clause tells of what was."""
    clause = parse(text)
    if clause is not None and clause.verb:
        return (clause.time == "past" or bool(_TURNED.search(text))) and not _ONWARD.search(text)
    return any(is_past(word) for word in bounded(r"[a-z]+").findall(text.lower())[:8] if word not in lexicon.EMOTIONS)


def dating(found: Sequence[Moment], claims: Sequence[Claim]) -> Dating:
    """What the times in a statement date: the statement itself, unless a time is the value that it states."""
    valued = any(claim.relation == "attribute" and claim.value and claim.value.kind == "date" for claim in claims)
    start = end = None
    for moment in found:
        if moment.first is None or moment.role == "by":
            continue
        if moment.role in {"until", "till", "through"} or (moment.role in {"to", "and"} and start is not None):
            end = end or (moment.first if moment.grain in {"month", "season", "year"} else moment.last)
        elif not valued and start is None:
            start = moment.first
    return Dating(start, end if end and (start is None or end > start) else None)


def with_dates(text: str, found: Sequence[Moment]) -> str:
    """The text with the date that each relative time means, in brackets behind it.

    A month or a day of a month without a year gets none: which year is meant is a guess, and stays out of the words.
    """
    for moment in sorted(found, key=lambda moment: -moment.start):
        if moment.first is None or not moment.named or moment.phrase.isdigit() or _is_year_guessed(moment):
            continue
        if moment.role == "from" and any(other.role == "to" for other in found):
            continue
        end = moment.start + len(moment.phrase)
        if not text[end:].lstrip().startswith(("(", "'", "’")):
            text = f"{text[:end]} ({moment.label}){text[end:]}"
    return text


def _is_year_guessed(moment: Moment) -> bool:
    return bool(_NAMED_MONTH.search(moment.phrase)) and not _ANCHORED.match(moment.phrase)


def with_topic(text: str, clause: Clause | None, nearest_first: Sequence[str]) -> str:
    """The text with the topic of the talk, if it lacks one: "My budget is …" → "My budget for the Hawaii trip is …"."""
    if clause is None or clause.asides:
        return text
    plain = straighten(text)
    dependent = _BARE_ATTRIBUTE.match(plain)
    if dependent and clause.thing and not (thing_topic(clause)[0] - {canon(dependent[1].lower())} - weak_topics()):
        topic = _nearest(nearest_first, attributes=False)
        if topic is None or not _fits(topic, dependent[1].lower()) or topic.lower() in plain.lower():
            return text
        if "'s" in topic:
            return _bracketed(text, topic)
        return f"{text[: dependent.end(1)]} for the {topic}{text[dependent.end(1) :]}"
    lacking = (
        (bounded(r"(?:it|that)\b", re.I).match(plain) and (_has_value(clause) or requires(text)))
        or _CHANGED_IT.match(plain)
        or (_SOME_ONE.search(plain) and clause.owner == "self")
    )
    if lacking and not topics.topics(plain):
        topic = _nearest(nearest_first, attributes=not _SOME_ONE.search(plain))
        if topic and not content_stems(topic) <= content_stems(plain):
            return _bracketed(text, topic)
    return text


def _nearest(nearest_first: Sequence[str], *, attributes: bool) -> str | None:
    """The topic that the nearest of the texts names; None if that one names several."""
    for text in nearest_first:
        found = (topics.narrowed(text) if attributes else []) or topics.topics(text)
        if found:
            fullest = max(found, key=lambda topic: len(content_stems(topic)))
            alike = all(content_stems(topic) <= content_stems(fullest) for topic in found)
            return fullest if alike else None
    return None


def _fits(topic: str, attribute: str) -> bool:
    """Whether a topic is of the sort that has the attribute: a trip has a budget, an exam no deadline."""
    heads = vocabulary.FITTING_TOPICS.get(vocabulary.DEPENDENT[attribute])
    return heads is None or any(word in heads for word in topic.lower().split())


def _has_value(clause: Clause) -> bool:
    """Whether a clause gives its subject an amount or a time; "one of the reasons" is none."""
    return (
        clause.rest[:1] != ("one",)
        and clause.verb in {"be", "cost", "start", "end", "take", "run", "last", "move", "chang"}
        and (typed_value(" ".join(clause.rest), "", _SOME_DAY) is not None)
    )


def _bracketed(text: str, topic: str) -> str:
    body = trimmed(text.rstrip(".!"))
    return f"{body} ({topic}){text[len(text.rstrip('.!')) :]}"


def with_person(text: str, before: str) -> str:
    """The text with a leading "he" or "she" named, if the sentence before it is about one person only."""
    match = _HE_OR_SHE.match(straighten(text))
    people = {found[0] for found in _PERSON.finditer(straighten(before))} or _subject_by_name(before)
    if match is None or len(people) != 1:
        return text
    person = people.pop()
    if _PLURAL_KIN.search(person) and " " in person:
        return text
    return f"{person[:1].upper()}{person[1:]}{_WRITTEN_OUT.get(match['short'], '')}{text[match.end() :]}"


def _subject_by_name(text: str) -> set[str]:
    """The first name that is the subject of a sentence, if the sentence names nobody besides, only places.

    What only is or has something may be a place itself ("Paris is lovely"), unless it is somebody's.
    """
    words = _PLACED.sub("", straighten(text)).split()
    clause = parse(text)
    named = bool(words) and words[0].isalpha() and words[0][0].isupper()
    if clause is None or not named or clause.owner != words[0].lower():
        return set()
    if clause.verb in {"be", "have"} and not _OF_SOMEBODY.search(text):
        return set()
    others = [word for word in words[1:] if word[0].isupper() and word.split("'")[0] != "I"]
    return set() if others else {words[0]}


def tidy(text: str) -> str:
    """A statement as a sentence of its own: a capital first, no dangling punctuation."""
    bare = trimmed(text.strip())
    return f"{bare[:1].upper()}{bare[1:]}"
