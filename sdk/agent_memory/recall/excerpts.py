"""Excerpts: cuts a long turn to the stretch that bears on a question, so that a context has room for others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from agent_memory.models import Memory
from agent_memory.recall.relevance import words
from agent_memory.recall.render import Line, marked_off
from agent_memory.store.chunks import told_by
from agent_memory.text.patterns import Linear, linear
from agent_memory.text.sentences import END

LEFT_OUT = "…"
"""Stands where words were left out."""
_PART = linear(r"[,;]\s+")
"""The gap between parts of a sentence."""
_LONG = 120
"""A sentence of more characters than this is taken in parts. A choice."""


def shortened(line: Line, memory: Memory, weights: Mapping[str, float], longest: int) -> Line:
    """The line of a memory. A turn keeps its day, its speaker and at most `longest` characters of its words."""
    said = told_by(memory)
    shown = marked_off(said)
    if memory.kind != "chunk" or len(said) <= longest or not line.text.endswith(shown):
        return line
    text = line.text.removesuffix(shown) + marked_off(excerpt(said, weights, longest))
    return replace(line, text=text, used=line.used | {"cut": True})


def excerpt(text: str, weights: Mapping[str, float], longest: int) -> str:
    """The stretch of a text with most of the words that are asked for; the text itself if it is not too long.

    The stretch has whole sentences, or whole parts of long ones. Only a part that is too long by itself is cut at its
    end. Of stretches that are equally good, one with figures is taken, then the first.

    Args:
        text: What was said.
        weights: What each word of the question (its stem, as `bm25.words` has it) counts.
        longest: Characters.
    """
    if len(text) <= longest:
        return text
    parts = [part for start, end in _split(text, END) for part in _parts(text, start, end)]
    terms = [frozenset(words(text[start:end])) & weights.keys() for start, end in parts]
    best, chosen = (-1.0, False), (0, 0)
    for first, (start, _) in enumerate(parts):
        last = first
        while last + 1 < len(parts) and parts[last + 1][1] - start <= longest:
            last += 1
        end = min(parts[last][1], start + longest)
        held = frozenset[str]().union(*terms[first : last + 1])
        rank = (sum(map(weights.__getitem__, held)), any(map(str.isdigit, text[start:end])))
        if rank > best:
            best, chosen = rank, (start, end)
    start, end = chosen
    before, after = (f"{LEFT_OUT} " if start > parts[0][0] else ""), (f" {LEFT_OUT}" if end < parts[-1][1] else "")
    return before + text[start:end] + after


def _parts(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where the parts of a sentence stand; a short one has one part."""
    if end - start <= _LONG:
        return [(start, end)]
    return [(start + one, start + other) for one, other in _split(text[start:end], _PART)]


def _split(text: str, gap: re.Pattern[str] | Linear) -> list[tuple[int, int]]:
    edges = [0, *(edge for found in gap.finditer(text) for edge in found.span()), len(text)]
    return [(one, other) for one, other in list(pairwise(edges))[::2] if other > one]
