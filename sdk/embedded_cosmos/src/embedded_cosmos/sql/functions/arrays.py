"""Array, set and object functions."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable

from embedded_cosmos.sql.functions.registry import Registry
from embedded_cosmos.sql.values import UNDEFINED, Json, equals, is_integer, is_number, number, sort_key

FUNCTIONS = Registry()


@FUNCTIONS.add("ARRAY_LENGTH", 1)
def _length(array: Json) -> Json:
    return len(array) if type(array) is list else UNDEFINED


@FUNCTIONS.add("ARRAY_CONCAT", 2, None)
def _concat(*arrays: Json) -> Json:
    if not all(type(array) is list for array in arrays):
        return UNDEFINED
    return [item for array in arrays for item in array]


@FUNCTIONS.add("ARRAY_SLICE", 2, 3)
def _slice(array: Json, start: Json, length: Json = None) -> Json:
    if type(array) is not list or not is_integer(start) or not (length is None or is_integer(length)):
        return UNDEFINED
    begin = int(start) if start >= 0 else max(len(array) + int(start), 0)
    return array[begin:] if length is None else array[begin : begin + max(int(length), 0)]


@FUNCTIONS.add("ARRAY_CONTAINS", 2, 3)
def contains(array: Json, wanted: Json, partial: Json = False) -> Json:
    """Whether the array has the value, or when partial an object with at least the wanted members."""
    if type(array) is not list or type(partial) is not bool:
        return UNDEFINED
    if partial and type(wanted) is dict:
        return any(_has_members(item, wanted) for item in array)
    if type(wanted) is str:
        return wanted in array
    return any(equals(item, wanted) for item in array)


def _has_members(item: Json, wanted: dict[str, Json]) -> bool:
    return type(item) is dict and all(name in item and equals(item[name], value) for name, value in wanted.items())


@FUNCTIONS.add("ARRAY_CONTAINS_ANY", 2, None)
def _contains_any(array: Json, *wanted: Json) -> Json:
    return any(contains(array, value) for value in wanted) if type(array) is list else UNDEFINED


@FUNCTIONS.add("ARRAY_CONTAINS_ALL", 2, None)
def _contains_all(array: Json, *wanted: Json) -> Json:
    return all(contains(array, value) for value in wanted) if type(array) is list else UNDEFINED


def _of_numbers(call: Callable[[list[Json]], float]) -> Callable[[Json], Json]:
    def aggregate(array: Json) -> Json:
        if type(array) is not list or not all(is_number(item) for item in array):
            return UNDEFINED
        try:
            return number(call(array))
        except (ValueError, ZeroDivisionError):  # of an empty array
            return UNDEFINED

    return aggregate


FUNCTIONS.add("ARRAY_SUM", 1)(_of_numbers(sum))
FUNCTIONS.add("ARRAY_AVG", 1)(_of_numbers(lambda array: sum(array) / len(array)))
FUNCTIONS.add("ARRAY_MEDIAN", 1)(_of_numbers(statistics.median))


def _extreme(choose: Callable[..., Json]) -> Callable[[Json], Json]:
    def aggregate(array: Json) -> Json:
        return choose(array, key=sort_key) if type(array) is list and array else UNDEFINED

    return aggregate


FUNCTIONS.add("ARRAY_MIN", 1)(_extreme(min))
FUNCTIONS.add("ARRAY_MAX", 1)(_extreme(max))


def distinct(items: Iterable[Json]) -> list[Json]:
    """The items without repetition, first occurrences in order."""
    return list({sort_key(item): item for item in reversed(list(items))}.values())[::-1]


@FUNCTIONS.add("SETUNION", 2)
def _union(left: Json, right: Json) -> Json:
    return distinct([*left, *right]) if type(left) is list and type(right) is list else UNDEFINED


@FUNCTIONS.add("SETINTERSECT", 2)
def _intersect(left: Json, right: Json) -> Json:
    if type(left) is not list or type(right) is not list:
        return UNDEFINED
    keys = {sort_key(item) for item in right}
    return distinct(item for item in left if sort_key(item) in keys)


@FUNCTIONS.add("SETDIFFERENCE", 2)
def _difference(left: Json, right: Json) -> Json:
    if type(left) is not list or type(right) is not list:
        return UNDEFINED
    keys = {sort_key(item) for item in right}
    return distinct(item for item in left if sort_key(item) not in keys)


@FUNCTIONS.add("SETEQUAL", 2)
def _set_equal(left: Json, right: Json) -> Json:
    if type(left) is not list or type(right) is not list:
        return UNDEFINED
    return {sort_key(item) for item in left} == {sort_key(item) for item in right}


@FUNCTIONS.add("OBJECTTOARRAY", 1, 3)
def _object_to_array(value: Json, name_key: Json = "k", value_key: Json = "v") -> Json:
    if type(value) is not dict or type(name_key) is not str or type(value_key) is not str:
        return UNDEFINED
    return [{name_key: name, value_key: member} for name, member in value.items()]
