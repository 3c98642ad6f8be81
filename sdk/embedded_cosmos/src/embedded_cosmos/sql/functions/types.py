"""Type tests and conditionals; these take undefined arguments as they are."""

from __future__ import annotations

import math

from embedded_cosmos.sql.functions.registry import Registry
from embedded_cosmos.sql.values import UNDEFINED, Json, is_integer, is_number

FUNCTIONS = Registry()


@FUNCTIONS.add("IS_DEFINED", 1, lenient=True)
def _is_defined(value: Json) -> bool:
    return value is not UNDEFINED


@FUNCTIONS.add("IS_NULL", 1, lenient=True)
def _is_null(value: Json) -> bool:
    return value is None


@FUNCTIONS.add("IS_BOOL", 1, lenient=True)
def _is_bool(value: Json) -> bool:
    return isinstance(value, bool)


@FUNCTIONS.add("IS_NUMBER", 1, lenient=True)
def _is_number(value: Json) -> bool:
    return is_number(value)


@FUNCTIONS.add("IS_FINITE_NUMBER", 1, lenient=True)
def _is_finite_number(value: Json) -> bool:
    return is_number(value) and math.isfinite(value)


@FUNCTIONS.add("IS_INTEGER", 1, lenient=True)
def _is_integer(value: Json) -> bool:
    return is_integer(value) and -(2**63) <= value < 2**63


@FUNCTIONS.add("IS_STRING", 1, lenient=True)
def _is_string(value: Json) -> bool:
    return isinstance(value, str)


@FUNCTIONS.add("IS_ARRAY", 1, lenient=True)
def _is_array(value: Json) -> bool:
    return isinstance(value, list)


@FUNCTIONS.add("IS_OBJECT", 1, lenient=True)
def _is_object(value: Json) -> bool:
    return isinstance(value, dict)


@FUNCTIONS.add("IS_PRIMITIVE", 1, lenient=True)
def _is_primitive(value: Json) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


@FUNCTIONS.add("IIF", 3, lenient=True)
def _iif(condition: Json, consequent: Json, alternative: Json) -> Json:
    return consequent if condition is True else alternative
