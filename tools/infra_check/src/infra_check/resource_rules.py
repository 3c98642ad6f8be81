"""Rules for what is deployed: versions, identities, roles, keys, encryption, containers, private networking."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agent_memory.settings import Environment
from agent_memory.store.containers import ContainerSpec, container_specs
from agent_memory.store.embedding_model import with_vector_path
from infra_check.bicep_evaluation import Deployed
from infra_check.project import NAMED, SCENARIOS, Project

# Generally available versions in which every property that the templates use is there. Cosmos DB has full-text indexes
# from 2025-10-15 on; Flex Consumption's functionAppConfig came with 2023-12-01. Diagnostic settings have previews.
API_VERSIONS = {
    "Microsoft.Authorization/roleAssignments": "2022-04-01",
    "Microsoft.CognitiveServices/accounts": "2025-06-01",
    "Microsoft.Consumption/budgets": "2023-11-01",
    "Microsoft.DocumentDB/databaseAccounts": "2025-10-15",
    "Microsoft.DurableTask/schedulers": "2025-11-01",
    "Microsoft.Insights/actionGroups": "2023-01-01",
    "Microsoft.Insights/components": "2020-02-02",
    "Microsoft.Insights/diagnosticSettings": "2021-05-01-preview",
    "Microsoft.Insights/metricAlerts": "2018-03-01",
    "Microsoft.Insights/scheduledQueryRules": "2023-12-01",
    "Microsoft.Insights/workbooks": "2023-06-01",
    "Microsoft.ManagedIdentity/userAssignedIdentities": "2023-01-31",
    "Microsoft.Network/privateDnsZones": "2024-06-01",
    "Microsoft.Network/privateEndpoints": "2024-05-01",
    "Microsoft.Network/virtualNetworks": "2024-05-01",
    "Microsoft.OperationalInsights/workspaces": "2023-09-01",
    "Microsoft.Resources/resourceGroups": "2024-03-01",
    "Microsoft.Storage/storageAccounts": "2024-01-01",
    "Microsoft.Web/serverfarms": "2024-04-01",
    "Microsoft.Web/sites": "2024-04-01",
}

COSMOS_DATA = "Cosmos DB Built-in Data Contributor"
OPENAI_USER = "Cognitive Services OpenAI User"
BLOB_OWNER = "Storage Blob Data Owner"
QUEUE_CONTRIBUTOR = "Storage Queue Data Contributor"
TABLE_CONTRIBUTOR = "Storage Table Data Contributor"
METRICS_PUBLISHER = "Monitoring Metrics Publisher"
DURABLE_CONTRIBUTOR = "Durable Task Data Contributor"
ROLES = {
    "00000000-0000-0000-0000-000000000002": COSMOS_DATA,
    "5e0bd9bd-7b93-4f28-af87-19fc36ad61bd": OPENAI_USER,
    "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": BLOB_OWNER,
    "974c5e8b-45b9-4653-ba55-5f855dd0fb88": QUEUE_CONTRIBUTOR,
    "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3": TABLE_CONTRIBUTOR,
    "3913510d-42f4-4e42-8a64-420c390055eb": METRICS_PUBLISHER,
    "0ad04412-c4d5-4796-b79c-f76d14c8d402": DURABLE_CONTRIBUTOR,
}
"""Azure's built-in roles by id. The first is Cosmos DB's own, and no role of Azure's access control."""

_APP_ROLES = {
    "Microsoft.DocumentDB/databaseAccounts": {COSMOS_DATA},
    "Microsoft.CognitiveServices/accounts": {OPENAI_USER},
    "Microsoft.Storage/storageAccounts": {BLOB_OWNER, QUEUE_CONTRIBUTOR, TABLE_CONTRIBUTOR},
    "Microsoft.Insights/components": {METRICS_PUBLISHER},
    "Microsoft.DurableTask/schedulers": {DURABLE_CONTRIBUTOR},
}
_DEVELOPER_ROLES = {
    "Microsoft.DocumentDB/databaseAccounts": {COSMOS_DATA},
    "Microsoft.CognitiveServices/accounts": {OPENAI_USER},
    "Microsoft.DurableTask/schedulers": {DURABLE_CONTRIBUTOR},
}

_MUST_BE: dict[str, dict[str, Any]] = {
    "Microsoft.DocumentDB/databaseAccounts": {"disableLocalAuth": True, "minimalTlsVersion": "Tls12"},
    "Microsoft.CognitiveServices/accounts": {"disableLocalAuth": True},
    "Microsoft.Insights/components": {"DisableLocalAuth": True},
    "Microsoft.Storage/storageAccounts": {
        "allowSharedKeyAccess": False,
        "allowBlobPublicAccess": False,
        "supportsHttpsTrafficOnly": True,
        "minimumTlsVersion": "TLS1_2",
    },
    "Microsoft.Web/sites": {"httpsOnly": True},
    "Microsoft.Web/sites/basicPublishingCredentialsPolicies": {"allow": False},
}
_SECRET_NAME = re.compile(r"(^|_)(API_?KEY|KEY|SECRET|PASSWORD|SAS)$", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"AccountKey=|SharedAccess|sig=|(?<![A-Za-z])Key=|Password=", re.IGNORECASE)
_PRIVATE_GROUPS = {
    "Microsoft.DocumentDB/databaseAccounts": {"Sql"},
    "Microsoft.CognitiveServices/accounts": {"account"},
    "Microsoft.Storage/storageAccounts": {"blob", "queue", "table"},
}


def api_versions_are_known(project: Project) -> Iterator[str]:
    """Every resource has an API version that is known to have what the templates use."""
    for resource in _all(project):
        service = "/".join(resource.type.split("/")[:2])
        if API_VERSIONS.get(service) != resource.api_version:
            yield f"{resource.source}: {resource.type}@{resource.api_version} is not a version that was looked up"


def roles_are_granted(project: Project) -> Iterator[str]:
    """The app's identity has every role that it needs and no other; so has who deploys."""
    for scenario in SCENARIOS:
        granted = list(_grants(project, scenario))
        for source, _, _, role in granted:
            if role not in ROLES:
                yield f"{source}: no role is known by the id {role}"
        app = str(project.identity(scenario).member("properties").member("principalId"))
        yield from _compare(project, scenario, app, _APP_ROLES, granted, "the app's identity")
        developer = project.parameter(scenario, "principalId")
        if developer:
            yield from _compare(project, scenario, developer, _DEVELOPER_ROLES, granted, "who deploys")


def _compare(
    project: Project,
    scenario: str,
    principal: str,
    needed: Mapping[str, set[str]],
    granted: list[tuple[str, str, str, str]],
    who: str,
) -> Iterator[str]:
    wanted = {
        (resource.id, role)
        for type_, roles in needed.items()
        for resource in project.deployment(scenario).of_type(type_)
        for role in roles
    }
    have = {(scope, ROLES.get(role, role)) for _, scope, holder, role in granted if holder == principal}
    for scope, role in sorted(wanted - have):
        yield f"{scenario}: {who} lacks the role {role} on {_short(scope)}"
    for scope, role in sorted(have - wanted):
        yield f"{scenario}: {who} does not need the role {role} on {_short(scope)}"


def _grants(project: Project, scenario: str) -> Iterator[tuple[str, str, str, str]]:
    """Source, scope, principal and role id of every assignment."""
    deployment = project.deployment(scenario)
    for resource in deployment.of_type("Microsoft.Authorization/roleAssignments"):
        properties = resource.body["properties"]
        yield resource.source, str(resource.scope_id), properties["principalId"], _last(properties["roleDefinitionId"])
    for resource in deployment.of_type("Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments"):
        properties = resource.body["properties"]
        yield resource.source, properties["scope"], properties["principalId"], _last(properties["roleDefinitionId"])


def nothing_takes_keys(project: Project) -> Iterator[str]:
    """Keys, passwords and plain HTTP are switched off wherever there is a switch; no setting holds a secret."""
    for resource in _all(project):
        properties = resource.body.get("properties", {})
        for name, value in _MUST_BE.get(resource.type, {}).items():
            if not resource.existing and properties.get(name) != value:
                yield f"{resource.source}: {name} of {resource.type} is {properties.get(name)}, not {value}"
    for scenario in SCENARIOS:
        for name, value in project.settings(scenario).items():
            if str(value).startswith("@Microsoft.KeyVault("):
                continue  # a reference to a secret, which the platform reads
            if _SECRET_NAME.search(name) or _SECRET_VALUE.search(str(value)):
                yield f"app setting {name} holds a secret"


def the_store_can_be_restored(project: Project) -> Iterator[str]:
    """The account is backed up continuously and encrypted, with one's own key if there is one."""
    for scenario in SCENARIOS:
        for account in project.deployment(scenario).of_type("Microsoft.DocumentDB/databaseAccounts"):
            properties = account.body["properties"]
            if properties.get("backupPolicy", {}).get("type") != "Continuous":
                yield f"{account.source}: the account is not backed up continuously"
            key = project.parameter(scenario, "cosmosKeyVaultKeyUri")
            if properties.get("keyVaultKeyUri", "") != key:
                yield f"{account.source}: the account is not encrypted with the key that is asked for"


def a_region_can_be_added(project: Project) -> Iterator[str]:
    """A second region changes nothing of the account beside its regions, because Azure refuses both at once."""
    given = NAMED | SCENARIOS["autoscale"]
    accounts = [
        project.deployed(given | {"cosmosSecondaryLocation": region}).of_type("Microsoft.DocumentDB/databaseAccounts")[
            0
        ]
        for region in ("", "elsewhere")
    ]
    before, after = (account.body["properties"] for account in accounts)
    if before["locations"] == after["locations"]:
        yield f"{accounts[1].source}: there is no second region"
    for what, here, there in _differences(before, after):
        if what != "locations":
            now, then = json.dumps(there), json.dumps(here)
            yield f"{accounts[1].source}: with a second region, {what} is {now} instead of {then}"


def containers_are_the_libraries(project: Project) -> Iterator[str]:
    """The five containers have the keys, policies, times to live and throughput that `create_memory_store()` gives."""
    for scenario in SCENARIOS:
        dimensions = project.parameter(scenario, "embeddingDimensions")
        turn_ttl = SCENARIOS[scenario].get("turnTtlSeconds", 30 * 24 * 3600)
        highest = project.parameter(scenario, "cosmosAutoscaleMaxRu")
        account = project.deployment(scenario).of_type("Microsoft.DocumentDB/databaseAccounts")[0]
        serverless = {"name": "EnableServerless"} in account.body["properties"]["capabilities"]
        if serverless != (highest == 0):
            yield f"{scenario}: {account.source}: the account is {'' if serverless else 'not '}serverless"
        made = project.deployment(scenario).of_type("Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers")
        found = {container.name: container.body["properties"] for container in made}
        specs = {spec.name: spec for spec in container_specs(turn_ttl)}
        for name in sorted(found.keys() ^ specs.keys()):
            yield f"{scenario}: container {name} is {'not the library' if name in found else 'missing'}"
        for name in sorted(found.keys() & specs.keys()):
            expected = expected_container(specs[name], dimensions, project.more_vectors)
            if not project.parameter(scenario, "vectorIndexForEachUser"):
                for index in expected["indexingPolicy"].get("vectorIndexes", []):
                    del index["vectorIndexShardKey"]
            for what, here, there in _differences(found[name]["resource"], expected):
                yield f"{scenario}: container {name}: {what} is {json.dumps(here)}, in the library {json.dumps(there)}"
            options = {"autoscaleSettings": {"maxThroughput": highest}} if highest else {}
            if found[name]["options"] != options:
                yield f"{scenario}: container {name}: throughput is {found[name]['options']}, not {options}"


def expected_container(spec: ContainerSpec, dimensions: int, more_vectors: list[dict[str, Any]]) -> dict[str, Any]:
    """A container as the library provisions it and moves it on, in the words of Azure's resource API."""
    paths = list(spec.partition_key_paths)
    vectors, indexing = spec.vector_policy(dimensions), spec.indexing_policy()
    if vectors is not None:
        for more in more_vectors:
            vectors, indexing = with_vector_path(vectors, indexing, more["path"], more["dimensions"])
    made = {
        "id": spec.name,
        "partitionKey": {"paths": paths, "kind": "MultiHash" if len(paths) > 1 else "Hash", "version": 2},
        "indexingPolicy": indexing,
        "defaultTtl": spec.default_ttl,
        "vectorEmbeddingPolicy": vectors,
        "fullTextPolicy": spec.full_text_policy(),
    }
    return {name: value for name, value in made.items() if value is not None}


def _differences(here: Mapping[str, Any], there: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted(here.keys() | there.keys()):
        if here.get(name) != there.get(name):
            yield name, here.get(name), there.get(name)


def models_match_the_store(project: Project) -> Iterator[str]:
    """Vectors have one length in containers, settings and library; deployments are named as the settings say."""
    defaults = {name: field.default for name, field in Environment.model_fields.items()}
    for parameter, setting in (
        ("embeddingDimensions", "embedding_dimensions"),
        ("chatModelName", "chat_model"),
        ("embeddingModelName", "embedding_model"),
        ("cosmosDatabaseName", "cosmos_database"),
    ):
        given = project.parameter("as it comes", parameter)
        if given != defaults[setting]:
            yield f"main.bicep: {parameter} is {given!r}, and in the library {defaults[setting]!r}"
    for scenario in SCENARIOS:
        settings, deployment = project.settings(scenario), project.deployment(scenario)
        models = {model.name for model in deployment.of_type("Microsoft.CognitiveServices/accounts/deployments")}
        for name in ("AGENT_MEMORY_CHAT_MODEL", "AGENT_MEMORY_EMBEDDING_MODEL"):
            if models and settings and settings.get(name) not in models:
                yield f"{scenario}: {name} names {settings.get(name)}, which is not deployed"
        dimensions = project.parameter(scenario, "embeddingDimensions")
        if settings and settings.get("AGENT_MEMORY_EMBEDDING_DIMENSIONS") != str(dimensions):
            yield f"{scenario}: AGENT_MEMORY_EMBEDDING_DIMENSIONS is not the {dimensions} of the containers"


def private_means_private(project: Project) -> Iterator[str]:
    """With private networking, each service that holds data is closed to the world and has its private endpoints."""
    for scenario in SCENARIOS:
        private = bool(project.parameter(scenario, "privateNetworking"))
        deployment = project.deployment(scenario)
        ends: dict[str, set[str]] = {}
        for endpoint in deployment.of_type("Microsoft.Network/privateEndpoints"):
            for connection in endpoint.body["properties"]["privateLinkServiceConnections"]:
                target = connection["properties"]["privateLinkServiceId"]
                ends.setdefault(target, set()).update(connection["properties"]["groupIds"])
        for type_, groups in _PRIVATE_GROUPS.items():
            for resource in deployment.of_type(type_):
                access = resource.body["properties"].get("publicNetworkAccess")
                if access != ("Disabled" if private else "Enabled"):
                    yield f"{scenario}: {resource.source}: public network access is {access}"
                if private and ends.get(resource.id, set()) != groups:
                    yield f"{scenario}: {_short(resource.id)} lacks a private endpoint for {', '.join(sorted(groups))}"
        for app in deployment.of_type("Microsoft.Web/sites"):
            if bool(app.body["properties"].get("virtualNetworkSubnetId")) != private:
                yield f"{scenario}: {app.source}: the app is {'not ' if private else ''}in a virtual network"


def _all(project: Project) -> Iterator[Deployed]:
    """Every resource that some scenario has, once for each place in a template."""
    seen: set[tuple[str, str]] = set()
    for scenario in SCENARIOS:
        for resource in project.deployment(scenario).resources:
            if (resource.source, resource.name) not in seen:
                seen.add((resource.source, resource.name))
                yield resource


def _last(id_: str) -> str:
    return id_.rsplit("/", 1)[1]


def _short(id_: str) -> str:
    return "/".join(id_.split("/")[-2:])
