"""Questions about earlier conversations, such as "What did we discuss about authentication?", state nothing themselves.

If such a question and the answer to it were summarised, the summary would match the same question better than the
conversation that answers it. So summaries and archives leave both out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_memory.models import Turn
from agent_memory.settings import ARCHIVE_TRIGGERS
from agent_memory.text.sentences import QUESTION_MARKS, sentences

SESSION_NOTE = "agent_session"
"""The key in a turn's metadata under which an agent's session notes its `session_id` and the `trigger` in the turn."""
_WORDS_BESIDE = 8
"""Maximum words besides the question of a message that only asks: "Hello again, and thanks for yesterday!"."""
_ORDER = "remind"
"""A phrase that starts with this is a question without a question mark, unless one of `_TELLING` follows."""
_TELLING = ("that", "to")


def trigger_in(message: str, triggers: Sequence[str]) -> str | None:
    """The phrase by which a message refers to other conversations; None if there is none."""
    text = _plain(message)
    return next((phrase for phrase in triggers if phrase and _plain(phrase) in text), None)


def note_of(turn: Turn) -> Mapping[str, Any]:
    """What an agent's session noted about a turn."""
    note = turn.metadata.get(SESSION_NOTE)
    return note if isinstance(note, Mapping) else {}


def asks_back(turn: Turn) -> bool:
    """Whether the user only asks for what was said before."""
    noted = note_of(turn).get("trigger")
    phrase = noted if isinstance(noted, str) and noted else trigger_in(turn.content, ARCHIVE_TRIGGERS)
    if turn.role != "user" or phrase is None:
        return False
    asked, beside = False, 0
    for sentence in sentences(turn.content):
        if sentence.endswith(QUESTION_MARKS) or _orders(sentence, phrase):
            asked = True
        else:
            beside += len(sentence.split())
    return asked and beside <= _WORDS_BESIDE


def telling(turns: Sequence[Turn]) -> list[Turn]:
    """The turns without questions about earlier ones and their answers; none if only questions are left."""
    kept: list[Turn] = []
    answers = False
    for turn in turns:
        if turn.role == "user":
            answers = asks_back(turn)
        if not answers:
            kept.append(turn)
    told = (not turn.content.rstrip().endswith(QUESTION_MARKS) for turn in kept if turn.role in ("user", "agent"))
    return kept if any(told) else []


def _orders(sentence: str, phrase: str) -> bool:
    if not _plain(phrase).startswith(_ORDER):
        return False
    _, found, rest = _plain(sentence).partition(_plain(phrase))
    return bool(found) and not rest.strip(" ,:").startswith(_TELLING)


def _plain(text: str) -> str:
    return text.replace("’", "'").casefold()
