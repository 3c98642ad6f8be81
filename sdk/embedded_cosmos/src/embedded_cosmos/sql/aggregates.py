"""Aggregates over the rows of a group, and the expressions that are allowed next to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from embedded_cosmos.errors import bad_request
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.evaluate import AGGREGATES
from embedded_cosmos.sql.values import UNDEFINED, Json, is_number, number, sort_key


class Accumulator(Protocol):
    """Collects one aggregate over the rows of one group."""

    def add(self, value: Json) -> None:
        """Take the argument's value for one row; undefined ones do not count."""

    def result(self) -> Json:
        """The aggregate of what was added."""


class _Count:
    def __init__(self) -> None:
        self._count = 0

    def add(self, value: Json) -> None:
        self._count += value is not UNDEFINED

    def result(self) -> Json:
        return self._count


class _CountIf(_Count):
    def add(self, value: Json) -> None:
        self._count += value is True


class _Sum:
    """Undefined if any defined value is not a number."""

    def __init__(self) -> None:
        self._sum: Json = 0
        self._count = 0

    def add(self, value: Json) -> None:
        if value is UNDEFINED:
            return
        self._count += 1
        self._sum = self._sum + value if is_number(value) and self._sum is not UNDEFINED else UNDEFINED

    def result(self) -> Json:
        return UNDEFINED if self._sum is UNDEFINED else number(self._sum)


class _Average(_Sum):
    def result(self) -> Json:
        return UNDEFINED if self._sum is UNDEFINED or not self._count else number(self._sum / self._count)


class _Extreme:
    """The least or greatest in the order of types; undefined when an array or object is among the values."""

    def __init__(self, replaces: Callable[[tuple[Json, ...], tuple[Json, ...]], bool]) -> None:
        self._replaces = replaces
        self._key: tuple[Json, ...] | None = None
        self._value: Json = UNDEFINED
        self._comparable = True

    def add(self, value: Json) -> None:
        if value is UNDEFINED:
            return
        self._comparable = self._comparable and type(value) not in (list, dict)
        key = sort_key(value)
        if self._key is None or self._replaces(key, self._key):
            self._key, self._value = key, value

    def result(self) -> Json:
        return self._value if self._comparable else UNDEFINED


_ACCUMULATORS: dict[str, Callable[[], Accumulator]] = {
    "COUNT": _Count,
    "COUNTIF": _CountIf,
    "SUM": _Sum,
    "AVG": _Average,
    "MIN": lambda: _Extreme(tuple.__lt__),
    "MAX": lambda: _Extreme(tuple.__gt__),
}


def accumulator(name: str) -> Accumulator:
    """A fresh collector for the aggregate of this name."""
    return _ACCUMULATORS[name]()


def aggregates_of(query: ast.Query) -> tuple[ast.Call, ...]:
    """The aggregate calls of the SELECT clause, those of its subqueries left out; raises 400 for malformed ones."""
    columns = (item.expression for item in query.select.items if item.may_call(AGGREGATES))
    calls = [call for expression in columns for call in _aggregates_in(expression)]
    for call in calls:
        if len(call.arguments) != 1:
            raise bad_request(f"The {call.name} function requires 1 argument(s), but was given {len(call.arguments)}.")
    return tuple(calls)


def is_aggregate(query: ast.Query) -> bool:
    """Whether the query is `SELECT VALUE` of one aggregate over everything."""
    select = query.select
    if select.kind != "value" or query.group_by:
        return False
    return is_aggregate_call(select.items[0].expression)


def is_aggregate_call(expression: ast.Expression) -> bool:
    """Whether an expression is an aggregate, and not one made of aggregates."""
    return isinstance(expression, ast.Call) and expression.name in AGGREGATES


def check_grouping(query: ast.Query) -> None:
    """Raise 400 when SELECT shows something that differs within a group."""
    if query.group_by and query.select.kind == "star":
        raise bad_request("'SELECT *' cannot be used with GROUP BY; name the grouped expressions.")
    if query.group_by and query.order_by:
        raise bad_request("ORDER BY cannot be used with GROUP BY; sort the groups on the client.")
    for item in query.select.items:
        stray = next(_strays(item.expression, query.group_by), None)
        if stray is not None:
            raise bad_request(
                f"Property reference {stray} is invalid in the select list because it is not contained in either an"
                " aggregate function or the GROUP BY clause."
            )


def _aggregates_in(expression: ast.Expression) -> Iterator[ast.Call]:
    for node in ast.walk(expression, into_subqueries=False):
        if isinstance(node, ast.Call) and node.name in AGGREGATES:
            yield node


def _strays(expression: ast.Expression, grouped: tuple[ast.Expression, ...]) -> Iterator[str]:
    if expression in grouped or (isinstance(expression, ast.Call) and expression.name in AGGREGATES):
        return
    if isinstance(expression, ast.Subquery):
        yield "of a subquery"
    elif isinstance(expression, ast.Identifier | ast.Member):
        yield _shown(expression)
    else:
        for child in ast.children(expression):
            yield from _strays(child, grouped)


def _shown(expression: ast.Expression) -> str:
    if isinstance(expression, ast.Member):
        key = expression.key.value if isinstance(expression.key, ast.Literal) else "…"
        return f"{_shown(expression.target)}[{key!r}]"
    return expression.name if isinstance(expression, ast.Identifier) else "…"
