"""Screens turns before they are indexed: the words, and the name of the speaker."""

from __future__ import annotations

from typing import NamedTuple

from agent_memory.models import Turn
from agent_memory.rules.switches import Rules
from agent_memory.screening.screen import screen_lines
from agent_memory.settings import PolicySettings
from agent_memory.store.chunks import heads_of


class Spoken(NamedTuple):
    """Screened words and the speaker's name. The name is None if the screen removed it or there is none."""

    name: str | None
    words: str


def screen_talk(turn: Turn, words: str, rules: Rules, policy: PolicySettings) -> Spoken | None:
    """Folds and screens words of a turn. None if they may not be kept.

    Day, speaker and words are screened together, because a secret or an order may begin in the name. If a finding
    touches the name, the role takes the name's place.
    """
    for name, head in heads_of(turn):
        lines = screen_lines([head + words], rules, policy)
        if not lines:
            return None
        if lines[0].startswith(head):
            return Spoken(name, lines[0][len(head) :])
    return next((Spoken(None, line) for line in screen_lines([words], rules, policy)), None)
