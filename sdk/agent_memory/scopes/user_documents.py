"""Documents of a user: texts to be looked up, from which nothing is learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.forgetting.deletion import delete_items
from agent_memory.models import Memory, Receipt, Usage
from agent_memory.rules.retention import with_retention
from agent_memory.scopes.audited import audited
from agent_memory.scopes.user_part import UserPart
from agent_memory.screening.screen import screen_memories
from agent_memory.store import library, queries
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import Document, to_document
from agent_memory.store.ids import DOCUMENTS_THREAD, USER_THREAD, check_id
from agent_memory.store.values import check_json


class UserDocuments(UserPart):
    """The documents of one user. `search` and `memories` give their pieces for `types=["document"]`."""

    @audited(changes=True)
    async def add_document(
        self,
        id: str,
        content: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        chunk_size: int = 800,
        chunk_overlap: int = 100,
    ) -> Receipt:
        """Keeps a document in pieces, in the place of what was kept under its id. The same again changes nothing.

        A document is looked up and not learned from: it is in no profile and no count, and `search` finds it only with
        `types=["document"]`. Secrets are taken out of it, and pieces that read as an order to a model wait for review.

        Args:
            id: Which document.
            content: Its text.
            metadata: Anything that belongs to it (title, source, …); must be JSON. Each piece carries it.
            chunk_size: Characters of a piece at most.
            chunk_overlap: Characters that a piece shares with the one before it.

        Returns:
            The ids of its pieces; `created` says how many of them are new or say something else than before.

        Raises:
            InvalidInput: if the text is empty, or a value cannot be used.
            MemoryDisabled: if a switch is off.
            ModelError: if it could not be embedded; the call may be repeated.
        """
        check_id(id, "id")
        if not isinstance(content, str):
            raise InvalidInput(f"a document is a text, not {content!r:.60}")
        if chunk_size < 1 or chunk_overlap < 0:
            raise InvalidInput(f"no pieces of {chunk_size} characters with {chunk_overlap} in common can be made")
        check_json(dict(metadata or {}), "metadata")
        rules = await self._rules()
        rules.require_enabled()
        store, tools = self._runtime.store, self._runtime.tools
        texts = list(library.pieces_of(content, chunk_size, chunk_overlap))
        pieces = library.make_pieces(self.user_id, id, texts, metadata or {}, tools.embeddings.model_id)
        screened = screen_memories(pieces, rules, tools.policy)
        if not screened.memories:
            await self._delete_document(id)
            return Receipt(ids=[], created=0, skipped_reason="; ".join(screened.rejected))
        usage = Usage()

        async def make(changed: Sequence[Memory]) -> list[Document]:
            nonlocal usage
            embedded = await tools.embeddings.embed([piece.content for piece in changed])
            usage += embedded.usage
            documents = [to_document(piece, vector) for piece, vector in zip(changed, embedded.vectors, strict=True)]
            return with_retention(documents, rules)

        created = await library.write_pieces(store, self.user_id, id, screened.memories, make)
        await self._delete_facts_of(id)
        ids = [piece.id for piece in screened.memories]
        return Receipt(ids=ids, created=created, skipped_reason="; ".join(screened.rejected) or None, usage=usage)

    @audited(changes=True)
    async def delete_document(self, id: str) -> int:
        """Deletes a document; how many pieces it had. To forget what it says, in whatever place, `forget` it.

        Raises:
            StoreUnavailable: if it could not be done; the call may be repeated.
        """
        return await self._delete_document(check_id(id, "id"))

    async def _delete_document(self, id: str) -> int:
        store = self._runtime.store
        pieces = await library.read_pieces(store, self.user_id, id)
        return await delete_items(store, MEMORIES, (self.user_id, DOCUMENTS_THREAD), pieces) + (
            await self._delete_facts_of(id)
        )

    async def _delete_facts_of(self, id: str) -> int:
        """Deletes what earlier versions kept of a document as facts of the user."""
        store, partition = self._runtime.store, (self.user_id, USER_THREAD)
        ids = await store.query(MEMORIES, queries.FACTS_OF_DOCUMENT, partition, document=id)
        return await delete_items(store, MEMORIES, partition, ids)
