"""Schedules: NCRONTAB expressions of six fields, `second minute hour day month day-of-week`, in UTC."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from functions_host.errors import HostError

_BOUNDS = {
    "second": (0, 59),
    "minute": (0, 59),
    "hour": (0, 23),
    "day": (1, 31),
    "month": (1, 12),
    "day of week": (0, 6),
}
_YEARS = 8
"""How many years are searched for the next run. 29 February is at most eight years away."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule: the allowed values of each field."""

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> Schedule:
        """Reads an expression of numbers, `*`, lists, ranges and steps.

        Raises:
            HostError: for anything else.
        """
        fields = text.split()
        if len(fields) != len(_BOUNDS):
            raise HostError(f"a schedule has six fields, not {len(fields)}: {text!r}")
        return cls(*(_parse(field, name, text) for field, name in zip(fields, _BOUNDS, strict=True)))

    def after(self, moment: datetime) -> datetime:
        """The next time after a moment.

        Raises:
            HostError: if there is none.
        """
        start = (moment + timedelta(seconds=1)).replace(microsecond=0)
        for day in self._days_from(start):
            for hour in self.hours:
                for minute in self.minutes:
                    for second in self.seconds:
                        candidate = day.replace(hour=hour, minute=minute, second=second)
                        if candidate >= start:
                            return candidate
        raise HostError("a schedule names a day that never comes")

    def _days_from(self, start: datetime) -> Iterator[datetime]:
        first = start.replace(hour=0, minute=0, second=0)
        for ahead in range(366 * _YEARS):
            day = first + timedelta(days=ahead)
            # Sunday is 0 here, and 6 to Python.
            if day.month in self.months and day.day in self.days and (day.weekday() + 1) % 7 in self.weekdays:
                yield day


def _parse(field: str, name: str, text: str) -> tuple[int, ...]:
    low, high = _BOUNDS[name]
    values: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        try:
            every = int(step) if step else 1
            if span == "*":
                begin, end = low, high
            else:
                begin = int(first)
                end = int(last) if dash else (high if step else begin)
            if every < 1 or not low <= begin <= end <= high:
                raise ValueError(part)
        except ValueError as error:
            raise HostError(f"the local host cannot read {part!r} as {name} in the schedule {text!r}") from error
        values.update(range(begin, end + 1, every))
    return tuple(sorted(values))
