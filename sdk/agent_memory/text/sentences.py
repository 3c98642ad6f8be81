"""Sentences, as far as their marks and the ends of lines tell."""

from __future__ import annotations

import re

QUESTION_MARKS = ("?", "？", "؟")
"""Marks that end a question."""

# It looks one sign back, and its repeats have nothing behind them: it never goes back.
END = re.compile(r"(?<=[.!?؟…])\s+|(?<=[。！？])\s*|\n\s*")
"""What stands behind a sentence: white space, none in scripts that need none, or the end of a line."""


def sentences(text: str) -> list[str]:
    """The sentences of a text, without the white space around them."""
    return [sentence for part in END.split(text) if (sentence := part.strip())]
