"""Said dates: checks that the times of a claim were said, or follow from what was said by our own arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from agent_memory.language.measures import is_span_said
from agent_memory.language.polarity import words_of
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


def without_dates(content: str, heard: Sequence[Spoken], said: str, time_phrase: str | None) -> tuple[str, str | None]:
    """A content without its dates, and what is wrong with the first that does not follow from the talk."""
    content, said = with_english_calendar(content), with_english_calendar(with_english_near_times(said))
    english = [(with_english_calendar(with_english_near_times(turn.text)), turn.said_at) for turn in heard]
    known = [moment for text, said_at in english for moment in _moments(text, said_at)]
    trusted = time_phrase is not None and not any(_moments(time_phrase, turn.said_at) for turn in heard[:1])
    weekends = {(one.first, one.last) for one in known if one.first and one.last and one.grain == "weekend"}
    ends = [one.last - _DAY for one in known if one.last and one.phrase.lower().startswith(_ENDS)]
    # Something without a date may have happened on the day on which it was said.
    days = [] if any(one.grain == "day" for one in known) else [turn.said_at for turn in heard]
    plain = said.casefold()
    words = {word.casefold().removesuffix("s") for word in WORD.findall(said)}
    rest = content
    by_place: dict[tuple[int, str], list[dates.Moment]] = {}
    for moment in _moments(content, heard[0].said_at if heard else None):
        by_place.setdefault((moment.start, moment.phrase), []).append(moment)
    for (_, phrase), moments in by_place.items():
        rest = rest.replace(phrase, " ", 1)
        follows = any(
            moment.first <= day < moment.last
            for moment in moments
            if moment.first and moment.last
            for day in [*(one.first for one in known if one.first), *ends, *(days if moment.grain == "day" else [])]
        ) or any(_is_within(moment, one) for moment in moments for one in weekends)
        repeats = all(
            word in plain or _is_shortened(word, words) for word in words_of(phrase) if word not in _PLACING
        ) or is_span_said(phrase, said)
        if not (trusted or follows or repeats or moments[0].first is None):
            return rest, f"nobody said {phrase}"
    years = {str(one.first.year) for one in known if one.first}
    rest = _YEAR.sub(lambda year: " " if trusted or year[0] in years else year[0], rest)
    for word in WORD.findall(rest):
        name = word.casefold().removesuffix("s")
        if not word[0].isupper() or name not in dates.CALENDAR or trusted or _is_shortened(name, words):
            continue
        if not any(name in (f"{one.first:%B}".lower(), f"{one.first:%A}".lower()) for one in known if one.first):
            return rest, f"nobody said {word}"
    return rest, None


def _is_shortened(name: str, said: set[str]) -> bool:
    """Whether a month or weekday was said, in full or by its beginning: "tue", "sept", or "thur" (for "thurs")."""
    return name in dates.CALENDAR and not said.isdisjoint((name, name[:3], name[:4]))


def _is_within(moment: dates.Moment, weekend: tuple[datetime, datetime]) -> bool:
    """Whether a day is one of a weekend that was said."""
    return moment.first is not None and weekend[0] <= moment.first < weekend[1]


_YEAR = linear(r"\b(?:19|20)\d\d\b")
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
    alone = [f"in {month}" for month in dates.MONTH_NAMES if month in text and month not in ("May", "March")]
    words = set(words_of(text))
    alone += [f"{side} {season}" for season in _SEASONS if season in words for side in ("last", "next")]
    alone += [f"on the {''.join(found)}th" for found in _DAY_ALONE.findall(text)]
    later = [(said_at + _WEEK, f"on {found[0] or found[1]}") for found in _WEEK_AFTER.findall(text)]
    parts = [*sentences(_WEEK_AFTER.sub(" ", text)), *alone]
    found = [moment for part in parts for side in _SIDES for moment in dates.find(part, said_at, side)]
    return found + [moment for since, day in later for moment in dates.find(day, since, "future")]


_ENDS = ("end of", "the end of")
_DAY, _WEEK = timedelta(days=1), timedelta(days=7)
_WEEK_AFTER = linear(r"\ba week (?:on |from )?(\p{L}+day)\b|\bon (\p{L}+day) week\b", re.IGNORECASE)
"""The day a week after the next one of that name."""


_SEASONS = ("spring", "summer", "autumn", "fall", "winter")
_SIDES: tuple[Side, Side] = ("past", "future")


def years_since(heard: Sequence[Spoken]) -> Iterator[str]:
    """How long ago the years are that were said: "since 2019" is seven years, or six and some months."""
    for turn in heard:
        for year in _YEAR.findall(turn.text):
            if (ago := turn.said_at.year - int(year)) > 0:
                yield f"{ago} {ago - 1}"
