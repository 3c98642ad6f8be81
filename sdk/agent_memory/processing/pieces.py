"""Pieces: turns in portions that a model can read. A turn that is too long for one is cut, never left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent_memory.models import Turn

BYTES_PER_TOKEN = 4
"""About so many bytes of UTF-8 are a token."""
OVERHEAD = 8
"""Tokens of what stands around a turn."""
_CUTS = (re.compile(r"\n\s*\n"), re.compile(r"\n"), re.compile(r"(?<=[.!?。！？])\s*"), re.compile(r"\s"))
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
    """A text in parts of at most so many bytes of UTF-8, which together are the text."""
    while len(text.encode()) > most:
        end = len(text.encode()[:most].decode(errors="ignore"))
        place = next((at for pattern in _CUTS if (at := _last(pattern, text, end)) > end // 2), end)
        yield text[:place]
        text = text[place:]
    yield text


def _last(pattern: re.Pattern[str], text: str, end: int) -> int:
    """Where the last match that lies ahead of `end` ends; 0 if there is none."""
    return max((match.end() for match in pattern.finditer(text, 0, end)), default=0)
