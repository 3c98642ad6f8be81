"""Symbols: every name in a template is declared, every parameter and output of a module exists, nothing is unused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from infra_check import bicep_syntax as syntax
from infra_check.bicep_evaluation import FUNCTIONS
from infra_check.bicep_parser import load
from infra_check.bicep_syntax import Expression, Template

_KEYS_ARE_SECRET = "list"
_CHANGES = {"utcNow", "newGuid"}
_OF_A_MODULE = ("outputs", "name")


def load_all(main: Path, root: Path) -> dict[Path, Template]:
    """The main template and every module that it reaches, by path.

    Raises:
        BicepError: if one cannot be read.
        FileNotFoundError: if one is not there.
    """
    found: dict[Path, Template] = {}
    waiting = [main]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found[path] = load(path, root)
            waiting += [module_path(found[path], module) for module in found[path].of(syntax.Module).values()]
    return found


def faults(templates: dict[Path, Template]) -> Iterator[str]:
    """What is wrong with the symbols of these templates, each with its place."""
    for template in templates.values():
        yield from _duplicates(template)
        yield from _names(template)
        yield from _calls(template)
        for module in template.of(syntax.Module).values():
            yield from _module(template, module, templates[module_path(template, module)])
        yield from _unused(template)


def module_path(template: Template, module: syntax.Module) -> Path:
    """The file of a module."""
    return (template.path.parent / module.path).resolve()


def _duplicates(template: Template) -> Iterator[str]:
    seen: set[str] = set()
    for declaration in template.declarations:
        if isinstance(declaration, syntax.Output):
            continue
        if declaration.name in seen:
            yield f"{template.label}:{declaration.line}: {declaration.name} is declared twice"
        seen.add(declaration.name)


def _names(template: Template) -> Iterator[str]:
    declared = _declared(template)
    for expression in _expressions(template):
        for name in _free_names(expression, frozenset()):
            if name.text not in declared:
                yield f"{template.label}:{name.line}: {name.text} is not declared"


def _calls(template: Template) -> Iterator[str]:
    for expression in _expressions(template):
        for node in _walk(expression):
            if not isinstance(node, syntax.Call):
                continue
            if node.function.lower().startswith(_KEYS_ARE_SECRET):
                yield f"{template.label}:{node.line}: {node.function}() hands out keys; connections are by identity"
            elif node.function in _CHANGES:
                yield f"{template.label}:{node.line}: {node.function}() makes each deployment another"
            elif node.target is not None or node.function not in FUNCTIONS:
                yield f"{template.label}:{node.line}: {node.function}() is no function that is known here"


def _module(template: Template, module: syntax.Module, target: Template) -> Iterator[str]:
    place = f"{template.label}:{module.line}: module {module.name}"
    given = _given_parameters(module)
    accepted = target.of(syntax.Parameter)
    for name in sorted(given - accepted.keys()):
        yield f"{place}: {target.label} has no parameter {name}"
    for name, parameter in accepted.items():
        if parameter.default is None and name not in given:
            yield f"{place}: parameter {name} of {target.label} is not given"
    outputs = target.of(syntax.Output)
    for expression in _expressions(template):
        for member, line in _outputs_read(expression, module.name):
            if member not in outputs:
                yield f"{template.label}:{line}: {target.label} has no output {member}"


def _given_parameters(module: syntax.Module) -> set[str]:
    body = module.body
    while isinstance(body, syntax.Loop | syntax.If):
        body = body.body
    for key, value in body.fields if isinstance(body, syntax.Object) else ():
        if key == syntax.Constant("params") and isinstance(value, syntax.Object):
            return {str(name.value) for name, _ in value.fields if isinstance(name, syntax.Constant)}
    return set()


def _outputs_read(expression: Expression, module: str) -> Iterator[tuple[str, int]]:
    for node in _walk(expression):
        match node:
            case syntax.Member(syntax.Member(syntax.Name(holder, _), "outputs", _), name, line) if holder == module:
                yield name, line
            case syntax.Member(syntax.Name(holder, _), name, line) if holder == module and name not in _OF_A_MODULE:
                yield name, line


def _unused(template: Template) -> Iterator[str]:
    used = {name.text for expression in _expressions(template) for name in _free_names(expression, frozenset())}
    for declaration in template.declarations:
        if isinstance(declaration, syntax.Parameter | syntax.Variable) and declaration.name not in used:
            yield f"{template.label}:{declaration.line}: {declaration.name} is used nowhere"


def _declared(template: Template) -> set[str]:
    return {d.name for d in template.declarations if not isinstance(d, syntax.Output)}


def _expressions(template: Template) -> Iterator[Expression]:
    for declaration in template.declarations:
        if isinstance(declaration, syntax.Parameter):
            if declaration.default is not None:
                yield declaration.default
        elif isinstance(declaration, syntax.Resource | syntax.Module):
            yield declaration.body
        else:
            yield declaration.value


def _children(node: Expression) -> tuple[Expression, ...]:
    match node:
        case syntax.Interpolation(parts):
            return tuple(part for part in parts if not isinstance(part, str))
        case syntax.Array(items):
            return items
        case syntax.Object(fields):
            return tuple(child for pair in fields for child in pair)
        case syntax.Loop(_, _, source, body):
            return (source, body)
        case syntax.If(condition, body):
            return (condition, body)
        case syntax.Call(_, arguments, _, target):
            return arguments if target is None else (target, *arguments)
        case syntax.Lambda(_, body):
            return (body,)
        case syntax.Member(target, _, _):
            return (target,)
        case syntax.Index(target, index, _):
            return (target, index)
        case syntax.Unary(_, operand):
            return (operand,)
        case syntax.Binary(_, left, right, _):
            return (left, right)
        case syntax.Conditional(test, yes, no):
            return (test, yes, no)
        case _:
            return ()


def _walk(node: Expression) -> Iterator[Expression]:
    yield node
    for child in _children(node):
        yield from _walk(child)


def _free_names(node: Expression, bound: frozenset[str]) -> Iterator[syntax.Name]:
    """The names that a template must declare: those that no loop or lambda around them binds."""
    match node:
        case syntax.Name(text, _):
            if text not in bound:
                yield node
        case syntax.Loop(item, index, source, body):
            yield from _free_names(source, bound)
            yield from _free_names(body, bound | {item} | ({index} if index else set()))
        case syntax.Lambda(parameters, body):
            yield from _free_names(body, bound | set(parameters))
        case _:
            for child in _children(node):
                yield from _free_names(child, bound)
