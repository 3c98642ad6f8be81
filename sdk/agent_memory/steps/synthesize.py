"""Synthesize: combines how-tos for one purpose from several conversations into one procedure.

The how-tos stay; the procedure names them as its sources. When they change it is combined again. If one of them is no
longer valid and nothing replaces it, the procedure is withdrawn. A source from anybody but the user makes it a
candidate, which is no instruction until it is approved. One model call for all new groups, none without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent_memory.language.tasks import SYNTHESIZE, SynthesizeInput
from agent_memory.models import Memory, ProcessResult
from agent_memory.steps.gather import StepRequest, Tools
from agent_memory.steps.over_memories import (
    alike,
    conclude,
    digest,
    is_derived,
    read_known,
    revoked,
    taken_together,
    view_groups,
)
from agent_memory.steps.step import Draft, Step, Supersession
from agent_memory.store import queries
from agent_memory.store.cursors import StoredCursor
from agent_memory.store.ids import PROCEDURES_THREAD

NAME = "synthesize"
SMALLEST = 2


@dataclass(frozen=True, slots=True)
class Material:
    """Groups of how-tos without a procedure, the existing procedures, and those whose sources are gone."""

    groups: list[list[Memory]]
    made: list[Memory]
    fallen: list[Memory]


async def think(step: Step, tools: Tools, request: StepRequest) -> Draft | None:
    """Combines procedures from new how-tos, and withdraws procedures that lost their sources.

    Raises:
        ModelError: if the model gave nothing usable; everything stays as it is.
    """

    async def read(stored: StoredCursor) -> list[Material]:
        material = await _gather(tools, request.user_id)
        if stored.extra.get("seen") == _seen(material.groups):  # the model was called, and found no procedure in them
            material = Material([], material.made, material.fallen)
        return [material] if material.groups or material.fallen else []

    stored, found = await step.read_ahead(tools, request, read)
    if not found:
        return None
    material = found[0]
    made: list[Memory] = []
    result = ProcessResult(step=NAME)
    if material.groups:
        views, by_ref = view_groups(material.groups)
        answer = await tools.chat.run(SYNTHESIZE, SynthesizeInput(groups=views))
        result = ProcessResult(step=NAME, rejected=answer.rejected, usage=answer.usage)
        for conclusion in answer.output.procedures:
            members = [by_ref[ref] for ref in conclusion.refs if ref in by_ref]
            if len(members) >= SMALLEST:
                procedure = taken_together("proc", members, conclusion.content, stored.cursor.runs, PROCEDURES_THREAD)
                marks = {"kind": "synthesized", "model": answer.model, "prompt_version": answer.prompt_version}
                made.append(procedure.model_copy(update=marks))
    supersede = _replaced(material.made, made)
    replaced = {intent.loser_id for intent in supersede}
    retire = revoked(material.fallen, replaced)
    result.counts = {"procedures": len(made), "updated": len(replaced), "revoked": len(retire)}
    seen = _seen(material.groups) if material.groups else str(stored.extra.get("seen", ""))
    return await conclude(step, tools, request, stored, seen, made, result, supersede=supersede, retire=retire)


STEP = Step(
    name=NAME,
    scope="user",
    think=think,
    runs="deepening",
    cadence="deepen",
    task=SYNTHESIZE,
    in_pieces=False,
    user_thread=PROCEDURES_THREAD,
)


async def _gather(tools: Tools, user_id: str) -> Material:
    known = await read_known(tools, user_id, queries.PROCEDURES)
    told = [one for one in known if one.memory.thread_id != PROCEDURES_THREAD and one.memory.status == "active"]
    made = [one.memory for one in known if one.memory.thread_id == PROCEDURES_THREAD]
    standing = {one.memory.id for one in told}
    covered = [set(one.source_ids) for one in made]
    groups = [
        group
        for group in await alike(told, tools.embeddings.model_id, SMALLEST)
        if len({one.thread_id for one in group}) >= SMALLEST and {one.id for one in group} not in covered
    ]
    fallen = [one for one in made if is_derived(one) and not standing.issuperset(one.source_ids)]
    return Material(groups, made, fallen)


def _replaced(made: Sequence[Memory], new: Sequence[Memory]) -> list[Supersession]:
    """The procedures replaced by new ones that share a source with them. A candidate replaces no active one."""
    return [
        Supersession.of(old, one.id, "update")
        for old in made
        for one in new
        if is_derived(old)
        and not set(old.source_ids).isdisjoint(one.source_ids)
        and (one.status == "active" or old.status != "active")
    ]


def _seen(groups: Sequence[Sequence[Memory]]) -> str:
    return digest(memory for group in groups for memory in group)
