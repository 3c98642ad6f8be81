"""Runs a query over shards: indexes filter, sort and rank; the plain pipeline does the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

import numpy as np

from embedded_cosmos.errors import TakesLong
from embedded_cosmos.properties import ContainerProperties, JsonObject
from embedded_cosmos.query import lint
from embedded_cosmos.query.columns import Slots
from embedded_cosmos.query.computed import with_computed_properties
from embedded_cosmos.query.filters import Filter, conjuncts
from embedded_cosmos.query.index import Shard
from embedded_cosmos.query.ordering import ordered
from embedded_cosmos.query.ranking import Ranking, merit, rank, ranking_of, scores_shown, shown
from embedded_cosmos.query.search import SearchFunctions
from embedded_cosmos.query.selection import Part, Selection, Test
from embedded_cosmos.query.vectors import Scores
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.aggregates import aggregates_of, is_aggregate
from embedded_cosmos.sql.evaluate import Closures, Environment
from embedded_cosmos.sql.parser import parse_condition
from embedded_cosmos.sql.rows import Pipeline, item_alias, root_compiler, window
from embedded_cosmos.sql.values import Json


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a query looks: a half-open range of effective partition keys."""

    epk_min: str
    epk_max: str
    partition_key: tuple[Json, ...] | None
    is_cross_partition: bool


def execute(
    statement: ast.Query,
    shards: Sequence[Shard],
    scope: Scope,
    properties: ContainerProperties,
    *,
    at_most: int | None = None,
    closures: Closures | None = None,
) -> list[Json]:
    """The final rows of a query whose parameters are filled in, in order; raises 400 with the reason.

    `closures` are what earlier queries with the same text have compiled.
    The rows share structure with the stored documents and must not be changed. If a bound is given, a query that ranks,
    or looks at more documents, raises TakesLong.
    """
    query = with_computed_properties(statement, properties)
    lint.check_scope(query, scope.is_cross_partition)
    if not query.sources:
        intrinsics = SearchFunctions(properties, alias="").intrinsics
        return list(Pipeline(query, root_compiler(intrinsics, closures)).run(()))
    rows = list(_Execution(query, shards, scope, properties, closures).rows(at_most))
    if not rows and scope.is_cross_partition and is_aggregate(query):
        # Azure's clients return this if no partition has a value.
        return [None]
    return rows


def compile_condition(text: str) -> Callable[[JsonObject], bool]:
    """The condition of a patch, `FROM c WHERE …`, as a test of one document."""
    query = parse_condition(text)
    alias, bound = item_alias(query)
    pipeline = Pipeline(query, root_compiler({}).bind(alias), bound)
    return lambda document: any(True for _ in pipeline.filter(pipeline.expand((document,))))


class _Execution:
    def __init__(
        self,
        query: ast.Query,
        shards: Sequence[Shard],
        scope: Scope,
        properties: ContainerProperties,
        closures: Closures | None,
    ) -> None:
        alias, self._bound = item_alias(query)
        self._query = query
        self._functions = SearchFunctions(properties, alias)
        self._compiler = root_compiler(self._functions.intrinsics, closures).bind(alias)
        lint.check_score_order(query)
        lint.check_score_limit(query)
        self._ranking = ranking_of(query, self._functions)
        self._sort_keys = () if self._ranking else lint.sort_keys_of(query, alias, properties)
        self._shards = shards
        self._scope = scope
        self._of_items, of_rows = self._split(query.where)
        self._rest = replace(query, where=_all_of(of_rows), order_by=() if self._ranking else query.order_by)
        in_bulk = not self._sort_keys and not query.group_by and not aggregates_of(query)
        self._shown = scores_shown(query, self._ranking, self._functions) if in_bulk else ()
        self._whole = self._reads_vectors()
        self._tests: dict[tuple[int, ...], Test] = {}
        if not shards:
            # An invalid query is refused even if there are no documents.
            self._test(self._of_items)

    def rows(self, at_most: int | None) -> Iterator[Json]:
        selection = Selection(tuple(self._part(shard) for shard in self._shards))
        if at_most is not None and (self._ranking is not None or len(selection) > at_most):
            raise TakesLong
        if self._ranking is not None:
            return self._ranked(self._ranking, selection.settled())
        if self._shown:
            selection = selection.settled()
            in_order = np.argsort(selection.rids(), kind="stable")
            scores = [merit(each, selection, self._shards, in_order) for each in self._shown]
            return self._with_scores(selection, in_order, scores)
        pipeline = Pipeline(self._rest, self._compiler, self._bound)
        joins = len(self._query.sources) > self._bound
        if pipeline.only_counts and not joins:
            return pipeline.counted(len(selection.settled()))
        if self._sort_keys and not pipeline.aggregates:
            limit = None if joins or self._query.select.distinct else window(self._query)[1]
            return self._sorted(pipeline, selection, limit)
        return pipeline.select(_rows(pipeline, selection.documents(self._whole)))

    def _reads_vectors(self) -> bool:
        """Whether anything but the tests of items needs documents with their vectors."""
        rest = self._rest
        if rest.select.kind == "star" and self._bound:
            return True
        columns = (item.expression for item in rest.select.items if self._functions.may_read_vectors(item))
        parts = (*columns, *rest.sources[self._bound :], rest.where, *rest.group_by, *rest.order_by)
        known = tuple(component.call for component in self._shown)
        return any(part is not None and self._functions.reads_vectors(part, known) for part in parts)

    def _split(self, where: ast.Expression | None) -> tuple[tuple[ast.Expression, ...], tuple[ast.Expression, ...]]:
        """The conditions on the item alone, and those that need the inputs of JOIN."""
        joined = {source.alias for source in self._query.sources[self._bound :]}
        if not joined:
            return conjuncts(where), ()
        of_items: list[ast.Expression] = []
        of_rows: list[ast.Expression] = []
        for condition in conjuncts(where):
            names = {node.name for node in ast.walk(condition) if isinstance(node, ast.Identifier)}
            (of_rows if names & joined else of_items).append(condition)
        return tuple(of_items), tuple(of_rows)

    def _part(self, shard: Shard) -> Part:
        within = shard.within(self._scope.epk_min, self._scope.epk_max)
        slots, uncovered = Filter(shard, self._functions).select(self._of_items, within)
        return Part(shard, shard.in_order(slots), self._test(tuple(uncovered)))

    def _test(self, conditions: tuple[ast.Expression, ...]) -> Test | None:
        """The conditions that have no mask in some shard, compiled once."""
        condition = _all_of(conditions)
        if condition is None:
            return None
        key = tuple(map(id, conditions))
        test = self._tests.get(key)
        if test is None:
            evaluator = self._compiler.compile(condition)
            whole = self._functions.reads_vectors(condition)
            test = self._tests[key] = Test(lambda document: evaluator((document,)) is True, whole)
        return test

    def _sorted(self, pipeline: Pipeline, selection: Selection, limit: int | None) -> Iterator[Json]:
        parts = [ordered(part, self._sort_keys, limit) for part in selection.parts]
        if len(parts) == 1 and parts[0] is not None:
            return pipeline.select(_rows(pipeline, parts[0].documents(self._whole)))
        # Sorted per shard and cut to the limit, merged as rows.
        narrowed = Selection(tuple(new or old for new, old in zip(parts, selection.parts, strict=True)))
        return pipeline.select(pipeline.order(_rows(pipeline, narrowed.documents(self._whole))))

    def _ranked(self, ranking: Ranking, selection: Selection) -> Iterator[Json]:
        stop = None if self._query.select.distinct else window(self._query)[1]
        merits = [merit(component, selection, self._shards) for component in ranking.components]
        limit = len(selection) if stop is None else stop
        best = rank(ranking, merits, selection.rids(), limit)
        known = dict(zip(map(id, ranking.components), merits, strict=True))
        scores = [
            known[id(each)][best] if id(each) in known else merit(each, selection, self._shards, best)
            for each in self._shown
        ]
        return self._with_scores(selection, best, scores)

    def _with_scores(self, selection: Selection, positions: Slots, scores: Iterable[Scores]) -> Iterator[Json]:
        """The results of documents of a settled selection, with the scores that SELECT shows."""
        documents = selection.pick(positions, self._whole)
        columns = [shown(component, merits) for component, merits in zip(self._shown, scores, strict=True)]
        values = zip(*columns, strict=True) if columns else repeat(())
        compiler = self._compiler.knowing(tuple(component.call for component in self._shown))
        pipeline = Pipeline(self._rest, compiler, self._bound)
        rows = (row for pair in zip(documents, values, strict=False) for row in pipeline.expand(pair))
        return pipeline.select(pipeline.filter(rows))


def _rows(pipeline: Pipeline, documents: Iterator[JsonObject]) -> Iterable[Environment]:
    return pipeline.filter(row for document in documents for row in pipeline.expand((document,)))


def _all_of(conditions: tuple[ast.Expression, ...]) -> ast.Expression | None:
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return ast.Logical("AND", conditions)
