"""Where a store keeps the vectors of each embedding model.

The rest of the library knows two fields of a document: `embedding`, a vector, and `embedding_model`, which made it. A
store that moved to another model keeps vectors in other fields, because the dimensions of a vector path are fixed
(docs/decisions/0029). Only this module knows their names; the store passes documents and queries through it.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from agent_memory.store.documents import VECTOR_DECIMALS, Document, Operation

FIRST = "embedding"
"""The field of the first model of a store."""
MODEL = "embedding_model"
MOST_BESIDE = 2048
"""Second vectors that are kept for their documents: 25 MB of 1,536 dimensions. A choice; a document that comes later
gets its own in the next pass."""

_SELECTED = re.compile(r"(?<=, )c\.embedding(_model)?(?=, | FROM )")
_ELSEWHERE = re.compile(r"\bc\.embedding(_model)?\b")


def field_of(model_id: str) -> str:
    """The field for the vectors of a model to which a store moves: always the same for the same model."""
    return f"{FIRST}_{hashlib.sha256(model_id.encode()).hexdigest()[:8]}"


@lru_cache(maxsize=512)
def at_field(sql: str, field: str) -> str:
    """A query over the vectors of a field; its rows still name them `embedding` and `embedding_model`."""
    if field == FIRST:
        return sql
    selected = _SELECTED.sub(lambda found: f"c.{field}{found[1] or ''} AS {FIRST}{found[1] or ''}", sql)
    return _ELSEWHERE.sub(lambda found: f"c.{field}{found[1] or ''}", selected)


class VectorFields:
    """The fields of a store's vectors: of the `current` model, and of models it moves from or to."""

    def __init__(self) -> None:
        self.current = FIRST
        self._fields: dict[str, str] = {}
        self._second: tuple[str, str] | None = None
        self._beside: OrderedDict[int, array[float]] = OrderedDict()

    def settle(self, identity: Mapping[str, Any]) -> None:
        """Reads the fields from the document with the store's model. After a move, one vector is written."""
        self.current = identity.get("field", FIRST)
        self._fields = {identity[MODEL]: self.current}
        move = identity.get("move") or {}
        for model, field in (move.get("fields") or {}).items():
            self._fields[model] = field
        if not move:
            self._second = None
            self._beside.clear()

    def of(self, model_id: str | None) -> str:
        """The field with the vectors of a model; the current one for a model that is not known here."""
        return self.current if model_id is None else self._fields.get(model_id, self.current)

    def query(self, sql: str, model_id: str | None) -> str:
        """A query over the vectors of a model, else of the current one."""
        return at_field(sql, self.of(model_id))

    def outgoing(self, document: Document) -> Document:
        """A document as it is stored: its vector in the field of its model, and the second one if there is one."""
        if FIRST not in document and MODEL not in document:
            return document
        field = self.of(document.get(MODEL))
        stored = document
        if field != FIRST:
            stored = {_renamed(name, FIRST, field): value for name, value in document.items()}
        if self._second is not None and FIRST in document:
            second = self._beside.get(_key(document[FIRST]))  # it stays: a write may be repeated
            if second is not None:
                name, model_id = self._second
                stored = stored | {name: list(second), f"{name}_model": model_id}
        return stored

    def incoming(self, document: Document) -> Document:
        """A stored document as the library knows it. A vector that the current one replaced is left out."""
        if self.current == FIRST or f"{self.current}_model" not in document:
            return document
        kept = {name: value for name, value in document.items() if name not in (FIRST, MODEL)}
        return {_renamed(name, self.current, FIRST): value for name, value in kept.items()}

    def operation(self, operation: Operation) -> Operation:
        """An operation of a batch, its document as it is stored."""
        kind, arguments, options = operation
        if kind not in ("create", "upsert", "replace"):
            return operation
        return (kind, (*arguments[:-1], self.outgoing(arguments[-1])), options)

    def keep_beside(self, field: str, model_id: str) -> None:
        """From now on, documents get a second vector of this model, if it is known when they are written."""
        self._second = (field, model_id)
        self._fields[model_id] = field

    def put_beside(self, vector: Sequence[float], second: Sequence[float]) -> None:
        """Keeps the second vector of a text until the document with the first one is written."""
        key = _key([round(value, VECTOR_DECIMALS) for value in vector])
        self._beside[key] = array("d", (round(value, VECTOR_DECIMALS) for value in second))
        while len(self._beside) > MOST_BESIDE:
            self._beside.popitem(last=False)


def _key(vector: Sequence[float]) -> int:
    return hash(tuple(vector))


def _renamed(name: str, old: str, new: str) -> str:
    return {old: new, f"{old}_model": f"{new}_model"}.get(name, name)
