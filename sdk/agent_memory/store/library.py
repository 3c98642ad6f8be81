"""The library: documents that a user wants to search, cut into pieces.

A piece is a memory of the type `document` in a reserved thread of the user. No memories are derived from it: it enters
no profile, no count and no reconciliation. A search finds it only if it asks for documents.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.models import Memory, content_hash, now
from agent_memory.store import queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import Document, Operation, create, delete, in_batches, replace, upsert
from agent_memory.store.ids import DOCUMENTS_THREAD, derived_id
from agent_memory.store.updates import racing, until_written
from agent_memory.text.folding import folded

TYPE = "document"
MOST_PIECES = 5000
"""The most pieces of one document: about three million characters in pieces of 800."""
MOST_COPIED = 50_000
"""The most names and values in the copies of a document's metadata together. They take some 3 s to screen."""
_NUMBER_BYTES = 14
"""The size of one component of a vector in JSON, in bytes."""


def pieces_of(text: str, size: int, overlap: int) -> Iterator[str]:
    """Cuts a text into pieces of at most `size` characters, at spaces where possible.

    Each piece begins `overlap` characters before the end of the last one.
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


def make_pieces(
    user_id: str, document_id: str, texts: Sequence[str], metadata: Mapping[str, Any], embedding_model: str
) -> list[Memory]:
    """The pieces of a document as they are stored. Their ids come from user, document and position.

    Raises:
        InvalidInput: if there are none, or too many.
    """
    if not texts:
        raise InvalidInput("the document is empty")
    if len(texts) > MOST_PIECES:
        raise InvalidInput(f"the document has {len(texts)} pieces, more than {MOST_PIECES}: add it in parts")
    clock = now()
    return [
        Memory(
            id=piece_id(user_id, document_id, position),
            user_id=user_id,
            thread_id=DOCUMENTS_THREAD,
            type="document",
            content=text,
            confidence=1.0,
            source="imported",
            tags=[TYPE],
            metadata={**metadata, "doc_type": TYPE, "document_id": document_id, "position": position},
            created_at=clock,
            valid_from=clock,
            recorded_at=clock,
            content_hash=content_hash(text),
            embedding_model=embedding_model,
        )
        for position, text in enumerate(texts)
    ]


def piece_id(user_id: str, document_id: str, position: int) -> str:
    """The id of a piece of a document."""
    return derived_id(TYPE, user_id, document_id, str(position))


async def read_pieces(store: Store, user_id: str, document_id: str) -> dict[str, Document]:
    """The stored pieces of a document, by id, whatever their status.

    An earlier version noted the folded id of the document in its pieces; then their own ids tell whose they are.
    """
    partition, names = (user_id, DOCUMENTS_THREAD), list(dict.fromkeys((document_id, folded(document_id))))
    rows = await store.query(MEMORIES, queries.PIECES_OF_DOCUMENTS, partition, documents=names)
    return {row["id"]: row for row in rows if _is_piece(row, user_id, document_id)}


def _is_piece(row: Mapping[str, Any], user_id: str, document_id: str) -> bool:
    metadata = row["metadata"]
    return bool(
        metadata["document_id"] == document_id
        or row["id"] == piece_id(user_id, document_id, metadata.get("position", 0))
    )


def changed(pieces: Sequence[Memory], stored: Mapping[str, Document]) -> list[Memory]:
    """The pieces that are new or differ from what is stored. An approved piece stays approved."""
    return [piece for piece in pieces if not _is_same(piece, stored.get(piece.id))]


async def write_pieces(
    store: Store,
    user_id: str,
    document_id: str,
    pieces: Sequence[Memory],
    make: Callable[[Sequence[Memory]], Awaitable[list[Document]]],
) -> int:
    """Stores a document in place of its earlier version; returns how many pieces are new or differ.

    A change goes into one transactional batch if it fits. A longer one goes into several; repeating it finishes what a
    crash left. The first piece is part of every change, guarded by its ETag, so the later of two writers reads what the
    other wrote. A piece that somebody approved stays approved.

    Args:
        store: The store.
        user_id: The user.
        document_id: The document.
        pieces: All its pieces.
        make: Makes documents, with vectors, of the pieces that have changed.

    Raises:
        StoreUnavailable: if others keep changing the document.
    """
    partition = (user_id, DOCUMENTS_THREAD)

    async def attempt() -> int:
        stored = await read_pieces(store, user_id, document_id)
        fresh = changed(pieces, stored)
        gone = sorted(stored.keys() - {piece.id for piece in pieces})
        if not fresh and not gone:
            return 0
        head = pieces[0]
        first, *rest = await make([head, *(piece for piece in fresh if piece is not head)])
        known = stored.get(head.id)
        guarded = create(first) if known is None else replace(first, known["_etag"])
        with racing():
            for operations in in_batches([guarded, *map(upsert, rest), *map(delete, gone)], _size):
                await store.batch(MEMORIES, partition, operations)
        return len(fresh)

    return await until_written(attempt, f"the document {document_id:.60}")


def _is_same(piece: Memory, row: Mapping[str, Any] | None) -> bool:
    return row is not None and (
        (row["content"], row["metadata"], row.get("embedding_model"), row.get("superseded_by"))
        == (piece.content, piece.metadata, piece.embedding_model, None)
    )


def _size(operation: Operation) -> int:
    """An upper bound of an operation's size, in bytes."""
    document = next((one for one in operation[1] if isinstance(one, dict)), {})
    return 2000 + 6 * len(document.get("content", "")) + _NUMBER_BYTES * len(document.get("embedding", ()))
