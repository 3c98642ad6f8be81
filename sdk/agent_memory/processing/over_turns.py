"""What the steps over turns have in common: the range, the dead letter when nothing can be made of it, the draft."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from agent_memory.errors import ModelError
from agent_memory.models import ProcessResult
from agent_memory.processing.dead_letters import make_dead_letter
from agent_memory.processing.draft import Draft, Reaffirmation, Release, Retirement, Supersession, finish
from agent_memory.processing.gather import StepRequest, Tools, TurnRange, gather_turns
from agent_memory.store.documents import Document, to_document


@dataclass(frozen=True, slots=True)
class Derived:
    """What a step made of a range of turns."""

    result: ProcessResult
    create: list[Document] = field(default_factory=list)
    upsert: list[Document] = field(default_factory=list)
    patch: dict[str, dict[str, Any]] = field(default_factory=dict)
    supersede: list[Supersession] = field(default_factory=list)
    retire: list[Retirement] = field(default_factory=list)
    release: list[Release] = field(default_factory=list)
    reaffirm: list[Reaffirmation] = field(default_factory=list)
    new_chunks: list[str] = field(default_factory=list)


async def think_over_turns(
    tools: Tools,
    request: StepRequest,
    container: str,
    step: str,
    derive: Callable[[TurnRange], Awaitable[Derived]],
    *,
    behind: str | None = None,
) -> Draft | None:
    """The draft of a step over the next turns (or those of a dead letter). None if there are none.

    A step that goes `behind` another is given only what that one has covered.

    A range of which nothing can be made becomes a dead letter: it stays in sight, and later turns go on.

    Raises:
        ModelError: if a model is unavailable, or a replay failed again; nothing advances then.
    """
    found = await gather_turns(tools, request, container, step, behind)
    if "intents" in found.before.extra:  # of a process that was killed; this commit would take their place
        await finish(tools.store, container, (request.user_id, request.thread_id), step)
        found = await gather_turns(tools, request, container, step, behind)
    if found.cursor == found.before.cursor and request.dead_letter_id is None:
        return None
    try:
        # The turns of a dead letter may have been forgotten since; then it just goes.
        derived = await derive(found) if found.turns else Derived(ProcessResult(step=step))
    except ModelError as error:
        if error.retryable or request.dead_letter_id is not None:
            raise
        letter = make_dead_letter(request, step, found.turns, error)
        derived = Derived(
            ProcessResult(step=step, dead_letters=1, rejected=[str(error)], usage=letter.usage), [to_document(letter)]
        )
    return Draft(
        step=step,
        container=container,
        user_id=request.user_id,
        thread_id=request.thread_id,
        cursor=found.cursor.to_document(),
        etag=found.before.etag,
        create=derived.create,
        upsert=derived.upsert,
        patch=derived.patch,
        supersede=derived.supersede,
        retire=derived.retire,
        release=derived.release,
        reaffirm=derived.reaffirm,
        new_chunks=derived.new_chunks,
        delete=[request.dead_letter_id] if request.dead_letter_id else [],
        more=found.more,
        result=derived.result.model_copy(update={"turns": len(found.turns)}),
    )
