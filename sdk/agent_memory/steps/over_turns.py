"""What the steps over turns have in common: the range, the dead letter when nothing can be made of it, the draft."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from agent_memory.errors import ModelError
from agent_memory.models import DeadLetter, ProcessResult, Turn
from agent_memory.steps.dead_letters import make_dead_letter
from agent_memory.steps.draft import Draft, Reaffirmation, Release, Retirement, Supersession, finish
from agent_memory.steps.faults import beyond_bounds, fault_of_input, require_room
from agent_memory.steps.gather import StepRequest, Tools, TurnRange, gather_turns
from agent_memory.store.documents import Document, to_document

logger = logging.getLogger("agent_memory")

UNBOUNDED = frozenset({"index"})
"""Steps whose work does not grow with the sentences of a turn: an index takes so many parts of it and no more."""


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

    A range of which nothing can be made becomes a dead letter: it stays in sight, and later turns go on. So does a turn
    that is more work than one may be. Where our own code fails, the range is halved until the turn that it fails on is
    alone, and that turn becomes a dead letter.

    Raises:
        ModelError: if a model is unavailable, or a replay failed again; nothing advances then.
    """
    found = await gather_turns(tools, request, container, step, behind)
    if "intents" in found.before.extra:  # of a process that was killed; this commit would take their place
        await finish(tools.store, container, (request.user_id, request.thread_id), step)
        found = await gather_turns(tools, request, container, step, behind)
    failed_alone = False
    while True:
        if found.cursor == found.before.cursor and request.dead_letter_id is None:
            return None
        try:
            derived = await _derived(tools, request, step, found, derive, last=failed_alone)
        except TryNarrower:
            failed_alone = found.covered <= 1
            half = max(found.covered // 2, 1)
            found = await gather_turns(_narrowed(tools, half), request, container, step, behind)
        else:
            return _draft(request, container, step, found, derived)


class TryNarrower(Exception):
    """The range is to be halved, to find the turn that our own code fails on; a turn alone is tried once more."""


async def _derived(
    tools: Tools,
    request: StepRequest,
    step: str,
    found: TurnRange,
    derive: Callable[[TurnRange], Awaitable[Derived]],
    *,
    last: bool,
) -> Derived:
    replay = request.dead_letter_id is not None
    fit, letters = _within_bounds(tools, request, step, found.turns)
    if letters and replay:
        raise ModelError(letters[0].error)
    try:
        # The turns of a dead letter may have been forgotten since; then it just goes.
        derived = await derive(replace(found, turns=fit)) if fit else Derived(ProcessResult(step=step))
        require_room([*derived.create, *derived.upsert])
    except Exception as error:
        final = error if isinstance(error, ModelError) and not error.retryable else fault_of_input(error)
        if final is None:
            raise
        if final is not error:
            logger.warning("%s failed on %d turns of %s", step, len(fit), request.user_id, exc_info=True)
            if not (last or replay):
                raise TryNarrower from error
        if replay:
            raise final from error
        letters.append(make_dead_letter(request, step, fit, final))
        derived = Derived(ProcessResult(step=step))
    return _with_letters(derived, letters)


def _within_bounds(
    tools: Tools, request: StepRequest, step: str, turns: list[Turn]
) -> tuple[list[Turn], list[DeadLetter]]:
    """The turns that are not too much work for one, and the dead letters of the others."""
    if step in UNBOUNDED:
        return turns, []
    fit, letters = [], []
    for turn in turns:
        why = beyond_bounds(turn, tools.limits.turn_sentences)
        if why is None:
            fit.append(turn)
        else:
            letters.append(make_dead_letter(request, step, [turn], ModelError(why)))
    return fit, letters


def _with_letters(derived: Derived, letters: list[DeadLetter]) -> Derived:
    if not letters:
        return derived
    result = derived.result
    changes = {
        "dead_letters": result.dead_letters + len(letters),
        "rejected": [*result.rejected, *(letter.error for letter in letters)],
        "usage": sum((letter.usage for letter in letters), result.usage),
    }
    return replace(
        derived,
        upsert=[*derived.upsert, *(to_document(letter) for letter in letters)],
        result=result.model_copy(update=changes),
    )


def _narrowed(tools: Tools, turns: int) -> Tools:
    return replace(tools, limits=replace(tools.limits, batch_turns=turns))


def _draft(request: StepRequest, container: str, step: str, found: TurnRange, derived: Derived) -> Draft:
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
