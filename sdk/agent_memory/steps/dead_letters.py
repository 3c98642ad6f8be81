"""Dead letters: ranges of turns that a step gave up on, kept in sight until they are replayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_memory.errors import ModelError, NotFound
from agent_memory.models import DeadLetter, Turn, Usage, now
from agent_memory.screening.findings import find_secrets, redacted
from agent_memory.steps.gather import StepRequest
from agent_memory.steps.step import Step
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.documents import Document, from_document, replace, to_document, upsert
from agent_memory.store.ids import (
    FEED_THREAD,
    STORE_USER,
    cursor_id,
    derived_id,
)
from agent_memory.store.updates import racing, until_written
from agent_memory.telemetry import dead_letters
from agent_memory.text.folding import folded

LONGEST_REASON = 200
"""Maximum characters of a dead letter's error in an overview."""
INTAKE = "intake"
"""The step name in the dead letter of a turn that could not be counted."""


def make_dead_letter(request: StepRequest, step: str, turns: Sequence[Turn], error: ModelError) -> DeadLetter:
    """The record of a range that a step gave up on."""
    ids = [turn.id for turn in turns]
    return _letter(request, step, (ids[0], ids[-1]), ids, str(error), error)


def make_untold_letter(request: StepRequest, step: str, error: ModelError) -> DeadLetter:
    """The record, one for each thread, that its summary could not be corrected."""
    reason = f"what was replaced in other conversations could not be corrected: {error}"
    return _letter(request, step, ("corrections",), [], reason, error)


def _letter(
    request: StepRequest, step: str, key: Sequence[str], turn_ids: list[str], reason: str, error: ModelError
) -> DeadLetter:
    dead_letters.add(1, {"step": step})
    return DeadLetter(
        id=derived_id("dead", step, request.user_id, request.thread_id, *key),
        user_id=request.user_id,
        thread_id=request.thread_id,
        step=step,
        turn_ids=turn_ids,
        error=_without_secrets(reason),
        created_at=now(),
        usage=Usage.model_validate(error.cost),
    )


def _without_secrets(reason: str) -> str:
    """A reason as overviews and the operator may see it: services quote the words that they refuse."""
    text = folded(reason)
    return redacted(text, find_secrets(text))


async def note_failure(store: Store, user_id: str, step: Step, error: ModelError, kept: Mapping[str, Any]) -> None:
    """Records that a step over a user's memories got no usable answer, and the cost of all its attempts so far.

    One record for each step: its work stays due as a whole, so the next answer that can be used makes up for all of it.
    The record is written together with the step's cursor, which stores `kept` too. If the cursor is gone, the user was
    erased, and nothing is written.
    """
    dead_letters.add(1, {"step": step.name})
    partition = step.partition_of(user_id)

    async def attempt() -> None:
        cursor = await store.read(step.container, cursor_id(step.name), partition)
        if cursor is None:
            return
        before = await _failure(store, user_id, step)
        letter = DeadLetter(
            id=_failure_id(user_id, step),
            user_id=user_id,
            thread_id=partition[1],
            step=step.name,
            turn_ids=[],
            error=_without_secrets(str(error)),
            created_at=before.created_at if before else now(),
            usage=Usage.model_validate(error.cost) + (before.usage if before else Usage()),
        )
        moved = cursor | {"extra": cursor["extra"] | kept}
        operations = [upsert(to_document(letter)), replace(moved, cursor["_etag"])]
        with racing():
            await store.batch(step.container, partition, operations)

    await until_written(attempt, f"the cursor of {step.name}")


async def clear_failure(store: Store, user_id: str, step: Step) -> None:
    """Removes that record, if there is one. Costs a point read."""
    if await _failure(store, user_id, step) is not None:
        await store.delete(step.container, _failure_id(user_id, step), step.partition_of(user_id))


async def _failure(store: Store, user_id: str, step: Step) -> DeadLetter | None:
    document = await store.read(step.container, _failure_id(user_id, step), step.partition_of(user_id))
    return from_document(DeadLetter, document) if document else None


def _failure_id(user_id: str, step: Step) -> str:
    return derived_id("dead", step.name, user_id)


def make_unreadable(document: Document, problem: str) -> DeadLetter:
    """The record of a turn in the change feed that cannot be counted. It stays with its user, if it names one."""
    dead_letters.add(1, {"step": INTAKE})
    user_id, item_id = document.get("user_id"), document.get("id")
    owner = user_id if isinstance(user_id, str) and user_id else STORE_USER
    return DeadLetter(
        id=derived_id("dead", INTAKE, owner, str(document.get("_rid")), str(item_id)),
        user_id=owner,
        thread_id=FEED_THREAD,
        step=INTAKE,
        turn_ids=[str(item_id)],
        error=f"a turn that cannot be counted: {problem}",
        created_at=now(),
    )


@dataclass(frozen=True, slots=True)
class LetterCount:
    """The number of dead letters, and the error of the newest, in one line."""

    count: int
    newest: str


async def count_dead_letters(store: Store) -> LetterCount:
    """The dead letters of everybody, without reading them all; for the operator."""
    containers = (MEMORIES, SUMMARIES)
    count = sum([int(sum(await store.query(name, queries.DEAD_LETTER_COUNT))) for name in containers])
    if not count:
        return LetterCount(0, "")
    rows = [row for name in containers for row in await store.query(name, queries.NEWEST_DEAD_LETTER)]
    newest = max(rows, key=lambda row: str(row["created_at"]), default=None)
    said = "" if newest is None else f"of {newest['step']}: {str(newest['error'])[:LONGEST_REASON]}"
    return LetterCount(count, said)


async def list_dead_letters(store: Store, user_id: str | None = None) -> list[DeadLetter]:
    """The dead letters of a user, or (None, for the operator) of everybody, oldest first."""
    partition = None if user_id is None else (user_id,)
    rows = [row for name in (MEMORIES, SUMMARIES) for row in await store.query(name, queries.DEAD_LETTERS, partition)]
    return sorted((from_document(DeadLetter, row) for row in rows), key=lambda letter: (letter.created_at, letter.id))


async def find_dead_letter(store: Store, dead_letter_id: str) -> DeadLetter:
    """For the operator: one dead letter, of any user. Raises NotFound if there is no such dead letter."""
    for letter in await list_dead_letters(store):
        if letter.id == dead_letter_id:
            return letter
    raise NotFound(f"no dead letter {dead_letter_id}")
