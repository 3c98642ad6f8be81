from __future__ import annotations

import base64
import gc
import hmac
import http.client
import json
import socket
import ssl
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from azure.core import MatchConditions
from azure.core.credentials import AccessToken
from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.aio import CosmosClient as AsyncCosmosClient
from azure.cosmos.documents import SSLConfiguration
from azure.cosmos.exceptions import CosmosAccessConditionFailedError, CosmosHttpResponseError

from embedded_cosmos import Engine
from embedded_cosmos.auth import WELL_KNOWN_KEY, Authorizer
from embedded_cosmos.certificates import server_context
from embedded_cosmos.errors import CosmosError
from embedded_cosmos.messages import Request
from embedded_cosmos.server import MAX_BODY_BYTES, LoopbackServer

OTHER_KEY = "c29tZWJvZHkgZWxzZSdzIGtleQ=="
SIGNED_AT = 1_795_305_600.0
SIGNED_DATE = "Sun, 22 Nov 2026 00:00:00 GMT"
# By hand: HMAC-SHA256 of "get\ndocs\ndbs/d b/colls/c/docs/1\nsun, 22 nov 2026 00:00:00 gmt\n\n" with the known key.
SIGNATURE = "GDFoHrvJHYqkmenqgAo+70AuOOUelm8LBbMBlkaJYpw="


@pytest.fixture
def server(engine: Engine) -> Iterator[LoopbackServer]:
    with LoopbackServer(engine) as server:
        yield server


def use(client: CosmosClient) -> None:
    """What every application does, with names that need quoting."""
    database = client.create_database_if_not_exists("d b")
    key = PartitionKey(path=["/user_id", "/thread_id"])
    container = database.create_container_if_not_exists("itéms", key, offer_throughput=400)
    for number in range(3):
        container.create_item({"id": f"a {number}+ü", "user_id": "alice", "thread_id": "t1", "n": number})
    item = container.read_item("a 1+ü", ["alice", "t1"])
    assert container.read_item(item, ["alice", "t1"]) == item
    item["n"] = 10
    replaced = container.replace_item(item, item, etag=item["_etag"], match_condition=MatchConditions.IfNotModified)
    with pytest.raises(CosmosAccessConditionFailedError):
        container.replace_item(item, item, etag=item["_etag"], match_condition=MatchConditions.IfNotModified)
    assert container.patch_item(replaced, ["alice", "t1"], [{"op": "incr", "path": "/n", "value": 1}])["n"] == 11
    batch = [("create", ({"id": "b", "user_id": "alice", "thread_id": "t1", "n": 5},)), ("delete", ("a 2+ü",))]
    assert [result["statusCode"] for result in container.execute_item_batch(batch, ["alice", "t1"])] == [201, 204]
    ordered = container.query_items("SELECT VALUE c.n FROM c ORDER BY c.n", partition_key=["alice"], max_item_count=1)
    assert list(ordered) == [0, 5, 11]
    assert [change["id"] for change in container.query_items_change_feed(start_time="Beginning")][-1] == "b"
    assert container.get_throughput().offer_throughput == 400
    container.replace_throughput(500)
    container.delete_all_items_by_partition_key(["alice", "t1"])
    assert list(container.read_all_items()) == []
    client.delete_database("d b")


def test_the_sync_client_over_http(server: LoopbackServer) -> None:
    use(CosmosClient(server.url, server.key))


def test_a_client_may_call_the_server_by_another_name(server: LoopbackServer) -> None:
    """The account document sends clients on to the host that it names, so it names theirs."""
    url = server.url.replace("127.0.0.1", "localhost")
    client = CosmosClient(url, server.key)
    client.create_database("db")
    assert client.get_database_account().ReadableLocations[0]["databaseAccountEndpoint"] == url


async def test_the_async_client_over_http(server: LoopbackServer) -> None:
    async with AsyncCosmosClient(server.url, server.key) as client:
        database = await client.create_database("db")
        container = await database.create_container("c", PartitionKey(path="/pk"))
        await container.upsert_item({"id": "1", "pk": "a"})
        items = [item["id"] async for item in container.query_items("SELECT * FROM c", partition_key="a")]
        assert items == ["1"]


def test_https_with_a_certificate_that_can_be_trusted(engine: Engine, tmp_path: Path) -> None:
    certificate = tmp_path / "server.pem"
    context = server_context("127.0.0.1", certificate)
    assert certificate.stat().st_mode & 0o077 == 0
    kept = certificate.read_bytes()
    with LoopbackServer(engine, tls=context) as server:
        assert server.url.startswith("https://127.0.0.1:")
        use(CosmosClient(server.url, server.key, ssl_config=SSLConfiguration(), connection_verify=str(certificate)))
        trusting = ssl.create_default_context(cafile=str(certificate))
        connection = http.client.HTTPSConnection("localhost", urlsplit(server.url).port, context=trusting)
        connection.request("GET", "/")
        assert connection.getresponse().status == 401
        connection.close()
        strangers = http.client.HTTPSConnection("localhost", urlsplit(server.url).port)
        with pytest.raises(ssl.SSLCertVerificationError):
            strangers.request("GET", "/")
    server_context("127.0.0.1", certificate)
    assert certificate.read_bytes() == kept


@pytest.mark.parametrize("asks", [False, True], ids=["has not shaken hands", "does not hang up"])
def test_closing_ends_the_connection_of_a_client_that(asks: bool, engine: Engine, tmp_path: Path) -> None:
    """A connection that outlives its event loop warns when it is collected, which may be in any later test."""
    context = server_context("127.0.0.1", tmp_path / "server.pem")
    trusting = ssl.create_default_context(cafile=str(tmp_path / "server.pem"))
    with warnings.catch_warnings(record=True) as left:
        warnings.simplefilter("always")
        gc.collect()
        left.clear()  # of earlier tests
        for _ in range(10):
            server = LoopbackServer(engine, tls=context)
            with socket.create_connection(("127.0.0.1", urlsplit(server.url).port or 0)) as connected:
                if asks:
                    with trusting.wrap_socket(connected, server_hostname="localhost") as encrypted:
                        encrypted.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                        assert encrypted.recv(100).startswith(b"HTTP/1.1 401")
                        server.close()
                server.close()
        gc.collect()
    assert [str(one.message) for one in left] == []


async def test_the_async_client_over_https(engine: Engine) -> None:
    with LoopbackServer(engine, tls=server_context("127.0.0.1")) as server:
        async with AsyncCosmosClient(server.url, server.key) as client:
            await client.create_database("db")
            assert [database["id"] async for database in client.list_databases()] == ["db"]


def test_another_key_is_refused(server: LoopbackServer) -> None:
    with pytest.raises(CosmosHttpResponseError) as error:
        CosmosClient(server.url, OTHER_KEY)
    assert error.value.status_code == 401
    assert "can't serve the request" in error.value.message


def test_a_key_of_ones_own(engine: Engine) -> None:
    with LoopbackServer(engine, key=OTHER_KEY) as server:
        CosmosClient(server.url, OTHER_KEY).create_database("db")
        with pytest.raises(CosmosHttpResponseError):
            CosmosClient(server.url, WELL_KNOWN_KEY)


def signed(path: str = "/dbs/d%20b/colls/c/docs/1/", date: str = SIGNED_DATE, **headers: str) -> Request:
    token = f"type%3Dmaster%26ver%3D1.0%26sig%3D{SIGNATURE}"
    return Request("GET", path, {"authorization": token, "x-ms-date": date} | headers)


def test_a_signature_made_by_hand_passes() -> None:
    Authorizer(clock=lambda: SIGNED_AT + 60).check(signed())


@pytest.mark.parametrize(
    ("request_", "now", "status", "reason"),
    [
        (signed(path="/dbs/d%20b/colls/c/docs/2/"), SIGNED_AT, 401, "can't serve"),
        (signed(date="Sun, 22 Nov 2026 00:00:01 GMT"), SIGNED_AT, 401, "can't serve"),
        (Request("PUT", "/dbs/d%20b/colls/c/docs/1/", signed().headers), SIGNED_AT, 401, "can't serve"),
        (signed(), SIGNED_AT + 16 * 60, 403, "not valid at the current time"),
        (signed(), SIGNED_AT - 16 * 60, 403, "not valid at the current time"),
        (signed(authorization=""), SIGNED_AT, 401, "authorization is missing"),
        (signed(authorization="Bearer abc"), SIGNED_AT, 401, "not of the form"),
        (signed(authorization="type%3Dmaster%26ver%3D1.0"), SIGNED_AT, 401, "not of the form"),
        (signed(authorization="type=resource&ver=1&sig=abc;def;"), SIGNED_AT, 401, "Resource tokens"),
        (signed(authorization="type=aad&ver=1.0&sig=a.b.c"), SIGNED_AT, 401, "--allow-aad"),
    ],
)
def test_what_does_not_pass(request_: Request, now: float, status: int, reason: str) -> None:
    with pytest.raises(CosmosError, match=reason) as error:
        Authorizer(clock=lambda: now).check(request_)
    assert error.value.status == status


@pytest.mark.parametrize("key", ["", "no base64!"])
def test_an_unusable_key_is_refused_at_once(key: str) -> None:
    with pytest.raises(ValueError, match="account key"):
        Authorizer(key)


def test_entra_tokens_pass_only_when_allowed() -> None:
    Authorizer(allow_aad=True).check(signed(authorization="type%3Daad%26ver%3D1.0%26sig%3Da.b.c"))


class FakeCredential:
    def get_token(self, *_scopes: str, **_options: Any) -> AccessToken:
        return AccessToken("e30.e30.e30", 2**33)


def test_a_client_with_a_token_is_refused_by_default(engine: Engine, tmp_path: Path) -> None:
    certificate = tmp_path / "server.pem"
    trusting = {"ssl_config": SSLConfiguration(), "connection_verify": str(certificate)}
    with LoopbackServer(engine, tls=server_context("127.0.0.1", certificate)) as server:
        with pytest.raises(CosmosHttpResponseError) as error:
            CosmosClient(server.url, FakeCredential(), **trusting)
        assert error.value.status_code == 401


def raw(server: LoopbackServer, method: str, path: str, body: bytes = b"", **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(server.url).port)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    response.body = response.read()  # type: ignore[attr-defined]
    connection.close()
    return response


def test_a_refusal_is_one_of_cosmos_db(server: LoopbackServer) -> None:
    response = raw(server, "GET", "/dbs/", **{"x-ms-activity-id": "of-the-client"})
    assert (response.status, response.headers["x-ms-activity-id"]) == (401, "of-the-client")
    assert json.loads(response.body)["code"] == "Unauthorized"  # type: ignore[attr-defined]


def test_what_is_too_large_for_an_item_is_refused(server: LoopbackServer) -> None:
    database = CosmosClient(server.url, server.key).create_database("db")
    container = database.create_container("c", PartitionKey(path="/pk"))
    for size in (2 * 1024 * 1024, MAX_BODY_BYTES):
        with pytest.raises(CosmosHttpResponseError) as error:
            container.create_item({"id": "1", "pk": "a", "text": "x" * size})
        assert error.value.status_code == 413


def test_a_fault_of_the_engine_is_a_500_and_the_server_goes_on(
    server: LoopbackServer, engine: Engine, monkeypatch: Any, caplog: Any
) -> None:
    client = CosmosClient(server.url, server.key)
    with monkeypatch.context() as patched:
        patched.setattr(engine, "_in_turn", lambda _request: 1 / 0)
        with pytest.raises(CosmosHttpResponseError) as error:
            client.create_database("db")
    assert (error.value.status_code, "ZeroDivisionError" in caplog.text) == (500, True)
    client.create_database("db")


def test_many_threads_write_at_once(server: LoopbackServer) -> None:
    container = (
        CosmosClient(server.url, server.key).create_database("db").create_container("c", PartitionKey(path="/pk"))
    )

    def write(worker: int) -> None:
        own = CosmosClient(server.url, server.key).get_database_client("db").get_container_client("c")
        for number in range(10):
            own.create_item({"id": f"{worker}-{number}", "pk": "p"})

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(container.read_all_items())) == 60


def test_a_trigger_takes_leases_and_reads_the_feed_of_its_range(server: LoopbackServer) -> None:
    """How the Cosmos DB trigger of Azure Functions works: a lease per range, held by ETag, with the continuation."""
    database = CosmosClient(server.url, server.key).create_database("db")
    items = database.create_container("items", PartitionKey(path=["/user_id", "/thread_id"]))
    leases = database.create_container("leases", PartitionKey(path="/id"))
    for number in range(5):
        items.create_item({"id": str(number), "user_id": str(number), "thread_id": "t"})
    for number, feed_range in enumerate(items.read_feed_ranges()):
        leases.create_item({"id": f"range-{number}", "feed_range": feed_range, "owner": None, "continuation": None})
    seen: list[str] = []
    for lease in list(leases.read_all_items()):
        taken = lease | {"owner": "host-1"}
        etag = {"etag": lease["_etag"], "match_condition": MatchConditions.IfNotModified}
        taken = leases.replace_item(lease["id"], taken, **etag)
        with pytest.raises(CosmosAccessConditionFailedError):
            leases.replace_item(lease["id"], lease | {"owner": "host-2"}, **etag)
        feed = items.query_items_change_feed(feed_range=lease["feed_range"], start_time="Beginning")
        seen += [change["id"] for change in feed]
        leases.upsert_item(dict(taken) | {"continuation": items.client_connection.last_response_headers["etag"]})
    assert sorted(seen) == ["0", "1", "2", "3", "4"]
    items.create_item({"id": "late", "user_id": "3", "thread_id": "t"})
    feeds = [items.query_items_change_feed(continuation=lease["continuation"]) for lease in leases.read_all_items()]
    assert [change["id"] for feed in feeds for change in feed] == ["late"]


def test_a_closed_loopback_server_is_gone_but_its_engine_is_not(engine: Engine, client: CosmosClient) -> None:
    server = LoopbackServer(engine)
    server.close()
    server.close()
    with pytest.raises(ConnectionRefusedError):
        raw(server, "GET", "/")
    client.create_database("db")


def admitted(authorizer: Authorizer, headers: dict[str, str], key: str = WELL_KNOWN_KEY) -> bool:
    """Whether a request that is signed with the key passes with these headers."""
    text = f"get\ndocs\ndbs/d b/colls/c/docs/1\n{SIGNED_DATE.lower()}\n\n"
    signature = base64.b64encode(hmac.digest(base64.b64decode(key), text.encode(), "sha256")).decode()
    token = f"type%3Dmaster%26ver%3D1.0%26sig%3D{quote(signature, safe='')}"
    try:
        authorizer.check(signed(authorization=token, **headers))
    except CosmosError as error:
        return error.status != 403
    return True


@pytest.mark.parametrize(
    ("host", "passes"),
    [
        ("localhost:8081", True),
        ("127.0.0.1:8081", True),
        ("[::1]:8081", True),
        ("192.0.2.1", True),  # no name, so none that a page could have given it
        ("cosmos:8081", True),
        ("host.docker.internal:8081", True),
        ("store.localhost", True),
        ("DB.Corp.Example:8081", True),
        ("evil.example", False),
        ("evil.example:8081", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
    ],
)
def test_the_known_key_counts_near_the_server_alone(host: str, passes: bool) -> None:
    """A page of the web can sign with it, too, and can give its own name the address of this machine."""
    known = Authorizer(clock=lambda: SIGNED_AT, known_as=["db.corp.example"])
    secret = Authorizer(OTHER_KEY, clock=lambda: SIGNED_AT)
    assert admitted(known, {"host": host}) is passes
    assert admitted(secret, {"host": host}, OTHER_KEY)


@pytest.mark.parametrize("name", ["via", "Forwarded", "x-forwarded-for", "X-Forwarded-Host", "x-real-ip"])
def test_the_known_key_does_not_count_through_a_proxy(name: str) -> None:
    known = Authorizer(clock=lambda: SIGNED_AT)
    assert not admitted(known, {"host": "localhost", name: "x"})
    anybody = Authorizer(OTHER_KEY, allow_aad=True, clock=lambda: SIGNED_AT)
    assert not admitted(anybody, {"host": "localhost", name: "x"}, OTHER_KEY)
    assert admitted(Authorizer(OTHER_KEY, clock=lambda: SIGNED_AT), {"host": "localhost", name: "x"}, OTHER_KEY)
