"""The templates deploy a system that works, as far as that can be seen without Azure."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from infra_check.check import RULES, Rule, faults_of, main
from infra_check.project import SCENARIOS, Project


@pytest.mark.req("S0-106", "S1-40", "S2-57", "S3-41")
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_templates_keep_every_rule(rule: Rule, project: Project):
    assert list(faults_of(rule, project)) == []


def test_the_check_says_what_it_verified(project: Project, capsys: pytest.CaptureFixture[str]):
    assert main([], project) == 0
    said = capsys.readouterr().out
    assert said.count("ok   ") == len(RULES)
    for scenario in SCENARIOS:
        assert scenario in said


def test_without_the_function_app_there_is_only_what_the_library_needs(project: Project):
    types = {resource.type for resource in project.deployment("without the function app").resources}
    assert "Microsoft.DocumentDB/databaseAccounts" in types
    assert "Microsoft.CognitiveServices/accounts" in types
    assert not any(type_.startswith(("Microsoft.Web/", "Microsoft.Storage/")) for type_ in types)


def test_models_of_ones_own_are_used_and_not_made_again(project: Project):
    deployment = project.deployment("models of one's own")
    assert deployment.of_type("Microsoft.CognitiveServices/accounts") == []
    assert deployment.outputs["AZURE_OPENAI_ENDPOINT"] == "https://elsewhere.openai.azure.com/"
    assert project.settings("models of one's own")["AZURE_OPENAI_ENDPOINT"] == "https://elsewhere.openai.azure.com/"


def test_what_azd_learns_is_what_the_library_reads(project: Project):
    outputs = project.deployment("as it comes").outputs
    settings = project.settings("as it comes")
    for name in ("COSMOS_DB_ENDPOINT", "COSMOS_DB_DATABASE", "AZURE_OPENAI_ENDPOINT", "AGENT_MEMORY_CHAT_MODEL"):
        assert outputs[name] == settings[name]
    assert "documentEndpoint" in outputs["COSMOS_DB_ENDPOINT"]


def test_the_check_fails_and_says_what_is_wrong(
    broken: Callable[[str, str, str], Project], capsys: pytest.CaptureFixture[str]
):
    project = broken("infra/modules/functions.bicep", "httpsOnly: true", "httpsOnly: false")
    assert main([], project) == 1
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if line.startswith("FAIL")] == [
        "FAIL Keys, passwords and plain HTTP are switched off wherever there is a switch; no setting holds a secret."
    ]
    assert any(
        re.fullmatch(r" +modules/functions\.bicep:\d+: httpsOnly of Microsoft\.Web/sites is False, not True", line)
        for line in said
    )
