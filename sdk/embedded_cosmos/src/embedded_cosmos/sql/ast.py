"""The syntax tree of a query: immutable, comparable nodes without behaviour."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Literal as OneOf

from embedded_cosmos.sql.values import Json

Direction = OneOf["ASC", "DESC"]


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: a JSON value or `undefined`."""

    value: Json


@dataclass(frozen=True, slots=True)
class Parameter:
    """`@name`, before binding."""

    name: str


@dataclass(frozen=True, slots=True)
class Identifier:
    """An alias of the FROM clause."""

    name: str


@dataclass(frozen=True, slots=True)
class Member:
    """`target.key`, `target["key"]` or `target[0]`."""

    target: Expression
    key: Expression


@dataclass(frozen=True, slots=True)
class Unary:
    """`-`, `+`, `~` or `NOT`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, comparison, `||` and `??`."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Logical:
    """`AND` or `OR` over two operands or more: a chain of a thousand is flat, not deep."""

    operator: OneOf["AND", "OR"]
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """`operand BETWEEN low AND high`, both ends included."""

    operand: Expression
    low: Expression
    high: Expression


@dataclass(frozen=True, slots=True)
class In:
    """`operand IN (items)`."""

    operand: Expression
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Like:
    """`operand LIKE pattern ESCAPE escape`."""

    operand: Expression
    pattern: Expression
    escape: str | None


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? consequent : alternative`."""

    condition: Expression
    consequent: Expression
    alternative: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """A function call; the name is in upper case."""

    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ArrayLiteral:
    """`[a, b]`; undefined items are left out."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ObjectLiteral:
    """`{"a": b}`; undefined members are left out."""

    members: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Subquery:
    """`(SELECT …)` as a value, `EXISTS(SELECT …)` or `ARRAY(SELECT …)`."""

    kind: OneOf["scalar", "exists", "array"]
    query: Query


Expression = (
    Literal
    | Parameter
    | Identifier
    | Member
    | Unary
    | Binary
    | Logical
    | Between
    | In
    | Like
    | Conditional
    | Call
    | ArrayLiteral
    | ObjectLiteral
    | Subquery
)


@dataclass(frozen=True, slots=True)
class Mentions:
    """What an expression mentions, so that a column that cannot matter is not walked through for each execution."""

    functions: frozenset[str]
    """The names of the functions that it calls outside of subqueries."""
    properties: frozenset[str] | None
    """The names that follow an alias; None if it uses an alias in any other way."""


@dataclass(frozen=True, slots=True)
class SelectItem:
    """One column of a SELECT list."""

    expression: Expression
    alias: str | None
    mentions: Mentions | None = field(default=None, compare=False)
    """None: not known. Parameters do not change it."""

    def may_call(self, functions: Collection[str]) -> bool:
        """Whether it may call one of these functions outside of a subquery."""
        return self.mentions is None or not self.mentions.functions.isdisjoint(functions)

    def may_read(self, properties: Collection[str | int]) -> bool:
        """Whether it may read one of these properties of an alias."""
        known = None if self.mentions is None else self.mentions.properties
        return known is None or not known.isdisjoint(properties)


@dataclass(frozen=True, slots=True)
class Select:
    """The SELECT clause; `star` and `value` exclude each other, a value has one item."""

    kind: OneOf["star", "value", "list"]
    items: tuple[SelectItem, ...]
    distinct: bool
    top: Expression | None


@dataclass(frozen=True, slots=True)
class Source:
    """One input of FROM or JOIN.

    The origin is a subquery, or an expression whose innermost target is an alias or the container itself.
    `alias IN origin` iterates over the origin's elements.
    """

    alias: str
    origin: Expression | Query
    iterate: bool


@dataclass(frozen=True, slots=True)
class OrderItem:
    """One key of ORDER BY. No direction means ascending, but the linter distinguishes it from `ASC`."""

    expression: Expression
    direction: Direction | None


@dataclass(frozen=True, slots=True)
class Query:
    """A query or subquery."""

    select: Select
    sources: tuple[Source, ...]
    where: Expression | None
    group_by: tuple[Expression, ...]
    order_by: tuple[OrderItem, ...]
    by_rank: bool
    offset: Expression | None
    limit: Expression | None


_FIELDS: dict[type, tuple[str, ...]] = {
    node: tuple(field.name for field in fields(node))
    for node in (*Expression.__args__, SelectItem, Select, Source, OrderItem, Query)
}

_LEAVES = (Literal, Parameter, Identifier)


def property_of(node: Any) -> tuple[str, str] | None:
    """The alias and the name of `alias.name`, as most columns are; None for any other expression."""
    if type(node) is Member and type(node.target) is Identifier and type(node.key) is Literal:
        return (node.target.name, node.key.value) if type(node.key.value) is str else None
    return None


def children(node: Any) -> list[Any]:
    """The nodes directly under a node, in the order of the text."""
    found: list[Any] = []
    for name in _FIELDS[type(node)]:
        _collect(getattr(node, name), found)
    return found


def walk(node: Any, into_subqueries: bool = True) -> Iterator[Any]:
    """A node and all that is under it, parents first."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        if type(node) not in _LEAVES and (into_subqueries or type(node) is not Subquery):
            pending.extend(reversed(children(node)))


def mentions_of(expression: Expression) -> Mentions:
    """The functions and properties that an expression mentions."""
    functions = frozenset(node.name for node in walk(expression, into_subqueries=False) if type(node) is Call)
    aliases = plain = 0
    properties: set[str] = set()
    for node in walk(expression):
        aliases += type(node) is Identifier
        place = property_of(node)
        if place is not None:
            plain += 1
            properties.add(place[1])
    return Mentions(functions, frozenset(properties) if aliases == plain else None)


def holders(node: Any, kind: type) -> frozenset[int]:
    """The ids of what is of a kind in a tree, and of all nodes and tuples that contain it."""
    found: set[int] = set()

    def holds(part: Any) -> bool:
        if type(part) is tuple:
            inside = [holds(item) for item in part]
        else:
            inside = [holds(getattr(part, name)) for name in _FIELDS.get(type(part), ())]
        if type(part) is kind or any(inside):
            found.add(id(part))
            return True
        return False

    holds(node)
    return frozenset(found)


def transform(node: Any, replace: Callable[[Any], Any], within: Container[int] | None = None) -> Any:
    """The tree with every node for which `replace` gives another one exchanged; untouched parts are shared.

    If ids are given (see `holders`), nothing else is looked at.
    """
    if within is not None and id(node) not in within:
        return node
    if type(node) is tuple:
        items = tuple(transform(item, replace, within) for item in node)
        return items if any(new is not old for new, old in zip(items, node, strict=True)) else node
    names = _FIELDS.get(type(node))
    if names is None:
        return node
    replacement = replace(node)
    if replacement is not node:
        return replacement
    if type(node) in _LEAVES:
        return node
    changed = False
    values = []
    for name in names:
        old = getattr(node, name)
        new = transform(old, replace, within)
        changed = changed or new is not old
        values.append(new)
    return type(node)(*values) if changed else node


def _collect(value: Any, found: list[Any]) -> None:
    if type(value) is tuple:
        for item in value:
            _collect(item, found)
    elif type(value) in _FIELDS:
        found.append(value)
