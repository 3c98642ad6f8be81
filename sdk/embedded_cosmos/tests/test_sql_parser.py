from __future__ import annotations

import pytest

from embedded_cosmos.errors import CosmosError
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.parser import parse


def expression(text: str) -> ast.Expression:
    return parse(f"SELECT VALUE {text}").select.items[0].expression


C_A = ast.Member(ast.Identifier("c"), ast.Literal("a"))


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("1 + 2 * 3 - 4", "(1 + (2 * 3)) - 4"),
        ("1 + 2 = 3", "(1 + 2) = 3"),
        ("a & b = 1", "a & (b = 1)"),
        ("a || b | c ^ d", "a || (b | (c ^ d))"),
        ("NOT a = b", "(NOT a) = b"),
        ("a OR b AND c", "a OR (b AND c)"),
        ("a = 1 AND b BETWEEN 1 AND 2 AND d", "(a = 1) AND (b BETWEEN 1 AND 2) AND d"),
        ("a NOT IN (1, 2)", "NOT (a IN (1, 2))"),
        ("a NOT BETWEEN 1 AND 2", "NOT (a BETWEEN 1 AND 2)"),
        ("a NOT LIKE 'x'", "NOT (a LIKE 'x')"),
        ("a ?? b = 1", "a ?? (b = 1)"),
        ("a = 1 ? 'x' : b ? 'y' : 'z'", "(a = 1) ? 'x' : (b ? 'y' : 'z')"),
        ("- -1", "1"),
        ("-a.b", "-(a.b)"),
        ("1 << 2 + 1", "1 << (2 + 1)"),
        ("a <> b", "a != b"),
        ("c['a']", "c.a"),
    ],
)
def test_operators_bind_as_in_the_grammar_of_cosmos(text: str, same_as: str) -> None:
    assert expression(text) == expression(same_as)


def test_paths_mix_dots_names_and_positions() -> None:
    inner = ast.Member(ast.Member(C_A, ast.Literal("b c")), ast.Literal(0))
    assert expression('c.a["b c"][0].d') == ast.Member(inner, ast.Literal("d"))


def test_keywords_and_functions_ignore_case_and_names_do_not() -> None:
    assert parse("select value lower(C.Name) from C where not true") == parse(
        "SELECT VALUE LOWER(C.Name) FROM C WHERE NOT TRUE"
    )
    assert expression("c.a") != expression("C.a")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'it''s'", None),
        (r"'it\'s'", "it's"),
        (r'"say \"hi\" \\ \u00e9\n"', 'say "hi" \\ é\n'),
        ("'a \"quoted\" word \\t'", 'a "quoted" word \t'),
        ("1.50", 1.5),
        (".5e1", 5.0),
        ("9223372036854775807", 2**63 - 1),
        ("18446744073709551616", 2.0**64),
        ("[1, -2, [true, null]]", [1, -2, [True, None]]),
        ("{'a': {b: 'x'}}", {"a": {"b": "x"}}),
    ],
)
def test_literals(text: str, value: object) -> None:
    if value is None:
        with pytest.raises(CosmosError, match="near ''s''"):
            expression(text)
    else:
        assert expression(text) == ast.Literal(value)


def test_comments_are_skipped() -> None:
    assert parse("SELECT * -- everything\nFROM c") == parse("SELECT * FROM c")


def test_a_chain_of_a_thousand_conditions_is_flat() -> None:
    where = parse("SELECT * FROM c WHERE " + " OR ".join(f"c.id = '{n}'" for n in range(1000))).where
    assert isinstance(where, ast.Logical)
    assert len(where.operands) == 1000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT", "near 'the end of the query'"),
        ("SELECT * FROM c WHERE", "near 'the end of the query'"),
        ("SELECT * FROM c WHERE c.a = = 1", "near '=' at position 28"),
        ("SELECT * FROM c extra words", "near 'words'"),
        ("SELECT c.value FROM c", r'write \["value"\] instead of \.value'),
        ("SELECT c.a alias FROM c", "near 'alias'"),
        ("SELECT * FROM c WHERE c.a IN (SELECT VALUE 1)", "EXISTS"),
        ("SELECT * FROM c WHERE c.a = #", "near '#'"),
        ("SELECT * FROM c WHERE c.a LIKE 'x' ESCAPE 'ab'", "one character"),
        ("SELECT udf.f(c) FROM c", "User-defined functions"),
        ("SELECT FIRST(SELECT VALUE 1)", "not supported"),
        ("SELECT * FROM (SELECT VALUE c FROM c)", "needs an alias"),
        ("SELECT * FROM c ORDER c.a", "Expected BY"),
        ("SELECT VALUE '\\q'", "invalid escape sequence"),
        ("SELECT VALUE " + "9" * 400, "too large"),
        ("SELECT VALUE '" + "x" * 600_000 + "'", "the limit is 524288"),
        ("SELECT VALUE " + "(" * 200 + "1" + ")" * 200, "nested more than"),
        ("SELECT VALUE " + "+".join("1" * 300), "nested more than"),
        ("SELECT VALUE c" + ".a" * 300 + " FROM c", "nested more than"),
    ],
)
def test_what_does_not_parse_says_where_and_why(text: str, reason: str) -> None:
    with pytest.raises(CosmosError, match=reason) as caught:
        parse(text)
    assert caught.value.status == 400
