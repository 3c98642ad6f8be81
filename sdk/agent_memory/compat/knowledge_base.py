"""A knowledge base under the Agent Service's names: archived conversations and documents of one user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, ValidationError

from agent_memory.compat.agent_profile import KnowledgeBaseResource
from agent_memory.errors import InvalidInput
from agent_memory.models import Memory, Model, SearchFilters
from agent_memory.policy.injected import NOTICE
from agent_memory.recall.archive import trigger_in
from agent_memory.recall.quoting import quoted
from agent_memory.scopes import AsyncUserScope
from agent_memory.working.messages import ChatMessage

SearchType = Literal["conversations", "documents", "all"]
CROSS_SESSION_RESULTS = 3
"""Archived conversations that are told at most."""
CROSS_SESSION_HEADER = "Relevant context from previous conversations:"
_DOCUMENT = "document"
_MOST = 50
"""Results of one call of a tool."""
_FILTERS: dict[str, SearchFilters] = {
    "conversation": {"types": ["conversation_summary"]},
    _DOCUMENT: {"types": ["fact"], "tags": [_DOCUMENT]},
}


class KnowledgeDocument(Model):
    """A document of the knowledge base: an archived conversation, or a piece of a text."""

    id: str
    content: str
    namespace: str
    doc_type: str
    metadata: dict[str, Any] = Field(default_factory=dict)
    score: float | None = Field(default=None, description="The cosine to what was searched for.")


class KnowledgeBase:
    """What one user's agents can look up beyond the conversation that is going on."""

    def __init__(self, user: AsyncUserScope, settings: KnowledgeBaseResource, threshold: float) -> None:
        """`threshold` is the least cosine at which another session is told of, inclusive."""
        self._user = user
        self._settings = settings
        self._threshold = threshold

    async def search_knowledge_base(
        self, query: str, search_type: SearchType = "conversations", limit: int = 5
    ) -> list[KnowledgeDocument]:
        """The documents that matter for a query, best first (row S2-42).

        Raises:
            InvalidInput: if an argument cannot be used.
            StoreUnavailable: if no part of the search could be made.
        """
        hits = [
            hit for kind in _kinds(search_type) for hit in await self._user.search(query, limit=limit, **_FILTERS[kind])
        ]
        # Cosines compare between two searches, ranks do not.
        hits.sort(key=lambda hit: hit.similarity or 0.0, reverse=True)
        return [_document(hit.memory, hit.similarity) for hit in hits[:limit]]

    async def list_documents(self, doc_type: SearchType = "conversations", limit: int = 10) -> list[KnowledgeDocument]:
        """The newest documents of a type (row S2-43).

        Raises:
            InvalidInput: if an argument cannot be used.
        """
        wanted = _kinds(doc_type)
        if limit < 1:
            raise InvalidInput(f"limit must be at least 1, not {limit}")
        memories = await self._user.memories(types=[name for kind in wanted for name in _FILTERS[kind]["types"] or ()])
        return [_document(memory) for memory in memories if _kind(memory) in wanted][:limit]

    async def add_document(self, document_id: str, content: str, **metadata: Any) -> int:
        """Indexes a text in pieces, beside the conversations; how many pieces it has (row S2-66).

        Pieces that are there already, word for word, are not added again.

        Raises:
            InvalidInput: if the text is empty, or a value cannot be used.
            ModelError: if it could not be embedded; what was added stays, and the call may be repeated.
        """
        pieces = list(chunks(content, self._settings.chunk_size, self._settings.chunk_overlap))
        if not pieces:
            raise InvalidInput("the document is empty")
        for position, piece in enumerate(pieces):
            given = metadata | {"doc_type": _DOCUMENT, "document_id": document_id, "position": position}
            await self._user.remember(piece, kind="context", tags=[_DOCUMENT], metadata=given)
        return len(pieces)

    async def cross_session_context(self, message: str, session_id: str) -> list[KnowledgeDocument]:
        """The archived conversations that a message asks for; none if it does not, or if that is not enabled.

        Of the other sessions only, at least as similar as the threshold (rows S2-33 to S2-35).
        """
        if not self._settings.enable_cross_session_context or not trigger_in(message, self._settings.search_triggers):
            return []
        hits = await self._user.search(
            message,
            limit=CROSS_SESSION_RESULTS,
            exclude_threads=[session_id],
            threshold=self._threshold,
            types=_FILTERS["conversation"]["types"],
        )
        return [_document(hit.memory, hit.similarity) for hit in hits]


def chunks(text: str, size: int, overlap: int) -> Iterator[str]:
    """A text in pieces of at most `size` characters that begin `overlap` characters before the last one ended.

    Pieces end at a space where they can.
    """
    text = text.strip()
    start = 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text) and (space := text.rfind(" ", start + size // 2, end)) > 0:
            end = space
        if piece := text[start:end].strip():
            yield piece
        if end == len(text):
            return
        start = max(end - min(overlap, size // 2), start + 1)


def render(documents: Sequence[KnowledgeDocument]) -> ChatMessage:
    """What an agent is told of other sessions: notes, one a line of their own, that are data and no instruction."""
    lines = [f"- {quoted(document.content)}" for document in documents]
    return ChatMessage(role="system", content="\n".join([CROSS_SESSION_HEADER, *lines, NOTICE]))


TOOLS: dict[str, dict[str, Any]] = {
    "search_knowledge_base": {
        "description": "Searches the user's archived conversations and documents for what matters to a query.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What is looked for, in words or as a question."},
                "search_type": {
                    "type": "string",
                    "enum": ["conversations", "documents", "all"],
                    "default": "conversations",
                },
                "limit": {"type": "integer", "minimum": 1, "maximum": _MOST, "default": 5},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    },
    "list_documents": {
        "description": "Lists the user's newest archived conversations or documents.",
        "parameters": {
            "type": "object",
            "properties": {
                "doc_type": {
                    "type": "string",
                    "enum": ["conversations", "documents", "all"],
                    "default": "conversations",
                },
                "limit": {"type": "integer", "minimum": 1, "maximum": _MOST, "default": 10},
            },
            "required": [],
            "additionalProperties": False,
        },
    },
}
"""The two tools with the JSON schemas of their arguments, under the names that a profile allows (row S2-12)."""


class _Search(Model):
    query: str
    search_type: SearchType = "conversations"
    limit: int = Field(default=5, ge=1, le=_MOST)


class _Listing(Model):
    doc_type: SearchType = "conversations"
    limit: int = Field(default=10, ge=1, le=_MOST)


_ARGUMENTS: dict[str, type[_Search | _Listing]] = {"search_knowledge_base": _Search, "list_documents": _Listing}


def tool_arguments(name: str, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    """The arguments of a tool call as a model wrote them (JSON text, or an object), checked.

    Raises:
        InvalidInput: naming what is wrong, in words for the model.
    """
    try:
        if isinstance(arguments, str):
            return _ARGUMENTS[name].model_validate_json(arguments or "{}").model_dump()
        return _ARGUMENTS[name].model_validate(dict(arguments)).model_dump()
    except (ValidationError, TypeError, ValueError) as error:
        raise InvalidInput(f"{name}: {error}") from error


def _kinds(search_type: str) -> list[str]:
    kinds = list(_FILTERS) if search_type == "all" else [str(search_type).removesuffix("s")]
    if not _FILTERS.keys() >= set(kinds):
        raise InvalidInput(f"there are conversations, documents and all, not {search_type!r}")
    return kinds


def _kind(memory: Memory) -> str | None:
    """Whether a memory is a conversation or a document here; None: neither."""
    if memory.type == "episodic" and memory.kind == "session":
        return "conversation"
    return _DOCUMENT if _DOCUMENT in memory.tags else None


def _document(memory: Memory, similarity: float | None = None) -> KnowledgeDocument:
    kind = _kind(memory) or _DOCUMENT
    hidden = {"namespace", "doc_type"}
    return KnowledgeDocument(
        id=memory.id,
        content=memory.content,
        namespace=str(memory.metadata.get("namespace", f"{kind}s:{memory.user_id}")),
        doc_type=kind,
        metadata={name: value for name, value in memory.metadata.items() if name not in hidden},
        score=similarity,
    )
