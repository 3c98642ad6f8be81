"""Reads Bicep.

The packages that parse it keep no difference between a name and a text, so they cannot detect an undeclared symbol.
Anything that is not understood here is an error, never ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from infra_check.bicep_syntax import (
    Array,
    Binary,
    Call,
    Conditional,
    Constant,
    Declaration,
    Expression,
    If,
    Index,
    Interpolation,
    Lambda,
    Loop,
    Member,
    Module,
    Name,
    Object,
    Output,
    Parameter,
    Resource,
    Template,
    Unary,
    Variable,
)
from infra_check.bicep_tokens import BicepError, Token, tokens


def load(path: Path, root: Path) -> Template:
    """Reads one template. `root` is what its name in messages is relative to.

    Raises:
        BicepError: if it is not Bicep as it is understood here.
    """
    label = path.relative_to(root).as_posix()
    return _Parser(tokens(path.read_text(encoding="utf-8"), label), label).template(path)


_LEVELS = (("??",), ("||",), ("&&",), ("==", "!=", "=~", "!~"), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%"))
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


class _Parser:
    def __init__(self, stream: Sequence[Token], label: str) -> None:
        self._tokens = stream
        self._label = label
        self._at = 0

    def template(self, path: Path) -> Template:
        scope = "resourceGroup"
        declarations: list[Declaration] = []
        while self._skip_newlines().kind != "end":
            decorators = self._decorators()
            keyword = self._name()
            if keyword == "targetScope":
                self._expect("=")
                scope = self._plain_text()
            else:
                declarations.append(self._declaration(keyword, decorators))
            self._end_of_line()
        return Template(path, self._label, scope, tuple(declarations))

    def _decorators(self) -> dict[str, Expression | None]:
        found: dict[str, Expression | None] = {}
        while self._take("@"):
            name = self._name()
            self._expect("(")
            arguments = self._arguments()
            found[name] = arguments[0] if arguments else None
            self._skip_newlines()
        return found

    def _declaration(self, keyword: str, decorators: dict[str, Expression | None]) -> Declaration:
        match keyword:
            case "param":
                return self._parameter(decorators)
            case "var":
                return self._variable()
            case "output":
                return self._output()
            case "resource":
                return self._resource(decorators)
            case "module":
                return self._module(decorators)
            case _:
                raise self._error(f"{keyword!r} does not begin anything that is understood here")

    def _parameter(self, decorators: dict[str, Expression | None]) -> Parameter:
        line, name, type_ = self._peek().line, self._name(), self._type()
        default = self._expression() if self._take("=") else None
        return Parameter(name, type_, default, decorators, line)

    def _variable(self) -> Variable:
        line, name = self._peek().line, self._name()
        self._expect("=")
        return Variable(name, self._expression(), line)

    def _output(self) -> Output:
        line, name, type_ = self._peek().line, self._name(), self._type()
        self._expect("=")
        return Output(name, type_, self._expression(), line)

    def _resource(self, decorators: dict[str, Expression | None]) -> Resource:
        line, name, kind = self._peek().line, self._name(), self._plain_text()
        type_, at, version = kind.partition("@")
        if not at:
            raise self._error(f"resource {name} names no API version")
        existing = self._peek().value == "existing" and bool(self._name())
        self._expect("=")
        return Resource(name, type_, version, existing, self._deployable(), decorators, line)

    def _module(self, decorators: dict[str, Expression | None]) -> Module:
        line, name, path = self._peek().line, self._name(), self._plain_text()
        self._expect("=")
        return Module(name, path, self._deployable(), decorators, line)

    def _type(self) -> str:
        name = self._name()
        if self._take("["):
            self._expect("]")
            return "array"
        return name

    def _deployable(self) -> Expression:
        if self._peek().value == "if":
            self._name()
            self._expect("(")
            condition = self._inside(self._expression)
            self._expect(")")
            return If(condition, self._expression())
        return self._expression()

    def _expression(self) -> Expression:
        test = self._binary(0)
        if not self._take("?"):
            return test
        yes = self._expression()
        self._expect(":")
        return Conditional(test, yes, self._expression())

    def _binary(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self._peek().kind == "mark" and self._peek().value in _LEVELS[level]:
            operator = self._next()
            self._skip_newlines()
            left = Binary(operator.value, left, self._binary(level + 1), operator.line)
        return left

    def _unary(self) -> Expression:
        if self._peek().kind == "mark" and self._peek().value in ("!", "-"):
            return Unary(self._next().value, self._unary())
        return self._postfix(self._primary())

    def _postfix(self, target: Expression) -> Expression:
        while True:
            line = self._peek().line
            if self._take("."):
                self._take("?")
                name = self._name()
                target = Call(name, self._arguments(), line, target) if self._take("(") else Member(target, name, line)
            elif self._take("["):
                target = Index(target, self._inside(self._expression), line)
                self._expect("]")
            elif not self._take("!"):  # `!` asserts that a value is not null, which changes nothing here.
                return target

    def _primary(self) -> Expression:
        token = self._next()
        if token.kind == "number":
            return Constant(int(token.value))
        if token.kind == "text":
            return self._text(token)
        if token.kind == "name":
            return self._named(token)
        if token.value == "(":
            return self._parenthesis()
        if token.value == "[":
            return self._array()
        if token.value == "{":
            return self._object()
        raise self._error(f"a value is wanted, not {token.value or token.kind!r}", token)

    def _named(self, token: Token) -> Expression:
        if token.value in _WORDS:
            return Constant(_WORDS[token.value])
        if self._take("("):
            return Call(token.value, self._arguments(), token.line)
        if self._take("=>"):
            return Lambda((token.value,), self._expression())
        return Name(token.value, token.line)

    def _parenthesis(self) -> Expression:
        inner = self._inside(self._expression)
        names = [inner]
        while self._take(","):
            names.append(self._inside(self._expression))
        self._expect(")")
        if self._take("=>"):
            return Lambda(tuple(name.text for name in names if isinstance(name, Name)), self._expression())
        if len(names) > 1:
            raise self._error("a list of names is followed by =>")
        return inner

    def _text(self, token: Token) -> Expression:
        if all(isinstance(part, str) for part in token.parts):
            return Constant("".join(str(part) for part in token.parts))
        parts = [part if isinstance(part, str) else _Parser(part, self._label)._whole() for part in token.parts]
        return Interpolation(tuple(parts))

    def _whole(self) -> Expression:
        value = self._inside(self._expression)
        if self._peek().kind != "end":
            raise self._error("one value is interpolated at a time")
        return value

    def _arguments(self) -> tuple[Expression, ...]:
        found: list[Expression] = []
        while self._skip_newlines().value != ")":
            found.append(self._expression())
            self._skip_newlines()
            if not self._take(","):
                break
        self._expect(")")
        return tuple(found)

    def _array(self) -> Expression:
        if self._skip_newlines().value == "for":
            return self._loop()
        items: list[Expression] = []
        while self._skip_separators().value != "]":
            items.append(self._expression())
        self._expect("]")
        return Array(tuple(items))

    def _loop(self) -> Expression:
        self._name()
        index = None
        if self._take("("):
            item = self._name()
            self._expect(",")
            index = self._name()
            self._expect(")")
        else:
            item = self._name()
        if self._name() != "in":
            raise self._error("a loop is `for item in list`")
        source = self._inside(self._expression)
        self._expect(":")
        body = self._inside(self._deployable)
        self._expect("]")
        return Loop(item, index, source, body)

    def _object(self) -> Expression:
        fields: list[tuple[Expression, Expression]] = []
        while self._skip_separators().value != "}":
            token = self._next()
            if token.kind == "name":
                key: Expression = Constant(token.value)
            elif token.kind == "text":
                key = self._text(token)
            else:
                raise self._error(f"a key is wanted, not {token.value!r}", token)
            self._expect(":")
            fields.append((key, self._expression()))
        self._expect("}")
        return Object(tuple(fields))

    def _inside(self, parse: Callable[[], Expression]) -> Expression:
        """A value that may span several lines."""
        self._skip_newlines()
        value = parse()
        self._skip_newlines()
        return value

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _take(self, mark: str) -> bool:
        taken = self._peek().kind == "mark" and self._peek().value == mark
        self._at += taken
        return taken

    def _expect(self, mark: str) -> None:
        if not self._take(mark):
            raise self._error(f"{mark!r} is wanted, not {self._peek().value or self._peek().kind!r}")

    def _name(self) -> str:
        token = self._next()
        if token.kind != "name":
            raise self._error(f"a name is wanted, not {token.value or token.kind!r}", token)
        return token.value

    def _plain_text(self) -> str:
        token = self._next()
        value = self._text(token) if token.kind == "text" else None
        if not isinstance(value, Constant) or not isinstance(value.value, str):
            raise self._error("a text without interpolation is wanted", token)
        return value.value

    def _skip_newlines(self) -> Token:
        while self._peek().kind == "newline":
            self._at += 1
        return self._peek()

    def _skip_separators(self) -> Token:
        while self._peek().kind == "newline" or (self._peek().kind == "mark" and self._peek().value == ","):
            self._at += 1
        return self._peek()

    def _end_of_line(self) -> None:
        token = self._next()
        if token.kind not in ("newline", "end"):
            raise self._error(f"{token.value!r} does not belong to the line before it", token)

    def _error(self, message: str, token: Token | None = None) -> BicepError:
        return BicepError(self._label, (token or self._peek()).line, message)
