"""Dates: finds the times that a sentence names, and resolves them from the day on which it was said.

This module resolves relative times ("next March", "two weekends ago") itself. dateparser reads written dates ("June
3rd, 2026"); it resolves too few of the relative ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from agent_memory.text.figures import NUMBERS
from agent_memory.text.patterns import bounded, either, is_short, plain_words
from agent_memory.text.spans import (
    Grain,
    Side,
    Span,
    day_of_month,
    month_of,
    nearest_date,
    nearest_month,
    nearest_weekday,
    one_day,
    season_of,
    weekend_of,
    year_of,
)

MONTH_NAMES = "January February March April May June July August September October November December".split()
MONTHS = {name[:size].lower(): i for i, name in enumerate(MONTH_NAMES, 1) for size in (3, len(name))} | {"sept": 9}
DAY_NAMES = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
DAYS = {name.lower(): i for i, name in enumerate(DAY_NAMES)} | {
    "mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6,
}  # fmt: skip
_YEARS = range(1900, 2200)
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_HOLIDAYS = {"christmas eve": (12, 24), "christmas": (12, 25), "new year's eve": (12, 31), "new year's day": (1, 1),
             "xmas eve": (12, 24), "xmas": (12, 25), "halloween": (10, 31), "valentine's day": (2, 14)}  # fmt: skip

CALENDAR = frozenset(name.lower() for name in (*MONTH_NAMES, *DAY_NAMES))
"""The names of months and weekdays."""

_MONTH = rf"{plain_words(MONTHS)}\b(?:(?<!may)\.(?= ?\d))?"
_FULL_MONTH = plain_words(MONTH_NAMES)
_SHORT_MONTH = plain_words([name[:3] for name in MONTH_NAMES if name != "May"] + ["Sept"])
_NO_NAME = r"(?! (?:de|del|is|was|has|had|left|came|went|quit|died|got|said|[a-z]+ed)\b)"
"""Words that may follow a name, but not a short month: "since Jan left", "in Mar del Plata"."""
_PART_OF_MONTH = "(?:early|late|mid|end of|beginning of|start of)"
_DAY = rf"{plain_words(DAYS)}\b"
_FULL_DAY = rf"(?:{plain_words(DAY_NAMES)}|tues?|thu(?:rs?)?|fri)\b"
"""Names of days that are no other words, too, as "wed" is."""
_COUNT = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|(?:a )?couple(?: of)?)"
_VAGUE = r"(?:(?:a )?few|several|some|many)"
_UNIT = r"(?:day|night|week|weekend|month|year)s?"
_NUMBER_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:19|20)\d\d"
_PARTS = "(?:morning|afternoon|evening|night)"
_PART = f"(?: {_PARTS})?"
_SPOKEN = either(f"""
    the_day_before_yesterday the_day_after_tomorrow day_before_yesterday yesterday{_PART.replace(" ", "_")}
    tomorrow{_PART.replace(" ", "_")} tonight last_night today this_morning this_afternoon this_evening
""")
_SLACK = "(?:(?:the )?(?:early|late|mid|end of|beginning of|start of)[ -])?"
_ANCHOR = either("next last this this_past this_coming the_past past coming the_coming the_following")
_ANCHORED = rf"(?:weekend|week|wk|month|quarter|year|yr|spring|summer|autumn|fall|winter|{_DAY}|{_MONTH})"
_THAT_WEEK = r"(?:next|last|this) (?:week|wk)\b"
_WRITTEN_BEHIND = rf"(?: {_PARTS})?,? (?:on )?(?:(?:the )?(?:{_MONTH} \d|{_NUMBER_DAY}(?: of)? {_MONTH})|the \d)"
"""What follows a weekday whose date is written out: "Thursday, May 24" is one day."""
_BEFORE_DAY = either("on by until till to from before after since for is")
_BEFORE_MONTH = either("in by until till since before after to from during for of is was")

_PATTERNS = (
    ("iso", rf"\b{_YEAR}-\d\d-\d\d\b"),
    ("written", rf"\b{_MONTH} {_NUMBER_DAY}(?:,? {_YEAR})?\b(?![:%])"),
    ("written", rf"\b{_NUMBER_DAY}(?: of)? {_MONTH}(?:,? {_YEAR}\b)?"),
    ("written", rf"\b\d{{1,2}}/\d{{1,2}}/{_YEAR}\b"),
    ("range_start", rf"\b(?:the )?{_NUMBER_DAY}(?= ?(?:to|-|until|till|and) (?:the )?{_NUMBER_DAY}(?: of)? {_MONTH})"),
    ("month_year", rf"\b{_MONTH},? (?:of )?{_YEAR}\b"),
    ("spoken", rf"\b{_SPOKEN}\b"),
    ("day_of_week", rf"\b(?:{_BEFORE_DAY} )?{_DAY},? (?:of )?{_THAT_WEEK}|\b{_THAT_WEEK},?(?: on)? {_DAY}"),
    ("anchored", rf"\b{_SLACK}{_ANCHOR} {_ANCHORED}(?!\w)"),
    ("ago", rf"\b(?:{_COUNT}|{_VAGUE}) {_UNIT} (?:ago|back)\b"),
    ("ahead", rf"\b(?:in (?:{_COUNT}|{_VAGUE}) {_UNIT}(?:'?s? time)?|(?:{_COUNT}|{_VAGUE}) {_UNIT} from now)\b"),
    (
        "holiday",
        rf"\b{plain_words(_HOLIDAYS)}\b(?! (?!{either('and i we is was at in with this last but so')}\b)[a-z])",
    ),
    ("day_of_month", r"\b(?:on|by|until|till|to|from|is|for|as of) the \d{1,2}(?:st|nd|rd|th)\b"),
    ("weekday", rf"\b(?:{_BEFORE_DAY} )?{_FULL_DAY}(?! {_PARTS}s|{_WRITTEN_BEHIND}){_PART}"),
    ("weekday", rf"\b(?:on|by|until|till|before) {_DAY}(?! {_PARTS}s|{_WRITTEN_BEHIND})"),
    (
        "month",
        rf"(?:^|\b{_BEFORE_MONTH}(?: (?:early|late|mid|(?:the )?(?:end|beginning|start) of))?[ -])"
        rf"{_FULL_MONTH}\b",
    ),
    (
        "month",
        rf"\b(?:(?:in|until|till|since|by)(?: (?:the )?{_PART_OF_MONTH})?|(?:the )?{_PART_OF_MONTH}) {_SHORT_MONTH}\b"
        rf"{_NO_NAME}",
    ),
    ("anchored", r"\b(?:the )?end of the (?:week|month|quarter|year)\b"),
    (
        "year",
        r"\b(?:in|since|by|until|till|from|before|after|during|of|at)(?: (?:the )?(?:end|beginning|start) of)? "
        rf"{_YEAR}\b(?! ?[\w%])",
    ),
    ("weekend", r"\b(?:over|on|at|during|for) the weekend\b"),
)
_FINDERS = tuple((kind, bounded(pattern, re.I)) for kind, pattern in _PATTERNS)
_LEAD = bounded(
    rf"^{either('on by until till to from before after since for in during as_of of is was over at')} (?=\S)", re.I
)
_REPEATED = bounded(
    r"\b(?:every|each|most|other|on alternate|but|except|never|always|only(?: on)?|on an?"
    r"|first|second|third|fourth|1st|2nd|3rd|4th)\s+$",
    re.I,
)
_SPELLED = bounded(
    r"\s\((?P<grain>around|week of|weekend of)? ?(?:(?P<day>\d{1,2}) )?"
    rf"(?:(?P<month>{_FULL_MONTH}|spring|summer|autumn|winter) )?(?P<year>{_YEAR})\)"
)
_LENGTHS: dict[str | None, tuple[int, Grain]] = {
    "around": (7, "around"), "week of": (7, "week"), "weekend of": (2, "weekend"), None: (1, "day"),
}  # fmt: skip
_HOW_LONG = bounded(
    r"\b(?:(?:have|has|had|did) ?(?:not|n't)|(?:have|has|had|did)nt|never|(?:first|only) (?:\w+ )?time)\b[^.,;]*$", re.I
)
"""What comes before "in four years" where that says how long: "I haven't had a drink in four years"."""
_A_WEEK_LATER = bounded(r" weeks?\b", re.I)
"""After a weekday: "Friday week" is not the next Friday."""
_AS_VERB = bounded(
    rf" (?!{either('and or but in on at when if for with we i they he she my our the because so unless')}\b)[a-z]", re.I
)
"""After "this may": "people reading this may wonder" names no month."""
_KNOWN = bounded(r"\b(?:the|my|our|her|his|their|your)\s+$", re.I)
"""Before a weekday: "the Friday" is one that the talk is about, mostly not the next."""
_WORD_BEFORE = bounded(r"(\w+)\s+$")
_LOOKED_BACK = 40
"""How many characters before a time are searched for its preposition."""
MOST_MOMENTS = 12
"""Most times read in one sentence. A written date takes a millisecond, and a sentence with more of them is a list."""
_LIMITS = frozenset("from until till by since before after".split())
"""Prepositions with which a day is one day even after "only": "only from Saturday"."""
_PLACING = frozenset("in by until since during before after".split())
_AMBIGUOUS = frozenset("may march sun sat mar wed august".split())


@dataclass(frozen=True, slots=True)
class Moment:
    """A time named in a text: its words, where they begin, and the span [first, last) that they mean.

    `first` is None if the words are too vague ("a few years ago"). `role` is the preposition before them ("since",
    "until", "by").
    """

    phrase: str
    start: int
    first: datetime | None
    last: datetime | None
    grain: Grain
    role: str = ""
    named: bool = True

    @property
    def label(self) -> str:
        """The time in words that stay true: "7 May 2026", "week of 4 May 2026", "March 2027"."""
        if self.first is None:
            return ""
        day = f"{self.first.day} {MONTH_NAMES[self.first.month - 1]} {self.first.year}"
        match self.grain:
            case "day":
                return day
            case "around":
                return f"around {day}"
            case "week" | "weekend":
                return f"{self.grain} of {day}"
            case "month":
                return f"{MONTH_NAMES[self.first.month - 1]} {self.first.year}"
            case "season":
                season = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}[self.first.month]
                return f"{season} {self.first.year}"
            case "year":
                return str(self.first.year)


def find(text: str, said_at: datetime, side: Side = "future", near: datetime | None = None) -> list[Moment]:
    """The times in a text, in order. If a date in brackets follows one (see `Moment.label`), that date counts.

    Args:
        text: The sentence. A sentence that is too long for the rules gives none, and a list of dates only the first.
        said_at: When it was said. Relative words are counted from this day.
        side: Whether a day or month without a year lies in the past or in the future.
        near: A date that the conversation is about, whose month "the 19th" takes. An earlier date in the text has
            priority.
    """
    if said_at.year not in _YEARS or not is_short(text):
        return []
    taken: list[tuple[int, int]] = [match.span() for match in _SPELLED.finditer(text)]
    found: list[Moment] = []
    for kind, finder in _FINDERS:
        for match in finder.finditer(text):
            begin, end = match.span()
            if any(begin < other_end and other_begin < end for other_begin, other_end in taken):
                continue
            moment = _moment(kind, match, said_at, side) if len(found) < MOST_MOMENTS else None
            if moment is not None:
                taken.append((begin, end))
                found.append(moment)
    anchor = near.replace(day=1) if near else None
    if anchor and side == "future" and (anchor.year, anchor.month) == (said_at.year, said_at.month):
        anchor = said_at  # in a month that has begun, a day to come is not one that has passed
    return _counted_from(sorted(found, key=lambda moment: moment.start), anchor)


def _counted_from(moments: list[Moment], anchor: datetime | None) -> list[Moment]:
    """Puts days of the month into the month in question: "12 March … back on the 22nd"."""
    counted: list[Moment] = []
    for moment in moments:
        number = bounded(r"the (\d{1,2})(?:st|nd|rd|th)", re.I).fullmatch(moment.phrase)
        span = day_of_month(int(number[1]), anchor, "future") if number and anchor else None
        counted.append(replace(moment, first=span[0], last=span[1]) if span else moment)
        if moment.grain == "day" and (span or not number):
            anchor = counted[-1].first
    return counted


def _moment(kind: str, match: re.Match[str], said_at: datetime, side: Side) -> Moment | None:
    """The moment that a pattern found, if the words are meant as a time."""
    phrase, start, text = match[0], match.start(), match.string
    ahead = text[max(0, start - _LOOKED_BACK) : start]
    lead = _LEAD.match(phrase) if kind != "ahead" else None
    is_limit = lead is not None and lead[0].strip().lower() in _LIMITS
    if (_REPEATED.search(ahead) and not is_limit) or text[match.end() :][:1] in {"s", "S"}:
        return None
    if kind == "weekday" and (_A_WEEK_LATER.match(text, match.end()) or (_KNOWN.search(ahead) and lead is None)):
        return None
    if kind == "ahead" and phrase[:2].lower() == "in" and _HOW_LONG.search(ahead):
        return None
    bare = phrase[lead.end() :] if lead else phrase
    before = _WORD_BEFORE.search(ahead)
    role = (lead[0].strip() if lead else before[1] if before else "").lower()
    placed = kind == "month" and role in _PLACING
    if kind in {"month", "weekday", "written", "month_year"} and not placed and not _looks_dated(bare):
        return None
    if kind == "anchored" and phrase.endswith(" may") and _AS_VERB.match(text, match.end()):
        return None
    spelled = _SPELLED.match(text, match.end())
    day = datetime(said_at.year, said_at.month, said_at.day, tzinfo=UTC)  # the day where the speaker is
    span = _spelled(spelled) if spelled else _resolve(kind, _complete(kind, bare, text[start:]), day, _side(role, side))
    offset = start + (lead.end() if lead else 0)
    if span is None:
        return Moment(bare, offset, None, None, "day", role) if kind in {"ago", "ahead"} else None
    named = kind not in {"iso", "month_year", "year"} and not bounded(_YEAR).search(bare)
    return Moment(bare, offset, span[0], span[1], span[2], role, named)


def _complete(kind: str, phrase: str, ahead: str) -> str:
    """The words to resolve. The first day of "1 to 14 July" gets its month."""
    month = bounded(_MONTH, re.I).search(ahead) if kind == "range_start" else None
    return (f"{phrase.removeprefix('the ')} {month[0]}" if month else phrase).lower().rstrip(".")


def _side(role: str, side: Side) -> Side:
    """The direction that a preposition implies: "until" looks ahead, "since" looks back."""
    if role in {"to", "by", "until", "till"}:
        return "future"
    return "past" if role == "since" else side


def _looks_dated(phrase: str) -> bool:
    """Whether "may", "march" or "sun" means a time: it is capitalised, or next to a number."""
    return phrase[0].isupper() or any(char.isdigit() for char in phrase) or phrase.lower() not in _AMBIGUOUS


def _resolve(kind: str, phrase: str, day: datetime, side: Side) -> Span | None:
    """The span that a phrase means. `day` is the midnight before it was said."""
    match kind:
        case "spoken":
            return one_day(day + timedelta(days=_spoken_offset(phrase)))
        case "anchored":
            return _anchored(bounded(f"^{_SLACK}").sub("", phrase), day)
        case "day_of_week":
            words = phrase.replace(",", "").split()
            date = day + timedelta(days=next(DAYS[word] for word in words if word in DAYS) - day.weekday())
            return one_day(date + timedelta(weeks=("next" in words) - ("last" in words)))
        case "ago" | "ahead":
            return _counted(phrase, day, -1 if kind == "ago" else 1)
        case "holiday":
            return nearest_date(*_HOLIDAYS[phrase], day, side)
        case "day_of_month":
            return day_of_month(int(bounded(r"\D").sub("", phrase)), day, side)
        case "weekday":
            return nearest_weekday(DAYS[phrase.split()[0]], day, side)
        case "month":
            first, last, grain = nearest_month(MONTHS[bounded(r"[ -]").split(phrase)[-1][:3]], day, side)
            return first + timedelta(days=20 if bounded(r"(?:the )?(?:late|end)").match(phrase) else 0), last, grain
        case "month_year":
            return month_of(int(phrase[-4:]), MONTHS[phrase[:3]])
        case "year":
            return year_of(int(phrase[-4:]))
        case "weekend":
            return weekend_of(day, 0 if side == "future" else -1)
        case _:  # iso, written, range_start
            written = _read(bounded(r"\bof\b ").sub("", phrase), day, side)
            return None if written is None else one_day(written)


def _spelled(match: re.Match[str]) -> Span:
    """The span that a label means."""
    year, month = int(match["year"]), match["month"]
    if month in _SEASONS:
        first = month_of(year, _SEASONS[month])[0]
        return first, month_of(year, _SEASONS[month] + 3)[0], "season"
    if month is None:
        return year_of(year)
    if match["day"] is None:
        return month_of(year, MONTHS[month[:3].lower()])
    first = datetime(year, MONTHS[month[:3].lower()], int(match["day"]), tzinfo=UTC)
    days, grain = _LENGTHS[match["grain"]]
    return first, first + timedelta(days=days), grain


def _spoken_offset(phrase: str) -> int:
    offsets = {"day before yesterday": -2, "day after tomorrow": 2, "yesterday": -1, "last night": -1, "tomorrow": 1}
    return next((offset for words, offset in offsets.items() if words in phrase), 0)


def _anchored(phrase: str, day: datetime) -> Span | None:
    anchor, _, name = phrase.rpartition(" ")
    step = 0 if anchor in {"this", "the"} else 1 if bounded("next|coming|following").search(anchor) else -1
    monday = day - timedelta(days=day.weekday())
    match name:
        case "week" | "wk":
            first = monday + timedelta(weeks=step)
            return first, first + timedelta(weeks=1), "week"
        case "weekend":
            return weekend_of(day, step)
        case "month":
            return month_of(day.year, day.month + step)
        case "quarter":
            first = month_of(day.year, 3 * ((day.month - 1) // 3) + 1 + 3 * step)[0]
            return first, month_of(first.year, first.month + 3)[0], "month"
        case "year" | "yr":
            return year_of(day.year + step)
    if name in _SEASONS:
        return season_of(_SEASONS[name], day, step)
    if name in DAYS:
        return nearest_weekday(DAYS[name], day, "past" if step < 0 else "future", strict=anchor != "this")
    month = MONTHS.get(name.rstrip("."))
    if month is None:
        return None
    if step == 0:
        return month_of(day.year, month)
    if step > 0:
        return month_of(day.year + (month <= day.month), month)
    return month_of(day.year - (month >= day.month), month)


def _counted(phrase: str, day: datetime, sign: int) -> Span | None:
    unit = bounded(r"day|night|weekend|week|month|year").search(phrase)
    counted = phrase.removeprefix("in ").replace("a couple", "couple")
    number = bounded(rf"\d+|couple|\b(?:an?|{plain_words(NUMBERS)})\b").search(counted)
    if unit is None or number is None or bounded(rf"(?:in )?{_VAGUE} ").match(phrase):
        return None
    word = number[0]
    count = sign * (int(word) if word.isdigit() else {"a": 1, "an": 1, "couple": 2}.get(word) or NUMBERS[word])
    match unit[0]:
        case "weekend":
            return weekend_of(day, count)
        case "week":
            date = day + timedelta(weeks=count)
            return date, date + timedelta(weeks=1), "around"
        case "month":
            return month_of(day.year, day.month + count)
        case "year":
            return year_of(day.year + count)
        case _:
            return one_day(day + timedelta(days=count))


@lru_cache(maxsize=4096)
def _read(phrase: str, day: datetime, side: Side) -> datetime | None:
    import dateparser

    date = dateparser.parse(
        phrase,
        languages=["en"],
        settings={"RELATIVE_BASE": day.replace(tzinfo=None), "PREFER_DATES_FROM": side, "DATE_ORDER": "MDY"},
    )
    return None if date is None else date.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=UTC)
