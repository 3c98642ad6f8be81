"""The view of entities: derived from a user's memories on each call, so there is nothing to rebuild."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent_memory.models import Entity, EntityView, Memory
from agent_memory.store.client import Store
from agent_memory.store.memories import list_memories
from agent_memory.text.entities import EntityKind, mentions, most_likely, names_in
from agent_memory.text.folding import folded

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
