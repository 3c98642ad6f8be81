"""Shared by the steps over turns: the range, the dead letter of turns that cannot be processed, the draft.

A model may refuse one turn of a range, and our own code may fail on one. The same input always fails, so it must not be
tried again and again. The range is halved until that turn is isolated; the turn becomes a dead letter, and can be
replayed when the fault is mended. The cursor stores what is known about refused turns, so that the next run does not
try a refused range again. A turn costs work in proportion to its sentences, so their number bounds the work of one
turn; a limit in seconds would depend on the machine.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from agent_memory.errors import AgentMemoryError, ModelError
from agent_memory.models import DeadLetter, Model, ProcessResult, Turn, Usage, content_hash
from agent_memory.steps.dead_letters import make_dead_letter
from agent_memory.steps.gather import StepRequest, Tools, TurnRange, gather_turns
from agent_memory.steps.step import Draft, Effects, Step, Thinker, finish
from agent_memory.store.documents import Document, to_document
from agent_memory.text.patterns import linear

ONE_BY_ONE = 5
"""Consecutive refused turns that are given up one by one. After them twice as many turns are given up together each
time, because to isolate every turn would cost several calls a turn if a model refuses everything. A choice."""
_MOST_DOUBLINGS = 16
"""More than any range has. It keeps the number small in a thread of which everything is refused."""
MOST_KEPT = 20
"""Refused turns that are remembered: more than a model ever sees before a range."""
_NAME = "refusals"


class Refusals(Model):
    """What is known about refused turns of one cursor."""

    model_config = ConfigDict(extra="ignore")  # a newer version may keep more

    within: int = Field(
        default=0, description="How many of the next turns are known to hold a refused one; 0 if none is known."
    )
    in_a_row: int = Field(default=0, description="How many inputs were refused one after another, up to now.")
    turns: list[str] = Field(
        default_factory=list, description="Digests of the ids of the newest refused turns; no model sees them again."
    )

    @classmethod
    def of(cls, extra: Mapping[str, Any]) -> Refusals:
        """The refusals that a cursor stores."""
        return cls.model_validate(extra.get(_NAME, {}))

    def to_extra(self) -> dict[str, Any]:
        """The fields to store with a cursor; empty if nothing is known."""
        return {_NAME: self.model_dump()} if self != Refusals() else {}

    @property
    def together(self) -> int:
        """How many refused turns are given up together: more, the more were refused before them."""
        return 1 << min(max(self.in_a_row - ONE_BY_ONE + 1, 0), _MOST_DOUBLINGS)

    @property
    def width(self) -> int | None:
        """How many of the next turns to try; None for a full range."""
        return max(self.within // 2, 1) if self.within else None

    def narrowed(self, covered: int) -> Refusals:
        """The refusals after a range of `covered` turns was refused; it will be halved."""
        return self.model_copy(update={"within": covered})

    def passed(self, covered: int) -> Refusals:
        """The refusals after `covered` turns were processed: the refused one comes later."""
        return self.model_copy(update={"within": max(self.within - covered, 0), "in_a_row": 0})

    def given_up(self, turns: Sequence[Turn]) -> Refusals:
        """The refusals after these turns became a dead letter."""
        refused = [*self.turns, *(content_hash(turn.id) for turn in turns)][-MOST_KEPT:]
        return Refusals(in_a_row=self.in_a_row + 1, turns=refused)

    def hides(self, turn: Turn) -> bool:
        """Whether a turn was refused, so that it must not be shown to a model before others."""
        return content_hash(turn.id) in self.turns


MOST_BYTES = 1_900_000
"""The largest commit. Cosmos DB takes 2 MB (Azure Cosmos DB service limits)."""
_BYTES_PER_NUMBER = 12
"""Bytes of a vector's number in JSON, with its comma."""
_ENDS = linear(r"[.!?…。！？;\n\r\x0b\x0c\x1c-\x1e\x85\p{Zl}\p{Zp}]+\s*")


def beyond_bounds(turn: Turn, most_sentences: int) -> str | None:
    """Why a turn is too much work, or None."""
    sentences = sum(1 for _ in _ENDS.finditer(turn.content)) if len(turn.content) > most_sentences else 0
    if sentences > most_sentences:
        return f"it has {sentences} sentences and lines, more than the {most_sentences} that a turn may have"
    return None


class TooLarge(Exception):
    """The results of an input do not fit into one commit."""


def require_room(documents: list[Document]) -> None:
    """Checks that documents fit into one commit. Raises TooLarge if they do not."""
    size = 0
    for document in documents:
        vector = document.get("embedding")
        size += _BYTES_PER_NUMBER * len(vector) if isinstance(vector, list) else 0
        size += len(json.dumps({name: value for name, value in document.items() if name != "embedding"}))
    if size > MOST_BYTES:
        raise TooLarge(f"{size} bytes")


def fault_of_input(error: Exception) -> ModelError | None:
    """The final error for an exception that this input will raise again; None for a temporary fault.

    The type shows which faults are temporary: our own errors have a field for it, and faults from outside the process
    (a connection, a file, memory) have an OSError or a MemoryError as their cause. The message has the place in the
    code and nothing of the text, which may be private.
    """
    if isinstance(error, AgentMemoryError):
        return None
    root: BaseException | None = error
    while root is not None:
        if isinstance(root, OSError | MemoryError):
            return None
        root = root.__cause__ or root.__context__
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    return ModelError(f"processing fails on it each time: {type(error).__name__}{place}")


logger = logging.getLogger("agent_memory")

Derive = Callable[[TurnRange], Awaitable[Effects]]
"""What a step makes of a range of turns."""


def over_turns(derive: Callable[[Tools, StepRequest, TurnRange], Awaitable[Effects]]) -> Thinker:
    """The think function of a step that only derives from the next turns, range by range."""

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
    refuses one turn after another, several become one dead letter. A turn that is too much work becomes one, too.

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
            derived = await _derived(step, tools, request, found, derive, last=failed_alone, together=refusals.together)
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
    """Asks to halve the range, to find the turn that fails; `usage` is the cost of the attempt."""

    def __init__(self, usage: Usage) -> None:
        super().__init__()
        self.usage = usage


@dataclass(frozen=True, slots=True)
class _Derived:
    """The outcome of a range; `refused` if its turns are in a dead letter."""

    effects: Effects
    refused: bool


async def _derived(
    step: Step, tools: Tools, request: StepRequest, found: TurnRange, derive: Derive, *, last: bool, together: int
) -> _Derived:
    """The result of a step for a range, or its dead letter.

    If our own code fails on a single turn, the turn is tried once more; with `last`, this is that second try. A refused
    range of at most `together` turns is given up as a whole.
    """
    replay = request.dead_letter_id is not None
    fit, letters = _within_bounds(step, tools, request, found.turns)
    if letters and replay:
        raise ModelError(letters[0].error)
    nothing = Effects(result=ProcessResult(step=step.name))
    refused = False
    try:
        # The turns of a dead letter may have been forgotten since. The letter is then deleted.
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
        if not (last if answer is None else found.covered <= together):
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
