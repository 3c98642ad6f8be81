"""Disguises: parts of a text that a model reads as another text, and that text.

Base64 and hexadecimal digits; words that are joined by underscores or interrupted by markup, entities and percent
signs; words with a sign between all letters ("I g n o r e"), with digits for letters ("1gn0r3"), or as one name.
"""

from __future__ import annotations

import base64
import binascii
import html
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from agent_memory.text.patterns import linear


class Disguise(NamedTuple):
    """A part of a text, and how it can be read."""

    reading: str
    start: int
    end: int


_ENCODED = linear(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_HEXADECIMAL = linear(r"\b(?:[2-7][0-9A-Fa-f]){16,}\b")
_LEAST_PRINTABLE = 0.9
"""Share of printable characters from which decoded bytes count as text."""


def decoded(text: str) -> Iterator[Disguise]:
    """The texts in Base64 or in hexadecimal digits, because models can read both."""
    for word in _ENCODED.finditer(text):
        reading = _from_base64(word[0])
        if reading is not None:
            yield Disguise(reading, word.start(), word.end())
    for word in _HEXADECIMAL.finditer(text):
        reading = _readable(bytes.fromhex(word[0]))
        if reading is not None:
            yield Disguise(reading, word.start(), word.end())


def _from_base64(word: str) -> str | None:
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _readable(base64.b64decode(plain[: len(plain) // 4 * 4] + _padded(plain), validate=True))
    except binascii.Error:
        return None


def _padded(plain: str) -> str:
    rest = plain[len(plain) // 4 * 4 :]
    return "" if len(rest) < 2 else rest.ljust(4, "=")


def _readable(content: bytes) -> str | None:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    printable = sum(character.isprintable() or character.isspace() for character in text)
    return text if printable >= _LEAST_PRINTABLE * len(text) else None


_WRAPPED = linear(r"[A-Za-z]_|_[A-Za-z]|<[!/A-Za-z]|&#?[0-9A-Za-z]+;|%[0-9A-Fa-f]{2}")
_MARKUP = linear(r"<!--[^>]*-->|</?[A-Za-z][^<>]*>")
_SIGNS = "-._*|+"
_SPELT = linear(
    r"\b\p{L}(?: \p{L}\b){3,}|" + "|".join(rf"\b\p{{L}}(?:[{sign}]\p{{L}}){{2,}}\b[{sign}]?" for sign in _SIGNS)
)
"""A word with one sign between its letters."""
_BETWEEN = linear(rf"[ {_SIGNS.replace('-', '')}-]")
_CAMEL = linear(r"\p{Ll}\p{Lu}\p{Ll}+\p{Lu}\p{Ll}")
_HUMP = linear(r"(\p{Ll})(\p{Lu})")
_WITH_DIGITS = linear(r"\b(?:\p{L}+[013457@$]|[013457@$]+\p{L})[\p{L}013457@$]*")
_FEWEST_WITH_DIGITS = 3
"""How many such words make a text that is written so. "mp3", "4ever" and "b2b" stand alone."""
_AS_LETTERS = [str.maketrans("013457@$", letters) for letters in ("oieastas", "oleastas")]


def unwrapped(text: str) -> Iterator[Disguise]:
    """The lines whose words are joined, interrupted, spelt or written with digits, as the words that they show."""
    if not any(sign.search(text) for sign in (_WRAPPED, _SPELT, _WITH_DIGITS, _CAMEL)):
        return
    start = 0
    for line in text.split("\n"):
        yield from (Disguise(reading, start, start + len(line)) for reading in _words_of(line))
        start += len(line) + 1


def _words_of(line: str) -> Iterator[str]:
    if _WRAPPED.search(line):
        for gap in ("", " "):  # what looks like <b> may stand within a word or between two
            yield html.unescape(unquote(_MARKUP.sub(gap, line))).replace("_", " ")
    if _SPELT.search(line):
        yield _SPELT.sub(lambda word: _BETWEEN.sub("", word[0]), line)
    if len(_WITH_DIGITS.findall(line)) >= _FEWEST_WITH_DIGITS:
        yield from (line.translate(letters) for letters in _AS_LETTERS)
    if _CAMEL.search(line):
        yield _HUMP.sub(r"\1 \2", line)
