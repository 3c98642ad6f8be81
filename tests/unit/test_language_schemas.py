from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from agent_memory.language import tasks
from agent_memory.language.schemas import restore, strict_schema

TASKS = [tasks.EXTRACT, tasks.SUMMARIZE, tasks.PROFILE, tasks.RECONCILE]
ALLOWED = {
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "enum",
    "description",
    "$ref",
    "$defs",
}


def nodes(schema: Any):
    """Every schema inside a schema."""
    yield schema
    for name in ("properties", "$defs"):
        for part in schema.get(name, {}).values():
            yield from nodes(part)
    for part in [*schema.get("anyOf", []), *([schema["items"]] if "items" in schema else [])]:
        yield from nodes(part)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_schemas_keep_to_the_strict_rules(task):
    schema = strict_schema(task.output)
    assert schema["type"] == "object"
    assert set(schema["properties"]) == set(task.output.model_fields)
    for node in nodes(schema):
        assert node.keys() <= ALLOWED, node
        if "$ref" in node:
            assert node.keys() == {"$ref"}
            assert node["$ref"].removeprefix("#/$defs/") in schema["$defs"]
        elif node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
        elif node.get("type") == "array":
            assert "items" in node
        else:
            assert "type" in node or "anyOf" in node, node


def test_nullable_fields_are_unions_with_null():
    memory = strict_schema(tasks.ExtractOutput)["$defs"]["ExtractedMemory"]
    assert memory["properties"]["valid_from"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert memory["properties"]["kind"]["enum"] == ["fact", "preference", "context", "requirement", "decision"]


def test_a_constant_is_an_enumeration_of_one_and_descriptions_stay():
    class Marked(BaseModel):
        mark: Literal["yes"] = Field(default="yes", description="Always yes.")

    assert strict_schema(Marked)["properties"]["mark"] == {
        "type": "string",
        "enum": ["yes"],
        "description": "Always yes.",
    }
    assert "$defs" not in strict_schema(Marked)


def test_a_free_form_object_is_asked_for_as_entries_and_restored():
    schema = strict_schema(tasks.SummarizeOutput)
    assert schema["properties"]["state"] == {"type": "array", "items": {"$ref": "#/$defs/FreeEntry"}}
    entries = [
        {"key": "topic", "value": "Hawaii"},
        {"key": "values", "value": [{"key": "budget", "value": "$15,000"}, {"key": "people", "value": 2}]},
        {"key": "open", "value": ["which island"]},
        {"key": "decisions", "value": []},
    ]
    state = {"topic": "Hawaii", "values": {"budget": "$15,000", "people": 2}, "open": ["which island"], "decisions": []}
    assert restore(tasks.SummarizeOutput, {"topic": "x", "state": entries}) == {"topic": "x", "state": state}
    assert restore(tasks.SummarizeOutput, {"state": state}) == {"state": state}
    assert restore(tasks.SummarizeOutput, {"state": []}) == {"state": {}}
    assert restore(tasks.ProfileOutput, {"personal": []}) == {"personal": []}
