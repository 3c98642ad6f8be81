"""Sentences: splits a text at end marks and line ends."""

from __future__ import annotations

import re

from agent_memory.text.patterns import linear

QUESTION_MARKS = ("?", "？", "؟")
"""Marks that end a question."""

_DAY = r"(?:(?<=\b\d\.)|(?<=\b\d\d\.))"
_MONTH = r"(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
GERMAN_DAY = linear(rf"\b\d\d?\. {_MONTH}")
"""A German day ("18. Juli"): the full stop of its number ends no sentence."""
# It looks a few characters back, and nothing follows its repeats, so it never backtracks.
END = re.compile(rf"(?<=[.!?؟…])(?!{_DAY} {_MONTH})\s+|(?<=[。！？])\s*|\n\s*")
"""The gap after a sentence: white space (in scripts without spaces, none), or a line end. A German day ("18. Juli") is
no end."""


def sentences(text: str) -> list[str]:
    """The sentences of a text, without the white space around them."""
    return [sentence for part in END.split(text) if (sentence := part.strip())]
