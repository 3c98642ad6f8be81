"""How often a memory was recalled is counted if it is asked for, and counts where it should."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from store_scan import documents

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import Memory, iso, now
from agent_memory.settings import RecallSettings
from agent_memory.steps.prune import FIRST_DAYS
from agent_memory.store.containers import COUNTER, MEMORIES
from agent_memory.store.documents import Document
from agent_memory.store.memories import get_memory
from agent_memory.store.uses import MOST_KEPT, UseCounter, read_uses

NEVER = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)


def opened(**recall: float) -> AsyncMemory:
    settings = RecallSettings(**({"count_uses": True} | recall))
    return AsyncMemory.local(embedding_model=HashingEmbeddings(), cadence=NEVER, recall=settings)


def opened_at(path: Path) -> AsyncMemory:
    settings = RecallSettings(count_uses=True)
    return AsyncMemory.local(path, embedding_model=HashingEmbeddings(), cadence=NEVER, recall=settings)


@pytest.fixture
async def counting() -> AsyncIterator[AsyncMemory]:
    async with opened() as memory:
        yield memory


async def counted(memory: AsyncMemory, one: Memory) -> int:
    await memory.runtime.uses.flush()
    return (await read_uses(memory.runtime.store, one.user_id)).of(one).access_count


async def test_searches_and_contexts_count_what_they_tell(counting: AsyncMemory):
    alice = counting.user("alice")
    cat, dog = await alice.remember("The cat is called Tom"), await alice.remember("Dogs bark at night")
    before = now()
    await alice.search("What is the cat called?", limit=1)
    await alice.search("What is the cat called?", limit=1)
    assert await counted(counting, cat) == 2
    assert "Tom" in (await alice.context("What is the cat called?", limit=1)).text
    assert await counted(counting, cat) == 3
    assert await counted(counting, dog) == 0
    last = (await read_uses(counting.runtime.store, "alice")).of(cat).last_accessed_at
    assert last is not None
    assert before < last <= now()
    await alice.thread("t").add("user", "Another cat is called Kit")
    hits = await alice.search("What is the cat called?", limit=20)
    assert any("Kit" in hit.memory.content for hit in hits)
    await alice.context("Is Kit a cat?")
    await counting.runtime.uses.flush()
    assert len((await read_uses(counting.runtime.store, "alice")).entries) <= 2  # raw talk does not fade
    assert (await alice.get(cat.id)).access_count == 5
    stored, _ = await get_memory(counting.runtime.store, "alice", cat.id)
    assert (stored.updated_at, stored.access_count) == (cat.updated_at, 0)  # the memory itself is left alone
    await alice.thread("t").process("index")
    hits = await alice.search("Which cat is called Kit?", limit=20)
    [kit] = [hit.memory for hit in hits if hit.memory.kind == "chunk"]
    assert await counted(counting, kit) == 0  # nor does it fade when it is indexed


async def test_nothing_is_counted_unless_it_is_asked_for():
    async with opened(count_uses=False) as memory:
        alice = memory.user("alice")
        cat = await alice.remember("The cat is called Tom")
        await alice.search("What is the cat called?")
        assert await counted(memory, cat) == 0


async def test_what_is_recalled_does_not_fade(counting: AsyncMemory):
    chat = counting.user("alice").thread("t1")
    await chat.add_many([{"role": "user", "content": "My cat is called Tom. I live in the town of Porto."}])
    await chat.process("extract")
    facts = await counting.user("alice").memories(types=["fact"])
    assert len(facts) >= 2
    then = iso(now() - timedelta(days=FIRST_DAYS + 1))
    for one in facts:
        changes = {"recorded_at": then, "created_at": then}
        await counting.runtime.store.patch(MEMORIES, one.id, (one.user_id, one.thread_id), changes, "FROM c WHERE true")
    hits = await counting.user("alice").search("What is the cat called?", limit=1, types=["fact"])
    await counting.runtime.uses.flush()
    await counting.user("alice").process("prune")
    assert [one.id for one in await counting.user("alice").memories(types=["fact"])] == [hits[0].memory.id]


async def test_use_counts_in_the_ranking_with_its_weight():
    async with opened(use_weight=3.0) as memory:
        alice = memory.user("alice")
        first, second = await alice.remember("The red key opens the shed"), await alice.remember("The red key is old")
        plain = [hit.memory.id for hit in await alice.search("red key", limit=2)]
        assert set(plain) == {first.id, second.id}
        for _ in range(30):
            memory.runtime.uses.note("alice", [plain[1]])
        await memory.runtime.uses.flush()
        hits = await alice.search("red key", limit=2)
        assert [hit.memory.id for hit in hits] == plain[::-1]
        assert hits[0].memory.access_count > 20
        assert hits[0].why["use"] > hits[1].why.get("use", 0.0)


async def test_no_id_is_left_of_what_is_forgotten_and_nothing_of_who_is_erased(counting: AsyncMemory):
    alice = counting.user("alice")
    cat = await alice.remember("The cat is called Tom")
    await alice.search("cat")
    await counting.runtime.uses.flush()
    await alice.search("cat")
    await alice.forget(id=cat.id)
    await counting.runtime.uses.flush()
    uses = [row for row in await documents(counting, "alice") if row["container"] == COUNTER and row["type"] == "uses"]
    assert len(uses) == 1
    assert cat.id not in json.dumps(uses)
    await alice.remember("The dog is called Rex")
    await alice.search("dog")
    await alice.forget(everything=True)
    counting.runtime.uses.note("alice", [cat.id])  # as another process would, which had not heard of it
    await counting.runtime.uses.flush()
    assert await documents(counting, "alice") == []


async def test_only_those_recalled_last_are_kept(counting: AsyncMemory):
    alice = counting.user("alice")
    cat = await alice.remember("The cat is called Tom")
    old = {f"u_{number}": [9, "2020-01-01T00:00:00.000000Z"] for number in range(MOST_KEPT)}
    await counting.runtime.store.upsert(
        COUNTER, {"id": "uses", "user_id": "alice", "thread_id": "__counters__", "type": "uses", "of": old}
    )
    await alice.search("cat")
    assert await counted(counting, cat) == 1
    assert len((await read_uses(counting.runtime.store, "alice")).entries) == MOST_KEPT


async def test_a_store_that_is_away_costs_the_counts_only(counting: AsyncMemory, caplog: pytest.LogCaptureFixture):
    alice = counting.user("alice")
    cat = await alice.remember("The cat is called Tom")
    await alice.search("cat")
    client = counting.runtime.store._clients[0]
    await client.get_database_client("ai_memory").delete_container(COUNTER)
    with caplog.at_level(logging.WARNING, "agent_memory"):
        await counting.runtime.uses.flush()
    assert "the uses of 1 memories are not counted" in caplog.text
    assert cat.content in (await alice.context("What is the cat called?")).text


async def test_what_waits_is_written_when_the_memory_is_closed(tmp_path):
    for expected in (1, 2):
        async with opened_at(tmp_path / "m.db") as memory:
            alice = memory.user("alice")
            cat = (await alice.memories())[0] if expected == 2 else await alice.remember("The cat is called Tom")
            await alice.search("cat")
        async with opened_at(tmp_path / "m.db") as memory:
            assert (await read_uses(memory.runtime.store, "alice")).of(cat).access_count == expected


async def test_uses_that_are_being_written_when_the_memory_is_closed_are_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    memory, reading = opened_at(tmp_path / "m.db"), asyncio.Event()
    async with memory:
        cats = {user: await memory.user(user).remember("The cat is called Tom") for user in ("alice", "bob", "carol")}
        store = memory.runtime.store
        read = store.read

        async def slow(container: str, item_id: str, partition: Sequence[str]) -> Document | None:
            reading.set()
            await asyncio.sleep(0.02)
            return await read(container, item_id, partition)

        monkeypatch.setattr(store, "read", slow)
        uses = UseCounter(store, enabled=True, delay=0.01)
        for user, cat in cats.items():
            uses.note(user, [cat.id])
        await reading.wait()
        await uses.close()
    async with opened_at(tmp_path / "m.db") as memory:
        found = {user: (await read_uses(memory.runtime.store, user)).of(cat).access_count for user, cat in cats.items()}
    assert found == {"alice": 1, "bob": 1, "carol": 1}
