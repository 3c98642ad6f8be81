"""The library: documents that a user gave to be looked up, cut into pieces.

A piece is a memory of the type `document` in a reserved thread of the user. Nothing is learned from it: it is in no
profile, no count and no reconciliation, and a search finds it only if it asks for documents.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any

from agent_memory.errors import InvalidInput
from agent_memory.models import Memory, content_hash, now
from agent_memory.store import queries
from agent_memory.store.client import Operation, Store
from agent_memory.store.commits import create, delete, in_batches, replace, upsert
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import Document
from agent_memory.store.ids import DOCUMENTS_THREAD, derived_id
from agent_memory.store.updates import racing, until_written

TYPE = "document"
MOST_PIECES = 5000
"""Pieces of one document: about three million characters in pieces of 800."""
_NUMBER_BYTES = 14
"""Of one component of a vector in JSON."""


def pieces_of(text: str, size: int, overlap: int) -> Iterator[str]:
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


def make_pieces(
    user_id: str, document_id: str, texts: Sequence[str], metadata: Mapping[str, Any], embedding_model: str
) -> list[Memory]:
    """The pieces of a document as they are kept. Their ids come from user, document and position.

    Raises:
        InvalidInput: if there are none, or too many.
    """
    if not texts:
        raise InvalidInput("the document is empty")
    if len(texts) > MOST_PIECES:
        raise InvalidInput(f"the document has {len(texts)} pieces, more than {MOST_PIECES}: give it in parts")
    clock = now()
    return [
        Memory(
            id=derived_id(TYPE, user_id, document_id, str(position)),
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


async def read_pieces(store: Store, user_id: str, document_id: str) -> dict[str, Document]:
    """What is kept of a document, by id, whatever its standing."""
    partition = (user_id, DOCUMENTS_THREAD)
    rows = await store.query(MEMORIES, queries.PIECES_OF_DOCUMENT, partition, document=document_id)
    return {row["id"]: row for row in rows}


def changed(pieces: Sequence[Memory], stored: Mapping[str, Document]) -> list[Memory]:
    """The pieces that are not stored as they are; a piece that somebody approved stays approved."""
    return [piece for piece in pieces if not _is_same(piece, stored.get(piece.id))]


async def write_pieces(
    store: Store,
    user_id: str,
    document_id: str,
    pieces: Sequence[Memory],
    make: Callable[[Sequence[Memory]], Awaitable[list[Document]]],
) -> int:
    """Brings a document into the store in the place of all that was kept of it; how many pieces are new or differ.

    What has changed goes in one transactional batch, if it fits into one; a longer change goes in several, and
    repeating it finishes what a crash left. The first piece is in every change, guarded by its ETag, so that of two
    writers at once the later one reads what the other wrote. A piece that somebody approved stays approved.

    Args:
        store: Where it is kept.
        user_id: Whose document.
        document_id: Which document.
        pieces: All of it.
        make: Makes the documents of pieces, with their vectors; it is asked for what has changed only.

    Raises:
        StoreUnavailable: if others keep changing the document.
    """
    partition = (user_id, DOCUMENTS_THREAD)

    async def attempt() -> int:
        stored = await read_pieces(store, user_id, document_id)
        changed = [piece for piece in pieces if not _is_same(piece, stored.get(piece.id))]
        gone = sorted(stored.keys() - {piece.id for piece in pieces})
        if not changed and not gone:
            return 0
        head = pieces[0]
        first, *rest = await make([head, *(piece for piece in changed if piece is not head)])
        known = stored.get(head.id)
        guarded = create(first) if known is None else replace(first, known["_etag"])
        with racing():
            for operations in in_batches([guarded, *map(upsert, rest), *map(delete, gone)], _size):
                await store.batch(MEMORIES, partition, operations)
        return len(changed)

    return await until_written(attempt, f"the document {document_id:.60}")


def _is_same(piece: Memory, row: Mapping[str, Any] | None) -> bool:
    return row is not None and (
        (row["content"], row["metadata"], row.get("embedding_model"), row.get("superseded_by"))
        == (piece.content, piece.metadata, piece.embedding_model, None)
    )


def _size(operation: Operation) -> int:
    """Bytes of an operation, roughly and from above."""
    document = next((one for one in operation[1] if isinstance(one, dict)), {})
    return 2000 + 6 * len(document.get("content", "")) + _NUMBER_BYTES * len(document.get("embedding", ()))
