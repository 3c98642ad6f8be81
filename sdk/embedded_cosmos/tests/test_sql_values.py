"""Undefined, null and types, as Microsoft's in-memory interpreter has them."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from query_world import World

from embedded_cosmos.sql.values import UNDEFINED, sort_key

WORLD = World()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 = 'a'", False),
        ("1 != 'a'", True),
        ("1 < 'a'", "undefined"),
        ("1 = 1.0", True),
        ("true = 1", False),
        ("null = null", True),
        ("null <= null", True),
        ("null < null", False),
        ("null = false", False),
        ("undefined = undefined", "undefined"),
        ("undefined != 1", "undefined"),
        ("false < true", True),
        ("[1] < [2]", "undefined"),
        ("[1, {'a': 2}] = [1.0, {'a': 2}]", True),
        ("{'a': 1, 'b': 2} = {'b': 2, 'a': 1}", True),
        ("{'a': 1} = {'a': true}", False),
        ("'a' < 'b'", True),
        ("'B' < 'a'", True),
        ("true AND undefined", "undefined"),
        ("false AND undefined", False),
        ("true OR undefined", True),
        ("false OR undefined", "undefined"),
        ("true AND 1", "undefined"),
        ("false OR 'x' OR true", True),
        ("NOT undefined", "undefined"),
        ("NOT null", "undefined"),
        ("undefined IN (1, undefined)", "undefined"),
        ("1 IN ('1', true, 1.0)", True),
        ("true IN (1)", False),
        ("2 NOT IN (1, 3)", True),
        ("2 BETWEEN 1 AND 3", True),
        ("'b' BETWEEN 'a' AND 3", "undefined"),
        ("'b' NOT BETWEEN 'c' AND 'd'", True),
        ("undefined ?? 1", 1),
        ("null ?? 1", None),
        ("undefined ? 1 : 2", 2),
        ("1 ? 1 : 2", 2),
        ("true ? 1 : 2", 1),
        ("'a' || 'b' || 'c'", "abc"),
        ("'a' || 1", "undefined"),
        ("1 + '1'", "undefined"),
        ("1 + true", "undefined"),
        ("7 / 2", 3.5),
        ("4 / 2", 2),
        ("1 / 0", "undefined"),
        ("-7 % 3", -1),
        ("0.1 + 0.2", 0.30000000000000004),
        ("9007199254740992 * 4", 3.602879701896397e16),
        ("5 & 3", 1),
        ("5 | 3", 7),
        ("5 ^ 3", 6),
        ("~5", -6),
        ("1 << 31", -2147483648),
        ("-1 >> 1", -1),
        ("-1 >>> 1", 2147483647),
        ("2147483648 | 0", -2147483648),
        ("-'a'", "undefined"),
        ("+3", 3),
        ("[1, undefined, 2]", [1, 2]),
        ("{'a': undefined, 'b': null}", {"b": None}),
        ("[10, 20][1]", 20),
        ("[10, 20][2]", "undefined"),
        ("[10, 20]['a']", "undefined"),
        ("[10, 20][-1]", "undefined"),
        ("{'a': {'b': 1}}.a.b", 1),
        ("{'a': 1}.a.b", "undefined"),
        ("{'a': 1}['A']", "undefined"),
        ("'abc' LIKE 'a%'", True),
        ("'abc' LIKE 'A%'", False),
        ("'abc' LIKE '_b_'", True),
        ("'a.c' LIKE 'a.c'", True),
        ("'abc' LIKE 'a.c'", False),
        ("'abc' LIKE '[a-c]bc'", True),
        ("'abc' LIKE '[^a-c]bc'", False),
        ("'50%' LIKE '50!%' ESCAPE '!'", True),
        ("'500' LIKE '50!%' ESCAPE '!'", False),
        ("'a\\nb' LIKE 'a%b'", True),
        ("1 LIKE '1'", "undefined"),
    ],
)
def test_operators(expression: str, value: Any) -> None:
    result = WORLD.value(expression)
    assert result == value
    assert type(result) is type(value)


def test_order_across_types() -> None:
    ascending = [UNDEFINED, None, False, True, -1, 0.5, 2, "", "B", "a", [], [1], {}, {"a": 1}]
    shuffled = random.Random(1).sample(ascending, len(ascending))
    assert sorted(shuffled, key=sort_key) == ascending


def test_equal_keys_mean_equal_values() -> None:
    values = [UNDEFINED, None, False, 0, 0.0, "0", [], [0], [False], {}, {"a": 0}, {"a": None}]
    equal = {
        (left, right)
        for left, right in itertools.combinations(range(len(values)), 2)
        if sort_key(values[left]) == sort_key(values[right])
    }
    assert equal == {(3, 4)}
