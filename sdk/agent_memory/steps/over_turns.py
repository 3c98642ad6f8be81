"""What the steps over turns have in common: the range, the dead letter when nothing can be made of it, the draft."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from agent_memory.errors import ModelError
from agent_memory.models import DeadLetter, ProcessResult, Turn, Usage
from agent_memory.steps.commit import finish
from agent_memory.steps.dead_letters import make_dead_letter
from agent_memory.steps.effects import Draft, Effects
from agent_memory.steps.faults import beyond_bounds, fault_of_input, require_room
from agent_memory.steps.gather import StepRequest, Tools, TurnRange, gather_turns
from agent_memory.steps.refusals import Refusals
from agent_memory.steps.step import Step, Thinker
from agent_memory.store.documents import to_document

logger = logging.getLogger("agent_memory")

Derive = Callable[[TurnRange], Awaitable[Effects]]
"""What a step makes of a range of turns."""


def over_turns(derive: Callable[[Tools, StepRequest, TurnRange], Awaitable[Effects]]) -> Thinker:
    """The thinking of a step that derives from the next turns, range by range, and does nothing else."""

    async def think(step: Step, tools: Tools, request: StepRequest) -> Draft | None:
        async def of(found: TurnRange) -> Effects:
            return await derive(tools, request, found)

        return await think_over_turns(step, tools, request, of)

    return think


async def think_over_turns(
    step: Step, tools: Tools, request: StepRequest, derive: Derive, *, behind: str | None = None
) -> Draft | None:
    """The draft of a step over the next turns (or those of a dead letter). None if there are none.

    A step that runs `behind` another gets only what that one has covered.

    A turn that cannot be processed becomes a dead letter: it stays visible, and the others are processed. To find it,
    the range is halved until the turn is alone, at most log2(turns) calls; `Refusals` remembers where it is. If a model
    refuses one turn after another, whole ranges become dead letters. So does a turn that is too much work.

    Raises:
        ModelError: if a model is unavailable, or a replay failed again; nothing advances then.
    """

    async def gathered(width: int | None) -> TurnRange:
        within = tools if width is None else _narrowed(tools, width)
        part = await gather_turns(within, request, step.container, step.name, behind)
        return replace(part, is_part=part.is_part or width is not None)

    found = await gathered(None)
    if "intents" in found.before.extra:  # of a process that was killed; this commit would take their place
        await finish(tools.store, step.container, step.partition(request), step.name)
        found = await gathered(None)
    refusals = Refusals.of(found.before.extra)
    if refusals.width is not None and request.dead_letter_id is None:
        found = await gathered(refusals.width)
    spent = Usage()
    failed_alone = False
    while True:
        if found.cursor == found.before.cursor and request.dead_letter_id is None:
            return None
        try:
            derived = await _derived(
                step, tools, request, found, derive, last=failed_alone, whole=refusals.is_everything
            )
        except TryNarrower as narrower:
            spent += narrower.usage
            failed_alone = found.covered <= 1
            refusals = refusals.narrowed(found.covered)
            found = await gathered(refusals.width)
        else:
            effects = derived.effects
            result = effects.result.model_copy(update={"usage": effects.result.usage + spent})
            known = refusals.given_up(found.turns) if derived.refused else refusals.passed(found.covered)
            kept = Refusals.of(found.before.extra) if request.dead_letter_id else known
            draft = step.draft(
                request,
                found.before,
                effects.model_copy(update={"result": result}),
                cursor=found.cursor,
                extra=kept.to_extra(),
            )
            return draft.model_copy(update={"oldest": found.oldest})


class TryNarrower(Exception):
    """The range is to be halved, to find the turn that fails; `usage` is what the attempt cost."""

    def __init__(self, usage: Usage) -> None:
        super().__init__()
        self.usage = usage


@dataclass(frozen=True, slots=True)
class _Derived:
    """What came of a range; `refused` if its turns are in a dead letter."""

    effects: Effects
    refused: bool


async def _derived(
    step: Step, tools: Tools, request: StepRequest, found: TurnRange, derive: Derive, *, last: bool, whole: bool
) -> _Derived:
    """The result of a step for a range, or its dead letter.

    If our own code fails on a single turn, the turn is tried once more; with `last`, this is that second try. With
    `whole` a refused range is given up as a whole.
    """
    replay = request.dead_letter_id is not None
    fit, letters = _within_bounds(step, tools, request, found.turns)
    if letters and replay:
        raise ModelError(letters[0].error)
    nothing = Effects(result=ProcessResult(step=step.name))
    refused = False
    try:
        # The turns of a dead letter may have been forgotten since; then it just goes.
        effects = await derive(replace(found, turns=fit)) if fit else nothing
        require_room([*effects.create, *effects.upsert])
    except Exception as error:
        answer = error if isinstance(error, ModelError) and not error.retryable else None
        final = answer or fault_of_input(error)
        if final is None:
            raise
        if replay:
            raise final from error
        if answer is None:
            logger.warning("%s failed on %d turns of %s", step.name, len(fit), request.user_id, exc_info=True)
        if not (last if answer is None else found.covered <= 1 or whole):
            raise TryNarrower(Usage.model_validate(final.cost)) from error
        letters.append(make_dead_letter(request, step.name, fit, final))
        effects, refused = nothing, True
    result = effects.result
    changes = {
        "turns": len(found.turns),
        "dead_letters": result.dead_letters + len(letters),
        "rejected": [*result.rejected, *(letter.error for letter in letters)],
        "usage": sum((letter.usage for letter in letters), result.usage),
    }
    made = effects.model_copy(
        update={
            "upsert": [*effects.upsert, *(to_document(letter) for letter in letters)],
            "delete": [request.dead_letter_id] if request.dead_letter_id else [],
            "more": found.more or effects.more,
            "result": result.model_copy(update=changes),
        }
    )
    return _Derived(made, refused)


def _within_bounds(
    step: Step, tools: Tools, request: StepRequest, turns: list[Turn]
) -> tuple[list[Turn], list[DeadLetter]]:
    """The turns that are not too much work for one, and the dead letters of the others."""
    if step.files_talk:  # the index limits the parts of a turn by itself
        return turns, []
    fit, letters = [], []
    for turn in turns:
        why = beyond_bounds(turn, tools.limits.turn_sentences)
        if why is None:
            fit.append(turn)
        else:
            letters.append(make_dead_letter(request, step.name, [turn], ModelError(why)))
    return fit, letters


def _narrowed(tools: Tools, turns: int) -> Tools:
    return replace(tools, limits=replace(tools.limits, batch_turns=turns))
