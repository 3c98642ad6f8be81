"""Memories as a search reads them are the memories that are stored."""

from typing import Any

import pytest

from agent_memory import AsyncMemory
from agent_memory.errors import StoreUnavailable
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES

TURNS = [
    ("user", "My locker code is 4711, it stands on the door.", None),
    ("user", "Where do you keep the spare key of the locker?", "Bond: James"),
    ("assistant", "Did you write the locker code down?", None),
    ("user", "yes I did", None),
    ("tool", "locker: open [done] ok: yes", None),
    ("user", "[8 May 2023] Eve: the locker is hers] now: really", "] x: "),
    ("user", "我的储物柜密码是 4711，写在门上。", "王：小明"),
]


async def test_a_hit_is_the_memory_that_is_stored(memory: AsyncMemory):
    alice = memory.user("alice")
    thread = alice.thread("t")
    for role, content, name in TURNS:
        await thread.add(role, content, name=name)
    await thread.process("index")
    kept = await alice.remember("The locker is on the second floor", tags=["home"], metadata={"floor": 2})
    await alice.remember("The locker code was 1234")
    store = memory.runtime.store
    chunks = await store.query(MEMORIES, 'SELECT c.id, c.thread_id FROM c WHERE c.kind = "chunk"', ("alice",))
    assert len(chunks) >= 5
    changed = chunks[0]
    await store.patch(
        MEMORIES, changed["id"], ("alice", "t"), {"tags": ["seen"], "confidence": 0.5}, "FROM c WHERE true"
    )
    found = {hit.memory.id: hit.memory for hit in await alice.search("What is the code of the locker 4711?", limit=50)}
    assert kept.id in found
    assert changed["id"] in found
    for memory_id, hit in found.items():
        stored = await alice.get(memory_id)
        assert hit == stored.model_copy(update={"near_ids": []})


ANIMALS = ["cat", "dog", "parrot", "tortoise", "goldfish", "hamster"]


async def test_what_two_queries_find_is_sent_once(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    alice = memory.user("alice")
    for animal in ANIMALS:
        await alice.remember(f"The {animal} of the neighbours is called Tom")
    sent = answers_of(memory.runtime.store, monkeypatch)
    found = {hit.memory.id: hit.memory for hit in await alice.search("Is the parrot called Tom?", limit=20)}
    whole = [row["m"][0] for row in sent if not isinstance(row["m"], str)]
    named = [row["m"] for row in sent if isinstance(row["m"], str)]
    assert len(whole) == len(set(whole)) == len(ANIMALS)
    assert named, "the query by vectors finds it too"
    assert set(named) <= set(whole)
    assert found == {memory_id: await alice.get(memory_id) for memory_id in whole}


@pytest.mark.parametrize("fails", [False, True], ids=["finds none", "fails"])
async def test_memories_that_the_word_query_misses_are_read_by_id(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch, fails: bool
):
    alice = memory.user("alice")
    for animal in ANIMALS:
        await alice.remember(f"The {animal} of the neighbours is called Tom")
    ids = {hit.memory.id for hit in await alice.search("Is the parrot called Tom?", limit=20)}
    store = memory.runtime.store
    query = store.query

    async def without_words(container: str, sql: str, *given: Any, **parameters: Any) -> list[Any]:
        if "FullTextContains" not in sql.partition(" WHERE ")[2]:
            return await query(container, sql, *given, **parameters)
        if fails:
            raise StoreUnavailable("no words today")
        return []

    monkeypatch.setattr(store, "query", without_words)
    context = await alice.context("Is the parrot called Tom?")
    assert [reason.partition(":")[0] for reason in context.degraded] == (["text search"] if fails else [])
    hits = await alice.search("Is the parrot called Tom?", limit=20)
    assert {hit.memory.id for hit in hits} == ids
    assert all(hit.similarity is not None for hit in hits)


def answers_of(store: Store, patch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The rows in which a search reads memories, as they come."""
    rows: list[dict[str, Any]] = []
    query = store.query

    async def noted(*given: Any, **parameters: Any) -> list[Any]:
        answer = await query(*given, **parameters)
        rows.extend(row for row in answer if isinstance(row, dict) and "m" in row)
        return answer

    patch.setattr(store, "query", noted)
    return rows
