"""What is printed parses into the tree it was printed from."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from embedded_cosmos.sql import ast
from embedded_cosmos.sql.parser import parse
from embedded_cosmos.sql.printer import print_expression, print_query


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM c",
        "SELECT DISTINCT TOP @n VALUE r.a FROM root r WHERE r.b = @b",
        "SELECT c.a, c['b c'].d[0] AS e, c['order'], c['value'], -1, - c.a FROM c",
        "SELECT c.a FROM c JOIN t IN c.tags JOIN (SELECT VALUE s FROM s IN t.subs WHERE s > 1) AS u WHERE t = u",
        "SELECT x FROM x IN c.list",
        "SELECT c.a, COUNT(1) AS n FROM c GROUP BY c.a, LOWER(c.b)",
        "SELECT * FROM c WHERE NOT c.a = 1 OR c.b BETWEEN 1 AND 2 AND c.c NOT IN (1, 'x', null)",
        "SELECT * FROM c WHERE c.a LIKE 'a!%%' ESCAPE '!' AND EXISTS(SELECT VALUE t FROM t IN c.tags)",
        "SELECT VALUE {'a\\'b': [1, {k: c.x}, 'say \"hi\"', undefined], b: ARRAY(SELECT VALUE t FROM t IN c.t)} FROM c",
        "SELECT VALUE (c.a ? c.b ?? 1 : c.c || 'é\\n') FROM c",
        "SELECT VALUE c.a + c.b * 2 - (c.d - c.e) % 3 << 1 FROM c",
        "SELECT TOP 3 * FROM c ORDER BY RANK RRF(FullTextScore(c.t, 'x'), VectorDistance(c.v, [1, -2.5e-7]), [1, 2])",
        "SELECT c.id FROM c ORDER BY c.a, c.b DESC, c.d ASC OFFSET 3 LIMIT @m",
        "SELECT LEFT(c.a, 2), 1e300, 12345678901234567890 FROM c WHERE ~c.a != 1 AND true",
    ],
)
def test_queries_survive_printing(text: str) -> None:
    query = parse(text)
    assert parse(print_query(query)) == query


names = st.sampled_from(["a", "b_1", "value", "two words", "é", "select", "1st", 'q"u', "back\\slash", ""])
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.text(max_size=5), st.floats(-1e9, 1e9)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=5,
)
paths = st.builds(
    lambda name: ast.Member(ast.Identifier("c"), ast.Literal(name)),
    names,
)
expressions = st.recursive(
    st.one_of(st.builds(ast.Literal, json_values), paths, st.builds(ast.Parameter, st.sampled_from(["@a", "@b"]))),
    lambda inner: st.one_of(
        st.builds(ast.Binary, st.sampled_from(["=", "!=", "<", "+", "*", "||", "??", "&", ">>>"]), inner, inner),
        st.builds(ast.Logical, st.sampled_from(["AND", "OR"]), st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(ast.Between, inner, inner, inner),
        st.builds(ast.In, inner, st.lists(inner, min_size=1, max_size=2).map(tuple)),
        st.builds(ast.Conditional, inner, inner, inner),
        st.builds(ast.Call, st.sampled_from(["LOWER", "LEFT"]), st.lists(inner, max_size=2).map(tuple)),
        st.builds(lambda operand: ast.Unary("NOT", operand), inner),
        st.builds(ast.Member, paths, inner),
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(expression=expressions)
def test_expressions_survive_printing(expression: ast.Expression) -> None:
    # Parsed once, constants are folded; from then on nothing changes.
    query = parse(f"SELECT VALUE {print_expression(expression)} FROM c")
    assert parse(print_query(query)) == query
    if isinstance(expression, ast.Literal | ast.Binary | ast.In):
        assert query.select.items[0].expression == expression
