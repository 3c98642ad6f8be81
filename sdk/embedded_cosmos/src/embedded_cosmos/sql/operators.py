"""What the operators do to values: arithmetic, bits, comparison, concatenation."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from embedded_cosmos.sql.values import UNDEFINED, Json, comparable, equals, is_number, number

Operation = Callable[[Json, Json], Json]

COMPARISONS: dict[str, Callable[[Json, Json], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def to_int32(value: float) -> int:
    """The 32 low bits of a number, signed, as in JavaScript."""
    bits = math.trunc(value) & 0xFFFFFFFF
    return bits - 0x1_0000_0000 if bits & 0x8000_0000 else bits


def _arithmetic(call: Callable[[Json, Json], float]) -> Operation:
    def calculate(left: Json, right: Json) -> Json:
        if not is_number(left) or not is_number(right):
            return UNDEFINED
        try:
            return number(call(left, right))
        except (ZeroDivisionError, ValueError, OverflowError):
            return UNDEFINED

    return calculate


def _comparison(name: str) -> Operation:
    call = COMPARISONS[name]
    of_nulls = name in ("<=", ">=")

    def compare(left: Json, right: Json) -> Json:
        if comparable(left, right):
            return call(left, right)
        return of_nulls if left is None and right is None else UNDEFINED

    return compare


def _equal(left: Json, right: Json) -> Json:
    return UNDEFINED if left is UNDEFINED or right is UNDEFINED else equals(left, right)


def _not_equal(left: Json, right: Json) -> Json:
    return UNDEFINED if left is UNDEFINED or right is UNDEFINED else not equals(left, right)


def _concatenate(left: Json, right: Json) -> Json:
    return left + right if type(left) is str and type(right) is str else UNDEFINED


BINARY: dict[str, Operation] = {
    "+": _arithmetic(operator.add),
    "-": _arithmetic(operator.sub),
    "*": _arithmetic(operator.mul),
    "/": _arithmetic(operator.truediv),
    "%": _arithmetic(math.fmod),
    "&": _arithmetic(lambda left, right: to_int32(left) & to_int32(right)),
    "|": _arithmetic(lambda left, right: to_int32(left) | to_int32(right)),
    "^": _arithmetic(lambda left, right: to_int32(left) ^ to_int32(right)),
    "<<": _arithmetic(lambda left, right: to_int32(to_int32(left) << (to_int32(right) & 31))),
    ">>": _arithmetic(lambda left, right: to_int32(left) >> (to_int32(right) & 31)),
    ">>>": _arithmetic(lambda left, right: (to_int32(left) & 0xFFFFFFFF) >> (to_int32(right) & 31)),
    "||": _concatenate,
    "=": _equal,
    "!=": _not_equal,
    **{name: _comparison(name) for name in COMPARISONS},
}


def _negate(value: Json) -> Json:
    return number(-value) if is_number(value) else UNDEFINED


def _plus(value: Json) -> Json:
    return value if is_number(value) else UNDEFINED


def _invert(value: Json) -> Json:
    return ~to_int32(value) if is_number(value) else UNDEFINED


def logical_not(value: Json) -> Json:
    """NOT of a boolean; of anything else undefined."""
    return not value if value is True or value is False else UNDEFINED


UNARY: dict[str, Callable[[Json], Json]] = {"-": _negate, "+": _plus, "~": _invert, "NOT": logical_not}


def member(target: Json, key: Json) -> Json:
    """`target[key]`: a member of an object, an element of an array, else undefined."""
    if type(target) is dict:
        return target.get(key, UNDEFINED) if type(key) is str else UNDEFINED
    if type(target) is list and is_number(key):
        index = int(key) if key == key // 1 else -1
        return target[index] if 0 <= index < len(target) else UNDEFINED
    return UNDEFINED
