"""How models lie in Cosmos DB: one JSON document each, with its type, without nulls, with its vector if it has one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from agent_memory.models import DeadLetter, Memory, Model, ThreadState, ThreadSummary, Turn, UserProfile

Document = dict[str, Any]
M = TypeVar("M", bound=Model)

_TYPES: dict[type[Model], str] = {
    Turn: "turn",
    ThreadSummary: "summary",
    ThreadState: "state",
    UserProfile: "user_summary",
    DeadLetter: "dead_letter",
}

VECTOR_DECIMALS = 7
"""Digits kept of a vector's components: float32 has no more, and the document is half as large."""


def to_document(model: Model, vector: Sequence[float] | None = None) -> Document:
    """The document of a model. A memory names its own type; every other model has one."""
    document = model.model_dump(mode="json", exclude_none=True)
    if not isinstance(model, Memory):
        document["type"] = _TYPES[type(model)]
    if isinstance(model, UserProfile | ThreadSummary):
        document["role"] = "system"
    if vector is not None:
        document["embedding"] = [round(value, VECTOR_DECIMALS) for value in vector]
    return document


def from_document(kind: type[M], document: Mapping[str, Any]) -> M:
    """The model of a document; fields of the store's own (`_ts`, `embedding`, …) are left aside."""
    return kind.model_validate(document, extra="ignore")
