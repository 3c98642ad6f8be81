"""The scope of a group: memory that its members share."""

from __future__ import annotations

from agent_memory.models import Contributions, Memory, Turn
from agent_memory.rules.switches import Asked
from agent_memory.runtime import Home
from agent_memory.scopes.audited import audited
from agent_memory.scopes.user import AsyncUserScope
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES, TURNS
from agent_memory.store.documents import from_document
from agent_memory.store.ids import check_id, group_owner
from agent_memory.store.turns import in_order


class AsyncGroupScope(AsyncUserScope):
    """Everything that a group shares: the methods of a user's scope, with the group's own memory and settings.

    What a member writes through the handle carries the member's id (`contributor_id`). It belongs to the group: it
    stays when the member is forgotten, and `contributions` finds it.
    """

    def __init__(self, home: Home, group_id: str, asked: Asked | None = None, member: str | None = None) -> None:
        self._home = home
        self._asked = asked or Asked()
        self.user_id = group_owner(group_id)
        self.group_id = group_id
        self.member = None if member is None else check_id(member, "member")

    @audited(changes=False)
    async def contributions(self, member: str) -> Contributions:
        """What a member has written here, and the memories derived only from it, oldest first.

        Raises:
            InvalidInput: if the id is invalid.
        """
        store, who = self._runtime.store, check_id(member, "member")
        turns = await store.query(TURNS, queries.TURNS_OF_CONTRIBUTOR, (self.user_id,), contributor=who)
        rows = await store.query(MEMORIES, queries.MEMORIES_OF_CONTRIBUTOR, (self.user_id,), contributor=who)
        memories = [from_document(Memory, row) for row in rows]
        return Contributions(
            turns=in_order([from_document(Turn, row) for row in turns]),
            memories=sorted(memories, key=lambda memory: (memory.created_at, memory.id)),
        )
