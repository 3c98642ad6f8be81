"""The people, places and things that memories mention."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent_memory.models.base import Model, UtcTime
from agent_memory.models.knowledge import Memory


class Entity(Model):
    """A person, place or thing, as far as memories mention it."""

    name: str = Field(description="Its most common spelling.")
    kind: Literal["person", "place", "thing"] = Field(description="A guess from the words around the name.")
    mentions: int = Field(description="How many memories name it.")
    first_at: UtcTime = Field(description="When it was first mentioned.")
    last_at: UtcTime = Field(description="When it was last mentioned.")
    memory_ids: list[str] = Field(default_factory=list, description="The newest memories that name it, at most 20.")


class EntityView(Entity):
    """An entity with its timeline, and what is mentioned along with it."""

    timeline: list[Memory] = Field(description="Every memory that names it, replaced ones too, oldest first.")
    along_with: dict[str, int] = Field(
        default_factory=dict, description="Other entities, with how many of these memories name them too."
    )
