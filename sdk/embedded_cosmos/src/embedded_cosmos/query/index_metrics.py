"""Which indexes Azure would use for a query: an estimate from its text, in the form that clients read."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import orjson

from embedded_cosmos.properties import ContainerProperties, JsonObject
from embedded_cosmos.query.filters import conjuncts
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.evaluate import path_of
from embedded_cosmos.sql.printer import print_expression
from embedded_cosmos.sql.rows import item_alias


def index_utilization(query: ast.Query, has_key: bool, properties: ContainerProperties) -> str:
    """The value of the `x-ms-cosmos-index-utilization` header of a bound query."""
    alias = item_alias(query)[0] if query.sources else ""
    filters = [(path, "") for path in properties.partition_key_paths] if has_key else []
    filters += _filters(query, alias)
    columns = [path for item in query.order_by if (path := _path(item.expression, alias)) is not None]
    if len(columns) == 1:
        filters.append((columns[0], ""))
    metrics = {
        "UtilizedSingleIndexes": [_single(path, filter_text) for path, filter_text in dict.fromkeys(filters)],
        "PotentialSingleIndexes": [],
        "UtilizedCompositeIndexes": [_composite(query, columns)] if len(columns) > 1 else [],
        "PotentialCompositeIndexes": [],
    }
    return base64.b64encode(orjson.dumps(metrics)).decode()


def _filters(query: ast.Query, alias: str) -> Iterator[tuple[str, str]]:
    """The properties that conditions compare with constants, and these conditions."""
    for condition in conjuncts(query.where):
        match condition:
            case ast.Binary("=" | "<" | "<=" | ">" | ">=", operand, ast.Literal()):
                path = _path(operand, alias)
            case ast.In(operand) | ast.Between(operand) | ast.Call("STARTSWITH" | "IS_DEFINED", (operand, *_)):
                path = _path(operand, alias)
            case _:
                continue
        if path is not None:
            yield path, print_expression(condition)


def _path(expression: ast.Expression, alias: str) -> str | None:
    place = path_of(expression)
    if place is None or place[0] != alias:
        return None
    return "".join(f"/{key}" if isinstance(key, str) else "/[]" for key in place[1])


def _single(path: str, filter_text: str) -> JsonObject:
    precise = {"FilterPreciseSet": True, "IndexPreciseSet": True, "IndexImpactScore": "High"}
    return {"FilterExpression": filter_text, "IndexSpec": f"{path}/?", **precise}


def _composite(query: ast.Query, columns: list[str]) -> JsonObject:
    directions = ("DESC" if item.direction == "DESC" else "ASC" for item in query.order_by)
    specs = [f"{path} {direction}" for path, direction in zip(columns, directions, strict=True)]
    return {"IndexSpecs": specs, "IndexPreciseSet": True, "IndexImpactScore": "High"}
