"""Finds when a statement is true, and writes the day that a relative time means into it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from agent_memory.language.offline import lexicon
from agent_memory.language.offline.grammar import Clause, parse
from agent_memory.language.offline.statements import trimmed
from agent_memory.language.offline.text import stem
from agent_memory.language.offline.verbs import is_past
from agent_memory.models import FactKind
from agent_memory.text import dates
from agent_memory.text.dates import Moment
from agent_memory.text.patterns import bounded, either, linear, plain_words

_NAMED_MONTH = bounded(rf"\b{plain_words(lexicon.MONTHS)}\b", re.I)
_ANCHORED = bounded(r"^(?:next|last|this|coming|past)\b", re.I)
_JOINT = bounded(r"[,;]\s+|\s+(?:and|but|so|because|while)\s+")
_ONWARD = bounded(r"\b(?:start|starts|starting|beginning|from|effective|due)\b(?: in| on)? [A-Za-z\d]+", re.I)
_BOOKED = bounded(
    rf"\b{either('booked reserved scheduled arranged planned registered signed_up invited')}\b"
    r".*(?: (?:for|on|from|in)|:) "
    r"|\b(?:was|were|been|got) (?:asked|invited|told|chosen|advised|requested) to [a-z]+ .*\b(?:on|in) ",
    re.I,
)
"""What comes before the time of something arranged or asked for: that time lies in the future."""
_PLAIN_PAST = bounded(
    rf"^(?:(?:and|but|so|then) )?(?:(?:i|we|he|she|they|(?-i:[A-Z][a-z]+)|(?:my|our|the) [a-z]+[^\Ws]) )?"
    rf"(?:(?:just|also|already|finally) )?{plain_words(lexicon.BASE_OR_PAST)}\b",
    re.I,
)
"""A verb whose past looks like its base: with a day of its own, it tells what was ("we cut over on Saturday")."""
_WAS_DONE = bounded(r"\b(?:was|were) (?!\w+ to\b)(?:(?!\b(?:and|but|so|because)\b)[^,;])*$", re.I)
"""What stands before a day on which something was done: "my card was charged on Saturday"."""
_SIDELONG = bounded(
    r"\b(?:because|after|before|when|while|which|who|whose|since (?:i|we|my|our|the|he|she|they)|than|unless|except"
    r"|instead of|rather than|used to)\b[^,;]*$|\b(?:not|said|told you|mentioned)(?: on| in)? $",
    re.I,
)
"""What stands before a time that is not when the statement itself is true."""
_DAY = rf"{plain_words(lexicon.WEEKDAYS)}s?"
_SPAN_OF_DAYS = linear(
    rf"\b{_DAY}(?:\s*,\s*{_DAY})*,?\s*(?:through|thru|till|to|until|-|–|and|or|&|/)\s*{_DAY}(?:\s*/\s*{_DAY})*\b"
    rf"|\b{_DAY}(?:\s*,\s*{_DAY}){{2,}}\b",
    re.I,
)
"""Days that come again: "Tuesday through Friday", "Monday, Wednesday, Friday"."""
_OF_A_WEEK = bounded(r",? (?:of )?(?:this|next|the coming) week\b", re.I)
_IS = bounded(r"\b(?:is|are|am) (?:[a-z]+(?:ed|en) )?(?:(?:due|on|in|at|by|until|till|from|for) ){0,2}$", re.I)
"""What stands before the time of something that is still to come: "my wife is due in February"."""
_AT_ITS_END = bounded(r"(?:the )?(?:end of|late)\b", re.I)
_MOVED = bounded(r"\b(?:moved|changed|shifted|pushed|rescheduled|postponed)\b", re.I)
_MOVED_TO = bounded(r"\bmoved (?:back |over |out |away )?to [a-z]", re.I)
_WORD_FIRST = bounded(r"[^\W\d_]+(?:['’][^\W\d_]+)?(?:[\s,;:!?]|$)")
_ARTICLES = frozenset("the a an my our his her their".split())
_WHOSE = bounded(r"\b(?:the|our|my|a|his|her|their|your|into|of)\s$", re.I)
_BEHIND_A_DAY = either("at in on of and or but to from before after is was will so because with for when that we i")
_OF_A_DAY = bounded(rf" (?!{_BEHIND_A_DAY}\b)[a-z]", re.I)
"""What surrounds a weekday that only says which of several things is meant: "the Saturday market", "into Sunday morning
yoga"."""
_WEEKDAY = bounded(rf"^{plain_words(lexicon.WEEKDAYS)}(?: (?:morning|afternoon|evening|night))?$", re.I)
_A = bounded(r"\ba\s$", re.I)
_ONCE = bounded(rf" {either('appointment interview wedding party funeral exam surgery operation viewing deadline')}\b")
"""What happens on one day only: "a Tuesday appointment"."""
_THE = bounded(r"\bthe\s$", re.I)
_NEAREST = 12
"""Sentences before a statement in which the date that the talk is about is looked for. A choice."""


def moments(text: str, said_at: datetime, nearest_first: Sequence[str] = ()) -> tuple[Moment, ...]:
    """The times that a statement names.

    A bare "Friday" or "June" lies behind or ahead as its own clause does; where the clause does not say, the nearest
    such month or day of a month is meant, and the next such weekday. Days that come again ("Tuesday through Friday")
    are none.
    """
    ahead = dates.find(text, said_at, "future")
    if not ahead:
        return ()
    near = _date_of_talk(nearest_first, said_at) if any(moment.phrase.startswith("the ") for moment in ahead) else None
    ahead = dates.find(text, said_at, "future", near)
    behind = {moment.start: moment for moment in dates.find(text, said_at, "past", near)}
    again = (
        []
        if _MOVED.search(text)
        else [match.span() for match in _SPAN_OF_DAYS.finditer(text) if not _OF_A_WEEK.match(text[match.end() :])]
    )
    return tuple(
        _placed_in_time(text, moment, behind.get(moment.start, moment), said_at)
        for moment in ahead
        if not any(start <= moment.start < end for start, end in again)
        and not _is_of_a_day(text, moment)
        and not _is_next_of_then(text, moment)
        # "the weekend" after another date is the one around that date, or this one.
        and not (moment.grain == "weekend" and moment.phrase == "the weekend" and near)
    )


def _is_of_a_day(text: str, moment: Moment) -> bool:
    """Whether a weekday only says which of several things is meant: "the Saturday market" may come every week."""
    before, behind = text[: moment.start], text[moment.start + len(moment.phrase) :]
    if not (_WEEKDAY.match(moment.phrase) and _OF_A_DAY.match(behind) and _WHOSE.search(before)):
        return False
    return not (_A.search(before) and _ONCE.match(behind)) or _looks_back(_clause_at(text, moment.start))


def _is_next_of_then(text: str, moment: Moment) -> bool:
    """Whether a time follows what was told before, and not today: "sales fell the next quarter"."""
    is_next = moment.phrase.lower().startswith("next ") and _THE.search(text[: moment.start]) is not None
    return is_next and _looks_back(_clause_at(text, moment.start))


def _placed_in_time(text: str, ahead: Moment, behind: Moment, said_at: datetime) -> Moment:
    before = text[: ahead.start]
    if ahead.first == behind.first or ahead.first is None or behind.first is None or _BOOKED.search(before):
        return ahead
    clause_text = _clause_at(text, ahead.start)
    onward = _ONWARD.search(before + ahead.phrase)
    if _WAS_DONE.search(before.removesuffix(f"{ahead.role} ")) or (not onward and _looks_back(clause_text)):
        return behind
    clause = parse(clause_text)
    if not _NAMED_MONTH.search(ahead.phrase) or (clause is not None and clause.time in {"ahead", "wish"}):
        return ahead
    if ahead.role != "since" and (_IS.search(before) or (clause is not None and _is_to_come(clause))):
        return ahead
    return behind if said_at - behind.first < ahead.first - said_at else ahead


def _is_to_come(clause: Clause) -> bool:
    """Whether a present-tense clause gives a time that is still to come: "my boss wants the report in June"."""
    return clause.time == "now" and not clause.perfect and clause.verb not in {"", "be"}


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
    joints = [match.span() for match in _JOINT.finditer(text)]
    start = max((end for _, end in joints if end <= position), default=0)
    return text[start : min((begin for begin, _ in joints if begin >= position), default=len(text))]


def _looks_back(text: str) -> bool:
    """Whether a clause tells of what was."""
    if _ONWARD.search(text):
        return False
    clause = parse(text)
    words = text.lower().split()[:4]
    past = any(is_past(word) for ahead, word in pairwise(["", *words]) if ahead not in _ARTICLES)  # "the tired kids"
    framed = clause is not None and past and (clause.change or not clause.verb)  # its verb may be unknown
    return framed or _PLAIN_PAST.match(text) is not None or (clause is not None and clause.time == "past")


def dating(
    text: str, found: Sequence[Moment], clause: Clause | None, kind: FactKind
) -> tuple[datetime | None, datetime | None]:
    """From when until when a statement is true, by the times in it that are neither its value nor named in passing.

    An instruction holds from a day on only if it says so ("from Monday on").
    """
    # "The launch is in June", "she gets married in June": the time is what is told, and may move.
    valued = clause is not None and bool(clause.thing or (clause.time == "now" and clause.verb in {"get", "marri"}))
    changing = clause is not None and clause.verb in {stem(verb) for verb in lexicon.CHANGING}
    start = end = None
    for moment in found:
        ahead = text[: moment.start]
        if moment.first is None or moment.role == "by" or _SIDELONG.search(ahead.removesuffix(f"{moment.role} ")):
            continue
        if moment.role in {"until", "till", "through"} or (moment.role in {"to", "and"} and start is not None):
            is_begun = moment.grain in {"month", "season", "year"} and not _AT_ITS_END.match(moment.phrase)
            end = end or (moment.first if is_begun else moment.last)
        elif start is not None or (valued and moment.role not in {"from", "since", "as of"}):
            continue
        elif changing and (moment.role == "to" or (_MOVED.search(ahead) and not _MOVED_TO.search(ahead))):
            continue  # what something was moved to; after "I moved to Porto" it is when that was
        elif kind != "requirement" or moment.role in {"from", "since", "as of", "of"}:
            start = moment.first
    return start, end if end and (start is None or end > start) else None


def with_dates(text: str, found: Sequence[Moment]) -> str:
    """The text with the date that each relative time means, in brackets after it.

    A month or a day of a month without a year gets none: which year is meant is a guess, and stays out of the words.
    """
    for moment in sorted(found, key=lambda moment: -moment.start):
        guessed = bool(_NAMED_MONTH.search(moment.phrase)) and not _ANCHORED.match(moment.phrase)
        if moment.first is None or not moment.named or moment.phrase.isdigit() or guessed:
            continue
        end = moment.start + len(moment.phrase)
        if not text[end:].lstrip().startswith(("(", "'", "’")):
            text = f"{text[:end]} ({moment.label}){text[end:]}"
    return text


def tidy(text: str) -> str:
    """A statement as a sentence of its own: a capital first, unless it is no word ("v2.1"), no dangling punctuation."""
    bare = trimmed(text.strip())
    bare = bare.removeprefix("(") if ")" not in bare else bare
    return f"{bare[:1].upper()}{bare[1:]}" if _WORD_FIRST.match(bare) else bare
