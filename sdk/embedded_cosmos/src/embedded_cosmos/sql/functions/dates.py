"""Date and time functions, on ISO 8601 strings in UTC with seven decimals, ticks (100 ns) and milliseconds."""

from __future__ import annotations

import re
import time
from calendar import monthrange
from datetime import UTC, datetime, timedelta

from embedded_cosmos.sql.functions.registry import Registry
from embedded_cosmos.sql.values import UNDEFINED, Json, is_integer, number

FUNCTIONS = Registry()

TICKS_PER_SECOND = 10_000_000
_TICKS_PER_MILLISECOND = 10_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_TICKS = 253_402_300_800 * TICKS_PER_SECOND
_MIN_TICKS = -62_135_596_800 * TICKS_PER_SECOND

# Without an open repeat: 38 characters are read at most.
_ISO = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,7}))?(?:Z|([-+])(\d{2}):(\d{2}))?)?", re.ASCII
)

_FIXED_PARTS = {
    **dict.fromkeys(("week", "wk", "ww"), 7 * 86_400 * TICKS_PER_SECOND),
    **dict.fromkeys(("day", "dd", "d"), 86_400 * TICKS_PER_SECOND),
    **dict.fromkeys(("hour", "hh"), 3_600 * TICKS_PER_SECOND),
    **dict.fromkeys(("minute", "mi", "n"), 60 * TICKS_PER_SECOND),
    **dict.fromkeys(("second", "ss", "s"), TICKS_PER_SECOND),
    **dict.fromkeys(("millisecond", "ms"), _TICKS_PER_MILLISECOND),
    **dict.fromkeys(("microsecond", "mcs"), 10),
}
_NANOSECOND = ("nanosecond", "ns")
_MONTHS = {**dict.fromkeys(("year", "yyyy", "yy"), 12), **dict.fromkeys(("month", "mm", "m"), 1)}


def parse_ticks(text: Json) -> int | None:
    """Ticks since 1970 of an ISO 8601 string; None when it is not one."""
    match = _ISO.fullmatch(text) if type(text) is str else None
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    ticks = _whole_seconds(moment) * TICKS_PER_SECOND + int((match[7] or "").ljust(7, "0"))
    if match[8]:
        offset = (int(match[9]) * 3600 + int(match[10]) * 60) * TICKS_PER_SECOND
        ticks -= offset if match[8] == "+" else -offset
    return ticks if _MIN_TICKS <= ticks < _MAX_TICKS else None


def format_ticks(ticks: int) -> Json:
    """The ISO 8601 string of ticks since 1970; undefined outside the years 1 to 9999."""
    if not _MIN_TICKS <= ticks < _MAX_TICKS:
        return UNDEFINED
    seconds, fraction = divmod(ticks, TICKS_PER_SECOND)
    return f"{_moment(seconds):%Y-%m-%dT%H:%M:%S}.{fraction:07d}Z".rjust(28, "0")


def _whole_seconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(seconds=1)


def _moment(seconds: int) -> datetime:
    return _EPOCH + timedelta(seconds=seconds)


def _now_ticks() -> int:
    return time.time_ns() // 100


for _suffix in ("", "STATIC"):
    FUNCTIONS.add(f"GETCURRENTDATETIME{_suffix}", 0)(lambda: format_ticks(_now_ticks()))
    FUNCTIONS.add(f"GETCURRENTTIMESTAMP{_suffix}", 0)(lambda: _now_ticks() // _TICKS_PER_MILLISECOND)
    FUNCTIONS.add(f"GETCURRENTTICKS{_suffix}", 0)(lambda: number(_now_ticks()))


@FUNCTIONS.add("DATETIMETOTICKS", 1)
def _to_ticks(text: Json) -> Json:
    ticks = parse_ticks(text)
    return UNDEFINED if ticks is None else number(ticks)


@FUNCTIONS.add("DATETIMETOTIMESTAMP", 1)
def _to_timestamp(text: Json) -> Json:
    ticks = parse_ticks(text)
    return UNDEFINED if ticks is None else ticks // _TICKS_PER_MILLISECOND


@FUNCTIONS.add("TICKSTODATETIME", 1)
def _from_ticks(ticks: Json) -> Json:
    return format_ticks(int(ticks)) if is_integer(ticks) else UNDEFINED


@FUNCTIONS.add("TIMESTAMPTODATETIME", 1)
def _from_timestamp(timestamp: Json) -> Json:
    return format_ticks(int(timestamp) * _TICKS_PER_MILLISECOND) if is_integer(timestamp) else UNDEFINED


@FUNCTIONS.add("DATETIMEFROMPARTS", 3, 7)
def _from_parts(*parts: Json) -> Json:
    if not all(is_integer(part) for part in parts):
        return UNDEFINED
    year, month, day, hour, minute, second, fraction = (*map(int, parts), *[0] * (7 - len(parts)))
    if not 0 <= fraction < TICKS_PER_SECOND:
        return UNDEFINED
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except (ValueError, OverflowError):
        return UNDEFINED
    return format_ticks(_whole_seconds(moment) * TICKS_PER_SECOND + fraction)


@FUNCTIONS.add("DATETIMEADD", 3)
def _add(part: Json, amount: Json, text: Json) -> Json:
    ticks = parse_ticks(text)
    if ticks is None or type(part) is not str or not is_integer(amount):
        return UNDEFINED
    part, amount = part.lower(), int(amount)
    if part in _MONTHS:
        return _add_months(ticks, amount * _MONTHS[part])
    if part in _FIXED_PARTS:
        return format_ticks(ticks + amount * _FIXED_PARTS[part])
    return format_ticks(ticks + amount // 100) if part in _NANOSECOND else UNDEFINED


def _add_months(ticks: int, months: int) -> Json:
    seconds, fraction = divmod(ticks, TICKS_PER_SECOND)
    moment = _moment(seconds)
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        return UNDEFINED
    day = min(moment.day, monthrange(year, month + 1)[1])
    return format_ticks(
        _whole_seconds(moment.replace(year=year, month=month + 1, day=day)) * TICKS_PER_SECOND + fraction
    )


@FUNCTIONS.add("DATETIMEDIFF", 3)
def _difference(part: Json, start: Json, end: Json) -> Json:
    """Boundaries of the part that lie between the two."""
    first, last = parse_ticks(start), parse_ticks(end)
    if first is None or last is None or type(part) is not str:
        return UNDEFINED
    part = part.lower()
    if part in _MONTHS:
        return _month_number(last) // _MONTHS[part] - _month_number(first) // _MONTHS[part]
    if part in _FIXED_PARTS:
        return last // _FIXED_PARTS[part] - first // _FIXED_PARTS[part]
    return (last - first) * 100 if part in _NANOSECOND else UNDEFINED


def _month_number(ticks: int) -> int:
    moment = _moment(ticks // TICKS_PER_SECOND)
    return moment.year * 12 + moment.month - 1


@FUNCTIONS.add("DATETIMEPART", 2)
def _part(part: Json, text: Json) -> Json:
    ticks = parse_ticks(text)
    if ticks is None or type(part) is not str:
        return UNDEFINED
    seconds, fraction = divmod(ticks, TICKS_PER_SECOND)
    moment = _moment(seconds)
    match part.lower():
        case "year" | "yyyy" | "yy":
            return moment.year
        case "month" | "mm" | "m":
            return moment.month
        case "day" | "dd" | "d":
            return moment.day
        case "weekday" | "dw" | "w":
            return moment.isoweekday() % 7 + 1
        case "hour" | "hh":
            return moment.hour
        case "minute" | "mi" | "n":
            return moment.minute
        case "second" | "ss" | "s":
            return moment.second
        case "millisecond" | "ms":
            return fraction // _TICKS_PER_MILLISECOND
        case "microsecond" | "mcs":
            return fraction // 10
        case "nanosecond" | "ns":
            return fraction * 100
    return UNDEFINED


@FUNCTIONS.add("DATETIMEBIN", 2, 4)
def _bin(text: Json, part: Json, size: Json = 1, origin: Json = "1970-01-01T00:00:00.0000000Z") -> Json:
    ticks, zero = parse_ticks(text), parse_ticks(origin)
    if ticks is None or zero is None or type(part) is not str or not is_integer(size) or size < 1:
        return UNDEFINED
    width = _FIXED_PARTS.get(part.lower())
    if width is None:
        return UNDEFINED
    width *= int(size)
    return format_ticks(zero + (ticks - zero) // width * width)
