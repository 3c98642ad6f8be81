"""Pieces: turns in portions that a model can read. A turn that is too long for one is cut, never left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent_memory.models import Turn
from agent_memory.text.patterns import Linear, linear
from agent_memory.text.sentences import END

BYTES_PER_TOKEN = 4
"""Bytes of UTF-8 in a token, roughly."""
OVERHEAD = 8
"""Tokens of the JSON around a turn."""
_SPACE = re.compile(r"\s")  # one class: it reads every character once
_CUTS = (linear(r"\n\s*\n"), linear(r"\n"), END, _SPACE)
"""Where a text is best cut: between paragraphs, lines, sentences, words."""


def size(turn: Turn) -> int:
    """About how many tokens a turn takes."""
    return len(turn.content.encode()) // BYTES_PER_TOKEN + OVERHEAD


def portions(turns: Sequence[Turn], tokens: int) -> Iterator[list[Turn]]:
    """These turns in order, together where they fit; a turn that does not fit alone in several parts of its text."""
    together: list[Turn] = []
    room = tokens
    for turn in turns:
        if together and size(turn) > room:
            yield together
            together, room = [], tokens
        if size(turn) > tokens:
            for part in cut(turn.content, (tokens - OVERHEAD) * BYTES_PER_TOKEN):
                yield [turn.model_copy(update={"content": part})]
            continue
        together.append(turn)
        room -= size(turn)
    if together:
        yield together


def cut(text: str, most: int) -> Iterator[str]:
    """Cuts a text into parts of at most `most` bytes of UTF-8. Together they are the text."""
    data = text.encode()
    start = 0
    while len(data) - start > most:
        window = data[start : start + most].decode(errors="ignore")
        end = len(window)
        place = next((at for pattern in _CUTS if (at := _last(pattern, window)) > end // 2), end)
        yield window[:place]
        start += len(window[:place].encode())
    yield data[start:].decode()


def _last(pattern: Linear | re.Pattern[str], text: str) -> int:
    """Where the last match ends; 0 if there is none."""
    return max((match.end() for match in pattern.finditer(text)), default=0)
