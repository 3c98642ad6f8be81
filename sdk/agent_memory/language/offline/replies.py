"""Short replies: "Yes please, the grey one" tells something only with the question that it answers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_memory.language.offline import foreign, lexicon, speech
from agent_memory.language.offline.text import content_words, expand, openings
from agent_memory.language.tasks import TurnView
from agent_memory.text.languages import is_foreign
from agent_memory.text.patterns import bounded, either
from agent_memory.text.replies import question_in

_LONGEST_REPLY, _LONGEST_ANSWER = 8, 20
"""In words, the latter of a sentence that opens with yes or no; longer ones stand by themselves. Choices."""
_YES_OR_NO = bounded(r"(?:yes|yeah|yep|yup|no|nope|nah|not yet|not really|sure)\b", re.I)
_OF_THE_LISTENER = bounded(
    r"\b(?:your?|shall i|should i)\b|^(?:which|what) \w+ (?:is|are|do|did|size|version|colou?r)\b|\bor\b"
    r"|^(?:what|which|who|where|when|should|how (?:many|much|long|old|often))\b",
    re.I,
)
_FOR_NOW_WORDS = either("""
    help write draft explain summari[sz]e translate rewrite shorten continue example more_detail mean think
    how_are how's how_is how_was anything_else going feeling feel sound make_sense what's_up show
""")
_FOR_NOW = bounded(rf"\b{_FOR_NOW_WORDS}\b", re.I)
_UNSETTLED = either("""
    never_heard never_tried not_sure do_not_know no_idea maybe dunno whatever either both depends later nothing none idk
""")
_UNDECIDED = bounded(rf"\b{_UNSETTLED}\b|^(?:can|could|would|what|how|why|show|give|tell|write)\b", re.I)
_CHOICE = bounded(
    r"\bor\b|\b(?:shall|should) i\b|\bwould you (?:like|prefer|rather)\b|\bdo you (?:want|prefer)\b", re.I
)
_OFFER = bounded(r"\b(?:(?:shall|should|can) i|would you like(?: me)? to|do you want(?: me)? to|want me to)\b", re.I)
_SEEMS = bounded(r"\b(?:sound|look|seem|feel|make)s?\b", re.I)
_EMPTY = lexicon.words("please thank thanks yes no exactly correct yep nope agreed deal go going ahead definitely yet")
_EMPTY |= lexicon.EMOTIONS | lexicon.GENERIC


def question_of(reply: str, before: Sequence[TurnView], *, alone: bool, settles: bool) -> str | None:
    """The question of the assistant that a reply answers; None if the reply stands by itself or tells nothing.

    A reply is short and all that was said (`alone`), or it opens with yes or no and gives a time or has no verb
    (`settles`). Yes or no alone does not take over what the assistant said, and what concerns only the answer at hand
    is no matter for later.
    """
    longest = _LONGEST_ANSWER if settles and _YES_OR_NO.match(reply) else _LONGEST_REPLY if alone else 0
    if not before or before[-1].role != "agent" or len(reply.split()) > longest or "\n" in reply:
        return None
    if speech.is_question(reply) or speech.is_planted(reply):
        return None
    asked = question_in(before[-1].content)
    if asked is not None and foreign.answers(reply, asked):
        return None if speech.is_planted(asked) else asked
    if is_foreign(reply):
        return None
    if _OFFER.search(before[-1].content) and _orders(reply):
        return None
    if _UNDECIDED.search(expand(reply)) or not set(content_words(reply)) - _EMPTY:
        return None
    if asked is None or len(content_words(asked)) < 2 or speech.is_planted(asked) or _FOR_NOW.search(expand(asked)):
        return None
    return asked if _OF_THE_LISTENER.search(asked) else None


def _orders(reply: str) -> bool:
    """Whether a reply to an offer says what to do now: "Yes, start navigation"."""
    while opening := openings().match(reply):
        reply = reply[opening.end() :]
    return not speech.is_statement(reply)


def is_praise(reply: str) -> bool:
    """Whether a reply only says how it finds something ("Yeah, that sounds good")."""
    return bool(_SEEMS.search(reply))


def is_choice(question: str) -> bool:
    """Whether a question offers something to choose, so that its answer is a decision."""
    return bool(_CHOICE.search(question))
