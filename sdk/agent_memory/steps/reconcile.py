"""Reconcile: finds duplicates and contradictions among a user's facts in one pass.

The model only says which facts clash. The winner is decided here, always in the same way: the fact said last, then the
more confident one, then the greater id. Since this is a total order, chains need no special handling and there are no
cycles: every loser points at a fact that beats it.

It compares as many of the newest facts as one prompt can hold. If there are more, a part of the space goes to older
ones that are similar to new ones, so that a contradiction is found even if one side is old. Choosing them costs at most
`SEEDS` vector queries and two others, and no model call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent_memory.calibration import calibration_of
from agent_memory.language.roles import model_of
from agent_memory.language.tasks import RECONCILE, ReconcileInput, ReconcileOutput
from agent_memory.models import Memory, ProcessResult, content_hash, iso, now
from agent_memory.steps.gather import StepRequest, Tools, view_facts
from agent_memory.steps.step import Draft, Effects, Step, Supersession
from agent_memory.store.containers import MEMORIES
from agent_memory.store.counters import count_extractions
from agent_memory.store.cursors import StoredCursor, read_cursor
from agent_memory.store.documents import to_document
from agent_memory.store.ids import USER_THREAD, derived_id
from agent_memory.store.memories import nearest_active, newest_facts, recorded_since

NAME = "reconcile"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a reconciliation will do: new merged facts, and who is replaced by whom."""

    merged: list[Memory]
    supersede: list[Supersession]
    counts: dict[str, int]


async def think(step: Step, tools: Tools, request: StepRequest) -> Draft | None:
    """Finds duplicates and contradictions among the newest facts, and older ones similar to new ones.

    None if there are fewer than two facts, or if the same model has already compared them.

    Raises:
        ModelError: if the model returned nothing usable; the facts stay as they are.
    """

    async def read(stored: StoredCursor) -> list[Memory]:
        if request.n is not None:  # a number that the caller gave is used as it is
            facts = await newest_facts(tools.store, request.user_id, request.n)
        else:
            facts = await candidates(tools, request.user_id, stored.extra.get("recorded", ""))
        return facts if len(facts) > 1 else []

    stored, facts = await step.read_ahead(tools, request, read)
    if len(facts) < 2:
        return None
    if request.n is None and stored.extra.get("seen") == _seen(tools, facts):
        return await _nothing_new(step, tools, request, stored)
    answer = await tools.chat.run(RECONCILE, ReconcileInput(facts=view_facts(facts)))
    by_ref = {f"f{number}": fact for number, fact in enumerate(facts, 1)}
    plan = make_plan(by_ref, answer.output, tools.embeddings.model_id)
    embedded = await tools.embeddings.embed([memory.content for memory in plan.merged])
    effects = Effects(
        upsert=[to_document(memory, vector) for memory, vector in zip(plan.merged, embedded.vectors, strict=True)],
        supersede=plan.supersede,
        result=ProcessResult(
            step=NAME,
            created=len(plan.merged),
            rejected=answer.rejected,
            counts=plan.counts,
            usage=answer.usage + embedded.usage,
        ),
    )
    recorded = max([stored.extra.get("recorded", ""), *(iso(fact.recorded_at) for fact in facts)])
    losers = {intent.loser_id for intent in plan.supersede}
    left = [fact for fact in [*facts, *plan.merged] if fact.id not in losers]
    extra = await answered(tools, request.user_id) | {"recorded": recorded, "seen": _seen(tools, left)}
    return step.draft(request, stored, effects, extra=extra)


def _seen(tools: Tools, facts: Sequence[Memory]) -> str:
    """Names a comparison: of which facts, when each was said last, by which model and prompt."""
    model = model_of(tools.chat, RECONCILE) or tools.chat
    said = sorted(f"{fact.id} {iso(fact.last_said_at)}" for fact in facts)
    return derived_id("set", model.model_id, model.prompt_version(RECONCILE), *said)


async def _nothing_new(step: Step, tools: Tools, request: StepRequest, stored: StoredCursor) -> Draft | None:
    """The draft that restarts the count without a model call, if anything was extracted since the last run."""
    reached = await answered(tools, request.user_id)
    if reached.items() <= stored.extra.items():
        return None
    return step.draft(request, stored, Effects(result=ProcessResult(step=NAME)), extra=dict(stored.extra) | reached)


async def answered(tools: Tools, user_id: str) -> dict[str, Any]:
    """The count that the cursor stores after any answer, usable or not. The next run is counted from it."""
    return {"extractions": await count_extractions(tools.store, user_id)}


async def next_run(tools: Tools, user_id: str, every: int, extractions: int) -> int | None:
    """The number of the reconciliation that is due once `every` extractions were committed since the last one.

    None if none is due, as with fewer `extractions` in all. If `every` is 0, none ever is.
    """
    if every <= 0 or extractions < every:
        return None
    stored = await read_cursor(tools.store, MEMORIES, (user_id, USER_THREAD), NAME)
    fresh = extractions - int(stored.extra.get("extractions", 0))
    return stored.cursor.runs if fresh >= every else None


STEP = Step(
    name=NAME,
    scope="user",
    think=think,
    runs="counted",
    cadence="reconcile",
    next_run=next_run,
    task=RECONCILE,
    in_pieces=False,
    then=("correct",),
    kept_after_failure=answered,
    options=frozenset({"n"}),
)


def make_plan(facts: dict[str, Memory], output: ReconcileOutput, embedding_model: str) -> Plan:
    """Turns a model's findings into supersessions. Refs that are not in `facts` and repeats are passed over."""
    merged: list[Memory] = []
    stands_for: dict[str, Memory] = {}
    supersede: list[Supersession] = []
    for group in output.duplicates:
        members = [facts[ref] for ref in dict.fromkeys(group.refs) if ref in facts and ref not in stands_for]
        if len(members) < 2:
            continue
        result = _merged(members, group.content, embedding_model)
        merged.append(result)
        stands_for |= {ref: result for ref in group.refs if ref in facts}
        supersede += [Supersession.of(m, result.id, "duplicate") for m in members]
    lost = _lost(facts, output, stands_for)
    supersede += lost
    losers = {intent.loser_id for intent in supersede}
    kept = sum(fact.id not in losers for fact in facts.values())
    counts = {"kept": kept, "merged": len(supersede) - len(lost), "contradicted": len(lost)}
    return Plan(merged, supersede, counts)


def _lost(facts: dict[str, Memory], output: ReconcileOutput, stands_for: dict[str, Memory]) -> list[Supersession]:
    """The losers of contradictions, each with the fact ranked just above it; the lowest first.

    In that order every winner is still active when its loser is marked, even if it loses itself later.
    """
    beaten_by: dict[str, tuple[Memory, Memory, Supersession]] = {}
    for pair in output.contradictions:
        if any(ref not in facts for ref in pair.refs):
            continue
        loser, winner = sorted((stands_for.get(ref, facts[ref]) for ref in pair.refs), key=_rank)
        known = beaten_by.get(loser.id)
        if loser.id == winner.id or (known and _rank(known[1]) <= _rank(winner)):
            continue
        intent = Supersession.of(loser, winner.id, pair.reason, _end(loser, winner))
        beaten_by[loser.id] = (loser, winner, intent)
    return [intent for _, _, intent in sorted(beaten_by.values(), key=lambda entry: _rank(entry[0]))]


def _rank(memory: Memory) -> tuple[datetime, float, str]:
    """The order that decides a contradiction: said later, then more confident, then the greater id."""
    return (memory.last_said_at, memory.confidence, memory.id)


def _end(loser: Memory, winner: Memory) -> datetime:
    """Until when the loser was true: until the winner was, but never before it began."""
    since = winner.reaffirmed_at or winner.valid_from or winner.created_at
    return max(since, loser.valid_from or loser.created_at)


def _merged(members: Sequence[Memory], content: str, embedding_model: str) -> Memory:
    """One fact that replaces several that say the same: as old as the oldest, with the highest confidence."""
    newest = max(members, key=_rank)
    ids = sorted(member.id for member in members)
    return newest.model_copy(
        update={
            "id": derived_id("fact", *ids),
            "thread_id": USER_THREAD,
            "content": content,
            "confidence": max(member.confidence for member in members),
            "importance": max(member.importance for member in members),
            "source_turn_ids": list(dict.fromkeys(turn for member in members for turn in member.source_turn_ids)),
            "supersedes_ids": ids,
            "valid_from": min(member.valid_from or member.created_at for member in members),
            "recorded_at": now(),
            "updated_at": None,
            "content_hash": content_hash(content),
            "embedding_model": embedding_model,
        }
    )


SEEDS = 20
"""New facts whose neighbours are looked for; reconciliation is due after some ten."""
NEIGHBOURS = 8
OLDER_SHARE = 3
"""One place in this many may go to older facts."""


async def candidates(tools: Tools, user_id: str, since: str) -> list[Memory]:
    """Active facts, newest first, as many as a reconciliation takes.

    `since` is when the newest of the facts of the last time was recorded.
    """
    limit = tools.limits.reconcile_candidates
    newest = await newest_facts(tools.store, user_id, limit)
    if len(newest) < limit:
        return newest  # these are all
    older = await _near_what_is_new(tools, user_id, since, {fact.id for fact in newest})
    taken = older[: limit // OLDER_SHARE]
    pool = newest[: limit - len(taken)] + taken
    return sorted(pool, key=lambda fact: (fact.created_at, fact.id), reverse=True)


async def _near_what_is_new(tools: Tools, user_id: str, since: str, known: set[str]) -> list[Memory]:
    """Facts beyond the newest that are new themselves or similar to new ones, the most similar first."""
    model = tools.embeddings.model_id
    related = calibration_of(model).one_thing
    seeds = await recorded_since(tools.store, user_id, since, model, SEEDS)
    rings = await asyncio.gather(
        *(nearest_active(tools.store, user_id, "fact", vector, model, NEIGHBOURS) for _, vector in seeds)
    )
    best: dict[str, tuple[float, Memory]] = {fact.id: (1.0, fact) for fact, _ in seeds if fact.id not in known}
    for fact, similarity in (found for ring in rings for found in ring):
        if fact.id not in known and similarity > related:
            best[fact.id] = max(best.get(fact.id, (0.0, fact)), (similarity, fact), key=lambda entry: entry[0])
    return [fact for _, fact in sorted(best.values(), key=lambda entry: (-entry[0], entry[1].id))]
