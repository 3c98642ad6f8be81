"""The base of every part of a user's scope."""

from __future__ import annotations

from agent_memory.rules.switches import Asked, Rules, read_rules
from agent_memory.runtime import Home, Runtime
from agent_memory.store.ids import check_id


class UserPart:
    """The user, and what the user's settings and the handle's own allow."""

    member: str | None = None
    """Of a group: who acts through this handle."""

    def __init__(self, home: Home, user_id: str, asked: Asked | None = None) -> None:
        self._home = home
        self._asked = asked or Asked()
        self.user_id = check_id(user_id, "user_id")

    @property
    def home(self) -> object:
        """The open memory that this handle comes from; handles of the same memory share this object."""
        return self._home

    @property
    def _runtime(self) -> Runtime:
        return self._home.runtime

    async def _rules(self) -> Rules:
        return await read_rules(self._runtime.store, self._runtime.tools.policy, self.user_id, None, self._asked)
