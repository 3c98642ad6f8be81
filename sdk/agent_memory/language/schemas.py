"""The JSON schema of a task's answer in the form for strict structured output, and the way back.

Strict output allows no defaults, no optional fields and no free-form objects: every field is required, every object
closed, and limits on lengths and ranges are left for validation here. A free-form object (`dict[str, Any]`) is
requested as a list of entries `{"key": …, "value": …}`, which `restore` turns into an object again.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

_ENTRY, _VALUE = "FreeEntry", "FreeValue"
_FREE_DEFINITIONS: Schema = {
    _ENTRY: {
        "type": "object",
        "properties": {"key": {"type": "string"}, "value": {"$ref": f"#/$defs/{_VALUE}"}},
        "required": ["key", "value"],
        "additionalProperties": False,
    },
    _VALUE: {
        "anyOf": [
            *({"type": name} for name in ("string", "number", "boolean", "null")),
            {"type": "array", "items": {"type": "string"}},
            {"type": "array", "items": {"$ref": f"#/$defs/{_ENTRY}"}},
        ]
    },
}


def strict_schema(model: type[BaseModel]) -> Schema:
    """The schema of a model's JSON under the strict rules."""
    source = model.model_json_schema()
    definitions = {name: _strict(schema) for name, schema in source.get("$defs", {}).items()}
    strict = _strict(source)
    if _uses_free_form([strict, definitions]):
        definitions |= _FREE_DEFINITIONS
    return strict | ({"$defs": definitions} if definitions else {})


def _strict(schema: Schema) -> Schema:
    if "$ref" in schema:  # a reference may have no siblings
        return {"$ref": schema["$ref"]}
    if _is_free_form(schema):
        return _described(schema, {"type": "array", "items": {"$ref": f"#/$defs/{_ENTRY}"}})
    if "anyOf" in schema:
        return _described(schema, {"anyOf": [_strict(option) for option in schema["anyOf"]]})
    if "const" in schema:
        return _described(schema, {"type": schema["type"], "enum": [schema["const"]]})
    if schema["type"] == "array":
        return _described(schema, {"type": "array", "items": _strict(schema["items"])})
    if schema["type"] == "object":
        properties = {name: _strict(field) for name, field in schema["properties"].items()}
        closed = {"type": "object", "properties": properties, "required": list(properties)}
        return _described(schema, closed | {"additionalProperties": False})
    return _described(schema, {key: schema[key] for key in ("type", "enum") if key in schema})


def _described(source: Schema, strict: Schema) -> Schema:
    return strict | ({"description": source["description"]} if "description" in source else {})


def _is_free_form(schema: Schema) -> bool:
    return schema.get("type") == "object" and "properties" not in schema


def _uses_free_form(schema: object) -> bool:
    if isinstance(schema, dict):
        return schema.get("$ref") == f"#/$defs/{_ENTRY}" or _uses_free_form(list(schema.values()))
    return isinstance(schema, list) and any(_uses_free_form(part) for part in schema)


@cache
def free_form_fields(model: type[BaseModel]) -> frozenset[str]:
    """The fields of a model that hold free-form objects."""
    return frozenset(name for name, field in model.model_json_schema()["properties"].items() if _is_free_form(field))


def restore(model: type[BaseModel], answer: dict[str, Any]) -> dict[str, Any]:
    """An answer with its lists of entries turned back into objects. Existing objects stay."""
    free = free_form_fields(model)
    return {name: _from_entries(value, top=True) if name in free else value for name, value in answer.items()}


def _from_entries(value: Any, *, top: bool = False) -> Any:
    if isinstance(value, list) and all(isinstance(item, dict) and item.keys() == {"key", "value"} for item in value):
        return {str(item["key"]): _from_entries(item["value"]) for item in value} if value or top else []
    return value
