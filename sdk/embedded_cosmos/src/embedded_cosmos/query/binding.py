"""Parameters into a parsed query, as constants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from embedded_cosmos.errors import bad_request
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.evaluate import Closures
from embedded_cosmos.sql.parser import KEPT_LENGTH, parse_with_holders
from embedded_cosmos.sql.values import Json


def parse_bound(text: str, parameters: Iterable[Mapping[str, Any]]) -> ast.Query:
    """A query with every parameter replaced by its value; one without a value is refused when it is compiled.

    Raises 400 for what is not a query, or not parameters.
    """
    query, holders, _ = _prepared(text)
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


def closures_of(text: str) -> Closures | None:
    """What earlier queries with this text have compiled; None for a text that is not kept. Raises 400."""
    return _prepared(text).closures


class _Prepared(NamedTuple):
    query: ast.Query
    holders: frozenset[int]
    closures: Closures | None


def _prepared(text: str) -> _Prepared:
    return _prepare(text) if len(text) <= KEPT_LENGTH else _Prepared(*parse_with_holders(text), None)


@lru_cache(maxsize=512)
def _prepare(text: str) -> _Prepared:
    query, holders = parse_with_holders(text)
    return _Prepared(query, holders, Closures(query))
