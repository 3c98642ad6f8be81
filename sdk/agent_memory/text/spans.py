"""Spans: the days that a calendar time means, such as a weekend, a month or the nearest Friday. Pure arithmetic.

`day` is the midnight from which a time is counted. A span is [first, last), with its grain.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

Grain = Literal["day", "around", "week", "weekend", "month", "season", "year"]
Side = Literal["past", "future"]
"""Whether a day or a month without a year lies before or after the day from which it is counted."""
Span = tuple[datetime, datetime, Grain]


def one_day(date: datetime) -> Span:
    """The day that begins then."""
    return date, date + timedelta(days=1), "day"


def month_of(year: int, month: int) -> Span:
    """A month; `month` may be outside 1 to 12 and carries over into the year."""
    first = datetime(year + (month - 1) // 12, (month - 1) % 12 + 1, 1, tzinfo=UTC)
    following = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    return first, following, "month"


def year_of(year: int) -> Span:
    """A year."""
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC), "year"


def weekend_of(day: datetime, step: int) -> Span:
    """The weekend of the week of a day, or `step` weeks later."""
    saturday = day - timedelta(days=day.weekday()) + timedelta(days=5, weeks=step)
    return saturday, saturday + timedelta(days=2), "weekend"


def season_of(month: int, day: datetime, step: int) -> Span:
    """The season that begins in a month: this year's, or the next (`step` 1) or the last one (-1)."""
    first = month_of(day.year, month)[0]
    over = day >= month_of(day.year, month + 3)[0]
    if step < 0 and not over:
        first = month_of(day.year - 1, month)[0]
    if step > 0 and day >= first:
        first = month_of(day.year + 1, month)[0]
    return first, month_of(first.year, first.month + 3)[0], "season"


def nearest_weekday(weekday: int, day: datetime, side: Side, *, strict: bool = True) -> Span:
    """The nearest such weekday on the given side. Today, which people call "today", counts if `strict` is off."""
    ahead = (weekday - day.weekday()) % 7
    if side == "future":
        return one_day(day + timedelta(days=ahead or (7 if strict else 0)))
    return one_day(day - timedelta(days=(7 - ahead) % 7 or 7))


def nearest_month(month: int, day: datetime, side: Side) -> Span:
    """The nearest such month on the given side; the month of the day counts."""
    if side == "future":
        return month_of(day.year + (month < day.month), month)
    return month_of(day.year - (month > day.month), month)


def nearest_date(month: int, number: int, day: datetime, side: Side) -> Span:
    """The nearest such date on the given side; the day itself counts."""
    date = day.replace(month=month, day=number)
    step = (date < day) if side == "future" else -(date > day)
    return one_day(date.replace(year=day.year + step))


def day_of_month(number: int, day: datetime, side: Side) -> Span | None:
    """The nearest day with this number in its month, on the given side; None if that month has no such day."""
    step = (number < day.day) if side == "future" else -(number > day.day)
    first = month_of(day.year, day.month + int(step))[0]
    date = first + timedelta(days=number - 1)
    return one_day(date) if number >= 1 and date.month == first.month else None
