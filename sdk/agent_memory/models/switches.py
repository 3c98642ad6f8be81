"""Switches of users, threads and requests."""

from __future__ import annotations

from pydantic import Field, field_validator

from agent_memory.models.base import Model, UtcTime, time_zone


class ScopeSettings(Model):
    """The switches of a user or a thread. A switch can only restrict: what one of them forbids is forbidden."""

    enabled: bool = Field(default=True, description="Off: nothing is remembered, and nothing is recalled.")
    auto_store: bool = Field(default=True, description="Off: nothing is derived from turns. Recall still works.")
    keep_turns: bool = Field(default=True, description="Off: turns are not stored.")
    deny_categories: list[str] = Field(default_factory=list, description="Categories never remembered: health, …")
    allow_categories: list[str] = Field(
        default_factory=list, description="If not empty, the only categories remembered."
    )
    retention_days: dict[str, int] = Field(
        default_factory=dict, description="Days after which memories of a type are deleted; others stay."
    )
    time_zone: str | None = Field(
        default=None, description="The zone that defines 'today', like Europe/Lisbon; UTC if neither scope sets it."
    )
    off_by: str | None = Field(
        default=None,
        description="Of a user: what switches memory off, such as ENABLE_MEMORY or their tier; null if it is on.",
    )
    updated_at: UtcTime | None = None
    etag: str | None = Field(default=None, description="The ETag of this version, for a conditional update.")

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, value: str | None) -> str | None:
        return None if value is None else time_zone(value).key


class MemoryConfig(Model):
    """Restrictions of one request. Like every switch, it can only restrict."""

    enabled: bool = True
    auto_store: bool = Field(default=True, description="Off: nothing is ever derived from the turns of this request.")
    memory_types: list[str] | None = Field(default=None, description="Only these types are recalled.")
    retrieval_limit: int | None = Field(default=None, ge=1, le=100)
    similarity_threshold: float | None = Field(default=None, ge=-1, le=1, description="Minimum cosine of a hit.")
