"""Summaries and states, as they stand."""

from __future__ import annotations

from agent_memory.models import ThreadState, ThreadSummary
from agent_memory.store.client import Store
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.documents import from_document
from agent_memory.store.ids import state_id, summary_id


async def read_summary(store: Store, user_id: str, thread_id: str) -> ThreadSummary | None:
    """The summary of a thread as it stands."""
    document = await store.read(SUMMARIES, summary_id(user_id, thread_id), (user_id, thread_id))
    return from_document(ThreadSummary, document) if document else None


async def read_state(store: Store, user_id: str, thread_id: str) -> ThreadState | None:
    """The current state of a thread, until it expires."""
    document = await store.read(SUMMARIES, state_id(user_id, thread_id), (user_id, thread_id))
    return from_document(ThreadState, document) if document else None
