"""Conditions: finds the clauses of a sentence that hold only if something else comes about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_memory.text.patterns import linear

_CONDITION = linear(
    r"(?:^\W*|\b(or|says?|said|then|(?:['’]ll|will|would|can)\s[^,.;!?]{1,40})\s)"
    r"(?:if|unless|in\swhich\scase|wenn|falls|sofern|si|se|s['’]il)\s",
    re.IGNORECASE,
)
"""A condition at a clause's beginning, or behind its consequence, which the group then has."""
_MANNERS = linear(
    r"\s*(?:(?:you|sie|du|ihr|tu|vous|te|ti|puedes?|quieres?|vuoi|puoi)\b|i text you|any(?:one|body) asks|possible\b|"
    r"need(?:ed|\sbe)\b|necessary\b|only\b|(?:it|that)(?:['’]s|\sis)?\s(?:matters|helps|ok|okay|fine|possible|alright|"
    r"useful|of\sinterest)\b)",
    re.IGNORECASE,
)
"""Conditions of saying something, and not of what is said: "if you can", "if that's ok"."""
_WOULD_BE = linear(
    r"(?:\b(?:will|would|won['’]t|can\s|could|that['’]s\s(?:an?|another|it|over)|we['’]d|i['’]d|werden?|wird|würden?|"
    r"(?:vais|va|allons)\s\p{L}+(?:er|ir|re)|(?:voy|va|vamos)\sa)\b|"
    r"['’]ll\b|\p{L}+(?:rai|rons|ront|ré|remos|rán|remo|ranno)\b)",
    re.IGNORECASE,
)
"""Consequences of a condition: they may not come about."""


def on_condition(parts: Sequence[tuple[str, str]]) -> set[int]:
    """The places of the clauses that hold only on a condition, and of the condition.

    A condition goes with what follows it. Only at a sentence's end it goes with what is ahead, if no "and" or "so"
    parts them: "I will retire, and if it sells we'll move" says of the first clause nothing.
    """
    would_be = [_WOULD_BE.search(part) is not None for _, part in parts]
    last = max((at for at, is_one in enumerate(would_be) if is_one), default=-1)
    found: set[int] = set()
    goes_on = False
    for at, (gap, part) in enumerate(parts):
        condition = _CONDITION.search(part)
        is_one = condition is not None and not _MANNERS.match(part[condition.end() :])
        begins = condition is not None and is_one and not condition[1]
        if would_be[at]:
            found |= {at} if is_one or goes_on else set()
        elif begins and at < last:
            found.add(at)
            goes_on = True
        elif begins and at and would_be[at - 1] and gap == ",":
            found |= {at - 1, at}
    return found
