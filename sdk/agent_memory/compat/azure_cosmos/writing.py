"""The methods that write and delete."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from agent_memory.compat.azure_cosmos.connection import Connection
from agent_memory.compat.azure_cosmos.documents import (
    moment,
    no_expiry,
)
from agent_memory.errors import InvalidInput, NotFound
from agent_memory.store.containers import SUMMARIES
from agent_memory.store.ids import USER_SUMMARY_THREAD, summary_id, user_summary_id

TAGS = "add_tags and remove_tags: tags are set when a memory is written, and otherwise come from the turns"


class Writing(Connection):
    """Writes and deletes what one user has."""

    async def upsert_memory(
        self,
        user_id: str,
        role: str,
        content: str,
        memory_type: str = "turn",
        metadata: dict[str, Any] | None = None,
        thread_id: str | None = None,
        tags: list[str] | None = None,
        ttl: int | None = None,
        salience: float | None = None,
        embedding: list[float] | None = None,
        embed: bool | None = None,
        created_at: str | datetime | None = None,
    ) -> str:
        """Writes a turn of a thread, or a fact. Returns its id. Turns are embedded in the background, always.

        Raises:
            InvalidInput: if a value is invalid, for other types, and for your own vector or ttl.
        """
        no_expiry(ttl)
        if embedding is not None:
            raise InvalidInput("embedding: the store's own model embeds here")
        if memory_type == "turn":
            thread = await self._thread(user_id, thread_id)
            kept = dict(metadata or {}) | ({"tags": list(tags)} if tags else {})
            receipt = await thread.add(role, content, created_at=moment(created_at), metadata=kept)
            return receipt.ids[0]
        if memory_type != "fact":
            raise InvalidInput(f"memory_type: {memory_type!r:.60} is derived; turns and facts are written")
        given: dict[str, Any] = {} if salience is None else {"importance": salience}
        category = str((metadata or {}).get("category"))
        if category in ("preference", "context", "requirement", "decision"):
            given["kind"] = category
        user = await self._user(user_id)
        return (await user.remember(content, tags=tags or (), metadata=metadata, **given)).id

    async def push_to_cosmos(self, batch_size: int = 25) -> None:
        """Writes the local list, and removes what was written. Pushing again after a failure writes nothing twice."""
        while self.local_memory:
            one = self.local_memory[0]
            if one["type"] == "turn":
                thread = await self._thread(one["user_id"], one["thread_id"])
                metadata = one["metadata"] | ({"tags": one["tags"]} if one["tags"] else {})
                at = moment(one["created_at"])
                await thread.add(one["role"], one["content"], id=one["id"], created_at=at, metadata=metadata)
            else:
                names = ("user_id", "role", "content", "metadata", "thread_id", "tags", "salience")
                await self.upsert_memory(**{name: one[name] for name in names}, memory_type=one["type"])
            self.local_memory.remove(one)

    async def update_cosmos(
        self,
        memory_id: str,
        *,
        user_id: str,
        thread_id: str,
        memory_type: str,
        content: str | None = None,
        role: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Corrects the content of a memory: a new version replaces it, with another id.

        Raises:
            InvalidInput: for a turn, which never changes, and for another role or metadata.
            NotFound: if there is no such memory.
        """
        if memory_type == "turn" or role is not None or metadata is not None or content is None:
            raise InvalidInput("only the content of a memory can be corrected; a turn never changes")
        await (await self._user(user_id)).update(memory_id, content=content)

    async def delete_memory(self, memory_id: str, *, user_id: str, thread_id: str, memory_type: str) -> None:
        """Deletes a memory and what was derived from it. Its source turns stay, and do not bring it back.

        Raises:
            NotFound: if there is none.
        """
        if memory_type == "turn":
            await self.delete_turn(memory_id, user_id=user_id, thread_id=thread_id)
        elif memory_type in ("thread_summary", "user_summary"):
            whole = memory_type == "user_summary"
            gone = await (
                self.delete_user_summary(user_id) if whole else self.delete_thread_summary(user_id, thread_id)
            )
            if not gone:
                raise NotFound(f"there is no {memory_type} to delete")
        else:
            await (await self._user(user_id)).forget(memory_id, include_sources=False)

    async def delete_turn(self, turn_id: str, *, user_id: str, thread_id: str) -> None:
        """Deletes a turn and everything derived from it.

        Raises:
            NotFound: if there is none.
        """
        await (await self._user(user_id)).forget(turn_id)

    async def delete_thread_summary(self, user_id: str, thread_id: str) -> bool:
        """Deletes the summary of a thread; False if there was none. New turns make another one."""
        await self._thread(user_id, thread_id)
        store = (await self._open()).runtime.store
        return await store.delete(SUMMARIES, summary_id(user_id, thread_id), (user_id, thread_id))

    async def delete_user_summary(self, user_id: str) -> bool:
        """Deletes the summary of a user; False if there was none."""
        await self._user(user_id)
        store = (await self._open()).runtime.store
        return await store.delete(SUMMARIES, user_summary_id(user_id), (user_id, USER_SUMMARY_THREAD))

    async def delete_thread(self, user_id: str, thread_id: str, *, include_summary: bool = True) -> int:
        """Deletes the turns of a thread with its summary; what was learned from it stays. Returns how many documents.

        Raises:
            InvalidInput: if the summary should stay: it would reveal what was deleted.
        """
        if not include_summary:
            raise InvalidInput("include_summary=False: a summary of deleted turns is not kept here")
        receipt = await (await self._thread(user_id, thread_id)).delete()
        return sum(len(receipt.deleted.get(kind, ())) for kind in ("turn", "summary"))

    async def add_tags(self, memory_id: str, user_id: str, thread_id: str, memory_type: str, tags: list[str]) -> None:
        """Not supported: tags are set when something is written.

        Raises:
            InvalidInput: always, with the reason.
        """
        raise InvalidInput(TAGS)

    async def remove_tags(
        self, memory_id: str, user_id: str, thread_id: str, memory_type: str, tags: list[str]
    ) -> None:
        """Not supported: tags are set when something is written.

        Raises:
            InvalidInput: always, with the reason.
        """
        raise InvalidInput(TAGS)
