"""The built-in functions, by name."""

from __future__ import annotations

from embedded_cosmos.errors import bad_request
from embedded_cosmos.sql.functions import arrays, conversions, dates, numbers, strings, types
from embedded_cosmos.sql.functions.registry import Function

_FUNCTIONS: dict[str, Function] = {
    **types.FUNCTIONS,
    **numbers.FUNCTIONS,
    **strings.FUNCTIONS,
    **conversions.FUNCTIONS,
    **arrays.FUNCTIONS,
    **dates.FUNCTIONS,
}


def lookup(name: str, arity: int) -> Function:
    """The function of this upper-case name; raises 400 when there is none or it takes other arguments."""
    function = _FUNCTIONS.get(name)
    if function is None:
        what = "Spatial functions are not supported" if name.startswith("ST_") else "It is not a built-in function here"
        raise bad_request(f"'{name}' is not a recognized built-in function name. {what}.")
    function.check_arity(arity)
    return function


def names() -> frozenset[str]:
    """The names of all functions, in upper case."""
    return frozenset(_FUNCTIONS)
