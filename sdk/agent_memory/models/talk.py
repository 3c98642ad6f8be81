"""Conversations: turns, and the summary of a thread."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, cast, get_args

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from agent_memory.models.base import Count, Model, Ttl, UtcTime
from agent_memory.models.parts import Parts, text_of_parts

Role = Literal["user", "agent", "tool", "system"]

RoleAlias = Literal["assistant", "function", "human", "ai"]
ROLE_ALIASES: dict[RoleAlias, Role] = {"assistant": "agent", "function": "tool", "human": "user", "ai": "agent"}
"""The names of the four roles in other systems."""
_ROLES = get_args(Role)


def _role(value: object) -> object:
    role = ROLE_ALIASES.get(cast(RoleAlias, value), value) if isinstance(value, str) else value
    if role not in _ROLES:
        known = "Input should be 'user', 'assistant' (or 'agent'), 'tool' or 'system', not {role}"
        raise PydanticCustomError("role", known, {"role": f"{value!r:.40}"})
    return role


RoleField = Annotated[Role, BeforeValidator(_role, json_schema_input_type=Literal[Role, RoleAlias])]


class TurnInput(Model):
    """One message of a conversation, as a caller gives it."""

    role: RoleField
    content: str = Field(default="", description="What was said; by default, the text of the parts.")
    parts: Parts | None = Field(default=None, description="Text, images, files, tool calls and results, as given.")
    id: str | None = None
    name: str | None = Field(default=None, description="The speaker, if the transcript names one.")
    created_at: UtcTime | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    agent_id: str | None = None
    project_id: str | None = None
    run_id: str | None = None
    ttl: Ttl | None = Field(default=None, description="Seconds until it is deleted; None: the store's setting.")
    backfill: bool | None = Field(
        default=None, description="True: imported, so it may wait; the function app processes live turns first."
    )

    @model_validator(mode="after")
    def _has_text(self) -> Self:
        if self.parts and not self.content.strip():
            self.__dict__["content"] = text_of_parts(self.parts)
            self.__pydantic_fields_set__.add("content")
        return self


class Turn(Model):
    """One stored message. Turns never change."""

    id: str
    user_id: str
    thread_id: str
    role: Role
    content: str
    parts: Parts | None = Field(default=None, description="The parts of the message, if it was given in parts.")
    created_at: UtcTime
    name: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    agent_id: str | None = None
    project_id: str | None = None
    run_id: str | None = None
    contributor_id: str | None = Field(default=None, description="In a group: the member who wrote it.")
    ttl: Ttl | None = Field(default=None, description="Seconds after the write until the turn is deleted.")
    off_record: bool | None = Field(
        default=None, description="True: written while memory was switched off, so nothing is ever derived from it."
    )
    backfill: bool | None = Field(default=None, description="True: imported, so live turns went first.")


class LiveView(Model):
    """The turns of a conversation that still fit into a model's window."""

    turns: list[Turn] = Field(default_factory=list, description="In the order of the conversation.")
    retired: int = Field(default=0, description="How many turns have left the view since it was last cleared.")


class ThreadInfo(Model):
    """One thread of a user."""

    thread_id: str
    turns: int
    unprocessed_turns: int
    last_turn_at: UtcTime | None = None


class ThreadSummary(Model):
    """The summary of one thread."""

    id: str
    user_id: str
    thread_id: str
    content: str
    topic: str = ""
    key_points: list[str] = Field(default_factory=list)
    decisions: list[str] = Field(default_factory=list)
    open_issues: list[str] = Field(default_factory=list)
    next_steps: list[str] = Field(default_factory=list)
    turn_count: Count = 0
    covers_from: UtcTime | None = None
    covers_to: UtcTime | None = None
    project_ids: list[str] | None = Field(
        default=None, description="The projects of its turns. None: an earlier version made it and did not note them."
    )
    told_ids: list[str] = Field(
        default_factory=list, description="Memories of other threads that corrected it. It is deleted when they are."
    )
    only_asks: bool = Field(
        default=False, description="Whether the thread only asks about earlier ones. Other threads then do not show it."
    )
    created_at: UtcTime
    updated_at: UtcTime
    model: str | None = None
    prompt_version: str | None = None


class ThreadState(Model):
    """The current state of one thread as data. It is rebuilt with the summary and expires after a time."""

    id: str
    user_id: str
    thread_id: str
    state: dict[str, Any] = Field(description="topic, decisions, open questions, and the values that were agreed on")
    updated_at: UtcTime
