"""Shared by the steps over a user's memories: reading, grouping, the draft."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from agent_memory.calibration import calibration_of
from agent_memory.language.tasks import FactView, Group, Vector
from agent_memory.models import Memory, ProcessResult, Source, content_hash, now
from agent_memory.screening.screen import screen_memories
from agent_memory.steps.gather import StepRequest, Tools, view_facts
from agent_memory.steps.step import Draft, Effects, Retirement, Step, Supersession
from agent_memory.store.containers import MEMORIES
from agent_memory.store.cursors import StoredCursor
from agent_memory.store.documents import from_document, to_document
from agent_memory.store.ids import derived_id
from agent_memory.text.likeness import cosine

LARGEST_GROUP = 12
"""Maximum number of memories that become one."""


@dataclass(frozen=True, slots=True)
class Known:
    """A memory with its vector."""

    memory: Memory
    vector: Vector


async def read_known(tools: Tools, user_id: str, sql: str) -> list[Known]:
    """The memories that a query names, newest first, if their vectors come from the current model.

    One query of the user's prefix of the partition key; a vector of 1,536 numbers is 15 to 20 KB of it.
    """
    rows = await tools.store.query(MEMORIES, sql, (user_id,), limit=tools.limits.deepen_memories)
    return [
        Known(from_document(Memory, row), row["embedding"])
        for row in rows
        if row.get("embedding_model") == tools.embeddings.model_id
    ]


async def alike(known: Sequence[Known], embedding_model: str, smallest: int) -> list[list[Memory]]:
    """Groups of memories that are about one thing, each alike with every other of its group; the oldest first."""
    return await asyncio.to_thread(_alike, known, calibration_of(embedding_model).topic, smallest)


def _alike(known: Sequence[Known], threshold: float, smallest: int) -> list[list[Memory]]:
    groups: list[list[Known]] = []
    for one in sorted(known, key=lambda one: (one.memory.created_at, one.memory.id)):
        group = next((group for group in groups if _belongs(one, group, threshold)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return [[one.memory for one in group] for group in groups if len(group) >= smallest]


def _belongs(one: Known, group: Sequence[Known], threshold: float) -> bool:
    return len(group) < LARGEST_GROUP and all(cosine(one.vector, other.vector) >= threshold for other in group)


def view_groups(groups: Sequence[Sequence[Memory]]) -> tuple[list[Group], dict[str, Memory]]:
    """Groups as a model sees them, with refs numbered across all groups; and the memory of each ref."""
    flat = [memory for group in groups for memory in group]
    views: list[FactView] = view_facts(flat)
    remaining = iter(views)
    return (
        [Group(facts=[next(remaining) for _ in group]) for group in groups],
        {view.ref: memory for view, memory in zip(views, flat, strict=True)},
    )


def taken_together(kind_of_id: str, members: Sequence[Memory], content: str, run: int, thread_id: str) -> Memory:
    """A memory made from several: as recent as the last, true since the first, with the lowest confidence.

    It is only as trustworthy as its sources: if one is not from the user, it waits for review.
    """
    newest = max(members, key=lambda memory: (memory.created_at, memory.id))
    ids = sorted(member.id for member in members)
    sources: list[Source] = [member.source for member in members if member.source != "user"]
    return Memory(
        id=derived_id(kind_of_id, newest.user_id, *ids, str(run)),
        user_id=newest.user_id,
        thread_id=thread_id,
        type=newest.type,
        kind=newest.kind,
        content=content,
        confidence=min(member.confidence for member in members),
        importance=max(member.importance for member in members),
        source=sources[0] if sources else "user",
        status="candidate" if sources else "active",
        source_ids=ids,
        source_turn_ids=list(dict.fromkeys(turn for member in members for turn in member.source_turn_ids)),
        tags=list(dict.fromkeys(tag for member in members for tag in member.tags)),
        agent_id=_common(member.agent_id for member in members),
        project_id=_common(member.project_id for member in members),
        contributor_id=_common(member.contributor_id for member in members),
        created_at=newest.created_at,
        valid_from=min(member.valid_from or member.created_at for member in members),
        recorded_at=now(),
        content_hash=content_hash(content),
    )


def _common(values: Iterable[str | None]) -> str | None:
    """The value that all share; None if they differ."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def is_derived(memory: Memory) -> bool:
    """Whether a step made this memory, and nobody has corrected or pinned it by hand."""
    return memory.model is not None and not memory.pinned


def revoked(fallen: Iterable[Memory], replaced: Collection[str]) -> list[Retirement]:
    """Withdraws the memories that have lost their sources, except those that a new one replaces."""
    return [Retirement.of(one, "revoked") for one in fallen if one.id not in replaced]


async def conclude(
    step: Step,
    tools: Tools,
    request: StepRequest,
    stored: StoredCursor,
    seen: str,
    made: Sequence[Memory],
    result: ProcessResult,
    *,
    supersede: Sequence[Supersession] = (),
    retire: Sequence[Retirement] = (),
) -> Draft:
    """The draft that writes the conclusions that pass the screen, and what they replace.

    `seen` names what was read, so that it is not read again while it is unchanged.
    """
    screened = screen_memories(made, tools.rules, tools.policy)
    kept = [memory.model_copy(update={"embedding_model": tools.embeddings.model_id}) for memory in screened.memories]
    embedded = await tools.embeddings.embed([memory.content for memory in kept])
    effects = Effects(
        create=[to_document(memory, vector) for memory, vector in zip(kept, embedded.vectors, strict=True)],
        supersede=list(supersede),
        retire=list(retire),
        result=result.model_copy(
            update={
                "created": len(kept),
                "rejected": [*result.rejected, *screened.rejected],
                "usage": result.usage + embedded.usage,
            }
        ),
    )
    return step.draft(request, stored, effects, extra={"seen": seen})


def digest(memories: Iterable[Memory]) -> str:
    """Names a set of memories."""
    return derived_id("set", *sorted(memory.id for memory in memories))
