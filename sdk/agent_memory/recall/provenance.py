"""Where a memory comes from, and what is known of an entity.

Both are derived from a user's memories on each call, so there is nothing to rebuild.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_memory.models import Entity, EntityView, Memory, Provenance, Source, Turn
from agent_memory.screening.findings import find_instructions, find_secrets
from agent_memory.store.client import Store
from agent_memory.store.ids import is_reserved
from agent_memory.store.memories import get_memories, get_memory, history, list_memories, made_from
from agent_memory.store.turns import in_order, turns_by_id
from agent_memory.text.entities import EntityKind, mentions, most_likely, names_in
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
        places |= {
            (one.thread_id, turn): None
            for one in level
            if not is_reserved(one.thread_id)
            for turn in one.source_turn_ids
        }
        deeper = [one for one in level if is_reserved(one.thread_id)]
        ids = {origin for one in deeper for origin in (*one.source_ids, *one.supersedes_ids)} - seen
        seen |= ids
        level = await get_memories(store, memory.user_id, sorted(ids))
    return list(places)


SUMMARY = "## Summary: "
"""The heading of the summary in an archived session."""
MOST_READ = 2000
"""How many memories, the newest, a view reads. A choice: they are read in a second from a near region."""
MOST_NOTED = 300
"""Maximum names noted by a model that are searched in every memory; this many take 0.1 s for 2,000 memories."""
MOST_IDS = 20
"""Memories that an entity of a listing names."""


@dataclass(slots=True)
class _Named:
    """What is known of one name."""

    spellings: Counter[str] = field(default_factory=Counter)
    kinds: list[EntityKind | None] = field(default_factory=list)
    memories: dict[str, Memory] = field(default_factory=dict)

    def add(self, memory: Memory, name: str, kind: EntityKind | None) -> None:
        self.spellings[name] += 1
        self.kinds.append(kind)
        self.memories[memory.id] = memory

    @property
    def name(self) -> str:
        """As it is mostly written."""
        return max(self.spellings.items(), key=lambda item: (item[1], item[0]))[0]

    def entity(self) -> Entity:
        newest_first = sorted(self.memories.values(), key=lambda one: (one.created_at, one.id), reverse=True)
        return Entity(
            name=self.name,
            kind=most_likely(self.name, self.kinds),
            mentions=len(newest_first),
            first_at=newest_first[-1].created_at,
            last_at=newest_first[0].last_said_at,
            memory_ids=[memory.id for memory in newest_first[:MOST_IDS]],
        )


async def read_entities(store: Store, user_id: str) -> list[Entity]:
    """The entities that a user's current memories name, the most mentioned first."""
    found = _by_name(await list_memories(store, user_id, limit=MOST_READ))
    entities = [named.entity() for named in found.values()]
    return sorted(entities, key=lambda one: (-one.mentions, -one.last_at.timestamp(), one.name))


async def read_entity(store: Store, user_id: str, name: str) -> EntityView | None:
    """One entity with its timeline, by its name in any case; None if no memory names it."""
    memories = await list_memories(store, user_id, include_superseded=True, limit=MOST_READ)
    found = _by_name(memories)
    wanted = _key(name)
    if wanted not in found:
        for memory in memories:
            if names_in(folded(memory.content), [wanted]):
                found.setdefault(wanted, _Named()).add(memory, name.strip(), None)
        if wanted not in found:
            return None
    mine = found[wanted]
    beside = {
        other.name: len(mine.memories.keys() & other.memories.keys()) for key, other in found.items() if key != wanted
    }
    along = dict(sorted(((one, count) for one, count in beside.items() if count), key=lambda item: (-item[1], item[0])))
    timeline = sorted(mine.memories.values(), key=lambda one: (one.created_at, one.id))
    return EntityView(**dict(mine.entity()), timeline=timeline, along_with=along)


def _by_name(memories: Sequence[Memory]) -> dict[str, _Named]:
    """Maps names to the memories that contain them. A word that only begins sentences must be a name elsewhere."""
    found: dict[str, _Named] = defaultdict(_Named)
    unsure: list[tuple[Memory, str, EntityKind | None]] = []
    led: list[tuple[Memory, str, str, EntityKind | None]] = []
    noted = Counter(_key(name) for memory in memories for name in _noted(memory))
    given = [name for name, _ in noted.most_common(MOST_NOTED)]
    for memory in memories:
        text = folded(_said(memory))
        for mention in mentions(text):
            alone = mention.begins and " " not in mention.name and mention.kind != "person"
            if mention.whole:
                led.append((memory, mention.whole, mention.name, mention.kind))
            elif alone:
                unsure.append((memory, mention.name, mention.kind))
            else:
                found[_key(mention.name)].add(memory, mention.name, mention.kind)
        for name in _noted(memory):
            found[_key(name)].add(memory, name, None)
        for name in names_in(text, given):
            if memory.id not in found[name].memories:
                found[name].add(memory, name, None)
    for memory, whole, name, kind in led:
        known = whole if _key(whole) in found else name
        found[_key(known)].add(memory, known, kind)
    for memory, name, kind in unsure:
        if _key(name) in found:
            found[_key(name)].add(memory, name, kind)
    return dict(found)


def _said(memory: Memory) -> str:
    """What a memory says: a session begins with headings, which name nothing."""
    return (memory.content.partition(SUMMARY)[2] if memory.kind == "session" else "") or memory.content


def _noted(memory: Memory) -> list[str]:
    """The entities that a model noted of a finished conversation."""
    noted = memory.metadata.get("entities_mentioned")
    return [name.strip() for name in noted if isinstance(name, str) and name.strip()] if isinstance(noted, list) else []


def _key(name: str) -> str:
    return " ".join(folded(name).split()).casefold()
