"""The kind and the data of a fact written by hand: a usual kind, or a custom one with data that fits its schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from agent_memory.errors import InvalidInput
from agent_memory.language.conclusions import Ungrounded
from agent_memory.language.custom import fitted
from agent_memory.models import CustomKind, FactKind
from agent_memory.store.client import Store
from agent_memory.store.scope_documents import extraction_of

USUAL: tuple[str, ...] = get_args(FactKind)


async def kind_and_data(
    store: Store, owner: str, kind: str | None, data: Mapping[str, Any] | None
) -> tuple[str | None, dict[str, Any] | None]:
    """The kind as it is spelled, and its data, checked against the custom extraction of the store or the group.

    `kind` is None for a memory that is no fact.

    Raises:
        InvalidInput: if the kind is unknown, or the data does not fit it.
        StoreUnavailable: if the custom extraction must be read and cannot be.
    """
    custom = None if kind is None or kind in USUAL else await _custom(store, owner, kind)
    schema = None if custom is None else custom.data_schema
    if schema is None:
        if data is not None:
            raise InvalidInput(f"data: {_what(kind)} has none; only custom kinds with a data_schema have")
        return kind if custom is None else custom.name, None
    assert custom is not None
    if data is None:
        required = ", ".join(schema.get("required", ())) or "an object, which may be empty"
        raise InvalidInput(f"data: the kind {custom.name!r} needs it ({required})")
    try:
        return custom.name, fitted(dict(data) if isinstance(data, Mapping) else data, schema)
    except Ungrounded as error:
        raise InvalidInput(f"data: for the kind {custom.name!r}, {error}") from error


async def _custom(store: Store, owner: str, name: str) -> CustomKind:
    extraction = await extraction_of(store, owner)
    kinds = extraction.kinds if extraction is not None else []
    found = next((kind for kind in kinds if isinstance(name, str) and kind.name == name.lower()), None)
    if found is None:
        known = ", ".join((*USUAL, *(kind.name for kind in kinds)))
        raise InvalidInput(f"kind: {name!r:.60} is unknown; it is one of {known}")
    return found


def _what(kind: str | None) -> str:
    return "a memory that is no fact" if kind is None else f"the kind {kind!r}"
