"""Names: the words of a text that have a capital letter and begin no sentence."""

from __future__ import annotations

from agent_memory.text.patterns import WORD

_MARKS = frozenset(".!?؟…。！？")
_NO_NAME = "User"
"""How memories call their user."""


def names(text: str) -> list[str]:
    """The words that have a capital letter inside of a sentence, in order; one letter alone is none.

    In any script that has capitals; German writes every noun with one. Of "Jean-Luc" and "Ann's" the parts count.
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
