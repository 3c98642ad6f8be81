"""Values over HTTP. They are checked more strictly than in Python, because a remote caller has no type checker."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from agent_memory.models import Filter, Hit, Memory, MemoryConfig, Model, TurnInput, UtcTime
from agent_memory.scopes import RememberedType
from agent_memory.store.documents import MAX_LEVELS, check_json, read_json


def _time(value: object) -> object:
    """Reads an ISO 8601 time. Refuses numbers."""
    if not isinstance(value, str):
        return value if isinstance(value, datetime) or value is None else _refuse("a time is a text of ISO 8601")
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return _refuse("a time is a text of ISO 8601, such as 2026-03-15T10:00:00Z")


def _switch(value: object) -> object:
    """Reads a boolean of a query string: `true` or `false`, and no other word."""
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def _refuse(message: str) -> object:
    raise ValueError(message)


_LEVELS_AROUND = 2
"""Levels of a body around the stored values: the body itself, and its list of turns or facts."""
WireTime = Annotated[UtcTime, BeforeValidator(_time)]
QuerySwitch = Annotated[bool, Field(strict=True), BeforeValidator(_switch)]


class MemoryConfigBody(MemoryConfig):
    """Restrictions of one request. They can only restrict."""

    model_config = ConfigDict(strict=True)


class Body(Model):
    """A request's body. `user_id` may repeat the user of the credentials."""

    model_config = ConfigDict(strict=True)

    user_id: str | None = Field(default=None, description="Optional; must be the caller's own id, else 403.")
    memory_config: MemoryConfigBody | None = Field(default=None, description="Restrictions of this request.")

    @model_validator(mode="before")
    @classmethod
    def _can_be_kept(cls, value: Any) -> Any:
        if isinstance(value, Mapping):  # the fields refuse anything else
            check_json(value, "the body", MAX_LEVELS + _LEVELS_AROUND)
        return value


class Params(Model):
    """The query string of a URL."""

    user_id: str | None = Field(default=None, description="Optional; must be the caller's own id, else 403.")


class TurnBody(TurnInput):
    """One message of a conversation, in JSON."""

    model_config = ConfigDict(strict=True)

    created_at: WireTime | None = None


class FilterText(Filter):
    """A filter in a query string: the text of its JSON."""

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        return read_json(value, "filters") if isinstance(value, str) else value

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Says that it is a text."""
        example = '{"metadata": {"city": "Lisbon"}, "created_at": {"gte": "2026-01-01"}}'
        return {
            "type": "string",
            "contentMediaType": "application/json",
            "description": "A `Filter`, as JSON.",
            "examples": [example],
        }


def body_type(annotation: Any) -> Any:
    """The type in a JSON body that corresponds to a type of the library."""
    return _translate(annotation, {datetime: WireTime, TurnInput: TurnBody})


def query_type(annotation: Any) -> Any:
    """The type in a query string that corresponds to a type of the library."""
    return _translate(annotation, {datetime: WireTime, bool: QuerySwitch, Filter: FilterText})


def _translate(annotation: Any, wire: Mapping[Any, Any]) -> Any:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return wire.get(inner[0], annotation) if isinstance(inner[0], type) else annotation
    if annotation in wire:
        return wire[annotation]
    if origin in (Union, types.UnionType):
        members = [_translate(one, wire) for one in inner]
        # If a method takes a model or a mapping with its fields, JSON has one form for both: the model.
        models = [one for one in members if isinstance(one, type) and issubclass(one, Model)]
        return Union[tuple(one for one in members if not (models and _is_mapping(one)))]  # noqa: UP007 - made here
    if origin is Literal or not inner:
        return annotation
    if _is_mapping(annotation):
        return dict[str, Any]
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return list[_translate(inner[0], wire)]  # type: ignore[misc]
    return annotation


def _is_mapping(annotation: Any) -> bool:
    return isinstance(get_origin(annotation), type) and issubclass(get_origin(annotation), Mapping)


GivenType = Literal["episodic", "semantic", "procedural"]
"""The types of memories that an application can store."""
RouterType = Literal[GivenType, "reflective"]

STORED: dict[str, RememberedType] = {"semantic": "fact", "episodic": "episodic", "procedural": "procedural"}
"""Our type for each type of that system."""
_NAMED: dict[str, RouterType] = {
    "fact": "semantic",
    "episodic": "episodic",
    "procedural": "procedural",
    "reflection": "reflective",
}


class StoredMemory(Model):
    """A memory with the fields of that system."""

    user_id: str
    content: str
    type: RouterType = "semantic"
    id: str | None = Field(default=None, description="Made by the store.")
    project_id: str | None = None
    source: str | None = None
    created_at: UtcTime | None = None
    access_count: int = 0
    importance: float = Field(default=0.5, ge=0, le=1)


def as_stored(memory: Memory) -> StoredMemory:
    """A memory as that system shows it. Types that it does not know become `semantic`."""
    return StoredMemory(
        id=memory.id,
        user_id=memory.user_id,
        content=memory.content,
        type=_NAMED.get(memory.type, "semantic"),
        project_id=memory.project_id,
        source=memory.metadata.get("source", "conversation" if memory.source_turn_ids else memory.source),
        created_at=memory.created_at,
        access_count=memory.access_count,
        importance=memory.importance,
    )


def as_score(hit: Hit) -> float:
    """That system's score of a hit: the cosine, limited to 0 to 1; 0 if it was found by its words alone."""
    return min(1.0, max(0.0, hit.similarity or 0.0))
