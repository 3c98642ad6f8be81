"""Expressions to Python closures over the values bound by FROM.

An environment is a tuple with one slot for every alias in scope. Parameters must have been bound before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from embedded_cosmos.errors import bad_request
from embedded_cosmos.sql import ast, functions
from embedded_cosmos.sql.functions.strings import like_pattern
from embedded_cosmos.sql.operators import BINARY, COMPARISONS, UNARY, member
from embedded_cosmos.sql.values import UNDEFINED, Json, is_number, sort_key

Environment = tuple[Json, ...]
Evaluator = Callable[[Environment], Json]
Intrinsic = Callable[["Compiler", ast.Call], Evaluator]
"""Compiles a function that needs more than its arguments: the container's policies, or a known score."""
SubqueryCompiler = Callable[["Compiler", ast.Subquery], Evaluator]

AGGREGATES = frozenset({"COUNT", "COUNTIF", "SUM", "AVG", "MIN", "MAX"})


@dataclass(frozen=True, slots=True)
class Compiler:
    """Compiles expressions in a scope: where each alias lies, and what special functions and known values there are."""

    subquery: SubqueryCompiler
    intrinsics: Mapping[str, Intrinsic]
    slots: Mapping[str, int] = field(default_factory=dict)
    width: int = 0
    known: tuple[tuple[ast.Expression, Evaluator], ...] = ()
    closures: Closures | None = None
    """What earlier queries with the same text have compiled."""

    def bind(self, alias: str) -> Compiler:
        """The scope of an inner query or JOIN that adds one alias, in the next slot."""
        return replace(self, slots={**self.slots, alias: self.width}, width=self.width + 1)

    def knowing(self, expressions: tuple[ast.Expression, ...]) -> Compiler:
        """The scope with one hidden slot more, a tuple of values already known for these expressions."""
        slot = self.width
        known = tuple((expression, _known_value(slot, index)) for index, expression in enumerate(expressions))
        return replace(self, width=self.width + 1, known=(*self.known, *known))

    def compile(self, expression: ast.Expression) -> Evaluator:
        """The closure of an expression; raises 400 for what cannot be evaluated."""
        if self.closures is not None:
            kept = self.closures.of(self, expression)
            if kept is not None:
                return kept
        for known, evaluator in self.known:
            if known == expression:
                return evaluator
        return _RULES[type(expression)](self, expression)

    def resolve(self, name: str) -> int:
        """The slot of an alias; raises 400 when FROM does not bind it."""
        slot = self.slots.get(name)
        if slot is None:
            raise bad_request(f"Identifier '{name}' could not be resolved: FROM binds {_listed(self.slots)}.")
        return slot


class Closures:
    """The closures of the parts of a query text that mean the same each time, so that each is compiled once.

    These have no parameters, no functions that depend on the container or on the time, and no subqueries. What fills
    in the parameters shares these parts, so their ids tell them.
    """

    def __init__(self, query: ast.Query) -> None:
        self._parts = {id(part): part for part in _lasting(query)}
        self._compiled: dict[int, tuple[Mapping[str, int], Evaluator]] = {}

    def of(self, compiler: Compiler, expression: ast.Expression) -> Evaluator | None:
        """The closure of such a part in the scope of a compiler; None for any other expression."""
        key = id(expression)
        if key not in self._parts:
            return None
        known = self._compiled.get(key)
        if known is None or known[0] != compiler.slots:
            known = self._compiled[key] = (compiler.slots, _RULES[type(expression)](compiler, expression))
        return known[1]


def _lasting(node: Any) -> Iterator[ast.Expression]:
    """The largest parts of a tree that mean the same each time."""
    if _is_lasting(node):
        yield node
    elif type(node) is not ast.Subquery:
        for child in ast.children(node):
            yield from _lasting(child)


def _is_lasting(node: Any) -> bool:
    if type(node) is ast.Call and (
        node.name not in functions.names() or all(isinstance(argument, ast.Literal) for argument in node.arguments)
    ):
        return False
    return type(node) in _LASTING and all(map(_is_lasting, ast.children(node)))


def constant(value: Json) -> Evaluator:
    """The closure of a constant."""
    return lambda environment: value


def path_of(expression: object) -> tuple[str, tuple[str | int, ...]] | None:
    """The alias and constant keys of `c.a["b"][0]`; None for other expressions."""
    keys: list[str | int] = []
    while isinstance(expression, ast.Member):
        key = expression.key.value if isinstance(expression.key, ast.Literal) else None
        if type(key) is not str and type(key) is not int:
            return None
        keys.append(key)
        expression = expression.target
    return (expression.name, tuple(reversed(keys))) if isinstance(expression, ast.Identifier) else None


def _known_value(slot: int, index: int) -> Evaluator:
    return lambda environment: environment[slot][index]


def _listed(names: Any) -> str:
    return ", ".join(f"'{name}'" for name in names) or "nothing"


def _literal(compiler: Compiler, node: ast.Literal) -> Evaluator:
    return constant(node.value)


def _parameter(compiler: Compiler, node: ast.Parameter) -> Evaluator:
    raise bad_request(f"The query has no value for the parameter '{node.name}'.")


def _identifier(compiler: Compiler, node: ast.Identifier) -> Evaluator:
    slot = compiler.resolve(node.name)
    return lambda environment: environment[slot]


def _member(compiler: Compiler, node: ast.Member) -> Evaluator:
    if isinstance(node.key, ast.Literal) and type(node.key.value) is str:
        name = node.key.value
        if isinstance(node.target, ast.Identifier):
            slot = compiler.resolve(node.target.name)

            def direct(environment: Environment) -> Json:
                target = environment[slot]
                return target.get(name, UNDEFINED) if type(target) is dict else UNDEFINED

            return direct
        outer = compiler.compile(node.target)

        def nested(environment: Environment) -> Json:
            target = outer(environment)
            return target.get(name, UNDEFINED) if type(target) is dict else UNDEFINED

        return nested
    target, key = compiler.compile(node.target), compiler.compile(node.key)
    return lambda environment: member(target(environment), key(environment))


def _unary(compiler: Compiler, node: ast.Unary) -> Evaluator:
    operand, apply = compiler.compile(node.operand), UNARY[node.operator]
    return lambda environment: apply(operand(environment))


def _binary(compiler: Compiler, node: ast.Binary) -> Evaluator:
    left = compiler.compile(node.left)
    if isinstance(node.right, ast.Literal):
        special = _with_constant(node.operator, left, node.right.value)
        if special is not None:
            return special
    right = compiler.compile(node.right)
    if node.operator == "??":

        def coalesce(environment: Environment) -> Json:
            value = left(environment)
            return right(environment) if value is UNDEFINED else value

        return coalesce
    apply = BINARY[node.operator]
    return lambda environment: apply(left(environment), right(environment))


def _with_constant(operator: str, left: Evaluator, value: Json) -> Evaluator | None:
    """The shapes that filters are made of, without the general case's detours."""
    if operator == "=" and (type(value) is str or value is None):

        def equal(environment: Environment) -> Json:
            found = left(environment)
            return UNDEFINED if found is UNDEFINED else found == value

        return equal
    compare = COMPARISONS.get(operator)
    if compare is None:
        return None
    if type(value) is str:

        def compare_string(environment: Environment) -> Json:
            found = left(environment)
            return compare(found, value) if type(found) is str else UNDEFINED

        return compare_string
    if is_number(value):

        def compare_number(environment: Environment) -> Json:
            found = left(environment)
            return compare(found, value) if type(found) is int or type(found) is float else UNDEFINED

        return compare_number
    return None


def _logical(compiler: Compiler, node: ast.Logical) -> Evaluator:
    operands = tuple(compiler.compile(operand) for operand in node.operands)
    decisive, neutral = node.operator == "OR", node.operator == "AND"

    def combine(environment: Environment) -> Json:
        result: Json = neutral
        for operand in operands:
            value = operand(environment)
            if value is decisive:
                return decisive
            if value is not neutral:
                result = UNDEFINED
        return result

    return combine


def _between(compiler: Compiler, node: ast.Between) -> Evaluator:
    bounds = (ast.Binary(">=", node.operand, node.low), ast.Binary("<=", node.operand, node.high))
    return _logical(compiler, ast.Logical("AND", bounds))


def _in(compiler: Compiler, node: ast.In) -> Evaluator:
    operand = compiler.compile(node.operand)
    constants = frozenset(sort_key(item.value) for item in node.items if isinstance(item, ast.Literal))
    others = tuple(compiler.compile(item) for item in node.items if not isinstance(item, ast.Literal))

    def contained(environment: Environment) -> Json:
        value = operand(environment)
        if value is UNDEFINED:
            return UNDEFINED
        key = sort_key(value)
        return key in constants or any(key == sort_key(other(environment)) for other in others)

    return contained


def _like(compiler: Compiler, node: ast.Like) -> Evaluator:
    operand, pattern, escape = compiler.compile(node.operand), compiler.compile(node.pattern), node.escape

    def matches(environment: Environment) -> Json:
        text, like = operand(environment), pattern(environment)
        if type(text) is not str or type(like) is not str:
            return UNDEFINED
        return like_pattern(like, escape).is_all_of(text)

    return matches


def _conditional(compiler: Compiler, node: ast.Conditional) -> Evaluator:
    condition = compiler.compile(node.condition)
    consequent, alternative = compiler.compile(node.consequent), compiler.compile(node.alternative)
    return lambda environment: (consequent if condition(environment) is True else alternative)(environment)


def _call(compiler: Compiler, node: ast.Call) -> Evaluator:
    if node.name in AGGREGATES:
        raise bad_request(
            f"The aggregate {node.name} is allowed in the SELECT clause only, and not inside another one."
        )
    intrinsic = compiler.intrinsics.get(node.name)
    if intrinsic is not None:
        return intrinsic(compiler, node)
    function = functions.lookup(node.name, len(node.arguments))
    arguments = tuple(compiler.compile(argument) for argument in node.arguments)
    call = function.call

    if len(arguments) == 1:
        only, lenient = arguments[0], function.lenient

        def call_one(environment: Environment) -> Json:
            value = only(environment)
            return UNDEFINED if value is UNDEFINED and not lenient else call(value)

        evaluator: Evaluator = call_one
    elif function.lenient:

        def call_lenient(environment: Environment) -> Json:
            return call(*[argument(environment) for argument in arguments])

        evaluator = call_lenient
    else:

        def call_strict(environment: Environment) -> Json:
            values = []
            for argument in arguments:
                value = argument(environment)
                if value is UNDEFINED:
                    return UNDEFINED
                values.append(value)
            return call(*values)

        evaluator = call_strict
    # So GetCurrentDateTime() is one moment for the whole query.
    return constant(evaluator(())) if all(isinstance(item, ast.Literal) for item in node.arguments) else evaluator


def _array_literal(compiler: Compiler, node: ast.ArrayLiteral) -> Evaluator:
    items = tuple(compiler.compile(item) for item in node.items)
    return lambda environment: [value for item in items if (value := item(environment)) is not UNDEFINED]


def _object_literal(compiler: Compiler, node: ast.ObjectLiteral) -> Evaluator:
    members = tuple((name, compiler.compile(value)) for name, value in node.members)
    return object_of(members)


def object_of(members: tuple[tuple[str, Evaluator], ...]) -> Evaluator:
    """The closure of an object whose undefined members are left out."""

    def create(environment: Environment) -> Json:
        return {name: value for name, member in members if (value := member(environment)) is not UNDEFINED}

    return create


def _subquery(compiler: Compiler, node: ast.Subquery) -> Evaluator:
    return compiler.subquery(compiler, node)


_RULES: dict[type, Callable[[Compiler, Any], Evaluator]] = {
    ast.Literal: _literal,
    ast.Parameter: _parameter,
    ast.Identifier: _identifier,
    ast.Member: _member,
    ast.Unary: _unary,
    ast.Binary: _binary,
    ast.Logical: _logical,
    ast.Between: _between,
    ast.In: _in,
    ast.Like: _like,
    ast.Conditional: _conditional,
    ast.Call: _call,
    ast.ArrayLiteral: _array_literal,
    ast.ObjectLiteral: _object_literal,
    ast.Subquery: _subquery,
}
_LASTING = frozenset(_RULES) - {ast.Parameter, ast.Subquery}
