"""The filters of a search, as a condition in SQL and its parameters.

Neither names nor values of a filter become SQL: both are parameters. A comparison is true or false, never undefined as
in SQL, so that `not` really negates: each comparison checks the type of the field first. An absent field and null are
the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from agent_memory.models import TYPE_ALIASES, Filter, SearchFilters, iso
from agent_memory.models.filters import FIELDS
from agent_memory.store.chunks import CONFIDENCE, IMPORTANCE
from agent_memory.store.queries import ACTIVE, AS_OF, OF_NAMES, USABLE
from agent_memory.text.folding import folded

MEMORY_PATHS = {name: f"c.{name}" for name in FIELDS}
"""Where a memory has its fields."""
_SIGNS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_LIST = "tags"


class FilterConditions:
    """The condition of one filter, and its parameters (`@filter0`, …)."""

    def __init__(self, given: Filter, paths: Mapping[str, str] = MEMORY_PATHS) -> None:
        """Reads a filter.

        Args:
            given: The filter.
            paths: The expression for each field. Not for keys of the metadata.
        """
        self.parameters: dict[str, Any] = {}
        self._paths = paths
        self.text = self._all(given)

    def _all(self, given: Filter) -> str:
        parts = list(self._own(given))
        parts += [self._all(one) for one in given.and_ or ()]
        if given.or_ is not None:
            parts.append(f"({' OR '.join(self._all(one) for one in given.or_) or 'false'})")
        if given.not_ is not None:
            parts.append(f"(NOT {self._all(given.not_)})")
        return f"({' AND '.join(parts) or 'true'})"

    def _own(self, given: Filter) -> Iterator[str]:
        for field, comparison in given.fields():
            name, _, key = field.partition(".")
            path = f"c.metadata[{self._bound(folded(key))}]" if key else self._paths[name]
            is_folded = name == _LIST or bool(key)
            for how in sorted(comparison.model_fields_set):
                value = getattr(comparison, how)
                values = [value, *([as_stored(value)] if is_folded and as_stored(value) != value else [])]
                either = [self._compared(path, how, one, is_list=name == _LIST) for one in values]
                yield either[0] if len(either) == 1 else f"({' OR '.join(either)})"

    def _compared(self, path: str, how: str, value: Any, *, is_list: bool) -> str:
        if how == "contains":
            return f"(IS_ARRAY({path}) AND ARRAY_CONTAINS({path}, {self._bound(value)}))"
        if how == "in_" and is_list:
            return f"EXISTS(SELECT VALUE one FROM one IN {path} WHERE ARRAY_CONTAINS({self._bound(value)}, one))"
        if how == "in_":
            given = [one for one in value if one is not None]
            among = f"(IS_DEFINED({path}) AND ARRAY_CONTAINS({self._bound(given)}, {path}))"
            return among if len(given) == len(value) else f"({among} OR {_absent(path)})"
        if value is None:
            return _absent(path)
        return f"({_is_like(value)}({path}) AND {path} {_SIGNS.get(how, '=')} {self._bound(value)})"

    def _bound(self, value: Any) -> str:
        name = f"filter{len(self.parameters)}"
        self.parameters[name] = iso(value) if isinstance(value, datetime) else value
        return f"@{name}"


def as_stored(value: Any) -> Any:
    """A tag, or a value of metadata, in the form in which the screen stores those of memories."""
    if isinstance(value, str):
        return folded(value)
    return list(map(as_stored, value)) if isinstance(value, list | tuple) else value


def _absent(path: str) -> str:
    return f"(NOT IS_DEFINED({path}) OR IS_NULL({path}))"


def _is_like(value: object) -> str:
    """The function that checks whether something has the type of a value; times are stored as texts."""
    if isinstance(value, bool):
        return "IS_BOOL"
    return "IS_NUMBER" if isinstance(value, int | float) else "IS_STRING"


ANYTHING = SearchFilters()
EVERY_TURN = "true"
"""The condition that every turn meets."""
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
_OF_TURNS = ("created_after", "created_before", "agent_id", "project_id", "exclude_threads")
"""The filters that also apply to turns."""
_NOT_OF_TURNS = {"tags", "min_importance", "as_of", "threshold"}
"""The filters that exclude every turn."""
_NO_VALUES = {"threshold", "include_superseded", "filters"}
"""The filters that are no parameters of a query by themselves."""
TURN_PATHS = MEMORY_PATHS | {
    "type": '"episodic"',
    "kind": '"chunk"',
    "source": "c.role",
    "recorded_at": "c.created_at",
    "valid_from": "c.created_at",
    "valid_to": "null",
    "confidence": str(CONFIDENCE),
    "importance": str(IMPORTANCE),
}
"""The fields of a turn that correspond to those of its chunk (`chunk_of`). A turn has no tags either."""
_ANY_TYPE = 'c.type IN ("fact", "episodic", "procedural", "reflection")'


def condition(filters: SearchFilters) -> str:
    """The condition on a memory. It must also be usable, and current now or at the requested time."""
    conditions = _conditions(filters)
    return " AND ".join(
        [
            *([] if "types" in filters else [_ANY_TYPE]),
            USABLE,
            *([AS_OF] if "as_of" in filters else [] if filters.get("include_superseded") else [ACTIVE]),
            *(text for name, text in _CONDITIONS.items() if name in filters),
            *([] if conditions is None else [conditions.text]),
        ]
    )


def condition_of_turns(filters: SearchFilters) -> str | None:
    """The condition on a turn; None if these filters exclude turns."""
    types, kinds = filters.get("types"), filters.get("kinds")
    if types is not None:
        stored, of_types = types_and_kinds(types)
        if "episodic" not in stored and "chunk" not in of_types:
            return None
    if (kinds is not None and "chunk" not in kinds) or not _NOT_OF_TURNS.isdisjoint(filters):
        return None
    given = filters.get("filters")
    if isinstance(given, Filter) and any(field.startswith("metadata.") for field, _, _ in given.comparisons()):
        return None  # a turn has no metadata of a chunk before it is indexed
    conditions = _conditions(filters, TURN_PATHS)
    own = [_CONDITIONS[name] for name in _OF_TURNS if name in filters]
    return " AND ".join([EVERY_TURN, *own, *([] if conditions is None else [conditions.text])])


def parameters(filters: SearchFilters, *, of_turns: bool = False) -> dict[str, Any]:
    """The parameters of a condition, by name."""
    values: dict[str, Any] = {
        name: iso(value) if isinstance(value, datetime) else value
        for name, value in filters.items()
        if name not in _NO_VALUES and (name in _OF_TURNS or not of_turns)
    }
    types = None if of_turns else filters.get("types")
    if types is not None:
        values["types"], values["type_kinds"] = types_and_kinds(types)
    if "tags" in values:
        values["tags"] = list(dict.fromkeys([*values["tags"], *as_stored(values["tags"])]))
    conditions = _conditions(filters, TURN_PATHS if of_turns else MEMORY_PATHS)
    return values if conditions is None else values | conditions.parameters


def _conditions(filters: SearchFilters, paths: Mapping[str, str] = MEMORY_PATHS) -> FilterConditions | None:
    given = filters.get("filters")
    return FilterConditions(given, paths) if isinstance(given, Filter) else None


def types_and_kinds(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Splits names into stored types, and the kinds that some names (`preference`) mean."""
    meant = [TYPE_ALIASES.get(name, (name, None)) for name in names]
    return [stored for stored, kind in meant if kind is None], [kind for _, kind in meant if kind is not None]
