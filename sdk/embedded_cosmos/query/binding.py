"""Parameters into a parsed query, as constants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from embedded_cosmos.errors import bad_request
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.values import Json


def bind(query: ast.Query, parameters: Iterable[Mapping[str, Any]]) -> ast.Query:
    """The query with every parameter replaced by its value; one without a value is refused when it is compiled."""
    values: dict[str, Json] = {}
    for parameter in parameters:
        name = parameter.get("name")
        if not isinstance(name, str) or "value" not in parameter:
            raise bad_request("Every query parameter needs a 'name' string and a 'value'.")
        values[name if name.startswith("@") else f"@{name}"] = parameter["value"]

    def fill(node: Any) -> Any:
        return ast.Literal(values[node.name]) if type(node) is ast.Parameter and node.name in values else node

    if not values:
        return query
    columns = query.select.items
    # Lists of dozens of plain columns are the usual case, and the longest part of a query.
    filled = tuple(item if ast.property_of(item.expression) else ast.transform(item, fill) for item in columns)
    rest: ast.Query = ast.transform(replace(query, select=replace(query.select, items=())), fill)
    return replace(rest, select=replace(rest.select, items=filled))
