"""The people, places and things that a user's memories mention."""

from __future__ import annotations

from agent_memory.errors import InvalidInput, NotFound
from agent_memory.models import Entity, EntityView
from agent_memory.recall.entities import read_entities, read_entity
from agent_memory.scopes.audited import audited
from agent_memory.scopes.user_part import UserPart


class UserEntities(UserPart):
    """Lists what memories mention, and shows one entity over time."""

    @audited(changes=False)
    async def entities(self, *, kind: str | None = None, limit: int = 100) -> list[Entity]:
        """The people, places and things that the user's memories name, the most mentioned first.

        They are extracted from the newest 2,000 memories on each call: by capital letters, by the words around a name,
        and by what a model noted about finished conversations. The kind is a guess. Nothing is stored.

        Args:
            kind: Only `person`, `place` or `thing`.
            limit: The most entities, 1 to 1,000.

        Raises:
            InvalidInput: for another kind or limit.
        """
        if kind not in (None, "person", "place", "thing"):
            raise InvalidInput(f"kind is person, place or thing, not {kind!r:.60}")
        if not isinstance(limit, int) or not 1 <= limit <= 1000:
            raise InvalidInput(f"limit must be a number from 1 to 1000, not {limit!r:.60}")
        found = await read_entities(self._runtime.store, self.user_id)
        return [entity for entity in found if kind in (None, entity.kind)][:limit]

    @audited(changes=False)
    async def entity(self, name: str) -> EntityView:
        """One person, place or thing, with every memory that names it, oldest first, and the names that appear with it.

        Raises:
            InvalidInput: if the name is empty, or longer than 255 characters.
            NotFound: if no memory names it.
        """
        if not isinstance(name, str) or not 1 <= len(name.strip()) <= 255:
            raise InvalidInput(f"a name is a text of 1 to 255 characters, not {name!r:.60}")
        found = await read_entity(self._runtime.store, self.user_id, name)
        if found is None:
            raise NotFound("no memory names this")
        return found
