"""The terminal: where text, JSON, progress and the log go, and how outside text is made safe to print.

Whatever a command prints passes through here: tables and lines are folded as they are drawn, JSON escapes what a
terminal would not show as it is, and so loses nothing.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from agent_memory.text.folding import folded

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

PIPED_WIDTH = 100
"""Columns if the output is not a terminal."""


class _Console(Console):
    """A console on which no text can control the terminal, hide itself or change the order of text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments to draw: text is folded, rich's own cursor movements are not."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(_drawn(segment.text), segment.style)


def _drawn(text: str) -> str:
    """A segment that is safe to print. Its own line ends stay; hidden ones become spaces."""
    return text if text == "\n" else "\n".join(folded(line).replace("\n", " ") for line in text.split("\n"))


class _Escapes(dict[int, str]):
    """A character in JSON: unchanged, or escaped if a terminal would not show it unchanged."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = character == "\n" or (character.isprintable() and folded(character) != "")
        self[code] = shown = character if plain else json.dumps(character)[1:-1]
        return shown


_ESCAPES = _Escapes()


class CleanFormatter(logging.Formatter):
    """Records of the log, made safe to print: they quote files, servers and turns."""

    def format(self, record: logging.LogRecord) -> str:
        """One record."""
        return clean(super().format(record))


def stdout() -> Console:
    """The console for results."""
    return _console(sys.stdout)


def stderr() -> Console:
    """The console for progress, hints and errors; results go to standard output."""
    return _console(sys.stderr)


def _console(file: IO[str]) -> Console:
    width = None if file.isatty() or os.environ.get("COLUMNS") else PIPED_WIDTH
    # Markup stays off: text from people may contain square brackets.
    return _Console(file=file, width=width, markup=False, emoji=False, highlight=False)


def emit(value: Any) -> None:
    """Prints a result as JSON: models, dataclasses and times included."""
    from pydantic_core import to_jsonable_python

    sys.stdout.write(shown_json(json.dumps(to_jsonable_python(value), ensure_ascii=False, indent=2)) + "\n")


def emit_line(value: Any) -> None:
    """Prints a result as one line of JSON, at once."""
    from pydantic_core import to_jsonable_python

    print(shown_json(json.dumps(to_jsonable_python(value), ensure_ascii=False)), flush=True)


def shown_json(text: str) -> str:
    """Equivalent JSON, in which control and invisible characters are escaped."""
    return text.translate(_ESCAPES)


def clean(text: str) -> str:
    """A text without characters that control a terminal, are invisible, or change the order of text."""
    return folded(text).expandtabs(4)


def one_line(text: str, limit: int | None = None) -> str:
    """A text on one line, cut with an ellipsis if it is longer than the limit."""
    line = " ".join(clean(text).split())
    return line if limit is None or len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """Shows a progress bar on stderr; yields a function to call with the amount done and the total."""
    from rich.progress import MofNCompleteColumn

    with _bar(label, MofNCompleteColumn()) as update:
        yield update


@contextmanager
def waiting(label: str) -> Iterator[None]:
    """Shows on stderr what is being done and for how long, if it cannot be known how much is left."""
    with _bar(label):
        yield


@contextmanager
def _bar(label: str, *figures: ProgressColumn) -> Iterator[Callable[[int, int], None]]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = stderr()
    columns = (TextColumn("{task.description}"), BarColumn(), *figures, TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task(label, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)
