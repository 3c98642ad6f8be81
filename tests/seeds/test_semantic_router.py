"""What the document of vLLM Semantic Router's agentic memory shows, typed as it stands there, with the default models.

Where the document has a language model answer, a scripted one gives what stands in the document.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import httpx2 as httpx
import pytest
from api_world import client_of
from broken_embeddings import BrokenEmbeddings
from memories import NEVER
from scripted_model import ScriptedChat
from simulation import simulated_time

from agent_memory import AsyncMemory, Memory
from agent_memory.compat.store import MemoryScope, MemoryStore, RetrieveOptions, StoredMemory
from agent_memory.errors import ConfigurationError, InvalidInput, ModelError, NotFound
from agent_memory.language.answers import read_answer
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.prompts import PromptFolder
from agent_memory.language.tasks import (
    CONSOLIDATE,
    EXTRACT,
    QUERY_REWRITE,
    ArchiveOutput,
    Conclusion,
    ConsolidateInput,
    ConsolidateOutput,
    FactView,
    Group,
    HydeOutput,
    Insight,
    QueryRewriteOutput,
    ReflectInput,
    ReflectOutput,
)
from agent_memory.models import Signals
from agent_memory.recall import context as recall_context
from agent_memory.settings import Environment, PolicySettings, QueryStrategy, RecallSettings
from agent_memory.store.uses import read_uses

BUDGET = "My budget for the Hawaii trip is $10,000"


@pytest.fixture
async def http(memory: AsyncMemory) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(memory) as client:
        client.headers["x-user-id"] = "user_123"
        yield client


async def keep(http: httpx.AsyncClient, content: str, **fields: Any) -> str:
    answer = await http.post("/v1/memory", json={"content": content, "user_id": "user_123", **fields})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


# Section 7 and 8: operations and data structures.


@pytest.mark.req("S0-058", "S0-068", "S0-069", "S0-055")
async def test_a_memory_is_stored_in_the_documents_own_json(http: httpx.AsyncClient):
    printed = {
        "id": "mem_1",
        "type": "semantic",
        "content": "User's budget for Hawaii is $10,000",
        "user_id": "user_123",
        "project_id": "project_abc",
        "source": "conversation",
        "created_at": "2026-03-15T10:00:00Z",
        "access_count": 0,
        "importance": 0.5,
    }
    stored = await http.post("/v1/memory", json=printed)
    assert stored.status_code == 201
    got = (await http.get(f"/v1/memory/{stored.json()['id']}")).json()
    assert got == stored.json()
    assert set(got) == set(printed)
    kept = {name: got[name] for name in printed.keys() - {"id", "created_at"}}
    assert kept == {name: printed[name] for name in kept}
    for type in ("procedural", "episodic"):
        id = await keep(http, f"Something {type}.", type=type)
        assert (await http.get(f"/v1/memory/{id}")).json()["type"] == type
    foreign = await http.post("/v1/memory", json=printed | {"user_id": "bob"})
    assert foreign.status_code == 403
    wrong = await http.post("/v1/memory", json=printed | {"type": "reflective"})
    assert wrong.status_code == 400


@pytest.mark.req("S0-055")
async def test_a_new_memory_has_an_id_a_source_and_its_time(memory: AsyncMemory, http: httpx.AsyncClient):
    await memory.user("user_123").thread("a").add("user", BUDGET)
    await memory.user("user_123").thread("a").process("extract")
    (fact,) = await memory.user("user_123").memories(types=["fact"])
    shown = (await http.get(f"/v1/memory/{fact.id}")).json()
    assert shown["id"].startswith("fact_")  # there: mem; here the type, and the rest is made of the source turn
    assert shown["source"] == "conversation"
    assert shown["created_at"]


@pytest.mark.req("S0-017", "S0-018", "S0-019", "S0-021")
async def test_the_examples_of_the_types_and_a_search_that_knows_no_type(memory: AsyncMemory, http: httpx.AsyncClient):
    user = memory.user("user_123")
    budget = "User's budget for Hawaii is $10,000"
    steps = "To deploy payment-service: run npm build, then docker push"
    for number, said in enumerate((budget, steps)):
        await user.thread(f"t{number}").add("user", said)
        await user.thread(f"t{number}").process("extract")
    event = "On Dec 29 2024, user planned Hawaii vacation with $10K budget"
    await keep(http, event, type="episodic")
    shown = [(await http.get(f"/v1/memory/{one.id}")).json() for one in await user.memories()]
    types = {budget: "semantic", steps: "procedural", event: "episodic"}
    assert {one["content"]: one["type"] for one in shown} == types
    for asked, best in (("How do I deploy payment-service?", steps), ("What happened on Dec 29 2024?", event)):
        (hit, *_) = (await http.post("/v1/memory/search", json={"input": asked})).json()["hits"]
        assert hit["memory"]["content"] == best
    found = (await http.post("/v1/memory/search", json={"input": "What's my budget for Hawaii?"})).json()["hits"]
    assert {hit["memory"]["type"] for hit in found} >= {"fact", "episodic"}, "they cluster by topic, not by type"


@pytest.mark.req("S0-062")
async def test_forget_single_memory(http: httpx.AsyncClient):
    id = await keep(http, BUDGET)
    assert (await http.delete(f"/v1/memory/{id}", headers={"x-user-id": "bob"})).status_code == 404
    assert (await http.delete(f"/v1/memory/{id}")).status_code == 200
    assert (await http.get(f"/v1/memory/{id}")).status_code == 404


@pytest.mark.req("S0-063")
async def test_forget_all_memories_for_a_project_and_for_a_user(memory: AsyncMemory, http: httpx.AsyncClient):
    await keep(http, BUDGET, project_id="project_abc")
    await keep(http, "Prefers aisle seats.", project_id="project_xyz")
    await memory.user("bob").remember("Bob likes tea.")
    assert (await http.delete("/v1/memory?user_id=bob")).status_code == 403
    assert (await http.delete("/v1/memory?user_id=bob&project_id=project_abc")).status_code == 403
    unsaid = await http.delete("/v1/memory")
    assert unsaid.status_code == 400
    assert "user_id" in unsaid.json()["error"]["message"]

    async def left() -> list[str]:
        return [one.content for one in await memory.user("user_123").memories()]

    assert (await http.delete("/v1/memory?user_id=user_123&project_id=project_abc")).status_code == 200
    assert await left() == ["Prefers aisle seats."]
    assert (await http.delete("/v1/memory?user_id=user_123")).status_code == 200
    assert await left() == []
    assert len(await memory.user("bob").memories()) == 1


@pytest.mark.req("S0-064")
async def test_forget_what_i_told_you_about_x_leaves_the_rest_of_the_conversation(memory: AsyncMemory):
    user = memory.user("user_123")
    thread = user.thread("planning")
    others = ["My cat Felix stays with my sister Ann in Porto.", "I work as a nurse in Bergen."]
    await thread.add_many([{"role": "user", "content": content} for content in (BUDGET, *others)])
    await thread.end()
    assert any(one.kind == "session" and BUDGET in one.content for one in await user.memories())
    await user.forget(query="the Hawaii budget")
    assert [turn.content for turn in await thread.turns()] == others
    assert sorted(one.content for one in await user.memories()) == sorted(others)
    assert "10,000" not in str(await user.context("What's my budget for the Hawaii trip?"))


@pytest.mark.req("S0-064")
async def test_what_only_the_account_of_a_conversation_says_is_forgotten_with_the_whole_conversation():
    chat = ScriptedChat()
    account = ArchiveOutput(summary="The Hawaii budget is $10,000.", topics=[], entities=[], decisions=[], questions=[])
    chat.outputs["archive"] = lambda data: account
    async with AsyncMemory.local(chat_model=chat, cadence=NEVER) as memory:
        thread = memory.user("user_123").thread("planning")
        await thread.add_many([{"role": "user", "content": content} for content in ("Ten grand it is.", "Fine, then.")])
        await thread.end()
        await memory.user("user_123").forget(query="the Hawaii budget")
        assert await thread.turns() == []


HAWAII = ["Budget for Hawaii is $10,000", "Added $2,000 to Hawaii budget", "Final Hawaii budget is $12,000"]
MERGED = "Hawaii trip budget: $12,000 (updated from initial $10,000)"


class _Merging(ScriptedChat):
    """A model that merges what it is given into the sentence of the document, or all but the first."""

    def __init__(self, first: int = 0) -> None:
        super().__init__()
        self.outputs["consolidate"] = lambda data: ConsolidateOutput(
            merged=[Conclusion(refs=[fact.ref for fact in data.groups[0].facts[first:]], content=MERGED)]
        )


def merging(first: int = 0) -> MemoryStore:
    return MemoryStore(Memory.local(chat_model=_Merging(first), cadence=NEVER))


@pytest.mark.req("S0-066")
def test_consolidate_the_memories_that_are_named():
    store = merging()
    ids = [store.store(StoredMemory(user_id="user_123", content=content)) for content in HAWAII]
    other = store.store(StoredMemory(user_id="user_123", content="Budget for the kitchen is $4,000"))
    merged = store.consolidate("user_123", ids)
    assert merged.content == MERGED
    listed = store._memory.user("user_123").memories()
    assert {one.id for one in listed} == {merged.id, other}
    assert {one.content for one in store._memory.user("user_123").history(str(merged.id))} >= {*HAWAII, MERGED}
    for wrong in (["none", other], [other], ids, [str(merged.id), store.store(_howto())]):
        with pytest.raises((NotFound, InvalidInput)):
            store.consolidate("user_123", wrong)
    with pytest.raises(NotFound):
        store.consolidate("bob", [other, str(merged.id)])
    store.close()


def _howto() -> StoredMemory:
    return StoredMemory(user_id="user_123", content="To pay: call the bank.", type="procedural")


@pytest.mark.req("S0-066")
def test_a_model_that_leaves_one_of_them_out_merges_nothing():
    store = merging(first=1)
    ids = [store.store(StoredMemory(user_id="user_123", content=content)) for content in HAWAII]
    with pytest.raises(ModelError, match="leaves out"):
        store.consolidate("user_123", ids)
    assert len(store._memory.user("user_123").memories()) == 3
    store.close()


@pytest.mark.req("S0-066")
async def test_rules_put_the_memories_that_are_named_side_by_side(memory: AsyncMemory, http: httpx.AsyncClient):
    ids = [await keep(http, content) for content in HAWAII]
    done = await http.post("/v1/process/consolidate", json={"memory_ids": ids})
    assert done.json()["result"]["created"] == 1, done.text
    (merged,) = await memory.user("user_123").memories()
    assert merged.content == f"{'; '.join(HAWAII)}."
    assert (await http.post("/v1/process/reflect", json={"memory_ids": ids})).status_code == 400


def test_what_a_language_model_may_leave_out_of_named_memories():
    facts = [
        FactView(ref=f"f{number}", kind="fact", content=content, confidence=1, said_at="2026-03-15T10:00:00Z")
        for number, content in enumerate(HAWAII, 1)
    ]
    groups = [Group(facts=facts)]
    answer = ConsolidateOutput(merged=[Conclusion(refs=["f1", "f2", "f3"], content=MERGED)]).model_dump_json()
    assert read_answer(CONSOLIDATE, answer, ConsolidateInput(groups=groups, named=True))[0].merged
    assert not read_answer(CONSOLIDATE, answer, ConsolidateInput(groups=groups))[0].merged


DEPLOYED = [f"Deployed payment-service on March {day}." for day in range(1, 13)]
CONFLICTS = [f"Port conflict when payment-service started on March {day}." for day in range(1, 7)]


@pytest.mark.req("S0-067")
def test_reflect_counts_trouble_by_itself():
    store = MemoryStore(Memory.local(cadence=NEVER))
    for content in [*DEPLOYED, *CONFLICTS]:
        store.store(StoredMemory(user_id="user_123", content=content, project_id="deployment"))
    store.store(StoredMemory(user_id="user_123", content="Prefers docker-compose.", project_id="deployment"))
    store.store(StoredMemory(user_id="user_123", content="Port conflict when payment-service started at home."))
    for number in range(3):
        store.store(StoredMemory(user_id="user_123", content=f"Walks the dog at {number + 6} o'clock."))
    scoped = store.reflect(MemoryScope(user_id="user_123", project_id="deployment"))
    told = sorted(one.content for one in scoped)
    assert told == [
        "Comes up again and again: payment service (18 times).",
        "Trouble that comes up again and again: port conflict (6 times).",
    ]
    assert {one.kind for one in scoped} == {"insight", "lesson"}
    assert all(one.project_id == "deployment" for one in scoped)
    everything = {one.content for one in store.reflect(MemoryScope(user_id="user_123"))}
    assert everything >= {
        "Comes up again and again: payment service (19 times).",
        "Trouble that comes up again and again: port conflict (7 times).",
        "Comes up again and again: walks dog (3 times).",
    }
    store.close()


INSIGHTS = [
    "User frequently deploys payment-service (12 times)",
    "Common issue: port conflicts",
    "Preferred approach: docker-compose",
]


@pytest.mark.req("S0-067", "S0-020", "S0-021", "S0-022")
def test_the_insights_of_the_document_with_a_model():
    chat = ScriptedChat()

    def reflect(data: ReflectInput) -> ReflectOutput:
        def refs(word: str) -> list[str]:
            return [one.ref for one in data.memories if word in one.content]

        words = ("Deployed", "Port conflict", "docker-compose")
        return ReflectOutput(
            insights=[Insight(refs=refs(word), content=text) for word, text in zip(words, INSIGHTS, strict=True)]
        )

    chat.outputs["reflect"] = reflect
    store = MemoryStore(Memory.local(chat_model=chat, cadence=NEVER))
    said = [*DEPLOYED, *CONFLICTS, "Prefers docker-compose.", "Uses docker-compose for tests too."]
    for content in said:
        store.store(StoredMemory(user_id="user_123", content=content))
    assert sorted(one.content for one in store.reflect("user_123")) == sorted(INSIGHTS)
    found = store.retrieve(RetrieveOptions(user_id="user_123", query=INSIGHTS[1], limit=20))
    assert {one.memory.type for one in found} == {"semantic", "reflective"}
    found = store.retrieve(RetrieveOptions(user_id="user_123", query=INSIGHTS[1], types=["reflective"]))
    assert found[0].memory.content == INSIGHTS[1]
    assert {one.memory.type for one in found} == {"reflective"}
    assert store.get("user_123", str(found[0].memory.id)).type == "reflective"
    with pytest.raises(InvalidInput, match="see reflect"):
        store.store(StoredMemory(user_id="user_123", content="Lesson learned.", type="reflective"))
    store.close()


# Section 9: the request.

REQUEST = {
    "model": "qwen3",
    "input": "What's my budget for the trip?",
    "previous_response_id": "resp_abc123",
    "memory_config": {"enabled": True, "auto_store": True},
    "memory_context": {"user_id": "user_123"},
}


@pytest.mark.req("S0-012", "S0-023", "S0-025", "S0-039", "S0-040", "S0-070", "S0-071", "S0-072", "S3-32")
async def test_the_example_request(http: httpx.AsyncClient, memory: AsyncMemory):
    assert (await http.post("/v1/memory/context", json=REQUEST)).json()["messages"] == []
    await keep(http, BUDGET)
    told = (await http.post("/v1/memory/context", json=REQUEST)).json()
    assert told["text"].startswith(f"## User's Relevant Context\n\n- {BUDGET}\n")
    assert told["messages"] == [{"role": "system", "content": told["text"]}]
    for signal, reason in (("requires_tool", "tool query"), ("is_fact", None)):
        given = (await http.post("/v1/memory/context", json=REQUEST | {"signals": {signal: True}})).json()
        assert (given["skipped_reason"], bool(given["messages"])) == (reason, reason is None)
    # The answer is in another session than the one that is going on.
    found = (await http.post("/v1/memory/search", json=REQUEST)).json()
    assert [hit["memory"]["content"] for hit in found["hits"]] == [BUDGET]
    foreign = REQUEST | {"memory_context": {"user_id": "user_456"}}
    for path in ("search", "context", "exchanges"):
        assert (await http.post(f"/v1/memory/{path}", json=foreign)).status_code == 403
    of_project = REQUEST | {"memory_context": {"user_id": "user_123", "project_id": "project_abc"}}
    assert (await http.post("/v1/memory/exchanges", json=of_project | {"output": "$10,000"})).status_code == 201
    kept = await memory.user("user_123").thread("resp_abc123").turns()
    assert [(turn.role, turn.project_id) for turn in kept] == [("user", "project_abc"), ("agent", "project_abc")]
    await memory.user("user_123").thread("resp_abc123").update_settings(enabled=False)
    assert (await http.post("/v1/memory/search", json=REQUEST)).json() == {"hits": []}
    assert (await http.post("/v1/memory/context", json=REQUEST)).json()["used"] == []


@pytest.mark.req("S0-072")
async def test_a_whole_request_of_a_responses_endpoint_is_understood(http: httpx.AsyncClient, memory: AsyncMemory):
    await keep(http, "Hawaii budget is $10,000")
    items = [
        {"role": "developer", "content": "Answer in one sentence."},
        {"role": "user", "content": [{"type": "input_text", "text": "Planning Hawaii vacation"}]},
        {"role": "assistant", "content": "Lovely."},
        {"type": "function_call_output", "call_id": "call_1", "output": "{}"},
        {"role": "user", "content": "How much?"},
    ]
    request: dict[str, Any] = {
        "model": "qwen3",
        "input": items,
        "instructions": "Be brief.",
        "temperature": 0.1,
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}],
    }
    told = (await http.post("/v1/memory/context", json=request)).json()
    assert told["query"].startswith("How much? ")
    assert "hawaii" in told["query"]
    assert "$10,000" in told["text"]
    assert (await http.post("/v1/memory/search", json=request | {"input": items[:2]})).json()["hits"]
    kept = (await http.post("/v1/memory/exchanges", json=request | {"output": "$10,000"})).json()
    turns = await memory.user("user_123").thread(kept["id"]).turns()
    assert [(turn.role, turn.content) for turn in turns] == [
        ("user", "Planning Hawaii vacation"),
        ("agent", "Lovely."),
        ("user", "How much?"),
        ("agent", "$10,000"),
    ]
    for path in ("search", "context"):
        assert (await http.post(f"/v1/memory/{path}", json=request | {"input": items[:1]})).status_code == 400


@pytest.mark.req("S0-022", "S0-038", "S0-070", "S0-109")
async def test_every_field_of_memory_config_has_its_effect(http: httpx.AsyncClient):
    for number in range(8):
        await keep(http, f"Budget number {number} for the Hawaii trip is ${number + 1},000.")
    await keep(http, "To book the Hawaii trip: compare budgets, then call the agency.", type="procedural")
    asked = {"input": "What's my budget for the trip?", "memory_context": {"user_id": "user_123"}}

    async def hits(**config: Any) -> list[dict[str, Any]]:
        answer = await http.post("/v1/memory/search", json=asked | {"memory_config": config})
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["hits"]
        return found

    assert len(await hits()) == 5
    assert len(await hits(retrieval_limit=2)) == 2
    assert len(await hits(retrieval_limit=8)) == 8
    assert {hit["memory"]["type"] for hit in await hits(memory_types=["procedural"])} == {"procedural"}
    assert {hit["memory"]["type"] for hit in await hits(memory_types=["semantic"])} == {"fact"}
    found = await hits(retrieval_limit=20)
    assert all(hit["score"] == hit["similarity"] and 0 <= hit["score"] <= 1 for hit in found)
    assert [hit["rank_score"] for hit in found] == sorted((hit["rank_score"] for hit in found), reverse=True)
    cosines = sorted(hit["similarity"] for hit in found)
    assert len(await hits(retrieval_limit=20, similarity_threshold=cosines[3] + 1e-6)) == len(cosines) - 4
    assert await hits(enabled=False) == []
    assert len((await http.post("/v1/memory/search", json=asked)).json()["hits"]) == 5


@pytest.mark.req("S0-070", "S0-038", "S0-022")
async def test_memory_config_restricts_what_is_injected(http: httpx.AsyncClient, memory: AsyncMemory):
    thread = memory.user("user_123").thread("planning")
    await thread.add("user", BUDGET)
    await thread.add("user", "To book the Hawaii trip: compare budgets, then call the agency.")
    await thread.end()
    await keep(http, "The hotel for the Hawaii trip costs $300 a night.")
    question = "What's my budget for the Hawaii trip? Remind me."

    async def told(**config: Any) -> tuple[set[str], str]:
        answer = await http.post("/v1/memory/context", json={"input": question, "memory_config": config})
        assert answer.status_code == 200, answer.text
        return {one["type"] for one in answer.json()["used"]}, answer.json()["text"]

    for unrestricted in ({}, {"enabled": True, "memory_types": ["semantic", "procedural", "episodic"]}):
        assert (await told(**unrestricted))[0] >= {"fact", "procedural", "episodic"}
    only, text = await told(memory_types=["procedural"])
    assert only == {"procedural"}
    assert BUDGET not in text
    only, text = await told(memory_types=["semantic"])
    assert only == {"fact"}
    assert "call the agency" not in text
    (best, *_) = await memory.user("user_123").search(question, types=["fact"])
    assert best.similarity is not None
    only, text = await told(similarity_threshold=best.similarity - 0.001, memory_types=["semantic"])
    assert [line for line in text.splitlines() if line.startswith("- ")] == [
        line for line in text.splitlines() if best.memory.content in line
    ]
    assert only == {"fact"}
    assert await told(similarity_threshold=0.99) == (set(), "")
    assert await told(enabled=False) == (set(), "")
    wrong = {"input": question, "memory_config": {"memory_types": ["bogus"]}}
    refused = (await http.post("/v1/memory/context", json=wrong)).json()
    assert refused["used"] == []
    assert "unknown memory type 'bogus'" in refused["degraded"][0]


@pytest.mark.req("S0-051", "S0-072")
@pytest.mark.parametrize(("config", "learned"), [({"auto_store": True}, 1), ({"auto_store": False}, 0), ({}, 1)])
async def test_auto_store_of_a_request_says_whether_memories_are_made_of_it(
    memory: AsyncMemory, http: httpx.AsyncClient, config: dict[str, Any], learned: int
):
    exchange = {
        "input": "I live in Lisbon.",
        "output": "Noted.",
        "memory_config": config,
        "memory_context": {"user_id": "user_123", "project_id": "project_abc"},
    }
    kept = await http.post("/v1/memory/exchanges", json=exchange)
    assert kept.status_code == 201
    thread = memory.user("user_123").thread(kept.json()["id"])
    assert [turn.role for turn in await thread.turns()] == ["user", "agent"]
    await thread.process("extract")
    facts = await memory.user("user_123").memories(types=["fact"])
    assert len(facts) == learned
    assert all(fact.project_id == "project_abc" for fact in facts)
    # The next request names the conversation.
    again = exchange | {"previous_response_id": kept.json()["id"], "input": "Thanks."}
    assert (await http.post("/v1/memory/exchanges", json=again)).json()["id"] == kept.json()["id"]
    assert len(await thread.turns()) == 4


# Section 10: configuration.


@pytest.mark.req("S0-051", "S0-073")
async def test_auto_store_of_everybody(monkeypatch: pytest.MonkeyPatch):
    assert Environment().policy.auto_store
    monkeypatch.setenv("MEMORY_AUTO_STORE", "false")
    policy = Environment().policy
    async with AsyncMemory.local(cadence=NEVER, policy=policy) as memory:
        alice = memory.user("alice")
        await alice.thread("t").add("user", "I live in Lisbon.")
        skipped = await alice.thread("t").process("extract")
        assert await alice.memories(types=["fact"]) == []
        assert skipped.skipped_reason == "memory is switched off by MEMORY_AUTO_STORE"
        await alice.remember(BUDGET)
        assert [hit.memory.content for hit in await alice.search("budget")] == [BUDGET]
    assert PolicySettings(auto_store=False) == policy


@pytest.mark.req("S0-037", "S0-038", "S0-075")
async def test_the_default_retrieval_limit_is_set_for_everybody(monkeypatch: pytest.MonkeyPatch):
    assert RecallSettings().limit == 5
    assert RecallSettings().threshold("a model that nobody has measured") == 0.6
    monkeypatch.setenv("AGENT_MEMORY_RECALL_LIMIT", "2")
    async with AsyncMemory.local(cadence=NEVER, recall=Environment().recall) as memory:
        for number in range(4):
            await memory.user("user_123").remember(f"Budget number {number} is ${number},000.")
        user = memory.user("user_123")
        assert len(await user.search("budget")) == 2
        assert len(await user.search("budget", limit=3)) == 3
        assert await user.thread("t").search("budget") == []
        async with client_of(memory) as http:
            http.headers["x-user-id"] = "user_123"
            for path, body in (("/v1/search", {"query": "budget"}), ("/v1/memory/search", {"input": "budget"})):
                assert len((await http.post(path, json=body)).json()["hits"]) == 2
    for wrong in ("0", "101", "many"):
        monkeypatch.setenv("AGENT_MEMORY_RECALL_LIMIT", wrong)
        with pytest.raises(ConfigurationError, match="AGENT_MEMORY_RECALL_LIMIT"):
            _ = Environment().recall


# Sections 1 and 12: the flow, and what must hold.


@pytest.mark.req("S0-002", "S0-012", "S0-087", "S0-090", "S0-057")
async def test_session_a_and_session_b(memory: AsyncMemory, caplog: pytest.LogCaptureFixture):
    user = memory.user("user_456")
    await user.thread("a").add("user", BUDGET)
    with caplog.at_level(logging.INFO, "agent_memory"):
        await user.thread("a").process("extract")
    assert "Memory: Stored 1 facts" in caplog.messages
    for thread in ("b", "a"):  # a new session, and the same
        told = await user.thread(thread).context("What's my budget for the trip?")
        assert "$10,000" in told.text
    other = await memory.user("bob").thread("b").context("What's my budget for the trip?")
    assert "10,000" not in str(other.messages)


@pytest.mark.req("S0-012", "S0-032")
async def test_what_another_session_said_is_found_from_one_that_is_going_on(memory: AsyncMemory):
    spare = "I have 10K spare, is that enough for a week in Thailand?"
    user = memory.user("user_456")
    await user.thread("days ago").add("user", spare)
    await user.thread("days ago").process("extract")
    planning = [
        "We're planning the vacation.",
        "Which month is best for beaches?",
        "We'd like to snorkel, and see temples.",
        "How long is the flight?",
        "Is the food spicy?",
        "Do we need a visa?",
    ]
    now = user.thread("now")
    for line in planning:
        await now.add_many([{"role": "user", "content": line}, {"role": "assistant", "content": "I'll find out."}])
    for question in ("What's my budget?", "What's my budget for the vacation?"):
        told = await now.context(question)
        assert spare in told.text, told.text


@pytest.mark.req("S0-039", "S0-040")
async def test_memories_are_injected_as_a_system_message(memory: AsyncMemory):
    user = memory.user("user_456")
    assert (await user.context("What's my budget for the trip?", format="bullets")).messages == []
    await user.remember(BUDGET)
    told = await user.context("What's my budget for the trip?", format="bullets")
    (message,) = told.messages
    assert message["role"] == "system"
    assert message["content"].startswith("## User's Relevant Context\n\n")
    assert f"- {BUDGET}" in message["content"]


# Section 5: whether memory is searched, and by what.

GATE = [
    ("What is the capital of France?", Signals(is_fact=True), "general fact query"),
    ("What is my budget?", Signals(is_fact=True), None),
    ("What is the weather in Paris?", Signals(requires_tool=True), "tool query"),
    ("Hi, what's my budget?", Signals(), None),
    ("hello there!", Signals(), "greeting"),
    ("thanks", Signals(), "greeting"),
    ("bye.", Signals(), "greeting"),
    ("okay", Signals(), "greeting"),
    ("Hi, what's up with my trip?", Signals(), None),
]


@pytest.mark.req("S0-025", "S0-026", "S0-027", "S0-029", "S0-041")
@pytest.mark.parametrize(("query", "signals", "reason"), GATE)
async def test_the_decision(
    memory: AsyncMemory, caplog: pytest.LogCaptureFixture, query: str, signals: Signals, reason: str | None
):
    with caplog.at_level(logging.DEBUG, "agent_memory"):
        told = await memory.user("user_456").context(query, signals=signals)
    skipped = [line for line in caplog.messages if line.startswith("Memory: Skipping")]
    if reason is None:
        assert told.decisions["gate"] == "search"
        assert skipped == []
    else:
        assert told.decisions["gate"] == f"skip: {reason}"
        assert skipped == [f"Memory: Skipping - {reason}", "Memory: Skipping - not memory-relevant"]


@pytest.mark.req("S0-030", "S0-031", "S0-032", "S0-033", "S0-083")
async def test_how_much_finds_the_budget_by_the_talk_before_it(memory: AsyncMemory, caplog: pytest.LogCaptureFixture):
    user = memory.user("user_456")
    await user.remember("Hawaii budget is $10,000")
    history = [
        {"role": "user", "content": "Planning Hawaii vacation"},
        {"role": "assistant", "content": "Lovely."},
        {"role": "user", "content": "Looking at hotels"},
    ]
    told = await user.context("How much?", history=history)
    assert told.decisions["query"] == "prepend"
    assert str(told.query).startswith("How much? ")
    assert "hawaii" in str(told.query).casefold()
    assert "$10,000" in told.text
    with caplog.at_level(logging.DEBUG, "agent_memory"):
        alone = await user.context("How much?")
    assert alone.query == "How much?"
    assert ("DEBUG", "No history, query-only search") in levels(caplog)
    whole = await user.context("What's my budget for the Hawaii trip?", history=history)
    assert whole.query == "What's my budget for the Hawaii trip?"


@pytest.mark.req("S0-034", "S0-035", "S0-036")
@pytest.mark.parametrize(
    ("strategy", "found"),
    [
        ("rewrite", "What is the budget for the Hawaii vacation?"),
        ("hyde", "The budget for the Hawaii trip is approximately $10,000"),
    ],
)
async def test_rewriting_and_hyde_search_by_what_the_model_says(strategy: QueryStrategy, found: str):
    chat = ScriptedChat()
    chat.outputs["query_rewrite"] = lambda data: QueryRewriteOutput(query=found)
    chat.outputs["hyde"] = lambda data: HydeOutput(answer=found)
    async with AsyncMemory.local(chat_model=chat, cadence=NEVER) as memory:
        user = memory.user("user_456")
        await user.remember("Budget is $10,000 for Hawaii")
        history = [{"role": "user", "content": "Xylophones and marimbas quarrel"}]
        told = await user.context("How much?", history=history, strategy=strategy)
        assert told.query == found
        assert "$10,000" in told.text


# Section 11: failure modes and what the log says.


@simulated_time
@pytest.mark.req("S0-079", "S0-086")
async def test_a_search_that_takes_too_long(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch):
    async def never(*args: Any, **named: Any) -> None:
        await asyncio.Future[None]()

    monkeypatch.setattr(recall_context, "search", never)
    async with AsyncMemory.local(cadence=NEVER, recall=RecallSettings(context_timeout=0.3)) as memory:
        told = await memory.user("user_456").context("What's my budget for the trip?")
    assert told.messages == []
    assert ("WARNING", "Memory search timeout, skipping") in levels(caplog)


@pytest.mark.req("S0-080", "S0-086")
async def test_an_embedding_that_fails_leaves_the_words(caplog: pytest.LogCaptureFixture):
    embeddings = BrokenEmbeddings()
    async with AsyncMemory.local(cadence=NEVER, embedding_model=embeddings) as memory:
        user = memory.user("user_456")
        await user.remember(BUDGET)
        embeddings.error = ModelError("down")
        assert BUDGET in (await user.context("What's my budget for the trip?")).text
    assert ("WARNING", "Embedding of a query failed, searching by text only: down") in levels(caplog)


@pytest.mark.req("S0-081", "S0-082", "S0-050")
@pytest.mark.parametrize("retryable", [True, False])
async def test_an_extraction_that_fails_stores_nothing(caplog: pytest.LogCaptureFixture, retryable: bool):
    down = ModelError("Extraction parse failed" if not retryable else "503", retryable=retryable)
    chat = ScriptedChat(lambda task, call: down if task == "extract" and (call == 1 or not retryable) else None)
    async with AsyncMemory.local(chat_model=chat, cadence=NEVER) as memory:
        thread = memory.user("user_456").thread("t")
        await thread.add("user", "fact: budget=10,000 dollars for Hawaii")
        if retryable:
            with suppress(ModelError):
                await thread.process("extract")
            await thread.process("extract")
            assert len(await memory.user("user_456").memories(types=["fact"])) == 1  # not skipped but made up for
        else:
            assert (await thread.process("extract")).dead_letters == 1
            assert await memory.user("user_456").memories(types=["fact"]) == []
            (letter,) = await memory.dead_letters()
            assert "Extraction parse failed" in letter.error
        # The talk is found whatever becomes of the extraction.
        assert "10,000" in (await memory.user("user_456").context("What's my budget for Hawaii?")).text


@pytest.mark.req("S0-084", "S0-085", "S0-008")
async def test_the_log_has_the_figures_for_tuning_a_threshold(memory: AsyncMemory, caplog: pytest.LogCaptureFixture):
    user = memory.user("user_456")
    kept = await user.remember(BUDGET)
    with caplog.at_level(logging.DEBUG, "agent_memory"):
        (hit,) = await user.search("What's my budget for the trip?")
        await user.context("What's my budget for the trip?")
    line = f"Memory: hit 1 {kept.id} similarity {hit.similarity:.3f} score {hit.score:.3f}"
    assert ("DEBUG", line) in levels(caplog)
    assert ("INFO", "Memory: Retrieved 1 memories") in levels(caplog)
    assert not any("10,000" in message for message in caplog.messages)
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "agent_memory"):
        await memory.user("bob").context("Which catastrophes happened?")
    assert ("DEBUG", "No memories above threshold") in levels(caplog)


def levels(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage()) for record in caplog.records]


# Section 6: deduplication.


@pytest.mark.req("S0-052", "S0-054")
@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        ("My budget for Hawaii is $10,000.", "My budget for Hawaii is now $15,000.", ["15,000"]),
        # As near as 0.9, and yet of two trips: a figure of the cosine alone would have replaced one by the other.
        ("My budget for the Hawaii trip is $10,000.", "My budget for the Iceland trip is $9,000.", ["10,000", "9,000"]),
    ],
)
async def test_an_update_replaces_and_what_is_only_near_does_not(
    memory: AsyncMemory, first: str, second: str, left: list[str]
):
    user = memory.user("user_456")
    for number, said in enumerate((first, second)):
        await user.thread(f"t{number}").add("user", said)
        await user.thread(f"t{number}").process("extract")
    await user.process("reconcile")
    contents = sorted(one.content for one in await user.memories(types=["fact"]))
    assert len(contents) == len(left), contents
    assert all(any(figure in content for content in contents) for figure in left), contents


# Section 14: context compression, and what is counted.


@pytest.mark.acceptance
@pytest.mark.req("S0-098", "S0-100")
@pytest.mark.parametrize("turns", [200, 1000])
async def test_a_context_stays_within_650_tokens_however_long_the_session(turns: int):
    async with AsyncMemory.local(cadence=NEVER, embedding_model=HashingEmbeddings()) as memory:
        thread = memory.user("user_456").thread("long")
        said = "Then we looked at the {} hotel on Maui, which has a pool and a view of the sea."
        await thread.add_many([{"role": ("user", "assistant")[n % 2], "content": said.format(n)} for n in range(turns)])
        await memory.user("user_456").remember(BUDGET)
        await thread.process("summarize")
        told = await thread.context("What's my budget for the trip?")
        assert 0 < told.tokens <= 650
        assert "$10,000" in str(told.messages)
        recent = [message["content"] for message in told.messages[1:]]
        assert recent == [said.format(n) for n in range(turns - 5, turns)]
        for n in range(30):
            await memory.user("user_456").remember(f"The budget for day {n} of the trip is ${n + 100}, with all meals.")
        told = await thread.context("What's my budget for the trip?")
        assert 600 < told.tokens <= 650


@pytest.mark.req("S0-102", "S0-068")
async def test_what_is_recalled_is_counted_where_the_environment_says_so(monkeypatch: pytest.MonkeyPatch):
    for name, counted in (("false", 0), ("true", 1)):
        monkeypatch.setenv("AGENT_MEMORY_RECALL_COUNT_USES", name)
        async with AsyncMemory.local(cadence=NEVER, recall=Environment().recall) as memory:
            store = memory.user("user_456")
            kept = await store.remember(BUDGET)
            await store.search("What's my budget for the trip?")
            await memory.runtime.uses.flush()
            uses = await read_uses(memory.runtime.store, "user_456")
            assert uses.of(kept).access_count == counted
            async with client_of(memory) as client:
                client.headers["x-user-id"] = "user_456"
                assert (await client.get(f"/v1/memory/{kept.id}")).json()["access_count"] == counted


@pytest.mark.req("S0-076", "S0-049")
def test_the_limits_of_the_role_that_rewrites_are_those_of_the_document():
    prompts = PromptFolder()
    wanted = prompts.load(QUERY_REWRITE.name).parameters
    assert (wanted.timeout, wanted.max_tokens, wanted.temperature) == (30, 100, 0.1)
    assert prompts.load(EXTRACT.name).parameters.temperature == 0.1
