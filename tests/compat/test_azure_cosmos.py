"""Every method of `azure-cosmos-agent-memory`, on this memory, with both clients."""

import inspect
import json
from datetime import UTC, datetime

import pytest

from agent_memory import AsyncMemory, Cadence, ConfigurationError, InvalidInput, NotFound
from agent_memory.compat.azure_cosmos import AsyncCosmosMemoryClient, CosmosMemoryClient, ProcessThreadResult, migrate
from agent_memory.language.hashing import HashingEmbeddings

NEVER = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
METHODS = set(
    """add_local get_local update_local delete_local close connect_cosmos create_memory_store validate_topology
    upsert_memory push_to_cosmos get_memories update_cosmos delete_memory delete_turn delete_thread_summary
    delete_user_summary delete_thread search_cosmos search_summaries search_turns get_memory_history get_thread
    get_thread_summary get_episodes get_user_summary list_tags add_tags remove_tags get_procedural_prompt
    get_procedural_history get_procedural_memories search_episodic_memories retrieve_procedures
    build_procedural_context build_episodic_context extract_memories extract_episodes synthesize_procedural
    generate_thread_summary generate_user_summary reconcile process_now process_now_and_wait""".split()
)
"""The public methods of its 0.3.0b2."""
U, T = "alice", "t1"


@pytest.fixture
async def client():
    async with (
        AsyncMemory.local(embedding_model=HashingEmbeddings(), cadence=NEVER) as memory,
        AsyncCosmosMemoryClient(memory=memory) as made,
    ):
        await made.create_memory_store()
        yield made


async def talk(client: AsyncCosmosMemoryClient) -> list[str]:
    said = [
        ("user", "I prefer aisle seats, and I live in Lisbon.", datetime(2026, 3, 1, tzinfo=UTC)),
        ("assistant", "Noted.", datetime(2026, 3, 2, tzinfo=UTC)),
        ("user", "To deploy, run make release and then push the tag.", datetime(2026, 3, 3, tzinfo=UTC)),
    ]
    return [
        await client.upsert_memory(U, role, content, thread_id=T, tags=["trip"], metadata={"n": n}, created_at=at)
        for n, (role, content, at) in enumerate(said)
    ]


def test_both_clients_have_every_method():
    for kind in (AsyncCosmosMemoryClient, CosmosMemoryClient):
        assert {name for name in METHODS if not callable(getattr(kind, name, None))} == set()
    assert "task" in inspect.signature(CosmosMemoryClient.build_procedural_context).parameters
    assert "include_episodes" in inspect.signature(AsyncCosmosMemoryClient.search_cosmos).parameters


async def test_turns_come_back_as_documents(client):
    ids = await talk(client)
    turns = await client.get_thread(T, U)
    assert [one["id"] for one in turns] == ids
    assert [one["role"] for one in turns] == ["user", "agent", "user"]
    assert (turns[0]["type"], turns[0]["tags"], turns[0]["metadata"]) == ("turn", ["trip"], {"n": 0})
    assert [one["id"] for one in await client.get_thread(T, U, recent_k=1)] == ids[2:]
    assert [one["id"] for one in await client.get_thread(T, U, created_after="2026-03-02")] == ids[1:]
    assert await client.get_thread(T, U, tags_any=["other"]) == []
    assert await client.list_tags(U, prefix="tr") == ["trip"]
    [found] = await client.get_memories(user_id=U, memory_types=["turn"], role="assistant")
    assert found["content"] == "Noted."
    await client.delete_turn(ids[1], user_id=U, thread_id=T)
    assert len(await client.get_thread(T, U)) == 2
    assert await client.delete_thread(U, T) == 2
    assert await client.get_thread(T, U) == []


async def test_everything_is_processed_and_read(client):
    await talk(client)
    result = await client.process_now(user_id=U, thread_id=T)
    assert isinstance(result, ProcessThreadResult)
    assert result.extracted_counts["fact_count"] >= 2
    assert result.thread_summary["id"] == f"summary_{U}_{T}"
    assert result.user_summary["id"] == f"user_summary_{U}"
    assert await client.process_now_and_wait(user_id=U, thread_id=T)
    [best, *_] = await client.search_cosmos("Which seat?", user_id=U, memory_types=["fact"], min_confidence=0.1)
    assert "aisle" in best["content"]
    assert (best["type"], best["memory_type"], best["user_id"]) == ("fact", "fact", U)
    assert best["similarity_score"] is not None
    assert await client.search_cosmos("Which seat?", user_id="bob") == []
    everything = await client.search_cosmos("aisle seats", user_id=U, include_turns=True, include_summaries=True)
    assert {"fact", "turn", "thread_summary"} <= {one["type"] for one in everything}
    [turn, *_] = await client.search_turns("aisle seats", U, T)
    assert "aisle" in turn["content"]
    assert (await client.get_thread_summary(U, T))[0]["type"] == "thread_summary"
    assert (await client.search_summaries("aisle", U))[0]["thread_id"] == T
    assert "Lisbon" in (await client.get_user_summary(U))["content"]
    await client.extract_episodes(U, T, flush=True)
    assert (await client.get_episodes(U))[0]["type"] == "episodic"
    assert (await client.search_episodic_memories(U, "aisle seats Lisbon"))[0]["type"] == "episodic"
    assert "aisle" in await client.build_episodic_context(U, "aisle seats Lisbon")
    assert (await client.extract_episodes(U, T)) == {"episodes": 0}
    assert await client.extract_memories(U, T) | {"fact_count": 0} == await client.extract_memories(U, T)
    assert (await client.reconcile(U))["merged"] == 0
    assert (await client.synthesize_procedural(U))["status"] == "unchanged"
    assert (await client.generate_thread_summary(U, T))["type"] == "thread_summary"
    assert (await client.generate_user_summary(U))["type"] == "user_summary"
    assert await client.delete_thread_summary(U, T)
    assert not await client.delete_thread_summary(U, T)
    assert await client.delete_user_summary(U)
    with pytest.raises(NotFound):
        await client.delete_memory("x", user_id=U, thread_id=T, memory_type="user_summary")


async def test_procedures_are_listed_searched_and_recalled(client):
    await talk(client)
    await client.extract_memories(U, T)
    [procedure] = await client.get_procedural_memories(U)
    assert "make release" in procedure["content"]
    assert [one["id"] for one in await client.retrieve_procedures(U, "How do I deploy?")] == [procedure["id"]]
    assert await client.retrieve_procedures(U, "How do I deploy?", scope_type="agent") == []
    assert "make release" in await client.build_procedural_context(U, "How do I deploy?")
    assert "make release" in await client.get_procedural_prompt(U)
    assert await client.build_procedural_context("bob") == ""
    assert len(await client.get_procedural_history(U)) == 1


async def test_a_fact_is_written_corrected_and_deleted(client):
    fact = await client.upsert_memory(U, "user", "Drinks tea", "fact", {"category": "preference"}, salience=0.9)
    await client.update_cosmos(fact, user_id=U, thread_id=T, memory_type="fact", content="Drinks coffee")
    [now] = await client.get_memories(user_id=U)
    assert (now["content"], now["metadata"]["category"]) == ("Drinks coffee", "preference")
    assert [one["content"] for one in await client.get_memory_history(now["id"], U)] == ["Drinks tea"]
    assert len(await client.get_memories(user_id=U, include_superseded=True)) == 2
    assert await client.get_memories(user_id=U, min_salience=0.99) == []
    await client.delete_memory(now["id"], user_id=U, thread_id=T, memory_type="fact")
    assert await client.get_memories(user_id=U) == []


async def test_a_memory_gets_and_loses_tags_and_metadata(client):
    fact = await client.upsert_memory(U, "user", "Drinks tea", "fact", {"category": "preference"})
    place = {"user_id": U, "thread_id": T, "memory_type": "fact"}
    await client.add_tags(fact, **place, tags=["drinks", "home"])
    await client.add_tags(fact, **place, tags=["home", "tea"])
    await client.remove_tags(fact, **place, tags=["drinks"])
    await client.update_cosmos(fact, **place, metadata={"cups": 2})
    [now] = await client.get_memories(user_id=U, tags_all=["home", "tea"])
    assert (now["id"], now["tags"], now["metadata"]) == (fact, ["home", "tea"], {"cups": 2, "category": "preference"})


async def test_the_local_list_is_pushed_once(client):
    client.add_local(U, "user", "I live in Lisbon.", thread_id=T, tags=["a"])
    client.add_local(U, "assistant", "Noted.", thread_id=T)
    client.update_local(client.local_memory[1]["id"], content="Fine.")
    assert [one["content"] for one in client.get_local(role="assistant")] == ["Fine."]
    copy = [dict(one) for one in client.local_memory]
    await client.push_to_cosmos()
    assert client.local_memory == []
    client.local_memory.extend(copy)
    await client.push_to_cosmos()
    assert [one["content"] for one in await client.get_thread(T, U)] == ["I live in Lisbon.", "Fine."]
    with pytest.raises(NotFound):
        client.delete_local(copy[0]["id"])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda c: c.search_cosmos("x"), "user_id"),
        (lambda c: c.get_memories(), "user_id"),
        (lambda c: c.get_thread(T), "user_id"),
        (lambda c: c.upsert_memory(U, "user", "x"), "thread_id"),
        (lambda c: c.upsert_memory(U, "user", "x", "procedural"), "derived"),
        (lambda c: c.upsert_memory(U, "user", "x", thread_id=T, ttl=3), "ttl"),
        (lambda c: c.upsert_memory(U, "user", "x", thread_id=T, embedding=[1.0]), "embedding"),
        (lambda c: c.add_tags("i", U, T, "turn", ["a"]), "never changes"),
        (lambda c: c.remove_tags("i", U, T, "turn", ["a"]), "never changes"),
        (lambda c: c.update_cosmos("i", user_id=U, thread_id=T, memory_type="turn", content="x"), "never changes"),
        (lambda c: c.delete_thread(U, T, include_summary=False), "summary"),
        (lambda c: c.get_thread(T, U, created_after="soon"), "not a time"),
    ],
)
async def test_methods_that_are_not_supported_say_so(client, call, said):
    await talk(client)
    with pytest.raises(InvalidInput, match=said):
        await call(client)


def test_arguments_that_cannot_be_kept_are_refused():
    with pytest.raises(ConfigurationError, match="memories_turns"):
        AsyncCosmosMemoryClient(cosmos_turns_container="mine")
    with pytest.raises(ConfigurationError, match="processor"):
        AsyncCosmosMemoryClient(processor=object())
    with pytest.raises(ConfigurationError, match="0 or more"):
        AsyncCosmosMemoryClient(cadence_thresholds={"DEDUP_EVERY_N": -1})
    with CosmosMemoryClient() as client, pytest.raises(ConfigurationError, match="cosmos_endpoint"):
        client.get_thread(T, U)


def test_the_synchronous_client_connects_with_its_own_models_over_http():
    from embedded_cosmos import Engine
    from embedded_cosmos.server import LoopbackServer

    class Vectors:
        def generate_batch(self, texts):
            return [[1.0, float(len(text))] for text in texts]

    class Chat:
        def generate(self, messages, **parameters):
            return "{}"

    with (
        Engine() as engine,
        LoopbackServer(engine) as server,
        CosmosMemoryClient(
            cosmos_endpoint=server.url,
            cosmos_key=server.key,
            embedding_dimensions=2,
            embeddings_client=Vectors(),
            chat_client=Chat(),
            use_default_credential=False,
            cadence_thresholds={"FACT_EXTRACTION_EVERY_N": 0, "THREAD_SUMMARY_EVERY_N": 0},
        ) as client,
    ):
        client.create_memory_store()
        client.validate_topology()
        client.upsert_memory(U, "user", "I live in Lisbon.", thread_id=T)
        assert [one["content"] for one in client.get_thread(T, U)] == ["I live in Lisbon."]
        client.connect_cosmos()
        assert len(client.get_thread(T, U)) == 1


WRITTEN = {
    "memories_turns": [
        {"id": "2d7ef944-97ad-4585-b986-850a3bb0ed3a", "user_id": "dana", "thread_id": "trip", "role": "user",
         "type": "turn", "content": "I live in Porto and prefer window seats.", "metadata": {},
         "created_at": "2026-05-04T09:00:00+00:00", "tags": ["travel"], "supersedes_ids": [], "source_memory_ids": [],
         "source_fact_ids": [], "source_episodic_ids": [], "ttl": 2592000,
         "extracted_at": "2026-11-23T12:04:03.561381+00:00"},
        {"id": "18489eb4-cc5c-4874-bff3-eb19334700bc", "user_id": "erik", "thread_id": "home", "role": "user",
         "type": "turn", "content": "My bike is in the blue shed.", "metadata": {},
         "created_at": "2026-05-05T09:00:00+00:00", "tags": [], "ttl": 2592000},
    ],
    "memories": [
        {"id": "fact_de2519e4-1ba9-4c5a-a554-84f425ae1f1f", "user_id": "dana", "thread_id": "trip", "role": "user",
         "type": "fact", "content": "Dana prefers window seats.", "metadata": {"category": "unclassified:manual"},
         "created_at": "2026-11-20T12:04:03.601820+00:00", "tags": ["travel"], "salience": 0.7, "confidence": 0.5,
         "content_hash": "6dfce7d1ede67396231cbe87007ebb02", "supersedes_ids": [], "source_memory_ids": [],
         "prompt_id": "manual:add", "prompt_version": "v1", "embedding": [1.0, 0.0]},
        {"id": "episode_cursor_dana_trip", "user_id": "dana", "thread_id": "trip", "type": "episode_cursor"},
    ],
}  # fmt: skip
"""What its 0.3.0b2 wrote when it ran on the embedded engine, but for one date."""


def their_database(url: str, key: str, without: str = "") -> None:
    from azure.cosmos import CosmosClient, PartitionKey

    database = CosmosClient(url, key).create_database("ai_memory")
    for name, written in WRITTEN.items():
        if name == without:
            continue
        made = database.create_container(name, PartitionKey(path=["/user_id", "/thread_id"], kind="MultiHash"))
        for document in written:
            made.create_item(document)


def test_a_database_that_it_wrote_is_taken_over_once(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from agent_memory import Memory
    from agent_memory.cli.main import app
    from embedded_cosmos import Engine
    from embedded_cosmos.server import LoopbackServer

    path = str(tmp_path / "new.db")
    with Engine() as engine, LoopbackServer(engine) as server:
        their_database(server.url, server.key)
        monkeypatch.setenv("AGENT_MEMORY_EMBEDDINGS", "local:hashing")
        monkeypatch.setenv("COSMOS_DB_KEY", server.key)
        call = ["import", server.url, "--from", "azure-cosmos-agent-memory", "--store", path, "--json"]
        first, second = (CliRunner().invoke(app, call) for _ in range(2))
        assert first.exit_code == 0, first.output
        once, twice = json.loads(first.stdout), json.loads(second.stdout)
    assert once["dana"]["created"] == twice["dana"]["existing"] == {"memory": 1, "turn": 1}
    assert once["erik"]["created"] == {"turn": 1}
    assert twice["dana"]["created"] == {}
    with Memory.local(path, embedding_model=HashingEmbeddings()) as memory:
        dana = memory.user("dana")
        [turn] = dana.thread("trip").turns()
        assert (turn.id, turn.metadata["tags"]) == ("2d7ef944-97ad-4585-b986-850a3bb0ed3a", ["travel"])
        [fact] = dana.memories(types=["fact"])
        assert (fact.content, fact.confidence, fact.importance) == ("Dana prefers window seats.", 0.5, 0.7)
        assert dana.search("window seats")[0].similarity is not None


async def test_a_database_of_something_else_is_refused():
    from azure.cosmos.aio import CosmosClient

    from embedded_cosmos import Engine
    from embedded_cosmos.server import LoopbackServer

    with Engine() as engine, LoopbackServer(engine) as server:
        their_database(server.url, server.key, without="memories")
        async with (
            CosmosClient(server.url, server.key) as theirs,
            AsyncMemory.local(embedding_model=HashingEmbeddings(), cadence=NEVER) as memory,
        ):
            with pytest.raises(NotFound, match="no container memories"):
                await migrate(memory, theirs)
