"""The account's own page: paths, shapes and statuses of rows S3-22 to S3-31, under both prefixes."""

from collections.abc import AsyncIterator
from datetime import datetime

import httpx2 as httpx
import pytest
from api_world import client_of

from agent_memory import AsyncMemory

ALICE = {"x-user-id": "alice"}


@pytest.fixture
async def http(memory: AsyncMemory) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(memory) as client:
        client.headers.update(ALICE)
        yield client


@pytest.mark.req("S3-22", "S3-25")
async def test_what_is_no_page_or_no_memory_is_refused(http: httpx.AsyncClient):
    for bad in ("page=0", "limit=101", "memory_type=song", "colour=red"):
        assert (await http.get(f"/api/memory/memories?{bad}")).status_code == 400
    assert (await http.post("/api/memory/memories", json={"content": "x", "memory_type": "song"})).status_code == 400


@pytest.mark.req("S3-22", "S3-42", "S3-43")
async def test_a_memory_says_which_thread_it_comes_from(http: httpx.AsyncClient, memory: AsyncMemory):
    chat = memory.user("alice").thread("t1")
    await chat.add("user", "fact: I live in=Lisbon, since May")
    await chat.process("extract")
    (listed,) = (await http.get("/api/memory/memories")).json()["memories"]
    assert listed["source_thread_id"] == "t1"
    bob = {"x-user-id": "bob"}
    assert (await http.get("/api/memory/memories", headers=bob)).json()["total"] == 0
    path = f"/api/memory/memories/{listed['memory_id']}"
    assert (await http.get(path)).json() == listed
    foreign, none = [await http.get(one, headers=bob) for one in (path, "/api/memory/memories/none")]
    assert (foreign.status_code, none.status_code) == (404, 404)
    assert foreign.json()["error"]["code"] == none.json()["error"]["code"]
    async with client_of(memory) as nobody:
        assert (await nobody.get("/api/memory/memories")).status_code == 401


@pytest.mark.req("S3-38")
async def test_a_memory_can_be_corrected(http: httpx.AsyncClient, memory: AsyncMemory):
    made = (await http.post("/api/memory/memories", json={"content": "Lives in Lisbon"})).json()
    path = f"/api/memory/memories/{made['memory_id']}"
    new = (await http.patch(path, json={"content": "Lives in Oslo"})).json()
    assert new["content"] == "Lives in Oslo"
    assert [one["content"] for one in (await http.get("/api/memory/memories")).json()["memories"]] == ["Lives in Oslo"]
    assert (await http.patch(path, json={"content": "Lives in Rome"})).status_code == 409
    assert (await http.patch("/api/memory/memories/none", json={"content": "x"})).status_code == 404


@pytest.mark.req("S3-21", "S3-24")
async def test_an_account_without_a_tier_has_no_limit(http: httpx.AsyncClient):
    stats = (await http.get("/api/memory/stats")).json()
    assert (stats["max_memories"], stats["retrieval_limit"], stats["tier_name"]) == (None, 100, "unlimited")


@pytest.mark.req("S3-13", "S3-14", "S3-15", "S3-17")
async def test_memories_are_retrieved_by_text_tier_and_a_threshold_that_is_low_by_default(
    http: httpx.AsyncClient, memory: AsyncMemory
):
    seat = await memory.user("alice").remember("Prefers window seats on long flights", kind="preference")
    for n in range(6):
        await memory.user("alice").remember(f"Seat number {n} on long flights is narrow")
    await memory.user("alice").remember("Grandmother bakes sourdough bread")
    await memory.user("alice").thread("t1").add("user", "Which seats on flights are narrow, I asked")
    await memory.user("alice").thread("t1").process("index")
    query = "Which window seats do I like on long flights?"
    low, default = [
        (await http.post(path, json={"query_text": query, **asked})).json()["memories"]
        for path, asked in (("/memory/search", {"similarity_threshold": -1}), ("/api/memory/search", {}))
    ]
    assert {found["content"] for found in low} - {found["content"] for found in default} == {
        "Grandmother bakes sourdough bread"
    }
    assert default[0] == {
        "memory_id": seat.id,
        "content": "Prefers window seats on long flights",
        "memory_type": "preference",
        "confidence_score": 1.0,
        "source_thread_id": None,
        "created_at": default[0]["created_at"],
        "metadata": {},
        "similarity": default[0]["similarity"],
    }
    cosines = {found["content"]: found["similarity"] for found in default}
    assert len(default) == 7
    assert min(cosines.values()) > 0.1
    between = (cosines[seat.content] + min(cosines.values())) / 2
    strict = await http.post("/api/memory/search", json={"query_text": query, "similarity_threshold": between})
    assert {found["content"] for found in strict.json()["memories"]} == {
        content for content, cosine in cosines.items() if cosine > between
    }
    await memory.assign_tier("alice", "basic")
    basic = await http.post("/api/memory/search", json={"query_text": query})
    assert len(basic.json()["memories"]) == 5
    await memory.assign_tier("alice", "free")
    assert (await http.post("/api/memory/search", json={"query_text": query})).json() == {"memories": []}
    bad = await http.post("/api/memory/search", json={"query_text": query, "similarity_threshold": 2})
    assert bad.status_code == 400


@pytest.mark.req("S0-068")
async def test_a_memory_in_json_has_the_fields_of_a_responses_endpoint(http: httpx.AsyncClient, memory: AsyncMemory):
    await memory.user("alice").thread("t1", project_id="trip").add("user", "fact: budget=Hawaii for $10,000")
    await memory.user("alice").thread("t1").process("extract")
    (hit, *_) = (await http.post("/v1/memory/search", json={"input": "Hawaii budget"})).json()["hits"]
    (found,) = [one for one in (await http.get("/v1/memories")).json()["memories"] if one["type"] == "fact"]
    shown = {name: found[name] for name in ("type", "content", "user_id", "project_id", "source")}
    assert shown == {
        "type": "fact",
        "content": "budget=Hawaii for $10,000",
        "user_id": "alice",
        "project_id": "trip",
        "source": "user",
    }
    for one in (found, hit["memory"]):
        assert one["id"]
        assert datetime.fromisoformat(one["created_at"]) == datetime.fromisoformat(found["created_at"])
        assert (one["access_count"], one["last_accessed_at"]) == (0, None)
        assert 0 < one["importance"] <= 1
        assert "updated_at" in one
        assert "embedding" not in one


@pytest.mark.req("S3-28", "S3-29", "S3-30", "S3-31", "S3-40")
async def test_the_switches_of_the_account_and_of_a_thread(http: httpx.AsyncClient, memory: AsyncMemory):
    await memory.user("alice").remember("Lives in Lisbon")
    await http.put("/api/memory/thread/t1/settings", json={"enabled": False})
    asked = {"query": "Where do I live?"}
    assert (await http.post("/v1/context", json=asked | {"thread_id": "t1"})).json()["used"] == []
    assert len((await http.post("/v1/context", json=asked)).json()["used"]) == 1
    await http.put("/api/memory/settings", json={"enabled": False})
    assert (await http.post("/v1/context", json=asked)).json()["used"] == []
    assert (await http.get("/api/memory/stats")).json()["memory_enabled"] is False
    assert (await http.put("/api/memory/settings", json={"enabled": "off"})).status_code == 400
    assert (await http.get("/api/memory/settings", headers={"x-user-id": "bob"})).json() == {"memory_enabled": True}


@pytest.mark.req("S0-070")
async def test_a_request_that_is_off_gets_an_empty_context_and_a_limit_of_none_is_refused(http: httpx.AsyncClient):
    request = {"input": "What's my budget for the Hawaii trip?", "memory_context": {"user_id": "alice"}}
    await http.post("/v1/memories", json={"content": "The budget for the Hawaii trip is $10,000"})
    for config, used in (({"enabled": True}, 1), ({"enabled": False}, 0)):
        told = await http.post("/v1/memory/context", json=request | {"memory_config": config})
        assert len(told.json()["used"]) == used
    bad = await http.post("/v1/memory/context", json=request | {"memory_config": {"retrieval_limit": 0}})
    assert bad.status_code == 400


async def test_settings_change_under_their_etag(http: httpx.AsyncClient):
    never_set = {"if-match": (await http.get("/v1/settings")).headers["etag"]}
    first = await http.patch("/v1/settings", json={"deny_categories": ["health"]}, headers=never_set)
    assert (await http.patch("/v1/settings", json={"auto_store": False}, headers=never_set)).status_code == 409
    assert first.json()["deny_categories"] == ["health"]
    read = await http.get("/v1/settings")
    assert read.headers["etag"] == first.headers["etag"]
    tag = {"if-match": read.headers["etag"]}
    assert (await http.patch("/v1/settings", json={"auto_store": False}, headers=tag)).status_code == 200
    assert (await http.patch("/v1/settings", json={"auto_store": True}, headers=tag)).status_code == 409
    assert (await http.get("/v1/settings")).json()["auto_store"] is False
    assert (await http.patch("/v1/threads/t1/settings", json={"enabled": False})).json()["enabled"] is False
