"""The templates make the containers that `create_memory_store()` makes, read back from an engine that made them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos.aio import CosmosClient

from agent_memory.store.client import Store
from agent_memory.store.containers import TURNS, container_specs
from embedded_cosmos import AsyncTransport, Engine
from infra_check.project import Project
from infra_check.resource_rules import containers_are_the_libraries

SAID_BY_THE_LIBRARY = ("partitionKey", "indexingPolicy", "defaultTtl", "vectorEmbeddingPolicy", "fullTextPolicy")


def templates_containers(project: Project, scenario: str) -> dict[str, dict[str, Any]]:
    made = project.deployment(scenario).of_type("Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers")
    return {container.name: container.body["properties"] for container in made}


@pytest.mark.req("S1-50", "S1-51", "S1-52", "S1-53", "S1-54", "S1-55")
@pytest.mark.parametrize(
    ("scenario", "dimensions", "turn_ttl"),
    [("as it comes", 1536, 30 * 24 * 3600), ("other vectors, turns kept", 256, -1)],
)
async def test_template_and_library_make_the_same_containers(
    project: Project, scenario: str, dimensions: int, turn_ttl: int
):
    described = templates_containers(project, scenario)
    with Engine(None) as engine:
        store = Store(
            lambda: CosmosClient(engine.url, engine.credential, transport=AsyncTransport(engine)), "made", name="made"
        )
        await store.open()
        try:
            await store.provision(dimensions=dimensions)
            made = {spec.name: await store.container(spec.name).read() for spec in container_specs()}
        finally:
            await store.close()
    made[TURNS] |= {"defaultTtl": turn_ttl}  # only a deployment chooses how long turns are kept
    assert described.keys() == made.keys()
    for name, properties in made.items():
        resource = described[name]["resource"]
        assert {key: resource.get(key) for key in SAID_BY_THE_LIBRARY} == {
            key: properties.get(key) for key in SAID_BY_THE_LIBRARY
        }


@pytest.mark.req("S1-56")
def test_serverless_is_the_default_and_sends_no_throughput(project: Project):
    [account] = project.deployment("as it comes").of_type("Microsoft.DocumentDB/databaseAccounts")
    assert {"name": "EnableServerless"} in account.body["properties"]["capabilities"]
    assert [container["options"] for container in templates_containers(project, "as it comes").values()] == [{}] * 5


@pytest.mark.req("S1-57")
def test_autoscale_applies_to_all_five_containers(project: Project):
    [account] = project.deployment("autoscale").of_type("Microsoft.DocumentDB/databaseAccounts")
    assert {"name": "EnableServerless"} not in account.body["properties"]["capabilities"]
    options = [container["options"] for container in templates_containers(project, "autoscale").values()]
    assert options == [{"autoscaleSettings": {"maxThroughput": 4000}}] * 5


@pytest.mark.req("S1-40")
def test_what_reconciliation_orders_by_is_indexed(project: Project):
    policy = templates_containers(project, "as it comes")["memories"]["resource"]["indexingPolicy"]
    assert {"path": "/*"} in policy["includedPaths"]
    assert not any(path["path"].startswith("/created_at") for path in policy["excludedPaths"])


def test_a_model_that_the_store_moves_to_has_its_path_in_the_template(
    broken: Callable[[str, str, str], Project], copied: Path
):
    path = "/embedding_1a2b3c4d"
    moved = broken("infra/more-vectors.json", "[]", f'[{{"path": "{path}", "dimensions": 1024}}]')
    resource = templates_containers(moved, "as it comes")["memories"]["resource"]
    assert [index["path"] for index in resource["indexingPolicy"]["vectorIndexes"]] == ["/embedding", path]
    assert {"path": f"{path}/*"} in resource["indexingPolicy"]["excludedPaths"]
    assert [one["dimensions"] for one in resource["vectorEmbeddingPolicy"]["vectorEmbeddings"]] == [1536, 1024]
    assert list(containers_are_the_libraries(moved)) == []
    shifted = broken("infra/modules/containers.bicep", "excludedPaths, moreExcluded", "excludedPaths, []")
    assert any("indexingPolicy is" in fault for fault in containers_are_the_libraries(shifted))
