"""The `Store` operations do what the document of agentic memory says, for one user at a time."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import ValidationError
from scripted_model import ScriptedChat

from agent_memory import Cadence, Memory
from agent_memory.compat.store import MemoryScope, MemoryStore, RetrieveOptions, StoredMemory
from agent_memory.errors import InvalidInput, NotFound, StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings

QUIET = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)


def opened(path: Path | None = None) -> Memory:
    return Memory.local(path, chat_model=ScriptedChat(), embedding_model=HashingEmbeddings(), cadence=QUIET)


@pytest.fixture
def store() -> Iterator[MemoryStore]:
    made = MemoryStore(opened())
    yield made
    made.close()


def kept(store: MemoryStore, content: str, user_id: str = "alice", **fields: object) -> str:
    return store.store(StoredMemory.model_validate({"user_id": user_id, "content": content, **fields}))


def found(store: MemoryStore, query: str, user_id: str = "alice", **options: object) -> list[str]:
    wanted = RetrieveOptions.model_validate({"user_id": user_id, "query": query, **options})
    return [result.memory.content for result in store.retrieve(wanted)]


@pytest.mark.req("S0-058", "S0-060", "S0-013")
@pytest.mark.parametrize("durable", [False, True])
def test_a_memory_is_stored_and_got_by_id(tmp_path: Path, durable: bool):
    store = MemoryStore(opened(tmp_path / "m.db" if durable else None))
    id = kept(
        store, "Deploy with npm run build.", type="procedural", project_id="shop", source="manual", importance=0.9
    )
    memory = store.get("alice", id)
    assert memory.model_dump(exclude={"created_at"}) == {
        "id": id,
        "user_id": "alice",
        "content": "Deploy with npm run build.",
        "type": "procedural",
        "project_id": "shop",
        "source": "manual",
        "access_count": 0,
        "importance": 0.9,
    }
    assert kept(store, "Deploy with npm run build.", type="procedural") == id
    with pytest.raises(NotFound):
        store.get("bob", id)
    store.close()


@pytest.mark.req("S0-068")
def test_what_was_learned_from_a_conversation_says_so():
    memory = opened()
    memory.user("alice").thread("t1", project_id="trip").add("user", "fact: budget=Hawaii for $10,000")
    memory.user("alice").thread("t1").process("extract")
    (result,) = MemoryStore(memory).retrieve(
        RetrieveOptions(user_id="alice", query="Hawaii budget", types=["semantic"])
    )
    shown = result.memory.model_dump(exclude={"id", "created_at", "importance"})
    assert shown == {
        "user_id": "alice",
        "content": "budget=Hawaii for $10,000",
        "type": "semantic",
        "project_id": "trip",
        "source": "conversation",
        "access_count": 0,
    }
    assert result.memory.created_at is not None
    memory.close()


@pytest.mark.req("S0-059", "S0-022", "S0-037", "S0-038")
def test_memories_are_retrieved_by_meaning_within_a_limit_a_threshold_a_type_and_a_project(store: MemoryStore):
    kept(store, "The budget for the Hawaii trip is $10,000.", project_id="hawaii")
    kept(store, "The budget for the kitchen is $4,000.", project_id="kitchen")
    kept(store, "The Hawaii trip was planned on 29 December.", type="episodic")
    kept(store, "The Hawaii budget is a secret of Bob.", user_id="bob")
    query = "budget for the Hawaii trip"
    assert found(store, query)[0] == "The budget for the Hawaii trip is $10,000."
    assert len(found(store, query, limit=1)) == 1
    assert found(store, query, types=["episodic"]) == ["The Hawaii trip was planned on 29 December."]
    assert found(store, query, project_id="kitchen") == ["The budget for the kitchen is $4,000."]
    assert not any("Bob" in content for content in found(store, query))
    assert found(store, "zeppelin", threshold=0.99) == []
    for wrong in ({"limit": 0}, {"threshold": 2}, {"types": ["graph"]}):
        with pytest.raises(ValidationError):
            RetrieveOptions.model_validate({"user_id": "alice", "query": "x", **wrong})
    with pytest.raises(InvalidInput):
        found(store, "   ")


@pytest.mark.req("S0-037", "S0-075")
def test_five_memories_are_retrieved_if_no_limit_is_given(store: MemoryStore):
    for number in range(7):
        kept(store, f"The budget for trip {number} is ${number},000.")
    assert len(found(store, "budget for a trip")) == 5
    assert len(found(store, "budget for a trip", limit=6)) == 6


@pytest.mark.req("S0-109")
def test_each_result_has_its_similarity_as_score(store: MemoryStore):
    kept(store, "The budget for the Hawaii trip is $10,000.")
    kept(store, "The budget for the kitchen is $4,000.")
    results = store.retrieve(RetrieveOptions(user_id="alice", query="The budget for the Hawaii trip is $10,000."))
    assert results[0].score == pytest.approx(1.0, abs=1e-6)
    assert all(0 <= one.score <= 1 and one.score == pytest.approx(one.similarity, abs=1e-6) for one in results)
    ranks = [one.rank_score for one in results]
    assert ranks == sorted(ranks, reverse=True)


@pytest.mark.req("S0-061")
def test_an_update_is_found_by_its_new_words_and_not_by_the_old(store: MemoryStore):
    id = kept(store, "The favourite colour is blue.")
    newer = store.update("alice", id, "The favourite dish is ramen.")
    assert store.get("alice", newer).content == "The favourite dish is ramen."
    assert found(store, "favourite dish ramen") == ["The favourite dish is ramen."]
    assert found(store, "colour blue") == []
    with pytest.raises(NotFound):
        store.update("bob", newer, "mine")


@pytest.mark.req("S0-062", "S0-063", "S0-064")
def test_memories_are_forgotten_by_id_by_project_and_by_user(store: MemoryStore):
    one = kept(store, "Green tea is steeped for two minutes.", project_id="tea")
    kept(store, "Grandmother's samovar stands in the attic.", project_id="tea")
    kept(store, "Espresso wants nine bars of pressure.", project_id="coffee")
    other = kept(store, "Green tea is too bitter for Bob.", user_id="bob")
    with pytest.raises(NotFound):
        store.forget("bob", one)
    assert one in str(store.forget("alice", one).deleted)
    with pytest.raises(NotFound):
        store.get("alice", one)
    assert found(store, "samovar attic") == ["Grandmother's samovar stands in the attic."]
    assert store.forget_by_scope(MemoryScope(user_id="alice", project_id="tea")).total == 1
    assert "Grandmother's samovar stands in the attic." not in found(store, "samovar attic")
    assert found(store, "espresso pressure") == ["Espresso wants nine bars of pressure."]
    store.forget_by_scope(MemoryScope(user_id="alice"))
    assert found(store, "espresso pressure") == []
    assert store.get("bob", other).content == "Green tea is too bitter for Bob."


@pytest.mark.req("S0-065")
def test_a_store_says_whether_it_is_enabled_and_closes():
    store = MemoryStore(opened())
    assert store.is_enabled()
    store.close()
    store.close()
    assert not store.is_enabled()
    with pytest.raises(StoreUnavailable):
        store.get("alice", "x")


@pytest.mark.req("S0-013")
def test_many_threads_share_one_store(store: MemoryStore):
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda n: kept(store, f"Fact {n} of user {n % 4}.", user_id=f"u{n % 4}"), range(32)))
    assert len(set(ids)) == 32
    for n in range(4):
        contents = found(store, "Fact of user", user_id=f"u{n}", limit=50)
        assert sorted(contents) == sorted(f"Fact {m} of user {n}." for m in range(n, 32, 4))


@pytest.mark.req("S0-066", "S0-067")
def test_consolidation_and_reflection_run_on_demand(store: MemoryStore):
    kept(store, "The Hawaii budget is $10,000.")
    assert store.consolidate("alice").step == "consolidate"
    assert store.reflect("alice") == []


@pytest.mark.req("S0-058")
def test_the_time_that_a_memory_is_given_is_when_it_became_true(store: MemoryStore):
    january = datetime(2026, 1, 1, tzinfo=UTC)
    id = kept(store, "The budget is $10,000.", created_at=january)
    assert store._memory.user("alice").get(id).valid_from == january
