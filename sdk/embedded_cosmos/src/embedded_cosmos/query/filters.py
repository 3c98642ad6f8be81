"""WHERE over columns: the conditions that arrays answer exactly, as masks over the slots of a shard.

A condition of SQL is true, false or undefined. A mask says where it is true, or where it is false; NOT exchanges the
two. A condition with any part that the columns do not cover exactly has no mask, and is evaluated document by
document on what the other conditions leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from embedded_cosmos.query.columns import NO_CODE, Column, Kind, Mask, Slots, kind_of
from embedded_cosmos.query.index import Keys, Shard
from embedded_cosmos.query.search import FULL_TEXT_PREDICATES, SearchFunctions
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.evaluate import path_of
from embedded_cosmos.sql.values import EXACT_INTEGER, UNDEFINED, Json, is_number

_PICKING_COST = 8
"""The cost of reading one item by its slot, in items of a full column scan."""
_FEW_VALUES = 8
"""Up to this many values, comparing one by one is faster than starting numpy's `isin`."""
_T = TypeVar("_T", bound=np.generic)
_MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_COMPARISONS: dict[str, Callable[..., Mask]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_KIND_TESTS: dict[str, tuple[Kind, Kind]] = {
    "IS_DEFINED": (Kind.NULL, Kind.OBJECT),
    "IS_NULL": (Kind.NULL, Kind.NULL),
    "IS_BOOL": (Kind.FALSE, Kind.TRUE),
    "IS_NUMBER": (Kind.NUMBER, Kind.NUMBER),
    "IS_STRING": (Kind.STRING, Kind.STRING),
    "IS_ARRAY": (Kind.ARRAY, Kind.ARRAY),
    "IS_OBJECT": (Kind.OBJECT, Kind.OBJECT),
    "IS_PRIMITIVE": (Kind.NULL, Kind.STRING),
}


def conjuncts(condition: ast.Expression | None) -> tuple[ast.Expression, ...]:
    """The conditions that must all be true."""
    if condition is None:
        return ()
    if isinstance(condition, ast.Logical) and condition.operator == "AND":
        return tuple(part for operand in condition.operands for part in conjuncts(operand))
    return (condition,)


@dataclass(frozen=True, slots=True)
class Filter:
    """Masks for conditions on the items of one shard, or on those in some of its slots."""

    shard: Shard
    functions: SearchFunctions
    slots: Slots | None = None

    def select(
        self, conditions: Iterable[ast.Expression], among: Mask, truth: bool = True
    ) -> tuple[Slots, list[ast.Expression]]:
        """The slots of the items among some where all conditions are true (or false), and the conditions without masks.

        As soon as few are left, only those are looked at.
        """
        filters, chosen, uncovered = self, among, []
        for condition in conditions:
            if np.count_nonzero(chosen) * _PICKING_COST < len(chosen):
                filters = Filter(self.shard, self.functions, filters._slots(chosen))
                chosen = np.ones(np.count_nonzero(chosen), np.bool_)
            mask = filters.mask(condition, truth)
            if mask is None:
                uncovered.append(condition)
            else:
                chosen = chosen & mask
        return filters._slots(chosen), uncovered

    def mask(self, condition: ast.Expression, truth: bool = True) -> Mask | None:
        """A mask of where the condition is true (or false); None if the columns cannot decide it."""
        match condition:
            case ast.Literal(value):
                return np.full(self._count, value is truth)
            case ast.Member():
                return self._boolean(condition, truth)
            case ast.Unary("NOT", operand):
                return self.mask(operand, not truth)
            case ast.Logical(operator, operands):
                return (self._all if (operator == "AND") == truth else self._any)(operands, truth)
            case ast.Binary(operator, left, right) if operator in _MIRRORED:
                if isinstance(left, ast.Literal):
                    return self._comparison(_MIRRORED[operator], right, left, truth)
                return self._comparison(operator, left, right, truth)
            case ast.Between(operand, low, high):
                bounds = (ast.Binary(">=", operand, low), ast.Binary("<=", operand, high))
                return (self._all if truth else self._any)(bounds, truth)
            case ast.In(operand, items):
                return self._membership(operand, _literals(items), truth)
            case ast.Call(name, (ast.Literal(list() as values), operand)) if name == "ARRAY_CONTAINS":
                return self._membership(operand, values, truth)
            case ast.Call(name, (operand, ast.Literal(str() as text))) if name == "ARRAY_CONTAINS":
                return self._element(operand, text, truth)
            case ast.Call(name, (operand,)) if name in _KIND_TESTS:
                return self._kind_test(operand, _KIND_TESTS[name], truth)
            case ast.Call(name) if name in FULL_TEXT_PREDICATES:
                return self._full_text(condition, truth)
        return None

    @property
    def _count(self) -> int:
        return self.shard.size if self.slots is None else len(self.slots)

    def _slots(self, mask: Mask) -> Slots:
        return np.flatnonzero(mask) if self.slots is None else self.slots[mask]

    def _all(self, parts: Iterable[ast.Expression], truth: bool) -> Mask | None:
        slots, uncovered = self.select(parts, np.ones(self._count, np.bool_), truth)
        if uncovered:
            return None
        mask = np.zeros(self.shard.size, np.bool_)
        mask[slots] = True
        return self._here(mask)

    def _any(self, parts: Iterable[ast.Expression], truth: bool) -> Mask | None:
        found = np.zeros(self._count, np.bool_)
        for part in parts:
            mask = self.mask(part, truth)
            if mask is None:
                return None
            found |= mask
        return found

    def _keys(self, operand: ast.Expression) -> Keys | None:
        place = path_of(operand)
        return place[1] if place is not None and place[0] == self.functions.alias and place[1] else None

    def _column(self, operand: ast.Expression) -> Column | None:
        keys = self._keys(operand)
        return None if keys is None else self.shard.column(keys)

    def _here(self, of_slots: NDArray[_T]) -> NDArray[_T]:
        """The values of an array over all slots, for these items."""
        return of_slots[: self.shard.size] if self.slots is None else of_slots[self.slots]

    def _kinds(self, column: Column) -> NDArray[np.uint8]:
        return self._here(column.kinds)

    def _boolean(self, operand: ast.Expression, truth: bool) -> Mask | None:
        column = self._column(operand)
        return None if column is None else self._kinds(column) == (Kind.TRUE if truth else Kind.FALSE)

    def _kind_test(self, operand: ast.Expression, kinds: tuple[Kind, Kind], truth: bool) -> Mask | None:
        column = self._column(operand)
        if column is None:
            return None
        found = self._kinds(column)
        mask = (found >= kinds[0]) & (found <= kinds[1])
        return mask if truth else ~mask

    def _comparison(self, operator: str, operand: ast.Expression, constant: ast.Expression, truth: bool) -> Mask | None:
        if not isinstance(constant, ast.Literal):
            return None
        if isinstance(operand, ast.Call) and operand.name == "VECTORDISTANCE":
            return self._distance(operator, operand, constant.value, truth)
        column = self._column(operand)
        if column is None or not _exact(column, constant.value):
            return None
        if operator in ("=", "!="):
            equal = self._equal(column, constant.value)
            return equal if (operator == "=") == truth else (self._kinds(column) != Kind.UNDEFINED) & ~equal
        kind = kind_of(constant.value)
        if kind not in (Kind.NUMBER, Kind.STRING):
            return None
        same_kind: Mask = self._kinds(column) == kind
        holds = self._ordered(column, operator, constant.value)
        return same_kind & holds if truth else same_kind & ~holds

    def _equal(self, column: Column, value: Json) -> Mask:
        kind = kind_of(value)
        mask = np.equal(self._kinds(column), kind)
        if kind == Kind.NUMBER:
            mask &= self._here(column.values) == value
        elif kind == Kind.STRING:
            mask &= self._here(column.values) == column.code(value)
        return mask

    def _ordered(self, column: Column, operator: str, value: Json) -> Mask:
        if type(value) is str:
            # Strings before the bound have a lower rank than it would have among them.
            bound = column.below(value, inclusive=operator in ("<=", ">"))
            ranks = self._here(column.ranks(self.shard.size))
            return ranks < bound if operator in ("<", "<=") else ranks >= bound
        return _COMPARISONS[operator](self._here(column.values), value)

    def _distance(self, operator: str, call: ast.Call, bound: Json, truth: bool) -> Mask | None:
        score = self.functions.vector_score(call)
        if score is None or not score.indexed or operator not in _COMPARISONS or not is_number(bound):
            return None
        slots = np.arange(self.shard.size) if self.slots is None else self.slots
        scores = self.shard.vectors(score.keys).scores(slots, score.query, score.function)
        holds = _COMPARISONS[operator](scores, bound)
        return holds if truth else ~np.isnan(scores) & ~holds

    def _membership(self, operand: ast.Expression, values: list[Json] | None, truth: bool) -> Mask | None:
        column = self._column(operand)
        if column is None or values is None or not all(_exact(column, value) for value in values):
            return None
        kinds, stored = self._kinds(column), self._here(column.values)
        found = _any_of(kinds, [kind_of(value) for value in values if value is None or type(value) is bool])
        numbers = [value for value in values if kind_of(value) == Kind.NUMBER]
        if numbers:
            found |= (kinds == Kind.NUMBER) & _any_of(stored, numbers)
        codes = [code for value in values if type(value) is str and (code := column.code(value)) != NO_CODE]
        if codes:
            found |= (kinds == Kind.STRING) & _any_of(stored, codes)
        return found if truth else (kinds != Kind.UNDEFINED) & ~found

    def _element(self, operand: ast.Expression, text: str, truth: bool) -> Mask | None:
        keys = self._keys(operand)
        if keys is None or self.shard.is_vector(keys):
            return None
        found = self._here(self.shard.elements(keys).having(text, self.shard.size))
        return found if truth else (self._kinds(self.shard.column(keys)) == Kind.ARRAY) & ~found

    def _full_text(self, call: ast.Call, truth: bool) -> Mask:
        predicate = self.functions.text_predicate(call)
        size, read = self.shard.size, self.shard.reader(predicate.keys)
        index = self.shard.texts(predicate.keys, predicate.analyzer)
        masks = [index.containing(phrase, size, read) for phrase in predicate.phrases]
        found = reduce(np.logical_or if predicate.any_of else np.logical_and, masks)
        return self._here(found if truth else np.logical_and(index.with_text(size), ~found))


def _any_of(array: NDArray[Any], values: list[Any]) -> Mask:
    if len(values) > _FEW_VALUES:
        wanted = np.sort(np.array(values, np.float64))  # `np.isin` would load `numpy.ma`, which takes a while
        places = np.minimum(np.searchsorted(wanted, array), len(wanted) - 1)
        among: Mask = wanted[places] == array
        return among
    found = np.zeros(len(array), np.bool_)
    for value in values:
        found |= array == value
    return found


def _literals(items: tuple[ast.Expression, ...]) -> list[Json] | None:
    values = [item.value for item in items if isinstance(item, ast.Literal)]
    return values if len(values) == len(items) else None


def _exact(column: Column, value: Json) -> bool:
    """Whether comparing the column with the value over doubles gives what comparing JSON values gives."""
    kind = kind_of(value)
    if kind == Kind.NUMBER:
        return column.exact and abs(value) <= EXACT_INTEGER
    return kind not in (Kind.ARRAY, Kind.OBJECT) and value is not UNDEFINED
