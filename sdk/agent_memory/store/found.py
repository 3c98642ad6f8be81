"""Memories as a search reads them: no vector, and of a chunk only what cannot be told from the rest of it.

Most of what a search reads is raw talk, and most of the fields of a chunk are always the same (`store.chunks`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent_memory.models import Memory, content_hash
from agent_memory.store.chunks import CONFIDENCE, IMPORTANCE, quote_of
from agent_memory.store.documents import from_document

_ALWAYS = (
    "id", "thread_id", "type", "kind", "content", "source", "source_turn_ids", "metadata", "created_at", "recorded_at",
    "valid_to", "agent_id", "project_id", "run_id", "contributor_id",
)  # fmt: skip
_LINKS = "near_ids"
_OTHERS = tuple(name for name in Memory.model_fields if name not in (*_ALWAYS, _LINKS, "user_id"))
_AS_MADE = (
    'c.kind = "chunk" AND c.embedding_model = @model AND c.valid_from = c.created_at AND ENDSWITH(c.content, c.quote)'
    f" AND c.confidence = {CONFIDENCE} AND c.importance = {IMPORTANCE}"
    " AND ARRAY_LENGTH(c.tags) = 0 AND NOT IS_DEFINED(c.updated_at) AND NOT IS_DEFINED(c.superseded_at)"
)
"""A chunk whose other fields are as they are made; `@model` is the embedding model of the search."""
_MORE = ", ".join(f'"{name}": c.{name}' for name in _OTHERS)


def found_fields(*, links: bool) -> str:
    """What a query selects of each memory; `@model` is a parameter of it. Links only if they are asked for."""
    plain = ", ".join(f"c.{name}" for name in (*_ALWAYS, *([_LINKS] if links else [])))
    return f"{plain}, ({_AS_MADE} ? undefined : {{{_MORE}}}) AS more"


def found_memory(row: Mapping[str, Any], user_id: str, model: str) -> Memory:
    """The memory of a row of such a query, over this user and with this embedding model."""
    more = row.get("more")
    if more is not None:
        return from_document(Memory, {**row, **more, "user_id": user_id})
    made = {
        "user_id": user_id,
        "confidence": CONFIDENCE,
        "importance": IMPORTANCE,
        "quote": quote_of(row["content"], row["metadata"].get("speaker")),
        "valid_from": row["created_at"],
        "content_hash": content_hash(row["content"]),
        "embedding_model": model,
    }
    return from_document(Memory, {**row, **made})
