"""Figures: the numbers, codes and mail addresses in a text, each in one spelling."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import groupby

from agent_memory.text.folding import folded
from agent_memory.text.patterns import WORD, linear

FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")  # marks are no digits, and nothing follows: it goes back by one mark at most
"""A number with the marks between its digits: 84,500.00 or 12:30 or 3.12.1."""
_PARTS = linear(r"[.,:]")
_SPELT = linear(r"\d+(?:[ -]\d+){2,}")
_RUN = linear(r"[\w-]+")
_MEASURE = linear(r"\d+[a-z]{1,3}")
_MAIL = linear(r"[\w.+-]+@[\w-]+\.\w+")
_WHEN = linear(r"\d{4}-\d{2}-\d{2}\S*|\d{1,2}:\d{2}(?::\d{2})?")
_YEAR = linear(r"(?:19|20)\d\d")
NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "once": 1, "twice": 2,
}  # fmt: skip
"""The words for numbers."""


def figures(text: str) -> set[str]:
    """The numbers in a text without commas and points: $84,500.00 becomes 8450000, and 12:30 stays."""
    return {figure.replace(".", "").replace(",", "") for figure in FIGURE.findall(text)}


@lru_cache(maxsize=32)  # one long text is compared with a hundred others
def telling_figures(text: str) -> frozenset[str]:
    """The figures in a text that identify one thing: codes, numbers, amounts and addresses, each in one spelling.

    Years, dates, times, measures, round and short numbers are left out, because many things share them.
    """
    plain = _WHEN.sub(" ", folded(text).lower())
    found = set(_MAIL.findall(plain))
    plain = _MAIL.sub(" ", plain)
    codes: set[str] = set()

    def without_code(run: re.Match[str]) -> str:
        code = _code_in(run[0])
        if code is None:
            return run[0]
        codes.add(code)
        return f"{run[0].removesuffix(code)} "

    plain = _SPELT.sub(_spelt_together, _RUN.sub(without_code, plain))
    numbers = {number for figure in FIGURE.findall(plain) for number in _numbers(figure)}
    return frozenset(found | codes | {number for number in numbers if _is_telling(number)})


def _numbers(figure: str) -> list[str]:
    """One number if its digits are grouped by thousands, else each run of digits (of a date, a version or a list)."""
    first, *inner = _PARTS.split(figure.removesuffix(".00").removesuffix(",00"))
    is_one = ":" not in figure and all(len(group) == 3 for group in inner[:-1])
    return ["".join([first, *inner])] if is_one else [first, *inner]


def _code_in(run: str) -> str | None:
    """The code at the end of a run of letters, digits and hyphens: with a digit and a letter, not a measure."""
    starts = (i for i, character in enumerate(run) if (i == 0 or run[i - 1] == "-") and _is_plain(character))
    code = run[next(starts, len(run)) :]
    if len(code) < 4 or not any(map(str.isdecimal, code)) or not any("a" <= character <= "z" for character in code):
        return None
    return None if _MEASURE.fullmatch(code) else code


def _is_plain(character: str) -> bool:
    return "a" <= character <= "z" or "0" <= character <= "9"


def _spelt_together(run: re.Match[str]) -> str:
    """Joins digits that were spelt one by one: 4-7-1-1 becomes 4711."""
    parts = WORD.findall(run[0])
    spelt: list[str] = []
    for single, group in groupby(parts, lambda part: len(part) == 1):
        members = list(group)
        spelt += ["".join(members)] if single and len(members) > 2 else members
    return run[0] if len(spelt) == len(parts) else " ".join(spelt)


def _is_telling(number: str) -> bool:
    return len(number) >= 4 and len(number.rstrip("0")) >= 3 and not _YEAR.fullmatch(number)


def spellings(figure: str) -> list[str]:
    """The ways in which people write a figure: 84500 also as 84,500, 84.500 or 84 500, 4711 also as 4-7-1-1."""
    if not figure.isdigit():
        return [figure]
    thousands = f"{int(figure):,}"
    spelt = {thousands, *(thousands.replace(",", mark) for mark in ". ")} | {mark.join(figure) for mark in " -"}
    return [figure, *sorted(spelt - {figure})]
