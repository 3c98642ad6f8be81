"""The HTTP calls of the document of the Kortix memory system, typed as they stand there, with the default models."""

import json
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import httpx2 as httpx
import pytest
from api_world import client_of, serving
from memories import NEVER

from agent_memory import AsyncMemory
from agent_memory.compat.kortix import MemoryService, MemoryType
from agent_memory.language.callable_chat import CallableChat

REACT_NATIVE = json.loads("""
{
  "content": "User is building a mobile app with React Native",
  "memory_type": "context",
  "confidence_score": 0.9,
  "metadata": {
    "project": "mobile-app",
    "technology": "react-native"
  }
}
""")
LISTED = json.loads("""
{
  "memory_id": "mem_abc123",
  "content": "Prefers TypeScript over JavaScript for new projects",
  "memory_type": "preference",
  "confidence_score": 0.95,
  "source_thread_id": "thread_xyz789",
  "created_at": "2024-01-15T10:30:00Z"
}
""")
STATS = json.loads("""
{
  "total_memories": 42,
  "memories_by_type": {
    "fact": 15,
    "preference": 12,
    "context": 10,
    "conversation_summary": 5
  },
  "oldest_memory": "2024-01-01T00:00:00Z",
  "newest_memory": "2024-01-15T10:30:00Z",
  "max_memories": 100,
  "retrieval_limit": 5,
  "tier_name": "basic",
  "memory_enabled": true
}
""")


@pytest.fixture
async def http(memory: AsyncMemory) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(memory) as client:
        client.headers["x-user-id"] = "acct"
        yield client


async def answer(http: httpx.AsyncClient, method: str, path: str, body: Any = None) -> Any:
    response = await http.request(method, path, json=body)
    assert response.is_success, response.text
    return response.json()


@pytest.mark.req("S3-25", "S3-39", "S3-50")
@pytest.mark.parametrize("prefix", ["/api/memory", "/memory"])
async def test_a_memory_written_by_hand_is_recalled(http: httpx.AsyncClient, memory: AsyncMemory, prefix: str):
    made = await answer(http, "POST", f"{prefix}/memories", REACT_NATIVE)
    assert {name: made[name] for name in REACT_NATIVE} == REACT_NATIVE
    assert (await answer(http, "GET", f"{prefix}/memories"))["memories"] == [made]
    asked = {"query_text": "Which technology does the mobile app use?"}
    (found,) = (await answer(http, "POST", f"{prefix}/search", asked))["memories"]
    assert (found["memory_id"], found["metadata"]) == (made["memory_id"], REACT_NATIVE["metadata"])
    (item,) = await MemoryService(memory).retrieve_memories("acct", asked["query_text"], "pro")
    assert (item.account_id, item.metadata) == ("acct", REACT_NATIVE["metadata"])
    assert item.memory_type is MemoryType.CONTEXT


@pytest.mark.req("S3-02", "S3-03", "S3-04", "S3-05", "S3-22", "S3-25")
async def test_each_of_the_four_types_can_be_made_listed_and_retrieved(http: httpx.AsyncClient, memory: AsyncMemory):
    examples = {
        "fact": "Has two children, ages 5 and 8",
        "preference": "Likes Python over JavaScript",
        "context": "Learning machine learning fundamentals",
        "conversation_summary": "Asked about Docker deployment best practices",
    }
    for kind, content in examples.items():
        made = await answer(http, "POST", "/api/memory/memories", {"content": content, "memory_type": kind})
        assert (made["memory_type"], made["confidence_score"], made["metadata"]) == (kind, 0.8, {})
        listed = await answer(http, "GET", f"/api/memory/memories?page=1&limit=50&memory_type={kind}")
        assert [one["content"] for one in listed["memories"]] == [content]
        best, *_ = (await answer(http, "POST", "/api/memory/search", {"query_text": content}))["memories"]
        assert (best["content"], best["memory_type"]) == (content, kind)
    service = MemoryService(memory)
    told = await service.retrieve_memories("acct", "What did I ask about Docker deployment?", "pro")
    assert "Past Conversations:\n- Asked about Docker" in service.format_memories_for_prompt(told)


@pytest.mark.req("S3-22", "S3-23")
async def test_the_list_has_the_shape_of_the_document(http: httpx.AsyncClient, memory: AsyncMemory):
    thread = memory.user("acct").thread("thread_xyz789")
    await thread.add("user", "I prefer TypeScript over JavaScript for new projects.")
    await thread.process("extract")
    listed = await answer(http, "GET", "/api/memory/memories?page=1&limit=50&memory_type=preference")
    (one,) = listed.pop("memories")
    assert listed == {"total": 1, "page": 1, "limit": 50, "pages": 1}
    assert set(one) == {*LISTED, "metadata"}
    assert "TypeScript over JavaScript for new projects" in one["content"]
    assert (one["memory_type"], one["source_thread_id"]) == ("preference", "thread_xyz789")
    assert one["created_at"].endswith("Z")
    assert datetime.fromisoformat(one["created_at"]).tzinfo is not None


@pytest.mark.req("S3-19", "S3-22", "S3-24", "S3-49")
async def test_42_memories_are_counted_as_in_the_document(http: httpx.AsyncClient, memory: AsyncMemory):
    await memory.assign_tier("acct", "basic")
    for kind, count in STATS["memories_by_type"].items():
        for n in range(count):
            body = {"content": f"Note {n} of the kind {kind}", "memory_type": kind}
            await answer(http, "POST", "/api/memory/memories", body)
    stats = await answer(http, "GET", "/api/memory/stats")
    times = ("oldest_memory", "newest_memory")
    assert list(stats) == list(STATS)
    assert {name: stats[name] for name in STATS if name not in times} == {
        name: STATS[name] for name in STATS if name not in times
    }
    assert datetime.fromisoformat(stats["oldest_memory"]) < datetime.fromisoformat(stats["newest_memory"])
    pages = [(await answer(http, "GET", f"/api/memory/memories?page={n}&limit=20")) for n in (1, 2, 3, 4)]
    assert [len(page["memories"]) for page in pages] == [20, 20, 2, 0]
    assert {(page["total"], page["pages"]) for page in pages} == {(42, 3)}
    assert len({one["memory_id"] for page in pages for one in page["memories"]}) == 42


@pytest.mark.req("S3-13", "S3-17", "S3-51")
async def test_the_default_threshold_is_a_cosine_of_a_tenth(http: httpx.AsyncClient, memory: AsyncMemory):
    between, below = "Works at Acme Corp as a software engineer", "Learning machine learning fundamentals"
    question = "Which programming language do I like?"
    for content in ("Likes Python over JavaScript", between, below):
        await memory.user("acct").remember(content)
    hits = await memory.user("acct").search(question, threshold=-1)
    cosines = {hit.memory.content: hit.similarity or 0.0 for hit in hits}
    assert cosines[below] < 0.1 < cosines[between] < 0.2
    expected = {content for content, cosine in cosines.items() if cosine > 0.1}
    items = await MemoryService(memory).retrieve_memories("acct", question, "pro")
    found = await answer(http, "POST", "/api/memory/search", {"query_text": question})
    assert {item.content for item in items} == {one["content"] for one in found["memories"]} == expected


@pytest.mark.req("S3-26", "S3-27")
async def test_deleting_says_which_turns_went_too(http: httpx.AsyncClient, memory: AsyncMemory):
    thread = memory.user("acct").thread("t1")
    (said,) = (await thread.add("user", "I am allergic to peanuts and to shrimps.")).ids
    await thread.process("extract")
    (one, *_) = (await answer(http, "GET", "/api/memory/memories"))["memories"]
    receipt = await answer(http, "DELETE", f"/api/memory/memories/{one['memory_id']}")
    assert receipt["deleted"]["turn"] == [said]
    assert one["memory_id"] in receipt["deleted"]["fact"]
    assert (await http.delete(f"/api/memory/memories/{one['memory_id']}")).status_code == 404

    kept = await memory.user("acct").remember("Lives in San Francisco")
    (open_turn,) = (await thread.add("user", "I work at Acme Corp.")).ids
    off = memory.user("acct").thread("private")
    await off.update_settings(enabled=False)
    (off_record,) = (await off.add("user", "Nobody is to know this.")).ids
    assert (await http.delete("/api/memory/memories")).status_code == 400
    receipt = await answer(http, "DELETE", "/api/memory/memories?confirm=true")
    assert set(receipt["deleted"]["turn"]) == {open_turn, off_record}
    assert kept.id in receipt["deleted"]["fact"]
    assert (await answer(http, "GET", "/api/memory/memories"))["total"] == 0
    assert await thread.turns() == await off.turns() == []


@pytest.mark.req("S3-26", "S3-27")
async def test_the_description_of_the_api_says_that_turns_go(http: httpx.AsyncClient):
    paths = (await answer(http, "GET", "/openapi.json"))["paths"]
    every = paths["/api/memory/memories"]["delete"]["description"]
    one = paths["/api/memory/memories/{memory_id}"]["delete"]["description"]
    assert "ALL TURNS" in every
    assert "off the record" in every
    assert "DELETES THE TURNS" in one
    assert "include_sources: false" in one


@pytest.mark.req("S3-18", "S3-19", "S3-20", "S3-21", "S3-22", "S3-24")
@pytest.mark.parametrize(
    ("tier", "most", "limit"), [("free", 0, 0), ("basic", 100, 5), ("pro", 500, 10), ("enterprise", None, 20)]
)
async def test_the_table_of_tiers(
    http: httpx.AsyncClient, memory: AsyncMemory, tier: str, most: int | None, limit: int
):
    await memory.assign_tier("acct", tier)
    stats = await answer(http, "GET", "/api/memory/stats")
    assert (stats["max_memories"], stats["retrieval_limit"], stats["tier_name"]) == (most, limit, tier)
    assert stats["memory_enabled"] is (tier != "free")
    listed = await answer(http, "GET", "/api/memory/memories")
    assert listed == {"memories": [], "total": 0, "page": 1, "limit": 50, "pages": 0}


@pytest.mark.req("S3-28", "S3-29", "S3-30", "S3-31", "S3-32", "S3-40")
async def test_the_switches_answer_as_in_the_document(http: httpx.AsyncClient):
    whole, thread = "/api/memory/settings", "/api/memory/thread/thread_xyz789/settings"
    assert await answer(http, "GET", whole) == {"memory_enabled": True}
    assert await answer(http, "GET", thread) == {"thread_id": "thread_xyz789", "memory_enabled": True}
    off = {"thread_id": "thread_xyz789", "memory_enabled": False}
    assert await answer(http, "PUT", thread, {"enabled": False}) == off
    assert await answer(http, "GET", thread) == off
    assert await answer(http, "GET", whole) == {"memory_enabled": True}
    assert (await answer(http, "PUT", thread, {"enabled": True}))["memory_enabled"] is True
    assert await answer(http, "PUT", whole, {"enabled": False}) == {"memory_enabled": False}
    assert await answer(http, "GET", thread) == off, "the account's switch is off"
    assert await answer(http, "PUT", thread, {"enabled": True}) == off


@pytest.mark.req("S3-14", "S3-18", "S3-30")
async def test_a_thread_of_the_free_tier_has_no_memory(http: httpx.AsyncClient, memory: AsyncMemory):
    await memory.assign_tier("acct", "free")
    assert (await answer(http, "GET", "/api/memory/thread/t1/settings"))["memory_enabled"] is False


@pytest.mark.req("S3-01", "S3-15", "S3-18")
async def test_the_service_works_with_a_memory_on_a_server(memory: AsyncMemory):
    await memory.assign_tier("acct", "basic")
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        service = MemoryService(remote)
        talk = [{"role": "user", "content": "I prefer TypeScript over JavaScript for new projects."}]
        (made,) = await service.extract_memories(talk, "acct", "thread_xyz789")
        assert await service.retrieve_memories("acct", "Which language do I like?", "pro") == [made]
        assert await service.retrieve_memories("acct", "Which language do I like?", "free") == []
        for number in range(7):
            await remote.user("acct").remember(f"Likes the language number {number}")
        assert len(await service.retrieve_memories("acct", "Which language do I like?", "pro", -1)) == 5


@pytest.mark.req("S3-10", "S3-11", "S3-52")
async def test_what_the_documents_own_answer_of_a_model_has_is_kept():
    said = "I'm building a mobile app with React Native."
    answers = {
        "worth_extracting": True,
        "memories": [
            {"content": REACT_NATIVE["content"], "memory_type": "context", "metadata": REACT_NATIVE["metadata"]},
            {"content": "User works with React Native", "memory_type": "fact", "confidence_score": 0.7},
            {"content": "User sings", "memory_type": "song"},
        ],
    }
    chat = CallableChat(lambda messages: json.dumps(answers))
    async with AsyncMemory.local(chat_model=chat, cadence=NEVER) as memory:
        made = await MemoryService(memory).extract_memories([{"role": "user", "content": said}], "acct", "t1")
    assert {one.content: (one.memory_type.value, one.confidence_score, one.metadata) for one in made} == {
        REACT_NATIVE["content"]: ("context", 0.8, REACT_NATIVE["metadata"]),
        "User works with React Native": ("fact", 0.7, {}),
    }


@pytest.mark.req("S3-11")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([{"key": "project", "value": "mobile-app"}], {"project": "mobile-app"}),
        ("a text", {}),
        ({"date": "1999-01-01", "source": "elsewhere", "n": 3}, {"n": 3}),
        ({"first": "x" * 1900, "second": "y" * 200, "third": 1}, {"first": "x" * 1900}),
        ({"token": "AKIAIOSFODNN7EXAMPLE"}, None),
    ],
    ids=["strict form", "no object", "names of ours", "too large", "a secret"],
)
async def test_metadata_of_an_extraction_is_read_bounded_and_screened(given: Any, kept: dict[str, Any] | None):
    answers = {"memories": [{"content": "User is building a mobile app", "metadata": given}]}
    chat = CallableChat(lambda messages: json.dumps(answers))
    async with AsyncMemory.local(chat_model=chat, cadence=NEVER) as memory:
        talk = [{"role": "user", "content": "I am building a mobile app these days."}]
        (made,) = await MemoryService(memory).extract_memories(talk, "acct", "t1")
    if kept is None:
        assert "AKIAIOSFODNN7EXAMPLE" not in json.dumps(made.metadata)
    else:
        assert made.metadata == kept
