"""The list of memories in the process, which `push_to_cosmos` writes."""

from __future__ import annotations

from typing import Any

from agent_memory import models
from agent_memory.compat.azure_cosmos.documents import TYPES, Record, role_of
from agent_memory.errors import InvalidInput, NotFound
from agent_memory.store.ids import check_id, new_turn_id

ROLES = ("user", "agent", "assistant", "tool", "system")


class LocalMemory:
    """A buffer in RAM. No search finds its content, which is lost when the process ends."""

    def __init__(self) -> None:
        self.local_memory: list[Record] = []

    def add_local(
        self,
        user_id: str,
        role: str,
        content: str,
        memory_type: str = "turn",
        agent_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        thread_id: str | None = None,
        tags: list[str] | None = None,
        ttl: int | None = None,
        salience: float | None = None,
    ) -> None:
        """Adds a memory to the list.

        Raises:
            InvalidInput: if a value is invalid, or a turn has no thread.
        """
        if memory_type == "turn" and not thread_id:
            raise InvalidInput("a turn needs a thread_id")
        _refuse(role, memory_type)
        no_expiry(ttl)
        now = models.iso(models.now())
        self.local_memory.append(
            {
                "id": new_turn_id(),
                "user_id": check_id(user_id, "user_id"),
                "thread_id": None if thread_id is None else check_id(thread_id, "thread_id"),
                "role": role_of(role),
                "type": memory_type,
                "content": content,
                "metadata": dict(metadata or {}),
                "tags": list(tags or []),
                "agent_id": agent_id,
                "salience": salience,
                "created_at": now,
                "updated_at": now,
            }
        )

    def get_local(
        self,
        memory_id: str | None = None,
        user_id: str | None = None,
        role: str | None = None,
        memory_types: list[str] | None = None,
    ) -> list[Record]:
        """What is in the list, by id, user, role and type."""
        return [
            one
            for one in self.local_memory
            if memory_id in (None, one["id"])
            and user_id in (None, one["user_id"])
            and (role is None or role_of(role) == one["role"])
            and (not memory_types or one["type"] in memory_types)
        ]

    def update_local(
        self,
        memory_id: str,
        content: str | None = None,
        role: str | None = None,
        memory_type: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Changes a memory of the list.

        Raises:
            NotFound: if it is not there.
            InvalidInput: for an unknown role or type.
        """
        _refuse(role or "user", memory_type or "turn")
        changes = {"content": content, "role": role and role_of(role), "type": memory_type, "metadata": metadata}
        one = self._local(memory_id)
        one.update({name: value for name, value in changes.items() if value is not None})
        one["updated_at"] = models.iso(models.now())

    def delete_local(self, memory_id: str) -> None:
        """Removes a memory from the list.

        Raises:
            NotFound: if it is not there.
        """
        self.local_memory.remove(self._local(memory_id))

    def _local(self, memory_id: str) -> Record:
        for one in self.local_memory:
            if one["id"] == memory_id:
                return one
        raise NotFound(f"no memory {memory_id!r:.60} in the local list")


def no_expiry(ttl: int | None) -> None:
    """Refuses a time to live of one memory.

    Raises:
        InvalidInput: if one is given.
    """
    if ttl is not None:
        raise InvalidInput("ttl: memories expire by type here; see retention_days of update_settings")


def _refuse(role: str, memory_type: str) -> None:
    if role not in ROLES:
        raise InvalidInput(f"role: no role {role!r:.60}; there are {', '.join(ROLES)}")
    if memory_type not in TYPES:
        raise InvalidInput(f"memory_type: no type {memory_type!r:.60}; there are {', '.join(TYPES)}")
