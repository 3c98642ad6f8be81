"""Figures and units: whether a claim's numbers, and what they count, were said."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from agent_memory.text.figures import NUMBERS
from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import WORD, linear


def _numbers(text: str) -> set[str]:
    """The numbers of a text, written in digits: 18k is 18000, two is 2, 84,500.00 is 84500."""
    found = set()
    plain = text.casefold()
    for figure in _SCALED.finditer(plain):
        found.add(_value(figure[1], figure[2] or ""))
    found |= {str(_ALL_NUMBERS[word]) for word in WORD.findall(plain) if word in _ALL_NUMBERS}
    return found | set(_in_several_words(plain))


def _in_several_words(text: str) -> Iterator[str]:
    """The English numbers of several words: "three hundred and twenty thousand" is 320000, "twenty-five" is 25."""
    words = WORD.findall(text)
    done, group, several = 0, 0, False
    for word in [*words, ""] if not _SPELT_PARTS.isdisjoint(words) else ():
        number, scale = NUMBERS.get(word, 0), int(SCALES.get(word, 0)) if word in _SPELT_SCALES else 0
        if number and (not group or (number < 10 and group % 100 >= 20 and not group % 10) or not group % 100):
            group, several = group + number, several or group > 0
        elif scale and group:
            several = True
            done, group = (done, group * scale) if scale == 100 else (done + group * scale, 0)
        elif word != "and" or not several:
            if several:
                yield str(done + group)
            done, group, several = 0, number, False


def with_digits(text: str) -> str:
    """A text with numbers in digits that were dictated digit by digit: "four oh double one" is 4011."""
    return _DICTATED.sub(lambda run: _digits(run[0]), text)


def _digits(run: str) -> str:
    found, times = "", 1
    for word in run.casefold().split():
        times, digit = _REPEATED.get(word, 1), str(NUMBERS.get(word, 0)) * times
        found += "" if word in _REPEATED else digit
    return found


_REPEATED = {"double": 2, "triple": 3}
_SPOKEN_DIGIT = r"(?:(?:double|triple)\s)?(?:oh|zero|one|two|three|four|five|six|seven|eight|nine)"
_DICTATED = linear(rf"\b{_SPOKEN_DIGIT}(?:\s+{_SPOKEN_DIGIT}){{2,15}}\b", re.IGNORECASE)
"""A number said digit by digit: "four four one nine"."""
_SPELT_SCALES = frozenset("hundred thousand million billion".split())
_SPELT_PARTS = _SPELT_SCALES | {word for word, number in NUMBERS.items() if number >= 20}
"""A number of several words has at least one of these."""


_ALL_NUMBERS = NUMBERS | {
    word: number
    for words in (
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
        "achtzehn neunzehn zwanzig",
        "dos tres cuatro cinco seis siete ocho nueve diez * doce trece catorce quince dieciséis diecisiete dieciocho "
        "diecinueve veinte",
        "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize * * * vingt",
        "* tre quattro cinque * sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette "
        "diciotto diciannove venti",
        "dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito "
        "dezenove vinte",
        "twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien "
        "achttien negentien twintig",
        "zweimal dreimal viermal fünfmal",
        "tweemaal driemaal viermaal vijfmaal",
    )
    for number, word in enumerate(words.split(), 2)
    if word != "*"  # several words, or words of other languages too: "once", "due", "sei"
}
"""English number words, and those of six further languages up to twenty."""


def number_of(word: str) -> int:
    """The number that a word or a run of digits means; 0 if none."""
    return int(word) if word.isdigit() else _ALL_NUMBERS.get(word.casefold(), 0)


_TWELVE = frozenset("noon midday midnight mittag mitternacht mediodía medianoche midi minuit mezzogiorno".split())
"""Words for twelve o'clock."""


_SCALED = linear(r"(\d+(?:[.,:]\d+)*)(?:\s?(k|m|mio|million|thousand|tausend|mil|grand|hundred|bn|billion)\b)?")
SCALES = {"hundred": 100, "grand": 1e3, "k": 1e3, "thousand": 1e3, "tausend": 1e3, "mil": 1e3, "m": 1e6, "mio": 1e6,
          "million": 1e6, "bn": 1e9, "billion": 1e9}  # fmt: skip


def _hours(said: str) -> Iterator[str]:
    """The times of day in a text, as people also write them: 7 pm is 19, "quarter past six" is 6:15, noon is 12."""
    if not _TWELVE.isdisjoint(WORD.findall(said)):
        yield "12"
    for hour, minutes, sign in _CLOCK.findall(said):
        if sign in _AFTERNOON or (12 < int(hour) < 24 and (minutes or sign)):  # a bare 15 may count cats
            other = int(hour) + (12 if int(hour) < 12 else -12)
            yield f"{other}:{minutes}" if minutes.strip("0") else str(other)
    for found in _SPOKEN.finditer(said):
        yield from (_clock(found), _clock(found, later=12))
    for word in _HALF_HOUR.findall(said):
        if hour := number_of(word):
            # "half seven" is 7:30, and "halb sieben" 6:30.
            yield from (f"{hour}:30", f"{hour + 12}:30", f"{hour - 1 or 12}:30")


def _clock(found: re.Match[str], later: int = 0) -> str:
    """A time of day as a clock shows it: "quarter past six" is 6:15."""
    hour = number_of(found[3])
    minutes = 30 if found[1] == "half" else 15
    return f"{hour + later}:{minutes}" if found[2] == "past" else f"{(hour - 1 or 12) + later}:{60 - minutes}"


def _is_evening(hour: int, known: set[str], said: str) -> bool:
    """Whether an hour that was said may mean one after noon: "home around six" may mean 18:00."""
    return str(hour) in known and f"{hour} am" not in said and f"{hour}am" not in said


def _counted(said: str) -> Iterator[str]:
    """The numbers that words mean: a decade is 10 years, quarterly is every 3 months, half is 50 %."""
    for word in WORD.findall(said):
        yield from _WORTH.get(word, ())
    if "every other" in said:
        yield "2"
    for count, part in _FRACTION.findall(said):
        yield str(_ALL_NUMBERS[count] * (25 if part.startswith("quarter") else 33) + (count == "two"))


_FRACTION = linear(r"\b(two|three) (quarter|third)s")
_WORTH = {
    word: tuple(worth.split())
    for words, worth in (
        ("half halved hälfte halb halbe halben moitié mitad media metà metade", "50 0.5 30"),
        ("quarter viertel quart cuarto quarto", "25 0.25 15"),
        ("third drittel tiers tercio terzo", "33"),
        ("dozen dutzend douzaine docena dozzina", "12"),
        ("decade decades jahrzehnt décennie década decennio", "10"),
        ("fortnight fortnightly", "2 14"),
        ("biweekly bimonthly couple pair twins twin both paar zwillinge gemelos jumeaux gemelli", "2"),
        ("triplets triple", "3"),
        ("quarterly vierteljährlich trimestral trimestriel", "3 4"),
        *(
            (f"{ten}ies", str(10 * n))
            for n, ten in enumerate("twent thirt fort fift sixt sevent eight ninet".split(), 2)
        ),
    )
    for word in words.split()
}
"""The figure and unit that a word without a figure means."""
_OCLOCK = linear(r"\b(\d{1,2})(?::00| uhr| ?h)\b")
_SMALL = linear(r"\d{1,3}(?:\.\d)?")


def _with_halves(said: str) -> str:
    """A text, followed by its halves in digits: "an hour and a half" is 1.5 hours, and 90 minutes."""
    digits = []
    for count, unit in _AND_A_HALF.findall(said.casefold()):
        number = number_of(count) or 1
        digits.append(f"{number}.5 {unit}")
        if unit.startswith("hour"):
            digits.append(f"{60 * number + 30} minutes")
    digits += [worth for word, worth in _SPANS.items() if word in said.casefold()]
    for hours, minutes in _HOURS_AND.findall(said.casefold()):
        if number_of(hours) and 0 < number_of(minutes) < 60:
            digits.append(f"{number_of(hours)}:{number_of(minutes):02}")
    return " \n".join([said, *digits])


_SPANS = {"fortnight": "2 weeks 14 days", "decade": "10 years"}
_HOURS_AND = linear(r"\b(\p{L}+|\d{1,2}) hours?(?: and)? (\p{L}+|\d{1,2})\b")
"""A duration: "two hours ten" is 2:10."""
_AND_A_HALF = linear(r"\b(an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+) (\p{L}+) and a half\b")
_CLOCK = linear(r"\b(\d{1,2})(?:[:h](\d\d))?\s?(pm|p\.m|uhr abends|uhr nachmittags|uhr)?")
_AFTERNOON = frozenset(["pm", "p.m", "uhr abends", "uhr nachmittags"])
_HALF_HOUR = linear(r"\b(?:half|halb) (\w+)")
_SPOKEN = linear(r"\b(quarter|half) (past|to) (\w+)")


def _value(digits: str, scale: str) -> str:
    if ":" in digits:
        return digits.removesuffix(":00").lstrip("0") or "0"
    *whole, last = digits.replace(",", ".").split(".")
    if whole and len(last) == 3:  # grouped by thousands
        number = "".join([*whole, last])
    elif len(whole) > 1:  # a version, a date, an address
        return digits
    else:
        number = f"{whole[0]}.{last}".rstrip("0").rstrip(".") if whole else last
    if scale in SCALES and number.replace(".", "").isdigit():
        return f"{float(number) * SCALES[scale]:.0f}"
    return number.lstrip("0") or "0"


def in_digits(text: str) -> str:
    """A text with its English number words as digits, in small letters: "three cats" is "3 cats"."""
    return WORD.sub(lambda word: str(NUMBERS.get(word[0], word[0])), text)


def without_scales(text: str) -> str:
    """A text with its large numbers in plain digits: 60k and 60,000 are both 60000."""
    return _LARGE.sub(lambda found: _value(found[1] or found[2], (found[3] or "").casefold()), text)


_LARGE = linear(
    r"\b(?:(\d{1,3}(?:[,.]\d{3})+)|(\d{1,4}(?:[.,]\d{1,2})?)\s?(k|mio|million|thousand|tausend|grand|bn|billion))\b",
    re.IGNORECASE,
)


def unsaid_figures(content: str, quoted: str, said: str) -> str | None:
    """A figure that nobody said."""
    content, quoted, said = map(_in_ascii, (content, quoted, _with_halves(said)))
    plain, heard = _SPOKEN.sub(_clock, content.casefold()), said.casefold()
    whole = _SPOKEN.sub(" ", heard)  # "half past four" is not four o'clock
    known = _numbers(whole) | {part.lstrip("0") or "0" for part in _DIGITS.findall(whole)}
    known |= set(_hours(heard)) | set(_counted(heard))
    scales = {SCALES[figure[2]] for figure in _SCALED.finditer(heard) if figure[2]}  # "5k? No, 7.5"
    known |= {f"{float(number) * scale:.0f}" for scale in scales for number in known if _SMALL.fullmatch(number)}
    known |= set(map(_digits, _DICTATED.findall(heard)))
    hours = {hour for hour in _OCLOCK.findall(plain) if 12 < int(hour) < 24}
    known |= {hour for hour in hours if _is_evening(int(hour) - 12, known, heard)}
    thousands = _MONEY.search(said) is not None or any(len(number) > 3 for number in known)
    missing = {
        number
        for found in _SCALED.finditer(plain)
        if (number := _value(found[1], found[2] or "")) not in known
        and not (found[2] == "m" and _value(found[1], "") in known)  # "1.78 m tall"
        and not (thousands and number.endswith("000") and number[:-3] in known and _SMALL.fullmatch(number[:-3]))
    }
    spelt = [(word, behind) for word, behind in pairwise([*WORD.findall(plain), ""]) if word in _ALL_NUMBERS]
    if not _numbers(quoted) - {"1"} and is_foreign(said):
        spelt = []
    elif not _numbers(quoted) - {"1"}:  # then "two children" may be counted from their names, but "six years" may not
        most = 1 + len(_SEPARATORS.findall(said))
        spelt = [one for one in spelt if is_unit(one[1]) or is_unit(f"{one[1]}s") or _ALL_NUMBERS[one[0]] > most]
    missing |= _numbers(" ".join(word for word, _ in spelt)) - known - {"1"}
    return f"nobody said {', '.join(sorted(missing))}" if missing else None


_MONEY = linear(
    r"[€$£]|\b(?:euros?|dollars?|quid|pays?|paying|paid|salary|wages?|earn(?:s|ing)?|price|costs?|quotes?d?|budget|rent|worth|"
    r"loan|mortgage|deposit|savings?|gehalt|miete|kostet|verdien\p{L}*|sueldo|precio|alquiler|cuesta|presupuesto|salaire|"
    r"prix|loyer|coûte|stipendio|prezzo|affitto|costa)\b",
    re.IGNORECASE,
)
"""Words beside which people leave out the thousand: "they pay 70"."""
_SEPARATORS = linear(
    r"[,;&+/\n]|[.!?]\s+\p{L}|\b(?:and|or|with|plus|und|oder|mit|y|e|o|con|et|ou|avec|com|en|of|met|we|us|our|both|twice|again|another|other|"
    r"second|also|too|wir|uns|unser\p{L}*|nous|notre|nos|nuestr\p{L}*|noi|nostr\p{L}*|nós|noss\p{L}*|wij|ons|onze)\b",
    re.IGNORECASE,
)
"""Signs and words between things that a claim may have counted: "Ann, Ben and Carl"."""
_DIGITS = linear(r"\d+")
_DIGIT = linear(r"\d")


def _in_ascii(text: str) -> str:
    """A text with the digits of all scripts as 0 to 9."""
    return text if text.isascii() else _DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), text)


UNITS = (
    {"€": "eur", "euro": "eur", "euros": "eur", "eur": "eur", "$": "usd", "dollar": "usd", "dollars": "usd",
     "usd": "usd", "bucks": "usd", "£": "gbp", "pound": "gbp", "pounds": "gbp", "gbp": "gbp", "quid": "gbp",
     "¥": "jpy", "yen": "jpy", "chf": "chf", "dólar": "usd",
     "dólares": "usd", "dollari": "usd", "libras": "gbp", "pfund": "gbp", "livres": "gbp", "sterline": "gbp",
     "franken": "chf", "%": "percent", "percent": "percent", "prozent": "percent"},
    {"ms": "ms", "millisecond": "ms", "milliseconds": "ms", "s": "s",
     "sec": "s", "secs": "s", "second": "s", "seconds": "s", "minute": "min", "minutes": "min",
     "mins": "min", "min": "min", "hour": "h", "hours": "h",
     "hr": "h", "hrs": "h", "h": "h", "day": "d", "days": "d", "tage": "d", "week": "w", "weeks": "w",
     "wks": "w", "wochen": "w", "month": "mo", "months": "mo", "monate": "mo", "year": "y", "years": "y",
     "yrs": "y", "jahre": "y", "jahren": "y", "monaten": "mo", "tagen": "d", "stunden": "h", "horas": "h",
     "heures": "h", "ore": "h", "uur": "h", "días": "d", "dias": "d", "jours": "d", "giorni": "d",
     "dagen": "d", "semanas": "w",
     "semaines": "w", "settimane": "w", "weken": "w", "meses": "mo", "mois": "mo", "mesi": "mo", "maanden": "mo",
     "años": "y", "ans": "y", "années": "y", "anni": "y", "anos": "y", "jaar": "y", "jaren": "y"},
    {"km": "km", "kilometre": "km", "kilometres": "km", "kilometer": "km", "kilometers": "km", "k": "km",
     "mile": "mi", "miles": "mi", "mi": "mi", "m": "m", "metre": "m", "metres": "m", "meters": "m", "feet": "ft",
     "ft": "ft", "cm": "cm", "inches": "in", "inch": "in"},
    {"kg": "kg", "kilo": "kg", "kilos": "kg", "kilograms": "kg", "lb": "lb", "lbs": "lb", "pound": "lb",
     "pounds": "lb", "stone": "st", "oz": "oz", "ounces": "oz", "gallon": "gal", "gallons": "gal", "g": "g", "µg": "ug",
     "mcg": "ug", "microgram": "ug", "micrograms": "ug", "mikrogramm": "ug", "milligram": "mg", "milligrams": "mg",
     "grams": "g", "mg": "mg", "ml": "ml", "l": "l", "litres": "l", "liters": "l", "cups": "cup", "mb": "mb",
     "gb": "gb", "tb": "tb"},
    {"sqm": "m2", "sqmetre": "m2", "sqmetres": "m2", "sqmeter": "m2", "sqmeters": "m2", "qm": "m2",
     "quadratmeter": "m2", "sqft": "ft2", "sqfoot": "ft2", "sqfeet": "ft2"},
    {"am": "am", "pm": "pm"},
)  # fmt: skip
"""Words and signs of units as people write them, by what they measure."""
_MEASURED = linear(r"([€$£¥])?\s?(\d+(?:[.,]\d+)*)[\s-]?([€$£¥%]|\p{L}+)?")


def _measures(text: str) -> dict[tuple[str, int], set[str]]:
    found: dict[tuple[str, int], set[str]] = {}
    plain = text.casefold().replace("one day", "some day")
    spelt = WORD.sub(lambda word: str(_ALL_NUMBERS.get(word[0], word[0])), plain)
    for match in _MEASURED.finditer(_SQUARE.sub("sq", spelt)):
        for sign in (match[1], match[3]):
            for which, units in enumerate(UNITS):
                if sign and sign in units:
                    found.setdefault((_value(match[2], ""), which), set()).add(units[sign])
    return found


def is_unit(word: str) -> bool:
    """Whether a word in small letters is a unit."""
    return any(word in units for units in UNITS)


def wrong_unit(content: str, said: str) -> str | None:
    """A figure with another unit than it was said with."""
    content, said = _in_ascii(content), _in_ascii(_with_halves(said))
    known = _measures(said)
    numbers = _numbers(said)
    bare = {_value(one[2], "") for one in _MEASURED.finditer(said.casefold()) if not one[1] and not one[3]}
    for (number, which), units in _measures(content).items():
        # What nobody said in figures was counted from words; "their 30s" are no seconds.
        if number not in numbers or number in bare or (units == {"s"} and f"{number}s" in content):
            continue
        beside = set().union(*(units for (_, kind), units in known.items() if kind == which))
        others = known.get((number, which)) or (_UNSAID[which] and _UNSAID[which] | beside)  # "from 800 ms to 240"
        if others and not units & others:
            return f"{number} was said in another unit"
    return None


def is_span_said(phrase: str, said: str) -> bool:
    """Whether the number and the unit of a span of time were said, in digits, words or another language."""
    spans, numbers = UNITS[1], _numbers(phrase)
    units, heard = ({spans[one] for one in WORD.findall(text.casefold()) if one in spans} for text in (phrase, said))
    return bool(units and numbers) and units <= heard and numbers <= _numbers(said)


_SQUARE = linear(r"\b(?:square|sq\.?)\s")
_UNSAID: tuple[set[str], ...] = ({"eur", "usd", "gbp", "jpy", "chf", "percent"}, {"y"}, set(), set(), set(), set())
"""The units that a figure without a unit may mean, by what they measure: a currency or a share ("60/40"), years of age.
An empty set: any unit."""
