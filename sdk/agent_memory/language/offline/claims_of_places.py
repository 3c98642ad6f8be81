"""Claims about places: where something of somebody's is, or takes place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from agent_memory.language.offline import lexicon, values
from agent_memory.language.offline.claims import Claim
from agent_memory.language.offline.grammar import Clause
from agent_memory.language.offline.phrases import stems, without_times
from agent_memory.language.offline.text import canon

_LEADS = frozenset({"in", "at", "to"})
_VERBS = frozenset({"be", "get", "hold", "take", "move", "happen", "marri"})
_FRAME = "venue location place hold take move get happen be set schedule plan now instead still"
"""Words that only say that something is somewhere."""


def placed(clause: Clause) -> Iterator[Claim]:
    """The wedding of my sister is in Porto; the venue of the party is the Ritz; my sister gets married in Rome.

    Where somebody lives or works is read elsewhere. The claim is about all that the sentence names beside the place and
    the time, so that only sentences about the same thing are compared.
    """
    if clause.owner == "it" or clause.verb not in _VERBS or clause.time in ("past", "wish"):
        return
    words = [word.strip(",") for word in clause.rest]
    found = _place(words, named=not stems(clause.thing).isdisjoint(_venues()))
    if found is None:
        return
    start, end = found
    place = values.read_text(words[start:end])
    people = stems(clause.owner.split(".")[1:])
    around = " ".join([*clause.thing, *words[: max(start - 1, 0)], *words[end:]])
    things = frozenset(_MARRIED.get(one, one) for one in stems(without_times(around).split())) - _frame()
    is_event = bool(clause.thing) or _MARRIED["marri"] in things
    if place is not None and is_event and things - people:
        yield Claim("self", "place", things | people, place, clause.negative)


_MARRIED = {"marri": "wed"}


def _place(words: Sequence[str], *, named: bool) -> tuple[int, int] | None:
    """Where the name of a place stands: behind "in", "at" or "to", or at the beginning where a venue is named."""
    for at, word in enumerate(words):
        if word.lower() in _LEADS or (named and at == 0):
            start = at + (word.lower() in _LEADS)
            start += words[start : start + 1] == ["the"]
            end = start
            while end < len(words) and words[end][:1].isupper() and words[end].lower() not in _times():
                end += 1
            if end > start:
                return start, end
    return None


@cache
def _frame() -> frozenset[str]:
    return frozenset(canon(word) for word in _FRAME.split())


@cache
def _venues() -> frozenset[str]:
    return frozenset(canon(word) for word in ("venue", "location"))


@cache
def _times() -> frozenset[str]:
    return frozenset(lexicon.MONTHS) | frozenset(lexicon.WEEKDAYS)
