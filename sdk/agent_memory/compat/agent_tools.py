"""The tools of the Agent Service's agents, as a chat API wants them: names, JSON schemas, arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError

from agent_memory.compat.knowledge_base import SearchType
from agent_memory.errors import InvalidInput
from agent_memory.models import Model

_MOST = 50
"""Results of one call of a tool."""
TOOLS: dict[str, dict[str, Any]] = {
    "search_knowledge_base": {
        "description": "Searches the user's archived conversations and documents for what matters to a query.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What is looked for, in words or as a question."},
                "search_type": {
                    "type": "string",
                    "enum": ["conversations", "documents", "all"],
                    "default": "conversations",
                },
                "limit": {"type": "integer", "minimum": 1, "maximum": _MOST, "default": 5},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    },
    "list_documents": {
        "description": "Lists the user's newest archived conversations or documents.",
        "parameters": {
            "type": "object",
            "properties": {
                "doc_type": {
                    "type": "string",
                    "enum": ["conversations", "documents", "all"],
                    "default": "conversations",
                },
                "limit": {"type": "integer", "minimum": 1, "maximum": _MOST, "default": 10},
            },
            "required": [],
            "additionalProperties": False,
        },
    },
}
"""The two tools with the JSON schemas of their arguments, under the names that a profile allows."""


class _Search(Model):
    query: str
    search_type: SearchType = "conversations"
    limit: int = Field(default=5, ge=1, le=_MOST)


class _Listing(Model):
    doc_type: SearchType = "conversations"
    limit: int = Field(default=10, ge=1, le=_MOST)


_ARGUMENTS: dict[str, type[_Search | _Listing]] = {"search_knowledge_base": _Search, "list_documents": _Listing}


def tool_arguments(name: str, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    """The arguments of a tool call as a model wrote them (JSON text, or an object), checked.

    Raises:
        InvalidInput: naming what is wrong, in words for the model.
    """
    try:
        if isinstance(arguments, str):
            return _ARGUMENTS[name].model_validate_json(arguments or "{}").model_dump()
        return _ARGUMENTS[name].model_validate(dict(arguments)).model_dump()
    except (ValidationError, TypeError, ValueError) as error:
        raise InvalidInput(f"{name}: {error}") from error
