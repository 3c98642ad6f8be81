"""Names: the words of a text that have a capital letter and begin no sentence."""

from __future__ import annotations

from agent_memory.text.patterns import WORD

_MARKS = frozenset(".!?؟…。！？")
_NO_NAME = "User"
"""What memories call their user."""


def names(text: str) -> list[str]:
    """The capitalised words inside sentences, in order. A single letter does not count.

    This works in any script that has capitals. In German it returns every noun. "Jean-Luc" and "Ann's" count by parts.
    """
    found: list[str] = []
    behind = 0
    for word in WORD.finditer(text):
        gap = text[behind : word.start()]
        begins = behind == 0 or (not _MARKS.isdisjoint(gap) and any(sign.isspace() for sign in gap))
        behind = word.end()
        if len(word[0]) > 1 and word[0][0].isupper() and not begins and word[0] != _NO_NAME:
            found.append(word[0])
    return found
