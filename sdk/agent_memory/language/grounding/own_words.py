"""Own words: replaces a model's wording that the turns do not support with the words that the user said.

Whatever is wrong with the model's own sentence, the sentences that it quoted were said. So nothing that was said is
lost, and nothing that was not said is kept. A question, somebody else's words, and a reply that says nothing by itself
make no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_memory.language.grounding.polarity import words_of
from agent_memory.language.grounding.said_dates import has_two_readings
from agent_memory.language.offline.context import moments, tidy, with_dates
from agent_memory.language.offline.replies import question_of
from agent_memory.language.tasks import ExtractedMemory, TurnView
from agent_memory.text.folding import folded
from agent_memory.text.patterns import linear
from agent_memory.text.sentences import QUESTION_MARKS, sentences

UNSURE = 0.5
"""The maximum confidence of such a memory: what the extraction's prompt gives to something "said in passing"."""
_LONGEST = 400
"""Maximum characters, as for a statement of the rules: longer text was pasted, not said."""
_FEWEST = 4
"""Minimum words of a sentence that makes sense by itself. A choice."""
_SPEECH = linear(r"[\"“”„«»]")
_DENSE = linear(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]{6}")
"""Six characters of a script without spaces count as enough words."""


@dataclass(frozen=True, slots=True)
class Reworded:
    """A memory in the words of the user who is quoted, and what the talk does not support in the model's words."""

    memory: ExtractedMemory
    why: str


def in_own_words(memory: ExtractedMemory, turn: TurnView, before: Sequence[TurnView]) -> ExtractedMemory | None:
    """A fact or an episode with the quoted sentences of a user as its content; None if they make no memory.

    The dates in brackets after relative times are ours; a time that may mean either of two days gets none. What the
    model made of the talk beside its content (validity, tags, data) is left out, because it may have the same fault.

    Args:
        memory: the memory, its quote as it stands in the turn.
        turn: the user's turn that has the quote.
        before: the turns just before it.
    """
    quote, text = folded(memory.quote).strip(), folded(turn.content)
    parts = [part for part in _quoted(text, quote) if not part.rstrip("\"'”’) ").endswith(QUESTION_MARKS)]
    said = " ".join(parts)
    if memory.type == "procedural" or not said or len(said) > _LONGEST or _SPEECH.search(said):
        return None
    named = moments(said, turn.created_at, [one.content for one in reversed(before)])
    found = [moment for moment in named if not has_two_readings(moment, turn.created_at)]
    content = tidy(with_dates(said, found))
    if question := question_of(turn.content.strip(), before, alone=True, settles=False):
        content = f"{content.rstrip('.!')} (asked: {question})"
    elif not stands_alone(said):
        return None
    return memory.model_copy(
        update={
            "content": f"{turn.name.split()[0]}: {content}" if turn.name and turn.name.strip() else content,
            "confidence": min(memory.confidence, UNSURE),
            "valid_from": None,
            "valid_to": None,
            "time_phrase": None,
            "tags": [],
            "metadata": {},
            "data": None,
        }
    )


def stands_alone(text: str) -> bool:
    """Whether a text has enough words to make sense by itself, so that others hardly say the same by chance."""
    return len(words_of(text)) >= _FEWEST or _DENSE.search(text) is not None


def _quoted(text: str, quote: str) -> list[str]:
    """The sentences of a text that a quote touches, in order."""
    start = text.find(quote)
    if start < 0 or not quote:
        return []
    found, at = [], 0
    for part in sentences(text):
        at = text.index(part, at)
        if at < start + len(quote) and start < at + len(part):
            found.append(part)
        at += len(part)
    return found
