"""Summarize: merges new turns into a thread's summary and its current state; never rebuilds (row S1-11).

What was replaced in another conversation is corrected along with the next turns, or after a reconciliation.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_memory.language.tasks import SUMMARIZE, SummarizeInput, SummarizeOutput, SummaryView, TaskResult
from agent_memory.models import ProcessResult, ThreadState, ThreadSummary, Turn, now
from agent_memory.policy.screen import screen_values
from agent_memory.processing.corrections import Untold, read_untold
from agent_memory.processing.draft import Draft, finish
from agent_memory.processing.gather import StepRequest, Tools, TurnRange, view_turns
from agent_memory.processing.over_turns import Derived, think_over_turns
from agent_memory.processing.pieces import portions
from agent_memory.store.commits import read_cursor
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.documents import to_document
from agent_memory.store.ids import state_id, summary_id
from agent_memory.store.summaries import read_state, read_summary
from agent_memory.store.untold import Told, untold_threads

NAME = "summarize"
PLAN = "summarize.plan"


async def plan(tools: Tools, request: StepRequest) -> list[str]:
    """The threads of a user whose summaries do not know yet what was replaced in other conversations."""
    return await untold_threads(tools.store, request.user_id)


async def think(tools: Tools, request: StepRequest) -> Draft | None:
    """Merges the next turns into the summary, and corrects what was replaced elsewhere. None if there is neither.

    Raises:
        ModelError: if a model is unavailable; the summary stays as it is. An answer that cannot be used makes a
            dead letter instead, if there are turns.
    """
    corrections = [] if request.dead_letter_id else await read_untold(tools, request.user_id, request.thread_id)
    if corrections:  # a process that was killed may have told them, and not taken their marks off
        await finish(tools.store, SUMMARIES, (request.user_id, request.thread_id), NAME)
        corrections = await read_untold(tools, request.user_id, request.thread_id)
    told: list[Told] = []

    async def derive(found: TurnRange) -> Derived:
        written = await _write(tools, request, found.turns, corrections)
        # What is still to be summarised may say it too.
        told.extend([] if found.more else written.told)
        return written.derived

    draft = await think_over_turns(tools, request, SUMMARIES, NAME, derive)
    if draft is None and corrections:
        draft = await _correct(tools, request, corrections)
    return draft and draft.model_copy(update={"told": [*draft.told, *told]})


@dataclass(frozen=True, slots=True)
class Written:
    """A summary to be written, and what it was told."""

    derived: Derived
    told: list[Told]


async def _write(tools: Tools, request: StepRequest, turns: Sequence[Turn], corrections: Sequence[Untold]) -> Written:
    """Has turns merged into the summary, with the corrections that concern it; asks no model if there is neither."""
    earlier = await read_summary(tools.store, request.user_id, request.thread_id)
    state = await read_state(tools.store, request.user_id, request.thread_id)
    known = [earlier.content] if earlier else []
    text = "\n".join([*known, json.dumps(state.state if state else {}), *(turn.content for turn in turns)])
    told = [one.told(text) for one in corrections]
    needed = [correction for one in corrections for correction in one.concerning(text)]
    if not turns and not needed:
        return Written(Derived(ProcessResult(step=NAME)), told)
    view = SummaryView.model_validate(earlier.model_dump()) if earlier else None
    answer: TaskResult[SummarizeOutput] | None = None
    for portion in list(portions(turns, tools.limits.batch_tokens)) or [[]]:
        data = SummarizeInput(
            earlier=answer.output if answer else view,
            earlier_state=answer.output.state if answer else state.state if state else {},
            turns=view_turns(portion),
            never=sorted(tools.rules.deny),
            corrections=needed,
        )
        answer = _after(answer, await tools.chat.run(SUMMARIZE, data))
    assert answer is not None  # there is a portion
    output = _screened(tools, answer.output)
    summary = _merge(request, turns, earlier, output).model_copy(
        update={"model": answer.model, "prompt_version": answer.prompt_version}
    )
    new_state = ThreadState(
        id=state_id(request.user_id, request.thread_id),
        user_id=request.user_id,
        thread_id=request.thread_id,
        state=output.state,
        updated_at=summary.updated_at,
    )
    embedded = await tools.embeddings.embed([summary.content])
    document = to_document(summary, embedded.vectors[0]) | {"embedding_model": tools.embeddings.model_id}
    result = ProcessResult(
        step=NAME,
        created=1 if earlier is None else 0,
        rejected=answer.rejected,
        counts={"corrected": sum(one.shown for one in told)} if needed else {},
        usage=answer.usage + embedded.usage,
    )
    upsert = [document, to_document(new_state) | {"ttl": tools.limits.state_ttl_seconds}]
    return Written(Derived(result, upsert=upsert), told)


async def _correct(tools: Tools, request: StepRequest, corrections: Sequence[Untold]) -> Draft | None:
    """The draft that corrects a summary without new turns. None if there is no summary."""
    stored = await read_cursor(tools.store, SUMMARIES, (request.user_id, request.thread_id), NAME)
    if not stored.etag or await read_summary(tools.store, request.user_id, request.thread_id) is None:
        return None
    written = await _write(tools, request, [], corrections)
    return Draft(
        step=NAME,
        container=SUMMARIES,
        user_id=request.user_id,
        thread_id=request.thread_id,
        cursor=stored.cursor.advanced([]).to_document(),
        etag=stored.etag,
        upsert=written.derived.upsert,
        told=written.told,
        result=written.derived.result,
    )


def _screened(tools: Tools, output: SummarizeOutput) -> SummarizeOutput:
    """A summary without what the user wants forgotten at once, without secrets, and without orders to a model."""
    kept = screen_values(output.model_dump(), tools.rules, tools.policy)
    return SummarizeOutput.model_validate(kept)


def _after(
    before: TaskResult[SummarizeOutput] | None, answer: TaskResult[SummarizeOutput]
) -> TaskResult[SummarizeOutput]:
    """An answer that goes on from another, with what both cost."""
    if before is None:
        return answer
    return replace(answer, usage=before.usage + answer.usage, rejected=before.rejected + answer.rejected)


def render_summary(view: SummaryView) -> str:
    """A summary as prose for a reader and for the index."""
    parts = [
        ("Topic", [view.topic] if view.topic else []),
        ("Key points", view.key_points),
        ("Decisions", view.decisions),
        ("Open issues", view.open_issues),
        ("Next steps", view.next_steps),
    ]
    return "\n".join(f"{title}: " + "; ".join(line.rstrip(".") for line in lines) for title, lines in parts if lines)


def _merge(
    request: StepRequest, turns: Sequence[Turn], earlier: ThreadSummary | None, output: SummarizeOutput
) -> ThreadSummary:
    times = [turn.created_at for turn in turns]
    clock = now()
    return ThreadSummary(
        id=summary_id(request.user_id, request.thread_id),
        user_id=request.user_id,
        thread_id=request.thread_id,
        content=render_summary(output) or "Nothing of note yet.",
        topic=output.topic,
        key_points=output.key_points,
        decisions=output.decisions,
        open_issues=output.open_issues,
        next_steps=output.next_steps,
        turn_count=(earlier.turn_count if earlier else 0) + len(turns),
        covers_from=min([*times, *([earlier.covers_from] if earlier and earlier.covers_from else [])], default=None),
        covers_to=max([*times, *([earlier.covers_to] if earlier and earlier.covers_to else [])], default=None),
        created_at=earlier.created_at if earlier else clock,
        updated_at=clock,
    )
