"""What the pages for operators say is what the code and the templates have."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest
from pydantic import AliasChoices

from agent_memory import errors
from agent_memory.api.errors import CODES
from agent_memory.api.settings import ApiSettings
from agent_memory.contract.schemas import AddTurns
from agent_memory.language.prompts import FOLDER_VARIABLES
from agent_memory.settings import RECALL_PREFIX, ROLES, Environment, RecallSettings, role_variable
from infra_check import package
from infra_check.project import SCENARIOS, Project

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = ("deploy.md", "local-development.md", "operations.md", "troubleshooting.md")


def page(name: str) -> str:
    return (DOCS / name).read_text()


def rows(text: str) -> list[list[str]]:
    """The cells of all tables of a page, without heads."""
    cells = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [row for row in cells if not set(row[0]) <= {"-"}]


def codes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


BY_RECALL = {"query_strategy": RecallSettings().query_strategy}
"""Settings without a default of their own, which leave those of recall as they are."""
RECALL = {f"{RECALL_PREFIX}{field.name.upper()}": field for field in dataclasses.fields(RecallSettings)}
ROLE_MODELS = {role_variable(role, "model") for role in ROLES}
FIELDS = Environment.model_fields | ApiSettings.model_fields


def aliases(field: str) -> list[str]:
    alias = FIELDS[field].validation_alias
    return [str(choice) for choice in alias.choices] if isinstance(alias, AliasChoices) else [str(alias)]


def settings_table() -> dict[str, str]:
    """What operations.md says of each variable's default, by its names."""
    table = page("operations.md").split("## Settings")[1].split("The platform reads")[0]
    return {name: row[1] for row in rows(table) for name in codes(row[0])}


@pytest.mark.parametrize("field", FIELDS)
def test_every_setting_of_the_library_is_documented_with_its_default(field: str):
    documented = settings_table()
    default = BY_RECALL.get(field, FIELDS[field].default)
    said = "none" if default in (None, "") else f"`{str(default).lower() if isinstance(default, bool) else default}`"
    if isinstance(default, float):
        said = f"`{default:g}`"
    assert {documented.get(name) for name in aliases(field)} == {said}


def test_no_setting_is_documented_that_nobody_reads():
    known = {name for field in FIELDS for name in aliases(field)} | set(FOLDER_VARIABLES)
    assert settings_table().keys() <= known | RECALL.keys() | {f"{RECALL_PREFIX}…"} | ROLE_MODELS


@pytest.mark.parametrize("name", [name for name in settings_table() if name in RECALL])
def test_the_settings_of_recall_are_documented_with_their_defaults(name: str):
    default = RECALL[name].default
    if isinstance(default, int | float | str):
        said = f"{default:g}" if isinstance(default, float) else str(default)
        assert settings_table()[name] == f"`{said.lower() if isinstance(default, bool) else said}`"


def test_every_app_setting_is_documented(project: Project):
    documented = {name for row in rows(page("operations.md")) for name in codes(row[0])}
    settings = {name for scenario in SCENARIOS for name in project.settings(scenario)}
    assert settings - documented == set()


def test_every_parameter_is_documented_with_its_variable_and_default(project: Project):
    file = json.loads((project.infra / "main.parameters.json").read_text())["parameters"]
    table = {codes(row[1])[0]: row for row in rows(page("deploy.md").split("## Parameters")[1].split("\n## ")[0])[1:]}
    assert table.keys() == file.keys()
    for name, entry in file.items():
        variable, default = re.fullmatch(r"\$\{([A-Z_]+)(?:=(.*))?\}", entry["value"]).groups()  # type: ignore[union-attr]
        assert codes(table[name][0]) == [variable]
        if default:
            assert codes(table[name][2]) == [default]


def test_every_alert_is_documented(project: Project):
    deployment = project.deployment("as it comes")
    alerts = [
        alert.name
        for type_ in ("scheduledQueryRules", "metricAlerts")
        for alert in deployment.of_type(f"Microsoft.Insights/{type_}")
    ]
    assert len(alerts) == 8
    for name in alerts:
        assert f"`{name}`" in page("operations.md")


def test_every_error_code_is_documented():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and kind.__module__ == errors.__name__]
    known = {kind.code for kind in kinds if kind is not errors.AgentMemoryError} | set(CODES.values())
    table = page("troubleshooting.md").split("## Errors by code")[1].split("\n## ")[0]
    assert {code for row in rows(table) for code in codes(row[0])} == known


def test_the_example_request_is_one_that_the_api_takes():
    [body] = re.findall(r"-d '(\{.*\})'", page("local-development.md"))
    assert AddTurns.model_validate_json(body).turns[0].role == "user"


def test_the_cost_table_adds_up():
    text = page("operations.md").split("## Cost")[1].split("\n## ")[0]
    sums = re.findall(r"([\d,]+(?: × [\d,]+)?(?: \+ [\d,]+(?: × [\d,]+)?)+) = ([\d,]+)", text)
    assert len(sums) == 3
    for terms, total in sums:
        products = [[int(n.replace(",", "")) for n in term.split(" × ")] for term in terms.split(" + ")]
        assert sum(p[0] * (p[1] if len(p) > 1 else 1) for p in products) == int(total.replace(",", ""))


def test_the_way_to_build_here_is_the_one_that_is_checked():
    [command] = re.findall(r"`(\w+=\w+ uv pip install [^`]+)`", page("deploy.md"))
    checked = ["--compile-bytecode", f"--python-platform {package.PLATFORM}", f"--target {package.INSTALLED}"]
    checked += [f"{name}={value}" for name, value in package.BYTECODE.items()]
    assert [part for part in checked if part not in command] == []
