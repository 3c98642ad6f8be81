"""The profile of an agent: the Agent Service's JSON document that lists its resources and tools.

The tools are in the format of chat APIs: names, JSON schemas, arguments.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_memory.errors import InvalidInput
from agent_memory.models import Model
from agent_memory.settings import ARCHIVE_TRIGGERS

MEMORY = "memory"
KNOWLEDGE_BASE = "knowledge_base"


class Compression(Model):
    """When a conversation is compressed, and how many messages stay word for word."""

    enabled: bool = True
    threshold_tokens: int = Field(default=10_000, gt=0)
    recent_messages_to_keep: int = Field(default=10, gt=0)
    archive_conversations: bool = Field(default=False, description="Whether compressed messages are archived, too.")


class MemoryResource(Model):
    """The settings of the resource `memory`."""

    compression: Compression = Field(default_factory=Compression)


class KnowledgeBaseResource(Model):
    """The settings of the resource `knowledge_base`.

    The memory's own embedding model and store are used. If the profile names others in `vector_provider`,
    `embedding_provider` and `embedding_model`, the agent reports the difference.
    """

    vector_provider: str | None = None
    embedding_provider: str | None = None
    embedding_model: str | None = None
    chunk_size: int = Field(default=800, gt=0, description="Length of a piece of a document, in characters.")
    chunk_overlap: int = Field(
        default=100, ge=0, description="How many characters a piece shares with the previous one."
    )
    enable_cross_session_context: bool = False
    relevance_threshold: float = Field(
        default=0.7,
        ge=0,
        le=1,
        description="Least score of a conversation from another session, inclusive; see `compat.knowledge_base`.",
    )
    search_triggers: list[str] = Field(default_factory=lambda: list(ARCHIVE_TRIGGERS))
    rerank_provider: str | None = None
    rerank_model: str | None = None


class ResourceConfig(Model):
    """The settings of an agent's resources. Those of resources other than memory are ignored."""

    model_config = ConfigDict(extra="ignore")

    memory: MemoryResource = Field(default_factory=MemoryResource)
    knowledge_base: KnowledgeBaseResource = Field(default_factory=KnowledgeBaseResource)


class AgentProfile(BaseModel):
    """The parts of an agent's profile that concern memory. Other fields are ignored."""

    agent_id: str
    resources: list[str] = Field(default_factory=list)
    provider: str | None = None
    model: str | None = None
    allowed_regular_tools: list[str] = Field(default_factory=list)
    resource_config: ResourceConfig = Field(default_factory=ResourceConfig)

    @classmethod
    def read(cls, given: AgentProfile | Mapping[str, Any] | str | Path) -> Self:
        """Reads a profile: a mapping, JSON text, or the path of a JSON file.

        Raises:
            InvalidInput: if it cannot be read, or has an unknown setting.
        """
        try:
            if isinstance(given, AgentProfile):
                return cls.model_validate(given.model_dump())
            if isinstance(given, Path) or (isinstance(given, str) and not given.lstrip().startswith("{")):
                given = Path(given).read_text(encoding="utf-8")
            return cls.model_validate(json.loads(given) if isinstance(given, str) else dict(given))
        except (OSError, ValidationError, ValueError, TypeError) as error:
            raise InvalidInput(f"no agent profile: {error}") from error

    @property
    def wants_memory(self) -> bool:
        """Whether the agent remembers at all."""
        return MEMORY in self.resources

    @property
    def wants_knowledge_base(self) -> bool:
        """Whether the agent can look into other conversations and documents."""
        return KNOWLEDGE_BASE in self.resources


SearchType = Literal["conversations", "documents", "all"]
_MOST = 50
"""Most results of one tool call."""


class _Search(Model):
    """Searches the user's archived conversations and documents for what matters to a query."""

    query: str = Field(description="What is looked for, in words or as a question.")
    search_type: SearchType = "conversations"
    limit: int = Field(default=5, ge=1, le=_MOST)


class _Listing(Model):
    """Lists the user's newest archived conversations or documents."""

    doc_type: SearchType = "conversations"
    limit: int = Field(default=10, ge=1, le=_MOST)


_ARGUMENTS: dict[str, type[Model]] = {"search_knowledge_base": _Search, "list_documents": _Listing}


def _tool(arguments: type[Model]) -> dict[str, Any]:
    schema = arguments.model_json_schema()
    fields = {
        name: {key: value for key, value in field.items() if key != "title"}
        for name, field in schema["properties"].items()
    }
    parameters = {
        "type": "object",
        "properties": fields,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }
    return {"description": schema["description"], "parameters": parameters}


TOOLS: dict[str, dict[str, Any]] = {name: _tool(arguments) for name, arguments in _ARGUMENTS.items()}
"""The two tools with the JSON schemas of their arguments, under the names that a profile allows."""


def tool_arguments(name: str, arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    """Checks the arguments of a model's tool call: JSON text, or an object.

    Raises:
        InvalidInput: if they are invalid. The message is for the model.
    """
    try:
        if isinstance(arguments, str):
            return _ARGUMENTS[name].model_validate_json(arguments or "{}").model_dump()
        return _ARGUMENTS[name].model_validate(dict(arguments)).model_dump()
    except (ValidationError, TypeError, ValueError) as error:
        raise InvalidInput(f"{name}: {error}") from error
