"""Memories as a search reads them: short rows, without vectors and without fields that can be derived from the others.

A search reads about 80 memories for ten hits, and most of a memory's JSON is field names and common values. So a row is
a list of the fields that differ between memories, plus an object with unusual fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic_core import PydanticUndefined

from agent_memory.models import Memory, content_hash
from agent_memory.store.chunks import CONFIDENCE, IMPORTANCE, quote_of
from agent_memory.store.documents import from_document

_LISTED = ("id", "thread_id", "content", "created_at", "recorded_at", "source", "source_turn_ids", "metadata")
"""The fields that differ between memories, in the order of a row."""
_LINKS = "near_ids"
_OF_CHUNKS = ("valid_to", "agent_id", "project_id", "run_id", "contributor_id")
"""Further fields that a chunk may have."""
_KNOWN = ("user_id", "content_hash", _LINKS)
"""Fields that are known or computed: the hash of the content; and links, unless requested."""
_LIKE_OTHERS = {"valid_from": "c.created_at", "embedding_model": "@model"}
"""Fields that mostly equal another one. A row leaves them out if they do, and has null if they are absent."""
_AS_MADE = (
    'c.kind = "chunk" AND c.embedding_model = @model AND c.valid_from = c.created_at AND ENDSWITH(c.content, c.quote)'
    f" AND c.confidence = {CONFIDENCE} AND c.importance = {IMPORTANCE}"
    " AND ARRAY_LENGTH(c.tags) = 0 AND NOT IS_DEFINED(c.updated_at) AND NOT IS_DEFINED(c.superseded_at)"
)
"""A chunk whose other fields have the values from `store.chunks`; `@model` is the embedding model of the search."""

FOUND_COSINE = "VectorDistance(c.embedding, @vector) AS s"
"""Selects the cosine of a memory to the question, if the query knows its `@vector`."""


@cache
def found_fields(*, links: bool, elsewhere: str | None = None) -> str:
    """The fields that a query selects of each memory, as `m`; `@model` is a parameter. Links only if requested.

    For memories that meet the condition `elsewhere`, which another query reads, only the id.
    """
    # An element that is undefined would move the others.
    listed = ", ".join(f"(c.{name} ?? null)" for name in _LISTED)
    near = (_LINKS,) if links else ()
    others = (name for name in Memory.model_fields if name not in (*_LISTED, *_KNOWN))
    row = f"[{listed}, ({_AS_MADE}) ? {_object(*_OF_CHUNKS, *near)} : {_object(*others, *near)}]"
    return f"{row} AS m" if elsewhere is None else f"({elsewhere} ? c.id : {row}) AS m"


def cosine_of(row: Mapping[str, Any]) -> float | None:
    """The cosine of a row, if its query selected `FOUND_COSINE` and the memory has a vector."""
    return row.get("s")


def read_elsewhere(row: Mapping[str, Any]) -> str | None:
    """The id of a memory, from a row that holds only the id."""
    return row["m"] if isinstance(row["m"], str) else None


def found_memory(row: Mapping[str, Any], user_id: str, model: str) -> Memory:
    """The memory of a row of such a query, over this user and with this embedding model."""
    *listed, more = row["m"]
    known = {name: value for name, value in zip(_LISTED, listed, strict=True) if value is not None}
    made = {
        "user_id": user_id,
        "content_hash": content_hash(known["content"]),
        "valid_from": known["created_at"],
        "embedding_model": model,
    }
    if "type" not in more:
        made |= {
            "type": "episodic",
            "kind": "chunk",
            "confidence": CONFIDENCE,
            "importance": IMPORTANCE,
            "quote": quote_of(known["content"], known["metadata"].get("speaker")),
        }
    return from_document(Memory, {**known, **made, **more})


def _object(*names: str) -> str:
    """An object with those fields of a document that are not as usual."""
    return "{" + ", ".join(f'"{name}": {_unless_usual(name)}' for name in names) + "}"


def _unless_usual(name: str) -> str:
    if name in _LIKE_OTHERS:
        return f"(c.{name} = {_LIKE_OTHERS[name]} ? undefined : (c.{name} ?? null))"
    field = Memory.model_fields[name]
    if field.default_factory is not None:
        return f"(ARRAY_LENGTH(c.{name}) = 0 ? undefined : c.{name})"
    if field.default in (None, PydanticUndefined):
        return f"c.{name}"
    return f"(c.{name} = {json.dumps(field.default)} ? undefined : c.{name})"
