"""Checks, without Azure, that `azd up` would deploy a working system: `make infra-check`.

It reads the templates, computes what they would deploy in each configuration (infra_check.project), and checks rules
against that, Azure's own types, the library, the function app and azd's configuration. With `--package` every
combination of choices is tried too, and the deployment package is built as the platform builds it, and the app is
loaded from it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from infra_check.app_rules import (
    alerts_watch_what_is_reported,
    azd_is_told_the_same,
    processing_runs_as_often_as_said,
    quotas_are_left_to_azd,
    settings_are_read,
    settings_cover_the_app,
    the_app_is_on_flex_consumption,
    the_budget_is_asked_for,
    the_scheduler_fits,
    what_is_needed_is_set,
)
from infra_check.azd_rules import azure_yaml_is_what_azd_reads
from infra_check.bicep_tokens import BicepError
from infra_check.package import build, the_package_is_whole
from infra_check.project import SCENARIOS, Project
from infra_check.resource_rules import (
    a_region_can_be_added,
    api_versions_are_known,
    containers_are_the_libraries,
    models_match_the_store,
    nothing_takes_keys,
    private_means_private,
    roles_are_granted,
    the_store_can_be_restored,
)
from infra_check.service_types import extract
from infra_check.template_rules import (
    every_scenario_deploys,
    names_hold_together,
    parameters_are_explained,
    syntax_is_understood,
    what_conflicts_is_made_in_turn,
)
from infra_check.type_rules import combinations, every_combination_fits, resources_fit_the_service

ROOT = Path(__file__).resolve().parents[4]
Rule = Callable[[Project], Iterator[str]]

RULES: tuple[Rule, ...] = (
    syntax_is_understood,
    names_hold_together,
    parameters_are_explained,
    every_scenario_deploys,
    what_conflicts_is_made_in_turn,
    api_versions_are_known,
    resources_fit_the_service,
    roles_are_granted,
    nothing_takes_keys,
    the_store_can_be_restored,
    a_region_can_be_added,
    containers_are_the_libraries,
    models_match_the_store,
    private_means_private,
    the_app_is_on_flex_consumption,
    settings_cover_the_app,
    settings_are_read,
    what_is_needed_is_set,
    processing_runs_as_often_as_said,
    the_scheduler_fits,
    azure_yaml_is_what_azd_reads,
    azd_is_told_the_same,
    quotas_are_left_to_azd,
    the_budget_is_asked_for,
    alerts_watch_what_is_reported,
    the_package_is_whole,
)
_FIRST = RULES[:4]
"""When one of these is broken, the others have nothing to look at."""


def main(arguments: list[str], project: Project | None = None) -> int:
    """Prints what was verified and what is wrong; returns the exit status."""
    project = project or Project(ROOT)
    broken = 0
    for rule in RULES:
        found = list(faults_of(rule, project))
        print(f"{'FAIL' if found else 'ok':<5}{' '.join((rule.__doc__ or '').split())}")
        for fault in found:
            print(f"       {fault}")
        broken += bool(found)
        if found and rule in _FIRST:
            break
    if not broken:
        _say_what_was_read(project)
        if "--package" in arguments:
            broken += not _try_all_combinations(project)
            broken += not _build_package(project)
    return 1 if broken else 0


def faults_of(rule: Rule, project: Project) -> Iterator[str]:
    """What a rule finds wrong, a template that cannot be understood included."""
    try:
        yield from rule(project)
    except (BicepError, OSError, RuntimeError) as error:
        yield str(error)


def _say_what_was_read(project: Project) -> None:
    counts = {name: len(project.deployment(name).resources) for name in SCENARIOS}
    print(f"\n{len(project.templates)} templates, {len(project.bindings)} functions; resources deployed:")
    for name, count in counts.items():
        print(f"  {count:>3}  {name}")


def _try_all_combinations(project: Project) -> bool:
    found = list(dict.fromkeys(faults_of(every_combination_fits, project)))
    source = extract()["source"]
    print(
        f"\n{'FAIL' if found else 'ok':<5}{combinations():,} combinations of parameters fit Azure's types"
        f" (bicep-types-az, {source['date']}, {source['commit'][:7]})"
    )
    for fault in found:
        print(f"       {fault}")
    return not found


def _build_package(project: Project) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            package = build(project, Path(folder) / "package")
        except RuntimeError as error:
            print(f"FAIL {error}")
            return False
    megabytes = f"{package.bytes / 1e6:.0f} MB, {package.zipped_bytes / 1e6:.0f} MB zipped"
    print(f"\nok   The package is built ({megabytes}) and the app in it loads: {len(package.bindings)} functions")
    return True
