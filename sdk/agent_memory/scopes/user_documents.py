"""Documents of a user: texts that can be searched. No memories are derived from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.forgetting.deletion import delete_items
from agent_memory.language.current import for_writing
from agent_memory.models import Memory, Receipt, Usage
from agent_memory.rules.keeping import with_retention
from agent_memory.scopes.audited import audited
from agent_memory.scopes.scope import Scope
from agent_memory.screening.screen import entries_of, screen_aside
from agent_memory.store import library, queries
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import Document, check_json, to_document
from agent_memory.store.ids import DOCUMENTS_THREAD, USER_THREAD, check_id


class UserDocuments(Scope):
    """The documents of one user. `search` and `memories` return their pieces for `types=["document"]`."""

    @audited(changes=True, operation="upsert_memory")
    async def add_document(
        self,
        id: str,
        content: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        chunk_size: int = 800,
        chunk_overlap: int = 100,
    ) -> Receipt:
        """Stores a document in pieces, and replaces an earlier one with the same id. The same text changes nothing.

        No memories are derived from a document: it is in no profile and no count, and `search` finds it only with
        `types=["document"]`. Secrets are redacted. Pieces that look like an instruction to a model wait for review.

        Args:
            id: The id of the document.
            content: Its text.
            metadata: Anything that belongs to it (title, source, …); must be JSON. Each piece gets a copy.
            chunk_size: The most characters of a piece.
            chunk_overlap: How many characters a piece shares with the one before it.

        Returns:
            The ids of its pieces; `created` says how many of them are new or changed.

        Raises:
            InvalidInput: if the text is empty, or a value is invalid.
            MemoryDisabled: if a switch is off.
            ModelError: if it could not be embedded; the call may be repeated.
        """
        check_id(id, "id")
        if not isinstance(content, str):
            raise InvalidInput(f"a document is a text, not {content!r:.60}")
        sizes = (chunk_size, chunk_overlap)
        if not all(isinstance(one, int) for one in sizes) or chunk_size < 1 or chunk_overlap < 0:
            raise InvalidInput(f"cannot make pieces of {chunk_size} characters that share {chunk_overlap}")
        check_json(dict(metadata or {}), "metadata")
        rules = await self._rules()
        rules.require_enabled()
        store, tools = self._runtime.store, self._runtime.tools
        embeddings = for_writing(tools.embeddings)
        texts = list(library.pieces_of(content, chunk_size, chunk_overlap))
        if entries_of(dict(metadata or {}))[0] * len(texts) > library.MOST_COPIED:
            raise InvalidInput(f"metadata: {len(texts)} pieces would each have a copy; give it fewer entries")
        pieces = library.make_pieces(self.user_id, id, texts, metadata or {}, embeddings.model_id)
        screened = await screen_aside(pieces, rules, tools.policy)
        if not screened.memories:
            await self._delete_document(id)
            return Receipt(ids=[], created=0, skipped_reason="; ".join(screened.rejected))
        # An id is no text: folded or redacted, it would name another document, or none.
        named = [
            one.model_copy(update={"metadata": one.metadata | {"document_id": id}, "contributor_id": self.member})
            for one in screened.memories
        ]
        usage = Usage()

        async def make(changed: Sequence[Memory]) -> list[Document]:
            nonlocal usage
            embedded = await embeddings.embed([piece.content for piece in changed])
            usage += embedded.usage
            documents = [to_document(piece, vector) for piece, vector in zip(changed, embedded.vectors, strict=True)]
            return with_retention(documents, rules)

        created = await library.write_pieces(store, self.user_id, id, named, make)
        await self._delete_facts_of(id)
        ids = [piece.id for piece in screened.memories]
        return Receipt(ids=ids, created=created, skipped_reason="; ".join(screened.rejected) or None, usage=usage)

    @audited(changes=True, operation="delete_memory")
    async def delete_document(self, id: str) -> int:
        """Deletes a document; returns how many pieces it had. To forget everywhere what it says, use `forget`.

        Raises:
            StoreUnavailable: if the store failed; the call may be repeated.
        """
        return await self._delete_document(check_id(id, "id"))

    async def _delete_document(self, id: str) -> int:
        store = self._runtime.store
        pieces = await library.read_pieces(store, self.user_id, id)
        return await delete_items(store, MEMORIES, (self.user_id, DOCUMENTS_THREAD), pieces) + (
            await self._delete_facts_of(id)
        )

    async def _delete_facts_of(self, id: str) -> int:
        """Deletes the facts that earlier versions made from a document."""
        store, partition = self._runtime.store, (self.user_id, USER_THREAD)
        ids = await store.query(MEMORIES, queries.FACTS_OF_DOCUMENT, partition, document=id)
        return await delete_items(store, MEMORIES, partition, ids)
