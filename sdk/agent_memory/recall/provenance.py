"""Provenance: why a memory is believed, back to the words of the transcript."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from agent_memory.models import Memory, Provenance, Source, Turn
from agent_memory.screening.findings import find_instructions, find_secrets
from agent_memory.store.client import Store
from agent_memory.store.memories import get_memories, get_memory, history, made_from
from agent_memory.store.turns import in_order, turns_by_id
from agent_memory.text.folding import folded


async def why(store: Store, user_id: str, memory_id: str) -> Provenance:
    """Where a memory comes from: its turns, its source memories, its versions.

    Costs a query for each source thread and for each level of source memories.

    Raises:
        NotFound: if the user has no such memory.
    """
    memory, _ = await get_memory(store, user_id, memory_id)
    versions, turns, sources, related, derived = await asyncio.gather(
        history(store, user_id, memory_id),
        _turns(store, memory),
        get_memories(store, user_id, memory.source_ids),
        get_memories(store, user_id, memory.related_ids),
        made_from(store, user_id, memory_id),
    )
    kept = {turn.id for turn in turns}
    waits = memory.status != "active"
    return Provenance(
        memory=memory,
        turns=turns,
        missing_turn_ids=[turn_id for turn_id in memory.source_turn_ids if turn_id not in kept],
        sources=sorted(sources, key=lambda source: (source.created_at, source.id)),
        related=sorted(related, key=lambda one: (one.created_at, one.id)),
        derived=sorted(derived, key=lambda one: (one.created_at, one.id)),
        doubtful=_doubtful([memory.content, *(turn.content for turn in turns)], memory.source) if waits else [],
        replaced=[version for version in versions if version.superseded_by == memory.id],
        replaced_by=next((version for version in versions if version.id == memory.superseded_by), None),
        history=versions,
    )


def _doubtful(texts: list[str], source: Source) -> list[str]:
    """The words of texts that the screen takes for an order to a model, or for a secret."""
    found: dict[str, None] = {}
    for given in texts:
        text = folded(given)
        for one in [*find_instructions(text, source), *find_secrets(text)]:
            found[text[one.start : one.end]] = None
    return list(found)


async def _turns(store: Store, memory: Memory) -> list[Turn]:
    named: dict[str, list[str]] = defaultdict(list)
    for thread_id, turn_id in await _places(store, memory):
        named[thread_id].append(turn_id)
    found = await asyncio.gather(*(turns_by_id(store, memory.user_id, *place) for place in named.items()))
    return in_order([turn for turns in found for turn in turns])


async def _places(store: Store, memory: Memory) -> list[tuple[str, str]]:
    """The source turns of a memory, each with its thread, because ids are unique only within a thread.

    A memory that belongs to no conversation (merged, combined) takes them from its source memories.
    """
    places: dict[tuple[str, str], None] = {}
    seen = {memory.id}
    level = [memory]
    while level:
        places |= {(one.thread_id, turn): None for one in level if _is_of_a_talk(one) for turn in one.source_turn_ids}
        deeper = [one for one in level if not _is_of_a_talk(one)]
        ids = {origin for one in deeper for origin in (*one.source_ids, *one.supersedes_ids)} - seen
        seen |= ids
        level = await get_memories(store, memory.user_id, sorted(ids))
    return list(places)


def _is_of_a_talk(memory: Memory) -> bool:
    return not memory.thread_id.startswith("__")
