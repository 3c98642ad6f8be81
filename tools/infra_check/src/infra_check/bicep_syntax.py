"""Bicep templates as trees: the part of the language that our templates are written in, and nothing else of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar


@dataclass(frozen=True, slots=True)
class Name:
    """A symbol that is used."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A number, a truth value, a text without interpolation, or null."""

    value: str | int | bool | None


@dataclass(frozen=True, slots=True)
class Interpolation:
    """A text with values in it."""

    parts: tuple[str | Expression, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """A list of values."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Object:
    """Values by key."""

    fields: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """`[for item in source: body]`; the body of a resource or module may have a condition."""

    item: str
    index: str | None
    source: Expression
    body: Expression


@dataclass(frozen=True, slots=True)
class If:
    """`if (condition) body`, of a resource or module."""

    condition: Expression
    body: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the language, or (with a target) of a resource."""

    function: str
    arguments: tuple[Expression, ...]
    line: int
    target: Expression | None = None


@dataclass(frozen=True, slots=True)
class Lambda:
    """`(a, b) => body`."""

    parameters: tuple[str, ...]
    body: Expression


@dataclass(frozen=True, slots=True)
class Member:
    """`target.name`."""

    target: Expression
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Index:
    """`target[index]`."""

    target: Expression
    index: Expression
    line: int


@dataclass(frozen=True, slots=True)
class Unary:
    """`!operand` or `-operand`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands."""

    operator: str
    left: Expression
    right: Expression
    line: int


@dataclass(frozen=True, slots=True)
class Conditional:
    """`test ? yes : no`."""

    test: Expression
    yes: Expression
    no: Expression


Expression = (
    Name | Constant | Interpolation | Array | Object | Loop | If | Call | Lambda | Member | Index | Unary | Binary
) | Conditional


@dataclass(frozen=True, slots=True)
class Parameter:
    """`param`, with its decorators."""

    name: str
    type: str
    default: Expression | None
    decorators: dict[str, Expression | None]
    line: int


@dataclass(frozen=True, slots=True)
class Variable:
    """`var`."""

    name: str
    value: Expression
    line: int


@dataclass(frozen=True, slots=True)
class Resource:
    """`resource`, with its decorators."""

    name: str
    type: str
    api_version: str
    existing: bool
    body: Expression
    decorators: dict[str, Expression | None]
    line: int


@dataclass(frozen=True, slots=True)
class Module:
    """`module`, likewise."""

    name: str
    path: str
    body: Expression
    decorators: dict[str, Expression | None]
    line: int


@dataclass(frozen=True, slots=True)
class Output:
    """`output`."""

    name: str
    type: str
    value: Expression
    line: int


Declaration = Parameter | Variable | Resource | Module | Output
_D = TypeVar("_D", Parameter, Variable, Resource, Module, Output)


@dataclass(frozen=True, slots=True)
class Template:
    """One file."""

    path: Path
    label: str
    scope: str
    declarations: tuple[Declaration, ...]

    def of(self, kind: type[_D]) -> dict[str, _D]:
        """The declarations of one kind, by name."""
        return {declaration.name: declaration for declaration in self.declarations if isinstance(declaration, kind)}
