"""A fault of each kind, planted in a copy of the checkout, is found by the rule that looks for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from infra_check.app_rules import settings_are_read
from infra_check.check import RULES, Rule, faults_of
from infra_check.project import Project
from infra_check.resource_rules import nothing_takes_keys

Breaker = Callable[[str, str, str], Project]

MAIN = "infra/main.bicep"
PARAMETERS = "infra/main.parameters.json"
POLICIES = "infra/modules/containers.json"
WORKBOOK = "infra/modules/workbook.json"
APP_ALERTS = "infra/modules/app-alerts.bicep"
CONTAINERS = "infra/modules/containers.bicep"
COSMOS = "infra/modules/cosmos.bicep"
FUNCTIONS = "infra/modules/functions.bicep"
OWN_SETTINGS = "infra/app-settings.json"
MODELS = "infra/modules/models.bicep"
ENDPOINT = "infra/modules/private-endpoint.bicep"
MONITORING = "infra/modules/monitoring.bicep"
SCHEDULER = "infra/modules/scheduler.bicep"
STORAGE = "infra/modules/storage.bicep"

FAULTS: dict[str, dict[str, tuple[str, str, str, str]]] = {
    "syntax_is_understood": {
        "syntax": (MAIN, "param location string", "param = location", "a name is"),
        "unused module": (MAIN, "'modules/network.bicep'", "'modules/storage.bicep'", "network.bicep"),
        "missing module": (MAIN, "modules/budget.bicep", "modules/money.bicep", "money.bicep"),
    },
    "names_hold_together": {
        "undefined symbol": (COSMOS, "name: name", "name: nome", "nome is not declared"),
        "undefined symbol in a text": (MAIN, "${abbreviations.budget}${token}", "${budgets}", "budgets is not"),
        "loop variable out of its loop": (CONTAINERS, "name: databaseName", "name: item", "item is not"),
        "unknown function": (MAIN, "toLower(", "lower(", "lower() is no function"),
        "unknown parameter of a module": (MAIN, "backupTier: cosmos", "backup: cosmos", "has no parameter backup"),
        "missing parameter of a module": (MAIN, "    dedupEveryN: dedupEveryN\n", "", "dedupEveryN of modules"),
        "unknown output of a module": (MAIN, "cosmos.outputs.endpoint", "cosmos.outputs.address", "no output address"),
        "unused parameter": (STORAGE, "  tags: tags\n", "", "tags is used nowhere"),
        "declared twice": (MAIN, "var tags =", "var token = 'x'\nvar tags =", "declared twice"),
        "another deployment each day": (
            MAIN,
            "param budgetStartDate string = ''",
            "param budgetStartDate string = utcNow('yyyy-MM-01')",
            "utcNow() makes each deployment another",
        ),
        "keys are listed": (
            FUNCTIONS,
            "COSMOS__accountEndpoint: cosmosEndpoint",
            "COSMOS: storage.listKeys().keys[0].value",
            "listKeys() hands out keys",
        ),
    },
    "parameters_are_explained": {
        "no description": (MAIN, "@description('Name of the database.')\n", "", "cosmosDatabaseName"),
        "azd sets an unknown parameter": (PARAMETERS, '"location"', '"region"', "no parameter region"),
        "azd has another default": (PARAMETERS, "EVERY_N=20", "EVERY_N=25", "userSummaryEveryN is '25'"),
    },
    "every_scenario_deploys": {
        "a value of another type": (MAIN, "turnTtlSeconds int = 2592000", "turnTtlSeconds int = 'x'", "type int"),
        "an output of what is not deployed": (
            MAIN,
            "deployFunctionApp ? functions!.outputs.name : ''",
            "functions!.outputs.name",
            "is read of something that is not deployed",
        ),
        "a reference to nothing": (MAIN, "accountName: cosmos.outputs.name", "accountName: 'mine'", "nothing deploys"),
    },
    "what_conflicts_is_made_in_turn": {
        "role assignments at the same time": (COSMOS, "@batchSize(1)\nresource roles", "resource roles", "roles makes"),
        "containers in twos": (CONTAINERS, "@batchSize(1)", "@batchSize(2)", "container makes several"),
        "endpoints at the same time": (
            MAIN,
            "@batchSize(1)\nmodule storageEndpoints",
            "module storageEndpoints",
            "storageEndpoints makes several Microsoft.Network/privateEndpoints at a time",
        ),
    },
    "api_versions_are_known": {
        "API version": (STORAGE, "@2024-01-01", "@2019-06-01", "2019-06-01 is not a version"),
    },
    "resources_fit_the_service": {
        "property that the type has not": (COSMOS, "disableLocalAuth: true", "disableLocalAuths: true", "no property"),
        "required property": (COSMOS, "    databaseAccountOfferType: 'Standard'\n", "", "OfferType is required"),
        "value that is not allowed": (COSMOS, "'Session'", "'Sessions'", "may be Eventual, Session"),
        "value of another kind": (CONTAINERS, "maxThroughput: autoscaleMaxRu", "maxThroughput: 'much'", "of type int"),
        "value out of bounds": (COSMOS, "failoverPriority: 0", "failoverPriority: -1", "too small"),
        "read-only property": (STORAGE, "    allowBlob", "    creationTime: 'now'\n    allowBlob", "is read-only"),
        "kind of backup": (COSMOS, "type: 'Continuous'", "type: 'Continual'", "may be Continuous, Periodic"),
        "text for a list": (ENDPOINT, "groupIds: [groupId]", "groupIds: groupId", "must be a list"),
    },
    "roles_are_granted": {
        "role without an id": (MODELS, "5e0bd9bd-7b93", "5e0bd9bd-7b94", "no role is known"),
        "missing role for data": (COSMOS, "in principals: {", "in []: {", "lacks the role Cosmos DB Built-in"),
        "missing role for queues": (
            STORAGE,
            "  '974c5e8b-45b9-4653-ba55-5f855dd0fb88'\n",
            "",
            "lacks the role Storage Queue Data Contributor",
        ),
        "role of somebody else": (
            MAIN,
            "appPrincipalId: identity.outputs.principalId",
            "appPrincipalId: identity.outputs.clientId",
            "lacks the role",
        ),
        "role too many": (
            MONITORING,
            "3913510d-42f4-4e42-8a64-420c390055eb",
            "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
            "does not need the role Storage Blob Data Owner",
        ),
    },
    "nothing_takes_keys": {
        "plain HTTP": (FUNCTIONS, "httpsOnly: true", "httpsOnly: false", "httpsOnly"),
        "shared keys": (STORAGE, "allowSharedKeyAccess: false", "allowSharedKeyAccess: true", "Shared"),
        "account keys": (COSMOS, "    disableLocalAuth: true\n", "", "disableLocalAuth"),
        "model keys": (MODELS, "disableLocalAuth: true", "disableLocalAuth: false", "disableLocal"),
        "a key among the settings": (
            FUNCTIONS,
            "AZURE_CLIENT_ID: identityClientId",
            "COSMOS_DB_KEY: 'c2VjcmV0'",
            "COSMOS_DB_KEY holds a secret",
        ),
        "a connection string among the settings": (
            FUNCTIONS,
            "COSMOS__accountEndpoint: cosmosEndpoint",
            "COSMOS: 'AccountEndpoint=${cosmosEndpoint};AccountKey=abc'",
            "COSMOS holds a secret",
        ),
    },
    "the_store_can_be_restored": {
        "periodic backup": (COSMOS, "type: 'Continuous'", "type: 'Periodic'", "not backed up"),
        "key of one's own ignored": (COSMOS, "}, encryption)", "}, {})", "not encrypted with the key"),
    },
    "a_region_can_be_added": {
        "another setting with the region": (
            COSMOS,
            "enableAutomaticFailover: !serverless",
            "enableAutomaticFailover: twoRegions",
            "enableAutomaticFailover is true instead of false",
        ),
        "no second region": (COSMOS, "!serverless && !empty(", "serverless && !empty(", "there is no second region"),
    },
    "containers_are_the_libraries": {
        "partition key": (POLICIES, '"/thread_id"', '"/thread"', "partitionKey is"),
        "index policy": (POLICIES, "quantizedFlat", "flat", "indexingPolicy is"),
        "text policy": (POLICIES, '"language": "en-US"', '"language": "de"', "fullTextPolicy"),
        "missing container": (POLICIES, '"id": "leases"', '"id": "lease"', "leases is missing"),
        "time to live of turns": (CONTAINERS, "item.holdsTurns ?", "!item.holdsTurns ?", "defaultTtl"),
        "dimensions of the containers": (
            CONTAINERS,
            "dimensions: embeddingDimensions",
            "dimensions: 1536",
            "other vectors, turns kept: container memories: vectorEmbeddingPolicy",
        ),
        "throughput of some containers": (CONTAINERS, "    options: options", "    options: {}", "throughput"),
    },
    "models_match_the_store": {
        "dimensions of the library": (MAIN, "embeddingDimensions int = 1536", "embeddingDimensions int = 3072", "3072"),
        "dimensions of the settings": (
            FUNCTIONS,
            "string(embeddingDimensions)",
            "string(instanceMemoryMB)",
            "is not the 1536",
        ),
        "name of a deployment": (MODELS, "  name: chatModelName\n", "  name: 'chat'\n", "is not deployed"),
    },
    "private_means_private": {
        "public although private": (
            STORAGE,
            "publicNetworkAccess: publicAccess ? 'Enabled' : 'Disabled'",
            "publicNetworkAccess: 'Enabled'",
            "public network access is Enabled",
        ),
        "no private endpoint": (MAIN, "['blob', 'queue', 'table']", "['blob', 'queue']", "lacks a private"),
    },
    "the_app_is_on_flex_consumption": {
        "Python of another version": (FUNCTIONS, "'3.13'", "'3.11'", "for python 3.13"),
        "another language": (FUNCTIONS, "name: 'python'", "name: 'dotnet-isolated'", "dotnet"),
        "instances that nobody asked for": (MAIN, "alwaysReadyHttp int = 0", "alwaysReadyHttp int = 1", "kept ready"),
        "another plan": (FUNCTIONS, "'FC1'", "'Y1'", "is Y1"),
    },
    "settings_cover_the_app": {
        "connection without an address": (
            FUNCTIONS,
            "COSMOS__accountEndpoint: cosmosEndpoint",
            "COSMOS__endpoint: cosmosEndpoint",
            "lacks the app setting COSMOS__accountEndpoint",
        ),
        "connection of another identity": (
            FUNCTIONS,
            "COSMOS__clientId: identityClientId",
            "COSMOS__clientId: identityId",
            "COSMOS__clientId is",
        ),
        "%SETTING% of a trigger": (
            FUNCTIONS,
            "COSMOS_DB_DATABASE: cosmosDatabaseName",
            "COSMOS_DATABASE: cosmosDatabaseName",
            "%COSMOS_DB_DATABASE% is no app setting",
        ),
        "%SETTING% of host.json": (
            "host.json",
            '"hubName": "default"',
            '"hubName": "%HUB%"',
            "%HUB% is no app setting",
        ),
        "storage without queues": (FUNCTIONS, "__queueServiceUri", "__queueUri", "queueServiceUri"),
    },
    "what_is_needed_is_set": {
        "step without its setting": (
            FUNCTIONS,
            "    STRETCH_LATER_BATCHES: string(stretchLaterBatches)\n",
            "",
            "sets STRETCH_LATER_BATCHES",
        ),
    },
    "settings_are_read": {
        "misspelt setting": (FUNCTIONS, "AGENT_MEMORY_CHAT_MODEL", "AGENT_MEMORY_CHATMODEL", "by nobody"),
        "misspelt setting of one's own": (
            OWN_SETTINGS,
            "{}",
            '{"MEMORY_TALK_DAY": "30"}',
            "MEMORY_TALK_DAY is read by",
        ),
        "function that is not there": (
            OWN_SETTINGS,
            "{}",
            '{"AzureWebJobs.maintain.Disabled": "true", "AzureWebJobs.on_memory_chnge.Disabled": "true"}',
            "AzureWebJobs.on_memory_chnge.Disabled is read by",
        ),
        "setting that is no text": (
            OWN_SETTINGS,
            "{}",
            '{"MEMORY_TALK_DAYS": 30}',
            "MEMORY_TALK_DAYS is 30, not a text",
        ),
        "setting that Flex refuses": (
            FUNCTIONS,
            "    AZURE_CLIENT_ID:",
            "    FUNCTIONS_WORKER_RUNTIME: 'python'\n    AZURE_CLIENT_ID:",
            "FUNCTIONS_WORKER_RUNTIME is not for Flex",
        ),
    },
    "processing_runs_as_often_as_said": {
        "cadence": (MAIN, "dedupEveryN int = 5", "dedupEveryN int = 50", "DEDUP_EVERY_N is 50"),
        "time to live by default": (MAIN, "int = 2592000", "int = 604800", "not 30 days"),
    },
    "the_scheduler_fits": {
        "another task hub": ("host.json", '"hubName": "default"', '"hubName": "memory"', "the task hub is default"),
        "scheduler by key": (SCHEDULER, "Authentication=ManagedIdentity", "AccessKey=x", "sign in by"),
    },
    "azure_yaml_is_what_azd_reads": {
        "a name with capitals": ("azure.yaml", "name: durable-agent-memory", "name: Durable_Memory", "is no name"),
        "an azd that is too old": ("azure.yaml", ">= 1.23.13", ">= 1.20.0", "misreads .funcignore"),
        "a word that azd passes over": ("azure.yaml", "infra:\n", "infrastructure:\n", "knows no infrastructure"),
        "a provider's other name": ("azure.yaml", "  module: main", "  template: main", "infra: azd knows no template"),
        "settings in the service": (
            "azure.yaml",
            "    host: function",
            "    host: function\n    env: {}",
            "no env here",
        ),
        "a moment of the project": ("azure.yaml", "      prepackage:", "      preprovision:", "no such moment"),
        "a moment that is none": ("azure.yaml", "  postprovision:", "  afterprovision:", "no such moment"),
        "a line without a shell": (
            "azure.yaml",
            "          shell: sh\n          run: python3",
            "          run: python3",
            "prepackage on posix: a command of one line needs its shell",
        ),
        "a hook for one system": (
            "azure.yaml",
            "          run: python infra",
            "          do: python infra",
            "run is missing",
        ),
    },
    "azd_is_told_the_same": {
        "name of the service": ("azure.yaml", "  api:\n", "  memory:\n", "the services are ['memory']"),
        "condition of the service": (
            "azure.yaml",
            "DEPLOY_FUNCTION_APP=true",
            "DEPLOY_APP=true",
            "on another condition",
        ),
        "version of the template": ("azure.yaml", "memory@0.2.0", "memory@0.0.1", "version is not"),
        "hook that is not there": ("azure.yaml", "write_env.sh", "env.sh", "there is no"),
    },
    "quotas_are_left_to_azd": {
        "a quota by name": (
            MAIN,
            "{ azd: { type: 'location' } }",
            "{ azd: { type: 'location', usageName: ['OpenAI.GlobalStandard.gpt-4.1-mini,30'] } }",
            "main.bicep: usageName names a quota",
        ),
    },
    "the_budget_is_asked_for": {
        "a budget from no day on": (
            MAIN,
            "if (monthlyBudget > 0 && !empty(budgetStartDate))",
            "if (true)",
            "nobody said",
        ),
        "a budget from another day on": (
            MAIN,
            "startDate: budgetStartDate",
            "startDate: '2026-01-01'",
            "no budget from",
        ),
    },
    "alerts_watch_what_is_reported": {
        "metric that nobody reports": (APP_ALERTS, '"dead_letters"', '"dead_letter"', "the metric dead_letter"),
        "failures that nobody counts": (APP_ALERTS, '"change_feed_failures"', '"failures"', "the metric failures"),
        "a table that depends on how telemetry is sent": (
            APP_ALERTS,
            'customMetrics | where name == "change_feed_failures"',
            'requests | where name == "on_memory_change" and success == false',
            "asks for requests",
        ),
        "metric of the workbook": (WORKBOOK, "write_to_recall", "recall_lag", "the metric recall_lag"),
        "one of several metrics": (WORKBOOK, 'in (\\"dead_letters', 'in (\\"letters', "the metric letters"),
        "dimension that nobody tells": (WORKBOOK, "agent_memory.step", "memory.step", "no code tells memory.step"),
        "message that nobody logs": (APP_ALERTS, "by the change feed", "by the feed", "no code logs"),
        "window in pieces": (APP_ALERTS, "sum(valueSum)'", "sum(valueSum) by bin(timestamp, 15m)'", "cuts its window"),
        "alert that tells nobody": (APP_ALERTS, "actionGroups: actionGroupIds", "actionGroups: []", "nobody"),
    },
    "the_package_is_whole": {
        "package without the library": (".funcignore", "tests/", "tests/\nsdk/", "lacks sdk/"),
        "package without a member of the workspace": (
            ".funcignore",
            "!sdk/embedded_cosmos/pyproject.toml\n",
            "",
            "lacks sdk/embedded_cosmos/pyproject.toml",
        ),
        "package with the host": (".funcignore", "sdk/functions_host/*\n", "", "would hold sdk/functions_host/src/"),
        "package with the tests": (".funcignore", "tests/\n", "", "would hold tests/"),
        "package with a virtual environment": (".funcignore", "/*_env/\n", "", "would hold my_env/"),
        "package with an export": (".funcignore", "/keys.json\n", "", "would hold keys.json"),
        "package without bytecode": (".funcignore", "/__pycache__/\n", "__pycache__/\n", "the bytecode of packages"),
        "package for any Python": (
            "requirements.txt",
            "azure-functions>=2.1",
            "azure-functions>=1.24",
            "may be 1.26.0",
        ),
        "package of today's versions": ("requirements.txt", "-c constraints.txt", "", "takes other versions"),
        "package of an untested version": (
            "constraints.txt",
            "azure-cosmos==4",
            "azure-cosmos==3",
            "is not the version of uv.lock",
        ),
        "package without its own code": (
            "requirements.txt",
            ".[functions]",
            "durable-agent-memory[functions]",
            "does not install this",
        ),
    },
}
"""By the rule that finds it: what is wrong, the file, the text in it, what stands there instead, and what is said."""


def named(rule: str) -> Rule:
    return next(each for each in RULES if each.__name__ == rule)


@pytest.mark.parametrize(("rule", "what"), [(rule, what) for rule, faults in FAULTS.items() for what in faults])
def test_a_planted_fault_is_found(rule: str, what: str, broken: Breaker):
    file, old, new, says = FAULTS[rule][what]
    found = list(faults_of(named(rule), broken(file, old, new)))
    assert any(says in fault for fault in found), found


def test_every_rule_has_a_fault_that_it_finds():
    assert FAULTS.keys() == {rule.__name__ for rule in RULES}


def test_a_function_that_binds_to_an_unknown_connection_is_found(project: Project):
    cover = named("settings_cover_the_app")
    more = {**project.bindings, "on_event": [{"type": "eventHubTrigger", "connection": "EVENTS", "hub": "%HUB_NAME%"}]}
    found = list(faults_of(cover, Project(project.root, known_bindings=more)))
    assert "as it comes: connection EVENTS lacks the app setting EVENTS__accountEndpoint" in found
    assert "as it comes: %HUB_NAME% is no app setting" in found


def test_an_app_that_does_not_load_is_found(copied: Path):
    (copied / "function_app.py").unlink()
    (copied / "function_app.py").write_text("raise RuntimeError('half a deployment')\n")
    [found] = faults_of(named("settings_cover_the_app"), Project(copied))
    assert found == "the function app cannot be loaded: RuntimeError: half a deployment"


def test_host_json_that_was_changed_by_hand_is_found(copied: Path, project: Project):
    host = json.loads((copied / "host.json").read_text())
    host["extensions"]["durableTask"]["storageProvider"] = {"type": "azureManaged"}
    (copied / "host.json").write_text(json.dumps(host))
    found = faults_of(named("the_scheduler_fits"), Project(copied, known_bindings=project.bindings))
    assert any("storageProvider is not the one" in fault for fault in found)


def test_a_reference_to_a_key_vault_is_no_secret(broken: Breaker):
    own = '{"AGENT_MEMORY_CHAT_API_KEY": "@Microsoft.KeyVault(VaultName=v;SecretName=s)"}'
    project = broken(OWN_SETTINGS, "{}", own)
    assert project.settings("as it comes")["AGENT_MEMORY_CHAT_API_KEY"].startswith("@Microsoft.KeyVault(")
    assert list(faults_of(settings_are_read, project)) == []
    assert list(faults_of(nothing_takes_keys, project)) == []
