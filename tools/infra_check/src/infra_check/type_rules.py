"""The rule that holds each resource against Azure's own types, in the scenarios and in every combination of choices."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

from infra_check.bicep_evaluation import Deployed, deploy
from infra_check.project import NAMED, SCENARIOS, Project
from infra_check.service_types import faults_in

CHOICES: dict[str, tuple[dict[str, Any], ...]] = {
    "function app": ({}, {"deployFunctionApp": False}),
    "throughput": ({}, {"cosmosAutoscaleMaxRu": 4000}),
    "zones": ({}, {"zoneRedundant": True}),
    "regions": ({}, {"cosmosSecondaryLocation": "elsewhere"}),
    "key": ({}, {"cosmosKeyVaultKeyUri": "https://vault/keys/key"}),
    "models": ({}, {"openAiEndpoint": "https://elsewhere.openai.azure.com/"}),
    "scheduler": ({}, {"durableTaskScheduler": True}),
    "network": ({}, {"privateNetworking": True}),
    "logs": ({}, {"diagnosticLogs": True}),
    "the rest": (
        {},
        {
            "principalId": "developer",
            "alertEmail": "somebody@example.com",
            "budgetStartDate": "2026-11-01",
            "alwaysReadyHttp": 1,
            "alwaysReadyDurable": 1,
            "jwtIssuer": "https://issuer.example",
        },
    ),
}
"""What the templates branch on, each with both branches. The rest adds to one resource each and goes together."""


def resources_fit_the_service(project: Project) -> Iterator[str]:
    """Every property of every resource is one that Azure's types have: known, of its kind, allowed, not read-only."""
    found = (resource for scenario in SCENARIOS for resource in project.deployment(scenario).resources)
    yield from _faults(found, set())


def every_combination_fits(project: Project) -> Iterator[str]:
    """The same in every combination of the choices that the templates know."""
    seen: set[str] = set()
    for chosen in itertools.product(*CHOICES.values()):
        parameters = NAMED | {name: value for choice in chosen for name, value in choice.items()}
        yield from _faults(deploy(project.main.resolve(), project.templates, parameters).resources, seen)


def combinations() -> int:
    """How many there are."""
    return math.prod(len(choice) for choice in CHOICES.values())


def _faults(resources: Iterable[Deployed], seen: set[str]) -> Iterator[str]:
    for resource in resources:
        name = f"{resource.type}@{resource.api_version}"
        key = f"{resource.source} {name} {json.dumps(resource.body, sort_keys=True, default=str)}"
        if resource.existing or key in seen:
            continue
        seen.add(key)
        for fault in faults_in(name, resource.body):
            yield f"{resource.source}: {name}: {fault}"
