"""Dead letters: ranges of turns that a step gave up on, kept in sight until they are replayed."""

from __future__ import annotations

from collections.abc import Sequence

from agent_memory.errors import ModelError, NotFound
from agent_memory.models import DeadLetter, Turn, Usage, now
from agent_memory.processing.gather import StepRequest
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.documents import Document, from_document, to_document
from agent_memory.store.ids import FEED_THREAD, STORE_USER, USER_THREAD, derived_id
from agent_memory.telemetry import dead_letters

INTAKE = "intake"
"""Stands for the step in the dead letter of a turn that could not be counted."""


def make_dead_letter(request: StepRequest, step: str, turns: Sequence[Turn], error: ModelError) -> DeadLetter:
    """The record of a range that a step gave up on."""
    dead_letters.add(1, {"step": step})
    return DeadLetter(
        id=derived_id("dead", step, request.user_id, request.thread_id, turns[0].id, turns[-1].id),
        user_id=request.user_id,
        thread_id=request.thread_id,
        step=step,
        turn_ids=[turn.id for turn in turns],
        error=str(error),
        created_at=now(),
        usage=Usage.model_validate(error.cost),
    )


async def note_failure(store: Store, user_id: str, step: str, error: ModelError) -> None:
    """Keeps in sight that a step over a user's memories got no usable answer, and what all its attempts cost so far.

    One record for each step: its work stays due as a whole, so the next answer that can be used settles all of it.
    """
    dead_letters.add(1, {"step": step})
    before = await _failure(store, user_id, step)
    letter = DeadLetter(
        id=_failure_id(user_id, step),
        user_id=user_id,
        thread_id=USER_THREAD,
        step=step,
        turn_ids=[],
        error=str(error),
        created_at=before.created_at if before else now(),
        usage=Usage.model_validate(error.cost) + (before.usage if before else Usage()),
    )
    await store.upsert(MEMORIES, to_document(letter))


async def clear_failure(store: Store, user_id: str, step: str) -> None:
    """Removes that record, if there is one. Costs a point read."""
    if await _failure(store, user_id, step) is not None:
        await store.delete(MEMORIES, _failure_id(user_id, step), (user_id, USER_THREAD))


async def _failure(store: Store, user_id: str, step: str) -> DeadLetter | None:
    document = await store.read(MEMORIES, _failure_id(user_id, step), (user_id, USER_THREAD))
    return from_document(DeadLetter, document) if document else None


def _failure_id(user_id: str, step: str) -> str:
    return derived_id("dead", step, user_id)


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


async def list_dead_letters(store: Store, user_id: str | None = None) -> list[DeadLetter]:
    """The dead letters of a user, or (None, for the operator) of everybody, oldest first."""
    partition = None if user_id is None else (user_id,)
    rows = [row for name in (MEMORIES, SUMMARIES) for row in await store.query(name, queries.DEAD_LETTERS, partition)]
    return sorted((from_document(DeadLetter, row) for row in rows), key=lambda letter: (letter.created_at, letter.id))


async def find_dead_letter(store: Store, dead_letter_id: str) -> DeadLetter:
    """One dead letter, of whomever it is; for the operator.

    Raises:
        NotFound: if there is no such dead letter.
    """
    for letter in await list_dead_letters(store):
        if letter.id == dead_letter_id:
            return letter
    raise NotFound(f"no dead letter {dead_letter_id}")
