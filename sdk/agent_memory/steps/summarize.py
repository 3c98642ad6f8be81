"""Summarize: merges new turns into a thread's summary and its current state; never rebuilds.

It also corrects statements that another conversation, or a person, has replaced: with the next turns, or after a
reconciliation. The words of a summary show whether it is affected, so that no model is called for one that is not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent_memory.errors import ModelError
from agent_memory.forgetting.accounts import projects_with
from agent_memory.language.tasks import (
    SUMMARIZE,
    Correction,
    SummarizeInput,
    SummarizeOutput,
    SummaryView,
    TaskResult,
)
from agent_memory.models import Memory, ProcessResult, ThreadState, ThreadSummary, Turn, Usage, now
from agent_memory.remembering.untold import Told, mark_again, untold, untold_threads
from agent_memory.screening.screen import screen_values
from agent_memory.steps.dead_letters import make_untold_letter
from agent_memory.steps.gather import BYTES_PER_TOKEN, OVERHEAD, StepRequest, Tools, TurnRange, portions, view_turns
from agent_memory.steps.over_turns import think_over_turns
from agent_memory.steps.step import Draft, Effects, Step
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.cursors import read_cursor
from agent_memory.store.documents import to_document
from agent_memory.store.ids import state_id, summary_id
from agent_memory.store.memories import get_memories
from agent_memory.store.threads import read_state, read_summary
from agent_memory.text.asked_back import telling
from agent_memory.text.figures import FIGURE, figures
from agent_memory.text.likeness import stems
from agent_memory.text.patterns import linear

NAME = "summarize"


async def plan(tools: Tools, request: StepRequest) -> list[str]:
    """The threads of a user whose summaries are not yet corrected for replacements in other conversations."""
    return await untold_threads(tools.store, request.user_id)


async def think(step: Step, tools: Tools, request: StepRequest) -> Draft | None:
    """Merges the next turns into the summary, and corrects what was replaced elsewhere. None if there is nothing to do.

    Raises:
        ModelError: if a model is unavailable, or a replay failed again; the summary stays as it is. An unusable answer
            becomes a dead letter instead: for the turns, or for the corrections if the turns work without them.
    """
    user_id, thread_id = request.user_id, request.thread_id
    if request.dead_letter_id is not None:  # its turns were missing when earlier corrections were made
        await mark_again(tools.store, user_id, thread_id)
    read = False

    async def derive(found: TurnRange) -> Effects:
        nonlocal read
        read = True
        untold = await read_untold(tools, user_id, thread_id)
        return await _write(tools, request, found.turns, untold, last=not found.more)

    draft = await think_over_turns(step, tools, request, derive)
    if draft is None or (request.dead_letter_id is not None and not read):
        untold = await read_untold(tools, user_id, thread_id)
        return await _correct(step, tools, request, untold, draft) if untold else draft
    return draft


STEP = Step(
    name=NAME,
    scope="thread",
    think=think,
    container=SUMMARIES,
    runs="counted",
    cadence="summarize",
    task=SUMMARIZE,
    shares_call=True,
    plan=plan,
    options=frozenset({"recent_k"}),
    aliases=("summary",),
)


@dataclass(frozen=True, slots=True)
class Before:
    """What is known about a thread before a merge."""

    summary: ThreadSummary | None
    state: ThreadState | None

    def text(self, turns: Sequence[Turn]) -> str:
        """Everything that a merge with these turns may say."""
        known = [self.summary.content] if self.summary else []
        state = json.dumps(self.state.state if self.state else {}, ensure_ascii=False)
        return "\n".join([*known, state, *(turn.content for turn in turns)])


async def _write(
    tools: Tools, request: StepRequest, turns: Sequence[Turn], untold: Sequence[Untold], *, last: bool = True
) -> Effects:
    """Merges turns and corrections into the summary; calls no model if there are none.

    Corrections are not marked as done until the last turns are merged, because turns that still wait may repeat the
    old value.
    Corrections that no model can apply become a dead letter, and the turns are merged without them.
    """
    before = Before(
        await read_summary(tools.store, request.user_id, request.thread_id),
        await read_state(tools.store, request.user_id, request.thread_id),
    )
    text = before.text(turns)
    taken = within_tokens(untold, text, tools.limits.batch_tokens)
    told = [one.told() for one in taken]
    needed = [one for one in taken if one.concerning(text)]
    if not turns and not needed:
        return Effects(result=ProcessResult(step=NAME), told=told)
    try:
        effects = await _merge(tools, request, turns, before, needed)
    except ModelError as error:
        if error.retryable or not needed or (request.dead_letter_id is not None and not turns):
            raise
        effects, last = await _do_without(tools, request, turns, before, error), True
    else:
        if needed:
            effects.result.counts["corrected"] = len(needed)
    return effects.model_copy(update={"told": told if last else [], "more": last and len(taken) < len(untold)})


async def _do_without(
    tools: Tools, request: StepRequest, turns: Sequence[Turn], before: Before, error: ModelError
) -> Effects:
    """The turns merged without the corrections that an error is about, and a dead letter of these."""
    spent = Usage.model_validate(error.cost)
    try:
        nothing = Effects(result=ProcessResult(step=NAME))
        effects = await _merge(tools, request, turns, before, []) if turns else nothing
    except ModelError as other:  # so the turns are at fault, and not the corrections
        other.cost = (Usage.model_validate(other.cost) + spent).model_dump()
        raise
    letter = make_untold_letter(request, NAME, error)
    changes = {
        "dead_letters": 1,
        "rejected": [*effects.result.rejected, letter.error],
        "usage": effects.result.usage + spent,
    }
    return effects.model_copy(
        update={
            "upsert": [*effects.upsert, to_document(letter)],
            "result": effects.result.model_copy(update=changes),
        }
    )


async def _merge(
    tools: Tools, request: StepRequest, turns: Sequence[Turn], before: Before, needed: Sequence[Untold]
) -> Effects:
    """The summary and the state that a model makes from turns, corrections and what was known."""
    text = before.text(turns)
    told = [*(before.summary.told_ids if before.summary else []), *(one.winner_id for one in needed)]
    view = SummaryView.model_validate(before.summary.model_dump()) if before.summary else None
    answer: TaskResult[SummarizeOutput] | None = None
    for portion in list(portions(turns, tools.limits.batch_tokens)) or [[]]:
        data = SummarizeInput(
            earlier=answer.output if answer else view,
            earlier_state=answer.output.state if answer else before.state.state if before.state else {},
            turns=view_turns(portion, tools.rules.time_zone),
            never=sorted(tools.rules.deny),
            corrections=[correction for one in needed for correction in one.concerning(text)],
        )
        answer = _after(answer, await tools.chat.run(SUMMARIZE, data))
    assert answer is not None  # there is a portion
    output = _screened(tools, answer.output)
    summary = _merged(request, turns, before.summary, output).model_copy(
        update={
            "told_ids": list(dict.fromkeys(told)),
            "only_asks": not telling(turns) and (before.summary is None or before.summary.only_asks),
            "model": answer.model,
            "prompt_version": answer.prompt_version,
        }
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
        created=1 if before.summary is None else 0,
        rejected=answer.rejected,
        usage=answer.usage + embedded.usage,
    )
    return Effects(result=result, upsert=[document, to_document(new_state) | {"ttl": tools.limits.state_ttl_seconds}])


async def _correct(
    step: Step, tools: Tools, request: StepRequest, untold: Sequence[Untold], draft: Draft | None
) -> Draft | None:
    """The draft that corrects a summary without new turns, based on `draft` if a replay made one.

    `draft` itself if there is no summary.
    """
    stored = await read_cursor(tools.store, step.container, step.partition(request), step.name)
    if not stored.etag or await read_summary(tools.store, request.user_id, request.thread_id) is None:
        return draft
    effects = await _write(tools, request, [], untold)
    if draft is None:
        return step.draft(request, stored, effects, cursor=stored.cursor.advanced([]))
    changes = {"upsert": effects.upsert, "told": effects.told, "more": effects.more, "result": effects.result}
    return draft.model_copy(update=changes)


def _screened(tools: Tools, output: SummarizeOutput) -> SummarizeOutput:
    """A summary without topics that the user has denied, without secrets, and without instructions to a model."""
    kept = screen_values(output.model_dump(), tools.rules, tools.policy)
    return SummarizeOutput.model_validate(kept)


def _after(
    before: TaskResult[SummarizeOutput] | None, answer: TaskResult[SummarizeOutput]
) -> TaskResult[SummarizeOutput]:
    """An answer that continues another, with the cost of both."""
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


def _merged(
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
        project_ids=projects_with([] if earlier is None else earlier.project_ids, turns),
        created_at=earlier.created_at if earlier else clock,
        updated_at=clock,
    )


_UNSPACED = linear("[\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
"""Runs of Japanese or Chinese, which are written without spaces."""
_ENOUGH = 2 / 3
"""If the successor has all words of a statement (a "not" was added), a text with this share of them says it."""


@dataclass(frozen=True, slots=True)
class Untold:
    """A replacement that a summary does not know yet, with the corrections that it may need."""

    memory_id: str
    since: str
    winner_id: str
    corrections: list[Correction]

    def concerning(self, text: str) -> list[Correction]:
        """Those of the corrections that a text needs."""
        return [one for one in self.corrections if says(text, one.was, one.now)]

    def told(self) -> Told:
        """The note that the summary was corrected."""
        return Told(memory_id=self.memory_id, since=self.since)


def within_tokens(untold: Sequence[Untold], text: str, tokens: int) -> Sequence[Untold]:
    """The first replacements whose corrections of a text fit into `tokens`; at least one."""
    for at, one in enumerate(untold):
        tokens -= sum(_size(correction) for correction in one.concerning(text))
        if tokens < 0 and at > 0:
            return untold[:at]
    return untold


def _size(correction: Correction) -> int:
    return len((correction.was + correction.now).encode()) // BYTES_PER_TOKEN + OVERHEAD


async def read_untold(tools: Tools, user_id: str, thread_id: str) -> list[Untold]:
    """The corrections for a thread's summary. One query if there are none, else one more for each version."""
    found = await untold(tools.store, user_id, thread_id)
    known = {memory.id: memory for memory, _ in found}
    ahead = list(known.values())
    while ahead:
        wanted = sorted({memory.superseded_by for memory in ahead if memory.superseded_by} - known.keys())
        ahead = await get_memories(tools.store, user_id, wanted)
        known |= {memory.id: memory for memory in ahead}
    return [_untold(memory, since, known) for memory, since in found]


def _untold(memory: Memory, since: str, known: dict[str, Memory]) -> Untold:
    """Corrects a memory and each of its later versions to the current one; nothing if there is none."""
    line = {memory.id: memory}
    last = memory
    while last.superseded_by in known and last.superseded_by not in line:  # imported versions may form a circle
        last = known[last.superseded_by]
        line[last.id] = last
    if last.superseded_by is not None or last.status != "active":
        return Untold(memory.id, since, last.id, [])
    corrections = [
        Correction(was=one.content, now=last.content, said_at=last.last_said_at)
        for one in line.values()
        if one.content != last.content
    ]
    return Untold(memory.id, since, last.id, corrections)


def says(text: str, was: str, now: str) -> bool:
    """Whether a text says what a statement said and its successor does not: its figures, or half of its own words."""
    told_figures, told = figures(text), _words(text)
    own_figures, own = figures(was) - figures(now), _words(was) - _words(now)
    if own_figures & told_figures:
        return True
    if own or own_figures:
        return bool(own) and 2 * len(own & told) >= len(own)
    words = _words(was)
    return bool(words) and len(words & told) >= _ENOUGH * len(words)


def _words(text: str) -> frozenset[str]:
    """The stems of its words; of scripts without spaces, the pairs of neighbouring signs."""
    text = FIGURE.sub(" ", text)
    pairs = {run[at : at + 2] for run in _UNSPACED.findall(text) for at in range(max(1, len(run) - 1))}
    return stems(_UNSPACED.sub(" ", text)) | pairs
