"""The small documents of a scope: settings, which change under their ETags; profile, summary, state, window.

Every context reads them all, in one query. Most scopes lack most of them. One query shows this, while each point read
would cost a request and find nothing.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_memory.errors import Conflict, InvalidInput, NotFound
from agent_memory.models import Extraction, ScopeSettings, ThreadState, ThreadSummary, UserProfile, iso, now
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.documents import Document, from_document
from agent_memory.store.ids import (
    SETTINGS_ID,
    SETTINGS_THREAD,
    STORE_USER,
    USER_SUMMARY_THREAD,
    group_of,
    state_id,
    summary_id,
    user_summary_id,
)
from agent_memory.store.turns import WINDOW_FIELDS, WINDOW_ID, Window, window_of
from agent_memory.store.updates import change_document

THREADS_OFF = "threads_off"
"""The field of a user's settings that lists the threads that are off. Recall reads it instead of asking each thread."""

_MOST_OFF = 1_000_000
"""The most bytes of JSON of that list. A document may have 2 MB, and whoever switches a thread off relies on it."""

TIER = "tier"
"""The field of a user's settings with the tier that the operator put them into."""


EXTRACTION = "extraction"
"""The field of the settings of a group, or of `STORE_USER` for all, with the operator's custom extraction."""


async def extraction_of(store: Store, owner: str) -> Extraction | None:
    """The custom extraction for a user or a group: the group's own, else the store's. Read as settings are (`Known`).

    Raises:
        StoreUnavailable: if it must be read and cannot be.
    """
    owners = (owner, STORE_USER) if group_of(owner) is not None else (STORE_USER,)
    for one in owners:
        given = (await known_document(store, one)).get(EXTRACTION)
        if given is not None:
            return from_document(Extraction, given)
    return None


async def read_document(store: Store, user_id: str, thread_id: str | None = None) -> Document:
    """The settings document of a user or a thread; empty if nothing was ever set. Costs one point read."""
    return await store.read(SUMMARIES, SETTINGS_ID, (user_id, thread_id or SETTINGS_THREAD)) or {}


async def known_document(store: Store, user_id: str, thread_id: str | None = None) -> Mapping[str, Any]:
    """The settings document from this process's cache (`store.known`); reads it if it is not cached."""
    key = (user_id, thread_id or SETTINGS_THREAD)
    return await store.known.settings.get(key, lambda: read_document(store, user_id, thread_id))


NEVER_SET = '"never-set"'
"""The ETag of settings that were never set, so that the first change can depend on it, too."""
_STORED = [name for name in ScopeSettings.model_fields if name not in ("off_by", "etag")]


def says_something(document: Document) -> bool:
    """Whether a settings document holds any setting, and not only the notes that are stored with them."""
    return any(name in document for name in _STORED)


def scope_settings(document: Mapping[str, Any]) -> ScopeSettings:
    """The settings in a document, with defaults for those it lacks."""
    fields = {name: document[name] for name in _STORED if name in document}
    return ScopeSettings.model_validate(fields | {"etag": _etag(document)})


def _etag(document: Mapping[str, Any]) -> str:
    return str(document.get("_etag", NEVER_SET))


async def change_settings(
    store: Store, user_id: str, thread_id: str | None, changes: dict[str, Any], if_match: str | None = None
) -> ScopeSettings:
    """Sets fields of a settings document. Creates the document if needed.

    Raises:
        Conflict: if `if_match` is given and is not the ETag of the stored settings.
        InvalidInput: if too many threads of the user are off.
    """
    if thread_id is not None and changes.get("enabled") is False:
        off = (await read_document(store, user_id)).get(THREADS_OFF, [])
        if thread_id not in off and len(json.dumps([*off, thread_id])) > _MOST_OFF:
            raise InvalidInput("too many threads are off: delete some, or switch memory off for the user")

    def change(document: Document) -> Document:
        if if_match is not None and _etag(document) != if_match:
            raise Conflict("the settings have changed: read them again")
        return document | {"type": "settings"} | changes | {"updated_at": iso(now())}

    partition = (user_id, thread_id or SETTINGS_THREAD)
    settings = scope_settings(await change_document(store, SUMMARIES, SETTINGS_ID, partition, change))
    if thread_id is not None and "enabled" in changes:
        await _note_whether_on(store, user_id, thread_id, on=settings.enabled)
    return settings


async def _note_whether_on(store: Store, user_id: str, thread_id: str, *, on: bool) -> None:
    """Notes in the user's settings whether a thread is off. Repeating it repairs what a crash left."""

    def note(document: Document) -> Document:
        off = set(document.get(THREADS_OFF, ())) - {thread_id} | (set() if on else {thread_id})
        if not off and not document.get(THREADS_OFF):
            return document
        return document | {"type": "settings", THREADS_OFF: sorted(off)}

    if not on or (await read_document(store, user_id)).get(THREADS_OFF):
        await change_document(store, SUMMARIES, SETTINGS_ID, (user_id, SETTINGS_THREAD), note)


SOURCES_UNTIL = "sources_until"
"""The field of a profile's document with the time, in seconds, from which retention may delete one of its sources."""
SOURCES_REPLACED = "sources_replaced"
"""The field of a profile's document that says that memories were replaced since it was made."""


async def note_replaced(store: Store, user_id: str) -> None:
    """Notes in a user's profile, if there is one, that memories are replaced or withdrawn. Costs one request."""
    with contextlib.suppress(Conflict, NotFound):
        place = (user_id, USER_SUMMARY_THREAD)
        await store.patch(SUMMARIES, user_summary_id(user_id), place, {SOURCES_REPLACED: True}, "FROM c WHERE true")


_FIELDS = dict.fromkeys(
    [
        "_etag",
        *(name for model in (ThreadSummary, ThreadState, UserProfile) for name in model.model_fields),
        *_STORED,
        *(THREADS_OFF, TIER, SOURCES_UNTIL, SOURCES_REPLACED),
        *WINDOW_FIELDS,
    ]
)
_SQL = f"SELECT {queries.fields(*_FIELDS)} FROM c WHERE c.id IN (@ids) AND c.thread_id IN (@threads)"


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
    """The small documents of a user and one of their threads. Costs one query over the user's part of the key, or none.

    Raises:
        StoreUnavailable: if the store did not answer.
    """
    of_user, of_thread = (user_id, SETTINGS_THREAD), (user_id, thread_id or SETTINGS_THREAD)
    thread = thread_id or ""
    ids = [SETTINGS_ID, WINDOW_ID, summary_id(user_id, thread), state_id(user_id, thread), user_summary_id(user_id)]
    with store.known.settings.reading([of_user, of_thread]) as put:
        rows = await store.known_rows(
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
