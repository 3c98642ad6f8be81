"""What all models share: the base class, times in UTC, and what work costs."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Annotated, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer


def as_utc(value: datetime) -> datetime:
    """Reads a time without a zone as UTC, and converts every other to UTC.

    Raises:
        ValueError: if the calendar, years 1 to 9999, does not have it in UTC.
    """
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{value} is outside the years 1 to 9999 in UTC") from None


def iso(value: datetime) -> str:
    """Writes a UTC time with a fixed width, so that texts sort like times."""
    return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def time_zone(name: str) -> ZoneInfo:
    """The time zone of this name in the IANA database. Raises ValueError if there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{name!r:.60} is not a time zone like 'Europe/Lisbon'") from error


def day(value: datetime) -> str:
    """Writes the day of a time as people do: 5 March 2026."""
    return f"{value.day} {value:%B %Y}"


def there(value: datetime, zone: tzinfo) -> datetime:
    """A time in a time zone. A date, which is stored as midnight UTC, stays the same date in every zone.

    A time next to the first or last of the calendar, such as the end of 9999 for "never", also stays the same.
    """
    is_day = value.utcoffset() == timedelta(0) and value.time() == time.min
    try:
        return value.replace(tzinfo=zone) if is_day else value.astimezone(zone)
    except OverflowError:
        return value.replace(tzinfo=zone)


def one_line(text: str, limit: int = 80) -> str:
    """A text on one line, cut to `limit` characters with an ellipsis."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def now() -> datetime:
    """The current time in UTC, to the microsecond."""
    return datetime.now(UTC)


def content_hash(text: str) -> str:
    """A hash of a text that ignores case and spacing: 32 hex digits of SHA-256."""
    normal = " ".join(text.lower().split())
    return hashlib.sha256(normal.encode()).hexdigest()[:32]


UtcTime = Annotated[datetime, AfterValidator(as_utc), PlainSerializer(iso, return_type=str, when_used="json")]

MOST = 2**53 - 1
"""The largest count. Every reader of JSON knows it exactly (RFC 8259, 6)."""
LONGEST = 2**31 - 1
"""The longest time to live in seconds (Azure Cosmos DB)."""
Count = Annotated[int, Field(ge=0, le=MOST)]
Ttl = Annotated[int, Field(gt=0, le=LONGEST)]


class Model(BaseModel):
    """The base of all public models: unknown fields are an error, values are checked on assignment."""

    # An error of a damaged document must not carry its text into a log.
    model_config = ConfigDict(extra="forbid", validate_assignment=True, hide_input_in_errors=True)


T = TypeVar("T")


class Page(list[T]):
    """A page of a listing: its items, and where the next page begins.

    Attributes:
        next: The `cursor` of the next page; None after the last.
    """

    next: str | None = None


class Usage(Model):
    """The cost of a piece of work. `cached_tokens` are the `input_tokens` that came from the provider's cache."""

    model_config = ConfigDict(extra="ignore")  # a newer server may count more

    model_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    embedded_texts: int = 0
    embedded_tokens: int = 0
    request_units: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        """Adds two costs field by field."""
        mine = self.model_dump()
        return Usage(**{name: mine[name] + value for name, value in other.model_dump().items()})
