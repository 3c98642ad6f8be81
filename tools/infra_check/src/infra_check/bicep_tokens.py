"""Tokens of Bicep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["name", "number", "text", "mark", "newline", "end"]

_ESCAPES = {"\\": "\\", "'": "'", "n": "\n", "r": "\r", "t": "\t", "$": "$"}
_BLANK = re.compile(r"(?:[ \t\r]+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"\d+")
_MARK = re.compile(r"=>|==|!=|=~|!~|<=|>=|&&|\|\||\?\?|::|[-+*/%<>=!?:.,@|(){}\[\]]")


class BicepError(Exception):
    """An invalid template, with the place of the error."""

    def __init__(self, file: str, line: int, message: str) -> None:
        super().__init__(f"{file}:{line}: {message}")


@dataclass(frozen=True, slots=True)
class Token:
    """One token. A `text` has parts: literal text, and the tokens of interpolations."""

    kind: Kind
    value: str
    line: int
    parts: tuple[str | tuple[Token, ...], ...] = field(default=(), compare=False)


def tokens(source: str, file: str) -> list[Token]:
    """The tokens of a file, with one `newline` between lines that hold any, and `end` at the end."""
    return list(_Scanner(source, file).scan())


class _Scanner:
    def __init__(self, source: str, file: str) -> None:
        self._source = source
        self._file = file
        self._at = 0

    def scan(self) -> Iterator[Token]:
        yield from self._until(None)
        yield Token("newline", "", self._line())
        yield Token("end", "", self._line())

    def _line(self) -> int:
        return self._source.count("\n", 0, self._at) + 1

    def _until(self, closing: str | None) -> Iterator[Token]:
        """Tokens up to the end, or up to the brace that closes an interpolation."""
        depth = 0
        while self._skip_blank() < len(self._source):
            character = self._source[self._at]
            if closing is not None and depth == 0 and character == closing:
                return
            depth += {"{": 1, "}": -1}.get(character, 0)
            yield self._next(character)
        if closing is not None:
            raise self._error("the interpolation is not closed")

    def _skip_blank(self) -> int:
        blank = _BLANK.match(self._source, self._at)
        if blank:
            self._at = blank.end()
        return self._at

    def _next(self, character: str) -> Token:
        line = self._line()
        if character == "\n":
            self._at += 1
            return Token("newline", "", line)
        if self._source.startswith("'''", self._at):
            return self._block(line)
        if character == "'":
            return self._text(line)
        for kind, pattern in (("name", _WORD), ("number", _NUMBER), ("mark", _MARK)):
            match = pattern.match(self._source, self._at)
            if match:
                self._at = match.end()
                return Token(kind, match.group(), line)  # type: ignore[arg-type]
        raise self._error(f"{character!r} has no meaning here")

    def _block(self, line: int) -> Token:
        end = self._source.find("'''", self._at + 3)
        if end < 0:
            raise self._error("the text is not closed")
        value = self._source[self._at + 3 : end].removeprefix("\n")
        self._at = end + 3
        return Token("text", value, line, (value,))

    def _text(self, line: int) -> Token:
        start = self._at
        self._at += 1
        parts: list[str | tuple[Token, ...]] = [""]
        while True:
            character = self._source[self._at : self._at + 1]
            if character in ("", "\n"):
                raise self._error("the text is not closed")
            if character == "'":
                self._at += 1
                return Token("text", self._source[start : self._at], line, tuple(part for part in parts if part))
            if self._source.startswith("${", self._at):
                self._at += 2
                inner = tuple(self._until("}"))
                self._at += 1
                parts += [(*inner, Token("newline", "", line), Token("end", "", line)), ""]
            else:
                parts[-1] = str(parts[-1]) + self._character(character)

    def _character(self, character: str) -> str:
        self._at += 1
        if character != "\\":
            return character
        escaped = self._source[self._at : self._at + 1]
        if escaped not in _ESCAPES:
            raise self._error(f"\\{escaped} is no escape")
        self._at += 1
        return _ESCAPES[escaped]

    def _error(self, message: str) -> BicepError:
        return BicepError(self._file, self._line(), message)
