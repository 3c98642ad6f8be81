"""The `Store` operations of vLLM Semantic Router's agentic memory, over the scopes.

There is one store, on Cosmos DB or the embedded engine. These are other names for its operations. Every call names the
user, also where the original takes only an id.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from pydantic import Field

from agent_memory import models
from agent_memory.contract.wire import STORED, RouterType, StoredMemory, as_score, as_stored
from agent_memory.errors import InvalidInput, ModelError
from agent_memory.models import ForgetReceipt, Model, ProcessResult
from agent_memory.sync import Memory

MemoryType = RouterType


class RetrieveOptions(Model):
    """A query, and its number of results."""

    user_id: str
    query: str
    project_id: str | None = None
    types: list[MemoryType] | None = None
    limit: int = Field(default=5, ge=1, le=100)
    threshold: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="Cosine that a result must exceed; by default the embedding model's threshold.",
    )


class RetrieveResult(Model):
    """One result."""

    memory: StoredMemory
    score: float = Field(
        description="The similarity, 0 to 1; 0 if no vector was compared. Results are ordered by `rank_score`."
    )
    rank_score: float = Field(description="The score that orders the results: words, vector and neighbours together.")
    similarity: float | None = Field(default=None, description="The cosine that is compared with the threshold.")


class MemoryScope(Model):
    """What to delete: a user, or one of their projects."""

    user_id: str
    project_id: str | None = None


class MemoryStore:
    """The operations on memories.

    Example:
        ```python
        store = MemoryStore(Memory.local("memory.db"))
        id = store.store(StoredMemory(user_id="alice", content="The budget for Hawaii is $10,000."))
        store.retrieve(RetrieveOptions(user_id="alice", query="What's my budget?"))
        ```
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def store(self, memory: StoredMemory) -> str:
        """Stores a memory and returns its id. A memory with the same text keeps its id.

        Raises:
            InvalidInput: if a value is invalid, or the type is `reflective`: `reflect` draws insights.
            QuotaExceeded: if the user's tier allows no more.
            ModelError: if it could not be embedded.
        """
        if memory.type not in STORED:
            raise InvalidInput(f"a memory of the type {memory.type} is not stored by hand: see reflect")
        kept = self._memory.user(memory.user_id).remember(
            memory.content,
            type=STORED[memory.type],
            importance=memory.importance,
            project_id=memory.project_id,
            valid_from=memory.created_at,
            metadata={"source": memory.source} if memory.source else None,
        )
        return kept.id

    def retrieve(self, options: RetrieveOptions) -> list[RetrieveResult]:
        """The memories that match a query, best first.

        Raises:
            InvalidInput: if an option is invalid.
            StoreUnavailable: if every part of the search failed.
        """
        hits = self._memory.user(options.user_id).search(
            options.query,
            limit=options.limit,
            types=options.types,
            project_id=options.project_id,
            threshold=options.threshold,
        )
        return [
            RetrieveResult(
                memory=as_stored(hit.memory), score=as_score(hit), rank_score=hit.score, similarity=hit.similarity
            )
            for hit in hits
        ]

    def get(self, user_id: str, id: str) -> StoredMemory:
        """One memory.

        Raises:
            NotFound: if the user has none with this id.
        """
        return as_stored(self._memory.user(user_id).get(id))

    def update(self, user_id: str, id: str, content: str) -> str:
        """Corrects a memory. Returns the id of the new version, which replaces the old one.

        Raises:
            NotFound: if the user has none with this id.
            Conflict: if it was replaced already.
        """
        return self._memory.user(user_id).update(id, content=content).id

    def forget(self, user_id: str, id: str) -> ForgetReceipt:
        """Deletes a memory, its sources, and everything derived from it.

        Raises:
            NotFound: if the user has none with this id.
        """
        return self._memory.user(user_id).forget(id)

    def forget_by_scope(self, scope: MemoryScope) -> ForgetReceipt:
        """Deletes everything of a user, or of one of their projects."""
        user = self._memory.user(scope.user_id)
        if scope.project_id is not None:
            return user.forget(project_id=scope.project_id)
        return user.forget(everything=True)

    @overload
    def consolidate(self, user_id: str) -> ProcessResult: ...
    @overload
    def consolidate(self, user_id: str, memory_ids: Sequence[str]) -> StoredMemory: ...
    def consolidate(self, user_id: str, memory_ids: Sequence[str] | None = None) -> ProcessResult | StoredMemory:
        """Merges the given memories into one. Without ids, merges memories that are about one thing.

        The merged memories stay in its history. Rules list them, oldest first; a language model may write one sentence.

        Raises:
            NotFound: if the user has no memory with one of the ids.
            InvalidInput: if one of them cannot be merged.
            ModelError: if the model returned no usable answer. Nothing is lost, and you can repeat the call.
        """
        user = self._memory.user(user_id)
        if memory_ids is None:
            return user.process("consolidate")
        result = user.process("consolidate", memory_ids=memory_ids)
        if not result.created:
            why = result.skipped_reason or "; ".join(result.rejected) or "the model merged none of them"
            raise ModelError(f"the memories stay as they are: {why}")
        merged = user.get(memory_ids[0]).superseded_by
        return as_stored(user.get(str(merged)))

    def reflect(self, scope: MemoryScope | str) -> list[models.Memory]:
        """Draws insights from the memories of a user or a project. Returns all insights, newest first.

        Raises:
            ModelError: if the model returned no usable answer. Nothing is lost, and you can repeat the call.
        """
        asked = MemoryScope(user_id=scope) if isinstance(scope, str) else scope
        user = self._memory.user(asked.user_id)
        user.process("reflect", project_id=asked.project_id)
        found = user.memories(types=["reflection"])
        return [one for one in found if asked.project_id in (None, one.project_id)]

    def is_enabled(self) -> bool:
        """Whether the store is open and memory is on."""
        return self._memory.enabled

    def close(self) -> None:
        """Closes it. Harmless if it is closed."""
        self._memory.close()
