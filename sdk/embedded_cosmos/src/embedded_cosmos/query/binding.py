"""Parameters into a parsed query, as constants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from embedded_cosmos.errors import bad_request
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.parser import parse_with_holders
from embedded_cosmos.sql.values import Json


def parse_bound(text: str, parameters: Iterable[Mapping[str, Any]]) -> ast.Query:
    """A query with every parameter replaced by its value; one without a value is refused when it is compiled.

    Raises 400 for what is not a query, or not parameters.
    """
    query, holders = parse_with_holders(text)
    values: dict[str, Json] = {}
    for parameter in parameters:
        name = parameter.get("name")
        if not isinstance(name, str) or "value" not in parameter:
            raise bad_request("Every query parameter needs a 'name' string and a 'value'.")
        values[name if name.startswith("@") else f"@{name}"] = parameter["value"]

    def fill(node: Any) -> Any:
        return ast.Literal(values[node.name]) if type(node) is ast.Parameter and node.name in values else node

    bound: ast.Query = ast.transform(query, fill, holders) if values else query
    return bound
