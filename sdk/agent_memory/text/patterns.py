"""Patterns for text from outside: turns, queries, settings, imports, answers of models.

Python's own engine backtracks. A hostile text can keep it busy as long as its author likes, if the pattern has two
ambiguous repeats: 94 bytes once stopped a server. RE2 searches in time linear in the text, whatever the pattern (Cox,
"Regular Expression Matching in the Wild", 2010). It has no lookaround and no backreferences. Where those are needed,
use two patterns or code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any, cast

import re2

WORD = re.compile(r"\w+")
"""A word as Python defines it. It runs on Python's own engine, which finds words sixty times faster than RE2. That is
safe: one repeat of one class with nothing after it never backtracks."""

_HALVES = re.compile("[\ud800-\udfff]")  # one class: it reads every character once
_CLASSES = {"w": r"\p{L}\p{M}\p{N}_", "d": r"\p{Nd}", "s": r"\s\x0b\x1c-\x1f\x85\p{Z}"}
_FLAGS = {re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s"}


class Linear:
    """A pattern that searches in linear time. Its methods mean what they mean in `re.Pattern`.

    A lone surrogate, which UTF-8 cannot hold, is read as U+FFFD. It is compiled when it is first used: there are over
    a hundred, and a command that needs few of them starts sooner.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        compiled: re.Pattern[str] = re2.compile(self.pattern, _options())
        return compiled

    @cached_property
    def _of_bytes(self) -> re.Pattern[bytes]:
        """The same for texts of which `_bytes_of` makes bytes.

        RE2 need not count characters for each match then, and without the classes of Unicode a program is an eighth as
        long and compiled in a quarter of the time.
        """
        compiled: re.Pattern[bytes] = re2.compile(_for_bytes(self.pattern), _options(re2.Options.Encoding.LATIN1))
        return compiled

    def search(self, text: str) -> re.Match[str] | None:
        """The first match."""
        if (encoded := _bytes_of(text)) is not None:
            return _in_text(self._of_bytes.search(encoded), text)
        return self._compiled.search(_whole(text))

    def match(self, text: str) -> re.Match[str] | None:
        """The match at the beginning."""
        if (encoded := _bytes_of(text)) is not None:
            return _in_text(self._of_bytes.match(encoded), text)
        return self._compiled.match(_whole(text))

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """The match of the whole text."""
        if (encoded := _bytes_of(text)) is not None:
            return _in_text(self._of_bytes.fullmatch(encoded), text)
        return self._compiled.fullmatch(_whole(text))

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All matches, in order."""
        if (encoded := _bytes_of(text)) is not None:
            return (cast("re.Match[str]", _InText(found, text)) for found in self._of_bytes.finditer(encoded))
        return self._compiled.finditer(_whole(text))

    def findall(self, text: str) -> list[Any]:
        """The texts of all matches; of a pattern with groups, those of its groups."""
        if (encoded := _bytes_of(text)) is not None and not self._of_bytes.groups:
            return [text[slice(*found.span())] for found in self._of_bytes.finditer(encoded)]
        return self._compiled.findall(_whole(text))

    def split(self, text: str) -> list[Any]:
        """The text between the matches, with the content of the groups."""
        return self._compiled.split(_whole(text))

    def sub(self, repl: str | Callable[[re.Match[str]], str], text: str) -> str:
        """The text with each match replaced by another text."""
        return self._compiled.sub(repl, _whole(text))


_SIGNS = "cp1252"
"""An encoding with a byte for each sign that phones and models put in place of ASCII's: curly quotes, dashes, "…"."""
_LETTERS = bytes(code for code in range(128, 256) if bytes([code]).decode(_SIGNS, "ignore").isalpha())
"""Its letters beyond ASCII. RE2 knows their other case only in UTF-8."""


def _bytes_of(text: str) -> bytes | None:
    """A text in ASCII and common signs, with one byte for each character; None for other texts."""
    if text.isascii():
        return text.encode()
    try:
        encoded = text.encode(_SIGNS)
    except UnicodeEncodeError:
        return None
    return encoded if len(encoded.translate(None, _LETTERS)) == len(encoded) else None


def _options(encoding: Any = re2.Options.Encoding.UTF8) -> Any:
    options = re2.Options()
    options.encoding = encoding
    options.log_errors = False
    return options


def _in_text(found: re.Match[bytes] | None, text: str) -> re.Match[str] | None:
    return None if found is None else cast("re.Match[str]", _InText(found, text))


class _InText:
    """A match among the bytes of a text, with the methods of `re.Match` that RE2 has, but no templates."""

    __slots__ = ("_found", "_text")

    def __init__(self, found: re.Match[bytes], text: str) -> None:
        self._found = found
        self._text = text

    def __getitem__(self, group: int | str) -> str | None:
        number = group if isinstance(group, int) else self._found.re.groupindex[cast(Any, group.encode())]
        start, end = self._found.span(number)
        return None if start < 0 else self._text[start:end]

    def group(self, *groups: int | str) -> Any:
        parts = tuple(self[group] for group in groups or (0,))
        return parts if len(parts) > 1 else parts[0]

    def groups(self, default: Any = None) -> tuple[Any, ...]:
        parts = (self[number] for number in range(1, self._found.re.groups + 1))
        return tuple(default if part is None else part for part in parts)

    def start(self, group: int = 0) -> int:
        return self._found.start(group)

    def end(self, group: int = 0) -> int:
        return self._found.end(group)

    def span(self, group: int = 0) -> tuple[int, int]:
        return self._found.span(group)


def _whole(text: str) -> str:
    return text if text.isascii() else _HALVES.sub("\ufffd", text)


LONGEST = 1_000
"""The longest text that a bounded pattern reads, in characters. Of 13,000 sentences of talk (five conversations of
LoCoMo, eight of BEAM, two of REALTALK), only two pasted ones are longer; the next has 804. At this length the slowest
pattern takes some 30 ms."""
WIDEST_GAP = 3
"""The widest gap that it reads, in white-space characters. Sentences have two blanks between them, columns more."""
_GAP = re.compile(rf"\s{{{WIDEST_GAP + 1}}}")  # reads four characters at each place


class Bounded:
    """A pattern on Python's engine, which has lookaround, for short texts only.

    It finds nothing in a text longer than `LONGEST` or with a gap wider than `WIDEST_GAP`. So one search has a constant
    upper cost, as long as the pattern is not exponential. A test checks every pattern for that.
    """

    __slots__ = ("_compiled", "pattern")

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._compiled = re.compile(pattern, flags)

    def search(self, text: str) -> re.Match[str] | None:
        """The first match."""
        return self._compiled.search(text) if is_short(text) else None

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The match that begins at a place."""
        return self._compiled.match(text, start) if is_short(text) else None

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """The match of the whole text."""
        return self._compiled.fullmatch(text) if is_short(text) else None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """All matches, in order."""
        return self._compiled.finditer(text) if is_short(text) else iter(())

    def findall(self, text: str) -> list[Any]:
        """The texts of all matches; of a pattern with groups, those of its groups."""
        return self._compiled.findall(text) if is_short(text) else []

    def split(self, text: str) -> list[Any]:
        """The text between the matches, with the content of the groups."""
        return self._compiled.split(text) if is_short(text) else [text]

    def sub(self, repl: str | Callable[[re.Match[str]], str], text: str, count: int = 0) -> str:
        """The text with each match replaced by another text."""
        return self._compiled.sub(repl, text, count=count) if is_short(text) else text


@lru_cache(maxsize=4096)
def is_short(text: str) -> bool:
    """Whether bounded patterns read a text."""
    return len(text) <= LONGEST and _GAP.search(text) is None


@lru_cache(maxsize=2048)
def bounded(pattern: str, flags: int = 0) -> Bounded:
    """A pattern with lookaround, for sentences. It reads short texts only. Each pattern is compiled once."""
    return Bounded(pattern, flags)


def either_of(texts: Iterable[str], flags: int = 0) -> Linear:
    """A pattern that finds any of the texts, letter by letter."""
    return linear("|".join(map(re2.escape, texts)), flags)


def either(entries: str) -> str:
    """A pattern of alternatives, separated by spaces. `_` means a space inside one."""
    return "(?:" + "|".join(entry.replace("_", " ") for entry in entries.split()) + ")"


def plain_words(entries: Iterable[str]) -> str:
    """A pattern of literal words. Longer words come first, so that a shorter one does not hide them."""
    return "(?:" + "|".join(sorted(map(re.escape, entries), key=len, reverse=True)) + ")"


def linear(pattern: str, flags: int = 0) -> Linear:
    r"""A pattern for linear time, compiled at its first use, with the methods of `re.Pattern`.

    As in `re`, `\w`, `\d` and `\s` cover all of Unicode. Unlike in `re`, `\b` knows ASCII words only, `$` without
    MULTILINE matches the very end of the text only, a repeat counts to 1,000 at most, and `start` and `end` of a match
    take the number of a group, not its name.

    Args:
        pattern: The pattern, without lookaround and backreferences.
        flags: IGNORECASE, MULTILINE and DOTALL of `re`.

    Raises:
        re2.error: At the first use: RE2 does not know the pattern.
        ValueError: A flag is not one of the three.
    """
    if flags & ~sum(_FLAGS):
        raise ValueError("patterns know IGNORECASE, MULTILINE and DOTALL")
    letters = "".join(letter for flag, letter in _FLAGS.items() if flags & flag)
    return Linear(f"(?{letters}){_with_unicode(pattern)}" if letters else _with_unicode(pattern))


def _with_unicode(pattern: str) -> str:
    """A pattern whose character classes cover Unicode, as Python's do."""

    def covering(part: str, in_class: bool) -> str:
        return (_class(part[1], in_class=in_class) or part) if part[0] == "\\" else part

    return _replaced(pattern, covering)


def _for_bytes(pattern: str) -> bytes:
    """A pattern that finds the same in the bytes of a text."""
    ignores_case = pattern.startswith("(?i")

    def narrowed(part: str, in_class: bool) -> str:
        if part.isascii() and part[:2] not in (r"\p", r"\P", r"\x"):
            return part
        # "ſ" is a form of "s", the kelvin sign one of "k". What a class of Unicode leaves of ASCII, RE2 folds itself.
        fold = "(?i)" if ignores_case and part[:2] not in (r"\p", r"\P") else ""
        if in_class:
            return _members(f"{fold}[{part}]")
        first, dash, last = part.rpartition("-")  # outside of a class, "a-é" is three characters
        return narrowed(first, False) + dash + narrowed(last, False) if dash else f"[{_members(fold + part)}]"

    return _replaced(pattern, narrowed).encode()


@lru_cache(maxsize=256)
def _members(of: str) -> str:
    r"""The bytes of the characters that a pattern such as `\p{L}`, "é" or `[ -～]` finds, as members of a class."""
    compiled = re2.compile(of, _options())
    found = (code for code in range(256) if compiled.fullmatch(bytes([code]).decode(_SIGNS, "ignore")))
    return "".join(f"\\x{code:02x}" for code in found) or r"\x81"  # which stands for no character


# Each open repeat is of a class and has a bracket behind it that the class lacks.
_PART = re.compile(
    r"(?:[^\\\[\]]|\\x\{\w+\}|\\x\w\w)-(?:[^\x00-\x7f]|\\x\{\w+\}|\\x\w\w)"
    r"|\\(?:x\{\w+\}|x\w\w|[pP]\{\^?\w+\}|[pP]\w|.)|\[\^?\]?|\]|[^\x00-\x7f]",
    re.DOTALL,
)
"""What counts in a pattern: ranges beyond ASCII, escapes, the ends of classes, and what is not ASCII.

A bracket right after the opening one, or after its caret, is a character of the class.
"""


def _replaced(pattern: str, change: Callable[[str, bool], str]) -> str:
    """A pattern with its escapes and its characters that are not ASCII replaced.

    `change` gets one of them, and whether it is in a class.
    """
    in_class = False

    def one(found: re.Match[str]) -> str:
        nonlocal in_class
        part = found[0]
        if part[0] == "[":
            # Inside, an opening bracket is a character, and a closing one right after it too.
            in_class = not in_class or "]" not in part
            return part
        if part == "]":
            in_class = False
            return part
        return change(part, in_class)

    return _PART.sub(one, pattern)


def _class(letter: str, *, in_class: bool) -> str | None:
    members = _CLASSES.get(letter.lower())
    if members is None:
        return None
    if letter.islower():
        return members if in_class else f"[{members}]"
    if in_class:
        raise ValueError(f"\\{letter} inside of a class is not known here")
    return f"[^{members}]"
