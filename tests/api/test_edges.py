"""The edge of the API: what is refused ahead of any credentials, on the wire as a client could send it."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx2 as httpx
import pytest
from api_world import client_of, serving
from fastapi import FastAPI

from agent_memory import AsyncMemory
from agent_memory.api import ApiSettings, server
from agent_memory.api.guard import BodyLimit, is_cross_site, is_local
from agent_memory.errors import ConfigurationError

ALICE = {"x-user-id": "alice"}
PROXIES = [
    "via",
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "X-Real-IP",
    "x-original-host",
]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8900", "127.0.0.1:1", "127.3.2.1", "[::1]", "[::1]:8900"])
def test_a_name_of_this_machine_is_local(host: str):
    assert is_local("127.0.0.1", {"host": host})
    assert is_local("::1", {"host": host})
    assert not is_local("192.0.2.1", {"host": host})
    assert not is_local(None, {"host": host})


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.localhost", "0.0.0.0", "[::", "::1"],
)
def test_another_name_is_not_local(host: str):
    assert not is_local("127.0.0.1", {"host": host})


@pytest.mark.parametrize("name", PROXIES)
def test_what_a_proxy_passes_on_is_not_local(name: str):
    assert not is_local("127.0.0.1", {"host": "localhost", name: "x"})


HERE = {"host": "memory.example:8900"}


@pytest.mark.parametrize(
    ("headers", "cross_site"),
    [
        ({}, False),
        ({"origin": "http://memory.example:8900"}, False),
        ({"origin": "https://Memory.example:8900"}, False),
        ({"origin": "http://evil.example"}, True),
        ({"origin": "http://memory.example"}, True),
        ({"origin": "http://memory.example:8900.evil.example"}, True),
        ({"origin": "null"}, True),
        ({"origin": ""}, True),
        ({"origin": "http://[evil"}, True),
        ({"sec-fetch-site": "same-origin", "origin": "https://behind.a.proxy"}, False),
        ({"sec-fetch-site": "none"}, False),
        ({"sec-fetch-site": "same-site"}, True),
        ({"sec-fetch-site": "cross-site"}, True),
        ({"sec-fetch-site": "Cross-Site"}, True),
        ({"sec-fetch-site": "cross-site", "origin": "https://app.example"}, False),
    ],
)
def test_a_browser_says_for_whose_page_it_asks(headers: dict[str, str], cross_site: bool):
    assert is_cross_site(HERE | headers, {"https://app.example"}) is cross_site


FOREIGN: list[dict[str, str]] = [
    {"origin": "https://evil.example"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site", "origin": "http://localhost:3000"},
]


@pytest.mark.parametrize("foreign", FOREIGN)
async def test_a_page_of_another_site_reaches_nothing(memory: AsyncMemory, foreign: dict[str, str]):
    async with client_of(memory) as http:
        for verb, path in (
            ("POST", "/v1/admin/drain?timeout=0"),
            ("GET", "/v1/admin/users"),
            ("POST", "/v1/threads/t1/turns"),
            ("DELETE", "/v1/users/me"),
            ("GET", "/v1/memories"),
            ("POST", "/"),
        ):
            answer = await http.request(verb, path, headers=ALICE | foreign)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden"), (verb, path)
        for path in ("/", "/health", "/docs", "/openapi.json"):  # a link on another site may lead here
            assert (await http.get(path, headers=foreign)).status_code == 200
        own = {"origin": "http://localhost", "sec-fetch-site": "same-origin"}
        assert (await http.post("/v1/admin/drain?timeout=0", headers=own)).status_code == 200
        assert (await http.post("/v1/admin/drain?timeout=0")).status_code == 200


async def test_pages_of_sites_that_are_named_may_ask(memory: AsyncMemory):
    page = {"origin": "https://app.example", "sec-fetch-site": "cross-site"}
    allowed = ApiSettings(allowed_origins_text="https://app.example/, https://b.example").allowed_origins
    async with client_of(memory, allowed_origins=allowed) as http:
        asked = page | {"access-control-request-method": "POST", "access-control-request-headers": "x-user-id"}
        before = await http.options("/v1/memories", headers=asked)
        assert before.status_code == 200
        assert before.headers["access-control-allow-origin"] == "https://app.example"
        answer = await http.post("/v1/memories", json={"content": "Lives in Lisbon"}, headers=ALICE | page)
        assert answer.status_code == 201
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        assert (await http.post("/v1/memories", json={}, headers=ALICE | FOREIGN[0])).status_code == 403
    for wrong in ("app.example", "https://", "https://*.example", "*", "https://app.example/page"):
        with pytest.raises(ConfigurationError, match="AGENT_MEMORY_ALLOWED_ORIGINS"):
            _ = ApiSettings(allowed_origins_text=wrong).allowed_origins


@pytest.mark.parametrize("name", PROXIES)
async def test_a_header_identity_is_not_believed_through_a_proxy(memory: AsyncMemory, name: str):
    async with client_of(memory) as http:
        assert (await http.get("/v1/memories", headers=ALICE)).status_code == 200
        refused = await http.get("/v1/memories", headers=ALICE | {name: "192.0.2.1"})
        assert refused.json()["error"]["code"] == "unauthenticated"


async def test_the_root_says_what_this_is(memory: AsyncMemory):
    async with client_of(memory) as http:
        said = (await http.get("/")).json()
        assert said["name"] == "Agent Memory"
        for place in ("openapi", "docs", "health"):
            assert (await http.get(said[place])).status_code == 200


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
async def test_a_body_without_a_content_type_gets_an_error_that_names_it(memory: AsyncMemory, kind: str | None):
    headers = ALICE | ({} if kind is None else {"content-type": kind})
    async with client_of(memory) as http:
        answer = await http.post("/v1/memories", content=b'{"content": "Lives in Lisbon"}', headers=headers)
    assert answer.status_code == 400
    assert "content-type: application/json" in answer.json()["error"]["message"]


class Wire:
    """A connection to a server, for what no client library sends."""

    def __init__(self, url: str) -> None:
        host, _, port = url.removeprefix("http://").partition(":")
        self._address = host, int(port)

    async def say(self, *parts: bytes, seconds: float = 10.0) -> bytes:
        """All that comes back until the server hangs up."""
        reader, writer = await asyncio.open_connection(*self._address)
        try:
            with suppress(ConnectionError):
                for part in parts:
                    writer.write(part)
                    await writer.drain()
            said = b""
            async with asyncio.timeout(seconds):
                with suppress(ConnectionError):
                    while part := await reader.read(65536):
                        said += part
            return said
        finally:
            writer.close()


def request(head: str, *headers: str, body: bytes = b"", close: bool = True) -> bytes:
    lines = [head, "host: localhost", *headers, *(["connection: close"] if close else [])]
    lines += [f"content-length: {len(body)}", "content-type: application/json"] if body else []
    return "\r\n".join([*lines, "", ""]).encode() + body


def statuses(said: bytes) -> list[int]:
    return [int(part[:3]) for part in said.split(b"HTTP/1.1 ")[1:]]


SMUGGLED = request("GET / HTTP/1.1")


@pytest.mark.parametrize(
    "framing",
    [
        ["content-length: 5", "transfer-encoding: chunked"],
        ["transfer-encoding: chunked", "Content-Length: 15"],
        ["content-length: 3", "content-length: 5"],
        ["transfer-encoding: chunked", "transfer-encoding: identity"],
        ["transfer-encoding: xchunked"],
        ["content-length: -1"],
        ["content-length: " + "9" * 5000],
    ],
    ids=str,
)
async def test_a_request_of_two_lengths_ends_its_connection(memory: AsyncMemory, framing: list[str]):
    async with serving(memory) as url:
        post = request("POST /v1/admin/drain?timeout=0 HTTP/1.1", *framing, close=False)
        said = await Wire(url).say(post + b"5\r\nhello\r\n0\r\n\r\n" + SMUGGLED)
        assert statuses(said) == [400]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost/v1/search?x=:80", 400),
        ("localhost?", 400),
        ("local host", 400),
        ("me@localhost", 400),
        ("localhost:8900", 200),
        ("[::1]:8900", 200),
        ("b\u00fccher.example".encode("idna").decode(), 200),
        ("", 200),
    ],
)
async def test_a_host_that_is_none_is_refused(memory: AsyncMemory, host: str, status: int):
    """The address of a request is put together from it: with a slash, another path would be read there."""
    async with serving(memory) as url:
        said = await Wire(url).say(request("GET / HTTP/1.1").replace(b"localhost", host.encode()))
        assert statuses(said) == [status]


async def test_requests_in_one_piece_are_answered_in_their_order(memory: AsyncMemory):
    async with serving(memory) as url:
        said = await Wire(url).say(request("GET / HTTP/1.1", close=False), request("GET /nowhere HTTP/1.1"))
        assert statuses(said) == [200, 404]


async def test_requests_are_not_read_long_before_they_are_answered(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    """A client that sent them faster than they were answered filled the memory, and needed no credentials for it."""
    held, inherited = [0], server._Connection.data_received

    def data_received(connection: Any, data: bytes) -> None:
        inherited(connection, data)
        held.append(len(connection.conn.trailing_data[0]))

    monkeypatch.setattr(server._Connection, "data_received", data_received)
    one = request("GET /health HTTP/1.1", close=False)
    async with serving(memory) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(one * 50_000)
        said = b""
        while said.count(b"HTTP/1.1 200") < 100:
            said += await reader.read(65536)
        writer.transport.abort()
    assert 0 < max(held) < 1_000_000


async def test_many_requests_in_one_piece_are_all_answered(memory: AsyncMemory):
    """More than are read ahead."""
    async with serving(memory) as url:
        many = request("GET /nowhere HTTP/1.1", f"x-long: {'a' * 1000}", close=False) * 500 + request("GET / HTTP/1.1")
        host, _, port = url.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(many)
        assert statuses(await reader.read()) == [404] * 500 + [200]
        writer.close()


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (["GET /v1/memories HTTP/1.1", "x-user-id: alice", "x-user-id: bob"], 400),
        (["GET /v1/memories HTTP/1.1", "x-user-id: alice", "X-User-ID: alice"], 400),
        (["GET /v1/memories HTTP/1.1", "x-user-id: alice", "host: evil.example"], 400),
        (["GET /v1/memories HTTP/1.1", "x-user-id: a\0b"], 400),
        (["GET //v1/memories HTTP/1.1", "x-user-id: alice"], 404),
        (["GET /v1/../v1/memories HTTP/1.1", "x-user-id: alice"], 404),
        (["GET http://evil.example/v1/memories HTTP/1.1", "x-user-id: alice"], 404),
        (["GET /v1/memories/%2e%2e HTTP/1.1", "x-user-id: alice"], 404),
        (["GET /v1/memories/..%2f..%2fadmin%2fusers HTTP/1.1", "x-user-id: alice"], 404),
        (["GET /v1/threads/a%2Fb/turns HTTP/1.1", "x-user-id: alice"], 404),
        (["GET /v1/threads/a%00b/turns HTTP/1.1", "x-user-id: alice"], 400),
        (["GET /v1/threads/%ff/turns HTTP/1.1", "x-user-id: alice"], 400),
        (["GET /v1/threads/é/turns HTTP/1.1", "x-user-id: alice"], 400),
        (["HEAD /v1/memories HTTP/1.1", "x-user-id: alice"], 405),
        (["OPTIONS /v1/memories HTTP/1.1", "x-user-id: alice"], 405),
    ],
    ids=str,
)
async def test_odd_requests_are_refused(memory: AsyncMemory, lines: list[str], status: int):
    async with serving(memory) as url:
        assert statuses(await Wire(url).say(request(lines[0], *lines[1:]))) == [status]


@pytest.mark.parametrize("lines", [["x-long: " + "a" * 2_000_000], ["x: a"] * 300_000], ids=["long", "many"])
async def test_a_head_without_an_end_is_not_read_to_it(memory: AsyncMemory, lines: list[str]):
    async with serving(memory) as url:
        said = await Wire(url).say(request("GET / HTTP/1.1", *lines))
        assert statuses(said) in ([400], [])  # the refusal may be lost when the connection is reset
        assert statuses(await Wire(url).say(request("GET / HTTP/1.1"))) == [200]


@pytest.fixture
def short_head(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.3)
    return


@pytest.mark.usefixtures("short_head")
@pytest.mark.parametrize("begun", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: localhost\r\nx-slow: "])
async def test_a_client_that_does_not_finish_the_head_is_disconnected(memory: AsyncMemory, begun: bytes):
    async with serving(memory) as url:
        assert await Wire(url).say(begun) == b""
        # So is whoever has had an answer and begins the next request.
        assert statuses(await Wire(url).say(request("GET / HTTP/1.1", close=False) + begun)) == [200]


@pytest.mark.usefixtures("short_head")
async def test_an_answer_may_take_longer_than_a_head(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    health = memory.health

    async def slow_health() -> Any:
        await asyncio.sleep(0.5)
        return await health()

    monkeypatch.setattr(memory, "health", slow_health)
    async with serving(memory) as url:
        assert statuses(await Wire(url).say(request("GET /health HTTP/1.1"))) == [200]


async def test_a_client_that_does_not_read_the_answer_is_disconnected(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    lost, inherited = asyncio.Event(), server._Connection.connection_lost

    def connection_lost(connection: Any, error: Exception | None) -> None:
        inherited(connection, error)
        lost.set()

    monkeypatch.setattr(server, "READ_SECONDS", 0.05)
    monkeypatch.setattr(server._Connection, "connection_lost", connection_lost)
    async with serving(memory) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(request("GET /openapi.json HTTP/1.1", close=False) * 500)
            async with asyncio.timeout(60):
                await lost.wait()


async def test_the_server_does_not_wait_for_a_body_that_never_arrives():
    said: list[Any] = []
    parts = [b"{", b'"a']

    async def app(*_: Any) -> None:
        raise AssertionError("there is no whole request")

    async def receive() -> Any:
        if parts:
            return {"type": "http.request", "body": parts.pop(), "more_body": True}
        return await asyncio.Future[Any]()

    async def send(message: Any) -> None:
        said.append(message)

    limited = BodyLimit(app, max_bytes=100, seconds=0.01)
    await limited({"type": "http", "method": "POST", "path": "/", "headers": []}, receive, send)
    assert said[0]["status"] == 408
    assert (b"connection", b"close") in said[0]["headers"]


async def test_large_bodies_that_arrive_at_the_same_time_have_a_bound():
    """Anybody may send them. Small ones are taken all the same."""
    answered: list[int] = []
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        answered.append(len((await receive())["body"]))

    limited = BodyLimit(app, max_bytes=300_000, most_at_once=300_000)

    async def request(*parts: bytes, waits: bool = False) -> list[Any]:
        left, said = list(parts), []

        async def receive() -> Any:
            if waits and len(left) == 1:
                begun.set()
                await go_on.wait()
            return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

        async def send(message: Any) -> None:
            said.append(message)

        await limited({"type": "http", "method": "POST", "path": "/", "headers": []}, receive, send)
        return said

    slow = asyncio.create_task(request(b"a" * 200_000, b"b", waits=True))
    await begun.wait()
    refused = await request(b"c" * 100_001)
    assert refused[0]["status"] == 503
    assert {(b"connection", b"close"), (b"retry-after", b"5")} <= set(refused[0]["headers"])
    assert await request(b"d" * 60_000) == []
    go_on.set()
    await slow
    assert await request(b"e" * 290_000) == []  # there is room again
    assert answered == [60_000, 200_001, 290_000]


async def test_a_body_of_the_largest_size_has_room_whatever_the_operator_allows():
    taken: list[int] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        taken.append(len((await receive())["body"]))

    async def receive() -> Any:
        return {"type": "http.request", "body": b"a" * 500_000}

    async def send(message: Any) -> None:
        raise AssertionError(message)

    limited = BodyLimit(app, max_bytes=500_000, most_at_once=100_000)
    await limited({"type": "http", "method": "POST", "path": "/", "headers": []}, receive, send)
    assert taken == [500_000]


async def test_no_answer_waits_until_an_earlier_part_is_acknowledged(monkeypatch: pytest.MonkeyPatch):
    """With Nagle's algorithm the body of each answer would follow its head 40 ms later."""
    at_once: list[int] = []
    made = server._Connection.connection_made

    def noted(connection: server._Connection, transport: asyncio.Transport) -> None:
        at_once.append(transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        made(connection, transport)

    monkeypatch.setattr(server._Connection, "connection_made", noted)
    async with server.running(FastAPI()) as url, httpx.AsyncClient() as client:
        assert (await client.get(url)).status_code == 404
    assert at_once == [1]
