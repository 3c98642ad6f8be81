"""Corrections: finds statements in a thread's summary that another conversation, or a person, has replaced since.

The words of a summary show whether it is affected, so that no model is called for one that is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_memory.language.tasks import Correction
from agent_memory.models import Memory
from agent_memory.remembering.untold import Told, untold
from agent_memory.steps.gather import BYTES_PER_TOKEN, OVERHEAD, Tools
from agent_memory.store.memories import get_memories
from agent_memory.text.figures import FIGURE, figures
from agent_memory.text.likeness import stems
from agent_memory.text.patterns import linear

_UNSPACED = linear("[\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
"""Runs of Japanese or Chinese, which are written without spaces."""
_ENOUGH = 2 / 3
"""If the successor has all words of a statement (a "not" was added), a text with this share of them says it."""


@dataclass(frozen=True, slots=True)
class Untold:
    """A replacement that a summary does not know yet, with the corrections that it may need."""

    memory_id: str
    since: str
    winner_id: str
    corrections: list[Correction]

    def concerning(self, text: str) -> list[Correction]:
        """Those of the corrections that a text needs."""
        return [one for one in self.corrections if says(text, one.was, one.now)]

    def told(self) -> Told:
        """The note that the summary was corrected."""
        return Told(memory_id=self.memory_id, since=self.since)


def within_tokens(untold: Sequence[Untold], text: str, tokens: int) -> Sequence[Untold]:
    """The first replacements whose corrections of a text fit into `tokens`; at least one."""
    for at, one in enumerate(untold):
        tokens -= sum(_size(correction) for correction in one.concerning(text))
        if tokens < 0 and at > 0:
            return untold[:at]
    return untold


def _size(correction: Correction) -> int:
    return len((correction.was + correction.now).encode()) // BYTES_PER_TOKEN + OVERHEAD


async def read_untold(tools: Tools, user_id: str, thread_id: str) -> list[Untold]:
    """The corrections for a thread's summary. One query if there are none, else one more for each version."""
    found = await untold(tools.store, user_id, thread_id)
    known = {memory.id: memory for memory, _ in found}
    ahead = list(known.values())
    while ahead:
        wanted = sorted({memory.superseded_by for memory in ahead if memory.superseded_by} - known.keys())
        ahead = await get_memories(tools.store, user_id, wanted)
        known |= {memory.id: memory for memory in ahead}
    return [_untold(memory, since, known) for memory, since in found]


def _untold(memory: Memory, since: str, known: dict[str, Memory]) -> Untold:
    """Corrects a memory and each of its later versions to the current one; nothing if there is none."""
    line = {memory.id: memory}
    last = memory
    while last.superseded_by in known and last.superseded_by not in line:  # imported versions may form a circle
        last = known[last.superseded_by]
        line[last.id] = last
    if last.superseded_by is not None or last.status != "active":
        return Untold(memory.id, since, last.id, [])
    corrections = [
        Correction(was=one.content, now=last.content, said_at=last.last_said_at)
        for one in line.values()
        if one.content != last.content
    ]
    return Untold(memory.id, since, last.id, corrections)


def says(text: str, was: str, now: str) -> bool:
    """Whether a text says what a statement said and its successor does not: its figures, or half of its own words."""
    told_figures, told = figures(text), _words(text)
    own_figures, own = figures(was) - figures(now), _words(was) - _words(now)
    if own_figures & told_figures:
        return True
    if own or own_figures:
        return bool(own) and 2 * len(own & told) >= len(own)
    words = _words(was)
    return bool(words) and len(words & told) >= _ENOUGH * len(words)


def _words(text: str) -> frozenset[str]:
    """The stems of its words; of scripts without spaces, the pairs of neighbouring signs."""
    text = FIGURE.sub(" ", text)
    pairs = {run[at : at + 2] for run in _UNSPACED.findall(text) for at in range(max(1, len(run) - 1))}
    return stems(_UNSPACED.sub(" ", text)) | pairs
