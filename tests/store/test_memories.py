"""Memories given, read, corrected; and the store that holds them."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from azure.cosmos import CosmosClient
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ConfigurationError, Conflict, InvalidInput, NotFound
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded
from agent_memory.models import iso
from agent_memory.store.containers import MEMORIES, container_specs
from embedded_cosmos import AsyncTransport, Engine, SyncTransport


@pytest.mark.req("S0-058", "S0-060", "S0-061", "S1-04")
async def test_remember_get_update_and_history(memory: AsyncMemory):
    alice = memory.user("alice")
    first = await alice.remember("Allergic to peanuts", kind="fact", tags=["health"])
    assert await alice.get(first.id) == first
    assert (await alice.remember("allergic to  PEANUTS")).id == first.id
    second = await alice.update(first.id, content="Allergic to peanuts and cashews", reason="the test came back")
    assert second.id != first.id
    assert second.metadata == {"edit_reason": "the test came back"}
    assert [m.content for m in await alice.memories()] == ["Allergic to peanuts and cashews"]
    old, new = await alice.history(first.id)
    assert (old.superseded_by, old.supersede_reason, old.valid_to) == (new.id, "update", new.valid_from)
    hits = await alice.search("cashews")
    assert [hit.memory.id for hit in hits] == [second.id]  # found by its new words
    again = await alice.update(first.id, content="Allergic to peanuts and cashews ", reason="the test came back")
    assert again.id == second.id, "its answer may have been lost"
    assert len(await alice.history(first.id)) == 2
    for other in ({"content": "something else"}, {"content": second.content}, {"pinned": True}):
        with pytest.raises(Conflict):
            await alice.update(first.id, **other)
    with pytest.raises(InvalidInput):
        await alice.update(second.id, content=" ")
    third = await alice.update(second.id, content="Allergic to cashews")
    assert third.metadata == {}, "the reason was that of the version before"
    with pytest.raises(NotFound):
        await alice.get("fact_none")


@pytest.mark.req("S0-105")
async def test_if_two_correct_a_memory_at_once_one_gets_a_conflict(memory: AsyncMemory):
    alice = memory.user("alice")
    first = await alice.remember("Allergic to peanuts")
    outcomes = await asyncio.gather(
        *(alice.update(first.id, content=f"Allergic to {nuts}") for nuts in ("cashews", "almonds")),
        return_exceptions=True,
    )
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict", "Memory"]
    assert len(await alice.memories()) == 1


async def test_a_merge_is_not_taken_for_a_correction_that_is_repeated(memory: AsyncMemory):
    alice = memory.user("alice")
    first, _ = [await alice.remember(f"code word={word}") for word in ("Lis-bon", "Lisbon")]
    assert (await alice.process("reconcile")).counts["merged"] == 2
    (merged,) = await alice.memories()
    with pytest.raises(Conflict, match="was replaced"):
        await alice.update(first.id, content=merged.content)


async def test_the_same_words_at_the_same_time_are_one_memory(memory: AsyncMemory):
    alice = memory.user("alice")
    made = await asyncio.gather(*(alice.remember("Allergic to peanuts") for _ in range(5)))
    assert len({one.id for one in made}) == 1
    corrected = await alice.update(made[0].id, content="Allergic to walnuts")
    again = await alice.remember("Allergic to peanuts")  # whose id the earlier version has
    assert again.id not in (made[0].id, corrected.id)
    assert sorted(one.content for one in await alice.memories()) == ["Allergic to peanuts", "Allergic to walnuts"]
    bob = memory.user("bob")
    await bob.forget((await bob.remember("Likes tea")).id)
    assert (await bob.remember("Likes tea")).content == (await bob.memories())[0].content


async def test_a_fact_and_a_procedure_with_the_same_words_at_the_same_time_are_one_memory(memory: AsyncMemory):
    alice = memory.user("alice")
    rule = "Write the commit message in English"
    made = await asyncio.gather(alice.remember(rule), alice.remember(rule, type="procedural"), alice.remember(rule))
    assert len({one.id for one in made}) == 1
    assert [one.content for one in await alice.memories()] == [rule]


@pytest.mark.req("S0-105")
async def test_a_correction_does_not_replace_what_somebody_else_pinned_or_changed_meanwhile(
    local: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    alice = local.user("alice")
    first = await alice.remember("Allergic to peanuts")
    embed = HashingEmbeddings.embed

    async def embed_slowly(model: HashingEmbeddings, texts: list[str]) -> Embedded:
        monkeypatch.setattr(HashingEmbeddings, "embed", embed)
        await alice.update(first.id, pinned=True)
        return await embed(model, texts)

    monkeypatch.setattr(HashingEmbeddings, "embed", embed_slowly)
    with pytest.raises(Conflict):
        await alice.update(first.id, content="Allergic to cashews")
    (kept,) = await alice.memories()
    assert (kept.content, kept.pinned) == ("Allergic to peanuts", True)


@pytest.mark.req("S1-35")
async def test_a_memory_that_says_that_nothing_replaced_it_is_found(local: AsyncMemory):
    """Another program may write the field as null, where this one leaves it out."""
    alice, store = local.user("alice"), local.runtime.store
    kept = await alice.remember("The cat is called Tom")
    document = await store.read(MEMORIES, kept.id, ("alice", kept.thread_id))
    assert document is not None
    assert "superseded_by" not in document
    await store.upsert(MEMORIES, document | {"superseded_by": None})
    assert [one.id for one in await alice.memories()] == [kept.id]
    assert [hit.memory.id for hit in await alice.search("the cat Tom")] == [kept.id]


@pytest.mark.req("S1-20")
async def test_memories_by_thread_and_type(memory: AsyncMemory):
    alice = memory.user("alice")
    for thread in ("t1", "t2"):
        await alice.thread(thread).add("user", f"fact: said in={thread}, and only there")
        await alice.thread(thread).process("extract")
    assert [m.content for m in await alice.thread("t1").memories()] == ["said in=t1, and only there"]
    assert len(await alice.memories(types=["fact"])) == 2
    assert len(await alice.memories(types=["semantic"])) == 2
    assert await alice.memories(types=["procedural"]) == []
    with pytest.raises(InvalidInput, match="wish"):
        await alice.memories(types=["wish"])


@pytest.mark.req("S0-059", "S1-23", "S1-24")
async def test_search_ranks_by_words_and_vectors_and_says_why(memory: AsyncMemory):
    alice = memory.user("alice")
    for content in ("The cat is called Tom", "Works at a bakery in Porto", "Prefers window seats on trains"):
        await alice.remember(content)
    hits = await alice.search("what is my cat called?", limit=2)
    assert hits[0].memory.content == "The cat is called Tom"
    assert set(hits[0].why) >= {"text", "vector"}
    assert hits[0].similarity is not None
    assert 0 < hits[0].similarity <= 1
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for bad in ("", "  "):
        with pytest.raises(InvalidInput):
            await alice.search(bad)
    with pytest.raises(InvalidInput):
        await alice.search("cat", limit=0)


@pytest.mark.req("S0-002", "S0-087", "S1-61")
async def test_a_file_outlives_the_process_and_ram_does_not(tmp_path: Path):
    for path, kept in ((tmp_path / "m.db", 1), (None, 0)):
        for _ in range(2):
            async with AsyncMemory.local(
                path, chat_model=ScriptedChat(), embedding_model=HashingEmbeddings()
            ) as memory:
                found = await memory.user("alice").memories()
                await memory.user("alice").remember("Lives in Lisbon")
        assert len(found) == kept


@pytest.mark.req("S1-50", "S1-51", "S1-52", "S1-53", "S1-54", "S1-55", "S1-56", "S1-40")
async def test_a_new_store_has_five_containers_with_their_keys_and_policies(tmp_path: Path):
    path = str(tmp_path / "m.db")
    async with AsyncMemory.local(path, chat_model=ScriptedChat(), embedding_model=HashingEmbeddings()) as memory:
        await memory.create_memory_store()  # again: harmless
    with Engine(path) as engine:
        client = CosmosClient(engine.url, engine.credential, transport=SyncTransport(engine))
        database = client.get_database_client("ai_memory")
        found = {item["id"]: item for item in database.list_containers()}
        assert {name: tuple(item["partitionKey"]["paths"]) for name, item in found.items()} == {
            spec.name: spec.partition_key_paths for spec in container_specs()
        }
        memories = found["memories"]
        assert memories["vectorEmbeddingPolicy"]["vectorEmbeddings"][0]["dimensions"] == 384
        assert memories["fullTextPolicy"]["fullTextPaths"][0]["path"] == "/content"
        assert {"path": "/*"} in memories["indexingPolicy"]["includedPaths"]
        excluded = {path["path"] for path in memories["indexingPolicy"]["excludedPaths"]}
        assert not any(path.startswith(("/created_at", "/*")) for path in excluded)
        assert list(client.client_connection.ReadOffers()) == []  # serverless: no throughput was sent


@pytest.mark.req("S1-57")
async def test_autoscale_is_set_on_all_five_containers():
    with Engine(None) as engine:
        async with AsyncMemory(
            *_store(engine),
            chat_model=ScriptedChat(),
            embedding_model=HashingEmbeddings(),
            cadence=Cadence(),
            process="functions",
            provision=True,
            autoscale_max_ru=4000,
        ):
            client = CosmosClient(engine.url, engine.credential, transport=SyncTransport(engine))
            database = client.get_database_client("ai_memory")
            for spec in container_specs():
                throughput = database.get_container_client(spec.name).get_throughput()
                assert throughput.auto_scale_max_throughput == 4000


def _store(engine: Engine):
    from azure.cosmos.aio import CosmosClient as AsyncCosmosClient

    from agent_memory.store.client import Store

    return (
        Store(
            lambda: AsyncCosmosClient(engine.url, engine.credential, transport=AsyncTransport(engine)),
            "ai_memory",
            name="test",
        ),
    )


@pytest.mark.req("S0-010", "S0-065")
async def test_a_store_of_another_embedding_model_is_refused(tmp_path: Path):
    path = tmp_path / "m.db"
    memory = AsyncMemory.local(path, chat_model=ScriptedChat(), embedding_model=HashingEmbeddings())
    assert not memory.enabled
    async with memory:
        assert memory.enabled
    assert not memory.enabled

    class Other(HashingEmbeddings):
        model_id = "other"

    class Wider(HashingEmbeddings):
        dimensions = 512

    for other, message in ((Other(), "384 dimensions, made by hashing-384"), (Wider(), "hashing-384 makes 512")):
        with pytest.raises(ConfigurationError, match=message):
            async with AsyncMemory.local(path, chat_model=ScriptedChat(), embedding_model=other):
                pass


async def test_a_foreign_file_is_refused(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but somebody's notes" * 100)
    with pytest.raises(ConfigurationError, match=r"notes\.txt"):
        AsyncMemory.local(path, chat_model=ScriptedChat(), embedding_model=HashingEmbeddings())
    assert path.read_text().startswith("not a database")


async def test_validity_can_be_given(memory: AsyncMemory):
    alice = memory.user("alice")
    january = datetime(2026, 1, 1, tzinfo=UTC)
    await alice.remember("Works at Contoso", valid_from=january)
    assert len(await alice.memories(as_of=datetime(2026, 2, 1, tzinfo=UTC))) == 1
    assert await alice.memories(as_of=datetime(2025, 12, 1, tzinfo=UTC)) == []


async def test_a_new_version_holds_though_the_one_before_it_had_an_end(local: AsyncMemory):
    alice = local.user("alice")
    fact = await alice.remember("Works at Contoso")
    end = {"valid_to": iso(fact.created_at + timedelta(days=1))}
    await local.runtime.store.patch(MEMORIES, fact.id, ("alice", fact.thread_id), end, "FROM c WHERE true")
    assert (await alice.update(fact.id, content="Works at Fabrikam")).valid_to is None


async def test_ids_that_end_with_a_space_take_no_turns_and_can_be_erased(local: AsyncMemory):
    for user, thread, turn in (("ann ", "t", "1"), ("ann", "t ", "1"), ("ann", "t", "1 ")):
        with pytest.raises(InvalidInput, match="end with a space"):
            await local.user(user).thread(thread).add("user", "hello", id=turn)
    with pytest.raises(InvalidInput, match="end with a space"):
        await local.user("ann ").remember("The door is green")
    assert await local.user("ann ").memories() == []
    await local.user("ann ").forget(everything=True)
