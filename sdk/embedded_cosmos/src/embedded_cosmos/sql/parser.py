"""Tokens to a syntax tree: recursive descent for the clauses, precedence climbing for expressions."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from embedded_cosmos.errors import CosmosError, bad_request
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.lexer import Token, TokenKind, syntax_error, tokenize
from embedded_cosmos.sql.values import UNDEFINED

MAX_QUERY_LENGTH = 512 * 1024
MAX_DEPTH = 100
KEPT_LENGTH = 8 * 1024
"""A longer text contains its values, so it will not come again."""

_T = TypeVar("_T")

# Ternary and `??` bind loosest; AND and OR join what comparison keywords (IN, LIKE, BETWEEN) make of operands.
_TERNARY, _COALESCE, _OR, _AND, _KEYWORD_COMPARISON = 1, 2, 3, 4, 5
_OPERAND = 6
_BINARY: dict[str, int] = {
    "??": _COALESCE,
    "OR": _OR,
    "AND": _AND,
    "||": 6,
    "|": 7,
    "^": 8,
    "&": 9,
    **dict.fromkeys(("=", "!=", "<>"), 10),
    **dict.fromkeys(("<", ">", "<=", ">="), 11),
    **dict.fromkeys(("<<", ">>", ">>>"), 12),
    **dict.fromkeys(("+", "-"), 13),
    **dict.fromkeys(("*", "/", "%"), 14),
}
_KEYWORD_COMPARISONS = ("NOT", "IN", "BETWEEN", "LIKE")
_CONSTANTS = {"TRUE": True, "FALSE": False, "NULL": None, "UNDEFINED": UNDEFINED}


def parse(text: str) -> ast.Query:
    """The tree of a query; raises 400 with the place of the first error."""
    return parse_with_holders(text)[0]


def parse_with_holders(text: str) -> tuple[ast.Query, frozenset[int]]:
    """The tree of a query, and the ids of what holds parameters in it; raises 400 with the place of the first error."""
    if len(text) > MAX_QUERY_LENGTH:
        raise bad_request(f"The query is {len(text)} characters long; the limit is {MAX_QUERY_LENGTH}.")
    return _parse_once(text) if len(text) <= KEPT_LENGTH else _parse(text)


@lru_cache(maxsize=128)
def parse_condition(text: str) -> ast.Query:
    """The tree of `FROM c WHERE …`, the condition of a patch, as a query over the one document."""
    return _Parser(tokenize(text)).whole(_Parser.condition)


def _parse(text: str) -> tuple[ast.Query, frozenset[int]]:
    query = _Parser(tokenize(text)).whole(_Parser.query)
    return query, ast.holders(query, ast.Parameter)


_parse_once = lru_cache(maxsize=512)(_parse)


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._index = 0
        self._depth = 0

    def whole(self, rule: Callable[[_Parser], _T]) -> _T:
        result = rule(self)
        if self._next.kind != "end":
            raise self._error()
        return result

    # Clauses

    def query(self) -> ast.Query:
        self._keyword("SELECT")
        select = self._select()
        sources = self._sources() if self._accept("FROM") else ()
        where = self._expression() if self._accept("WHERE") else None
        group_by: tuple[ast.Expression, ...] = ()
        if self._accept("GROUP"):
            self._keyword("BY")
            group_by = self._list(self._expression)
        order_by: tuple[ast.OrderItem, ...] = ()
        by_rank = False
        if self._accept("ORDER"):
            self._keyword("BY")
            by_rank = self._accept("RANK")
            order_by = self._list(self._order_item)
        offset = limit = None
        if self._accept("OFFSET"):
            offset = self._count()
            self._keyword("LIMIT")
            limit = self._count()
        return ast.Query(select, sources, where, group_by, order_by, by_rank, offset, limit)

    def condition(self) -> ast.Query:
        self._keyword("FROM")
        sources = self._sources()
        self._keyword("WHERE")
        where = self._expression()
        select = ast.Select("value", (ast.SelectItem(ast.Literal(True), None),), False, None)
        return ast.Query(select, sources, where, (), (), False, None, None)

    def _select(self) -> ast.Select:
        distinct = self._accept("DISTINCT")
        top = self._count() if self._accept("TOP") else None
        if self._accept("*"):
            return ast.Select("star", (), distinct, top)
        if self._accept("VALUE"):
            value = self._expression()
            return ast.Select("value", (ast.SelectItem(value, None, ast.mentions_of(value)),), distinct, top)
        return ast.Select("list", self._list(self._select_item), distinct, top)

    def _select_item(self) -> ast.SelectItem:
        expression = self._expression()
        alias = self._name() if self._accept("AS") else None
        return ast.SelectItem(expression, alias, ast.mentions_of(expression))

    def _sources(self) -> tuple[ast.Source, ...]:
        sources = [self._source()]
        while self._accept("JOIN"):
            sources.append(self._source())
        return tuple(sources)

    def _source(self) -> ast.Source:
        if self._next.kind == "name" and self._tokens[self._index + 1].value == "IN":
            alias = self._name()
            self._keyword("IN")
            return ast.Source(alias, self._collection(), iterate=True)
        start = self._next
        origin = self._collection()
        alias_given = self._alias()
        if alias_given is None:
            if isinstance(origin, ast.Query):
                raise syntax_error(start.text, start.position, "A subquery in FROM needs an alias: (SELECT …) AS x.")
            alias_given = implied_name(origin)
        if alias_given is None:
            raise syntax_error(start.text, start.position, "This input of FROM needs an alias: AS x.")
        return ast.Source(alias_given, origin, iterate=False)

    def _collection(self) -> ast.Expression | ast.Query:
        if self._accept("("):
            query = self._nested(self.query)
            self._keyword(")")
            return query
        return self._path(ast.Identifier(self._name()))

    def _order_item(self) -> ast.OrderItem:
        expression = self._expression()
        if self._accept("ASC"):
            return ast.OrderItem(expression, "ASC")
        if self._accept("DESC"):
            return ast.OrderItem(expression, "DESC")
        return ast.OrderItem(expression, None)

    def _count(self) -> ast.Expression:
        token = self._take("number", "parameter")
        return ast.Parameter(token.value) if token.kind == "parameter" else ast.Literal(token.value)

    def _alias(self) -> str | None:
        if self._accept("AS"):
            return self._name()
        return self._name() if self._next.kind == "name" else None

    # Expressions

    def _expression(self, least: int = _TERNARY) -> ast.Expression:
        return self._nested(lambda: self._operators(self._prefix(), least))

    def _operators(self, left: ast.Expression, least: int) -> ast.Expression:
        for _ in range(MAX_DEPTH):
            token = self._next
            if token.kind not in ("operator", "keyword"):
                return left
            operator = token.value
            power = _BINARY.get(operator)
            if power is not None:
                if power < least:
                    return left
                left = self._binary(operator, left, power)
            elif operator in _KEYWORD_COMPARISONS and least <= _KEYWORD_COMPARISON:
                left = self._keyword_comparison(left)
            elif operator == "?" and least <= _TERNARY:
                self._advance()
                consequent = self._expression()
                self._keyword(":")
                left = ast.Conditional(left, consequent, self._expression())
            else:
                return left
        raise _too_deep()

    def _binary(self, operator: str, left: ast.Expression, power: int) -> ast.Expression:
        operands = [left]
        while self._accept(operator):
            operands.append(self._expression(power + 1))
            if operator not in ("AND", "OR"):
                return ast.Binary("!=" if operator == "<>" else operator, left, operands[1])
        return ast.Logical("AND" if operator == "AND" else "OR", tuple(operands))

    def _keyword_comparison(self, left: ast.Expression) -> ast.Expression:
        negated = self._accept("NOT")
        comparison: ast.Expression
        if self._accept("IN"):
            self._keyword("(")
            if self._next.value == "SELECT":
                raise self._error("IN takes a list of values; use EXISTS(SELECT …) or ARRAY_CONTAINS for a subquery.")
            comparison = ast.In(left, self._list(self._expression))
            self._keyword(")")
        elif self._accept("BETWEEN"):
            low = self._expression(_OPERAND)
            self._keyword("AND")
            comparison = ast.Between(left, low, self._expression(_OPERAND))
        elif self._accept("LIKE"):
            pattern = self._expression(_OPERAND)
            escape = self._take("string").value if self._accept("ESCAPE") else None
            if escape is not None and len(escape) != 1:
                raise bad_request("The ESCAPE of LIKE must be one character.")
            comparison = ast.Like(left, pattern, escape)
        else:
            raise self._error()
        return ast.Unary("NOT", comparison) if negated else comparison

    def _prefix(self) -> ast.Expression:
        for operator in ("-", "+", "~", "NOT"):
            if self._accept(operator):
                operand = self._nested(self._prefix)
                if operator == "-" and isinstance(operand, ast.Literal) and type(operand.value) in (int, float):
                    return ast.Literal(-operand.value)
                return ast.Unary(operator, operand)
        return self._path(self._primary())

    def _path(self, expression: ast.Expression) -> ast.Expression:
        for _ in range(MAX_DEPTH):
            if self._next.kind != "operator" or self._next.value not in (".", "["):
                return expression
            expression = self._postfix(expression)
        raise _too_deep()

    def _postfix(self, target: ast.Expression) -> ast.Expression:
        if self._accept("."):
            return ast.Member(target, ast.Literal(self._property_name()))
        self._keyword("[")
        key = self._expression()
        self._keyword("]")
        return ast.Member(target, key)

    def _primary(self) -> ast.Expression:
        token = self._advance()
        match token.kind, token.value:
            case (("number" | "string"), value):
                return ast.Literal(value)
            case "parameter", name:
                return ast.Parameter(name)
            case "keyword", ("TRUE" | "FALSE" | "NULL" | "UNDEFINED") as constant:
                return ast.Literal(_CONSTANTS[constant])
            case "keyword", ("EXISTS" | "ARRAY") as kind:
                return self._subquery("exists" if kind == "EXISTS" else "array")
            case "keyword", ("LEFT" | "RIGHT") as name:
                return self._call(name)
            case "keyword", "UDF":
                raise bad_request("User-defined functions (udf.…) are not supported.")
            case "name", name:
                is_call = self._next.kind == "operator" and self._next.value == "("
                return self._call(name.upper()) if is_call else ast.Identifier(name)
            case "operator", "(":
                return self._parenthesis()
            case "operator", "[":
                return self._array()
            case "operator", "{":
                return self._object()
        self._index -= 1
        raise self._error()

    def _parenthesis(self) -> ast.Expression:
        if self._next.kind == "keyword" and self._next.value == "SELECT":
            self._index -= 1
            return self._subquery("scalar")
        expression = self._expression()
        self._keyword(")")
        return expression

    def _subquery(self, kind: Any) -> ast.Expression:
        self._keyword("(")
        query = self._nested(self.query)
        self._keyword(")")
        return ast.Subquery(kind, query)

    def _call(self, name: str) -> ast.Expression:
        self._keyword("(")
        if self._next.kind == "keyword" and self._next.value == "SELECT":
            raise self._error(f"{name}(SELECT …) is not supported.")
        arguments = () if self._next.value == ")" else self._list(self._expression)
        self._keyword(")")
        return ast.Call(name, arguments)

    def _array(self) -> ast.Expression:
        items = () if self._next.value == "]" else self._list(self._expression)
        self._keyword("]")
        # A vector written out is one constant, not hundreds of nodes.
        if all(isinstance(item, ast.Literal) and item.value is not UNDEFINED for item in items):
            return ast.Literal([item.value for item in items if isinstance(item, ast.Literal)])
        return ast.ArrayLiteral(items)

    def _object(self) -> ast.Expression:
        members = () if self._next.value == "}" else self._list(self._object_member)
        self._keyword("}")
        if all(isinstance(value, ast.Literal) and value.value is not UNDEFINED for _, value in members):
            return ast.Literal({name: value.value for name, value in members if isinstance(value, ast.Literal)})
        return ast.ObjectLiteral(members)

    def _object_member(self) -> tuple[str, ast.Expression]:
        name: str = self._take("string", "name").value
        self._keyword(":")
        return name, self._expression()

    # Tokens

    @property
    def _next(self) -> Token:
        return self._tokens[self._index]

    def _advance(self) -> Token:
        token = self._tokens[self._index]
        self._index += 1
        return token

    def _accept(self, value: str) -> bool:
        token = self._tokens[self._index]
        if token.kind in ("keyword", "operator") and token.value == value:
            self._index += 1
            return True
        return False

    def _keyword(self, value: str) -> None:
        if not self._accept(value):
            raise self._error(f"Expected {value}.")

    def _take(self, *kinds: TokenKind) -> Token:
        if self._next.kind not in kinds:
            raise self._error(f"Expected a {' or a '.join(kinds)}.")
        return self._advance()

    def _name(self) -> str:
        name: str = self._take("name").value
        return name

    def _property_name(self) -> str:
        if self._next.kind == "keyword":
            raise self._error(
                f'"{self._next.text}" is a reserved word; write ["{self._next.text}"] instead of .{self._next.text}.'
            )
        return self._name()

    def _list(self, rule: Callable[[], _T]) -> tuple[_T, ...]:
        items = [rule()]
        while self._accept(","):
            items.append(rule())
        return tuple(items)

    def _nested(self, rule: Callable[[], _T]) -> _T:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _too_deep()
        try:
            return rule()
        finally:
            self._depth -= 1

    def _error(self, hint: str = "") -> CosmosError:
        return syntax_error(self._next.text, self._next.position, hint)


def _too_deep() -> CosmosError:
    return bad_request(f"The query is nested more than {MAX_DEPTH} levels deep.")


def implied_name(expression: Any) -> str | None:
    """The name that a column or an input has without AS: its last property, or the alias itself."""
    if isinstance(expression, ast.Identifier):
        return expression.name
    if isinstance(expression, ast.Member) and isinstance(expression.key, ast.Literal):
        return expression.key.value if isinstance(expression.key.value, str) else None
    return None
