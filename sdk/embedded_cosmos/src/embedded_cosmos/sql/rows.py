"""Queries over rows: FROM and JOIN, WHERE, ORDER BY, GROUP BY, SELECT, DISTINCT, TOP and OFFSET LIMIT.

This is the general way to run a query. It is used for subqueries and for everything that the indexes cannot answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice, takewhile

from embedded_cosmos.errors import bad_request
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.aggregates import Accumulator, accumulator, aggregates_of, check_grouping
from embedded_cosmos.sql.evaluate import Closures, Compiler, Environment, Evaluator, Intrinsic, object_of
from embedded_cosmos.sql.parser import implied_name
from embedded_cosmos.sql.values import UNDEFINED, Json, is_integer, sort_key

_Expansion = Callable[[Environment], Iterator[Environment]]


class Pipeline:
    """A compiled query.

    Its inputs may refer only to names in the scope of the outer compiler. The first `bound` inputs are there already.
    """

    def __init__(self, query: ast.Query, outer: Compiler, bound: int = 0) -> None:
        scope = outer
        self._expansions: list[_Expansion] = []
        _check_aliases(query)
        for source in query.sources[bound:]:
            self._expansions.append(_expansion(source, scope))
            scope = scope.bind(source.alias)
        self.where = scope.compile(query.where) if query.where is not None else None
        self._keys = [(scope.compile(item.expression), item.direction == "DESC") for item in query.order_by]
        self._distinct = query.select.distinct
        self._window = window(query)
        aggregates = aggregates_of(query)
        self.aggregates = bool(aggregates or query.group_by)
        self.only_counts = bool(aggregates) and not query.group_by and all(map(_counts_rows, aggregates))
        self._aggregates = aggregates
        self._empty: Environment = (UNDEFINED,) * scope.width
        self._grouping = None
        if self.aggregates:
            check_grouping(query)
            self._grouping = _Grouping(query, aggregates, scope)
            scope = scope.knowing(aggregates)
        self._project = _projection(query, scope)

    def run(self, environment: Environment) -> Iterator[Json]:
        """The results of the query for one binding of what surrounds it."""
        return self.select(self.order(self.filter(self.expand(environment))))

    def expand(self, environment: Environment) -> Iterator[Environment]:
        """One row for every combination of the inputs of FROM and JOIN."""
        rows: Iterator[Environment] = iter((environment,))
        for expansion in self._expansions:
            rows = _flat(expansion, rows)
        return rows

    def filter(self, rows: Iterable[Environment]) -> Iterable[Environment]:
        """The rows for which WHERE is true."""
        where = self.where
        return rows if where is None else (row for row in rows if where(row) is True)

    def order(self, rows: Iterable[Environment]) -> Iterable[Environment]:
        """The rows in the order of ORDER BY; ties keep their order, reversed when the first key descends."""
        if not self._keys:
            return rows
        ordered = list(rows)
        if self._keys[0][1]:
            ordered.reverse()
        for evaluator, descending in reversed(self._keys):
            decorated = [sort_key(evaluator(row)) for row in ordered]
            positions = sorted(range(len(ordered)), key=decorated.__getitem__, reverse=descending)
            ordered = [ordered[position] for position in positions]
        return ordered

    def select(self, rows: Iterable[Environment]) -> Iterator[Json]:
        """The results of rows that are filtered and ordered."""
        if self._grouping is not None:
            rows = self._grouping.groups(rows)
        return self._results(rows)

    def counted(self, rows: int) -> Iterator[Json]:
        """The results of a query that `only_counts`, from the number of rows alone."""
        return self._results(iter(((*self._empty, (rows,) * len(self._aggregates)),)))

    def _results(self, rows: Iterable[Environment]) -> Iterator[Json]:
        results: Iterator[Json] = (value for row in rows if (value := self._project(row)) is not UNDEFINED)
        if self._distinct:
            results = _distinct(results)
        start, stop = self._window
        return islice(results, start, stop)


def root_compiler(intrinsics: Mapping[str, Intrinsic], closures: Closures | None = None) -> Compiler:
    """The empty scope of a top-level query."""
    return Compiler(_compile_subquery, intrinsics, closures=closures)


def window(query: ast.Query) -> tuple[int, int | None]:
    """The slice of the results that TOP and OFFSET LIMIT leave."""
    if query.select.top is not None and query.limit is not None:
        raise bad_request("TOP cannot be used together with OFFSET LIMIT.")
    if query.select.top is not None:
        return 0, _count(query.select.top, "TOP")
    if query.offset is None or query.limit is None:
        return 0, None
    start = _count(query.offset, "OFFSET")
    return start, start + _count(query.limit, "LIMIT")


def _count(expression: ast.Expression, clause: str) -> int:
    value = expression.value if isinstance(expression, ast.Literal) else UNDEFINED
    if not is_integer(value) or not 0 <= value < 2**31:
        raise bad_request(f"{clause} must be a non-negative integer, not {value!r}.")
    return int(value)


def _check_aliases(query: ast.Query) -> None:
    aliases = [source.alias for source in query.sources]
    for alias in aliases:
        if aliases.count(alias) > 1:
            raise bad_request(f"The input alias '{alias}' is specified more than once in the FROM clause.")


def _compile_subquery(compiler: Compiler, node: ast.Subquery) -> Evaluator:
    pipeline = Pipeline(node.query, compiler)
    if node.kind == "exists":
        return lambda environment: any(True for _ in pipeline.run(environment))
    if node.kind == "array":
        return lambda environment: list(pipeline.run(environment))

    def scalar(environment: Environment) -> Json:
        rows = list(pipeline.run(environment))
        if len(rows) > 1:
            raise bad_request("The cardinality of a scalar subquery result set cannot be greater than 1.")
        return rows[0] if rows else UNDEFINED

    return scalar


def _expansion(source: ast.Source, scope: Compiler) -> _Expansion:
    if isinstance(source.origin, ast.Query):
        pipeline = Pipeline(source.origin, scope)
        if source.iterate:
            return lambda row: ((*row, item) for value in pipeline.run(row) for item in _elements(value))
        return lambda row: ((*row, value) for value in pipeline.run(row))
    origin = scope.compile(source.origin)
    if source.iterate:
        return lambda row: ((*row, item) for item in _elements(origin(row)))
    return lambda row: iter(() if (value := origin(row)) is UNDEFINED else ((*row, value),))


def _elements(value: Json) -> Iterable[Json]:
    return value if type(value) is list else ()


def _flat(expansion: _Expansion, rows: Iterable[Environment]) -> Iterator[Environment]:
    return (expanded for row in rows for expanded in expansion(row))


def _distinct(results: Iterable[Json]) -> Iterator[Json]:
    seen: set[tuple[Json, ...]] = set()
    for result in results:
        key = sort_key(result)
        if key not in seen:
            seen.add(key)
            yield result


def _projection(query: ast.Query, scope: Compiler) -> Evaluator:
    select = query.select
    if select.kind == "star":
        if len(query.sources) != 1:
            raise bad_request("'SELECT *' is only valid with a single input set.")
        slot = scope.resolve(query.sources[0].alias)
        return lambda row: row[slot]
    if select.kind == "value":
        return scope.compile(select.items[0].expression)
    names = column_names(select)
    expressions = [item.expression for item in select.items]
    properties = list(takewhile(lambda place: place is not None, map(ast.property_of, expressions)))
    aliases = {place[0] for place in properties if place is not None}
    count = len(properties) if len(aliases) == 1 else 0
    rest = tuple(zip(names[count:], map(scope.compile, expressions[count:]), strict=True))
    if not count:
        return object_of(rest)
    keys = (place[1] for place in properties if place is not None)
    return _object_of_properties(
        scope.resolve(aliases.pop()), tuple(zip(names, keys, strict=False)), object_of(rest) if rest else None
    )


def _object_of_properties(slot: int, properties: tuple[tuple[str, str], ...], rest: Evaluator | None) -> Evaluator:
    """The closure of a list of columns that begins with properties of one document, which takes them at one go."""

    def create(row: Environment) -> Json:
        document = row[slot]
        if type(document) is not dict:
            document = {}
        found = {name: document[key] for name, key in properties if key in document}
        return found if rest is None else found | rest(row)

    return create


def column_names(select: ast.Select) -> list[str]:
    """The names of the columns of a SELECT list; those without one are `$1`, `$2` and so on."""
    names: list[str] = []
    unnamed = 0
    for item in select.items:
        name = item.alias if item.alias is not None else implied_name(item.expression)
        if name is None:
            unnamed += 1
            name = f"${unnamed}"
        if name in names:
            raise bad_request(f"The column '{name}' is selected twice; give one of them another name with AS.")
        names.append(name)
    return names


def item_alias(query: ast.Query) -> tuple[str, int]:
    """The query's alias for the item, and how many inputs of FROM that covers.

    `FROM c` is the item itself; `FROM x IN c.list` and `FROM c.part` are inputs made from the item `c`.
    """
    source = query.sources[0]
    origin = source.origin
    if isinstance(origin, ast.Identifier) and not source.iterate:
        return source.alias, 1
    while isinstance(origin, ast.Member):
        origin = origin.target
    if not isinstance(origin, ast.Identifier):
        raise bad_request("A subquery as the first input of FROM is not supported: begin with the container.")
    return origin.name, 0


def _counts_rows(call: ast.Call) -> bool:
    argument = call.arguments[0]
    return call.name == "COUNT" and isinstance(argument, ast.Literal) and argument.value is not UNDEFINED


class _Grouping:
    """GROUP BY, or the one group of a query that only aggregates."""

    def __init__(self, query: ast.Query, aggregates: tuple[ast.Call, ...], scope: Compiler) -> None:
        self._keys = [scope.compile(expression) for expression in query.group_by]
        self._arguments = [scope.compile(call.arguments[0]) for call in aggregates]
        self._names = [call.name for call in aggregates]
        self._empty: Environment = (UNDEFINED,) * scope.width

    def groups(self, rows: Iterable[Environment]) -> Iterator[Environment]:
        """For every group its first row, extended by the values of the aggregates."""
        groups: dict[tuple[Json, ...], tuple[Environment, list[Accumulator]]] = {}
        if not self._keys:
            groups[()] = (self._empty, self._accumulators())
        for row in rows:
            key = tuple(sort_key(evaluator(row)) for evaluator in self._keys)
            group = groups.get(key)
            if group is None:
                group = groups[key] = (row, self._accumulators())
            for collect, argument in zip(group[1], self._arguments, strict=True):
                collect.add(argument(row))
        for first, accumulators in groups.values():
            yield (*first, tuple(collect.result() for collect in accumulators))

    def _accumulators(self) -> list[Accumulator]:
        return [accumulator(name) for name in self._names]
