"""Matching: pairs the memories derived from turns now with those derived from them before. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent_memory.models import Memory
from agent_memory.text.patterns import WORD

_ENOUGH = 0.5
"""Minimum share of content words in common for two memories to count as versions of one."""
_ENOUGH_OF_A_QUOTE = 0.1
"""The same for memories from the same words of the transcript, which can give two memories."""


@dataclass(frozen=True, slots=True)
class Matched:
    """What happens to the memories of some turns when they are derived again.

    `kept` pairs old ones with new ones in the same words, `changed` pairs old and new, `decided` are new wordings of
    memories that stay as they are (pinned) or stay replaced (by others), `gone` are no longer found. `orphaned` were
    merged with others and are no longer found: their merge now says too much.
    """

    kept: list[tuple[Memory, Memory]] = field(default_factory=list)
    changed: list[tuple[Memory, Memory]] = field(default_factory=list)
    added: list[Memory] = field(default_factory=list)
    decided: list[Memory] = field(default_factory=list)
    gone: list[Memory] = field(default_factory=list)
    orphaned: list[Memory] = field(default_factory=list)


def match(before: Sequence[Memory], found: Sequence[Memory], stale: Callable[[Memory], bool]) -> Matched:
    """Compares the memories derived from turns before (including those replaced since) with those derived now.

    Only active, `stale` and unpinned memories are replaced or withdrawn. A memory replaced by a later statement or by
    hand does not come back because the old words are read again.
    """
    matched = Matched()
    active = {memory.id: memory for memory in before if memory.superseded_by is None}
    # Nobody decided what an earlier derivation replaced: the turns may give it again.
    decided = [one for one in before if one.superseded_by is not None and one.supersede_reason != "rederived"]
    open_ = dict(active)
    rest: list[Memory] = []
    for new in found:
        same = next((old for old in open_.values() if _says_the_same(old, new)), None)
        if same is not None:
            matched.kept.append((open_.pop(same.id), new))
        elif any(_says_the_same(old, new) for old in decided):
            matched.decided.append(new)
        else:
            rest.append(new)
    pairs = [(likeness(old, new), old.id, new.id) for old in [*open_.values(), *decided] for new in rest]
    by_id = {memory.id: memory for memory in decided}
    waiting = {memory.id: memory for memory in rest}
    for score, old_id, new_id in sorted(pairs, reverse=True):
        if score <= 0 or new_id not in waiting or not (old_id in open_ or old_id in by_id):
            continue
        new = waiting.pop(new_id)
        if old_id in by_id:
            by_id.pop(old_id)
            matched.decided.append(new)
            continue
        old = open_.pop(old_id)
        if old.pinned or not stale(old):
            matched.decided.append(new)
        else:
            matched.changed.append((old, new))
    matched.added.extend(waiting.values())
    matched.gone.extend(old for old in open_.values() if stale(old) and not old.pinned)
    matched.orphaned.extend(
        old
        for old in by_id.values()
        if old.supersede_reason == "duplicate" and stale(old) and not any(_says_the_same(old, new) for new in found)
    )
    return matched


def likeness(one: Memory, two: Memory) -> float:
    """How much of two memories is the same, from 0 to 1; 0 if they are not taken for versions of one."""
    if one.type != two.type:
        return 0.0
    words, others = _telling_words(one.content), _telling_words(two.content)
    share = len(words & others) / len(words | others) if words | others else 0.0
    quotes = (one.quote or "").casefold(), (two.quote or "").casefold()
    same_words = all(quotes) and (quotes[0] in quotes[1] or quotes[1] in quotes[0])
    return share if share >= (_ENOUGH_OF_A_QUOTE if same_words else _ENOUGH) else 0.0


def _says_the_same(one: Memory, two: Memory) -> bool:
    return one.type == two.type and one.content_hash == two.content_hash


def _telling_words(text: str) -> set[str]:
    return {word for word in WORD.findall(text.casefold()) if len(word) > 3 or word.isdigit()}
