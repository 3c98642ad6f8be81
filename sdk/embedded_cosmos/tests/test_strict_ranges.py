"""Several partitions: ranges, pages, feeds and sessions, as clients of a large container see them."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from azure.cosmos import ContainerProxy, CosmosClient, PartitionKey
from azure.cosmos.aio import CosmosClient as AsyncCosmosClient
from azure.cosmos.exceptions import CosmosHttpResponseError
from server_process import server_process

from embedded_cosmos import AsyncTransport, Engine, SyncTransport
from embedded_cosmos.auth import WELL_KNOWN_KEY
from embedded_cosmos.messages import Request, Response
from embedded_cosmos.partition import make_key
from embedded_cosmos.partition_map import partition_map

KEY = PartitionKey(path=["/user", "/thread"], kind="MultiHash")
USERS = [f"user{number}" for number in range(12)]
DOCS = "/dbs/db/colls/c/docs/"


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(strict=True, partitions=3) as engine:
        yield engine


@pytest.fixture
def container(engine: Engine) -> ContainerProxy:
    client = CosmosClient(engine.url, engine.credential, transport=SyncTransport(engine))
    container = client.create_database("db").create_container("c", KEY)
    for number, user in enumerate(USERS * 3):
        add(container, str(number), user)
    return container


@pytest.fixture
async def async_container(engine: Engine, container: ContainerProxy) -> AsyncIterator[Any]:
    async with AsyncCosmosClient(engine.url, engine.credential, transport=AsyncTransport(engine)) as client:
        yield client.get_database_client("db").get_container_client("c")


def add(container: ContainerProxy, item_id: str, user: str) -> None:
    container.upsert_item({"id": item_id, "user": user, "thread": "t", "number": int(item_id)})


def range_of(user: str) -> str:
    return partition_map(3, 2).holding(make_key([user, "t"], 2).epk).id


def ask(engine: Engine, query: str, **headers: str) -> Response:
    body = orjson.dumps({"query": query})
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return engine.handle(Request("POST", DOCS, {"x-ms-documentdb-isquery": "true", **named}, body))


def test_the_ranges_divide_all_keys(engine: Engine, container: ContainerProxy) -> None:
    response = engine.handle(Request("GET", "/dbs/db/colls/c/pkranges/", {}))
    ranges = orjson.loads(response.body)["PartitionKeyRanges"]
    assert [each["id"] for each in ranges] == ["0", "1", "2"]
    assert ranges[0]["minInclusive"] == ""
    assert ranges[-1]["maxExclusive"] == "FF"
    assert [each["maxExclusive"] for each in ranges[:-1]] == [each["minInclusive"] for each in ranges[1:]]
    assert all(each["parents"] == [] for each in ranges)
    known = engine.handle(Request("GET", "/dbs/db/colls/c/pkranges/", {"if-none-match": response.headers["etag"]}))
    assert known.status == 304
    assert {range_of(user) for user in USERS} == {"0", "1", "2"}


@pytest.mark.parametrize("version", [1, 2])
def test_keys_of_either_version_spread_over_the_ranges(version: int) -> None:
    partitions = partition_map(4, version)
    found = Counter(partitions.holding(make_key([f"key {n}"], 1, version).epk).id for n in range(2000))
    assert set(found) == {"0", "1", "2", "3"}
    assert all(400 < count < 600 for count in found.values())


def test_every_answer_names_the_range_it_comes_from(container: ContainerProxy) -> None:
    for user in USERS[:4]:
        item = {"id": "x", "user": user, "thread": "t"}
        created = container.create_item(item).get_response_headers()
        read = container.read_item("x", [user, "t"]).get_response_headers()
        patched = container.patch_item(
            "x", [user, "t"], [{"op": "add", "path": "/a", "value": 1}]
        ).get_response_headers()
        batch = container.execute_item_batch([("read", ("x",))], [user, "t"]).get_response_headers()
        container.delete_item("x", [user, "t"])
        deleted = container.client_connection.last_response_headers
        for headers in (created, read, patched, batch, deleted):
            assert headers["x-ms-documentdb-partitionkeyrangeid"] == range_of(user)
            assert headers["x-ms-session-token"].startswith(f"{range_of(user)}:-1#")


def test_a_session_has_a_token_for_each_range(container: ContainerProxy) -> None:
    session = container.client_connection.session.session_container
    (tokens,) = session.rid_to_session_token.values()
    assert set(tokens) == {"0", "1", "2"}


def test_a_query_that_needs_merging_gets_an_error(engine: Engine, container: ContainerProxy) -> None:
    response = ask(engine, "SELECT * FROM c ORDER BY c.number", x_ms_documentdb_query_enablecrosspartition="True")
    assert (response.status, response.headers["x-ms-substatus"]) == (400, "1004")
    told = orjson.loads(orjson.loads(response.body)["additionalErrorInfo"])
    assert told["queryInfo"]["orderBy"] == ["Ascending"]
    without_flag = ask(engine, "SELECT * FROM c ORDER BY c.number")
    assert without_flag.status == 400
    assert "x-ms-substatus" not in without_flag.headers


def test_what_lies_in_one_range_is_answered_directly(engine: Engine, container: ContainerProxy) -> None:
    for where, flag in (("c.user = 'user1'", "True"), ("c.user = 'user1' AND c.thread = 't'", "False")):
        query = f"SELECT * FROM c WHERE {where} ORDER BY c.number DESC"
        response = ask(engine, query, x_ms_documentdb_query_enablecrosspartition=flag)
        assert [row["id"] for row in orjson.loads(response.body)["Documents"]] == ["25", "13", "1"]
        assert response.headers["x-ms-documentdb-partitionkeyrangeid"] == range_of("user1")


def test_what_orders_by_rank_is_never_answered_by_a_range(engine: Engine, container: ContainerProxy) -> None:
    query = "SELECT TOP 5 * FROM c WHERE c.user = 'user1' ORDER BY RANK VectorDistance(c.v, [1, 0])"
    planned = ask(engine, query, x_ms_documentdb_query_enablecrosspartition="True")
    assert (planned.status, planned.headers["x-ms-substatus"]) == (400, "1004")
    alone = ask(engine, query, x_ms_documentdb_partitionkeyrangeid=range_of("user1"))
    assert (alone.status, alone.headers.get("x-ms-substatus")) == (400, None)
    assert b"query plans" in alone.body


def test_pages_do_not_cross_ranges(container: ContainerProxy) -> None:
    pages = container.query_items("SELECT * FROM c", enable_cross_partition_query=True, max_item_count=5).by_page()
    found = [[row["user"] for row in page] for page in pages]
    assert sum(map(len, found)) == 36
    assert all(len({range_of(user) for user in page}) == 1 for page in found)
    in_ranges = Counter(range_of(user) for user in USERS * 3)
    assert [len(page) for page in found] == [
        size for count in (in_ranges["0"], in_ranges["1"], in_ranges["2"]) for size in sizes(count, 5)
    ]
    feed = [[row["user"] for row in page] for page in container.read_all_items(max_item_count=5).by_page()]
    assert [len(page) for page in feed] == [len(page) for page in found]
    assert all(len({range_of(user) for user in page}) == 1 for page in feed)


def sizes(count: int, limit: int) -> list[int]:
    whole, rest = divmod(count, limit)
    return [limit] * whole + [rest] * (rest > 0)


def test_a_range_without_rows_gives_an_empty_page_and_where_to_go_on(engine: Engine, container: ContainerProxy) -> None:
    wanted = next(user for user in USERS if range_of(user) == "2")
    query, flag = (
        f"SELECT * FROM c WHERE CONCAT(c.user, '') = '{wanted}'",
        {"x_ms_documentdb_query_enablecrosspartition": "True"},
    )
    first = ask(engine, query, **flag)
    assert orjson.loads(first.body)["_count"] == 0
    second = ask(engine, query, x_ms_continuation=first.headers["x-ms-continuation"], **flag)
    third = ask(engine, query, x_ms_continuation=second.headers["x-ms-continuation"], **flag)
    assert orjson.loads(third.body)["_count"] == 3
    assert "x-ms-continuation" not in third.headers
    assert len(list(container.query_items(query, enable_cross_partition_query=True))) == 3


def test_a_continuation_goes_on_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_container(path) as container:
        for number, user in enumerate(USERS):
            add(container, str(number), user)
    found: list[str] = []
    token: str | None = None
    while token is not None or not found:
        with open_container(path) as container:
            query = container.query_items("SELECT c.id FROM c", enable_cross_partition_query=True, max_item_count=3)
            pages = query.by_page(token)
            found += [row["id"] for row in next(pages)]
            token = pages.continuation_token
    assert sorted(map(int, found)) == list(range(12))


@contextmanager
def open_container(path: Path) -> Iterator[ContainerProxy]:
    with Engine(path, strict=True) as engine:
        client = CosmosClient(engine.url, engine.credential, transport=SyncTransport(engine))
        yield client.create_database_if_not_exists("db").create_container_if_not_exists("c", KEY)


def test_ranges_that_are_not_there_are_gone(engine: Engine, container: ContainerProxy) -> None:
    unknown = ask(engine, "SELECT * FROM c", x_ms_documentdb_partitionkeyrangeid="7")
    across = ask(
        engine,
        "SELECT * FROM c",
        x_ms_documentdb_partitionkeyrangeid="1",
        x_ms_start_epk="",
        x_ms_end_epk="FF",
    )
    for response in (unknown, across):
        assert (response.status, response.headers["x-ms-substatus"]) == (410, "1002")


def test_a_key_outside_of_a_range_has_nothing_there(engine: Engine, container: ContainerProxy) -> None:
    for range_id in ("0", "1", "2"):
        headers = {"x_ms_documentdb_partitionkeyrangeid": range_id, "x_ms_documentdb_partitionkey": '["user1","t"]'}
        response = ask(engine, "SELECT * FROM c", **headers)
        assert orjson.loads(response.body)["_count"] == (3 if range_id == range_of("user1") else 0)
        assert response.headers["x-ms-documentdb-partitionkeyrangeid"] == range_id


def changed(container: ContainerProxy, **options: Any) -> tuple[list[str], str]:
    feed = container.query_items_change_feed(**options).by_page()
    found = [row["id"] for page in feed for row in page]
    return found, container.client_connection.last_response_headers["etag"]


def test_each_range_has_a_feed_with_a_continuation_of_its_own(container: ContainerProxy) -> None:
    tokens = {}
    for number, feed_range in enumerate(container.read_feed_ranges()):
        found, tokens[number] = changed(container, start_time="Beginning", feed_range=feed_range, max_item_count=4)
        assert found == [str(n) for n, user in enumerate(USERS * 3) if range_of(user) == str(number)]
    add(container, "40", USERS[0])
    add(container, "41", USERS[1])
    for number, token in tokens.items():
        found, _ = changed(container, continuation=token)
        assert found == [str(40 + n) for n in (0, 1) if range_of(USERS[n]) == str(number)]


def test_the_feed_of_a_container_takes_turns_and_resumes(container: ContainerProxy) -> None:
    found, token = changed(container, start_time="Beginning", max_item_count=3)
    assert Counter(found) == Counter(map(str, range(36)))
    for number in range(50, 62):
        add(container, str(number), USERS[number % 12])
    half, token = [], token
    pages = container.query_items_change_feed(continuation=token, max_item_count=2).by_page()
    for _ in range(3):
        half += [row["id"] for row in next(pages)]
    rest, token = changed(container, continuation=container.client_connection.last_response_headers["etag"])
    assert sorted(map(int, half + rest)) == list(range(50, 62))
    assert changed(container, continuation=token)[0] == []


async def test_the_asynchronous_client_reads_the_same(async_container: Any) -> None:
    pages = async_container.query_items("SELECT * FROM c", max_item_count=5).by_page()
    found = [[row["user"] async for row in page] async for page in pages]
    assert sum(map(len, found)) == 36
    assert all(len({range_of(user) for user in page}) == 1 for page in found)
    feed = async_container.query_items_change_feed(start_time="Beginning", max_item_count=4)
    assert Counter([row["id"] async for row in feed]) == Counter(map(str, range(36)))
    ranges = [each async for each in async_container.read_feed_ranges()]
    in_ranges = [
        [row["user"] async for row in async_container.query_items("SELECT c.user FROM c", feed_range=each)]
        for each in ranges
    ]
    assert [{range_of(user) for user in users} for users in in_ranges] == [{"0"}, {"1"}, {"2"}]


def test_a_feed_of_everything_is_not_one_feed(engine: Engine, container: ContainerProxy) -> None:
    response = engine.handle(Request("GET", DOCS, {"a-im": "Incremental Feed"}))
    assert response.status == 400
    assert b"one partition key range" in response.body


def test_a_query_over_a_feed_range_of_several_partitions_goes_through_them(container: ContainerProxy) -> None:
    everything = {"Range": {"min": "", "max": "FF", "isMinInclusive": True, "isMaxInclusive": False}}
    assert list(container.query_items("SELECT VALUE COUNT(1) FROM c", feed_range=everything)) == [36]
    pages = container.query_items("SELECT c.user FROM c", feed_range=everything, max_item_count=7).by_page()
    assert sum(len(list(page)) for page in pages) == 36


def test_the_variable_and_the_argument_say_which_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    def count(**options: Any) -> int:
        with Engine(**options) as engine:
            client = CosmosClient(engine.url, engine.credential, transport=SyncTransport(engine))
            return len(list(client.create_database("db").create_container("c", KEY).read_feed_ranges()))

    monkeypatch.delenv("EMBEDDED_COSMOS_STRICT", raising=False)
    assert (count(), count(strict=True), count(strict=True, partitions=5)) == (1, 3, 5)
    monkeypatch.setenv("EMBEDDED_COSMOS_STRICT", "1")
    assert (count(), count(strict=False)) == (3, 1)


def test_a_plan_is_no_part_of_other_errors(engine: Engine, container: ContainerProxy) -> None:
    with pytest.raises(CosmosHttpResponseError) as error:
        list(container.query_items("SELECT * FROM c WHERE", enable_cross_partition_query=True))
    assert error.value.sub_status is None


def test_a_server_can_be_strict() -> None:
    with server_process("--strict", "--partitions", "4") as server:
        client = CosmosClient(server.url, WELL_KNOWN_KEY)
        container = client.create_database("db").create_container("c", KEY)
        assert len(list(container.read_feed_ranges())) == 4
        add(container, "1", "user1")
        query = "SELECT TOP 1 VALUE c.id FROM c ORDER BY c.number"
        assert list(container.query_items(query, enable_cross_partition_query=True)) == ["1"]


def test_there_is_a_partition_at_least() -> None:
    with pytest.raises(ValueError, match="at least one partition"):
        Engine(strict=True, partitions=0)
