"""The scope of static knowledge: global, and the operator's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_memory.models import Memory, Receipt
from agent_memory.runtime import Home
from agent_memory.screening.screen import without_secrets
from agent_memory.store.static import make_facts, read_facts, write_facts


class AsyncStaticScope:
    """What holds for every user alike. Every context begins with it; no user's scope can change it."""

    def __init__(self, home: Home) -> None:
        self._home = home

    async def seed(self, facts: Sequence[Any]) -> Receipt:
        """Writes facts, each `{"id": …, "content": …}`; what is there already, word for word, is left alone.

        A fact may also be a text, `{"key": …, "value": …}`, or any other data that is JSON; its id is then made from
        it, and the data stands in the metadata under `value`. A fact whose content has changed takes the place of the
        old one. Other processes tell it within a minute. Secrets are
        taken out, as they are of all that is remembered.

        Raises:
            InvalidInput: if a fact cannot be used; nothing was written.
        """
        policy = self._home.runtime.tools.policy
        made = [without_secrets(fact, policy) for fact in make_facts(facts)]
        created = await write_facts(self._home.runtime.store, made)
        self._home.runtime.static.changed()
        return Receipt(ids=[fact.id for fact in made], created=created)

    async def list(self) -> Sequence[Memory]:
        """All facts, by id."""
        return await read_facts(self._home.runtime.store)
