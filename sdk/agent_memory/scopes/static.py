"""The scope of static knowledge, which belongs to the operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_memory.models import Memory, Receipt
from agent_memory.runtime import Home
from agent_memory.screening.screen import without_secrets
from agent_memory.store.static import make_facts, read_facts, write_facts


class AsyncStaticScope:
    """Knowledge that is the same for every user. Every context begins with it; no user's scope can change it."""

    def __init__(self, home: Home) -> None:
        self._home = home

    async def seed(self, facts: Sequence[Any]) -> Receipt:
        """Writes facts, each `{"id": …, "content": …}`. Facts that are stored already, word for word, stay as they are.

        A fact can also be a text, `{"key": …, "value": …}`, or any other JSON. Its id is then made from the data, which
        is kept in the metadata under `value`. A fact with the same id and another content replaces the stored one.
        Other processes use the new facts within a minute. Secrets are redacted, as in all memories.

        Raises:
            InvalidInput: if a fact is invalid; nothing was written.
        """
        policy = self._home.runtime.tools.policy
        made = [without_secrets(fact, policy) for fact in make_facts(facts)]
        created = await write_facts(self._home.runtime.store, made)
        self._home.runtime.static.changed()
        return Receipt(ids=[fact.id for fact in made], created=created)

    async def list(self) -> Sequence[Memory]:
        """All facts, by id."""
        return await read_facts(self._home.runtime.store)
