"""Consolidate: replaces many facts about one thing by fewer sentences.

Facts are about one thing if each is similar to every other, by the topic cosine of the embedding model. The new
sentence names them as its sources and must keep their figures; they are superseded as duplicates, so their history
stays. One model call for all groups, and none while the groups are unchanged.

A request may name the facts: then exactly these become one, and facts that a later one replaces may be left out.
"""

from __future__ import annotations

from agent_memory.errors import InvalidInput, NotFound
from agent_memory.language.tasks import CONSOLIDATE, ConsolidateInput
from agent_memory.models import Memory, ProcessResult, now
from agent_memory.steps.gather import StepRequest, Tools
from agent_memory.steps.over_memories import alike, conclude, digest, read_known, taken_together, view_groups
from agent_memory.steps.step import Draft, Step, Supersession
from agent_memory.store import queries
from agent_memory.store.cursors import StoredCursor
from agent_memory.store.ids import USER_THREAD
from agent_memory.store.memories import get_memories

NAME = "consolidate"
MOST_GROUPS = 4
"""Groups of one run: up to 48 facts, whose replacements are intents of one commit."""


async def think(step: Step, tools: Tools, request: StepRequest) -> Draft | None:
    """Merges the groups of facts that are large enough. None if there are none, or none that were not looked at.

    Raises:
        ModelError: if the model returned nothing usable; the facts stay as they are.
        NotFound: if the request names a memory that there is not.
        InvalidInput: if it names one that cannot be merged.
    """

    async def read(_: StoredCursor) -> list[list[Memory]]:
        if request.memory_ids is not None:
            return [await _named(tools, request.user_id, request.memory_ids)]
        clock = now()
        known = await read_known(tools, request.user_id, queries.MERGEABLE_FACTS)
        holding = [one for one in known if one.memory.valid_to is None or one.memory.valid_to > clock]
        return (await alike(holding, tools.embeddings.model_id, tools.limits.merge_from))[:MOST_GROUPS]

    stored, groups = await step.read_ahead(tools, request, read)
    seen = digest(memory for group in groups for memory in group)
    named = request.memory_ids is not None
    if not groups or (stored.extra.get("seen") == seen and not named):
        return None
    views, by_ref = view_groups(groups)
    answer = await tools.chat.run(CONSOLIDATE, ConsolidateInput(groups=views, named=True if named else None))
    rejected = list(answer.rejected)
    made: list[Memory] = []
    supersede: list[Supersession] = []
    for conclusion in answer.output.merged:
        members = [by_ref[ref] for ref in conclusion.refs if ref in by_ref]
        if len(members) < 2:
            continue
        if named and len(set(conclusion.refs)) < len(by_ref):
            rejected.append("conclusion: it leaves out some of the memories that were named")
            continue
        merged = taken_together("fact", members, conclusion.content, stored.cursor.runs, USER_THREAD).model_copy(
            update={
                "supersedes_ids": sorted(member.id for member in members),
                "model": answer.model,
                "prompt_version": answer.prompt_version,
            }
        )
        made.append(merged)
        supersede += [Supersession.of(m, merged.id, "duplicate") for m in members]
    result = ProcessResult(
        step=NAME,
        rejected=rejected,
        counts={"groups": len(groups), "consolidated": len(supersede)},
        usage=answer.usage,
    )
    return await conclude(step, tools, request, stored, seen, made, result, supersede=supersede)


STEP = Step(
    name=NAME,
    scope="user",
    think=think,
    runs="deepening",
    cadence="deepen",
    task=CONSOLIDATE,
    in_pieces=False,
    options=frozenset({"memory_ids"}),
)


async def _named(tools: Tools, user_id: str, ids: list[str]) -> list[Memory]:
    found = {memory.id: memory for memory in await get_memories(tools.store, user_id, ids)}
    for id in ids:
        if id not in found:
            raise NotFound(f"no memory {id} of this user")
        why = _unmergeable(found[id])
        if why is not None:
            raise InvalidInput(f"{id} cannot be merged: {why}")
    return sorted(found.values(), key=lambda memory: (memory.created_at, memory.id))


def _unmergeable(memory: Memory) -> str | None:
    if memory.type != "fact":
        return f"it is not a fact but of the type {memory.type}"
    if memory.superseded_by is not None:
        return f"{memory.superseded_by} has taken its place"
    if memory.pinned:
        return "it is pinned"
    if memory.data is not None:
        return "it has data"
    if memory.status != "active" or memory.source != "user":
        return "it waits for review, or does not come from the user"
    return None
