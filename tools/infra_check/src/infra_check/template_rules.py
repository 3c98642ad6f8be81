"""Rules for the templates as texts: they are understood, their names hold together, their parameters are explained."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pycep import BicepParser

from infra_check import bicep_symbols
from infra_check.bicep_syntax import Constant, Loop, Module, Parameter, Resource, Template, Unary
from infra_check.project import SCENARIOS, Project

_FROM_ENVIRONMENT = re.compile(r"^\$\{([A-Z_0-9]+)(?:=(.*))?\}$")
# Azure takes one change of these at a time of the account that they belong to, and refuses the others: role
# assignments with 412, private endpoints of one storage account because somebody else has exclusive access.
_IN_TURN = {
    "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers",
    "Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments",
    "Microsoft.Network/privateEndpoints",
}


def syntax_is_understood(project: Project) -> Iterator[str]:
    """Every template is read by two parsers: ours and pycep's."""
    files = sorted(project.infra.rglob("*.bicep"))
    for path in sorted({path.resolve() for path in files} - set(project.templates)):
        yield f"{path.name} is used by no template"
    for template in project.templates.values():
        try:
            BicepParser().parse(text=template.path.read_text(encoding="utf-8"))
        except Exception as error:
            yield f"{template.label}: pycep does not understand it: {str(error).splitlines()[0]}"


def names_hold_together(project: Project) -> Iterator[str]:
    """Symbols are declared and used, functions known, module parameters and outputs there; nothing lists keys."""
    yield from bicep_symbols.faults(project.templates)


def every_scenario_deploys(project: Project) -> Iterator[str]:
    """Each way of deploying can be worked out to its last resource, with values of the right types."""
    for scenario in SCENARIOS:
        deployment = project.deployment(scenario)
        ids = [resource.id for resource in deployment.resources if not resource.existing]
        for twice in sorted({id_ for id_ in ids if ids.count(id_) > 1}):
            yield f"{scenario}: deployed twice: {twice}"
        for resource in deployment.resources:
            if resource.existing and resource.id not in ids:
                yield f"{scenario}: {resource.source} refers to what nothing deploys: {resource.id}"


def what_conflicts_is_made_in_turn(project: Project) -> Iterator[str]:
    """What Azure changes one at a time is made one after the other (`@batchSize(1)`), modules included."""
    for template in project.templates.values():
        for maker in _makers(template):
            types = _types_made(project, template, maker) & _IN_TURN
            if types and isinstance(maker.body, Loop) and maker.decorators.get("batchSize") != Constant(1):
                yield f"{template.label}:{maker.line}: {maker.name} makes several {', '.join(types)} at a time"


def _makers(template: Template) -> list[Resource | Module]:
    return [*template.of(Resource).values(), *template.of(Module).values()]


def _types_made(project: Project, template: Template, maker: Resource | Module) -> set[str]:
    if isinstance(maker, Resource):
        return {maker.type}
    inner = project.templates[bicep_symbols.module_path(template, maker)]
    return {type_ for part in _makers(inner) for type_ in _types_made(project, inner, part)}


def parameters_are_explained(project: Project) -> Iterator[str]:
    """Every parameter has a description; azd can set each of the main template, with the same default."""
    for template in project.templates.values():
        for parameter in template.of(Parameter).values():
            if "description" not in parameter.decorators:
                yield f"{template.label}:{parameter.line}: parameter {parameter.name} has no description"
    file = json.loads((project.infra / "main.parameters.json").read_text(encoding="utf-8"))
    given: dict[str, Any] = {name: entry["value"] for name, entry in file["parameters"].items()}
    for name in sorted(given.keys() - project.parameters.keys()):
        yield f"main.parameters.json: there is no parameter {name}"
    for name in sorted(project.parameters.keys() - given.keys()):
        yield f"main.parameters.json: azd cannot set parameter {name}"
    for name in sorted(given.keys() & project.parameters.keys()):
        yield from _same_default(project.parameters[name], str(given[name]))


def _same_default(parameter: Parameter, value: str) -> Iterator[str]:
    match = _FROM_ENVIRONMENT.match(value)
    if match is None:
        yield f"main.parameters.json: {parameter.name} is not taken from the environment: {value}"
        return
    default = _constant(parameter)
    if default is not None and match[2] is not None and default != match[2]:
        yield f"main.parameters.json: {parameter.name} is {match[2]!r} there and {default!r} in main.bicep"


def _constant(parameter: Parameter) -> str | None:
    match parameter.default:
        case Constant(bool() as value):
            return str(value).lower()
        case Constant(value):
            return str(value)
        case Unary("-", Constant(value)):
            return f"-{value}"
        case _:
            return None
