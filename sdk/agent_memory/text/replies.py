"""Short replies: they mean something only together with what was said just before.

"Yes please, the white one" answers a question, "make it 11 instead" corrects a value.
"""

from __future__ import annotations

from agent_memory.text.dates import DAY_NAMES
from agent_memory.text.figures import NUMBERS
from agent_memory.text.patterns import WORD, either, linear
from agent_memory.text.sentences import QUESTION_MARKS, sentences

LONGEST_REPLY = 6
"""Longest short reply, in words. A choice: of the labelled short replies, the longest has five."""
LONGEST_QUESTION = 240
"""Longest question with the sentence before it, in characters. More is a text, not a question. A choice."""
SHORTEST_QUESTION = 5
"""Fewest words of a question that makes sense alone. "Shall I?" needs the sentence before it. A choice."""


def is_short(reply: str) -> bool:
    """Whether a reply needs its question: it is one line of a few words and asks nothing itself."""
    words = reply.split()
    return 0 < len(words) <= LONGEST_REPLY and "\n" not in reply.strip() and not reply.rstrip().endswith(QUESTION_MARKS)


def question_in(text: str) -> str | None:
    """The question at the end of a text; None if there is none. A short question comes with the sentence before it.

    One sentence may follow the question ("It comes in black or white.").
    """
    said = sentences(text)
    asked = next((at for at in range(len(said) - 1, -1, -1) if said[at].endswith(QUESTION_MARKS)), None)
    if asked is None or len(said) - asked > 2:
        return None
    first = asked - 1 if asked and len(WORD.findall(said[asked])) < SHORTEST_QUESTION else asked
    question = " ".join(said[first:])
    return question if len(question) <= LONGEST_QUESTION else None


_POINTING = either("""
    it that them this those instead actually rather again doch lieber stattdessen draus daraus mejor en_vez plutôt
    finalement invece anzi afinal toch liever
""")
_GIVEN_AGAIN = linear(rf"(?i)\b{_POINTING}\b|\b(?:back|down|up) (?:to|by)\b")
"""How a reply speaks of what was just said, in seven languages. With a value, it gives that another one: "make it 11
instead"."""
_DAYS = frozenset(day.lower() for day in DAY_NAMES)


def corrected_in(text: str, reply: str) -> str | None:
    """The last sentence of a text with a value, if a short reply gives it another one; None otherwise."""
    if not (_has_value(reply) and _GIVEN_AGAIN.search(reply)):
        return None
    said = next((sentence for sentence in reversed(sentences(text)) if _has_value(sentence)), None)
    return said if said is not None and len(said) <= LONGEST_QUESTION else None


def _has_value(text: str) -> bool:
    """Whether a text has a figure, a number in words or a weekday."""
    words = WORD.findall(text.lower())
    return any(word[0].isdigit() or word in NUMBERS or word in _DAYS for word in words)
