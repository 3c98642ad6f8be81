"""The settings of users and threads: small documents, changed under their ETags."""

from __future__ import annotations

from typing import Any

from agent_memory.errors import Conflict
from agent_memory.models import ScopeSettings, iso, now
from agent_memory.store.client import Store
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.documents import Document
from agent_memory.store.ids import SETTINGS_ID, SETTINGS_THREAD
from agent_memory.store.updates import change_document


async def read_document(store: Store, user_id: str, thread_id: str | None = None) -> Document:
    """The settings document of a user or a thread; empty if nothing was ever set. One point read."""
    return await store.read(SUMMARIES, SETTINGS_ID, (user_id, thread_id or SETTINGS_THREAD)) or {}


def scope_settings(document: Document) -> ScopeSettings:
    """The settings that a document holds; an empty one holds the defaults."""
    fields = {name: document[name] for name in ScopeSettings.model_fields if name in document}
    return ScopeSettings.model_validate(fields | {"etag": document.get("_etag")})


async def change_settings(
    store: Store, user_id: str, thread_id: str | None, changes: dict[str, Any], if_match: str | None = None
) -> ScopeSettings:
    """Sets fields of a settings document, and makes it if need be.

    Raises:
        Conflict: if `if_match` is given and the settings are another version, or there are none.
    """

    def change(document: Document) -> Document:
        if if_match is not None and document.get("_etag") != if_match:
            raise Conflict("the settings were changed meanwhile: read them again")
        return document | {"type": "settings"} | changes | {"updated_at": iso(now())}

    partition = (user_id, thread_id or SETTINGS_THREAD)
    return scope_settings(await change_document(store, SUMMARIES, SETTINGS_ID, partition, change))
