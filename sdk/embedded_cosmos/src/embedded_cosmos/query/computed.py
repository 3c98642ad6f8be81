"""Computed properties: expressions over an item that queries may use like its own properties.

They are not part of the item: `SELECT *` does not show them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from embedded_cosmos.errors import CosmosError, bad_request
from embedded_cosmos.properties import ContainerProperties
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.evaluate import path_of
from embedded_cosmos.sql.parser import implied_name, parse
from embedded_cosmos.sql.rows import item_alias

MAX_COMPUTED_PROPERTIES = 20


def check_computed_properties(definitions: Mapping[str, str]) -> None:
    """Raise 400 if a container cannot have these computed properties."""
    if len(definitions) > MAX_COMPUTED_PROPERTIES:
        raise bad_request(f"A container has at most {MAX_COMPUTED_PROPERTIES} computed properties.")
    for name, text in definitions.items():
        try:
            _definition(text)
        except CosmosError as error:
            raise bad_request(f"The computed property '{name}' is invalid: {error.message}") from None


def with_computed_properties(query: ast.Query, properties: ContainerProperties) -> ast.Query:
    """The query with the properties replaced by their expressions."""
    if not properties.computed_properties or not query.sources:
        return query
    alias = item_alias(query)[0]
    definitions = {name: _definition(text) for name, text in properties.computed_properties.items()}

    def replace(node: Any) -> Any:
        if isinstance(node, ast.SelectItem):
            # The column keeps the name of the replaced property.
            expression = ast.transform(node.expression, replace)
            name = node.alias if node.alias is not None else implied_name(node.expression)
            return node if expression is node.expression else ast.SelectItem(expression, name)
        if isinstance(node, ast.OrderItem) and ast.transform(node.expression, replace) is not node.expression:
            raise bad_request("ORDER BY takes stored properties only; computed ones are not covered.")
        place = path_of(node) if isinstance(node, ast.Member) else None
        if place is None or place[0] != alias or len(place[1]) != 1 or place[1][0] not in definitions:
            return node
        return _over(alias, *definitions[str(place[1][0])])

    expanded: ast.Query = ast.transform(query, replace)
    return expanded


def _definition(text: str) -> tuple[str, ast.Expression]:
    """The alias and the expression of `SELECT VALUE expression FROM alias`."""
    query = parse(text)
    (only, *more) = query.sources or (None,)
    is_plain = only is not None and not more and isinstance(only.origin, ast.Identifier) and not only.iterate
    is_bare = query.where is None and not query.group_by and not query.order_by and query.limit is None
    if only is None or not is_plain or not is_bare or query.select.kind != "value" or query.select.top is not None:
        raise bad_request("it must be of the form SELECT VALUE expression FROM c.")
    return only.alias, query.select.items[0].expression


def _over(alias: str, own_alias: str, expression: ast.Expression) -> ast.Expression:
    """The expression over an item that a query calls by another name."""

    def rename(node: Any) -> Any:
        return ast.Identifier(alias) if isinstance(node, ast.Identifier) and node.name == own_alias else node

    renamed: ast.Expression = ast.transform(expression, rename)
    return renamed
