"""What a search takes and returns, and the context that an agent gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, with_config
from typing_extensions import TypedDict

from agent_memory.models.base import Model, UtcTime
from agent_memory.models.filters import Filter
from agent_memory.models.knowledge import Memory

ContextFormat = Literal["sections", "bullets", "xml"]

Name = Annotated[str, StringConstraints(min_length=1, max_length=255)]


@with_config(extra="forbid")
class SearchFilters(TypedDict, total=False):
    """Limits a search. A filter that is missing or None does not apply.

    Attributes:
        types: Only these types (fact, episodic, procedural, reflection, or other systems' names: `preference`,
            `vector`). `document` finds the documents that you added; no other search finds them.
        kinds: Only these kinds (fact, preference, context, requirement, decision; chunk, session).
        tags: At least one of these tags.
        min_confidence: Minimum confidence, 0 to 1.
        min_importance: Minimum importance, 0 to 1.
        created_after: Said at that time or later.
        created_before: Said before that time.
        as_of: What was true at this time, instead of now.
        include_superseded: Also memories that were replaced, for an audit. `superseded_by` names the replacement.
        agent_id: Only from conversations with this agent.
        project_id: Only from conversations in this project.
        exclude_threads: Not from these conversations.
        filters: Conditions on fields and metadata, combined with `and`, `or` and `not`: see `Filter`.
        threshold: Only memories with a higher cosine than this (-1 to 1), even if they share words with the query. By
            default, one shared word is enough, and a memory without one must exceed the embedding model's threshold.
    """

    types: Sequence[Name] | None
    kinds: Sequence[Name] | None
    tags: Sequence[Name] | None
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None
    min_importance: Annotated[float, Field(ge=0, le=1)] | None
    created_after: UtcTime | None
    created_before: UtcTime | None
    as_of: UtcTime | None
    include_superseded: bool | None
    agent_id: Name | None
    project_id: Name | None
    exclude_threads: Sequence[Name] | None
    filters: Filter | Mapping[str, Any] | None
    threshold: Annotated[float, Field(ge=-1, le=1)] | None


FoundBy = Literal["words", "vector", "neighbour", "source", "link", "fresh"]
"""How a memory became a candidate: it has words of the query, its vector is similar enough, it is next to a hit, a hit
was derived from it, a hit is linked to it, or it was said a moment ago."""


class Hit(Model):
    """One result of a search."""

    memory: Memory
    score: float = Field(description="The fused rank score; comparable only within one search.")
    similarity: float | None = Field(default=None, description="Cosine to the query; None if no vector was compared.")
    relevance: float | None = Field(
        default=None, ge=0, le=1, description="How likely it answers the query; comparable between queries and users."
    )
    why: dict[str, float] = Field(
        default_factory=dict, description="The parts of the score by name; they add up to it."
    )
    group: str | None = Field(default=None, description="The group whose memory it is; None for the user's own.")
    found_by: list[FoundBy] = Field(default_factory=list, description="How it became a candidate.")
    explanation: str = Field(default="", description="`why` and `found_by` in one line of words and figures.")


class Signals(Model):
    """What your application knows about a question before it asks the memory."""

    is_fact: bool = Field(default=False, description="It asks for general knowledge: the capital of France.")
    requires_tool: bool = Field(default=False, description="A tool answers it: the weather, a calculation.")


class Context(Model):
    """What an agent gets before it answers. If memory cannot help, the context is empty; it is never an error."""

    text: str = ""
    messages: list[dict[str, str]] = Field(default_factory=list)
    used: list[dict[str, Any]] = Field(
        default_factory=list,
        description="The id, type and score of each memory in it, and the line of the text that shows it. A line of"
        " the profile has all its memories in ids.",
    )
    left_out: list[dict[str, Any]] = Field(default_factory=list, description="What did not fit into the budget.")
    tokens: int = 0
    relevance: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="How likely the memories in it answer the question, 0 to 1; 0 if nothing is known about it, None if"
        " nothing was searched.",
    )
    milliseconds: float = 0.0
    degraded: list[str] = Field(default_factory=list, description="The parts that are missing, and why.")
    skipped_reason: str | None = None
    query: str | None = Field(default=None, description="What was searched for; None if nothing was.")
    decisions: dict[str, str] = Field(default_factory=dict, description="What gate, query and archive decided.")


class ContextSection(Model):
    """A part of a context that streams.

    The early sections do not depend on the search; each has its own share of the budget. The last section, `context`,
    holds the same as `context()` returns, and replaces the early ones.
    """

    name: Literal["state", "summary", "static", "turns", "context"]
    text: str = Field(default="", description="Quoted data, complete in itself; empty for turns.")
    messages: list[dict[str, str]] = Field(default_factory=list, description="Only in turns and in the whole.")
    used: list[dict[str, Any]] = Field(default_factory=list, description="The memories that it shows, as in a context.")
    context: Context | None = Field(default=None, description="The whole context; only in the last section.")
