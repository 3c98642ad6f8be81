"""What a search is confined to, as a condition in SQL and the parameters that it names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from agent_memory.models import TYPE_ALIASES, SearchFilters, iso
from agent_memory.store.queries import ACTIVE, AS_OF, OF_NAMES, USABLE

ANYTHING = SearchFilters()
_CONDITIONS = {
    "types": OF_NAMES,
    "kinds": "ARRAY_CONTAINS(@kinds, c.kind)",
    "tags": "EXISTS(SELECT VALUE tag FROM tag IN c.tags WHERE ARRAY_CONTAINS(@tags, tag))",
    "min_confidence": "c.confidence >= @min_confidence",
    "min_importance": "c.importance >= @min_importance",
    "created_after": "c.created_at >= @created_after",
    "created_before": "c.created_at < @created_before",
    "agent_id": "c.agent_id = @agent_id",
    "project_id": "c.project_id = @project_id",
    "exclude_threads": "NOT ARRAY_CONTAINS(@exclude_threads, c.thread_id)",
}
_ANY_TYPE = 'c.type IN ("fact", "episodic", "procedural", "reflection")'


def condition(filters: SearchFilters) -> str:
    """What a memory must meet; usable, and believed now (or true at the time that is asked for), it must be anyway."""
    return " AND ".join(
        [
            *([] if "types" in filters else [_ANY_TYPE]),
            USABLE,
            AS_OF if "as_of" in filters else ACTIVE,
            *(text for name, text in _CONDITIONS.items() if name in filters),
        ]
    )


def parameters(filters: SearchFilters) -> dict[str, Any]:
    """The values of a condition, by name."""
    values: dict[str, Any] = {
        name: iso(value) if isinstance(value, datetime) else value
        for name, value in filters.items()
        if name != "threshold"
    }
    types = filters.get("types")
    if types is not None:
        values["types"], values["type_kinds"] = types_and_kinds(types)
    return values


def types_and_kinds(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The stored types that names mean; for the names that mean one kind of a type (`preference`), the kinds."""
    meant = [TYPE_ALIASES.get(name, (name, None)) for name in names]
    return [stored for stored, kind in meant if kind is None], [kind for _, kind in meant if kind is not None]
