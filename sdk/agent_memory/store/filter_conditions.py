"""A filter as a condition in SQL. Neither names nor values become its text: both are parameters.

A comparison is true or false, never undefined as in SQL, so that `not` really negates: each comparison checks the type
of the field first. An absent field and null are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from agent_memory.models import Filter, iso
from agent_memory.models.filters import FIELDS

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
            path = f"c.metadata[{self._bound(key)}]" if key else self._paths[name]
            for how in sorted(comparison.model_fields_set):
                yield self._compared(path, how, getattr(comparison, how), is_list=name == _LIST)

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


def _absent(path: str) -> str:
    return f"(NOT IS_DEFINED({path}) OR IS_NULL({path}))"


def _is_like(value: object) -> str:
    """The function that checks whether something has the type of a value; times are stored as texts."""
    if isinstance(value, bool):
        return "IS_BOOL"
    return "IS_NUMBER" if isinstance(value, int | float) else "IS_STRING"
