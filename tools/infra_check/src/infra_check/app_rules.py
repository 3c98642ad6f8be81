"""Rules for the function app: its plan and runtime, its settings, its azd configuration, its alerts, its package."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from packaging.markers import Marker
from packaging.requirements import Requirement
from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from agent_memory.api.settings import ApiSettings
from agent_memory.settings import RECALL_PREFIX, Environment, RecallSettings
from agent_memory.settings.environment import CADENCE_FIELDS
from infra_check.project import SCENARIOS, Project

# Settings that the platform reads itself.
_OF_THE_PLATFORM = re.compile(
    r"AzureWebJobsStorage__\w+|APPLICATIONINSIGHTS_(CONNECTION|AUTHENTICATION)_STRING"
    r"|PYTHON_APPLICATIONINSIGHTS_ENABLE_TELEMETRY|AZURE_CLIENT_ID"
)
# What Flex Consumption refuses, or takes from functionAppConfig instead.
_NOT_ON_FLEX = {
    "ENABLE_ORYX_BUILD",
    "FUNCTIONS_EXTENSION_VERSION",
    "FUNCTIONS_WORKER_RUNTIME",
    "FUNCTIONS_WORKER_RUNTIME_VERSION",
    "SCM_DO_BUILD_DURING_DEPLOYMENT",
    "WEBSITE_CONTENTAZUREFILECONNECTIONSTRING",
    "WEBSITE_CONTENTSHARE",
    "WEBSITE_RUN_FROM_PACKAGE",
}
_STORAGE = "AzureWebJobsStorage"
_PERCENT = re.compile(r"%(\w+)%")
_CADENCE = {
    "FACT_EXTRACTION_EVERY_N": "10",
    "THREAD_SUMMARY_EVERY_N": "10",
    "USER_SUMMARY_EVERY_N": "20",
    "DEDUP_EVERY_N": "5",
}
_NEEDED = ("cosmos_endpoint", "cosmos_database", "azure_openai_endpoint", "chat_model", "embedding_model")
_METRICS = re.compile(r'customMetrics \| where name (?:== "([^"]+)"|in \(([^)]+)\))')
_DIMENSIONS = re.compile(r'customDimensions\["([^"]+)"\]')
_REQUESTS = re.compile(r"^(requests|dependencies) \|")
_TRACES = re.compile(r'traces \| where message has "([^"]+)"')
_METRIC_MAKERS = ("create_counter", "create_gauge", "create_histogram", "create_up_down_counter")


def the_app_is_on_flex_consumption(project: Project) -> Iterator[str]:
    """The plan is FC1, Python is the one that the worker library wants, the package is fetched by identity."""
    [worker] = [
        requirement
        for line in project.host_pyproject["project"]["dependencies"]
        if (requirement := Requirement(line)).name == "azure-functions-runtime"
    ]
    for app in project.deployment("as it comes").of_type("Microsoft.Web/sites"):
        config = app.body["properties"]["functionAppConfig"]
        runtime = config["runtime"]
        wanted = _least_python(worker.marker)
        if runtime != {"name": "python", "version": wanted}:
            yield f"{app.source}: the runtime is {runtime}, and the worker library is for python {wanted}"
        if set(app.body["identity"]["userAssignedIdentities"]) != {project.identity("as it comes").id}:
            yield f"{app.source}: the app is not the identity that has the roles"
        if config["scaleAndConcurrency"]["alwaysReady"]:
            yield f"{app.source}: instances are kept ready, and paid for, although nobody asked for them"
        if config["deployment"]["storage"]["authentication"]["type"] != "UserAssignedIdentity":
            yield f"{app.source}: the package is not fetched by identity"
    for plan in project.deployment("as it comes").of_type("Microsoft.Web/serverfarms"):
        if plan.body["sku"]["name"] != "FC1":
            yield f"{plan.source}: the plan is {plan.body['sku']['name']}, not FC1"


def _least_python(marker: Marker | None) -> str:
    found = re.search(r"""python_version >= ["']([\d.]+)["']""", str(marker))
    return found[1] if found else "any"


def settings_cover_the_app(project: Project) -> Iterator[str]:
    """Every `connection=` and every `%SETTING%` of the app and of host.json is among the settings, by identity."""
    bindings = [binding for found in project.bindings.values() for binding in found]
    connections = {binding["connection"] for binding in bindings if binding.get("connection")}
    percents = set(_PERCENT.findall(json.dumps(bindings) + json.dumps(project.host_json)))
    for scenario in SCENARIOS:
        settings = project.settings(scenario)
        if not settings:
            continue
        for name in sorted(percents - settings.keys()):
            yield f"{scenario}: %{name}% is no app setting"
        for connection in sorted(connections):
            yield from _by_identity(project, scenario, connection, ("accountEndpoint",))
        yield from _by_identity(project, scenario, _STORAGE, ("blobServiceUri", "queueServiceUri", "tableServiceUri"))


def _by_identity(project: Project, scenario: str, connection: str, addresses: tuple[str, ...]) -> Iterator[str]:
    settings = project.settings(scenario)
    client_id = project.identity(scenario).member("properties").member("clientId")
    if connection in settings:
        yield f"{scenario}: connection {connection} is a connection string, not an identity"
    for name in addresses:
        if not settings.get(f"{connection}__{name}"):
            yield f"{scenario}: connection {connection} lacks the app setting {connection}__{name}"
    for name, value in (("credential", "managedidentity"), ("clientId", client_id)):
        if settings.get(f"{connection}__{name}") != value:
            yield f"{scenario}: {connection}__{name} is {settings.get(f'{connection}__{name}')}, not {value}"


def settings_are_read(project: Project) -> Iterator[str]:
    """Every setting is a text that somebody reads: library, app, binding or platform; none is refused by Flex."""
    switches = {f"AzureWebJobs.{function}.Disabled" for function in project.bindings}
    readers = _read_by_the_library() | _read_by_the_app(project) | switches
    connections = {b["connection"] for found in project.bindings.values() for b in found if b.get("connection")}
    names = {name for scenario in SCENARIOS for name in project.settings(scenario)}
    for name in sorted(names):
        if name in _NOT_ON_FLEX:
            yield f"app setting {name} is not for Flex Consumption"
        elif name not in readers and name.split("__")[0] not in connections and not _OF_THE_PLATFORM.fullmatch(name):
            yield f"app setting {name} is read by nobody"
    for name, value in sorted(project.settings("as it comes").items()):
        if not isinstance(value, str):
            yield f"app setting {name} is {json.dumps(value)}, not a text"


def what_is_needed_is_set(project: Project) -> Iterator[str]:
    """Store, models and each part of the cadence are app settings: without one, the app would not do what it should."""
    for scenario in SCENARIOS:
        settings = project.settings(scenario)
        for name in (*_NEEDED, *CADENCE_FIELDS.values()) if settings else ():
            variables = _variables(Environment.model_fields[name])
            if not settings.keys() & set(variables):
                yield f"{scenario}: no app setting sets {variables[0]}, which the app reads"


def _variables(field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    return [str(one) for one in alias.choices] if isinstance(alias, AliasChoices) else [str(alias)]


def _read_by_the_library() -> set[str]:
    names = {f"{RECALL_PREFIX}{field.name.upper()}" for field in fields(RecallSettings)}
    for field in [*Environment.model_fields.values(), *ApiSettings.model_fields.values()]:
        names |= set(_variables(field))
    return names


def _read_by_the_app(project: Project) -> set[str]:
    text = json.dumps(project.bindings) + json.dumps(project.host_json)
    return set(_PERCENT.findall(text)) | {_scheduler_connection(project)}


def _scheduler_connection(project: Project) -> str:
    """The setting that the hook has host.json name when orchestrations are kept in a scheduler."""
    return str(_of_the_hook(project, "SCHEDULER").get("connectionStringName", ""))


def _of_the_hook(project: Project, name: str) -> dict[str, str]:
    """A `storageProvider` that the prepackage hook writes into host.json."""
    tree = ast.parse((project.infra / "hooks" / "durable_backend.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return dict(ast.literal_eval(node.value))
    return {}


def processing_runs_as_often_as_said(project: Project) -> Iterator[str]:
    """Turns live 30 days and processing has the cadence 10/10/20/5, unless parameters say otherwise."""
    settings = project.settings("as it comes")
    for name, value in _CADENCE.items():
        if settings.get(name) != value:
            yield f"app setting {name} is {settings.get(name)}, not {value}"
    if project.parameter("as it comes", "turnTtlSeconds") != 30 * 24 * 3600:
        yield "main.bicep: turnTtlSeconds is not 30 days"


def the_scheduler_fits(project: Project) -> Iterator[str]:
    """host.json keeps orchestrations in storage; with a scheduler, the hook, the settings and the hub agree."""
    durable = project.host_json["extensions"]["durableTask"]
    if durable.get("storageProvider") != _of_the_hook(project, "STORAGE"):
        yield "host.json: its storageProvider is not the one that the prepackage hook writes without a scheduler"
    settings = project.settings("everything on")
    connection = _scheduler_connection(project)
    [hub] = project.deployment("everything on").of_type("Microsoft.DurableTask/schedulers/taskHubs")
    value = str(settings.get(connection, ""))
    if "Authentication=ManagedIdentity" not in value or "ClientID=" not in value:
        yield f"app setting {connection} does not sign in by identity: {value!r}"
    name = durable.get("hubName", "")
    name = settings.get(name.strip("%"), "") if name.startswith("%") else name
    if hub.name != name or f"TaskHub={name};" not in value:
        yield f"{hub.source}: the task hub is {hub.name}, and in host.json {name!r}"
    if connection in project.settings("as it comes"):
        yield f"app setting {connection} is there without a scheduler"


def quotas_are_left_to_azd(project: Project) -> Iterator[str]:
    """No template names a quota for azd, which compares its spelling letter by letter and finds no region without it.

    Its own look before a deployment takes the quotas of the models from Azure's catalogue.
    """
    for template in project.templates.values():
        if "usageName" in template.path.read_text(encoding="utf-8"):
            yield f"{template.label}: usageName names a quota"


def the_budget_is_asked_for(project: Project) -> Iterator[str]:
    """A budget is created only with a start date: Azure refuses to change it, and the current month would change it."""
    if project.deployment("as it comes").of_type("Microsoft.Consumption/budgets"):
        yield "as it comes: there is a budget, although nobody said from which day on"
    budgets = project.deployment("everything on").of_type("Microsoft.Consumption/budgets")
    asked = f"{project.parameter('everything on', 'budgetStartDate')}T00:00:00Z"
    if [budget.body["properties"]["timePeriod"]["startDate"] for budget in budgets] != [asked]:
        yield f"everything on: there is no budget from {asked} on"


def azd_is_told_the_same(project: Project) -> Iterator[str]:
    """azure.yaml has the service that the app is tagged with, the parameter's condition, and hooks that are there."""
    services = project.azure_yaml["services"]
    tags = {
        app.body["tags"].get("azd-service-name")
        for app in project.deployment("as it comes").of_type("Microsoft.Web/sites")
    }
    if tags != set(services):
        yield f"azure.yaml: the services are {sorted(services)}, and the tags {sorted(map(str, tags))}"
    parameters = json.loads((project.infra / "main.parameters.json").read_text(encoding="utf-8"))["parameters"]
    for name, service in services.items():
        if (service["host"], service["language"], service["project"]) != ("function", "python", "."):
            yield f"azure.yaml: service {name} is not a Python function app in the root folder"
        if service.get("condition") != parameters["deployFunctionApp"]["value"]:
            yield f"azure.yaml: service {name} is deployed on another condition than deployFunctionApp"
    version = project.pyproject["project"]["version"]
    if project.azure_yaml["metadata"]["template"] != f"{project.azure_yaml['name']}@{version}":
        yield f"azure.yaml: the template's version is not {version}"
    for hook in _hooks(project.azure_yaml):
        files = [project.root / word for word in hook["run"].split() if "/" in word]
        for file in files:
            if not file.exists():
                yield f"azure.yaml: there is no {hook['run']}"
            elif file.suffix == ".sh" and not os.access(file, os.X_OK):
                yield f"azure.yaml: {hook['run']} may not be executed"


def _hooks(azure_yaml: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for holder in (azure_yaml, *azure_yaml["services"].values()):
        for hook in holder.get("hooks", {}).values():
            yield from hook.values()


def alerts_watch_what_is_reported(project: Project) -> Iterator[str]:
    """Every metric, dimension and message that alerts and the workbook ask for is in the code; somebody is told."""
    metrics, sources = _metrics(project), "".join(_sources(project))
    for where, query in _queries(project):
        for one, several in _METRICS.findall(query):
            for name in [one] if one else [part.strip(' "') for part in several.split(",")]:
                if name not in metrics:
                    yield f"{where}: no code reports the metric {name}"
        for name in _DIMENSIONS.findall(query):
            if f'"{name}"' not in sources:
                yield f"{where}: no code tells {name} of a metric"
        for table in _REQUESTS.findall(query):
            yield f"{where} asks for {table}, which a run may or may not be among"
        for words in _TRACES.findall(query):
            if words not in sources:
                yield f"{where}: no code logs {words!r}"
    told = project.deployment("everything on").of_type("Microsoft.Insights/actionGroups")
    for rule in project.deployment("everything on").of_type("Microsoft.Insights/scheduledQueryRules"):
        if rule.body["properties"]["actions"]["actionGroups"] != [group.id for group in told]:
            yield f"{rule.source}: alert {rule.name} tells nobody"
        if any("bin(" in criterion["query"] for criterion in rule.body["properties"]["criteria"]["allOf"]):
            yield f"{rule.source}: alert {rule.name} cuts its window in two, where the bins begin"


def _queries(project: Project) -> Iterator[tuple[str, str]]:
    """The queries of the alerts and of the workbook, each with its place."""
    deployment = project.deployment("as it comes")
    for rule in deployment.of_type("Microsoft.Insights/scheduledQueryRules"):
        for criterion in rule.body["properties"]["criteria"]["allOf"]:
            yield f"{rule.source}: alert {rule.name}", criterion["query"]
    for book in deployment.of_type("Microsoft.Insights/workbooks"):
        for item in json.loads(book.body["properties"]["serializedData"])["items"]:
            if "query" in item["content"]:
                yield f"{book.source}: {item['content']['title']}", item["content"]["query"]


def _metrics(project: Project) -> set[str]:
    """The names of the metrics that the library and the app make."""
    return {
        str(node.args[0].value)
        for source in _sources(project)
        if any(maker in source for maker in _METRIC_MAKERS)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _METRIC_MAKERS
        and isinstance(node.args[0], ast.Constant)
    }


def _sources(project: Project) -> Iterator[str]:
    for folder in (project.root / "sdk" / "agent_memory", project.root / "azure_functions"):
        for path in sorted(folder.rglob("*.py")):
            yield path.read_text(encoding="utf-8")
