"""Rejections: counts the reasons for which items of an answer were dropped or changed, for the log.

A reason for a caller may repeat words of the talk ("nobody said Lisbon"). A log has no content of users, so such a
reason is counted under its form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from agent_memory.text.patterns import linear

_LABEL = linear(r"^(?:(?:extraction|summary): )?[a-z_]+(?: \d{1,9})?: ")
"""The item of an answer that a reason is about: "memory 3", "key_points"."""
_NUMBER = linear(r"^(\d{1,9}) (.+)$")
_OWN_WORDS = "kept in the user's own words, because "
_CHANGES = ("kept without ", "the answer was ")
_SHAPE = linear(r"^[\w.]+: [A-Z]")
"""What pydantic says of a field."""
_FORMS = (
    "nobody said …",
    "… was said in another unit",
    "… was said of something else",
    "… was said as the opposite bound",
    "… was said with the opposite direction",
    "… was not said to be the reason",
    "… is the opposite of what was said",
    "… changed places",
    "it was said of …",
    "it was done …",
    "somebody else …",
    "only … was said",
    "it loses …",
    "its sentence loses …",
    "a range from … was said",
    "… was excepted",
    "… is in an earlier …",
    "data…",
)
"""Reasons that repeat words of the talk or of the answer, each with "…" in their place."""
_FORM = {form: linear(rf"^{re.escape(form).replace('…', '.+')}$") for form in _FORMS}
_PLAIN = linear(
    r"^(?:its? (?:is|has|was|cites|quotes|names|leaves|quote|quotes|kind|data|sentence)\b[^\d\"“”]*"
    r"|it has more than [\d,]+ characters|it leaves out a \"not\""
    r"|the (?:answer|user|reason|\"not\") [^\d“”]*|only the agent said it|both sides are the same fact"
    r"|(?:a duplicate is|called duplicates|entries that|more than one commit|that were forgotten|for which the tier|"
    r"about what the settings|memories: the answer|an account about)\b[^“”]*)$"
)
"""Reasons without any word of a talk."""
OTHERWISE = "another reason"
_ERROR = "an error that its dead letter names"


def reasons_of(lines: Sequence[str], dead_letters: int = 0) -> tuple[Counter[str], Counter[str]]:
    """How often each reason dropped an item, and how often it changed one, without a word of the talk.

    The last lines are the errors of as many dead letters.
    """
    dropped = +Counter({_ERROR: dead_letters})
    changed: Counter[str] = Counter()
    for line in lines[: len(lines) - dead_letters]:
        reason = _LABEL.sub("", line)
        if reason.startswith(_OWN_WORDS):
            changed[f"{_OWN_WORDS}{_plain(reason.removeprefix(_OWN_WORDS))}"] += 1
        elif reason.startswith(_CHANGES):
            changed[reason if reason.startswith(_CHANGES[1]) else "kept without a field that was wrong"] += 1
        elif (plain := _plain(reason)) == OTHERWISE and (found := _NUMBER.match(reason)):
            dropped[_plain(found[2])] += int(found[1])
        else:
            dropped[plain] += 1
    return dropped, changed


def in_words(reasons: Counter[str]) -> str:
    """The reasons with their counts, the most frequent first: "3 × nobody said …; 1 × it has no quote"."""
    return "; ".join(f"{number} × {reason}" for reason, number in reasons.most_common())


def _plain(reason: str) -> str:
    """A reason without the words that it repeats."""
    if _SHAPE.match(reason):
        return "a field is missing or wrong"
    form = next((form for form, pattern in _FORM.items() if pattern.match(reason)), None)
    return form or (reason if _PLAIN.match(reason) else OTHERWISE)
