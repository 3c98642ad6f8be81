"""`/mcp` on the HTTP API, by the real client over a real port; and as somebody who should not be let in."""

import asyncio
import json
from typing import Any

import azure.functions as func
import httpx2
import pytest
from api_world import serving, stop_rates
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_world import GENERATIONS, data_of, memory_in_ram, over_http, text_of

from agent_memory import AsyncMemory
from agent_memory.api import ApiSettings, HeaderIdentity, InlineProcessing, create_app
from agent_memory.api.credentials import new_key
from agent_memory.contract.schemas import ProcessQuery, ProcessRun
from agent_memory.errors import ConfigurationError
from agent_memory.mcp import OneUser, make_server

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
BOTH = {"accept": "application/json, text/event-stream"}


@pytest.fixture
async def memory():
    async with memory_in_ram() as opened:
        yield opened


def keys(**users: str) -> tuple[dict[str, str], ApiSettings]:
    """A key for each user, and the settings that know them."""
    made = {name: new_key(name, user=user) for name, user in users.items()}
    made["backend"] = new_key("backend", acts_for_users=True)
    entries = [entry.model_dump() for _, entry in made.values()]
    return {name: key for name, (key, _) in made.items()}, ApiSettings(api_keys=json.dumps(entries))


@pytest.mark.parametrize("mode", GENERATIONS)
@pytest.mark.parametrize("streams", [True, False])
async def test_each_user_has_their_own_memory(memory: Any, mode: str, streams: bool):
    given, settings = keys(alice="alice", bob="bob")
    identity = settings.identity(header=HeaderIdentity(allowed=False))
    async with serving(memory, identity, mcp=settings.mcp(streams=streams)) as url:
        async with over_http(url, mode, authorization=f"Bearer {given['alice']}") as alice:
            assert alice.protocol_version == GENERATIONS[mode]
            made = data_of(await alice.call_tool("remember", {"content": "Lives in Lisbon"}))["memory"]
            turns = [{"role": "user", "content": "fact: budget=10"}]
            ended = await alice.call_tool("add_turns", {"thread_id": "t", "turns": turns, "end": True})
            assert data_of(ended)["processed"] is True
        async with over_http(url, mode, authorization=f"Bearer {given['bob']}") as bob:
            assert data_of(await bob.call_tool("search", {"query": "Lives in Lisbon"}))["memories"] == []
            assert (await bob.call_tool("history", {"id": made["id"]})).is_error
        async with over_http(url, mode, **{"x-api-key": given["backend"], "x-user-id": "alice"}) as acting:
            found = data_of(await acting.call_tool("search", {"query": "Lisbon"}))["memories"]
            assert made["id"] in [one["id"] for one in found]
    assert {entry.via for entry in await memory.user("alice").audit()} == {"mcp"}


@pytest.mark.parametrize("mode", GENERATIONS)
async def test_the_adapter_of_the_function_app_hands_whole_answers_on(memory: Any, mode: str):
    identity = HeaderIdentity(allowed=True, behind_key=True)
    adapter = func.AsgiMiddleware(
        create_app(memory, InlineProcessing(memory.runtime), identity, mcp=ApiSettings().mcp(streams=False))
    )

    class Host(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            body = await request.aread()
            asked = func.HttpRequest(
                method=request.method, url=str(request.url), headers=dict(request.headers), body=body
            )
            answer = await adapter.handle_async(asked)
            return httpx2.Response(answer.status_code, headers=dict(answer.headers), content=answer.get_body())

    http = httpx2.AsyncClient(transport=Host(), headers={"x-user-id": "alice"})
    url = "https://memory.azurewebsites.example/mcp"
    async with http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        assert client.protocol_version == GENERATIONS[mode]
        made = data_of(await client.call_tool("remember", {"content": "Lives in Lisbon"}))["memory"]
        found = data_of(await client.call_tool("search", {"query": "Lisbon"}))["memories"]
        assert [one["id"] for one in found] == [made["id"]]


async def test_who_shows_no_credentials_is_told_where_to_get_them(memory: Any):
    given, settings = keys(alice="alice")
    settings = settings.model_copy(
        update={
            "jwt_issuer": "https://login.example/v2.0",
            "jwt_audience": "api://memory",
            "jwt_scopes": "api://memory/use",
        }
    )
    identity = settings.identity(header=HeaderIdentity(allowed=False))
    async with serving(memory, identity, mcp=settings.mcp(streams=True)) as url, httpx2.AsyncClient(timeout=60) as http:

        async def status(**headers: str) -> int:
            return (await http.post(f"{url}/mcp", json=LIST, headers=BOTH | headers)).status_code

        refused = await http.post(f"{url}/mcp", json=LIST, headers=BOTH)
        assert refused.status_code == 401
        challenge = refused.headers["www-authenticate"]
        assert 'scope="api://memory/use"' in challenge
        where = challenge.partition('resource_metadata="')[2].partition('"')[0]
        assert where == f"{url}/.well-known/oauth-protected-resource/mcp"
        said = (await http.get(where)).json()
        assert said["resource"] == f"{url}/mcp"
        assert said["authorization_servers"] == ["https://login.example/v2.0"]
        assert said["scopes_supported"] == ["api://memory/use"]
        assert await status(authorization="Bearer amk_guessed") == 401
        assert await status(authorization="Bearer a.b.c") == 401
        assert await status(authorization=f"Basic {given['alice']}") == 401
        assert await status(**{"x-user-id": "alice"}) == 401
        assert await status(**{"x-api-key": given["alice"], "x-user-id": "bob"}) == 403
        assert await status(**{"x-api-key": given["alice"]}) == 200


async def test_pages_of_the_web_are_kept_out(memory: Any):
    async with serving(memory) as url, httpx2.AsyncClient(timeout=60) as http:

        async def status(**headers: str) -> int:
            asked = BOTH | {"x-user-id": "alice"} | headers
            return (await http.post(f"{url}/mcp", json=LIST, headers=asked)).status_code

        assert await status() == 200
        assert await status(host="evil.example") == 421
        assert await status(host="evil.example", origin="http://evil.example") == 421
        assert await status(host="127.0.0.1.evil.example:80") == 421
        assert await status(origin="https://evil.example") == 403
        assert await status(**{"sec-fetch-site": "cross-site"}) == 403
        # A proxy says that it is one, and the header of development is then believed of nobody.
        assert await status(host="memory.example", **{"x-forwarded-for": "192.0.2.1"}) == 401


async def test_behind_a_proxy_the_public_name_counts(memory: Any):
    given, settings = keys(alice="alice")
    settings = settings.model_copy(update={"public_url": "https://memory.example/"})
    identity = settings.identity(header=HeaderIdentity(allowed=False))
    async with serving(memory, identity, mcp=settings.mcp(streams=True)) as url, httpx2.AsyncClient(timeout=60) as http:
        asked = BOTH | {"x-api-key": given["alice"], "host": "memory.example"}
        assert (await http.post(f"{url}/mcp", json=LIST, headers=asked)).status_code == 200
        said = (await http.get(f"{url}/.well-known/oauth-protected-resource/mcp")).json()
        assert said["resource"] == "https://memory.example/mcp"
    with pytest.raises(ConfigurationError, match="AGENT_MEMORY_PUBLIC_URL"):
        ApiSettings(public_url="memory.example").mcp(streams=True)


async def test_there_is_no_session_and_no_stream_of_its_own(memory: Any):
    async with serving(memory) as url, httpx2.AsyncClient(headers={"x-user-id": "alice"}, timeout=60) as http:
        for verb in ("GET", "DELETE", "PUT"):
            assert (await http.request(verb, f"{url}/mcp", headers=BOTH)).status_code == 405
        answer = await http.post(f"{url}/mcp", json=LIST, headers=BOTH)
        assert "mcp-session-id" not in answer.headers
        assert (await http.post(f"{url}/mcp", content=b"[" * 100_000, headers=BOTH)).status_code in (400, 413, 415)
        nested = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + b'{"a":' * 5000 + b"1" + b"}" * 5001
        deep = await http.post(f"{url}/mcp", content=nested, headers=BOTH | {"content-type": "application/json"})
        assert deep.status_code == 400
        large = await http.post(f"{url}/mcp", content=b" " * (5 * 1024 * 1024), headers=BOTH)
        assert large.status_code == 413
        assert (await http.get(f"{url}/")).json()["mcp"] == "/mcp"


async def test_the_limit_of_requests_holds_for_agents_too(memory: Any, monkeypatch: pytest.MonkeyPatch):
    stop_rates(monkeypatch, 60)
    async with serving(memory, rate_limit="3/minute") as url, httpx2.AsyncClient(timeout=60) as http:
        asked = BOTH | {"x-user-id": "alice"}
        statuses = [(await http.post(f"{url}/mcp", json=LIST, headers=asked)).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]


async def test_requests_at_the_same_time_keep_their_users_apart(memory: Any):
    users = [f"user-{number}" for number in range(6)]
    for user in users:
        await memory.user(user).remember(f"The word of {user} is {user}-word")

    async with serving(memory) as url:

        async def ask(user: str, mode: str) -> list[str]:
            async with over_http(url, mode, **{"x-user-id": user}) as client:
                calls = [client.call_tool("search", {"query": "the word"}) for _ in range(4)]
                found = [data_of(one)["memories"] for one in await asyncio.gather(*calls)]
                read = (await client.read_resource("memory://memories")).contents[0].text
            assert user in read
            assert not [other for other in users if other != user and other in read]
            return [memory["content"] for memories in found for memory in memories]

        answers = await asyncio.gather(*(ask(user, mode) for user in users for mode in GENERATIONS))
    for user, said in zip([user for user in users for _ in GENERATIONS], answers, strict=True):
        assert set(said) == {f"The word of {user} is {user}-word"}


async def test_a_key_of_one_user_opens_no_other_memory_from_the_command_line(memory: Any):
    given, settings = keys(alice="alice")
    identity = settings.identity(header=HeaderIdentity(allowed=False))
    async with serving(memory, identity) as url:
        for user, allowed in (("alice", True), ("bob", False)):
            async with (
                AsyncMemory.remote(url, given["alice"]) as remote,
                Client(make_server(OneUser(remote, user))) as client,
            ):
                result = await client.call_tool("remember", {"content": "Lives in Lisbon"})
                assert result.is_error is not allowed
                if not allowed:
                    assert "configuration" in text_of(result)
    assert await memory.user("bob").memories() == []


@pytest.mark.parametrize(("status", "said"), [("running", "are being made"), ("failed", "model: it is broken")])
async def test_the_result_of_ending_a_conversation_is_reported(memory: Any, status: Any, said: str):
    class Elsewhere(InlineProcessing):
        async def start(self, user_id: str, step: str, query: ProcessQuery) -> ProcessRun:
            failed = {"error": "it is broken", "code": "model"} if status == "failed" else {}
            return ProcessRun(id="1", step=step, status=status, **failed)

    turns = [{"role": "user", "content": "fact: budget=10"}]
    async with (
        serving(memory, processing=Elsewhere(memory.runtime)) as url,
        over_http(url, **{"x-user-id": "alice"}) as client,
    ):
        answer = await client.call_tool("add_turns", {"thread_id": "t", "turns": turns, "end": True})
    assert answer.is_error is (status == "failed")
    assert said in text_of(answer)
