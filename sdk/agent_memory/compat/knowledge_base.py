"""A knowledge base under the Agent Service's names: archived conversations and documents of one user.

A profile's `relevance_threshold`, 0 to 1, was chosen for another embedding model: all-MiniLM-L6-v2 hardly reaches a
cosine of 0.7. So a score is not a cosine. It is the probability that a conversation answers the question
(`agent_memory.language.relevance_curve`). If that cannot be measured (hashed words, a memory on a server), the memory's
own threshold corresponds to a score of 0.7.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import Field

from agent_memory.compat.agent_profile import Difference, KnowledgeBaseResource, SearchType
from agent_memory.errors import ConfigurationError, InvalidInput
from agent_memory.language.callable_chat import Provider, as_chat_model
from agent_memory.language.relevance_curve import relevance_curve
from agent_memory.language.tasks import ChatModel, EmbeddingModel
from agent_memory.memory import AsyncMemory
from agent_memory.models import Memory, Model, SearchFilters
from agent_memory.recall.archive import topic_of
from agent_memory.recall.render import quoted
from agent_memory.recall.searcher import rerank
from agent_memory.scopes import AsyncUserScope
from agent_memory.screening.injected import NOTICE
from agent_memory.settings import RecallSettings
from agent_memory.text.asked_back import trigger_in
from agent_memory.text.terms import says_something
from agent_memory.working.blocks import ANY_COSINE
from agent_memory.working.messages import ChatMessage

logger = logging.getLogger("agent_memory")

CROSS_SESSION_RESULTS = 3
"""Most archived conversations that are shown."""
CROSS_SESSION_HEADER = "Relevant context from previous conversations:"
_DOCUMENT = "document"
_LOOKED_AT = 20
"""How many archived conversations are compared with a message."""
_FILTERS: dict[str, SearchFilters] = {
    "conversation": {"types": ["conversation_summary"]},
    # Earlier versions stored documents as facts with this tag.
    _DOCUMENT: {"types": [_DOCUMENT, "fact"], "tags": [_DOCUMENT]},
}


class KnowledgeDocument(Model):
    """A document of the knowledge base: an archived conversation, or a piece of a text."""

    id: str
    content: str
    namespace: str
    doc_type: str
    metadata: dict[str, Any] = Field(default_factory=dict)
    score: float | None = Field(default=None, description="How relevant it is to the query, 0 to 1.")
    similarity: float | None = Field(default=None, description="The cosine behind the score.")


class CrossSession(Model):
    """What a message finds in other sessions, and why not more."""

    threshold: float
    trigger: str | None = None
    least_similarity: float | None = None
    best_score: float | None = None
    best_similarity: float | None = None
    documents: list[KnowledgeDocument] = Field(default_factory=list)
    reason: str | None = Field(default=None, description="Why there is nothing.")


class KnowledgeBase:
    """What one user's agents can look up beyond the current conversation."""

    def __init__(self, memory: AsyncMemory, user: AsyncUserScope, settings: KnowledgeBaseResource) -> None:
        """Reads nothing yet. Searches use the memory's own store and vectors."""
        self._memory = memory
        self._user = user
        self._settings = settings
        self._chat: ChatModel | None = None
        self._reranker: ChatModel | None = None
        self._embeddings: str | None = None

    def set_chat_provider(self, provider: Provider) -> None:
        """Sets the model for reranking, if no other is set for that.

        Raises:
            InvalidInput: if it is neither a chat model nor a function of messages.
        """
        self._chat = as_chat_model(provider)

    def set_embedding_provider(self, provider: EmbeddingModel, model: str | None = None) -> None:
        """Notes which embeddings you expect. The memory uses its own; `differences` reports others."""
        self._embeddings = model or provider.model_id

    def set_rerank_provider(self, provider: Provider, model: str | None = None) -> None:
        """Sets the model that ranks conversations by how much they help to answer.

        Args:
            provider: A chat model, or a function of messages.
            model: Its name. It is not used, because the provider knows it.

        Raises:
            InvalidInput: if it is neither.
        """
        self._reranker = as_chat_model(provider)

    async def search_knowledge_base(
        self, query: str, search_type: SearchType = "conversations", limit: int = 5
    ) -> list[KnowledgeDocument]:
        """The documents that match a query, best first.

        Raises:
            InvalidInput: if an argument is invalid.
            StoreUnavailable: if every part of the search failed.
        """
        hits = [
            hit for kind in _kinds(search_type) for hit in await self._user.search(query, limit=limit, **_FILTERS[kind])
        ]
        # Cosines of two searches can be compared, ranks cannot.
        hits.sort(key=lambda hit: hit.similarity or 0.0, reverse=True)
        scale = await scale_of(self._memory)
        return [_document(hit.memory, hit.similarity, scale) for hit in hits[:limit]]

    async def list_documents(self, doc_type: SearchType = "conversations", limit: int = 10) -> list[KnowledgeDocument]:
        """The newest documents of a type, each as its first piece.

        Raises:
            InvalidInput: if an argument cannot be used.
        """
        wanted = _kinds(doc_type)
        if limit < 1:
            raise InvalidInput(f"limit must be at least 1, not {limit}")
        memories = await self._user.memories(types=[name for kind in wanted for name in _FILTERS[kind]["types"] or ()])
        first = [one for one in memories if _kind(one) in wanted and not one.metadata.get("position")]
        return [_document(memory) for memory in first[:limit]]

    async def add_document(self, document_id: str, content: str, **metadata: Any) -> int:
        """Indexes a text in pieces. Returns how many pieces it has.

        It replaces the document with the same id. Adding the same text again changes nothing. No memory about the user
        is made of it.

        Raises:
            InvalidInput: if the text is empty, or a value is invalid.
            ModelError: if it could not be embedded. You can repeat the call.
        """
        receipt = await self._user.add_document(
            document_id,
            content,
            metadata=metadata,
            chunk_size=self._settings.chunk_size,
            chunk_overlap=self._settings.chunk_overlap,
        )
        return len(receipt.ids)

    async def delete_document(self, document_id: str) -> int:
        """Deletes a document. Returns how many pieces it had."""
        return await self._user.delete_document(document_id)

    async def cross_session_context(self, message: str, session_id: str) -> list[KnowledgeDocument]:
        """The archived conversations that a message asks about; none if it does not, or if this is not enabled."""
        return (await self.look(message, session_id)).documents

    async def look(self, message: str, session_id: str, thread_id: str | None = None) -> CrossSession:
        """Searches the user's other sessions, and reports how it decided.

        The message is compared without its trigger phrase. If nothing else is left ("what did we discuss last time?"),
        it returns the newest conversations. At most three are shown, each with a score of at least the threshold.

        Args:
            message: What the user says.
            session_id: The current session, which is left out.
            thread_id: The thread that holds the session, if it has another name.

        Raises:
            StoreUnavailable: if the search failed.
            ModelError: if the message could not be embedded.
        """
        settings = self._settings
        looked = CrossSession(threshold=settings.relevance_threshold)
        if not settings.enable_cross_session_context:
            return looked.model_copy(update={"reason": "enable_cross_session_context is off"})
        looked.trigger = trigger_in(message, settings.search_triggers)
        if looked.trigger is None:
            return looked.model_copy(update={"reason": "the message has none of the search_triggers"})
        here = {session_id, thread_id}
        topic = topic_of(message, settings.search_triggers)
        if not says_something(topic):
            newest = [
                one for one in await self.list_documents(limit=_LOOKED_AT) if one.metadata["session_id"] not in here
            ]
            looked.documents = newest[:CROSS_SESSION_RESULTS]
        else:
            looked.documents = await self._relevant(looked, topic, message, here, thread_id or session_id)
        if looked.best_score is None and not looked.documents:
            looked.reason = "no conversation of another session has been archived yet"
        elif not looked.documents:
            looked.reason = (
                f"the best score {looked.best_score:.2f} is below the relevance_threshold {looked.threshold:g}"
            )
        return looked

    async def _relevant(
        self, looked: CrossSession, topic: str, message: str, here: set[str | None], thread_id: str
    ) -> list[KnowledgeDocument]:
        """The archived conversations nearest to a topic, with the best score noted in `looked`."""
        scale = await scale_of(self._memory)
        hits = await self._user.search(
            topic,
            limit=_LOOKED_AT,
            exclude_threads=[thread_id],
            threshold=ANY_COSINE,
            types=_FILTERS["conversation"]["types"],
        )
        others = [hit for hit in hits if hit.memory.metadata.get("session_id") not in here]
        others.sort(key=lambda hit: hit.similarity or 0.0, reverse=True)
        looked.least_similarity = scale.least_cosine(looked.threshold)
        scored = [(_document(hit.memory, hit.similarity, scale), hit.memory.created_at) for hit in others]
        if not scored:
            return []
        best = scored[0][0]
        looked.best_score, looked.best_similarity = best.score, best.similarity
        relevant = [one for one in scored if (one[0].score or 0.0) >= looked.threshold]
        reranker = self._rerank_model()
        if reranker is not None and len(relevant) > 1:
            relevant, _ = await rerank(relevant, _said, message, reranker, RecallSettings().rerank_timeout)
        return [document for document, _ in relevant[:CROSS_SESSION_RESULTS]]

    def differences(self, embedding_model: str, store: str) -> list[Difference]:
        """The expected settings that differ from the memory's embedding model and store."""
        settings = self._settings
        reranker = self._rerank_model()
        reranks = "none: results keep the order of their vectors" if reranker is None else reranker.model_id
        expected = [
            ("embedding_model", self._embeddings or settings.embedding_model, embedding_model),
            ("embedding_provider", settings.embedding_provider, f"the memory's own, with {embedding_model}"),
            ("vector_provider", settings.vector_provider, f"Azure Cosmos DB, {store}"),
            # A provider that was set replaces the one that the profile names.
            ("rerank_provider", None if self._reranker else settings.rerank_provider, reranks),
            ("rerank_model", None if self._reranker else settings.rerank_model, reranks),
        ]
        return [
            Difference(setting=name, wanted=wanted, used=used)
            for name, wanted, used in expected
            if wanted and not used.startswith(wanted)
        ]

    def _rerank_model(self) -> ChatModel | None:
        """The model that reranks: the one that was set, or, if the profile names one, the chat provider's."""
        if self._reranker is not None or not self._settings.rerank_provider:
            return self._reranker
        return self._chat or chat_of(self._memory)


def chat_of(memory: AsyncMemory) -> ChatModel | None:
    """The memory's own model; None if the memory is on a server."""
    try:
        return memory.runtime.tools.chat
    except ConfigurationError:
        return None


def render(documents: Sequence[KnowledgeDocument]) -> ChatMessage:
    """The message with notes from other sessions, one a line, marked as quoted data."""
    lines = [f"- {quoted(document.content)}" for document in documents]
    return ChatMessage(role="system", content="\n".join([CROSS_SESSION_HEADER, *lines, NOTICE]))


def _said(scored: tuple[KnowledgeDocument, datetime]) -> tuple[datetime, str]:
    return scored[1], scored[0].content


def _kinds(search_type: str) -> list[str]:
    kinds = list(_FILTERS) if search_type == "all" else [str(search_type).removesuffix("s")]
    if not _FILTERS.keys() >= set(kinds):
        raise InvalidInput(f"search_type is conversations, documents or all, not {search_type!r}")
    return kinds


def _kind(memory: Memory) -> str | None:
    """Whether a memory is a conversation or a document; None if it is neither."""
    if memory.type == "episodic" and memory.kind == "session":
        return "conversation"
    return _DOCUMENT if memory.type == _DOCUMENT or _DOCUMENT in memory.tags else None


def _document(memory: Memory, similarity: float | None = None, scale: Scale | None = None) -> KnowledgeDocument:
    kind = _kind(memory) or _DOCUMENT
    hidden = {"namespace", "doc_type"}
    return KnowledgeDocument(
        id=memory.id,
        content=memory.content,
        namespace=str(memory.metadata.get("namespace", f"{kind}s:{memory.user_id}")),
        doc_type=kind,
        metadata={name: value for name, value in memory.metadata.items() if name not in hidden},
        score=None if similarity is None or scale is None else scale.relevance(similarity),
        similarity=similarity,
    )


DEFAULT_THRESHOLD = 0.7
"""The default minimum score of an archived conversation."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Converts a cosine to a relevance, and back."""

    relevance: Callable[[float], float]
    least_cosine: Callable[[float], float]


async def scale_of(memory: AsyncMemory) -> Scale:
    """The scale of a memory's embedding model.

    Raises:
        ModelError: if the model is unavailable.
    """
    try:
        searcher = memory.runtime.searcher
    except ConfigurationError:
        return _by_threshold(RecallSettings().archive_threshold((await memory.health()).embedding_model))
    curve = await relevance_curve(searcher.embeddings)
    if curve is None:
        return _by_threshold(searcher.settings.archive_threshold(searcher.embeddings.model_id))
    return Scale(curve.relevance, curve.least_cosine)


def _by_threshold(own: float) -> Scale:
    """A scale of two straight lines. They meet at the memory's own threshold, where the relevance is the default."""
    return Scale(
        lambda similarity: max(0.0, _bent(similarity, own, DEFAULT_THRESHOLD)),
        lambda score: _bent(score, DEFAULT_THRESHOLD, own),
    )


def _bent(value: float, bend: float, at_bend: float) -> float:
    """A line from (0, 0) to the bend, and on to (1, 1)."""
    if value <= bend:
        return at_bend * value / bend
    return at_bend + (1 - at_bend) * (value - bend) / (1 - bend)
