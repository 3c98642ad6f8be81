"""The custom extraction of a store or a group: instructions, custom kinds with data, categories."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Annotated, Any, Self, get_args

from pydantic import Field, StringConstraints, field_validator, model_validator

from agent_memory.models.base import Model
from agent_memory.models.knowledge import TYPE_ALIASES, FactKind, MemoryType

LARGEST_SCHEMA = 8_000
"""Maximum bytes of a data schema as JSON. It is sent with every extraction; a choice, about 2,000 tokens."""
DEEPEST_SCHEMA = 8
"""Maximum nesting of the values that a data schema describes. A choice."""
MOST_SCHEMA_PARTS = 1_000
"""Maximum parts of a data schema after its references are followed: a few that refer to a few more make millions."""
KEYWORDS = frozenset(
    "type properties required additionalProperties items enum const minimum maximum exclusiveMinimum exclusiveMaximum"
    " minLength maxLength minItems maxItems uniqueItems anyOf $ref $defs title description default examples".split()
)
"""What a data schema may use of JSON Schema 2020-12. It excludes `pattern`: a pattern can backtrack for ever on the
words of a transcript."""
_LOCAL = "#/$defs/"
_TAKEN = frozenset(
    (*get_args(FactKind), *get_args(MemoryType), *TYPE_ALIASES, "event", "session", "chunk", "insight", "lesson")
)

KIND_NAME = r"^[a-z][a-z0-9_]{0,39}$"
KindName = Annotated[str, StringConstraints(pattern=KIND_NAME)]
CategoryName = Annotated[str, StringConstraints(pattern=r"^[^\s].{0,39}$", strip_whitespace=True)]
Description = Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True)]


class CustomKind(Model):
    """A custom kind of facts."""

    name: KindName = Field(description="Lower-case letters, digits and _, such as `invoice`.")
    description: Description = Field(description="Which facts are of this kind. The model reads it.")
    data_schema: dict[str, Any] | None = Field(
        default=None, description="The JSON schema of such a memory's `data`, an object; without it, no data."
    )

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if name in _TAKEN:
            raise ValueError(f"{name!r} is a kind or a type already")
        return name

    @field_validator("data_schema")
    @classmethod
    def _is_bounded(cls, schema: dict[str, Any] | None) -> dict[str, Any] | None:
        if schema is not None:
            check_schema(schema)
        return schema


class Extraction(Model):
    """What to extract in addition to the usual. The operator sets it; the model gets it apart from users' words."""

    instructions: Annotated[str, StringConstraints(min_length=1, max_length=4000, strip_whitespace=True)] | None = (
        Field(default=None, description="What to remember and what not, as text for the model.")
    )
    kinds: list[CustomKind] = Field(default_factory=list, max_length=20)
    categories: dict[CategoryName, Description] = Field(
        default_factory=dict, max_length=30, description="Tags to give to memories, with the meaning of each."
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.instructions or self.kinds or self.categories):
            raise ValueError("give instructions, kinds or categories")
        if len({kind.name for kind in self.kinds}) < len(self.kinds):
            raise ValueError("two kinds have one name")
        return self

    @property
    def version(self) -> str:
        """Eight hex digits that differ for every different extraction."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def kind(self, name: str) -> CustomKind | None:
        """The kind of this name, if there is one."""
        return next((kind for kind in self.kinds if kind.name == name), None)


def check_schema(schema: Mapping[str, Any]) -> None:
    """Checks that a schema is small and valid, describes an object, refers only to itself, and uses only `KEYWORDS`.

    Raises:
        ValueError: if it is not.
    """
    from jsonschema import Draft202012Validator, SchemaError

    try:
        size = len(json.dumps(schema, allow_nan=False).encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the schema is not JSON: {error}") from error
    if size > LARGEST_SCHEMA:
        raise ValueError(f"the schema has {size} bytes of JSON, more than {LARGEST_SCHEMA}")
    if schema.get("type") != "object":
        raise ValueError('the schema is of an object: {"type": "object", …}')
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"the schema is not JSON Schema: {error.message:.200}") from error
    definitions, places = schema.get("$defs", {}), count(1)
    _check_part(schema, definitions, (), places)
    for name, part in definitions.items():
        _check_part(part, definitions, (name,), places)


def _check_part(
    schema: Any, definitions: Mapping[str, Any], within: Sequence[str], places: Iterator[int], depth: int = 0
) -> None:
    if next(places) > MOST_SCHEMA_PARTS:
        raise ValueError(f"the schema has more than {MOST_SCHEMA_PARTS} parts, with those that it refers to")
    if isinstance(schema, bool):
        return
    if depth > DEEPEST_SCHEMA:
        raise ValueError(f"the schema nests deeper than {DEEPEST_SCHEMA} levels")
    if unknown := sorted(schema.keys() - KEYWORDS):
        raise ValueError(f"the schema uses {unknown[0]!r}; it may use {', '.join(sorted(KEYWORDS))}")
    if "$defs" in schema and (depth or within):
        raise ValueError("the schema has $defs that are not at its top")
    reference = schema.get("$ref")
    if reference is not None:
        name = str(reference).removeprefix(_LOCAL)
        if not str(reference).startswith(_LOCAL) or name not in definitions:
            raise ValueError(f"the schema refers to {reference!r:.80}; it may only refer to its own {_LOCAL}…")
        if name in within:
            raise ValueError(f"the schema refers to {reference!r:.80} from within it")
        _check_part(definitions[name], definitions, (*within, name), places, depth + 1)
    parts = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    parts += [schema[name] for name in ("items", "additionalProperties") if name in schema]
    for part in parts:
        _check_part(part, definitions, within, places, depth + 1)
