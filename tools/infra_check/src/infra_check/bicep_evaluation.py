"""What a template would deploy, computed without Azure.

A value that only Azure knows (an address, an object id) is a `Deferred`: a text in angle brackets that says where it
would come from. Resource ids are made as Azure makes them, so that a reference from one module to a resource of
another can be followed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infra_check import bicep_syntax as syntax
from infra_check.bicep_syntax import Expression, Template
from infra_check.bicep_tokens import BicepError

Values = Mapping[str, Any]

SUBSCRIPTION = "/subscriptions/00000000-0000-0000-0000-000000000000"
_TYPES: dict[str, type] = {"string": str, "int": int, "bool": bool, "object": dict, "array": list}


class Deferred(str):
    """A value that only Azure knows; its members are such values too."""

    __slots__ = ()

    def member(self, name: str) -> Deferred:
        """`value.name`."""
        return Deferred(f"{self[:-1]}.{name}>")


@dataclass(frozen=True, slots=True)
class Deployed:
    """A resource as it would be deployed, or an existing one."""

    source: str
    type: str
    api_version: str
    id: str
    name: str
    existing: bool
    body: Values
    scope_id: str | None = None

    def member(self, name: str) -> Any:
        """`resource.name`: the value in the template, or one that only Azure knows."""
        if name in ("id", "name", "type"):
            return getattr(self, name)
        return self.body[name] if name in self.body and name != "properties" else Deferred(f"<{self.id}.{name}>")


@dataclass(slots=True)
class Deployment:
    """All that one template deploys, its modules' resources among them."""

    resources: list[Deployed] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)

    def of_type(self, type_: str) -> list[Deployed]:
        """The new resources of one type."""
        return [r for r in self.resources if r.type.lower() == type_.lower() and not r.existing]


def deploy(main: Path, templates: Mapping[Path, Template], parameters: Values) -> Deployment:
    """Works out what the main template deploys with these parameters; the others have their defaults.

    Raises:
        BicepError: if Azure would refuse it for a reason that can be seen here.
    """
    return _Evaluation(templates[main], templates, parameters, SUBSCRIPTION, None).run()


class _Evaluation:
    """One template with its parameters. Declarations are evaluated on first use."""

    def __init__(
        self,
        template: Template,
        templates: Mapping[Path, Template],
        parameters: Values,
        scope_id: str,
        group: Deployed | None,
    ) -> None:
        self._template = template
        self._templates = templates
        self._parameters = parameters
        self._scope_id = scope_id
        self._group = group
        self._declarations = {d.name: d for d in template.declarations if not isinstance(d, syntax.Output)}
        self._known: dict[str, Any] = {}
        self._under_way: set[str] = set()
        self.deployment = Deployment()

    def run(self) -> Deployment:
        for name, declaration in self._declarations.items():
            if not isinstance(declaration, syntax.Variable):  # an unused branch of a variable may make no sense
                self._symbol(name, declaration.line)
        for output in self._template.of(syntax.Output).values():
            value = self._value(output.value, {})
            self._check_type(f"output {output.name}", output.type, value, output.line)
            self.deployment.outputs[output.name] = value
        return self.deployment

    def _symbol(self, name: str, line: int) -> Any:
        if name not in self._known:
            if name not in self._declarations:
                raise self._error(line, f"{name} is not declared")
            if name in self._under_way:
                raise self._error(line, f"{name} depends on itself")
            self._under_way.add(name)
            self._known[name] = self._work_out(self._declarations[name])
        return self._known[name]

    def _work_out(self, declaration: syntax.Declaration) -> Any:
        match declaration:
            case syntax.Parameter():
                return self._parameter(declaration)
            case syntax.Resource():
                return self._deployables(declaration.body, {}, lambda body, local: self._new(declaration, body, local))
            case syntax.Module():
                return self._deployables(declaration.body, {}, lambda body, local: self._run(declaration, body, local))
            case _:
                return self._value(declaration.value, {})

    def _parameter(self, parameter: syntax.Parameter) -> Any:
        if parameter.name in self._parameters:
            value = self._parameters[parameter.name]
        elif parameter.default is not None:
            value = self._value(parameter.default, {})
        else:
            raise self._error(parameter.line, f"parameter {parameter.name} is not given")
        self._check_type(f"parameter {parameter.name}", parameter.type, value, parameter.line)
        allowed = parameter.decorators.get("allowed")
        if allowed is not None and value not in self._value(allowed, {}):
            raise self._error(parameter.line, f"parameter {parameter.name} may not be {value!r}")
        return value

    def _check_type(self, what: str, type_: str, value: Any, line: int) -> None:
        wanted = _TYPES.get(type_)
        if wanted is None:
            raise self._error(line, f"{what} is of a type that is not known here: {type_}")
        if isinstance(value, Deferred):
            return
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            raise self._error(line, f"{what} is to be of type {type_}, not {value!r}")

    def _deployables(self, body: Expression, local: Values, make: Callable[[syntax.Object, Values], Any]) -> Any:
        if isinstance(body, syntax.Loop):
            return [self._deployables(body.body, inner, make) for inner in self._rounds(body, local)]
        if isinstance(body, syntax.If):
            return self._deployables(body.body, local, make) if self._value(body.condition, local) else None
        if not isinstance(body, syntax.Object):
            raise self._error(1, "a resource or module is described by an object")
        return make(body, local)

    def _rounds(self, loop: syntax.Loop, local: Values) -> list[Values]:
        index = loop.index
        return [
            {**local, loop.item: item, **({index: i} if index else {})}
            for i, item in enumerate(self._value(loop.source, local))
        ]

    def _new(self, resource: syntax.Resource, described: syntax.Object, local: Values) -> Deployed:
        body = self._object(described, local)
        parent, scope, name = body.pop("parent", None), body.pop("scope", None), body.get("name")
        if not isinstance(name, str) or not name:
            raise self._error(resource.line, f"resource {resource.name} has no name")
        if parent is not None:
            id_ = f"{parent.id}/{resource.type.rsplit('/', 1)[1]}/{name}"
        elif resource.type == "Microsoft.Resources/resourceGroups":
            id_ = f"{self._scope_id}/resourceGroups/{name}"
        else:
            id_ = f"{scope.id if scope is not None else self._scope_id}/providers/{resource.type}/{name}"
        deployed = Deployed(
            f"{self._template.label}:{resource.line}",
            resource.type,
            resource.api_version,
            id_,
            name,
            resource.existing,
            body,
            None if scope is None else scope.id,
        )
        self.deployment.resources.append(deployed)
        return deployed

    def _run(self, module: syntax.Module, described: syntax.Object, local: Values) -> Values:
        fields = {str(key.value): value for key, value in described.fields if isinstance(key, syntax.Constant)}
        target = self._templates[(self._template.path.parent / module.path).resolve()]
        group = self._value(fields["scope"], local) if "scope" in fields else self._group
        if (target.scope == "resourceGroup") != (group is not None):
            raise self._error(
                module.line, f"module {module.name} is deployed to another scope than {target.label} is for"
            )
        parameters = self._value(fields["params"], local) if "params" in fields else {}
        scope_id = group.id if group is not None else self._scope_id
        inner = _Evaluation(target, self._templates, parameters, scope_id, group).run()
        self.deployment.resources += inner.resources
        return {"outputs": inner.outputs, "name": self._value(fields["name"], local)}

    def _object(self, described: syntax.Object, local: Values) -> dict[str, Any]:
        return {str(self._value(key, local)): self._value(value, local) for key, value in described.fields}

    def _value(self, node: Expression, local: Values) -> Any:
        match node:
            case syntax.Constant(value):
                return value
            case syntax.Name(text, line):
                return local[text] if text in local else self._symbol(text, line)
            case syntax.Interpolation(parts):
                return "".join(part if isinstance(part, str) else _text(self._value(part, local)) for part in parts)
            case syntax.Array(items):
                return [self._value(item, local) for item in items]
            case syntax.Object():
                return self._object(node, local)
            case syntax.Loop(_, _, _, body):
                return [self._value(body, inner) for inner in self._rounds(node, local)]
            case syntax.Member(target, name, line):
                return self._member(self._value(target, local), name, line)
            case syntax.Index(target, index, _):
                return self._value(target, local)[self._value(index, local)]
            case syntax.Conditional(test, yes, no):
                return self._value(yes if self._value(test, local) else no, local)
            case syntax.Unary("!", operand):
                return not self._value(operand, local)
            case syntax.Unary(_, operand):
                return -self._value(operand, local)
            case syntax.Binary():
                return self._binary(node, local)
            case syntax.Lambda(parameters, body):
                return lambda *given: self._value(body, {**local, **dict(zip(parameters, given, strict=True))})
            case syntax.Call():
                return self._call(node, local)
            case _:
                raise self._error(1, "a condition stands where only resources and modules have one")

    def _member(self, target: Any, name: str, line: int) -> Any:
        if isinstance(target, Deployed | Deferred):
            return target.member(name)
        if target is None:
            raise self._error(line, f".{name} is read of something that is not deployed")
        if not isinstance(target, Mapping) or name not in target:
            raise self._error(line, f"there is no .{name}")
        return target[name]

    def _binary(self, node: syntax.Binary, local: Values) -> Any:
        left = self._value(node.left, local)
        if node.operator == "&&":
            return left and self._value(node.right, local)
        if node.operator == "||":
            return left or self._value(node.right, local)
        if node.operator == "??":
            return self._value(node.right, local) if left is None else left
        if node.operator not in _OPERATORS:
            raise self._error(node.line, f"{node.operator} is not understood here")
        return _OPERATORS[node.operator](left, self._value(node.right, local))

    def _call(self, node: syntax.Call, local: Values) -> Any:
        arguments = [self._value(argument, local) for argument in node.arguments]
        if node.function == "loadJsonContent":
            return json.loads((self._template.path.parent / str(arguments[0])).read_text(encoding="utf-8"))
        if node.target is not None or node.function not in FUNCTIONS:
            raise self._error(node.line, f"{node.function}() is no function that is known here")
        return FUNCTIONS[node.function](*arguments)

    def _error(self, line: int, message: str) -> BicepError:
        return BicepError(self._template.label, line, message)


def _text(value: Any) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value, separators=(",", ":"))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _merge(*values: Any) -> Any:
    """`union`: later members win, objects within objects are merged; lists have every item once."""
    if isinstance(values[0], list):
        items = [item for value in values for item in value]
        return [item for i, item in enumerate(items) if item not in items[:i]]
    merged: dict[str, Any] = {}
    for value in values:
        for key, item in value.items():
            both = isinstance(item, dict) and isinstance(merged.get(key), dict)
            merged[key] = _merge(merged[key], item) if both else item
    return merged


def _unique(*parts: Any) -> str:
    digest = hashlib.sha256("-".join(map(_text, parts)).encode()).digest()
    return base64.b32encode(digest).decode().lower()[:13]


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "concat": lambda *lists: [item for list_ in lists for item in list_],
    "empty": lambda value: not value,
    "environment": lambda: {"suffixes": {"storage": "core.windows.net"}},
    "guid": lambda *parts: str(uuid.uuid5(uuid.NAMESPACE_URL, "-".join(map(_text, parts)))),
    "loadJsonContent": lambda path: path,  # known by name; read where the template is
    "map": lambda items, function: [function(item) for item in items],
    "replace": lambda text, old, new: text.replace(old, new),
    "string": _text,
    "subscription": lambda: {"id": SUBSCRIPTION},
    "subscriptionResourceId": lambda type_, name: f"{SUBSCRIPTION}/providers/{type_}/{name}",
    "tenant": lambda: {"tenantId": Deferred("<tenant>")},
    "toLower": lambda text: text.lower(),
    "union": _merge,
    "uniqueString": _unique,
}
