"""Reflect: finds what several memories of a user show together and none of them says.

Insights and lessons, each with its evidence; a count in one counts its evidence. Evidence from anybody but the user
makes it a candidate. An insight is withdrawn if fewer than two of its memories are still valid. One model call, and
none while the memories are unchanged. A request may confine it to the memories of a project.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_memory.language.tasks import REFLECT, Insight, ReflectInput
from agent_memory.models import Memory, ProcessResult
from agent_memory.steps.gather import StepRequest, Tools, view_facts
from agent_memory.steps.over_memories import conclude, digest, is_derived, revoked, taken_together
from agent_memory.steps.step import Draft, Step, Supersession
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES
from agent_memory.store.cursors import StoredCursor
from agent_memory.store.documents import from_document
from agent_memory.store.ids import USER_THREAD
from agent_memory.store.memories import get_memories

NAME = "reflect"
FEWEST = 2
"""Minimum number of memories for an insight."""


@dataclass(frozen=True, slots=True)
class Material:
    """The memories to reflect on (none if they are unchanged), the insights, and those that lost their evidence."""

    memories: list[Memory]
    earlier: list[Memory]
    fallen: list[Memory]
    seen: str


async def think(step: Step, tools: Tools, request: StepRequest) -> Draft | None:
    """Reflects on the newest memories. None if they are unchanged and no insight lost its evidence.

    Raises:
        ModelError: if the model gave nothing usable; everything stays as it is.
    """

    async def read(stored: StoredCursor) -> list[Material]:
        material = await _gather(tools, request.user_id, request.project_id)
        if len(material.memories) < FEWEST or stored.extra.get("seen") == material.seen:
            material = Material([], material.earlier, material.fallen, material.seen)
        return [material] if material.memories or material.fallen else []

    stored, found = await step.read_ahead(tools, request, read)
    if not found:
        return None
    material = found[0]
    made: list[Memory] = []
    supersede: list[Supersession] = []
    result = ProcessResult(step=NAME)
    if material.memories:
        data = ReflectInput(memories=view_facts(material.memories), earlier=view_facts(material.earlier, "r"))
        answer = await tools.chat.run(REFLECT, data)
        result = ProcessResult(step=NAME, rejected=answer.rejected, usage=answer.usage)
        marks = {"type": "reflection", "model": answer.model, "prompt_version": answer.prompt_version}
        for insight, members, replaced in _read(answer.output.insights, material):
            reflection = taken_together("refl", members, insight.content, stored.cursor.runs, USER_THREAD)
            made.append(reflection.model_copy(update=marks | {"kind": insight.kind}))
            supersede += [Supersession.of(old, reflection.id, "update") for old in replaced]
    updated = {intent.loser_id for intent in supersede}
    retire = revoked(material.fallen, updated)
    result.counts = {"insights": len(made), "updated": len(updated), "revoked": len(retire)}
    return await conclude(step, tools, request, stored, material.seen, made, result, supersede=supersede, retire=retire)


STEP = Step(
    name=NAME,
    scope="user",
    think=think,
    runs="deepening",
    cadence="deepen",
    task=REFLECT,
    in_pieces=False,
    options=frozenset({"project_id"}),
)


async def _gather(tools: Tools, user_id: str, project_id: str | None) -> Material:
    limit = tools.limits.deepen_memories
    sql, project = queries.EVIDENCE, {}
    if project_id is not None:
        sql, project = queries.EVIDENCE_OF_PROJECT, {"project": project_id}
    rows = await tools.store.query(MEMORIES, sql, (user_id,), limit=limit, **project)
    memories = [from_document(Memory, row) for row in rows]
    rows = await tools.store.query(MEMORIES, queries.INSIGHTS, (user_id,), limit=limit)
    earlier = [from_document(Memory, row) for row in rows]
    named = sorted({source for insight in earlier for source in insight.source_ids})
    holding = {one.id for one in await get_memories(tools.store, user_id, named) if one.superseded_by is None}
    fallen = [one for one in earlier if is_derived(one) and len(holding.intersection(one.source_ids)) < FEWEST]
    if project_id is not None:
        earlier = [one for one in earlier if one.project_id == project_id]
    return Material(memories, earlier, fallen, digest(memories))


def _read(insights: Sequence[Insight], material: Material) -> list[tuple[Insight, list[Memory], list[Memory]]]:
    """The insights that say something new, with their evidence and the earlier insights that they update."""
    memories = {f"f{number}": memory for number, memory in enumerate(material.memories, 1)}
    earlier = {f"r{number}": memory for number, memory in enumerate(material.earlier, 1)}
    known = {memory.content for memory in material.earlier}
    found = []
    for insight in insights:
        members = [memories[ref] for ref in insight.refs if ref in memories]
        if len(members) < FEWEST or insight.content in known:
            continue
        old = [earlier[ref] for ref in insight.replaces if ref in earlier]
        # A candidate replaces no active memory.
        trusted = all(member.source == "user" for member in members)
        replaced = [one for one in old if is_derived(one) and (trusted or one.status != "active")]
        found.append((insight, members, replaced))
    return found
