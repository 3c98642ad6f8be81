"""The Agent Service's records of a session: entries, summary, and diagnosis."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pydantic import Field

from agent_memory.compat.agent_profile import AgentProfile
from agent_memory.models import Health, Model, SearchMisses, Turn, UtcTime
from agent_memory.text.asked_back import SESSION_NOTE, trigger_in
from agent_memory.working.messages import ChatMessage, from_turn


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
