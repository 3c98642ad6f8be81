"""What is stored: one JSON document for each model, with its type; the operations that write it; checks of input."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from agent_memory.errors import InvalidInput
from agent_memory.models import DeadLetter, Memory, Model, ThreadState, ThreadSummary, Turn, UserProfile

Document = dict[str, Any]
Operation = tuple[Literal["create", "upsert", "replace", "patch", "delete"], tuple[Any, ...], dict[str, Any]]
"""One operation of a transactional batch, as the SDK takes it."""
M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

_TYPES: dict[type[Model], str] = {
    Turn: "turn",
    ThreadSummary: "summary",
    ThreadState: "state",
    UserProfile: "user_summary",
    DeadLetter: "dead_letter",
}

NAMED_AT_ONCE = 1000
"""Most ids in one query: Cosmos DB accepts 512 KB of text in one."""
VECTOR_DECIMALS = 7
"""Digits kept of a vector's components: float32 has no more, and the document is half as large."""
BATCH_OPERATIONS = 100
"""The most operations in a transactional batch (Azure Cosmos DB service limits)."""
BATCH_BYTES = 1_800_000
"""The most bytes of JSON in a transactional batch. Cosmos DB allows 2 MB, its own frame included (service limits)."""


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
    """The model of a document; fields of the store's own (`_ts`, `embedding`, …) are ignored."""
    return kind.model_validate(document, extra="ignore")


def in_batches(items: Iterable[T], size: Callable[[T], int] = lambda item: 0) -> Iterator[list[T]]:
    """Splits items into groups that fit into one transactional batch. Each is one operation of `size` bytes of JSON."""
    group: list[T] = []
    room = BATCH_BYTES
    for item in items:
        needed = size(item)
        if group and (len(group) == BATCH_OPERATIONS or needed > room):
            yield group
            group, room = [], BATCH_BYTES
        group.append(item)
        room -= needed
    if group:
        yield group


def in_groups(ids: Iterable[str]) -> Iterator[list[str]]:
    """Splits ids into groups that one query may name."""
    every = list(ids)
    for start in range(0, len(every), NAMED_AT_ONCE):
        yield every[start : start + NAMED_AT_ONCE]


def create(document: Document) -> Operation:
    """The batch operation that writes a new document."""
    return ("create", (document,), {})


def upsert(document: Document) -> Operation:
    """The batch operation that writes a document, new or not."""
    return ("upsert", (document,), {})


def replace(document: Document, etag: str) -> Operation:
    """The batch operation that replaces the version of a document that has this ETag."""
    return ("replace", (document["id"], document), {"if_match_etag": etag})


def patch(item_id: str, fields: Mapping[str, Any]) -> Operation:
    """The batch operation that sets fields of an existing document."""
    return ("patch", (item_id, [{"op": "set", "path": f"/{name}", "value": fields[name]} for name in fields]), {})


def delete(item_id: str) -> Operation:
    """The batch operation that deletes a document."""
    return ("delete", (item_id,), {})


MAX_LEVELS = 128
"""How deep objects and lists may nest, the document included (Azure Cosmos DB service quotas, 2025)."""
LARGEST = 10**308
"""The largest whole number. JSON readers that only know 64-bit floats cannot read a larger one (RFC 8259, 6)."""


def check_json(value: object, what: str, levels: int = MAX_LEVELS) -> None:
    """Refuses a value that cannot be stored. It does not recurse, so a deeply nested value cannot exhaust the stack.

    `what` names the value in the error. `levels` is how deep objects and lists may nest.

    Raises:
        InvalidInput: if the value is nested deeper, or holds something that is not JSON, a float that is not finite, a
            whole number beyond `LARGEST`, or half of a surrogate pair.
    """
    layer: list[object] = [value]
    for depth in range(levels + 1):
        inner: list[object] = []
        for one in layer:
            if isinstance(one, Mapping):
                for name in one:
                    _check_leaf(name if isinstance(name, str) else None, what)
                inner.extend(one.values())
            elif isinstance(one, list | tuple):
                inner.extend(one)
            else:
                _check_leaf(one, what)
                continue
            if depth == levels:
                raise InvalidInput(f"{what} is nested deeper than {levels} levels")
        layer = inner


def read_json(text: str, what: str) -> Any:
    """Parses JSON that can be stored. Raises InvalidInput if the text is not JSON, or its value could not be stored."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise InvalidInput(f"{what} is nested deeper than {MAX_LEVELS} levels") from None
    except ValueError as error:
        raise InvalidInput(f"{what} is not JSON: {error}") from error
    check_json(value, what)
    return value


def validated(model: type[M], fields: Mapping[str, Any], where: str = "") -> M:
    """Makes a model from what a caller gave. Raises InvalidInput if a field is wrong; it names the field."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise InvalidInput(f"{where}{problem_of(error)}") from error


def problem_of(error: ValidationError) -> str:
    """The first thing that a model finds wrong, and where."""
    problem = error.errors()[0]
    return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"


def _check_leaf(value: object, what: str) -> None:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidInput(f"{what} holds half of a surrogate pair, which is not a character") from None
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{what} holds {value}, which is not a JSON number")
    elif isinstance(value, int):
        if abs(value) > LARGEST:
            raise InvalidInput(f"{what} holds a number of more than 308 digits")
    elif value is not None:
        raise InvalidInput(f"{what} holds {type(value).__name__}, which is not JSON")
