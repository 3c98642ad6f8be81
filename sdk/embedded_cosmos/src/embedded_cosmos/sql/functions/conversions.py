"""Between strings and other values."""

from __future__ import annotations

import json
from collections.abc import Callable

from embedded_cosmos.sql.functions.registry import Registry, of_strings
from embedded_cosmos.sql.values import UNDEFINED, Json, is_number, number

FUNCTIONS = Registry()


@FUNCTIONS.add("TOSTRING", 1)
def _to_string(value: Json) -> Json:
    if type(value) is str:
        return value
    return json.dumps(number(value) if is_number(value) else value, ensure_ascii=False, separators=(",", ":"))


def _not_json(constant: str) -> Json:
    raise ValueError(f"{constant} is not JSON")


def _parsed(accept: Callable[[Json], bool]) -> Callable[[Json], Json]:
    def parse(text: str) -> Json:
        try:
            value = json.loads(text, parse_constant=_not_json)
        except (ValueError, RecursionError):
            return UNDEFINED
        return value if accept(value) else UNDEFINED

    return of_strings(parse)


FUNCTIONS.add("STRINGTOARRAY", 1)(_parsed(lambda value: type(value) is list))
FUNCTIONS.add("STRINGTOOBJECT", 1)(_parsed(lambda value: type(value) is dict))
FUNCTIONS.add("STRINGTOBOOLEAN", 1)(_parsed(lambda value: type(value) is bool))
FUNCTIONS.add("STRINGTONULL", 1)(_parsed(lambda value: value is None))
FUNCTIONS.add("STRINGTONUMBER", 1)(_parsed(lambda value: is_number(value) and number(value) is not UNDEFINED))
