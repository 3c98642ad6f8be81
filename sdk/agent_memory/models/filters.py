"""Filters: which memories a search, a context or a listing returns, as data.

A filter sets conditions on fields of `Memory`; all of them must hold. `and`, `or` and `not` combine filters. The form
is the same in Python, in JSON over HTTP, and on the command line (docs/how-to/search-and-filter.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, PlainValidator, model_validator

from agent_memory.models.base import Model, UtcTime

MOST_CONDITIONS = 50
"""Maximum comparisons in one filter. A choice: a query of this size is still parsed in a millisecond."""
MOST_LEVELS = 8
"""Maximum nesting of `and`, `or` and `not`. A choice."""
MOST_VALUES = 100
"""Maximum values in one `in`. A choice."""
LONGEST_VALUE = 1000
"""Maximum characters of a text to compare with. A choice."""
LONGEST_KEY = 255
"""Maximum characters of a metadata key; the same as for ids."""
MOST_BYTES = 64_000
"""Maximum size of a filter as JSON. Cosmos DB accepts queries of 512 KB with their parameters (Azure Cosmos DB
quotas)."""
_LARGEST = 2**53
"""The store compares 64-bit floats, which cannot represent every whole number above this (RFC 8259, 6)."""


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("this field is compared with a text")
    if len(value) > LONGEST_VALUE:
        raise ValueError(f"a text to compare with has at most {LONGEST_VALUE} characters")
    if not value.isascii() and any("\ud800" <= sign <= "\udfff" for sign in value):
        raise ValueError("half of a surrogate pair is not a character")
    return value


def _number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("this field is compared with a number")
    if isinstance(value, int):
        if abs(value) > _LARGEST:
            raise ValueError("a whole number to compare with is at most 2^53")
    elif not math.isfinite(value):
        raise ValueError("a number to compare with is finite")
    return value


def _value(value: object) -> str | int | float | bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return _number(value)
    raise ValueError('this field is compared with a text, a number, true or false, or with {"eq": null} for no value')


def _orderable(value: object) -> str | int | float:
    return _text(value) if isinstance(value, str) else _number(value)


def _time(value: object) -> object:
    """Refuses a number, which some read as seconds and others as milliseconds."""
    if not isinstance(value, str | datetime):
        raise ValueError("a time is a text of ISO 8601, such as 2026-03-15T10:00:00Z")
    return value


def _key(value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_KEY:
        raise ValueError(f"a key of the metadata is a text of 1 to {LONGEST_KEY} characters")
    return _text(value)


Text = Annotated[str, PlainValidator(_text, json_schema_input_type=str)]
Number = Annotated[int | float, PlainValidator(_number, json_schema_input_type=float)]
Value = Annotated[str | int | float | bool, PlainValidator(_value, json_schema_input_type=str | float | bool)]
Orderable = Annotated[str | int | float, PlainValidator(_orderable, json_schema_input_type=str | float)]
Time = Annotated[UtcTime, BeforeValidator(_time, json_schema_input_type=datetime)]
Key = Annotated[str, PlainValidator(_key, json_schema_input_type=str)]
_IN = Field(default=None, validation_alias="in", serialization_alias="in", max_length=MOST_VALUES)


class _Comparison(Model):
    """The comparisons of a field; all must hold. Null in `eq` and `in` means a field without a value."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

    @model_validator(mode="after")
    def _compares(self) -> Self:
        if not self.model_fields_set:
            raise ValueError(f"a comparison has at least one of {', '.join(_names_of(type(self)))}")
        if any(getattr(self, name) is None for name in self.model_fields_set - {"eq"}):
            raise ValueError("null is allowed only in eq and in a list of in")
        return self


class TextIs(_Comparison):
    """Comparisons of a text field."""

    eq: Text | None = None
    in_: list[Text | None] | None = _IN


class NumberIs(_Comparison):
    """Comparisons of a number field."""

    eq: Number | None = None
    in_: list[Number | None] | None = _IN
    gt: Number | None = None
    gte: Number | None = None
    lt: Number | None = None
    lte: Number | None = None


class TimeIs(_Comparison):
    """Comparisons of a time field. A time without a zone is UTC."""

    eq: Time | None = None
    gt: Time | None = None
    gte: Time | None = None
    lt: Time | None = None
    lte: Time | None = None


class TagsAre(_Comparison):
    """Which tags a memory has: one (`contains`), or at least one of several (`in`)."""

    contains: Text | None = None
    in_: list[Text] | None = _IN


class ValueIs(_Comparison):
    """How a value of the metadata is compared, with values of its own type: "3" is not 3, and true is not 1.

    `contains` matches a list that has the value. Texts are ordered by their characters.
    """

    eq: Value | None = None
    in_: list[Value | None] | None = _IN
    contains: Value | None = None
    gt: Orderable | None = None
    gte: Orderable | None = None
    lt: Orderable | None = None
    lte: Orderable | None = None


def _short(value: object) -> object:
    """A bare value means `eq`, a bare list means `in`."""
    if value is None:
        raise ValueError('say {"eq": null} for a field without a value')
    if isinstance(value, list | tuple):
        return {"in": list(value)}
    return value if isinstance(value, Mapping | Model) else {"eq": value}


def _short_tag(value: object) -> object:
    return {"contains": value} if isinstance(value, str) else _short(value)


Texts = Annotated[TextIs, BeforeValidator(_short, json_schema_input_type=TextIs | str | list[str])]
Numbers = Annotated[NumberIs, BeforeValidator(_short, json_schema_input_type=NumberIs | float | list[float])]
Tags = Annotated[TagsAre, BeforeValidator(_short_tag, json_schema_input_type=TagsAre | str | list[str])]
Values = Annotated[
    ValueIs,
    BeforeValidator(_short, json_schema_input_type=ValueIs | str | float | bool | list[str | float | bool]),
]
FilteredType = Literal["fact", "episodic", "procedural", "reflection"]


class TypeIs(_Comparison):
    """Which type a memory has."""

    eq: FilteredType | None = None
    in_: list[FilteredType] | None = _IN

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if "eq" in self.model_fields_set and self.eq is None:
            raise ValueError("every memory has a type")
        return self


Types = Annotated[TypeIs, BeforeValidator(_short, json_schema_input_type=TypeIs | FilteredType | list[FilteredType])]


class Filter(Model):
    """Conditions on memories. A field that is missing or None has no condition; an empty filter matches all memories.

    Raises:
        ValidationError: for an unknown field or comparison, a value of another type, or more than the limits above.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True, serialize_by_alias=True)

    and_: list[Filter] | None = Field(
        default=None, validation_alias="and", serialization_alias="and", description="All of these hold."
    )
    or_: list[Filter] | None = Field(
        default=None, validation_alias="or", serialization_alias="or", description="At least one of these holds."
    )
    not_: Filter | None = Field(
        default=None,
        validation_alias="not",
        serialization_alias="not",
        description="This does not hold; a field without a value counts as not matching.",
    )
    type: Types | None = Field(default=None, description="fact, episodic, procedural or reflection")
    kind: Texts | None = Field(default=None, description="fact, preference, …; chunk for raw turns, session")
    tags: Tags | None = None
    source: Texts | None = Field(default=None, description="user, agent, tool or imported")
    thread_id: Texts | None = None
    agent_id: Texts | None = None
    project_id: Texts | None = None
    run_id: Texts | None = None
    contributor_id: Texts | None = Field(default=None, description="In a group: the member it comes from.")
    created_at: TimeIs | None = Field(default=None, description="When it was said.")
    recorded_at: TimeIs | None = Field(default=None, description="When the store recorded it.")
    valid_from: TimeIs | None = Field(default=None, description="Since when it is true.")
    valid_to: TimeIs | None = Field(default=None, description="Until when it was true.")
    confidence: Numbers | None = None
    importance: Numbers | None = None
    metadata: dict[Key, Values] | None = Field(
        default=None, description="By the keys of the metadata, not by keys within their values."
    )

    @model_validator(mode="before")
    @classmethod
    def _is_small(cls, value: Any) -> Any:
        """Checks the outermost filter before it is parsed; nested filters are checked again, cheaply."""
        levels = 0
        layer = [value]
        while layer:
            levels += 1
            if levels > MOST_LEVELS + 1:
                raise ValueError(f"filters nest at most {MOST_LEVELS} levels deep")
            layer = [inner for one in layer for inner in _within(one)]
            if len(layer) > MOST_CONDITIONS:
                raise ValueError(f"a filter has at most {MOST_CONDITIONS} conditions")
        return value

    @model_validator(mode="after")
    def _is_bounded(self) -> Self:
        if sum(1 for _ in self.comparisons()) > MOST_CONDITIONS:
            raise ValueError(f"a filter has at most {MOST_CONDITIONS} conditions")
        if len(self.model_dump_json(exclude_unset=True).encode()) > MOST_BYTES:
            raise ValueError(f"a filter has at most {MOST_BYTES:,} bytes")
        return self

    def inner(self) -> list[Filter]:
        """The filters that it combines."""
        return [*(self.and_ or ()), *(self.or_ or ()), *([] if self.not_ is None else [self.not_])]

    def comparisons(self) -> Iterator[tuple[str, str, Any]]:
        """All its comparisons, including nested ones: the field, the operator and the value."""
        for field, comparison in self.fields():
            for how in sorted(comparison.model_fields_set):
                yield field, how, getattr(comparison, how)
        for inner in self.inner():
            yield from inner.comparisons()

    def fields(self) -> Iterator[tuple[str, _Comparison]]:
        """Its own conditions, by field; a metadata key is `metadata.key`."""
        for name in FIELDS:
            comparison = getattr(self, name)
            if comparison is not None:
                yield name, comparison
        for key, comparison in (self.metadata or {}).items():
            yield f"metadata.{key}", comparison


FIELDS = tuple(name for name in Filter.model_fields if name not in ("and_", "or_", "not_", "metadata"))
"""The fields of a memory that a filter can use, besides its metadata."""


def _names_of(model: type[Model]) -> list[str]:
    return [name.rstrip("_") for name in model.model_fields]


VOCABULARY = f"a filter names {', '.join(_names_of(Filter))}, and compares by {', '.join(_names_of(ValueIs))}"
"""What a filter can contain."""


def _within(value: object) -> list[object]:
    """The filters directly nested in data to be parsed as a filter."""
    if isinstance(value, Filter):
        return list(value.inner())
    if not isinstance(value, Mapping):
        return []
    found: list[object] = []
    for name in ("and", "or", "and_", "or_"):
        inner = value.get(name)
        if isinstance(inner, list | tuple):
            found.extend(inner)
    found.extend(value[name] for name in ("not", "not_") if value.get(name) is not None)
    return found
