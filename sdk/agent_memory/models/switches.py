"""What users and requests allow memory to do."""

from __future__ import annotations

from pydantic import Field

from agent_memory.models.base import Model, UtcTime


class ScopeSettings(Model):
    """The switches of a user or a thread. They only restrict: what any of them forbids is forbidden."""

    enabled: bool = Field(default=True, description="Off: nothing is remembered and nothing recalled.")
    auto_store: bool = Field(default=True, description="Off: nothing is derived from what is said; recall goes on.")
    keep_turns: bool = Field(default=True, description="Off: not even the conversation is kept.")
    deny_categories: list[str] = Field(default_factory=list, description="What is never remembered: health, …")
    allow_categories: list[str] = Field(default_factory=list, description="If any, all that is remembered.")
    retention_days: dict[str, int] = Field(
        default_factory=dict, description="After how many days memories of a type are deleted; never, if not given."
    )
    updated_at: UtcTime | None = None
    etag: str | None = Field(default=None, description="Of this version, for a conditional update.")


class MemoryConfig(Model):
    """What one request asks of memory; like every switch, it can only restrict."""

    enabled: bool = True
    auto_store: bool = Field(default=True, description="Off: nothing is ever derived from turns that it writes.")
    memory_types: list[str] | None = Field(default=None, description="Only these are recalled.")
    retrieval_limit: int | None = Field(default=None, ge=1, le=100)
    similarity_threshold: float | None = Field(default=None, ge=-1, le=1, description="Least cosine of a hit.")
