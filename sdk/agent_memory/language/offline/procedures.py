"""Recognises how-to messages: numbered lists, "first … then … finally", "to deploy X: run this, then that"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent_memory.language.offline.text import sentences, straighten

_LISTED = re.compile(r"^[ \t]*(?:\d{1,2}[.)]|step \d+[:.)]?)[ \t]+(?P<step>\S.*)$", re.I | re.M)
_GOAL = re.compile(
    r"^(?:so |and |ok(?:ay)?,? |also,? )?(?:(?:in order )?to (?P<verb>[a-z]+)\b|(?:the )?(?:steps?|process|procedure|way|recipe|runbook)"
    r" (?:to|for|of)\b|here(?:'s| is) how\b|how (?:we|i|to)\b|when(?:ever)? (?:we|i|you) (?:need|want|have) to\b"
    r"|(?:this is|that's) how\b|(?:we|i) (?:deploy|release|roll ?back|restart|build|publish|onboard|set up|make|do)\b)",
    re.I,
)
_SEQUENCE = re.compile(
    r"\b(?:first(?:ly)?|then|next|after that|afterwards|finally|lastly|once (?:that|it)|second(?:ly)?|third(?:ly)?|followed by"
    r"|before that|and last)\b", re.I
)  # fmt: skip
_IMPERATIVES = re.compile(
    r"(?:^|[,:;.]\s+|\bthen\s+|\band\s+|\bfirst,?\s+|\bfinally,?\s+|\bnext,?\s+|\bafter that,?\s+)(?:you |we |i )?(?:run|push|pull|build|open|click|"
    r"check|create|add|copy|install|restart|deploy|merge|tag|bump|wait|verify|test|start|stop|apply|upgrade|set|update|edit|"
    r"go to|log in|ssh|export|send|submit|fill|sign|get|ask|mix|bake|whisk|stir|heat|preheat|chop|boil|pour|knead|let|"
    r"drain|turn|press|hold|select|call|email|notify|scale|delete|remove|clean|back up|restore|fold|rest|season|fry|roast|"
    r"cut|attach|upload|download|review|approve|rotate|invalidate|flush|promote|switch|enable|disable|disconnect|connect)\b",
    re.I,
)
_LONGEST = 1_500


@dataclass(frozen=True, slots=True)
class Procedure:
    """A how-to: the words of the turn that give it, and where they stand."""

    quote: str
    start: int

    @property
    def end(self) -> int:
        """Where the how-to ends in the turn."""
        return self.start + len(self.quote)


def find(content: str) -> Procedure | None:
    """The how-to that a turn gives, if it gives one."""
    if content.rstrip().endswith("?") or len(content) > 4 * _LONGEST:
        return None
    return _listed(content) or _told(content)


def _listed(content: str) -> Procedure | None:
    """Two or more numbered steps, with the line that introduces them."""
    steps = list(_LISTED.finditer(content))
    orders = sum(bool(_IMPERATIVES.search(step["step"])) for step in steps)
    if len(steps) < 2 or orders * 2 < len(steps):
        return None
    start, end = steps[0].start(), steps[-1].end()
    above = content[:start].rstrip()
    introduction = above.rfind("\n") + 1
    if above[introduction:].strip():
        start = introduction + len(above[introduction:]) - len(above[introduction:].lstrip())
        last = sentences(above[introduction:])
        start = introduction + last[-1].start if last else start
    quote = content[start:end]
    return Procedure(quote, start) if len(quote) <= _LONGEST else None


def _told(content: str) -> Procedure | None:
    """A run of sentences that give steps in order, from the one that names the goal."""
    pieces = sentences(content)
    for at, piece in enumerate(pieces):
        text = straighten(piece.text)
        if piece.text.endswith("?") or not (
            _GOAL.match(text) or re.match(r"first(?:ly)?,? (?:you |we |i )?\w+", text, re.I)
        ):
            continue
        end = at
        for following in pieces[at + 1 :]:
            plain = straighten(following.text)
            if following.text.endswith("?") or not (_SEQUENCE.search(plain) or _IMPERATIVES.match(plain)):
                break
            end += 1
        last = pieces[end]
        quote = content[piece.start : last.start + len(last.text)]
        if _is_stepwise(straighten(quote)) and len(quote) <= _LONGEST:
            return Procedure(quote, piece.start)
    return None


def _is_stepwise(text: str) -> bool:
    """Whether a text gives at least two orders, in an order that it names."""
    orders = len(_IMPERATIVES.findall(text)) + len(
        re.findall(r"\bthen (?!i\b|we\b|you\b|the\b)[a-z]+ [a-z]+", text, re.I)
    )
    told_in_past = re.search(r"\b(?:i|we) (?:went|ran|did|had|was|were|got|saw|took|made)\b", text, re.I)
    return orders >= 2 and bool(_SEQUENCE.search(text) or ":" in text) and not told_in_past
