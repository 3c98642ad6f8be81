"""What every route does alike: pages, ETags, idempotency keys, the operator's rights, the OpenAPI document."""

import inspect
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2 as httpx
import pytest
from api_world import client_of

from agent_memory import AsyncMemory, errors
from agent_memory.api import HeaderIdentity, InlineProcessing, create_app
from agent_memory.api.binding import tag_of
from agent_memory.api.credentials import ApiKeys, new_key
from agent_memory.api.errors import documented, status_of
from agent_memory.contract.endpoint import Endpoint
from agent_memory.contract.table import ENDPOINTS

ALICE = {"x-user-id": "alice"}
START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
async def http(memory: AsyncMemory) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(memory) as client:
        client.headers.update(ALICE)
        yield client


async def pages(http: httpx.AsyncClient, path: str, noun: str, name: str = "id", **params: Any) -> list[list[str]]:
    found: list[list[str]] = []
    token: dict[str, str] = {}
    while True:
        answer = await http.get(path, params=params | token)
        assert answer.status_code == 200, answer.text
        found.append([item[name] for item in answer.json()[noun]])
        if answer.json()["next"] is None:
            return found
        token = {"continuation": answer.json()["next"]}


async def test_listings_come_in_pages_from_the_newest_on(http: httpx.AsyncClient, memory: AsyncMemory):
    times = [0, 1, 2, 2, 3, 4, 5]
    turns = [
        {"role": "user", "content": str(n), "id": f"t{n}", "created_at": START + timedelta(seconds=second)}
        for n, second in enumerate(times)
    ]
    await memory.user("alice").thread("t1").add_many(turns)
    assert await pages(http, "/v1/threads/t1/turns", "turns", last=3) == [
        ["t4", "t5", "t6"],
        ["t1", "t2", "t3"],
        ["t0"],
    ]
    made = [(await memory.user("alice").remember(f"Fact number {n} of many")).id for n in range(5)][::-1]
    assert await pages(http, "/v1/memories", "memories", limit=2) == [made[:2], made[2:4], made[4:]]
    for n in range(5):
        await memory.user("bob").thread(f"t{n}").add("user", "hello", created_at=START + timedelta(seconds=n // 2))
    http.headers["x-user-id"] = "bob"
    assert await pages(http, "/v1/threads", "threads", "thread_id", limit=2) == [["t4", "t3", "t2"], ["t1", "t0"], []]
    for bad in ({"continuation": "xyz"}, {"continuation": "e30"}, {"limit": 0}, {"limit": 1001}, {"page": 2}):
        answer = await http.get("/v1/memories", params=bad)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_input")


async def test_a_memory_that_was_changed_since_it_was_read_is_not_overwritten(http: httpx.AsyncClient):
    made = (await http.post("/v1/memories", json={"content": "Lives in Lisbon"})).json()
    read = await http.get(f"/v1/memories/{made['id']}")
    tag = read.headers["etag"]
    path = f"/v1/memories/{made['id']}"
    assert (await http.patch(path, json={"pinned": True}, headers={"if-match": tag})).status_code == 200
    stale = await http.patch(path, json={"content": "Lives in Oslo"}, headers={"if-match": tag})
    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "conflict")
    fresh = (await http.get(path)).headers["etag"]
    assert fresh != tag
    changed = await http.patch(path, json={"content": "Lives in Oslo"}, headers={"if-match": fresh})
    assert changed.status_code == 200
    current = await http.get(f"/v1/memories/{changed.json()['id']}")
    assert changed.headers["etag"] == current.headers["etag"]
    path = f"/v1/memories/{changed.json()['id']}"
    assert (await http.patch(path, json={"pinned": True}, headers={"if-match": "*"})).status_code == 200


async def test_a_write_under_one_key_is_done_once(http: httpx.AsyncClient, memory: AsyncMemory):
    key = {"idempotency-key": "abc"}
    turns = {"turns": [{"role": "user", "content": "hello"}, {"role": "user", "content": "hello"}]}
    first, again = [await http.post("/v1/threads/t1/turns", json=turns, headers=key) for _ in range(2)]
    assert first.json()["created"] == 2
    assert again.json() == first.json()
    async with client_of(memory) as other:  # another instance
        assert (await other.post("/v1/threads/t1/turns", json=turns, headers=key | ALICE)).json() == first.json()
    assert len(await memory.user("alice").thread("t1").turns()) == 2
    assert (await http.post("/v1/threads/t2/turns", json=turns, headers=key)).status_code == 409
    bobs = await http.post("/v1/threads/t1/turns", json=turns, headers=key | {"x-user-id": "bob"})
    assert (bobs.status_code, bobs.json()["created"]) == (201, 2)

    made = (await http.post("/v1/memories", json={"content": "Lives in Lisbon"})).json()
    path, change = f"/v1/memories/{made['id']}", {"content": "Lives in Oslo"}
    done = [(await http.patch(path, json=change, headers={"idempotency-key": "k2"})).json()["id"] for _ in range(2)]
    assert done[0] == done[1] != made["id"]
    assert (await http.patch(path, json=change)).json()["id"] == done[0]
    assert (await http.patch(path, json={"content": "Lives in Rome"})).status_code == 409


async def test_a_write_that_failed_may_be_tried_again_under_its_key(http: httpx.AsyncClient):
    key = {"idempotency-key": "abc"}
    for _ in range(2):
        assert (await http.post("/v1/memories", json={"content": " "}, headers=key)).status_code == 400
    assert (await http.post("/v1/memories", json={"content": "Lives in Oslo"}, headers=key)).status_code == 201


async def test_what_concerns_all_users_is_for_the_operator(memory: AsyncMemory):
    await memory.user("alice").thread("t1").add("user", "fact: home=Lisbon")
    plain, first = new_key("alice", user="alice")
    backend, second = new_key("backend", acts_for_users=True)
    operator, third = new_key("operator", operates=True)
    async with client_of(memory, ApiKeys([first, second, third])) as http:
        for verb, path in (
            ("GET", "users"),
            ("GET", "health"),
            ("GET", "dead-letters"),
            ("POST", "dead-letters/x/replay"),
            ("POST", "drain"),
            ("GET", "extraction"),
            ("PUT", "extraction"),
        ):
            for key in (plain, backend):
                headers = {"x-api-key": key, "x-user-id": "alice"}
                answer = await http.request(verb, f"/v1/admin/{path}", headers=headers)
                assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
        headers = {"x-api-key": operator}
        assert (await http.get("/v1/admin/users", headers=headers)).json() == {"users": ["alice"]}
        assert (await http.post("/v1/admin/drain", headers=headers)).json() == {"left": 0}
        assert (await http.get("/v1/admin/dead-letters", headers=headers)).json() == {"dead_letters": []}
        assert (await http.post("/v1/admin/dead-letters/x/replay", headers=headers)).status_code == 404
        assert (await http.get("/v1/memories", headers=headers)).status_code == 401


@pytest.mark.req("S0-069")
async def test_the_document_says_everything_and_no_vector(memory: AsyncMemory):
    document = create_app(memory, InlineProcessing(memory.runtime), HeaderIdentity(allowed=True)).openapi()
    assert document["openapi"].startswith("3.1")
    for path, operations in document["paths"].items():
        for verb, operation in operations.items():
            where = f"{verb} {path}"
            assert operation["summary"], where
            assert operation["operationId"], where
            if path != "/health":
                assert {"400", "401", "403", "413", "429", "503"} <= operation["responses"].keys(), where
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            name = str(body.get("$ref") or body.get("anyOf", [{}])[0].get("$ref", "")).rpartition("/")[2]
            assert not body or document["components"]["schemas"][name].get("examples"), where
    fields = {name for schema in document["components"]["schemas"].values() for name in schema.get("properties", {})}
    assert {name for name in fields if "embedding" in name or "vector" in name} == {"embedding_model"}


async def test_the_document_requires_the_type_of_a_part_as_a_request_does(http: httpx.AsyncClient):
    schemas = (await http.get("/openapi.json")).json()["components"]["schemas"]
    parts = [schema for name, schema in schemas.items() if name.endswith("Part") and "type" in schema["properties"]]
    assert len(parts) == 5
    assert all("type" in schema["required"] for schema in parts)
    untyped = {"turns": [{"role": "user", "parts": [{"text": "What is it?"}]}]}
    assert (await http.post("/v1/threads/t1/turns", json=untyped)).status_code == 400


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: f"{endpoint.scope}.{endpoint.name}")
def test_the_document_names_the_errors_that_a_method_says_it_raises(endpoint: Endpoint):
    """The table declares them; the docstring is what callers of the library read."""
    raised = (inspect.getdoc(endpoint.call) or "").partition("Raises:\n")[2]
    said = [getattr(errors, name) for name in re.findall(r"\b([A-Z]\w+)(?=:| if|,)", raised) if hasattr(errors, name)]
    told = documented(*endpoint.raises, missing=endpoint.may_be_missing, writes=endpoint.writes).keys()
    assert {status_of(error("x")) for error in said} <= told
    assert {status_of(error("x")) for error in endpoint.raises} <= {status_of(error("x")) for error in said}


async def test_an_etag_stays_when_a_memory_is_only_read(memory: AsyncMemory):
    one = await memory.user("alice").remember("Lives in Lisbon")
    used = one.model_copy(update={"access_count": 3, "last_accessed_at": START})
    assert tag_of(used) == tag_of(one)
    assert tag_of(one.model_copy(update={"pinned": True})) != tag_of(one)
