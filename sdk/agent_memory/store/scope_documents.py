"""The small documents of a scope that every context reads, in one query: settings, profile, summary, state, window.

Most scopes lack most of them. One query shows this, while each point read would cost a request and find nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agent_memory.models import ScopeSettings, ThreadState, ThreadSummary, UserProfile
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.documents import Document, from_document
from agent_memory.store.ids import (
    SETTINGS_ID,
    SETTINGS_THREAD,
    USER_SUMMARY_THREAD,
    state_id,
    summary_id,
    user_summary_id,
)
from agent_memory.store.preferences import THREADS_OFF, TIER
from agent_memory.store.windows import WINDOW_FIELDS, WINDOW_ID, Window, window_of

SOURCES_UNTIL = "sources_until"
"""The field of a profile's document with the time, in seconds, from which retention may delete one of its sources."""
_FIELDS = dict.fromkeys(
    [
        "_etag",
        *(name for model in (ThreadSummary, ThreadState, UserProfile) for name in model.model_fields),
        *(name for name in ScopeSettings.model_fields if name != "etag"),
        *(THREADS_OFF, TIER, SOURCES_UNTIL),
        *WINDOW_FIELDS,
    ]
)
_SQL = (
    f"SELECT {queries.fields(*_FIELDS)} FROM c"
    " WHERE ARRAY_CONTAINS(@ids, c.id) AND ARRAY_CONTAINS(@threads, c.thread_id)"
)


@dataclass(frozen=True, slots=True)
class ScopeDocuments:
    """What was read of a scope.

    `settings` are the documents of the user (None) and, if the scope has one, of the thread; empty if nothing was ever
    set. `profile` is the stored one.
    """

    settings: Mapping[str | None, Document]
    profile: Document | None
    summary: ThreadSummary | None
    state: ThreadState | None
    window: Window


async def read_scope(store: Store, user_id: str, thread_id: str | None) -> ScopeDocuments:
    """The small documents of a user and one of their threads. Costs one query over the user's part of the key.

    Raises:
        StoreUnavailable: if the store did not answer.
    """
    of_user, of_thread = (user_id, SETTINGS_THREAD), (user_id, thread_id or SETTINGS_THREAD)
    thread = thread_id or ""
    ids = [SETTINGS_ID, WINDOW_ID, summary_id(user_id, thread), state_id(user_id, thread), user_summary_id(user_id)]
    with store.known.settings.reading([of_user, of_thread]) as put:
        rows = await store.query(
            SUMMARIES, _SQL, (user_id,), ids=ids, threads=[SETTINGS_THREAD, USER_SUMMARY_THREAD, thread]
        )
        found = {(row["thread_id"], row["id"]): row for row in rows}
        settings = {scope: found.get((scope or SETTINGS_THREAD, SETTINGS_ID), {}) for scope in (None, thread_id)}
        put({of_user: settings[None], of_thread: settings[thread_id]})
    summary, state = found.get((thread, ids[2])), found.get((thread, ids[3]))
    return ScopeDocuments(
        settings,
        found.get((USER_SUMMARY_THREAD, ids[4])),
        None if summary is None else from_document(ThreadSummary, summary),
        None if state is None else from_document(ThreadState, state),
        window_of(found.get((thread, WINDOW_ID))),
    )
