"""The values that sentences give to things, in a form in which two of them can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agent_memory.language.grounding.measures import SCALES, UNITS
from agent_memory.language.offline import lexicon
from agent_memory.language.offline.text import canon
from agent_memory.text import dates
from agent_memory.text.patterns import bounded, plain_words

Kind = Literal["number", "clock", "date", "weekday", "text"]
Relation = Literal["same", "different", "compatible"]
Core = frozenset[str | tuple[str, ...]]

NUMBER = bounded(
    rf"(?P<sign>[$€£¥])?\s?(?P<number>\d[\d,]*(?:\.\d+)?|(?<![\w-]){plain_words(lexicon.NUMBERS)}(?![\w-]))"
    r"\s?(?P<size>(?:k|m|grand|hundred|thousand|million)\b)?"
    r"\s?(?:-?\s?(?P<unit>%|°|percent\b|(?!(?:an?|per|each|every)\b)[a-z]+\b))?"
    r"(?:\s(?:a|an|per|each|every)\s(?P<period>hour|day|week|month|year|night|person|km|mile|seat|head)\b"
    r"|/(?P<slash>h|hr|hour|day|week|wk|month|mo|year|yr)\b)?",
    re.I,
)
_CLOCK = bounded(
    r"(?<![\d.,$€£¥])(?P<hour>[01]?\d|2[0-3])(?::(?P<minute>[0-5]\d))?(?![\d,.:%]*[\d%])\s?(?P<half>[ap]\.?m\b\.?)?",
    re.I,
)
_AT = bounded(r"\b(?:at|from|until|till|to|by)$")
_NOON = bounded(r"\b(noon|midday|midnight)\b", re.I)
_DAY = "mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
_WEEKDAYS = bounded(
    r"(?<!but)(?<!but )(?<!except)(?<!except )\b(?:every|each|on)?\s?"
    rf"({_DAY})(s| mornings| afternoons| evenings| nights)?\b",
    re.I,
)
_NOTED_DAYS = bounded(rf"^(?:{_DAY})(?:(?:,? (?:and )?|/)(?:{_DAY}))*(?= ?[,;]|$| not\b)", re.I)
"""Days that a note gives to what it is about ("gym tue, fri")."""
_WRITTEN = bounded(rf"^\d.*{plain_words(lexicon.MONTHS)}|^{plain_words(lexicon.MONTHS)}\b.*\d", re.I)
_YEAR_BEHIND = bounded(r" \d{4}$")
_PERIODS = {"hr": "hour", "h": "hour", "wk": "week", "mo": "month", "yr": "year", "weekly": "week", "monthly": "month"}
_NO_UNIT = lexicon.STOPWORDS | lexicon.MONTHS | {"total", "max", "maximum", "minimum", "instead", "each", "people"}


_END_PHRASE = bounded(
    r",? (?:with|since|for|and|but|because|now|near|from|so|which|where|when|until|as|about|after|before|during|to|in"
    r"|at|on|who|than|if|though|instead|around|last|next|this|every|while|per)\b.*|[,;:].*",
    re.I,
)
_ARTICLES = bounded(r"^(?:(?:a|an|the|my|our|some|any|about|around|now|called|named|to|on|at|in|for|by) )+", re.I)


@dataclass(frozen=True, slots=True)
class Value:
    """What something is: a kind, the comparable core, the words as they were said, and as they are best shown.

    `hour` is the clock time on a date or weekday, if it is said.
    """

    kind: Kind
    core: Core
    said: str
    first: datetime | None = None
    last: datetime | None = None
    shown: str = ""
    hour: str = ""

    def compare(self, other: Value) -> Relation:
        """Whether two values of one thing agree, exclude each other, or can both be right."""
        relation = self._compare_cores(other)
        if relation != "same" or self.hour == other.hour:
            return relation
        return "different" if self.hour and other.hour else "compatible"

    def _compare_cores(self, other: Value) -> Relation:
        if self.kind != other.kind:
            return "compatible"
        if self.core == other.core:
            return "same"
        if self.first and self.last and other.first and other.last:
            if (self.first, self.last) == (other.first, other.last):
                return "same"
            return "different" if self.last <= other.first or other.last <= self.first else "compatible"
        if self.kind == "number":
            return _compare_amounts(self.core, other.core)
        return "compatible" if self.core <= other.core or other.core <= self.core else "different"


def _compare_amounts(one: Core, two: Core) -> Relation:
    """Compares amounts; a bare number takes the unit of the other, and unlike units do not exclude each other."""
    amounts = [{(entry[0], entry[1]) for entry in core if isinstance(entry, tuple)} for core in (one, two)]
    if not any(_same_unit(first[1], second[1]) for first in amounts[0] for second in amounts[1]):
        return "compatible"
    numbers = [{number for number, _ in side} for side in amounts]
    if numbers[0] == numbers[1]:
        return "same"
    return "different" if numbers[0].isdisjoint(numbers[1]) else "compatible"


def _same_unit(one: str, two: str) -> bool:
    pairs = zip(f"{one}/".split("/")[:2], f"{two}/".split("/")[:2], strict=True)
    return all(first == second or not first or not second for first, second in pairs)


def read_time(text: str, said_at: datetime) -> Value | None:
    """The date, recurring weekday or clock time that a text names."""
    noted = _NOTED_DAYS.match(text)
    days = _WEEKDAYS.finditer(noted[0] if noted else text)
    repeated = frozenset(
        dates.DAY_NAMES[dates.DAYS[match[1].lower()]].lower() for match in days
        if noted or match[2] or bounded(r"\b(?:every|each)\b[^.]*$", re.I).search(text[: match.end(1)])
    )  # fmt: skip
    if repeated:
        shown = ", ".join(f"{day.capitalize()}s" for day in sorted(repeated))
        return Value("weekday", Core(repeated), text, shown=shown, hour=_hour(text))
    moments = [moment for moment in dates.find(text, said_at) if moment.role != "from"]
    if moments and moments[0].first:
        moment = moments[0]
        # "3 March" and "March 3rd" are one date, though the year that is nearest may differ with when it is said.
        yearly = moment.named and _WRITTEN.search(moment.phrase)
        core = without_year(moment.label) if yearly else moment.label
        return Value("date", frozenset({core}), text, moment.first, moment.last, moment.label, _hour(text))
    return _clock(text)


def _hour(text: str) -> str:
    time = _clock(text)
    return time.shown if time else ""


def is_bare_hour(time: Value) -> bool:
    """Whether a time is a mere figure, which may be an amount as well ("to 10")."""
    return time.kind == "clock" and not bounded(r"\d:\d|[ap]\.?m\b|noon|mid|\bat \d", re.I).search(time.said)


def _clock(text: str) -> Value | None:
    time = ""
    if noon := _NOON.search(text):
        time = "00:00" if noon[1].lower() == "midnight" else "12:00"
    else:
        time = next((time for _, time in _clocks(text)), "")
    return Value("clock", Core({time}), text, shown=time) if time else None


def _clocks(text: str) -> Iterator[tuple[str, str]]:
    """The clock times that a text names in figures, as they were said and as "15:00"."""
    for match in _CLOCK.finditer(text):
        hour, half = int(match["hour"]), (match["half"] or "").lower()
        if match["minute"] or half or _AT.search(text[: match.start()].rstrip().lower()):
            yield match[0], f"{hour % 12 + 12 * half.startswith('p') if half else hour:02d}:{match['minute'] or '00'}"


def figures(text: str, moments: Iterable[dates.Moment]) -> Core:
    """All dates (`moments`, without their years), clock times in figures and amounts that a text names."""
    found: set[str | tuple[str, ...]] = set()
    for moment in moments:
        found.add(without_year(moment.label))
        text = text.replace(moment.phrase, " ", 1)
    for said, time in list(_clocks(text)):
        found.add(time)
        text = text.replace(said, " ", 1)
    number = read_number(text)
    return frozenset(found | (number.core if number else frozenset())) - {""}


def without_year(label: str) -> str:
    """A date without its year, which depends on when it was said."""
    return _YEAR_BEHIND.sub("", label)


def read_number(text: str) -> Value | None:
    """The amounts that a text names, with their units: money, counts, rates."""
    amounts: set[str | tuple[str, ...]] = set()
    shown = ""
    for match in NUMBER.finditer(text):
        word = match["number"].lower().rstrip(",")
        number = float(lexicon.NUMBERS[word]) if word in lexicon.NUMBERS else float(word.replace(",", ""))
        number *= SCALES.get((match["size"] or "").lower(), 1)
        unit, as_said = _unit(match)
        shown = shown or as_said
        amounts.add((f"{number:g}" if number % 1 else str(int(number)), unit))
    return Value("number", frozenset(amounts), text, shown=shown) if amounts else None


def _unit(match: re.Match[str]) -> tuple[str, str]:
    """The unit of an amount, and the amount as it is shown, without a word that only follows it."""
    word = (match["unit"] or "").lower()
    is_none = word in _NO_UNIT or word.endswith(("ing", "ly"))
    unit = UNITS[0].get(match["sign"] or word) or ("" if is_none else canon(word))
    period = (match["period"] or match["slash"] or "").lower()
    shown = match[0].strip()
    shown = shown.removesuffix(match["unit"] or "").rstrip() if is_none or match["sign"] else shown
    return (f"{unit}/{_PERIODS.get(period, period)}" if period and period not in {"person", "head"} else unit), shown


def text(said: str) -> Value:
    """Words as a value, compared by their canonical stems."""
    stems = {canon(word) for word in said.lower().split() if word not in lexicon.STOPWORDS}
    return Value("text", Core(stems or {said.lower()}), said, shown=said)


def head(text: str) -> str:
    """A phrase up to the first word that begins another; a leading article is no part of it."""
    return _END_PHRASE.sub("", f"{_ARTICLES.sub('', text.strip())} ").strip()


def place_of_time(text: str, said_at: datetime) -> int:
    """Where the time that `read_time` finds begins, with the preposition before it."""
    starts = [match.start() for pattern in (_WEEKDAYS, _NOON, _CLOCK) for match in pattern.finditer(text)]
    starts += [moment.start for moment in dates.find(text, said_at)]
    return min(starts, default=len(text))
