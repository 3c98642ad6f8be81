"""Talk on its way into the index: the words and the name of a speaker, as far as the screen lets them pass."""

from __future__ import annotations

from typing import NamedTuple

from agent_memory.models import Turn
from agent_memory.rules.switches import Rules
from agent_memory.screening.screen import screen_lines
from agent_memory.settings import PolicySettings
from agent_memory.store.chunks import heads_of


class Spoken(NamedTuple):
    """What was said, and the name of who said it as it may be told (None: only the role may be, or there is none)."""

    name: str | None
    words: str


def screen_talk(turn: Turn, words: str, rules: Rules, policy: PolicySettings) -> Spoken | None:
    """Words of a turn, folded and screened as they will be shown; None where they may not be kept.

    Day, speaker and words are read together, because a secret or an order may begin in the name. Where the screen
    takes something out of the name, or a place that reaches into it, the role stands in the name's place.
    """
    for name, head in heads_of(turn):
        lines = screen_lines([head + words], rules, policy)
        if not lines:
            return None
        if lines[0].startswith(head):
            return Spoken(name, lines[0][len(head) :])
    return next((Spoken(None, line) for line in screen_lines([words], rules, policy)), None)
