"""The remote memory: what a caller gets when the server, the way or the credentials are not as they should be."""

import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web
from api_world import served_in_thread, serving
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence, Memory
from agent_memory.api.credentials import ApiKeys, new_key
from agent_memory.contract.table import ENDPOINTS
from agent_memory.errors import (
    ConfigurationError,
    Conflict,
    InvalidInput,
    MemoryDisabled,
    ModelError,
    NotFound,
    StoreUnavailable,
)
from agent_memory.remote.http import Http
from agent_memory.remote.scopes import RemoteGroupScope, RemoteThreadScope, RemoteUserScope
from agent_memory.scopes import AsyncGroupScope, AsyncThreadScope, AsyncUserScope
from agent_memory.settings import Environment

Answer = tuple[int, dict[str, str], Any]


@pytest.fixture
async def remote(memory: AsyncMemory) -> AsyncIterator[AsyncMemory]:
    async with serving(memory) as url, AsyncMemory.remote(url) as opened:
        yield opened


@pytest.mark.parametrize(
    ("local", "remote"),
    [
        (AsyncUserScope, RemoteUserScope),
        (AsyncGroupScope, RemoteGroupScope),
        (AsyncThreadScope, RemoteThreadScope),
    ],
)
def test_every_method_of_a_scope_is_there(local: type, remote: type):
    """`add` is made of `add_many`, `export` of `export_part`, and `follow` of `changes`."""
    methods = {name for name, _ in inspect.getmembers(local, inspect.isfunction) if name[0] != "_"}
    methods -= {"add", "export", "follow"}
    assert {name for name in methods if getattr(remote, name) is getattr(local, name)} == set()
    assert {endpoint.name for endpoint in ENDPOINTS} <= {
        name for kind in (AsyncGroupScope, AsyncThreadScope) for name in dir(kind)
    }


def test_the_synchronous_face():
    cadence = Cadence(extract=1, summarize=1, profile=1, reconcile=0, idle_seconds=0)
    with served_in_thread(cadence) as (url, _), Memory.remote(url) as memory:
        alice = memory.user("alice")
        alice.thread("t1").add("user", "fact: I live in=Lisbon, since May")
        assert memory.drain(timeout=300) == 0
        assert "Lisbon" in alice.context("Where do I live?").text
        assert memory.users() == ["alice"]
        assert memory.health().ok
        assert alice.thread("t1").summary() is not None
        assert alice.profile() is not None


async def test_errors_are_those_of_the_library(remote: AsyncMemory, chat: ScriptedChat):
    alice = remote.user("alice")
    first = await alice.remember("Lives in Lisbon")
    await alice.update(first.id, content="Lives in Oslo")
    with pytest.raises(Conflict):
        await alice.update(first.id, content="Lives in Rome")
    with pytest.raises(NotFound):
        await alice.get("fact_none")
    for bad in (alice.get("a/b"), alice.search(" "), alice.search("x", limit=0), alice.memories(types=["song"])):
        with pytest.raises(InvalidInput):
            await bad
    with pytest.raises(InvalidInput):
        remote.user("__static__")
    await alice.thread("t1").add("user", "fact: one=1 of very many")
    chat.fault = lambda task, _: ModelError("nonsense") if task == "summarize" else None
    result = await alice.thread("t1").process("extract")
    assert result.created == 1
    await alice.update_settings(enabled=False)
    with pytest.raises(MemoryDisabled):
        await alice.remember("Lives in Rome")
    assert (await alice.settings()).enabled is False
    settings = await alice.settings()
    await alice.update_settings(enabled=True, if_match=settings.etag)
    with pytest.raises(Conflict):
        await alice.update_settings(enabled=False, if_match=settings.etag)


async def test_a_remote_handle_carries_its_configuration(remote: AsyncMemory):
    for n in range(3):
        await remote.user("alice").remember(f"Budget number {n} for the Hawaii trip")
    limited = remote.user("alice", config={"retrieval_limit": 1})
    assert len(await limited.search("budget for Hawaii")) == 1
    chat = remote.user("alice").thread("t1", agent_id="helper", project_id="trip", resources=["web"])
    assert (await chat.context("budget for Hawaii")).used == []
    await remote.user("alice").thread("t2", agent_id="helper", project_id="trip").add("user", "hello there")
    (turn,) = await remote.user("alice").thread("t2").turns()
    assert (turn.agent_id, turn.project_id) == ("helper", "trip")


async def test_long_listings_and_writes_go_in_pieces(remote: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent_memory.remote.scopes.MAX_PAGE", 7)
    monkeypatch.setattr("agent_memory.remote.http.MAX_TURNS", 10)
    chat = remote.user("alice").thread("t1")
    turns = [{"role": "user", "content": str(n), "id": f"t{n}"} for n in range(33)]
    receipt = await chat.add_many(turns)
    assert (receipt.created, receipt.ids) == (33, [turn["id"] for turn in turns])
    assert [turn.content for turn in await chat.turns()] == [str(n) for n in range(33)]
    assert [turn.content for turn in await chat.turns(last=9)] == [str(n) for n in range(24, 33)]
    assert (await chat.add_many(turns)).created == 0
    for n in range(9):
        await remote.user("bob").thread(f"t{n}").add("user", "hello")
    names = [f"t{n}" for n in range(8, -1, -1)]
    assert [info.thread_id for info in await remote.user("bob").threads()] == names
    assert [info.thread_id for info in await remote.user("bob").threads(limit=8)] == names[:8]


@pytest.fixture
async def scripted() -> AsyncIterator[Callable[[list[Answer]], Awaitable[tuple[str, list[web.Request]]]]]:
    """A server that answers as it is told, in order; its URL, and what it was asked."""
    runners: list[web.AppRunner] = []

    async def start(answers: list[Answer]) -> tuple[str, list[web.Request]]:
        asked: list[web.Request] = []

        async def handle(request: web.Request) -> web.StreamResponse:
            await request.read()
            asked.append(request)
            status, headers, body = answers.pop(0)
            if status == 0:  # hangs up
                assert request.transport is not None
                request.transport.close()
                return web.Response()
            text = body if isinstance(body, str) else json.dumps(body)
            return web.Response(status=status, headers=headers, text=text)

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", handle)
        runner = web.AppRunner(app)
        await runner.setup()
        runners.append(runner)
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}", asked

    yield start
    for runner in runners:
        await runner.cleanup()


def problem(code: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": "as told"}}


LATER = {"Retry-After": "0"}


async def test_what_may_pass_is_tried_again_under_the_same_key(scripted: Any):
    receipt = {"ids": ["t"], "created": 1}
    busy: Answer = (503, LATER, problem("store_unavailable"))
    url, asked = await scripted([busy, (429, LATER, problem("rate_limited")), (0, {}, ""), (201, {}, receipt)])
    async with AsyncMemory.remote(url, "a key") as remote:
        assert (await remote.user("björn").thread("t1").add("user", "hello", id="t")).created == 1
    assert len(asked) == 4
    assert len({(await request.read()) for request in asked}) == 1
    assert "idempotency-key" not in asked[0].headers  # the turns' ids do it, at no cost
    assert asked[0].headers["authorization"] == "Bearer a key"
    assert asked[0].headers["x-user-id"] == "björn"


async def test_a_read_takes_no_longer_than_the_timeout_with_all_its_repetitions(scripted: Any):
    waits: Answer = (503, {"Retry-After": "2"}, problem("store_unavailable"))
    url, asked = await scripted([waits, waits])
    async with AsyncMemory.remote(url, timeout=1.5) as remote:
        for reading in (remote.user("alice").search("tea"), remote.user("alice").profile()):
            with pytest.raises(StoreUnavailable):
                await reading
    assert len(asked) == 2


async def test_a_write_without_an_id_of_its_own_is_tried_again_under_the_same_key(scripted: Any):
    receipt = {"dry_run": False, "at": "2026-03-01T12:00:00Z"}
    url, asked = await scripted([(503, LATER, problem("store_unavailable")), (0, {}, ""), (200, {}, receipt)])
    async with AsyncMemory.remote(url, "a key") as remote:
        assert not (await remote.user("alice").forget(query="tea")).dry_run
    assert len({request.headers["idempotency-key"] for request in asked}) == 1 != len(asked)


async def test_changes_and_deletions_are_tried_again_under_the_same_key_too(scripted: Any):
    url, asked = await scripted([(0, {}, ""), (200, {}, {}), (0, {}, ""), (200, {}, {"deleted": 1})])
    async with AsyncMemory.remote(url, "a key") as remote:
        await remote.user("alice").update_settings(enabled=True)
        assert await remote.user("alice").delete_document("plan") == 1
    assert [request.method for request in asked] == ["PATCH", "PATCH", "DELETE", "DELETE"]
    keys = [request.headers["idempotency-key"] for request in asked]
    assert keys[0] == keys[1] != keys[2] == keys[3]


@pytest.mark.parametrize(
    ("answers", "error", "requests"),
    [
        ([(503, LATER, problem("store_unavailable"))] * 4, StoreUnavailable, 4),
        ([(503, {"Retry-After": "3600"}, problem("store_unavailable"))], StoreUnavailable, 1),
        ([(503, LATER, problem("model"))] * 4, ModelError, 4),
        ([(502, {}, problem("model"))], ModelError, 1),
        ([(401, {}, problem("unauthenticated"))], ConfigurationError, 1),
        ([(403, {}, problem("forbidden"))], ConfigurationError, 1),
        ([(404, {}, problem("no_such_path"))], ConfigurationError, 1),
        ([(401, {}, "")], ConfigurationError, 1),
        ([(502, {}, "<html>bad gateway</html>")] * 4, StoreUnavailable, 4),
        ([(302, {"Location": "http://127.0.0.1:1/"}, "")], ConfigurationError, 1),
        ([(413, {}, problem("too_large"))], InvalidInput, 1),
        ([(0, {}, "")] * 4, StoreUnavailable, 4),
        ([(200, {}, "<html>Sign in</html>")], ConfigurationError, 1),
        ([(200, {}, {"id": "fact_1"})], ConfigurationError, 1),
        ([(200, {}, [])], ConfigurationError, 1),
    ],
)
async def test_what_a_server_answers_becomes_an_error_of_ours(
    scripted: Any, answers: list[Answer], error: type[Exception], requests: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent_memory.remote.http.FIRST_WAIT", 0.001)
    url, asked = await scripted(list(answers))
    async with AsyncMemory.remote(url) as remote:
        with pytest.raises(error):
            await remote.user("alice").remember("Lives in Lisbon")
    assert len(asked) == requests


async def test_a_context_never_raises(scripted: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent_memory.remote.http.FIRST_WAIT", 0.001)
    url, _ = await scripted([(401, {}, problem("unauthenticated")), (200, {}, "<html>"), (200, {}, {"tokens": "?"})])
    async with AsyncMemory.remote(url) as remote:
        for expected in ("as told", "without JSON", "tokens"):
            told = await remote.user("alice").context("Where do I live?")
            assert told.text == ""
            assert expected in told.degraded[0]
        assert (await remote.health()).ok is False


async def test_fields_of_a_newer_server_are_ignored(memory: AsyncMemory, chat: ScriptedChat, monkeypatch: Any):
    def newer(value: Any) -> Any:
        if isinstance(value, list):
            return [newer(one) for one in value]
        if not isinstance(value, dict):
            return value
        maps = ("messages", "decisions", "deleted", "models")  # their names are data
        kept = {name: one if name in maps else newer(one) for name, one in value.items()}
        return {**kept, "new": 0}

    once = Http._once
    received: list[Any] = []

    async def from_newer(http: Http, *args: Any) -> Any:
        received.append(newer(await once(http, *args)))
        return received[-1]

    monkeypatch.setattr(Http, "_once", from_newer)
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        alice = remote.user("alice")
        talk = alice.thread("t1")
        assert (await talk.add("user", "fact: I live in=Lisbon, since May")).created == 1
        fact = await alice.remember("Allergic to peanuts")
        assert (await alice.update(fact.id, content="Allergic to nuts")).content == "Allergic to nuts"
        assert [one.content for one in await talk.turns()] == ["fact: I live in=Lisbon, since May"]
        assert len(await alice.history(fact.id)) == 2
        assert (await alice.search("nuts"))[0].memory.content == "Allergic to nuts"
        assert (await talk.context("What about nuts?")).degraded == []
        assert (await talk.process("extract")).turns == 1
        assert (await alice.settings()).enabled
        assert len(await alice.threads()) == 1
        assert (await alice.stats()).memories == 2
        assert not (await alice.forget(everything=True)).dry_run
        assert (await remote.health()).ok
    assert all(one["new"] == 0 for one in received)


async def test_an_older_server_is_not_asked_for_what_nobody_wants(scripted: Any):
    url, asked = await scripted([(200, {}, {"hits": []})])
    async with AsyncMemory.remote(url) as remote:
        assert await remote.user("alice").search("tea", groups=()) == []
    assert await asked[0].json() == {"query": "tea"}


async def test_what_cannot_travel_is_refused_here(remote: AsyncMemory):
    with pytest.raises(InvalidInput):
        await remote.user("alice ").memories()
    with pytest.raises(InvalidInput):
        await remote.user("alice").remember("x y z", metadata={"n": object()})
    with pytest.raises(ConfigurationError):
        await remote.create_memory_store()
    for bad in ("", "ftp://x", "localhost:80"):
        with pytest.raises(ConfigurationError):
            AsyncMemory.remote(bad)
    await remote.close()
    with pytest.raises(StoreUnavailable):
        await remote.user("alice").memories()


@pytest.mark.parametrize("dots", [".", ".."])
async def test_a_thread_that_a_path_cannot_name_is_not_taken_for_its_user(remote: AsyncMemory, dots: str):
    alice = remote.user("alice")
    for call in (
        alice.thread(dots).update_settings(enabled=False),
        alice.thread(dots).turns(),
        alice.thread(dots).add("user", "Where am I?"),
        alice.thread(dots).end(),
        alice.get(dots),
    ):
        with pytest.raises(InvalidInput, match="over HTTP"):
            await call
    assert (await alice.settings()).enabled is not False


async def test_the_environment_names_a_server(memory: AsyncMemory):
    key, entry = new_key("backend", acts_for_users=True)
    async with serving(memory, ApiKeys([entry])) as url:
        async with AsyncMemory.from_env(Environment(memory_url=url, memory_key=key)) as remote:
            made = await remote.user("alice").remember("Lives in Lisbon", valid_from=datetime(2026, 1, 1, tzinfo=UTC))
            assert await remote.user("alice").get(made.id) == made
            with pytest.raises(ConfigurationError):
                await remote.users()
        async with AsyncMemory.from_env(Environment(memory_url=url, memory_key="wrong")) as remote:
            with pytest.raises(ConfigurationError):
                await remote.user("alice").memories()
