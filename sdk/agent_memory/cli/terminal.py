"""The terminal: where words, JSON and progress go, and how text of others is made safe to print."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from rich.console import Console

PIPED_WIDTH = 100
"""Columns when nobody is watching: a pipe has no width of its own."""

# One class: it reads every character once.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def stdout() -> Console:
    """The console for results."""
    return _console(sys.stdout)


def stderr() -> Console:
    """The console for everything that is no result: progress, hints and errors."""
    return _console(sys.stderr)


def _console(file: IO[str]) -> Console:
    width = None if file.isatty() or os.environ.get("COLUMNS") else PIPED_WIDTH
    # Markup stays off: what people said may hold square brackets.
    return Console(file=file, width=width, markup=False, emoji=False, highlight=False)


def emit(value: Any) -> None:
    """Prints a result as JSON: models, dataclasses and times included."""
    from pydantic_core import to_jsonable_python

    sys.stdout.write(json.dumps(to_jsonable_python(value), ensure_ascii=False, indent=2) + "\n")


def clean(text: str) -> str:
    """A text without control characters, so that a transcript cannot steer the terminal."""
    return _CONTROL.sub("�", text.replace("\r\n", "\n").expandtabs(4))


def one_line(text: str, limit: int | None = None) -> str:
    """A text on one line, cut with an ellipsis if it is longer than the limit."""
    line = " ".join(clean(text).split())
    return line if limit is None or len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """Shows a bar on stderr while something runs; yields a function that is told how much is done, and of how much."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = stderr()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task(label, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)
