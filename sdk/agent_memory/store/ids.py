"""Ids: which ones callers may use, and how ours are made.

A derived id comes from a document's sources (user, thread, source turn, ordinal), never from a model's text. So a
repeated run writes the same documents again.
"""

from __future__ import annotations

import hashlib
import os
import time
import uuid

from agent_memory.errors import InvalidInput
from agent_memory.text.patterns import linear

USER_THREAD = "__user__"
"""The reserved thread for what belongs to a user and to no conversation."""
USER_SUMMARY_THREAD = "__user_summary__"
PROCEDURES_THREAD = "__procedural__"
"""The reserved thread of procedures that combine those of several threads."""
FORGOTTEN_THREAD = "__forgotten__"
"""The reserved thread of a user's tombstones and running deletions."""
DOCUMENTS_THREAD = "__documents__"
"""The reserved thread of the pieces of a user's documents."""
COUNTERS_THREAD = "__counters__"
SETTINGS_THREAD = "__settings__"
AUDIT_THREAD = "__audit__"
REPLIES_THREAD = "__replies__"
"""The reserved thread of the answers to a user's writes that had an Idempotency-Key."""
FEED_THREAD = "__feed__"
"""The reserved thread for documents of the change feed that could not be read."""
ERASURES_THREAD = "__erasures__"
"""The reserved thread, under `STORE_USER`, for running erasures."""
SESSIONS_THREAD = "__sessions__"
"""The reserved thread, under `STORE_USER`, for the explorer's sessions and tokens that are over."""
STATIC_USER = "__static__"
STORE_USER = "__store__"
"""The reserved user whose documents describe the store itself."""
GROUP = "__group__"
"""How the stored owner of a group's memory begins. No user's id can: `check_id` refuses it."""
NOBODY = "__nobody__"
"""The successor of a memory that was withdrawn without one."""

_RESERVED = "__"
_BESIDE_MEMORIES = ("cursor_", "dead_", "tombstone_", "forgetting_", "chunk_")
"""How the ids of the other documents in the memories' container begin."""
_FORBIDDEN = linear(r"[/\\?#\x00-\x1f\x7f]")


def is_reserved(name: str) -> bool:
    """Whether an id is reserved; such a thread holds no conversation."""
    return name.startswith(_RESERVED)


def check_id(value: object, what: str) -> str:
    r"""Returns the id if Cosmos DB and our partition keys can carry it.

    Raises:
        InvalidInput: if it is not a text of 1 to 255 characters, holds `/ \ ? #` or a control character, begins
            with `__`, which is reserved, or cannot be encoded.
    """
    if not isinstance(value, str) or not 1 <= len(value) <= 255:
        raise InvalidInput(f"{what} must be a text of 1 to 255 characters, not {value!r:.60}")
    if _FORBIDDEN.search(value):
        raise InvalidInput(f"{what} must not contain / \\ ? # or a control character: {value!r:.60}")
    if is_reserved(value):
        raise InvalidInput(f"{what} must not begin with __, which is reserved: {value!r:.60}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"{what} holds a lone surrogate: {value!r:.60}") from error
    return value


def check_new_ids(**ids: str) -> None:
    """Refuses ids that end with a space, before anything is written under them.

    Ids of documents end with them, and Azure refuses such documents. Stores of earlier versions may hold such ids, so
    that reading and forgetting accept them.

    Raises:
        InvalidInput: naming the id.
    """
    for what, value in ids.items():
        if value.endswith(" "):
            raise InvalidInput(f"{what} must not end with a space: {value!r:.60}")


def group_owner(group_id: object) -> str:
    """The stored owner of a group's memory, instead of a user's id.

    Raises:
        InvalidInput: if it is not a valid id, or leaves no room for the prefix.
    """
    checked = check_id(group_id, "group_id")
    if len(checked) > 255 - len(GROUP):
        raise InvalidInput(f"group_id must be a text of 1 to {255 - len(GROUP)} characters, not {checked!r:.60}")
    return GROUP + checked


def group_of(owner: str) -> str | None:
    """The group of this owner; None for a user."""
    return owner[len(GROUP) :] if owner.startswith(GROUP) else None


def check_owner(owner: str) -> str:
    """Returns the id of a user, or the stored owner of a group's memory. Raises InvalidInput if it is neither."""
    group = group_of(owner) if isinstance(owner, str) else None
    return check_id(owner, "user_id") if group is None else group_owner(group)


def check_memory_id(value: object) -> str:
    """Returns an imported memory's id. It must not collide with the documents that are stored next to memories.

    Raises:
        InvalidInput: if it is not a valid id (`check_id`), or begins like the id of such a document.
    """
    memory_id = check_id(value, "a memory's id")
    if memory_id.startswith(_BESIDE_MEMORIES):
        raise InvalidInput(f"a memory's id must not begin with {', '.join(_BESIDE_MEMORIES)}: {memory_id!r:.60}")
    return memory_id


def new_turn_id() -> str:
    """A UUIDv7 (RFC 9562): unique, and ordered by the millisecond of its making."""
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds << 80) | int.from_bytes(os.urandom(10), "big")
    value = (value & ~(0xF << 76)) | (0x7 << 76)
    value = (value & ~(0x3 << 62)) | (0x2 << 62)
    return str(uuid.UUID(int=value))


def derived_id(prefix: str, *parts: str) -> str:
    """An id made from a document's sources."""
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return f"{prefix}_{digest[:32]}"


def _bounded(identifier: str) -> str:
    """Shortens an id of more than 255 characters; a hash keeps it unique."""
    if len(identifier) <= 255:
        return identifier
    return f"{identifier[:200]}_{hashlib.sha256(identifier.encode()).hexdigest()[:32]}"


def summary_id(user_id: str, thread_id: str) -> str:
    """The id of a thread's summary."""
    return _bounded(f"summary_{user_id}_{thread_id}")


def state_id(user_id: str, thread_id: str) -> str:
    """The id of a thread's current state."""
    return _bounded(f"state_{user_id}_{thread_id}")


def user_summary_id(user_id: str) -> str:
    """The id of a user's profile."""
    return _bounded(f"user_summary_{user_id}")


BUDGET_ID = "budget"
"""The id, in `__counters__`, of the record of what a user's processing cost today."""
SETTINGS_ID = "settings"
"""The id of the settings of a user (in `__settings__`) or of a thread (next to its summary)."""


def cursor_id(step: str) -> str:
    """The id of a step's cursor, in the partition that the step commits to."""
    return f"cursor_{step}"
