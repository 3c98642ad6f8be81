"""Quoting: what somebody once said, as one line that cannot pass for anything but a quotation (docs/decisions/0010)."""

from __future__ import annotations

import re

from agent_memory.text.folding import folded
from agent_memory.text.patterns import linear

_OPENING = linear(r"[<\[]")
_MARKS = {"<": ("|", "｜", "s>", "/s>", "sys>", "/sys>", "<sys>", "</sys>"), "[": ("inst]", "/inst]")}
"""What follows the bracket in the marks between messages, for servers that build one string of all messages."""
_LONGEST_MARK = 7


def quoted(text: str) -> str:
    """A folded text on one line, without the marks of chat templates.

    On a line that begins with "- " it cannot start a section, a role or a message.
    """
    line = " ".join(folded(text).split())

    def apart(bracket: re.Match[str]) -> str:
        behind = line[bracket.end() : bracket.end() + _LONGEST_MARK].lower()
        return f"{bracket[0]} " if behind.startswith(_MARKS[bracket[0]]) else bracket[0]

    return _OPENING.sub(apart, line)


def escaped(text: str) -> str:
    """A text that cannot close an XML element."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
