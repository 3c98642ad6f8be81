from __future__ import annotations

import re
import time
from typing import Any

import pytest
from query_world import World

from embedded_cosmos.errors import CosmosError
from embedded_cosmos.sql import functions

WORLD = World()

CASES: list[tuple[str, Any]] = [
    # types
    ("IS_DEFINED(undefined)", False),
    ("IS_DEFINED(null)", True),
    ("IS_NULL(null)", True),
    ("IS_NULL(undefined)", False),
    ("IS_BOOL(false)", True),
    ("IS_NUMBER(true)", False),
    ("IS_NUMBER(1.5)", True),
    ("IS_FINITE_NUMBER(1)", True),
    ("IS_INTEGER(2.0)", True),
    ("IS_INTEGER(2.5)", False),
    ("IS_STRING('')", True),
    ("IS_ARRAY([])", True),
    ("IS_OBJECT({})", True),
    ("IS_OBJECT([])", False),
    ("IS_PRIMITIVE(null)", True),
    ("IS_PRIMITIVE([])", False),
    ("IS_PRIMITIVE(undefined)", False),
    ("IIF(undefined, 1, 2)", 2),
    # numbers
    ("ABS(-3)", 3),
    ("ACOS(1)", 0),
    ("ASIN(0)", 0),
    ("ATAN(0)", 0),
    ("ATN2(0, 1)", 0),
    ("CEILING(1.2)", 2),
    ("COS(0)", 1),
    ("COT(0)", "undefined"),
    ("DEGREES(0)", 0),
    ("EXP(0)", 1),
    ("FLOOR(-1.2)", -2),
    ("LOG(1)", 0),
    ("LOG(8, 2)", 3),
    ("LOG(0)", "undefined"),
    ("LOG10(1000)", 3),
    ("NUMBERBIN(37.9, 5)", 35),
    ("NUMBERBIN(37.9)", 37),
    ("NUMBERBIN(1, 0)", "undefined"),
    ("PI()", 3.141592653589793),
    ("POWER(2, 10)", 1024),
    ("POWER(10, 400)", "undefined"),
    ("RADIANS(0)", 0),
    ("ROUND(2.5)", 3),
    ("ROUND(-2.5)", -3),
    ("ROUND(7)", 7),
    ("SIGN(-2)", -1),
    ("SIN(0)", 0),
    ("SQRT(9)", 3),
    ("SQRT(-1)", "undefined"),
    ("SQUARE(3)", 9),
    ("TAN(0)", 0),
    ("TRUNC(-2.7)", -2),
    ("ABS('1')", "undefined"),
    ("CHOOSE(2, 'a', 'b')", "b"),
    ("CHOOSE(3, 'a', 'b')", "undefined"),
    # strings
    ("CONCAT('a', 'b', 'c')", "abc"),
    ("CONCAT('a', 1)", "undefined"),
    ("CONTAINS('abc', 'B')", False),
    ("CONTAINS('abc', 'B', true)", True),
    ("CONTAINS('abc', undefined)", "undefined"),
    ("STARTSWITH('abc', 'ab')", True),
    ("ENDSWITH('abc', 'BC', true)", True),
    ("STRINGEQUALS('a', 'A')", False),
    ("StringEquals('a', 'A', true)", True),
    ("INDEX_OF('banana', 'an')", 1),
    ("INDEX_OF('banana', 'an', 2)", 3),
    ("INDEX_OF('banana', 'x')", -1),
    ("LEFT('abc', 2)", "ab"),
    ("RIGHT('abc', 2)", "bc"),
    ("RIGHT('abc', 9)", "abc"),
    ("LENGTH('héllo')", 5),
    ("LOWER('ÀB')", "àb"),
    ("UPPER('ab')", "AB"),
    ("LTRIM('  a ')", "a "),
    ("RTRIM(' a  ')", " a"),
    ("TRIM(' a ')", "a"),
    ("TRIM('xax', 'x')", "a"),
    ("REPLACE('aXbX', 'X', '-')", "a-b-"),
    ("REPLACE('a', '', '-')", "undefined"),
    ("REPLICATE('ab', 2)", "abab"),
    ("REPLICATE('ab', 100000)", "undefined"),
    ("REVERSE('abc')", "cba"),
    ("SUBSTRING('abcdef', 1, 3)", "bcd"),
    ("SUBSTRING('abc', 5, 1)", ""),
    ("SUBSTRING('abc', '0', 1)", "undefined"),
    ("RIGHT(1, 2)", "undefined"),
    ("INDEX_OF('a', 1)", "undefined"),
    ("STRINGJOIN(['a', 1], '-')", "undefined"),
    ("STRINGSPLIT('a', '')", "undefined"),
    ("REGEXMATCH(1, 'a')", "undefined"),
    ("STRINGJOIN(['a', 'b'], '-')", "a-b"),
    ("STRINGSPLIT('a-b', '-')", ["a", "b"]),
    ("REGEXMATCH('abcd', '^a.c')", True),
    ("REGEXMATCH('ABCD', 'bc', 'i')", True),
    ("REGEXMATCH('ABCD', 'bc')", False),
    ("REGEXMATCH('ABCD', ' b c [ d] ', 'xi')", True),
    ("REGEXMATCH('a d', 'a \\\\ [ d]', 'x')", True),
    ("REGEXMATCH('a\\nb', 'a.b', 's')", True),
    ("REGEXMATCH('a\\nb', 'a.b')", False),
    ("REGEXMATCH('a\\nb', '^b', 'm')", True),
    ("REGEXMATCH('\\ud800b', 'b$')", True),
    ("'\\ud800b' LIKE '_b'", True),
    # conversions
    ("TOSTRING(1)", "1"),
    ("TOSTRING(1.0)", "1"),
    ("TOSTRING(true)", "true"),
    ("TOSTRING([1, 'é'])", '[1,"é"]'),
    ("TOSTRING('a')", "a"),
    ("STRINGTONUMBER('1.5')", 1.5),
    ("STRINGTONUMBER('NaN')", "undefined"),
    ("STRINGTONUMBER('x')", "undefined"),
    ("STRINGTOBOOLEAN('true')", True),
    ("STRINGTONULL('null')", None),
    ("STRINGTOARRAY('[1]')", [1]),
    ("STRINGTOARRAY('{}')", "undefined"),
    ("STRINGTOOBJECT('{\"a\": 1}')", {"a": 1}),
    # arrays
    ("ARRAY_LENGTH([1, 2])", 2),
    ("ARRAY_LENGTH('ab')", "undefined"),
    ("ARRAY_CONCAT([1], [2], [3])", [1, 2, 3]),
    ("ARRAY_SLICE([1, 2, 3], 1)", [2, 3]),
    ("ARRAY_SLICE([1, 2, 3], -2, 1)", [2]),
    ("ARRAY_SLICE([1, 2, 3], 0, -1)", []),
    ("ARRAY_SLICE([1, 2, 3], 0.5)", "undefined"),
    ("ARRAY_CONCAT([1], 2)", "undefined"),
    ("ARRAY_SUM([1, '2'])", "undefined"),
    ("SETUNION([1], 2)", "undefined"),
    ("SETINTERSECT(1, [2])", "undefined"),
    ("SETDIFFERENCE([1], 2)", "undefined"),
    ("SETEQUAL([1], 2)", "undefined"),
    ("OBJECTTOARRAY([1])", "undefined"),
    ("ARRAY_CONTAINS(['a', 'b'], 'b')", True),
    ("ARRAY_CONTAINS([1, 2], true)", False),
    ("ARRAY_CONTAINS([1, 2], undefined)", "undefined"),
    ("ARRAY_CONTAINS('ab', 'a')", "undefined"),
    ("ARRAY_CONTAINS([{'a': 1, 'b': 2}], {'a': 1})", False),
    ("ARRAY_CONTAINS([{'a': 1, 'b': 2}], {'a': 1}, true)", True),
    ("ARRAY_CONTAINS([{'a': 1}], {'a': 1, 'b': 2}, true)", False),
    ("ARRAY_CONTAINS_ANY([1, 2], 3, 2)", True),
    ("ARRAY_CONTAINS_ANY([1, 2], 3)", False),
    ("ARRAY_CONTAINS_ALL([1, 2], 1, 2)", True),
    ("ARRAY_CONTAINS_ALL([1, 2], 1, 3)", False),
    ("ARRAY_SUM([1, 2.5])", 3.5),
    ("ARRAY_AVG([1, 2])", 1.5),
    ("ARRAY_AVG([])", "undefined"),
    ("ARRAY_MEDIAN([3, 1, 2])", 2),
    ("ARRAY_MIN([3, 1, 'a'])", 1),
    ("ARRAY_MAX([3, 1])", 3),
    ("SETUNION([1, 2, 1], [2, 3])", [1, 2, 3]),
    ("SETINTERSECT([1, 2, 2], [2, 3])", [2]),
    ("SETDIFFERENCE([1, 2], [2])", [1]),
    ("SETEQUAL([1, 2], [2, 1, 1])", True),
    ("OBJECTTOARRAY({'a': 1})", [{"k": "a", "v": 1}]),
    ("OBJECTTOARRAY({'a': 1}, 'name', 'value')", [{"name": "a", "value": 1}]),
    # dates
    ("DATETIMETOTIMESTAMP('2020-07-03T23:30:25.1234567Z')", 1593819025123),
    ("DATETIMETOTIMESTAMP('1970-01-01T01:00:00+01:00')", 0),
    ("DATETIMETOTICKS('1970-01-01T00:00:01Z')", 10_000_000),
    ("DATETIMETOTICKS('2020-02-30')", "undefined"),
    ("TIMESTAMPTODATETIME(1593819025123)", "2020-07-03T23:30:25.1230000Z"),
    ("TICKSTODATETIME(10000000)", "1970-01-01T00:00:01.0000000Z"),
    ("DATETIMEADD('mm', 1, '2024-01-31T00:00:00Z')", "2024-02-29T00:00:00.0000000Z"),
    ("DATETIMEADD('hour', -1, '2024-01-01')", "2023-12-31T23:00:00.0000000Z"),
    ("DATETIMEADD('eon', 1, '2024-01-01')", "undefined"),
    ("DATETIMEDIFF('year', '2023-12-31T23:59:59Z', '2024-01-01T00:00:00Z')", 1),
    ("DATETIMEDIFF('day', '2024-01-02', '2024-01-01')", -1),
    ("DATETIMEPART('month', '2024-05-06')", 5),
    ("DATETIMEPART('weekday', '2024-01-07')", 1),
    ("DATETIMEBIN('2024-01-01T13:45:00Z', 'hour', 6)", "2024-01-01T12:00:00.0000000Z"),
    ("DATETIMEFROMPARTS(2024, 2, 3, 4)", "2024-02-03T04:00:00.0000000Z"),
    ("DATETIMEFROMPARTS(2024, 2, 30)", "undefined"),
    ("DATETIMEFROMPARTS(2024, 2, 3, 4, 5, 6, 7)", "2024-02-03T04:05:06.0000007Z"),
    ("DATETIMEFROMPARTS(2024, 2, 3, 4, 5, 6, 10000000)", "undefined"),
    ("DATETIMETOTIMESTAMP('0001-01-01T00:00:00+01:00')", "undefined"),
    ("TIMESTAMPTODATETIME(1e15)", "undefined"),
    ("DATETIMEADD('yyyy', 8000, '2024-01-31')", "undefined"),
    ("DATETIMEADD('ns', 250, '2024-01-31')", "2024-01-31T00:00:00.0000002Z"),
    ("DATETIMEADD('d', 1.5, '2024-01-31')", "undefined"),
    ("DATETIMEDIFF('ns', '2024-01-01', '2024-01-01T00:00:00.0000001Z')", 100),
    ("DATETIMEDIFF('day', 'yesterday', '2024-01-01')", "undefined"),
    *[
        (f"DATETIMEPART('{part}', '2024-05-06T07:08:09.1234567Z')", value)
        for part, value in {
            "yyyy": 2024,
            "d": 6,
            "hh": 7,
            "mi": 8,
            "ss": 9,
            "ms": 123,
            "mcs": 123456,
            "ns": 123456700,
            "era": "undefined",
        }.items()
    ],
    ("DATETIMEPART('day', 'x')", "undefined"),
    ("DATETIMEBIN('2024-01-01T13:45:00Z', 'mm')", "undefined"),
    ("DATETIMEBIN('2024-01-01T13:45:00Z', 'hour', 0)", "undefined"),
    ("DATETIMEBIN('2024-01-03', 'day', 2, '2024-01-02')", "2024-01-02T00:00:00.0000000Z"),
]


@pytest.mark.parametrize(("expression", "value"), CASES)
def test_functions(expression: str, value: Any) -> None:
    result = WORLD.value(expression)
    assert result == value
    assert type(result) is type(value)


def test_every_function_is_tried() -> None:
    tried = {name.upper() for expression, _ in CASES for name in re.findall(r"(\w+)\(", expression)}
    clocks = {name for name in functions.names() if name.startswith("GETCURRENT")}
    assert functions.names() == tried | clocks


def test_the_clock_stands_still_within_a_query() -> None:
    before = time.time_ns()
    world = World({"id": str(n)} for n in range(50))
    moments = world.query("SELECT VALUE GetCurrentTicks() FROM c")
    assert len(moments) == 50
    assert len(set(moments)) == 1
    assert before // 100 - 100 <= moments[0] <= time.time_ns() // 100 + 100
    milliseconds, text = world.query("SELECT VALUE [GetCurrentTimestamp(), GetCurrentDateTime()]")[0]
    assert abs(milliseconds - before // 1_000_000) < 60_000
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z", text)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("FROBNICATE(1)", "'FROBNICATE' is not a recognized built-in function name"),
        ("ST_DISTANCE(1, 2)", "Spatial functions are not supported"),
        ("LOWER()", "LOWER function requires 1 argument"),
        ("LOWER('a', 'b')", "but was given 2"),
        ("CONTAINS('a')", "requires 2 to 3"),
        ("CONCAT('a')", "at least 2"),
        ("REGEXMATCH('a', '(')", "not a regular expression"),
        ("REGEXMATCH('a', '(?=a)')", "not a regular expression"),
        ("REGEXMATCH('a', 'a', 'q')", "modifiers m, s, i and x"),
        ("'a' LIKE '[z-a]'", "invalid character set"),
    ],
)
def test_unknown_functions_and_wrong_arguments_are_refused(expression: str, reason: str) -> None:
    with pytest.raises(CosmosError, match=reason) as caught:
        WORLD.value(expression)
    assert caught.value.status == 400
