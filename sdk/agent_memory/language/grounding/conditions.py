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
"""A condition at the beginning of a clause; or one after its consequence, whose words are then in the group."""
_MANNERS = linear(
    r"\s*(?:(?:you|sie|du|ihr|tu|vous|te|ti|puedes?|quieres?|vuoi|puoi)\b|i text you|any(?:one|body) asks|possible\b|"
    r"need(?:ed|\sbe)\b|necessary\b|only\b|(?:it|that)(?:['’]s|\sis)?\s(?:matters|helps|ok|okay|fine|possible|alright|"
    r"useful|of\sinterest)\b)",
    re.IGNORECASE,
)
"""What turns a condition into a manner of speaking: "if you can", "if that's ok"."""
_WOULD_BE = linear(
    r"(?:\b(?:will|would|won['’]t|can\s|could|that['’]s\s(?:an?|another|it|over)|we['’]d|i['’]d|werden?|wird|würden?|"
    r"(?:vais|va|allons)\s\p{L}+(?:er|ir|re)|(?:voy|va|vamos)\sa)\b|"
    r"['’]ll\b|\p{L}+(?:rai|rons|ront|ré|remos|rán|remo|ranno)\b)",
    re.IGNORECASE,
)
"""Signs of a consequence, which may not come about: "will", "would"."""


def on_condition(parts: Sequence[tuple[str, str]]) -> set[int]:
    """The places of the clauses that hold only on a condition, and of the condition.

    A condition applies to what follows it. Only at the end of a sentence does it apply to the clause before it, and
    only without an "and" or "so" between them: in "I will retire, and if it sells we'll move" it says nothing of the
    first clause.
    """
    would_be = [_WOULD_BE.search(part) is not None for _, part in parts]
    last = max((at for at, may_be in enumerate(would_be) if may_be), default=-1)
    found: set[int] = set()
    applies = False
    for at, (gap, part) in enumerate(parts):
        condition = _CONDITION.search(part)
        if condition is not None and _MANNERS.match(part[condition.end() :]):
            condition = None
        begins = condition is not None and not condition[1]
        if would_be[at]:
            found |= {at} if condition or applies else set()
        elif begins and at < last:
            found.add(at)
            applies = True
        elif begins and at and would_be[at - 1] and gap == ",":
            found |= {at - 1, at}
    return found
