"""What the document of vLLM Semantic Router's agentic memory shows, typed as it stands there, with the default models.

Where the document has a language model answer, a scripted one gives what stands in the document.
"""

from collections.abc import AsyncIterator
from typing import Any

import httpx2 as httpx
import pytest
from api_world import client_of
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence, Memory
from agent_memory.compat.store import MemoryScope, MemoryStore, StoredMemory
from agent_memory.errors import ConfigurationError, InvalidInput, ModelError, NotFound
from agent_memory.language.answers import read_answer
from agent_memory.language.tasks import (
    CONSOLIDATE,
    Conclusion,
    ConsolidateInput,
    ConsolidateOutput,
    FactView,
    Group,
    Insight,
    ReflectInput,
    ReflectOutput,
)
from agent_memory.settings import Environment, PolicySettings, RecallSettings

SILENT = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
BUDGET = "My budget for the Hawaii trip is $10,000"


@pytest.fixture
async def memory() -> AsyncIterator[AsyncMemory]:
    async with AsyncMemory.local(cadence=SILENT) as opened:
        yield opened


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
    return MemoryStore(Memory.local(chat_model=_Merging(first), cadence=SILENT))


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
    store = MemoryStore(Memory.local(cadence=SILENT))
    for content in [*DEPLOYED, *CONFLICTS]:
        store.store(StoredMemory(user_id="user_123", content=content, project_id="deployment"))
    store.store(StoredMemory(user_id="user_123", content="Prefers docker-compose.", project_id="deployment"))
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
    assert everything >= {*told, "Comes up again and again: walks dog (3 times)."}
    store.close()


INSIGHTS = [
    "User frequently deploys payment-service (12 times)",
    "Common issue: port conflicts",
    "Preferred approach: docker-compose",
]


@pytest.mark.req("S0-067", "S0-020")
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
    store = MemoryStore(Memory.local(chat_model=chat, cadence=SILENT))
    said = [*DEPLOYED, *CONFLICTS, "Prefers docker-compose.", "Uses docker-compose for tests too."]
    for content in said:
        store.store(StoredMemory(user_id="user_123", content=content))
    assert sorted(one.content for one in store.reflect("user_123")) == sorted(INSIGHTS)
    store.close()


# Section 9: the request.

REQUEST = {
    "model": "qwen3",
    "input": "What's my budget for the trip?",
    "previous_response_id": "resp_abc123",
    "memory_config": {"enabled": True, "auto_store": True},
    "memory_context": {"user_id": "user_123"},
}


@pytest.mark.req("S0-070", "S0-071", "S0-072")
async def test_the_example_request(http: httpx.AsyncClient):
    await keep(http, BUDGET)
    told = (await http.post("/v1/memory/context", json=REQUEST)).json()
    assert BUDGET in told["text"]
    foreign = REQUEST | {"memory_context": {"user_id": "user_456"}}
    for path in ("search", "context", "exchanges"):
        assert (await http.post(f"/v1/memory/{path}", json=foreign)).status_code == 403


@pytest.mark.req("S0-070", "S0-038")
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
    cosines = sorted(hit["similarity"] for hit in await hits(retrieval_limit=20))
    assert len(await hits(retrieval_limit=20, similarity_threshold=cosines[3] + 1e-6)) == len(cosines) - 4
    assert await hits(enabled=False) == []
    assert len((await http.post("/v1/memory/search", json=asked)).json()["hits"]) == 5


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
    async with AsyncMemory.local(cadence=SILENT, policy=policy) as memory:
        alice = memory.user("alice")
        await alice.thread("t").add("user", "I live in Lisbon.")
        skipped = await alice.thread("t").process("extract")
        assert await alice.memories(types=["fact"]) == []
        assert skipped.skipped_reason == "memory is switched off by MEMORY_AUTO_STORE"
        await alice.remember(BUDGET)
        assert [hit.memory.content for hit in await alice.search("budget")] == [BUDGET]
    assert PolicySettings(auto_store=False) == policy


@pytest.mark.req("S0-038", "S0-075")
async def test_the_default_retrieval_limit_is_set_for_everybody(monkeypatch: pytest.MonkeyPatch):
    assert RecallSettings().limit == 5
    monkeypatch.setenv("AGENT_MEMORY_RECALL_LIMIT", "2")
    async with AsyncMemory.local(cadence=SILENT, recall=Environment().recall) as memory:
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
