"""Mutations: small changes to the code that a test should notice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

GUARDING = {"etag", "match", "match_condition", "if_match", "condition", "if_none_match", "limit", "strict", "ttl"}
"""Keyword arguments that guard a write or bound a read."""
EXTREMES = {"min": "max", "max": "min"}
"""Functions that are taken for each other."""
_PAIRS: list[tuple[type[ast.AST], type[ast.AST]]] = [
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
    (ast.And, ast.Or),
]
TURNED: dict[type[ast.AST], type[Any]] = dict(_PAIRS) | {other: one for one, other in _PAIRS}


@dataclass(frozen=True)
class Mutant:
    """A change of the text from `start` to `end` of a file, in bytes."""

    path: str
    line: int
    start: int
    end: int
    text: str
    what: str

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]


def mutants_of(path: str, source: bytes) -> Iterator[Mutant]:
    """All changes of a file."""
    starts = [0]
    for row in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))

    def mutant(node: ast.expr | ast.stmt, text: str, what: str) -> Mutant:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        return Mutant(path, node.lineno, start, end, text, what)

    for node in _code(ast.parse(source)):
        match node:
            case ast.Compare(left=left, ops=[op, *others], comparators=comparators):
                turned = ast.unparse(ast.Compare(left, [TURNED[type(op)](), *others], comparators))
                yield mutant(node, f"({turned})", f"the comparison reads {turned}")
            case ast.BoolOp(op=op, values=values):
                turned = ast.unparse(ast.BoolOp(TURNED[type(op)](), values))
                yield mutant(node, f"({turned})", f"the condition reads {turned}")
                for one in values:
                    kept = [value for value in values if value is not one]
                    shorter = ast.unparse(kept[0] if len(kept) == 1 else ast.BoolOp(op, kept))
                    yield mutant(node, f"({shorter})", f"the condition lacks {ast.unparse(one)}")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield mutant(node, f"({ast.unparse(operand)})", f"`not` is dropped from {ast.unparse(node)}")
            case ast.If(test=test, body=[*_, ast.Return() | ast.Raise() | ast.Continue() | ast.Break() as leaves]):
                guard = f"if {ast.unparse(test)}: {ast.unparse(leaves)}"
                yield mutant(test, f"(({ast.unparse(test)}) and False)", f"the guard is dropped: {guard}")
            case ast.Expr(value=ast.Await(value=ast.Call())):
                yield mutant(node, "pass", f"the call is dropped: {ast.unparse(node)}")
            case ast.Call(func=func, args=args, keywords=keywords):
                if isinstance(func, ast.Name) and func.id in EXTREMES:
                    yield mutant(func, EXTREMES[func.id], f"{func.id} reads {EXTREMES[func.id]}")
                for dropped in keywords:
                    if dropped.arg in GUARDING:
                        rest = ast.Call(func, args, [keyword for keyword in keywords if keyword is not dropped])
                        yield mutant(node, ast.unparse(rest), f"the argument {dropped.arg}= is dropped")
            case ast.Constant(value=bool(value)):
                yield mutant(node, str(not value), f"{value} reads {not value}")
            case ast.Constant(value=int(value)):
                yield mutant(node, str(value + 1), f"{value} reads {value + 1}")


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a tree that are worth mutating: no annotations, texts, logs, or imports for the type checker."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_idle(child):
                yield child
                yield from _code(child)


def _is_idle(node: ast.AST) -> bool:
    match node:
        case ast.JoinedStr() | ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Assert():
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="logger" | "log" | "_log" | "_logger"))):
            return True
    return False
