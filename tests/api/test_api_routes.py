"""The HTTP API over an embedded memory."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2 as httpx
import pytest
from api_world import client_of
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.api import HeaderIdentity, InlineProcessing, create_app
from agent_memory.errors import ModelError, StoreUnavailable
from agent_memory.models import EndpointHealth, now

ALICE = {"x-user-id": "alice"}


def serve(memory: AsyncMemory, *, allowed: bool = True, behind_key: bool = False, **options: Any) -> httpx.AsyncClient:
    return client_of(memory, HeaderIdentity(allowed=allowed, behind_key=behind_key), **options)


@pytest.fixture
async def http(memory: AsyncMemory) -> AsyncIterator[httpx.AsyncClient]:
    async with serve(memory) as client:
        yield client


async def write(http: httpx.AsyncClient, *lines: str, thread: str = "t1") -> None:
    turns = [{"role": "user", "content": line, "id": f"{thread}-{n}"} for n, line in enumerate(lines)]
    answer = await http.post(f"/v1/threads/{thread}/turns", json={"turns": turns}, headers=ALICE)
    assert answer.status_code == 201, answer.text


async def test_turns_are_written_once_and_read_in_order(http: httpx.AsyncClient):
    await write(http, "hello", "there")
    await write(http, "hello", "there")
    turns = (await http.get("/v1/threads/t1/turns", headers=ALICE)).json()["turns"]
    assert [(turn["id"], turn["content"]) for turn in turns] == [("t1-0", "hello"), ("t1-1", "there")]
    last = (await http.get("/v1/threads/t1/turns", params={"last": 1}, headers=ALICE)).json()["turns"]
    assert [turn["id"] for turn in last] == ["t1-1"]
    bobs = (await http.get("/v1/threads/t1/turns", headers={"x-user-id": "bob"})).json()
    assert bobs == {"turns": [], "next": None}


@pytest.mark.req("S1-58")
async def test_a_step_on_demand_and_what_is_found_afterwards(http: httpx.AsyncClient):
    await write(http, "fact: I live in=Lisbon, since May")
    run = (await http.post("/v1/process/facts", json={"thread_id": "t1"}, headers=ALICE)).json()
    assert (run["status"], run["step"], run["result"]["created"]) == ("completed", "extract", 1)
    assert (await http.get(f"/v1/process/{run['id']}", headers=ALICE)).json() == run
    assert (await http.get(f"/v1/process/{run['id']}", headers={"x-user-id": "bob"})).status_code == 404

    hits = (await http.post("/v1/search", json={"query": "Where do I live?"}, headers=ALICE)).json()["hits"]
    assert hits[0]["memory"]["content"] == "I live in=Lisbon, since May"
    assert "embedding" not in str(hits[0]["memory"].keys() - {"embedding_model"})
    body = {"query": "Where do I live?", "thread_id": "t1", "budget": 300}
    context = (await http.post("/v1/context", json=body, headers=ALICE)).json()
    assert "Lisbon" in context["text"]
    assert context["tokens"] <= 300
    assert (await http.post("/v1/search", json={"query": "live"}, headers={"x-user-id": "bob"})).json() == {"hits": []}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/v1/threads/t1/turns", {"turns": [{"role": "robot", "content": "x"}]}, 400, "invalid_input"),
        ("POST", "/v1/threads/t1/turns", {"turns": []}, 400, "invalid_input"),
        ("POST", "/v1/threads/__x/turns", {"turns": [{"role": "user", "content": "x"}]}, 400, "invalid_input"),
        ("POST", "/v1/threads/t1/turns", {"turns": [{"role": "user", "content": "x"}], "x": 1}, 400, "invalid_input"),
        ("POST", "/v1/process/facts", {}, 400, "invalid_input"),
        ("POST", "/v1/process/profile", {"thread_id": "t1"}, 400, "invalid_input"),
        ("POST", "/v1/process/summary", {"thread_id": "t1", "n": 5}, 400, "invalid_input"),
        ("POST", "/v1/process/dream", {}, 400, "invalid_input"),
        ("POST", "/v1/search", {"query": " "}, 400, "invalid_input"),
        ("POST", "/v1/search", {"query": "x", "types": ["song"]}, 400, "invalid_input"),
        ("GET", "/v1/process/unknown", None, 404, "not_found"),
        ("GET", "/v1/nothing", None, 404, "no_such_path"),
        ("DELETE", "/v1/search", None, 405, "method_not_allowed"),
    ],
)
async def test_errors_have_one_form(http: httpx.AsyncClient, method: str, path: str, body: Any, status: int, code: str):
    answer = await http.request(method, path, json=body, headers=ALICE)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code
    assert answer.json()["error"]["message"]


async def test_an_id_with_other_content_is_a_conflict(http: httpx.AsyncClient):
    await write(http, "hello")
    turns = {"turns": [{"role": "user", "content": "goodbye", "id": "t1-0"}]}
    answer = await http.post("/v1/threads/t1/turns", json=turns, headers=ALICE)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "conflict")


async def test_a_temporary_error_says_when_to_retry(memory: AsyncMemory, chat: ScriptedChat):
    class Down(InlineProcessing):
        error: Exception = StoreUnavailable("throttled")

        async def start(self, *_: Any) -> Any:
            raise self.error

    processing = Down(memory.runtime)
    app = create_app(memory, processing, HeaderIdentity(allowed=True))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as http:

        async def answer() -> tuple[int, str, str | None]:
            got = await http.post("/v1/process/profile", json={}, headers=ALICE)
            return got.status_code, got.json()["error"]["code"], got.headers.get("retry-after")

        assert await answer() == (503, "store_unavailable", "5")
        processing.error = ModelError("busy", retryable=True, retry_after=2.5)
        assert await answer() == (503, "model", "3")
        processing.error = ModelError("nonsense")
        assert await answer() == (502, "model", None)
        processing.error = ZeroDivisionError("a secret")
        assert await answer() == (500, "internal", None)


async def test_a_failed_step_says_so_and_its_run_can_be_asked_for(http: httpx.AsyncClient, chat: ScriptedChat):
    await write(http, "fact: one=1 of many", "fact: two=2 of many")
    await http.post("/v1/process/extract", json={"thread_id": "t1"}, headers=ALICE)
    chat.fault = lambda task, _: ModelError("nonsense") if task == "reconcile" else None
    run = (await http.post("/v1/process/reconcile", json={}, headers=ALICE)).json()
    assert (run["status"], run["error"]) == ("failed", "nonsense")
    assert (await http.get(f"/v1/process/{run['id']}", headers=ALICE)).json()["status"] == "failed"


@pytest.mark.parametrize(
    ("options", "headers", "status"),
    [
        ({}, ALICE, 200),
        ({}, {}, 401),
        ({}, {"x-user-id": "__store__"}, 400),
        ({"allowed": False}, ALICE, 401),
        ({"client": "10.1.2.3"}, ALICE, 401),
        ({"client": "::1"}, ALICE, 200),
        ({"client": "10.1.2.3", "behind_key": True}, ALICE, 200),
        ({"allowed": False, "behind_key": True}, ALICE, 401),
    ],
)
async def test_a_header_is_believed_only_where_it_may_be(
    memory: AsyncMemory, options: dict[str, Any], headers: dict[str, str], status: int
):
    async with serve(memory, **options) as http:
        answer = await http.get("/v1/threads/t1/turns", headers=headers)
        assert answer.status_code == status
        if status == 401:
            assert answer.json()["error"]["code"] == "unauthenticated"


async def test_ids_are_utf_8(http: httpx.AsyncClient, memory: AsyncMemory):
    turns = {"turns": [{"role": "user", "content": "hej"}]}
    for header, status in (("björn".encode(), 201), ("björn".encode("latin-1"), 400)):
        answer = await http.post("/v1/threads/t1/turns", json=turns, headers={b"x-user-id": header})
        assert answer.status_code == status
    assert len(await memory.user("björn").thread("t1").turns()) == 1


async def test_large_requests_are_refused_whether_they_say_so_or_not(memory: AsyncMemory):
    async with serve(memory, max_body_bytes=1000) as http:
        turns = {"turns": [{"role": "user", "content": "x" * 2000}]}
        told = await http.post("/v1/threads/t1/turns", json=turns, headers=ALICE)

        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(50):
                yield b" " * 100

        untold = await http.post("/v1/threads/t1/turns", content=pieces(), headers=ALICE)
        assert (told.status_code, untold.status_code) == (413, 413)
        assert told.json()["error"]["code"] == "too_large"
        assert await memory.user("alice").thread("t1").turns() == []
        body = b'{"turns": [{"role": "user", "content": "hello"}]}'
        for size, status in ((1000, 201), (1001, 413)):
            answer = await http.post(
                "/v1/threads/t1/turns", content=body.ljust(size), headers={**ALICE, "content-type": "application/json"}
            )
            assert answer.status_code == status


async def test_health(http: httpx.AsyncClient):
    answer = await http.get("/health")
    assert answer.status_code == 200
    assert answer.json() == {"ok": True}  # who asks is not known
    details = await http.get("/v1/admin/health", headers=ALICE)
    assert details.json()["chat_model"] == "scripted"


async def test_health_names_the_part_that_fails_and_stays_up_without_models(
    http: httpx.AsyncClient, chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch
):
    failing = EndpointHealth(answers=False, fault="credentials", failing_since=now())
    monkeypatch.setattr(chat, "health", lambda: failing, raising=False)
    answer = await http.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"ok": False, "failing": ["chat"]})
    details = (await http.get("/v1/admin/health", headers=ALICE)).json()
    assert (details["ok"], details["store_answers"], details["models"]["chat"]["fault"]) == (False, True, "credentials")
    assert any("credentials" in warning for warning in details["warnings"])
