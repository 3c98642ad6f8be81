"""Near-duplicates: a new statement replaces an older one that says nearly the same.

Nothing is overwritten: the older memory is superseded, as `duplicate` if it said the same, as `update` if it said
another amount. Both must have the same user and type, and a cosine above the embedding model's threshold.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent_memory.calibration import calibration_of
from agent_memory.language.tasks import Vector
from agent_memory.models import Memory
from agent_memory.steps.effects import Supersession
from agent_memory.steps.gather import Tools
from agent_memory.store.memories import nearest_active
from agent_memory.text.likeness import cosine
from agent_memory.text.restated import Restated, restates

_TYPES = ("fact", "procedural")
NEIGHBOURS = 3
"""How many of the nearest memories are compared: one alone may be about another thing."""


async def replace_near(
    tools: Tools, user_id: str, fresh: Sequence[tuple[Memory, Vector]]
) -> tuple[list[tuple[Memory, Vector]], list[Supersession]]:
    """Compares new memories (each with its vector) with their nearest neighbours, stored or of this batch.

    Returns them, with what they take over from those they replace, and which replaces which. Costs one vector query for
    each new active fact or procedure, and no model call.
    """
    model = tools.embeddings.model_id
    near = calibration_of(model)
    memories: list[tuple[Memory, Vector]] = []
    supersede: list[Supersession] = []
    taken: set[str] = set()
    for memory, vector in fresh:
        if memory.type in _TYPES and memory.status == "active":
            stored = await nearest_active(
                tools.store, user_id, memory.type, vector, tools.embeddings.model_id, NEIGHBOURS
            )
            batch = [(earlier, cosine(theirs, vector)) for earlier, theirs in memories if earlier.type == memory.type]
            for old, similarity in sorted([*stored, *batch], key=lambda pair: -pair[1]):
                how = restates(old.content, memory.content) if similarity > near.duplicate else None
                if how is None or old.id in taken or old.status != "active" or old.last_said_at > memory.created_at:
                    continue
                taken.add(old.id)
                supersede.append(_supersession(old, memory, how))
                memory = _heir(old, memory, how)
        memories.append((memory, vector))
    return memories, supersede


def _supersession(old: Memory, new: Memory, how: Restated) -> Supersession:
    ends = max(new.valid_from or new.created_at, old.valid_from or old.created_at) if how == "update" else None
    return Supersession(loser_id=old.id, loser_thread_id=old.thread_id, winner_id=new.id, reason=how, valid_to=ends)


def _heir(old: Memory, new: Memory, how: Restated) -> Memory:
    """The new memory with the old one's age and confidence if it says the same, and naming the old one in any case."""
    changes: dict[str, object] = {"supersedes_ids": [*new.supersedes_ids, old.id]}
    if how == "duplicate":
        changes |= {
            "valid_from": min(new.valid_from or new.created_at, old.valid_from or old.created_at),
            "confidence": max(new.confidence, old.confidence),
            "importance": max(new.importance, old.importance),
        }
    return new.model_copy(update=changes)
