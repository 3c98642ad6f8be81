"""Items of one user, kept as documents: what LangGraph's store and Anthropic's memory tool write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from agent_memory.errors import NotFound
from agent_memory.integrations import items
from agent_memory.integrations.bridge import Bridge
from agent_memory.models import Memory
from agent_memory.store.library import piece_id


class ItemStore:
    """The items of one user, by namespace and key. A value is returned exactly as it was put."""

    def __init__(self, bridge: Bridge, user_id: str) -> None:
        self._bridge = bridge
        self._user_id = user_id
        self._scope: Any = bridge.user(user_id)

    async def get(self, namespace: Sequence[str], key: str) -> Memory | None:
        """An item as it is stored; None if there is none."""
        id = piece_id(self._user_id, items.document_id(namespace, key), 0)
        try:
            kept: Memory = await self._bridge.ask(self._scope.get, id)
        except NotFound:
            return None
        return kept

    async def put(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | Sequence[str] | None = None,
    ) -> None:
        """Stores an item, replacing an earlier one.

        Raises:
            InvalidInput: if the value is not JSON.
            MemoryDisabled: if the policy would change it, or a switch is off; the earlier one stays.
        """
        known = await self.get(namespace, key)
        made = items.document(namespace, key, value, index, None if known is None else items.created_at(known))
        written = await self._write(namespace, key, made.content, made.metadata)
        kept = await self.get(namespace, key) if written else None
        # If another put or a deletion came after this one, it counts, and this one is outdated.
        if written and (kept is None or not items.is_version(made, kept) or items.is_exact(made, kept)):
            return
        if known is not None:
            await self._write(namespace, key, known.content, known.metadata)
        else:
            await self.delete(namespace, key)
        raise items.refusal(namespace, key)

    async def delete(self, namespace: Sequence[str], key: str) -> bool:
        """Deletes an item; whether there was one."""
        return bool(await self._bridge.ask(self._scope.delete_document, items.document_id(namespace, key)))

    async def within(self, namespace: Sequence[str]) -> list[Memory]:
        """The items of a namespace and of those below it."""
        found = await self._bridge.ask(self._scope.memories, types=["document"], filters=items.within(namespace))
        return list(found)

    async def scores(self, namespace: Sequence[str], query: str) -> dict[str, float]:
        """How well texts of items match a query, by the text. Of equal texts, a search shows one."""
        options = {"limit": items.MOST_HITS, "types": ["document"], "filters": items.within(namespace)}
        hits = await self._bridge.ask(self._scope.search, query, **options)
        return {hit.memory.content: hit.score for hit in hits}

    async def _write(self, namespace: Sequence[str], key: str, content: str, metadata: Mapping[str, Any]) -> list[str]:
        options = {"metadata": metadata, "chunk_size": items.WHOLE, "chunk_overlap": 0}
        id = items.document_id(namespace, key)
        return list((await self._bridge.ask(self._scope.add_document, id, content, **options)).ids)
