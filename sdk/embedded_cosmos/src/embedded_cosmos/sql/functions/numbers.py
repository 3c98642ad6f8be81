"""Mathematical functions; a result that is not a finite number is undefined."""

from __future__ import annotations

import math
from collections.abc import Callable

from embedded_cosmos.sql.functions.registry import Implementation, Registry
from embedded_cosmos.sql.values import UNDEFINED, Json, is_integer, is_number, number

FUNCTIONS = Registry()


def numeric(call: Callable[..., float]) -> Implementation:
    """The function of numbers as one of JSON values."""

    def checked(*arguments: Json) -> Json:
        if not all(is_number(argument) for argument in arguments):
            return UNDEFINED
        try:
            return number(call(*arguments))
        except (ValueError, OverflowError, ZeroDivisionError):
            return UNDEFINED

    return checked


def _round_half_away(value: float) -> float:
    return math.copysign(math.floor(abs(value) + 0.5), value) if isinstance(value, float) else value


def _sign(value: float) -> float:
    return (value > 0) - (value < 0)


def _logarithm(value: float, base: float = math.e) -> float:
    return math.log(value) if base == math.e else math.log(value, base)


def _power(base: float, exponent: float) -> float:
    return math.pow(base, exponent)


_OF_ONE: dict[str, Callable[[float], float]] = {
    "ABS": abs,
    "ACOS": math.acos,
    "ASIN": math.asin,
    "ATAN": math.atan,
    "CEILING": math.ceil,
    "COS": math.cos,
    "COT": lambda value: 1 / math.tan(value),
    "DEGREES": math.degrees,
    "EXP": math.exp,
    "FLOOR": math.floor,
    "LOG10": math.log10,
    "RADIANS": math.radians,
    "ROUND": _round_half_away,
    "SIGN": _sign,
    "SIN": math.sin,
    "SQRT": math.sqrt,
    "SQUARE": lambda value: value * value,
    "TAN": math.tan,
    "TRUNC": math.trunc,
}

for _name, _call in _OF_ONE.items():
    FUNCTIONS.add(_name, 1)(numeric(_call))

FUNCTIONS.add("ATN2", 2)(numeric(math.atan2))
FUNCTIONS.add("POWER", 2)(numeric(_power))
FUNCTIONS.add("LOG", 1, 2)(numeric(_logarithm))
FUNCTIONS.add("PI", 0)(numeric(lambda: math.pi))
FUNCTIONS.add("NUMBERBIN", 1, 2)(numeric(lambda value, size=1: math.floor(value / size) * size))


@FUNCTIONS.add("CHOOSE", 2, None, lenient=True)
def _choose(position: Json, *choices: Json) -> Json:
    if not is_integer(position) or not 1 <= position <= len(choices):
        return UNDEFINED
    return choices[int(position) - 1]
