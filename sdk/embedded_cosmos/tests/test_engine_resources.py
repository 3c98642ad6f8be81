from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from azure.cosmos import CosmosClient, DatabaseProxy, PartitionKey, ThroughputProperties
from azure.cosmos.exceptions import CosmosHttpResponseError, CosmosResourceExistsError, CosmosResourceNotFoundError

from embedded_cosmos import Engine
from embedded_cosmos.messages import Request

VECTORS = {
    "vectorEmbeddings": [{"path": "/embedding", "dataType": "float32", "dimensions": 384, "distanceFunction": "cosine"}]
}
TEXTS = {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/content", "language": "en-US"}]}
INDEXING = {
    "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": "/embedding/*"}],
    "vectorIndexes": [{"path": "/embedding", "type": "quantizedFlat"}],
    "fullTextIndexes": [{"path": "/content"}],
}


def create(database: DatabaseProxy, **policies: Any) -> Any:
    return database.create_container("c", PartitionKey(path=["/user_id", "/thread_id"]), **policies)


def offers(engine: Engine) -> list[dict[str, Any]]:
    # Not through get_throughput(): of a container without an offer, the client makes an AttributeError.
    found: list[dict[str, Any]] = orjson.loads(engine.handle(Request("GET", "/offers/", {})).body)["Offers"]
    return found


def test_databases_are_created_listed_queried_and_deleted(client: CosmosClient) -> None:
    for name in ("one", "two"):
        client.create_database(name)
    assert client.get_database_client("one").read()["id"] == "one"
    assert [database["id"] for database in client.list_databases()] == ["one", "two"]
    query = {"query": "SELECT * FROM root r WHERE r.id = @id", "parameters": [{"name": "@id", "value": "two"}]}
    assert [database["id"] for database in client.query_databases(query)] == ["two"]
    with pytest.raises(CosmosResourceExistsError):
        client.create_database("one")
    client.delete_database("one")
    with pytest.raises(CosmosResourceNotFoundError):
        client.get_database_client("one").read()


@pytest.mark.parametrize("name", ["", "a/b", "a\\b", "a?b", "a#b", "ends with space ", "x" * 256])
def test_names_that_azure_refuses_are_refused(engine: Engine, name: str) -> None:
    response = engine.handle(Request("POST", "/dbs/", {}, orjson.dumps({"id": name})))
    assert response.status == 400
    assert b'"code":"BadRequest"' in response.body


def test_a_container_keeps_its_policies(database: DatabaseProxy) -> None:
    container = create(
        database, default_ttl=60, indexing_policy=INDEXING, vector_embedding_policy=VECTORS, full_text_policy=TEXTS
    )
    properties = container.read()
    assert properties["partitionKey"] == {"paths": ["/user_id", "/thread_id"], "kind": "MultiHash", "version": 2}
    assert properties["vectorEmbeddingPolicy"] == VECTORS
    assert properties["fullTextPolicy"] == TEXTS
    assert properties["defaultTtl"] == 60
    indexing = properties["indexingPolicy"]
    assert indexing["vectorIndexes"] == INDEXING["vectorIndexes"]
    assert {"path": '/"_etag"/?'} in indexing["excludedPaths"]
    assert indexing["indexingMode"] == "consistent"
    assert [entry["id"] for entry in database.list_containers()] == ["c"]
    assert [entry["id"] for entry in database.query_containers("SELECT * FROM c")] == ["c"]
    with pytest.raises(CosmosResourceExistsError):
        create(database)


@pytest.mark.parametrize(
    ("policies", "reason"),
    [
        ({"indexing_policy": INDEXING, "full_text_policy": TEXTS}, "not matching in Embedding's path"),
        ({"indexing_policy": INDEXING, "vector_embedding_policy": VECTORS}, "not in the Full Text Policy"),
        ({"default_ttl": 0}, "defaultTtl"),
        ({"unique_key_policy": {"uniqueKeys": [{"paths": ["/a"]}]}}, "unique keys"),
        ({"computed_properties": [{"name": "n", "query": "SELECT c.n FROM c"}]}, "the form SELECT VALUE"),
        (
            {"computed_properties": [{"name": "id", "query": "SELECT VALUE 1 FROM c"}]},
            "cannot name a computed property",
        ),
        ({"full_text_policy": {"defaultLanguage": "xx-XX"}}, "unsupported language"),
        ({"full_text_policy": {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "content"}]}}, "invalid Path"),
        ({"indexing_policy": {"compositeIndexes": [[{"path": "/a"}]]}}, "at least two paths"),
        ({"indexing_policy": {"excludedPaths": [{"path": "/a"}]}}, "end with"),
    ],
)
def test_unusable_policies_are_refused(database: DatabaseProxy, policies: dict[str, Any], reason: str) -> None:
    with pytest.raises(CosmosHttpResponseError) as error:
        create(database, **policies)
    assert error.value.status_code == 400
    assert reason in error.value.http_error_message


@pytest.mark.parametrize(
    ("change", "index", "reason"),
    [
        ({"dimensions": 5000}, {}, "Dimensions"),
        ({"dimensions": 506}, {"type": "flat"}, "at most 505"),
        ({"dataType": "float64"}, {}, "DataType"),
        ({"distanceFunction": "manhattan"}, {}, "DistanceFunction"),
        ({}, {"type": "hnsw"}, "Index Type::hnsw is invalid"),
        ({}, {"quantizationByteSize": 0}, "The allowed range is between 1 and 384"),
        ({}, {"type": "diskANN", "indexingSearchListSize": 5}, "The allowed range is between 25 and 500"),
        ({}, {"vectorIndexShardKey": ["country"]}, "invalid Shard Path: country"),
    ],
)
def test_vector_policies_have_limits(
    database: DatabaseProxy, change: dict[str, Any], index: dict[str, Any], reason: str
) -> None:
    vectors = {"vectorEmbeddings": [VECTORS["vectorEmbeddings"][0] | change]}
    indexing = {"vectorIndexes": [{"path": "/embedding", "type": "quantizedFlat", **index}]}
    with pytest.raises(CosmosHttpResponseError) as error:
        create(database, vector_embedding_policy=vectors, indexing_policy=indexing)
    assert error.value.status_code == 400
    assert reason in error.value.http_error_message


def test_a_replace_changes_ttl_and_texts_but_neither_key_nor_vectors(database: DatabaseProxy) -> None:
    container = create(database, vector_embedding_policy=VECTORS)
    key = PartitionKey(path=["/user_id", "/thread_id"])
    etag = container.read()["_etag"]
    database.replace_container("c", key, default_ttl=5, vector_embedding_policy=VECTORS, full_text_policy=TEXTS)
    properties = container.read()
    assert (properties["defaultTtl"], properties["fullTextPolicy"]) == (5, TEXTS)
    assert properties["_etag"] != etag
    for other_key, vectors, reason in (
        (PartitionKey(path="/user_id"), VECTORS, "partition key"),
        (key, None, "existing embedding policy"),
    ):
        with pytest.raises(CosmosHttpResponseError) as error:
            database.replace_container("c", other_key, vector_embedding_policy=vectors)
        assert error.value.status_code == 400
        assert reason in error.value.http_error_message
    assert container.read()["defaultTtl"] == 5


def test_a_replace_adds_a_vector_path_and_leaves_the_existing_ones(database: DatabaseProxy) -> None:
    container = create(
        database,
        vector_embedding_policy=VECTORS,
        indexing_policy={"vectorIndexes": [{"path": "/embedding", "type": "quantizedFlat"}]},
    )
    one = VECTORS["vectorEmbeddings"][0]
    short = {"id": "1", "user_id": "u", "thread_id": "t", "embedding": [1.0] * one["dimensions"], "second": [0.6, 0.8]}
    container.create_item(short)
    nearest = "SELECT TOP 1 VALUE VectorDistance(c.second, @v) FROM c ORDER BY VectorDistance(c.second, @v)"
    vector = [{"name": "@v", "value": [0.6, 0.8]}]
    second = one | {"path": "/second", "dimensions": 2}
    key = PartitionKey(path=["/user_id", "/thread_id"])
    both = {"vectorEmbeddings": [one, second]}
    indexes = {"vectorIndexes": [{"path": name, "type": "quantizedFlat"} for name in ("/embedding", "/second")]}
    database.replace_container("c", key, vector_embedding_policy=both, indexing_policy=indexes)
    assert container.read()["vectorEmbeddingPolicy"] == both
    assert list(container.query_items(nearest, parameters=vector, partition_key=["u", "t"])) == [pytest.approx(1.0)]
    changed = {"vectorEmbeddings": [one, second | {"dimensions": 3}]}
    with pytest.raises(CosmosHttpResponseError, match="existing embedding policy"):
        database.replace_container("c", key, vector_embedding_policy=changed, indexing_policy=indexes)


def test_a_container_made_anew_is_another_one(database: DatabaseProxy) -> None:
    container = create(database)
    container.create_item({"id": "1", "user_id": "u", "thread_id": "t"})
    old_rid = container.read()["_rid"]
    database.delete_container("c")
    with pytest.raises(CosmosResourceNotFoundError):
        container.read_item("1", ["u", "t"])
    create(database)
    # The client still has the old one's properties in mind; it must notice, and the item must be gone.
    container.create_item({"id": "2", "user_id": "u", "thread_id": "t"})
    assert container.read()["_rid"] != old_rid
    assert [item["id"] for item in container.read_all_items()] == ["2"]


def test_without_throughput_a_container_is_serverless(engine: Engine, database: DatabaseProxy) -> None:
    create(database)
    assert offers(engine) == []


def test_throughput_is_recorded_and_replaced(engine: Engine, database: DatabaseProxy) -> None:
    autoscaled = database.create_container(
        "auto", PartitionKey(path="/id"), offer_throughput=ThroughputProperties(auto_scale_max_throughput=4000)
    )
    assert autoscaled.get_throughput().auto_scale_max_throughput == 4000
    manual = database.create_container("manual", PartitionKey(path="/id"), offer_throughput=400)
    manual.replace_throughput(1000)
    assert manual.get_throughput().offer_throughput == 1000
    with pytest.raises(CosmosHttpResponseError) as error:
        manual.replace_throughput(250)
    assert error.value.status_code == 400
    database.delete_container("manual")
    expected = {"offerAutopilotSettings": {"maxThroughput": 4000}, "offerThroughput": 400}
    assert [offer["content"] for offer in offers(engine)] == [expected]


def test_a_container_without_its_throughput_is_not_made(engine: Engine, database: DatabaseProxy) -> None:
    engine._storage.execute(
        "CREATE TEMP TRIGGER full BEFORE INSERT ON main.offers BEGIN SELECT RAISE(ABORT, 'full'); END"
    )
    with pytest.raises(CosmosHttpResponseError, match="full"):
        database.create_container("c", PartitionKey(path="/id"), offer_throughput=400)
    engine._storage.execute("DROP TRIGGER full")
    assert (list(database.list_containers()), offers(engine)) == ([], [])
    database.create_container("c", PartitionKey(path="/id"), offer_throughput=400)
    assert len(offers(engine)) == 1


def test_a_container_says_what_it_holds_when_asked(database: DatabaseProxy) -> None:
    container = create(database)
    for number in range(3):
        container.create_item({"id": str(number), "user_id": "u", "thread_id": "t", "text": "x" * 1000})
    assert "statistics" not in container.read()
    properties = container.read(populate_partition_key_range_statistics=True, populate_quota_info=True)
    ranges = properties["statistics"]
    assert sum(each["documentCount"] for each in ranges) == 3
    assert 3 <= sum(each["sizeInKB"] for each in ranges) <= 5
    headers = container.client_connection.last_response_headers
    assert headers["x-ms-documentdb-collection-index-transformation-progress"] == "100"
    assert headers["x-ms-resource-usage"].startswith("documentsCount=3;")


def test_one_region_has_no_conflicts(database: DatabaseProxy) -> None:
    container = create(database)
    assert list(container.list_conflicts()) == []
    query = "SELECT * FROM c WHERE c.resourceType = 'document'"
    assert list(container.query_conflicts(query, partition_key=["u", "t"])) == []
    with pytest.raises(CosmosResourceNotFoundError):
        container.get_conflict("1", partition_key=["u", "t"])


def test_how_a_path_is_indexed_is_no_choice_any_more(database: DatabaseProxy) -> None:
    old = {"path": "/*", "indexes": [{"kind": "Hash", "dataType": "String"}]}
    container = create(database, indexing_policy={"includedPaths": [old]})
    assert container.read()["indexingPolicy"]["includedPaths"] == [{"path": "/*"}]


def test_what_is_not_covered_is_refused_with_the_reason(database: DatabaseProxy) -> None:
    container = create(database)
    with pytest.raises(CosmosHttpResponseError) as error:
        container.scripts.create_stored_procedure({"id": "s", "body": "function () {}"})
    assert error.value.status_code == 400
    assert "does not cover stored procedures" in error.value.http_error_message


def test_a_strict_engine_divides_by_throughput_as_azure_does(tmp_path: Path, connect: Any) -> None:
    path, key = tmp_path / "store.db", PartitionKey(path="/id")
    expected = {"none": 3, "400": 1, "10000": 1, "12000": 2, "autoscale": 3}
    with Engine(path, strict=True) as engine:
        database = connect(engine).create_database("db")
        database.create_container("none", key)
        for throughput in (400, 10_000, 12_000):
            database.create_container(str(throughput), key, offer_throughput=throughput)
        autoscale = ThroughputProperties(auto_scale_max_throughput=30_000)
        database.create_container("autoscale", key, offer_throughput=autoscale)
    for strict in (True, False):
        with Engine(path, strict=strict) as engine:
            database = connect(engine).get_database_client("db")
            counts = {name: len(list(database.get_container_client(name).read_feed_ranges())) for name in expected}
            assert counts == (expected if strict else dict.fromkeys(expected, 1))
