"""Conversations: the turns that are written, and what sums a thread up."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from agent_memory.models.base import Model, UtcTime

Role = Literal["user", "agent", "tool", "system"]

ROLE_ALIASES = {"assistant": "agent", "function": "tool", "human": "user", "ai": "agent"}
"""Names other systems give to the four roles."""


def _role(value: object) -> object:
    return ROLE_ALIASES.get(value, value) if isinstance(value, str) else value


RoleField = Annotated[Role, BeforeValidator(_role)]


class TurnInput(Model):
    """One message of a conversation, as a caller hands it over."""

    role: RoleField
    content: str
    id: str | None = None
    name: str | None = Field(default=None, description="Who speaks, if the transcript names them.")
    created_at: UtcTime | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    agent_id: str | None = None
    project_id: str | None = None
    run_id: str | None = None
    ttl: int | None = Field(default=None, gt=0, description="Seconds until it is pruned; None: as the store has it.")


class Turn(Model):
    """One message as it was kept. Turns never change."""

    id: str
    user_id: str
    thread_id: str
    role: Role
    content: str
    created_at: UtcTime
    name: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    agent_id: str | None = None
    project_id: str | None = None
    run_id: str | None = None
    ttl: int | None = Field(default=None, gt=0, description="Seconds after its writing at which it is pruned.")
    off_record: bool | None = Field(
        default=None, description="True: written while memory was switched off, so nothing is ever derived from it."
    )


class LiveView(Model):
    """What a conversation still shows."""

    turns: list[Turn] = Field(default_factory=list, description="In the order of the talk.")
    retired: int = Field(default=0, description="How many have left since the view was last cleared.")


class ThreadInfo(Model):
    """One thread of a user."""

    thread_id: str
    turns: int
    unprocessed_turns: int
    last_turn_at: UtcTime | None = None


class ThreadSummary(Model):
    """The compact record of one thread."""

    id: str
    user_id: str
    thread_id: str
    content: str
    topic: str = ""
    key_points: list[str] = Field(default_factory=list)
    decisions: list[str] = Field(default_factory=list)
    open_issues: list[str] = Field(default_factory=list)
    next_steps: list[str] = Field(default_factory=list)
    turn_count: int = 0
    covers_from: UtcTime | None = None
    covers_to: UtcTime | None = None
    project_ids: list[str] | None = Field(
        default=None, description="The projects of the turns that went into it; None: not known, of one made before."
    )
    told_ids: list[str] = Field(
        default_factory=list, description="Memories of other conversations that corrected it; it goes when they do."
    )
    only_asks: bool = Field(
        default=False, description="Whether the talk only asks for earlier talk, so that no other is told of it."
    )
    created_at: UtcTime
    updated_at: UtcTime
    model: str | None = None
    prompt_version: str | None = None


class ThreadState(Model):
    """Where one thread stands now, as data: rebuilt with the summary, forgotten when its time runs out."""

    id: str
    user_id: str
    thread_id: str
    state: dict[str, Any] = Field(description="topic, decisions, open, and the values that the talk has settled")
    updated_at: UtcTime
