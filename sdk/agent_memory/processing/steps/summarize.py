"""Summarize: merges new turns into a thread's summary and its current state; never rebuilds (row S1-11)."""

from __future__ import annotations

from dataclasses import replace

from agent_memory.language.tasks import SUMMARIZE, SummarizeInput, SummarizeOutput, SummaryView, TaskResult
from agent_memory.models import ProcessResult, ThreadState, ThreadSummary, now
from agent_memory.policy.screen import screen_values
from agent_memory.processing.draft import Draft
from agent_memory.processing.gather import StepRequest, Tools, TurnRange, view_turns
from agent_memory.processing.over_turns import Derived, think_over_turns
from agent_memory.processing.pieces import portions
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.documents import to_document
from agent_memory.store.ids import state_id, summary_id
from agent_memory.store.summaries import read_state, read_summary

NAME = "summarize"


async def think(tools: Tools, request: StepRequest) -> Draft | None:
    """Merges the next turns into the summary. None if there are no turns.

    Raises:
        ModelError: if a model is unavailable; the summary stays as it is. An answer that cannot be used makes a
            dead letter instead.
    """

    async def derive(found: TurnRange) -> Derived:
        earlier = await read_summary(tools.store, request.user_id, request.thread_id)
        state = await read_state(tools.store, request.user_id, request.thread_id)
        view = SummaryView.model_validate(earlier.model_dump()) if earlier else None
        answer: TaskResult[SummarizeOutput] | None = None
        for portion in portions(found.turns, tools.limits.batch_tokens):
            data = SummarizeInput(
                earlier=answer.output if answer else view,
                earlier_state=answer.output.state if answer else state.state if state else {},
                turns=view_turns(portion),
                never=sorted(tools.rules.deny),
            )
            answer = _after(answer, await tools.chat.run(SUMMARIZE, data))
        assert answer is not None  # there are turns
        output = _screened(tools, answer.output)
        summary = _merge(request, found, earlier, output).model_copy(
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
        return Derived(
            ProcessResult(
                step=NAME,
                created=1 if earlier is None else 0,
                rejected=answer.rejected,
                usage=answer.usage + embedded.usage,
            ),
            upsert=[document, to_document(new_state) | {"ttl": tools.limits.state_ttl_seconds}],
        )

    return await think_over_turns(tools, request, SUMMARIES, NAME, derive)


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
    request: StepRequest, found: TurnRange, earlier: ThreadSummary | None, output: SummarizeOutput
) -> ThreadSummary:
    times = [turn.created_at for turn in found.turns]
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
        turn_count=(earlier.turn_count if earlier else 0) + len(found.turns),
        covers_from=min([*times, *([earlier.covers_from] if earlier and earlier.covers_from else [])]),
        covers_to=max([*times, *([earlier.covers_to] if earlier and earlier.covers_to else [])]),
        created_at=earlier.created_at if earlier else clock,
        updated_at=clock,
    )
