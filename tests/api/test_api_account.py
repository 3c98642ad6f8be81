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


@pytest.mark.req("S3-22", "S3-23", "S3-25", "S3-39", "S3-50")
async def test_memories_are_made_and_listed_in_numbered_pages(http: httpx.AsyncClient, memory: AsyncMemory):
    for n in range(3):
        body = {
            "content": f"Prefers seat number {n}",
            "memory_type": "preference",
            "confidence_score": 0.95,
            "metadata": {"n": n},
        }
        assert (await http.post("/api/memory/memories", json=body)).status_code == 201
    made = await http.post("/memory/memories", json={"content": "Works in Porto"})
    assert made.json()["memory_type"] == "fact"
    assert made.json()["confidence_score"] == 0.8
    assert (await memory.user("alice").get(made.json()["memory_id"])).content == "Works in Porto"

    listed = (await http.get("/api/memory/memories?page=1&limit=2&memory_type=preference")).json()
    assert {name: listed[name] for name in ("total", "page", "limit", "pages")} == {
        "total": 3,
        "page": 1,
        "limit": 2,
        "pages": 2,
    }
    first = listed["memories"][0]
    assert set(first) == {
        "memory_id",
        "content",
        "memory_type",
        "confidence_score",
        "source_thread_id",
        "created_at",
        "metadata",
    }
    assert first["metadata"] == {"n": 2}
    assert (first["content"], first["memory_type"], first["confidence_score"]) == (
        "Prefers seat number 2",
        "preference",
        0.95,
    )
    assert first["source_thread_id"] is None
    second = (await http.get("/memory/memories?page=2&limit=2&memory_type=preference")).json()
    assert [one["content"] for one in second["memories"]] == ["Prefers seat number 0"]
    assert (await http.get("/api/memory/memories")).json()["total"] == 4
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
async def test_stats_count_by_type_and_name_the_tier(http: httpx.AsyncClient, memory: AsyncMemory):
    await memory.user("alice").remember("Lives in Lisbon")
    await memory.user("alice").remember("Prefers trains", kind="preference")
    stats = (await http.get("/api/memory/stats")).json()
    assert stats["total_memories"] == 2
    assert stats["memories_by_type"] == {"fact": 1, "preference": 1, "context": 0, "conversation_summary": 0}
    assert stats["oldest_memory"] < stats["newest_memory"]
    assert (stats["max_memories"], stats["retrieval_limit"], stats["tier_name"]) == (None, 100, "unlimited")
    assert stats["memory_enabled"] is True
    await memory.assign_tier("alice", "enterprise")
    stats = (await http.get("/api/memory/stats")).json()
    assert (stats["max_memories"], stats["retrieval_limit"], stats["tier_name"]) == (None, 20, "enterprise")
    await memory.assign_tier("alice", "basic")
    stats = (await http.get("/api/memory/stats")).json()
    assert (stats["max_memories"], stats["retrieval_limit"], stats["tier_name"]) == (100, 5, "basic")


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
    assert (await http.get("/api/memory/settings")).json() == {"memory_enabled": True}
    thread = "/api/memory/thread/t1/settings"
    assert (await http.get(thread)).json() == {"thread_id": "t1", "memory_enabled": True}
    assert (await http.put(thread, json={"enabled": False})).json() == {"thread_id": "t1", "memory_enabled": False}
    asked = {"query": "Where do I live?"}
    assert (await http.post("/v1/context", json=asked | {"thread_id": "t1"})).json()["used"] == []
    assert len((await http.post("/v1/context", json=asked)).json()["used"]) == 1
    assert (await http.put("/api/memory/settings", json={"enabled": False})).json() == {"memory_enabled": False}
    assert (await http.get("/api/memory/settings")).json() == {"memory_enabled": False}
    assert (await http.post("/v1/context", json=asked)).json()["used"] == []
    assert (await http.get("/api/memory/stats")).json()["memory_enabled"] is False
    assert (await http.put("/api/memory/settings", json={"enabled": "off"})).status_code == 400
    assert (await http.get("/api/memory/settings", headers={"x-user-id": "bob"})).json() == {"memory_enabled": True}


@pytest.mark.req("S0-070", "S0-071", "S0-072")
async def test_a_request_of_the_responses_kind(http: httpx.AsyncClient, memory: AsyncMemory):
    for n in range(3):
        await memory.user("alice").remember(f"Budget number {n} for the Hawaii trip is ${n}0,000")
    request = {
        "model": "gpt-4.1-mini",
        "input": "What's my budget for the Hawaii trip?",
        "previous_response_id": "resp_123",
        "memory_config": {"enabled": True, "auto_store": True},
        "memory_context": {"user_id": "alice"},
    }
    told = await http.post("/v1/memory/context", json=request)
    assert "Budget number" in told.json()["text"]
    user = {name: value for name, value in request.items() if name != "previous_response_id"}
    assert len((await http.post("/v1/memory/search", json=user)).json()["hits"]) == 3
    limited = user | {"memory_config": {"retrieval_limit": 1, "memory_types": ["semantic"]}}
    assert len((await http.post("/v1/memory/search", json=limited)).json()["hits"]) == 1
    none = user | {"memory_config": {"memory_types": ["procedural"]}}
    assert (await http.post("/v1/memory/search", json=none)).json()["hits"] == []
    off = user | {"memory_config": {"enabled": False}}
    assert (await http.post("/v1/memory/context", json=off)).json()["used"] == []
    foreign = request | {"memory_context": {"user_id": "bob"}}
    assert (await http.post("/v1/memory/context", json=foreign)).status_code == 403
    bad = request | {"memory_config": {"retrieval_limit": 0}}
    assert (await http.post("/v1/memory/context", json=bad)).status_code == 400


async def test_settings_change_under_their_etag(http: httpx.AsyncClient):
    first = await http.patch("/v1/settings", json={"deny_categories": ["health"]})
    assert first.json()["deny_categories"] == ["health"]
    read = await http.get("/v1/settings")
    assert read.headers["etag"] == first.headers["etag"]
    tag = {"if-match": read.headers["etag"]}
    assert (await http.patch("/v1/settings", json={"auto_store": False}, headers=tag)).status_code == 200
    assert (await http.patch("/v1/settings", json={"auto_store": True}, headers=tag)).status_code == 409
    assert (await http.get("/v1/settings")).json()["auto_store"] is False
    assert (await http.patch("/v1/threads/t1/settings", json={"enabled": False})).json()["enabled"] is False
