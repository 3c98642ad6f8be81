"""The times named in a question: "last March", "in May 2023", "before the move".

A time does not filter, because people report things after they happen, and questions get dates wrong. It raises the
score of what was said or happened then a little, and written out it finds dated turns by their words.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from agent_memory.models import Memory, day, there
from agent_memory.recall.relevance import words
from agent_memory.text import dates
from agent_memory.text.calendar_words import FOREIGN_TIMES, with_english_calendar, with_english_near_times
from agent_memory.text.patterns import WORD, linear
from agent_memory.text.spans import Side
from agent_memory.text.stop_words import FOREIGN_WORDS
from agent_memory.text.terms import query_terms

logger = logging.getLogger("agent_memory")

_YEAR = linear(r"\d{4}")
_MONTH = linear(r"january|february|march|april|may|june|july|august|september|october|november|december", re.IGNORECASE)
_DOTTED = linear(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b")
"""With dots, the day comes first. With slashes, it depends on the country."""
_IN_LABEL = linear(r"\d+|[A-Z]\w+")
_FOREIGN = FOREIGN_WORDS | FOREIGN_TIMES
_EVENT = linear(
    r"\b(?P<side>before|after|since|until)\s+(?P<event>(?:the|my|our|his|her|their|I|we|he|she|they)\s+[^?.,;!]+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time, open at a side that is None. In `every_year`, only month and day count."""

    first: datetime | None
    last: datetime | None
    label: str = ""
    every_year: bool = False
    phrase: str = ""
    """The words of the question that name it."""

    def holds(self, time: datetime) -> bool:
        """Whether a time is within it.

        A day is stored as its midnight in UTC, and counts as that day in the period's time zone.
        """
        first, last = self.first, self.last
        zone = (first or last or time).tzinfo or UTC
        time = there(time, zone)
        if self.every_year and first is not None and last is not None:
            if first.month == 2 and first.day == 29:
                return (time.month, time.day) == (2, 29)
            length, first = last - first, first.replace(year=time.year)
            try:
                last = first + length
            except OverflowError:  # the calendar ends with it
                last = None
        return (first is None or time >= first) and (last is None or time < last)


def has_foreign_word(query: str) -> bool:
    """Whether a question has a word of another language than English, or one for a time."""
    return not _FOREIGN.isdisjoint(word.casefold() for word in WORD.findall(query.replace("’", "'")))


def with_english_times(query: str) -> str:
    """A question with the times that it names in English: "Was war gestern?" becomes "Was war yesterday?".

    English questions stay as they are: "Mars" is a planet, and "Noël" a name, too.
    """
    return with_english_calendar(with_english_near_times(query)) if has_foreign_word(query) else query


def periods(query: str, now: datetime, side: Side = "past") -> list[Period]:
    """The times named in a question; a month without a year may be of any year. They are phrased in English.

    Relative ones are seen from `now`, and all are times in its time zone. "Monday" lies at this `side` of it.
    """
    zone = now.tzinfo
    try:
        moments = dates.find(" ".join(_DOTTED.sub(_iso, with_english_times(query)).split()), now, side=side)
    except ImportError as error:  # the extra `local` reads written dates
        logger.info("Dates in questions are not understood here: %s", error)
        return []
    return [
        Period(
            moment.first.replace(tzinfo=zone),
            moment.last.replace(tzinfo=zone) if moment.last else None,
            moment.label,
            every_year=_MONTH.search(moment.phrase) is not None
            and _YEAR.search(moment.phrase) is None
            and not moment.phrase.lower().startswith(("last", "this", "next", "past")),
            phrase=moment.phrase,
        )
        for moment in moments
        if moment.first is not None
    ]


def _iso(dotted: re.Match[str]) -> str:
    """A date such as 24.01.2024 as 2024-01-24. One that the calendar does not have stays."""
    try:
        return datetime(int(dotted[3]), int(dotted[2]), int(dotted[1]), tzinfo=UTC).date().isoformat()
    except ValueError:
        return dotted[0]


def date_terms(found: Iterable[Period]) -> list[str]:
    """The words that find dated turns: "March 2026" for "last March", "29 April" for "April 29th" of any year."""
    return [
        word
        for period in found
        for word in _IN_LABEL.findall(period.label)
        if not (period.every_year and _YEAR.fullmatch(word))
    ]


def stored_days(found: Iterable[Period]) -> list[str]:
    """The words for the days of single-day periods as turns are stored with them, in UTC."""
    zoned = [(one.first, one.last) for one in found if one.first and one.last and one.first.utcoffset() != timedelta(0)]
    single = [(first, last) for first, last in zoned if last - first <= timedelta(days=1)]
    ends = (at.astimezone(UTC) for first, last in single for at in (first, last - timedelta(seconds=1)))
    return list(dict.fromkeys(word for end in ends for word in _IN_LABEL.findall(day(end))))


class NamedEvent(NamedTuple):
    """An event that a question names: its words, and whether the question is about the time before it."""

    words: frozenset[str]
    is_before: bool


def event_named(query: str) -> NamedEvent | None:
    """The event before or after which a question asks for something."""
    named = _EVENT.search(query)
    if named is None:
        return None
    found = frozenset(word for term in query_terms(named["event"]) for word in words(term))
    return NamedEvent(found, named["side"].lower() in ("before", "until")) if found else None


def time_around(event: NamedEvent, memories: Sequence[Memory]) -> Period | None:
    """The time before or after an event, if a memory tells of the event.

    The event was on the day that the memory names, or else on the day on which it was said. The memory must have all
    content words of the event. Of several memories, the earliest counts.
    """
    days = [times_of(memory)[-1] for memory in memories if event.words <= set(words(memory.content))]
    if not days:
        return None
    return Period(None, min(days)) if event.is_before else Period(min(days), None)


def times_of(memory: Memory) -> list[datetime]:
    """When it was said and, if that is known, when it happens."""
    happens = memory.metadata.get("date")
    if not isinstance(happens, str):
        return [memory.created_at]
    try:
        read = datetime.fromisoformat(happens)
    except ValueError:
        return [memory.created_at]
    return [memory.created_at, read if read.tzinfo else read.replace(tzinfo=UTC)]
