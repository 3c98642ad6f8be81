"""Random filters and orders: the columns, the closures and a plainly written evaluator must agree."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings, strategies as st
from query_world import World

from embedded_cosmos.query.execute import compile_condition

UNDEFINED = object()
Condition = tuple[Any, ...]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, 2, -1, 1.0, 0.5, 2**53, 2**53 + 1]),
    st.sampled_from(["", "a", "b", "ab", "B", "2026-01-01", "2026-01-02", "1"]),
)
values = st.one_of(scalars, st.lists(scalars, max_size=2), st.fixed_dictionaries({}, optional={"k": scalars}))
documents = st.lists(
    st.fixed_dictionaries(
        {}, optional={"x": values, "y": values, "z": st.fixed_dictionaries({}, optional={"k": scalars})}
    ),
    max_size=12,
)
paths = st.sampled_from([("x",), ("y",), ("z",), ("z", "k"), ("x", "k"), ("x", 0), ("w",)])
TESTS = {
    "IS_DEFINED": lambda value: value is not UNDEFINED,
    "IS_NULL": lambda value: value is None,
    "IS_BOOL": lambda value: isinstance(value, bool),
    "IS_NUMBER": lambda value: kind(value) == 3,
    "IS_STRING": lambda value: isinstance(value, str),
    "IS_ARRAY": lambda value: isinstance(value, list),
    "IS_OBJECT": lambda value: isinstance(value, dict),
    "IS_PRIMITIVE": lambda value: kind(value) in (1, 2, 3, 4),
}
leaves = st.one_of(
    st.tuples(st.just("compare"), st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), paths, values, st.booleans()),
    st.tuples(st.just("in"), paths, st.lists(values, min_size=1, max_size=4)),
    st.tuples(st.just("member"), st.lists(values, max_size=4), paths),
    st.tuples(st.just("element"), paths, scalars),
    st.tuples(st.just("between"), paths, scalars, scalars),
    st.tuples(st.just("test"), st.sampled_from(sorted(TESTS)), paths),
    st.tuples(st.just("path"), paths),
    st.tuples(st.just("constant"), st.booleans()),
    st.tuples(st.just("prefix"), paths, st.sampled_from(["", "a", "2026"])),
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.just("and"), st.lists(inner, min_size=2, max_size=3)),
        st.tuples(st.just("or"), st.lists(inner, min_size=2, max_size=3)),
    ),
    max_leaves=6,
)


def kind(value: Any) -> int:
    if value is UNDEFINED:
        return 0
    if value is None:
        return 1
    for number, types in enumerate([(bool,), (int, float), (str,), (list,), (dict,)], start=2):
        if isinstance(value, types):
            return number
    raise AssertionError(value)


def same(left: Any, right: Any) -> bool:
    if kind(left) != kind(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return bool(left == right)


def look_up(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        container = dict if isinstance(key, str) else list
        if not isinstance(document, container):
            return UNDEFINED
        try:
            document = document[key]
        except LookupError:
            return UNDEFINED
    return document


def compare(operator: str, left: Any, right: Any) -> Any:
    if left is UNDEFINED:
        return UNDEFINED
    if operator in ("=", "!="):
        return same(left, right) == (operator == "=")
    if kind(left) != kind(right) or kind(left) > 4:
        return UNDEFINED
    if left is None:
        return "=" in operator
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[operator]


def both(parts: list[Any]) -> Any:
    if any(part is False for part in parts):
        return False
    return True if all(part is True for part in parts) else UNDEFINED


def negation(value: Any) -> Any:
    return (not value) if isinstance(value, bool) else UNDEFINED


def evaluate(condition: Condition, document: Any) -> Any:
    match condition:
        case ("compare", operator, path, value, _):
            return compare(operator, look_up(document, path), value)
        case ("in", path, items) | ("member", items, path):
            found = look_up(document, path)
            return UNDEFINED if found is UNDEFINED else any(same(found, item) for item in items)
        case ("element", path, item):
            found = look_up(document, path)
            return any(same(one, item) for one in found) if isinstance(found, list) else UNDEFINED
        case ("between", path, low, high):
            found = look_up(document, path)
            return both([compare(">=", found, low), compare("<=", found, high)])
        case ("test", name, path):
            return TESTS[name](look_up(document, path))
        case ("path", path):
            return look_up(document, path)
        case ("constant", value):
            return value
        case ("prefix", path, prefix):
            found = look_up(document, path)
            return found.startswith(prefix) if isinstance(found, str) else UNDEFINED
        case ("not", inner):
            return negation(evaluate(inner, document))
        case ("and", parts):
            return both([evaluate(part, document) for part in parts])
        case ("or", parts):
            return negation(both([negation(evaluate(part, document)) for part in parts]))
    raise AssertionError(condition)


def sql_path(path: tuple[Any, ...]) -> str:
    return "c" + "".join(f"[{json.dumps(key)}]" for key in path)


def sql(condition: Condition) -> str:
    match condition:
        case ("compare", operator, path, value, mirrored):
            flipped = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
            if mirrored:
                return f"({json.dumps(value)} {flipped} {sql_path(path)})"
            return f"({sql_path(path)} {operator} {json.dumps(value)})"
        case ("in", path, items):
            return f"({sql_path(path)} IN ({', '.join(map(json.dumps, items))}))"
        case ("member", items, path):
            return f"ARRAY_CONTAINS({json.dumps(items)}, {sql_path(path)})"
        case ("element", path, item):
            return f"ARRAY_CONTAINS({sql_path(path)}, {json.dumps(item)})"
        case ("between", path, low, high):
            return f"({sql_path(path)} BETWEEN {json.dumps(low)} AND {json.dumps(high)})"
        case ("test", name, path):
            return f"{name}({sql_path(path)})"
        case ("path", path):
            return sql_path(path)
        case ("constant", value):
            return json.dumps(value)
        case ("prefix", path, prefix):
            return f"STARTSWITH({sql_path(path)}, {json.dumps(prefix)})"
        case ("not", inner):
            return f"(NOT {sql(inner)})"
        case ("and" | "or", parts):
            return "(" + f" {condition[0].upper()} ".join(map(sql, parts)) + ")"
    raise AssertionError(condition)


def world_of(found: list[dict[str, Any]]) -> World:
    return World({"id": str(position), **document} for position, document in enumerate(found))


@settings(max_examples=400, deadline=None)
@given(documents, st.sampled_from([0, 60]), conditions)
def test_filters(found: list[dict[str, Any]], others: int, condition: Condition) -> None:
    found = [*found, *({"x": "b", "y": n} for n in range(others))]  # among many, few are looked at one by one
    text = sql(condition)
    expected = [position for position, document in enumerate(found) if evaluate(condition, document) is True]
    by_columns = world_of(found).query(f"SELECT VALUE c.id FROM c WHERE {text}")
    test = compile_condition(f"FROM c WHERE {text}")
    by_closures = [position for position, document in enumerate(found) if test(document)]
    assert by_columns == [str(position) for position in expected], text
    assert by_closures == expected, text


def order_key(value: Any) -> tuple[Any, ...]:
    return (kind(value),) if kind(value) < 2 else (kind(value), value)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.fixed_dictionaries({}, optional={"x": scalars, "y": scalars}), max_size=20),
    st.tuples(st.booleans(), st.booleans()),
    st.integers(0, 25),
    conditions,
)
def test_orders(found: list[dict[str, Any]], descending: tuple[bool, bool], top: int, condition: Condition) -> None:
    composite = [
        [{"path": "/x"}, {"path": "/y", "order": "descending" if descending[0] != descending[1] else "ascending"}]
    ]
    world = World(
        ({"id": str(position), **document} for position, document in enumerate(found)),
        indexingPolicy={"compositeIndexes": composite},
    )
    chosen = [position for position, document in enumerate(found) if evaluate(condition, document) is True]
    if descending[0]:
        chosen.reverse()
    direction = ["DESC" if down else "ASC" for down in descending]
    where = f"WHERE {sql(condition)}"

    by_y = sorted(chosen, key=lambda p: order_key(look_up(found[p], ("y",))), reverse=descending[1])
    by_x_then_y = sorted(by_y, key=lambda p: order_key(look_up(found[p], ("x",))), reverse=descending[0])
    two = world.query(f"SELECT TOP {top} VALUE c.id FROM c {where} ORDER BY c.x {direction[0]}, c.y {direction[1]}")
    assert two == [str(position) for position in by_x_then_y[:top]]

    by_x = sorted(chosen, key=lambda p: order_key(look_up(found[p], ("x",))), reverse=descending[0])
    one = world.query(f"SELECT VALUE c.id FROM c {where} ORDER BY c.x {direction[0]} OFFSET 1 LIMIT {top}")
    assert one == [str(position) for position in by_x[1 : top + 1]]
