from __future__ import annotations

import random
from typing import Any

import pytest
from azure.core import MatchConditions
from azure.cosmos import ContainerProxy, DatabaseProxy, PartitionKey
from azure.cosmos.aio import CosmosClient as AsyncCosmosClient
from azure.cosmos.exceptions import CosmosAccessConditionFailedError, CosmosHttpResponseError

from embedded_cosmos import Engine

DIMENSIONS = 8
TOPICS = ("budget", "travel", "food")
SENTENCES = {
    "budget": "The budget for the trip is ten thousand dollars.",
    "travel": "The flight to Hawaii leaves in March.",
    "food": "She has been a vegetarian since last year and likes tofu.",
}


def vector(topic: str, noise: random.Random) -> list[float]:
    values = [noise.uniform(-0.05, 0.05) for _ in range(DIMENSIONS)]
    values[TOPICS.index(topic)] += 1.0
    return values


@pytest.fixture
def memories(database: DatabaseProxy, clock: Any) -> ContainerProxy:
    """Sixty memories of two users in three threads each, one a second."""
    embedding = {"path": "/embedding", "dataType": "float32", "dimensions": DIMENSIONS, "distanceFunction": "cosine"}
    container = database.create_container(
        "memories",
        PartitionKey(path=["/user_id", "/thread_id"]),
        default_ttl=-1,
        indexing_policy={
            "excludedPaths": [{"path": "/embedding/*"}],
            "vectorIndexes": [{"path": "/embedding", "type": "quantizedFlat"}],
            "fullTextIndexes": [{"path": "/content"}],
            "compositeIndexes": [
                [{"path": "/created_at", "order": "descending"}, {"path": "/id", "order": "ascending"}]
            ],
        },
        vector_embedding_policy={"vectorEmbeddings": [embedding]},
        full_text_policy={"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/content", "language": "en-US"}]},
    )
    noise = random.Random(7)
    for number in range(60):
        topic = TOPICS[number % 3]
        container.create_item(
            {
                "id": f"{number:02}",
                "user_id": "alice" if number % 2 else "bob",
                "thread_id": f"t{number % 5 % 3}",
                "type": "fact" if number % 4 else "episodic",
                "topic": topic,
                "content": SENTENCES[topic],
                "confidence": number / 60,
                "created_at": f"2026-03-{number // 4 + 1:02}T10:00:00Z",
                "embedding": vector(topic, noise),
                **({"superseded_by": "x"} if number % 7 == 0 else {}),
            }
        )
        clock.advance(1)
    return container


def parameters(**values: Any) -> list[dict[str, Any]]:
    return [{"name": f"@{name}", "value": value} for name, value in values.items()]


def numbers(condition: Any) -> list[int]:
    return [number for number in range(60) if condition(number)]


def ids(rows: Any) -> list[int]:
    return [int(row["id"]) for row in rows]


def is_alice(number: int) -> bool:
    return number % 2 == 1


def thread(number: int) -> str:
    return f"t{number % 5 % 3}"


@pytest.mark.req("S1-63")
def test_a_full_key_and_a_prefix_bound_a_query(memories: ContainerProxy) -> None:
    query = "SELECT c.id FROM c"
    of_alice = ids(memories.query_items(query, partition_key=["alice"]))
    assert sorted(of_alice) == numbers(is_alice)
    of_thread = ids(memories.query_items(query, partition_key=["alice", "t1"]))
    assert sorted(of_thread) == numbers(lambda n: is_alice(n) and thread(n) == "t1")
    everything = ids(memories.query_items(query, enable_cross_partition_query=True))
    assert sorted(everything) == list(range(60))
    feed_range = memories.feed_range_from_partition_key(["bob"])
    assert sorted(ids(memories.query_items(query, feed_range=feed_range))) == numbers(lambda n: not is_alice(n))
    assert list(memories.query_items(query, partition_key=["nobody"])) == []


def test_a_query_must_say_where_it_looks(memories: ContainerProxy) -> None:
    with pytest.raises(CosmosHttpResponseError) as error:
        list(memories.query_items("SELECT * FROM c"))
    assert error.value.status_code == 400
    assert "Cross partition query is required but disabled" in error.value.http_error_message


@pytest.mark.parametrize(
    "where",
    [
        "c.user_id = 'alice' AND c.thread_id = @thread",
        "'alice' = c['user_id'] AND c.thread_id = 't1' AND c.confidence >= 0",
        "(c.thread_id = 't1' AND c.user_id = 'alice')",
    ],
)
def test_a_filter_that_fixes_the_key_says_where_it_looks(memories: ContainerProxy, where: str) -> None:
    parameters: list[dict[str, object]] = [{"name": "@thread", "value": "t1"}]
    found = ids(memories.query_items(f"SELECT c.id FROM c WHERE {where}", parameters=parameters))
    assert sorted(found) == numbers(lambda n: is_alice(n) and thread(n) == "t1")
    # It is a query of one partition, so grouping is allowed as well.
    grouped = f"SELECT c.topic, COUNT(1) AS n FROM c WHERE {where} GROUP BY c.topic"
    assert sum(row["n"] for row in memories.query_items(grouped, parameters=parameters)) == len(found)


@pytest.mark.parametrize(
    "where",
    [
        "c.user_id = 'alice'",
        "c.user_id = 'alice' OR c.thread_id = 't1'",
        "c.user_id = 'alice' AND c.thread_id = @nothing",
        "c.user_id = 'alice' AND c.thread_id > 't1'",
        "c.user_id = 'alice' AND c.thread_id = c.topic",
        "c.user_id = 'alice' AND c.thread_id = undefined",
        "c.user_id = 'alice' AND c.thread_id = {}",
    ],
)
def test_a_filter_that_leaves_the_key_open_does_not(memories: ContainerProxy, where: str) -> None:
    with pytest.raises(CosmosHttpResponseError, match="Cross partition query is required but disabled"):
        list(memories.query_items(f"SELECT c.id FROM c WHERE {where}"))


def test_filter_order_and_top(memories: ContainerProxy) -> None:
    query = """
        SELECT TOP @n * FROM c WHERE c.type = @type AND c.confidence >= @floor
        AND (NOT IS_DEFINED(c.superseded_by) OR IS_NULL(c.superseded_by)) ORDER BY c._ts DESC
    """
    rows = list(
        memories.query_items(query, parameters=parameters(n=5, type="fact", floor=0.2), partition_key=["alice"])
    )
    expected = numbers(lambda n: is_alice(n) and n % 4 and n / 60 >= 0.2 and n % 7)
    assert ids(rows) == expected[::-1][:5]
    assert rows[0]["_etag"]
    assert len(rows[0]["embedding"]) == DIMENSIONS


@pytest.mark.parametrize("key", [["alice"], ["alice", "t1"]])
def test_pages_join_to_the_whole(memories: ContainerProxy, key: list[str]) -> None:
    query = "SELECT c.id FROM c ORDER BY c._ts"
    whole = ids(memories.query_items(query, partition_key=key))
    assert whole == sorted(whole)
    pages = page_by_page(memories, query, partition_key=key)
    assert [number for page in pages for number in page] == whole
    assert {len(page) for page in pages[:-1]} == {4}


def test_pages_across_partitions_join_to_the_whole(memories: ContainerProxy) -> None:
    query = "SELECT c.id FROM c WHERE c.topic != 'food'"
    whole = ids(memories.query_items(query, enable_cross_partition_query=True))
    pages = page_by_page(memories, query, enable_cross_partition_query=True)
    assert [number for page in pages for number in page] == whole
    assert max(map(len, pages)) == 4


def page_by_page(container: ContainerProxy, query: str, **options: Any) -> list[list[int]]:
    """The pages of a query, each from a fresh iterator: the continuation token alone says where to go on."""
    pages, continuation = [], None
    while True:
        iterator = container.query_items(query, max_item_count=4, **options).by_page(continuation)
        pages.append(ids(next(iterator)))
        continuation = iterator.continuation_token
        if continuation is None:
            return pages


def test_pages_are_of_one_state_whatever_is_written_in_between(memories: ContainerProxy) -> None:
    pages = memories.query_items("SELECT * FROM c ORDER BY c._ts", partition_key=["alice"], max_item_count=10).by_page()
    seen = []
    for page in pages:
        for row in page:
            seen.append(int(row["id"]))
            memories.delete_item(row["id"], ["alice", row["thread_id"]])
    assert seen == numbers(is_alice)
    assert list(memories.query_items("SELECT * FROM c", partition_key=["alice"])) == []


def test_a_continuation_is_of_one_query(memories: ContainerProxy) -> None:
    pages = memories.query_items("SELECT c.id FROM c", partition_key=["alice", "t1"], max_item_count=2).by_page()
    next(pages)
    for token in (pages.continuation_token, "nonsense"):
        other = memories.query_items("SELECT c.topic FROM c", partition_key=["alice", "t1"]).by_page(token)
        with pytest.raises(CosmosHttpResponseError) as error:
            next(other)
        assert error.value.status_code == 400


def test_a_continuation_goes_on_after_a_restart(tmp_path: Any, connect: Any) -> None:
    def open_pages(engine: Engine, continuation: str | None) -> Any:
        container = connect(engine).get_database_client("db").get_container_client("c")
        query = "SELECT VALUE c.id FROM c ORDER BY c.id"
        return container.query_items(query, partition_key="p", max_item_count=2).by_page(continuation)

    with Engine(tmp_path / "store.db") as engine:
        container = connect(engine).create_database("db").create_container("c", PartitionKey(path="/pk"))
        for number in range(5):
            container.create_item({"id": str(number), "pk": "p"})
        pages = open_pages(engine, None)
        assert list(next(pages)) == ["0", "1"]
    with Engine(tmp_path / "store.db") as engine:
        assert [list(page) for page in open_pages(engine, pages.continuation_token)] == [["2", "3"], ["4"]]


def test_nearest_vectors_with_filter_and_projection(memories: ContainerProxy) -> None:
    query = """
        SELECT TOP 5 c.id, c.topic, VectorDistance(c.embedding, @vector) AS similarity FROM c
        WHERE c.type = @type AND c.thread_id IN ("t0", "t1")
        ORDER BY VectorDistance(c.embedding, @vector)
    """
    target = vector("food", random.Random(1))
    rows = list(memories.query_items(query, parameters=parameters(vector=target, type="fact"), partition_key=["alice"]))
    candidates = numbers(lambda n: is_alice(n) and n % 4 and thread(n) != "t2")
    assert len(rows) == 5
    assert set(ids(rows)) <= set(candidates)
    assert {row["topic"] for row in rows} == {"food"}
    similarities = [row["similarity"] for row in rows]
    assert similarities == sorted(similarities, reverse=True)
    assert 0.9 < similarities[0] <= 1.0001


def test_a_vector_of_another_dimension_has_no_distance(memories: ContainerProxy) -> None:
    query = "SELECT TOP 1 c.id FROM c ORDER BY VectorDistance(c.embedding, @vector)"
    assert not list(memories.query_items(query, parameters=parameters(vector=[1.0, 2.0]), partition_key=["alice"]))


def test_full_text_ranks_the_matching_first(memories: ContainerProxy) -> None:
    query = "SELECT TOP 10 c.id, c.topic FROM c ORDER BY RANK FullTextScore(c.content, 'vegetarian', 'tofu')"
    rows = list(memories.query_items(query, partition_key=["alice"]))
    assert len(rows) == 10
    assert {row["topic"] for row in rows} == {"food"}
    contains = "SELECT c.topic FROM c WHERE FullTextContains(c.content, 'Hawaii')"
    assert {row["topic"] for row in memories.query_items(contains, partition_key=["alice"])} == {"travel"}


def test_hybrid_search_fuses_both_rankings(memories: ContainerProxy) -> None:
    query = """
        SELECT TOP 20 c.id, c.topic FROM c WHERE c.confidence > 0
        ORDER BY RANK RRF(VectorDistance(c.embedding, @vector), FullTextScore(c.content, @keyword))
    """
    values = parameters(vector=vector("budget", random.Random(2)), keyword="flight")
    rows = list(memories.query_items(query, parameters=values, partition_key=["alice"]))
    topics = [row["topic"] for row in rows]
    assert set(topics[:10]) <= {"budget", "travel"}
    assert {"budget", "travel"} <= set(topics)


@pytest.mark.parametrize("key", [["alice"], ["alice", "t1"]])
def test_counts(memories: ContainerProxy, key: list[str]) -> None:
    query = "SELECT VALUE COUNT(1) FROM c WHERE c.type = 'fact'"
    expected = numbers(lambda n: is_alice(n) and n % 4 and (len(key) == 1 or thread(n) == key[1]))
    assert list(memories.query_items(query, partition_key=key)) == [len(expected)]


def test_queries_see_every_write_at_once(memories: ContainerProxy, clock: Any) -> None:
    def found(topic: str) -> list[int]:
        query = "SELECT c.id FROM c WHERE c.topic = @topic ORDER BY c.id"
        return ids(memories.query_items(query, parameters=parameters(topic=topic), partition_key=["alice"]))

    assert found("new") == []
    base = {"user_id": "alice", "thread_id": "t1"}
    memories.create_item(base | {"id": "90", "topic": "new"})
    memories.upsert_item(base | {"id": "91", "topic": "other"})
    memories.patch_item("91", ["alice", "t1"], [{"op": "set", "path": "/topic", "value": "new"}])
    assert found("new") == [90, 91]
    memories.replace_item("90", base | {"id": "90", "topic": "newer"})
    memories.delete_item("91", ["alice", "t1"])
    assert (found("new"), found("newer")) == ([], [90])
    memories.upsert_item(base | {"id": "92", "topic": "newer", "ttl": 5})
    assert found("newer") == [90, 92]
    clock.advance(5)
    assert found("newer") == [90]
    memories.delete_all_items_by_partition_key(["alice", "t1"])
    assert found("newer") == []


def test_a_changed_policy_holds_for_queries(memories: ContainerProxy, database: DatabaseProxy) -> None:
    def found(word: str) -> int:
        query = "SELECT VALUE COUNT(1) FROM c WHERE FullTextContains(c.topic, @word)"
        return next(iter(memories.query_items(query, parameters=parameters(word=word), partition_key=["alice"])))

    assert found("budgets") == found("budget") > 0, "by the default language, as the policy does not name the path"
    properties = memories.read()
    database.replace_container(
        "memories",
        PartitionKey(path=["/user_id", "/thread_id"]),
        indexing_policy=properties["indexingPolicy"],
        vector_embedding_policy=properties["vectorEmbeddingPolicy"],
        full_text_policy={
            "defaultLanguage": "en-US",
            "fullTextPaths": [
                {"path": "/content", "language": "en-US"},
                {"path": "/topic", "language": "fr-FR"},
            ],
        },
    )
    assert found("budget") > 0
    assert found("budgets") == 0, "English stems are no longer asked for"


def test_texts_need_a_policy(database: DatabaseProxy) -> None:
    container = database.create_container("plain", PartitionKey(path="/user_id"))
    query = "SELECT * FROM c WHERE FullTextContains(c.content, 'word')"
    with pytest.raises(CosmosHttpResponseError, match="needs a full-text policy") as error:
        list(container.query_items(query, partition_key="alice"))
    assert error.value.status_code == 400


def test_a_conditional_replace_follows_a_query(memories: ContainerProxy) -> None:
    query = "SELECT TOP 1 * FROM c WHERE c.topic = 'budget' ORDER BY c._ts"
    row = next(iter(memories.query_items(query, partition_key=["alice"])))
    unchanged = {"etag": row["_etag"], "match_condition": MatchConditions.IfNotModified}
    memories.replace_item(row["id"], row | {"topic": "changed"}, **unchanged)
    with pytest.raises(CosmosAccessConditionFailedError):
        memories.replace_item(row["id"], row | {"topic": "changed again"}, **unchanged)


def test_memory_for_queries_is_bounded(connect: Any) -> None:
    with Engine(cache_bytes=200_000) as engine:
        container = connect(engine).create_database("db").create_container("c", PartitionKey(path="/user_id"))
        for number in range(200):
            container.create_item({"id": str(number), "user_id": f"u{number % 10}", "text": "x" * 4000})
        for _ in range(2):
            for user in range(10):
                query = "SELECT VALUE COUNT(1) FROM c WHERE STARTSWITH(c.text, 'x')"
                assert list(container.query_items(query, partition_key=f"u{user}")) == [20]
        cache = engine._rest._data._queries._shards
        assert 1 <= len(cache._shards) < 10
        assert cache._total <= 200_000 or len(cache._shards) == 1


def test_metrics_come_when_asked_for(memories: ContainerProxy) -> None:
    list(memories.query_items("SELECT * FROM c", partition_key=["alice", "t1"], populate_query_metrics=True))
    headers = memories.client_connection.last_response_headers
    assert "totalExecutionTimeInMs=" in headers["x-ms-documentdb-query-metrics"]
    assert "retrievedDocumentCount=0;" not in headers["x-ms-documentdb-query-metrics"]
    assert float(headers["x-ms-request-charge"]) > 2.3
    count = "SELECT VALUE COUNT(1) FROM c"
    list(memories.query_items(count, partition_key=["alice", "t1"], populate_query_metrics=True))
    headers = memories.client_connection.last_response_headers
    assert "retrievedDocumentCount=0;" in headers["x-ms-documentdb-query-metrics"]


async def test_the_async_client_queries_alike(async_client: AsyncCosmosClient, memories: ContainerProxy) -> None:
    proxy = async_client.get_database_client("db").get_container_client("memories")
    query = "SELECT c.id FROM c WHERE c.type = @type ORDER BY c._ts DESC"
    values = parameters(type="fact")
    for key in (["alice"], ["alice", "t1"]):
        rows = [row async for row in proxy.query_items(query, parameters=values, partition_key=key, max_item_count=3)]
        assert rows == list(memories.query_items(query, parameters=values, partition_key=key))
        assert len(rows) > 3
    everywhere = [row async for row in proxy.query_items(query, parameters=values)]
    assert len(everywhere) == len(numbers(lambda n: n % 4))


def test_a_query_says_which_indexes_it_uses_when_asked(memories: ContainerProxy) -> None:
    query = "SELECT * FROM c WHERE c.topic = 'food' AND LENGTH(c.content) > 1 ORDER BY c._ts"
    list(memories.query_items(query, partition_key=["alice"], populate_index_metrics=True))
    metrics = memories.client_connection.last_response_headers["x-ms-cosmos-index-utilization"]
    used = {index["IndexSpec"]: index["FilterExpression"] for index in metrics["UtilizedSingleIndexes"]}
    assert used["/topic/?"] == '(c.topic = "food")'
    assert used["/_ts/?"] == ""
    assert metrics["UtilizedCompositeIndexes"] == []
