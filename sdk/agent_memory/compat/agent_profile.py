"""The Agent Service's documents: the profile of an agent, with its resources and tools, and the records of a session.

The tools are in the format of chat APIs: names, JSON schemas, arguments.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_memory.errors import InvalidInput
from agent_memory.models import Health, Model, SearchMisses, Turn, UtcTime
from agent_memory.settings import ARCHIVE_TRIGGERS
from agent_memory.text.asked_back import SESSION_NOTE, trigger_in
from agent_memory.working.messages import ChatMessage, from_turn

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
            raise InvalidInput(f"not an agent profile: {error}") from error

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


class MemoryEntry(Model):
    """One message in the form of the Agent Service. It is never updated."""

    id: str
    user_id: str
    session_id: str
    agent_id: str
    content: dict[str, str] = Field(description="role and content")
    entry_metadata: dict[str, Any] = Field(default_factory=dict)
    created_at: UtcTime
    updated_at: UtcTime
    expires_at: UtcTime | None = None
    is_active: bool = Field(description="Whether it is in the live conversation: neither compressed nor cleared.")

    @classmethod
    def of(cls, turn: Turn, session_id: str, agent_id: str, *, active: bool) -> MemoryEntry:
        """The entry for a turn."""
        message = from_turn(turn)
        return cls(
            id=turn.id,
            user_id=turn.user_id,
            session_id=session_id,
            agent_id=turn.agent_id or agent_id,
            content={"role": message.role, "content": message.content},
            entry_metadata={name: value for name, value in turn.metadata.items() if name != SESSION_NOTE},
            created_at=turn.created_at,
            updated_at=turn.created_at,
            expires_at=None if turn.ttl is None else turn.created_at + timedelta(seconds=turn.ttl),
            is_active=active,
        )


class MemorySessionSummary(Model):
    """The summary that replaces the compressed messages."""

    id: str
    user_id: str
    session_id: str
    agent_id: str
    summary: str
    created_at: UtcTime
    updated_at: UtcTime


class Difference(Model):
    """A setting of a profile that differs from the one in use."""

    setting: str
    wanted: str
    used: str


class Diagnosis(Model):
    """What memory does in a session. `reasons` says why something does not happen."""

    memory_active: bool
    tokens: int = 0
    threshold_tokens: int = 0
    should_compress: bool = False
    cross_session_active: bool = False
    archived_conversations: int = Field(
        default=0, description="Archived conversations of other sessions; 100 means 100 or more."
    )
    trigger: str | None = Field(default=None, description="The phrase for which the message searches other sessions.")
    relevance_threshold: float | None = None
    least_similarity: float | None = Field(
        default=None, description="The cosine that corresponds to the threshold with the embedding model in use."
    )
    best_score: float | None = Field(default=None, description="The best score in other sessions, 0 to 1.")
    best_similarity: float | None = Field(default=None, description="Its cosine.")
    found: int = Field(default=0, description="How many conversations the message finds.")
    search_misses: SearchMisses | None = Field(
        default=None, description="What sampled searches of this process left out; None: none are sampled."
    )
    reasons: list[str] = Field(default_factory=list)
    differences: list[Difference] = Field(
        default_factory=list, description="Settings of the profile that the memory does not follow."
    )


def note_for_archive(profile: AgentProfile, message: ChatMessage, session_id: str | None) -> dict[str, Any]:
    """What the archive must know about a message: whether it asks about earlier ones, and the session, if given."""
    triggers = profile.resource_config.knowledge_base.search_triggers
    looks_back = message.role == "user" and profile.wants_knowledge_base
    trigger = trigger_in(message.content, triggers) if looks_back else None
    note = {name: value for name, value in {"trigger": trigger, "session_id": session_id}.items() if value is not None}
    return {SESSION_NOTE: note} if note else {}


def missing_of(profile: AgentProfile, health: Health, tokens: int, archived: int) -> list[str]:
    """The reasons why memory, compression or cross-session search is off, whatever a message says."""
    compression, settings = profile.resource_config.memory.compression, profile.resource_config.knowledge_base
    missing = {
        'memory: "memory" is not among the resources': not profile.wants_memory,
        f"memory: {'; '.join(health.warnings)}": not health.ok,
        **{f"{role}: switched off, the role has no model": True for role in health.roles_off},
        "compression: it is not enabled": not compression.enabled,
        f"compression: {tokens} tokens are not above {compression.threshold_tokens}": (
            tokens <= compression.threshold_tokens
        ),
        'cross-session: "knowledge_base" is not among the resources': not profile.wants_knowledge_base,
        "cross-session: enable_cross_session_context is off": not settings.enable_cross_session_context,
        "cross-session: archive_conversations is off": not compression.archive_conversations,
        "cross-session: no conversation of another session has been archived yet": not archived,
    }
    return [reason for reason, is_missing in missing.items() if is_missing]
