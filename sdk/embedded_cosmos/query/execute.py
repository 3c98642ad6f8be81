"""Run a query over shards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from embedded_cosmos.properties import ContainerProperties, JsonObject
from embedded_cosmos.query.binding import bind
from embedded_cosmos.query.index import Shard
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.parser import parse, parse_condition
from embedded_cosmos.sql.rows import Pipeline, root_compiler
from embedded_cosmos.sql.values import Json


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a query looks: a half-open range of effective partition keys."""

    epk_min: str
    epk_max: str
    partition_key: tuple[Json, ...] | None
    is_cross_partition: bool


def execute(
    text: str,
    parameters: Iterable[dict[str, Any]],
    shards: Sequence[Shard],
    scope: Scope,
    properties: ContainerProperties,
) -> list[Json]:
    """The final rows of the query, in order; raises 400 with the reason."""
    query = bind(parse(text), parameters)
    if not query.sources:
        return list(Pipeline(query, root_compiler({})).run(()))
    compiler = root_compiler({}).bind(query.sources[0].alias)
    pipeline = Pipeline(query, compiler, bound=1)
    documents = (document for shard in shards for document in shard.documents(scope.epk_min, scope.epk_max))
    rows = (row for document in documents for row in pipeline.expand((document,)))
    return list(pipeline.select(pipeline.order(pipeline.filter(rows))))


def compile_condition(text: str) -> Callable[[JsonObject], bool]:
    """The condition of a patch, `FROM c WHERE …`, as a test of one document."""
    query: ast.Query = parse_condition(text)
    pipeline = Pipeline(query, root_compiler({}).bind(query.sources[0].alias), bound=1)
    return lambda document: any(True for _ in pipeline.filter(pipeline.expand((document,))))
