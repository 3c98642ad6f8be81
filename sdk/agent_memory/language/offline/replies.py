"""Short replies: "Yes please, the grey one" tells something only with the question that it answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_memory.language.offline import lexicon, speech
from agent_memory.language.offline.text import content_words, expand, openings, sentences
from agent_memory.language.tasks import TurnView
from agent_memory.text.patterns import bounded, either

_LONGEST_REPLY = 8
"""In words; a longer one tells what it tells by itself."""
_LONGEST_QUESTION = 200
"""In characters; a longer one is a text, not a question."""
_LEAST_QUESTION = 2
"""Words that carry content; "Shall I?" asks nothing without what stands before it."""
_OF_THE_LISTENER = bounded(
    r"\b(?:your?|shall i|should i)\b|^(?:which|what) \w+ (?:is|are|do|did|size|version|colou?r)\b|\bor\b", re.I
)
_FOR_NOW_WORDS = either("""
    help write draft explain summari[sz]e translate rewrite shorten continue example more_detail mean think
    how_are how's how_is how_was anything_else going feeling feel sound make_sense what's_up show
""")
_FOR_NOW = bounded(rf"\b{_FOR_NOW_WORDS}\b", re.I)
_UNSETTLED = either("""
    never_heard never_tried not_sure do_not_know no_idea maybe dunno whatever either both_are depends later nothing none
    idk
""")
_UNDECIDED = bounded(
    rf"\b{_UNSETTLED}\b"
    r"|^(?:can|could|would|please|what|how|why|show|give|tell|write|make)\b",
    re.I,
)
_CHOICE = bounded(
    r"\bor\b|\b(?:shall|should) i\b|\bwould you (?:like|prefer|rather)\b|\bdo you (?:want|prefer)\b", re.I
)
_COURTESY = frozenset(
    """
    please thank thanks pls yes no sure ok okay exactly right correct yep nope great perfect agreed done deal go going
    ahead absolutely definitely
    """.split()
)


def question_of(turn: TurnView, before: Sequence[TurnView]) -> str | None:
    """The question of the assistant that a turn answers in few words; None if the turn stands alone or tells nothing.

    Yes or no alone does not take over what the assistant said, and what concerns only the answer at hand is no matter
    for later.
    """
    reply = turn.content.strip()
    if not before or before[-1].role != "agent" or len(reply.split()) > _LONGEST_REPLY or "\n" in reply:
        return None
    if (
        speech.is_question(reply)
        or speech.is_foreign(reply)
        or speech.is_planted(reply)
        or _UNDECIDED.search(expand(reply))
    ):
        return None
    if not [word for word in content_words(_without_opening(reply)) if word not in _empty()]:
        return None
    asked = _question(before[-1].content)
    if (
        asked is None
        or len(content_words(asked)) < _LEAST_QUESTION
        or speech.is_planted(asked)
        or _FOR_NOW.search(expand(asked))
        or not _OF_THE_LISTENER.search(asked)
    ):
        return None
    return asked


def is_choice(question: str) -> bool:
    """Whether a question offers something to choose, so that its answer is a decision."""
    return bool(_CHOICE.search(question))


def _question(content: str) -> str | None:
    """The last question of a text, with the sentence after it that names the choice ("It comes in black or grey.")."""
    said = [sentence.text for sentence in sentences(content)]
    asked = next((at for at in range(len(said) - 1, -1, -1) if said[at].endswith("?")), None)
    if asked is None or len(said) - asked > 2:
        return None
    question = " ".join(said[asked:])
    return question if len(question) <= _LONGEST_QUESTION else None


def _without_opening(reply: str) -> str:
    text = reply
    while opening := openings().match(text):
        text = text[opening.end() :]
    return text


def _empty() -> frozenset[str]:
    return lexicon.EMOTIONS | lexicon.PRAISE | _COURTESY | lexicon.GENERIC_NOUNS
