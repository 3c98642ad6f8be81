"""Said dates: checks that the times of a claim were said, or follow from what was said by our own arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache

from agent_memory.language.grounding.measures import UNITS, is_span_said, number_of
from agent_memory.language.grounding.polarity import words_of
from agent_memory.text import dates
from agent_memory.text.calendar_words import with_english_calendar, with_english_near_times
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.sentences import sentences
from agent_memory.text.spans import Side


@dataclass(frozen=True, slots=True)
class Spoken:
    """What one turn said: its words, who said them (the name, if known) and when."""

    text: str
    said_at: datetime
    name: str | None = None
    is_user: bool = True


def without_dates(
    content: str, heard: Sequence[Spoken], said: str, time_phrase: str | None, before: Sequence[Spoken] = ()
) -> tuple[str, str | None]:
    """A memory's content without its dates, and what is wrong with the first that does not follow from the talk.

    A day without its month may have the month that one of the turns in `before` names, alone or with another day.
    """
    content, said = with_english_calendar(content), with_english_calendar(with_english_near_times(said))
    english = [(_in_english(turn.text), turn.said_at) for turn in heard]
    known = [moment for text, said_at in english for moment in _moments(text, said_at)]
    months = {
        one.first.replace(day=1)
        for turn in before
        for one in _moments(_in_english(turn.text), turn.said_at)
        if one.first and one.grain in ("day", "month")
    }
    known += [
        moment
        for text, at in english
        for found in _DAY_ALONE.findall(text)
        for month in months
        for moment in dates.find(f"on the {''.join(found)}th", at, "future", month)
    ]
    known += [moment for text, at in english for moment in _pushed(text, at)]
    known += [moment for text, at in english for ago in _times_ago(text) for moment in dates.find(ago, at, "past")]
    trusted = time_phrase is not None and not any(_moments(time_phrase, turn.said_at) for turn in heard[:1])
    weekends = {(one.first, one.last) for one in known if one.first and one.last and one.grain == "weekend"}
    ends = [one.last - _DAY for one in known if one.last and one.phrase.lower().startswith(_ENDS)]
    # Something without a date may have happened on the day on which it was said.
    days = [] if any(one.grain == "day" for one in known) else [turn.said_at for turn in heard]
    as_of = heard if _AS_OF.search(content) else []
    plain = said.casefold()
    words = {word.casefold().removesuffix("s") for word in WORD.findall(said)}
    rest = content
    by_place: dict[tuple[int, str], list[dates.Moment]] = {}
    for moment in _moments(content, heard[0].said_at if heard else None):
        by_place.setdefault((moment.start, moment.phrase), []).append(moment)
    sure = [*(one.first for one in known if one.first), *ends, *(turn.said_at for turn in as_of)]
    for (_, phrase), moments in by_place.items():
        rest = rest.replace(phrase, " ", 1)
        follows = any(
            any(_is_on(moment, day) for day in (*sure, *(days if moment.grain == "day" else ())))
            or any(_is_within(moment, one) for one in weekends)
            for moment in moments
        )
        repeats = all(
            word in plain or _is_shortened(word, words) for word in words_of(phrase) if word not in _PLACING
        ) or is_span_said(phrase, said)
        if not (trusted or follows or repeats or moments[0].first is None):
            return rest, f"nobody said {phrase}"
    years = {str(one.first.year) for one in known if one.first} | {str(turn.said_at.year) for turn in as_of}
    rest = _YEAR.sub(lambda year: " " if trusted or year[0] in years else year[0], rest)
    for word in WORD.findall(rest):
        name = word.casefold().removesuffix("s")
        if not word[0].isupper() or name not in dates.CALENDAR or trusted or _is_shortened(name, words):
            continue
        told = [*(one.first for one in known if one.first), *(turn.said_at for turn in as_of)]
        if not any(name in (f"{day:%B}".lower(), f"{day:%A}".lower()) for day in told):
            return rest, f"nobody said {word}"
    return rest, None


def _in_english(text: str) -> str:
    """A text with an English calendar; what it calls "May" or "March" in another language is a month."""
    typed = _TYPED_DAY.sub(
        lambda day: f"{day[1]} {_TYPED_DAYS[day[2].casefold()]}", _TYPED.sub("tomorrow", _TIL.sub("until", text))
    )
    plain = with_english_calendar(with_english_near_times(typed))
    return plain + "".join(f"\nin {name}" for name in ("May", "March") if name in plain and name not in text)


_TYPED, _TIL = linear(r"\b(?:tmrw|tmr|2morrow)\b", re.IGNORECASE), linear(r"\btil\b", re.IGNORECASE)
_TYPED_DAY = linear(r"\b(on|by|until|this|next|last) (mon|wed|sat|sun)\b", re.IGNORECASE)
"""Days as people type them; by itself "sat" is a verb."""
_TYPED_DAYS = {day[:3].lower(): day for day in dates.DAY_NAMES}
_PUSHED = linear(
    r"\b(?:moved?|push(?:ed)?|postponed?|delay(?:ed)?|extend(?:ed)?|shift(?:ed)?|later|forward|earlier|up|back|verschoben|"
    r"reporté|aplazad[oa])\b",
    re.IGNORECASE,
)
_BY_HOW_LONG = linear(r"\b(\p{L}+|\d{1,3})\s(day|week|month)s?\b", re.IGNORECASE)


def _pushed(text: str, said_at: datetime) -> Iterator[dates.Moment]:
    """The days to which something was moved: "the deadline was 1 June but they pushed it two weeks"."""
    if not _PUSHED.search(text):
        return
    for count, unit in _BY_HOW_LONG.findall(text):
        number = _counted(count)
        for one in _moments(text, said_at) if number else ():
            if one.first is not None and one.grain == "day" and unit != "month":
                step = timedelta(days=number * (7 if unit.casefold() == "week" else 1))
                for first in (one.first + step, one.first - step):
                    yield replace(one, first=first, last=first + _DAY)


_AS_OF = linear(r"\b(?:as of|stand)\b", re.IGNORECASE)
"""Words with which a claim gives the day on which it was said."""


def _is_on(moment: dates.Moment, day: datetime) -> bool:
    return moment.first is not None and moment.last is not None and moment.first <= day < moment.last


def _is_shortened(name: str, said: set[str]) -> bool:
    """Whether a month or weekday was said, in full or by its beginning: "tue", "sept", or "thur" (for "thurs")."""
    return name in dates.CALENDAR and not said.isdisjoint((name, name[:3], name[:4]))


def _is_within(moment: dates.Moment, weekend: tuple[datetime, datetime]) -> bool:
    """Whether a day is one of a weekend that was said."""
    return moment.first is not None and weekend[0] <= moment.first < weekend[1]


_YEAR = linear(r"\b(?:19|20)\d\d\b")
_OF_A_YEAR = linear(rf"\b(?:{'|'.join(dates.MONTH_NAMES)}),? (?:of )?(?:19|20)\d\d\b")
_DAY_ALONE = linear(
    r"\b(?:the )?(\d{1,2})(?:st|nd|rd|th)\b|"
    r"\b(?:am|zum|den|dem|vom) (\d{1,2})\.|\b(?:el|día|le|il|dia) (\d{1,2})(?:[\s,.;!?)]|$)",
    re.IGNORECASE,
)
"""A day of the month without its month, in several languages."""
_PLACING = frozenset("ago in on since for from about the a".split())


@lru_cache(maxsize=256)  # several memories cite one turn
def _moments(text: str, said_at: datetime | None) -> list[dates.Moment]:
    """The times that a text may name, with days and months without a year read both ways."""
    if said_at is None:
        return []
    yearless = _OF_A_YEAR.sub(" ", text)
    alone = [f"in {month}" for month in dates.MONTH_NAMES if month in yearless and month not in ("May", "March")]
    words = set(words_of(text))
    alone += [f"{side} {season}" for season in _SEASONS if season in words for side in ("last", "this", "next")]
    alone += [f"on the {''.join(found)}th" for found in _DAY_ALONE.findall(text)]
    later = [(said_at + _WEEK, f"on {found[0] or found[1]}") for found in _WEEK_AFTER.findall(text)]
    later += [(_day_before(found[1], said_at), f"on {found[2]}") for found in _OF_ANOTHER_WEEK.finditer(text)]
    parts = [*sentences(_WEEK_AFTER.sub(" ", text)), *alone]
    found = [moment for part in parts for side in _SIDES for moment in dates.find(part, said_at, side)]
    return found + [moment for since, day in later for moment in dates.find(day, since, "future")]


_ENDS = ("end of", "the end of")
_DAY, _WEEK = timedelta(days=1), timedelta(days=7)
_WEEK_AFTER = linear(r"\ba week (?:on |from )?(\p{L}+day)\b|\bon (\p{L}+day) week\b", re.IGNORECASE)
"""The day a week after the next one of that name."""


_OF_ANOTHER_WEEK = linear(r"\b(next|last) (\p{L}+day)\b", re.IGNORECASE)
"""To many, "next Friday" is the Friday of next week, and "last Monday" that of last week."""


def has_two_readings(moment: dates.Moment, said_at: datetime) -> bool:
    """Whether people disagree which day it is: on a Tuesday, "next Friday" is in three days, or in ten."""
    found = _OF_ANOTHER_WEEK.fullmatch(moment.phrase)
    if found is None or moment.first is None:
        return False
    (other,) = dates.find(f"on {found[2]}", _day_before(found[1], said_at), "future")
    return other.first != moment.first


def _day_before(which: str, said_at: datetime) -> datetime:
    """The Sunday before the next or the last week."""
    return said_at - timedelta(days=said_at.weekday() + 1) + (-_WEEK if which.casefold() == "last" else _WEEK)


_AGO = linear(
    r"\b(?:(?:have|has|been|['’]ve)\b[^.!?\n]{0,60}\sfor|since|vor|seit|hace|depuis|il y a|da|há|sinds)"
    r"\s+(\p{L}+|\d{1,3})\s+(\p{L}+)(\sand a half)?\b|"
    r"\b(\p{L}+|\d{1,3})\s+(\p{L}+)\s(and a half )?(?:ago|fa|geleden|atrás)\b",
    re.IGNORECASE,
)
"""How long ago something was or began, in seven languages: "vor zwei Jahren", "has worked here for five years"."""
_ONE = dict.fromkeys("a an one ein eine einem einer un una une um uma uno een".split(), 1)
_COUNTS = _ONE | {"due": 2, "sei": 6}
"""Words that are numbers before a unit of time, and other words elsewhere."""
_FEW_YEARS = 5
"""Up to so many years people count to the month. A choice."""
_CALENDAR_UNITS = {"d": "days", "w": "weeks", "mo": "months", "y": "years"}


def _counted(count: str) -> int:
    """The number that a word before a unit of time means; 0 if none."""
    return _COUNTS.get(count.casefold(), 0) or number_of(count)


def _times_ago(text: str) -> Iterator[str]:
    """The times of `_AGO` in English words that can be resolved: "a year and a half ago" is 18 months ago."""
    for found in _AGO.finditer(text):
        count, unit, half = (found[1], found[2], found[3]) if found[1] else (found[4], found[5], found[6])
        number = _counted(count)
        sign = UNITS[1].get(unit.casefold()) or UNITS[1].get(f"{unit.casefold()}s", "")
        if number and sign == "y" and number <= _FEW_YEARS:
            yield f"{12 * number + 6 * bool(half)} months ago"
        if number and sign in _CALENDAR_UNITS and not half:
            yield f"{number} {_CALENDAR_UNITS[sign]} ago"


_SEASONS = ("spring", "summer", "autumn", "fall", "winter")
_SIDES: tuple[Side, Side] = ("past", "future")


def years_since(heard: Sequence[Spoken]) -> Iterator[str]:
    """How long ago the years are that were said: "since 2019" is seven years, or six and some months."""
    for turn in heard:
        for year in _YEAR.findall(turn.text):
            if (ago := turn.said_at.year - int(year)) > 0:
                yield f"{ago} {ago - 1}"
