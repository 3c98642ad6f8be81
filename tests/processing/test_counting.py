"""The total of a user's turns: what it costs, and that it is exact whatever happens on the way."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
from scripted_model import ScriptedChat
from store_requests import asked_meanwhile, record_requests

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.processing.intake import Batch, count_batch, due_by_turns, due_user_work
from agent_memory.store import queries, query_text
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, TURNS
from agent_memory.store.documents import Document, create
from agent_memory.store.ids import COUNTERS_THREAD, SETTINGS_THREAD, STORE_USER

CADENCE = Cadence(extract=0, summarize=0, profile=20, reconcile=0, idle_seconds=0)


@pytest.fixture
async def memory(chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AsyncMemory]:
    """Nothing processes turns but the test, and what is asked of the store is noted."""
    record_requests(monkeypatch)
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), cadence=CADENCE) as opened:
        assert opened.runtime.worker is not None
        await opened.runtime.worker.stop()
        yield opened


async def turns(store: Store, user: str, threads: Sequence[str], each: int = 1, ts: int = 1000) -> list[Document]:
    """Turns in the store, as the change feed delivers them; with a `_ts` that the test says."""
    made = []
    for thread in threads:
        ids = [f"{thread}-{ts}-{n}" for n in range(each)]
        documents = [{"id": one, "user_id": user, "thread_id": thread, "type": "turn", "content": "?"} for one in ids]
        await store.batch(TURNS, (user, thread), [create(document) for document in documents])
        made += [document | {"_ts": ts + n} for n, document in enumerate(documents)]
    return made


async def count(memory: AsyncMemory, documents: Sequence[Document]) -> Batch:
    return await count_batch(memory.runtime.tools, memory.runtime.counters, documents)


async def total(memory: AsyncMemory, user: str) -> int | None:
    document = await memory.runtime.store.read(COUNTER, "user", (user, COUNTERS_THREAD))
    return None if document is None else document["turns"]


async def asked(memory: AsyncMemory, documents: Sequence[Document]) -> int:
    with asked_meanwhile() as requests:
        await count(memory, documents)
    return sum(requests.values())


@pytest.mark.parametrize(("users", "threads", "each"), [(1, 1, 100), (1, 100, 1), (10, 2, 5), (100, 1, 1)])
async def test_a_hundred_turns_cost_three_requests_a_thread_and_one_a_user_at_most(
    memory: AsyncMemory, users: int, threads: int, each: int
):
    """For users whom nobody has counted before, for users with a history, and for turns that were counted already."""
    names, store = [f"t{n}" for n in range(threads)], memory.runtime.store
    await asked(memory, await turns(store, "somebody", ["t"]))  # what a process asks once
    spent = []
    for ts in (1000, 2000, 3000):
        batch = [one for n in range(users) for one in await turns(store, f"user{n}", names, each, ts)]
        assert len(batch) == 100
        spent.append(await asked(memory, batch))
    spent.append(await asked(memory, batch))
    assert max(spent) <= 3 * users * threads + users
    assert spent[3] == users
    if threads == 1:
        assert spent[:3] == [users * 4, users * 4, users * 3]
    assert [await total(memory, f"user{n}") for n in range(users)] == [300 // users] * users


async def test_what_a_batch_costs_does_not_grow_with_the_history_of_its_user(memory: AsyncMemory):
    store = memory.runtime.store
    for ts in (1000, 2000):
        await count(memory, await turns(store, "new", ["a"], ts=ts))
    for ts in range(1000, 1006):
        await count(memory, await turns(store, "old", [f"{ts}-{n}" for n in range(50)], ts=ts))
    await count(memory, await turns(store, "old", ["a"], ts=2000))
    shapes = []
    for user in ("new", "old"):
        with asked_meanwhile() as requests:
            await count(memory, await turns(store, user, ["a"], ts=3000))
        shapes.append(sorted((method, query, float(units)) for method, _, query, *_, units in requests))
    assert len(shapes[0]) == 4, "with the turn itself"
    assert len(shapes[1]) == 5, "one thread falls out of the user's counter"
    assert sum(units for *_, units in shapes[1]) < 4 * sum(units for *_, units in shapes[0])
    document = await store.read(COUNTER, "user", ("old", COUNTERS_THREAD))
    assert document is not None
    assert document["turns"] == 302
    assert len(document["threads"]) < 32 + 50 + 1


def failing(store: Store, monkeypatch: pytest.MonkeyPatch, fails: Callable[[str, Document], bool]) -> None:
    """Lets writes fail: "before" they are made, or "after", when only the answer is lost."""

    def wrap(name: str) -> None:
        real = getattr(store, name)

        async def write(container: str, document: Any, *rest: Any) -> Any:
            if fails("before", document):
                raise StoreUnavailable("it did not answer")
            written = await real(container, document, *rest)
            if fails("after", document):
                raise StoreUnavailable("it did not answer")
            return written

        monkeypatch.setattr(store, name, write)

    for name in ("create", "replace", "patch"):
        wrap(name)


@pytest.mark.parametrize("kind", ["counter", "user_counter"])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("known", [False, True])
async def test_a_crash_in_the_middle_is_repaired_when_the_turns_are_sent_again(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch, kind: str, moment: str, known: bool
):
    store = memory.runtime.store
    if known:
        await count(memory, await turns(store, "alice", ["a", "b"]))
    batch = await turns(store, "alice", ["a", "b", "c"], 2, 2000)
    left = [1]

    def fails(when: str, document: Document) -> bool:
        return isinstance(document, dict) and (when, document["type"]) == (moment, kind) and bool(left and left.pop())

    with monkeypatch.context() as patch:
        failing(store, patch, fails)
        with pytest.raises(StoreUnavailable):
            await count(memory, batch)
    for _ in range(2):
        counted = await count(memory, batch)
        assert counted.users["alice"].turns == (8 if known else 6)
    assert await total(memory, "alice") == (8 if known else 6)


@pytest.mark.parametrize("seed", range(4))
async def test_the_total_is_exact_for_many_threads_under_faults_races_and_redelivery(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch, seed: int
):
    """Threads fall out of the user's counter and come back, batches come twice, late, overlapping and at once."""
    rng, store = random.Random(seed), memory.runtime.store
    pieces, written = [], 0
    for ts in range(1000, 1012):
        names = rng.sample([f"t{n}" for n in range(90)], 12)
        pieces.append(await turns(store, "alice", names, rng.randrange(1, 3), ts * 10))
        written += len(pieces[-1])
    failing(store, monkeypatch, lambda when, document: rng.random() < 0.04)
    waiting = [*pieces, *pieces]  # of one thread in order, as the feed delivers them; then everything again
    while waiting:
        now = [rng.choice([waiting[0], waiting[0], rng.choice(waiting[:1])]) for _ in range(rng.randrange(1, 3))]
        try:
            for piece in now:
                await count(memory, piece)
            waiting.pop(0)
        except StoreUnavailable:
            continue
    monkeypatch.undo()
    assert await total(memory, "alice") == written
    rows = await store.query(COUNTER, queries.THREAD_COUNTERS, ("alice",))
    assert sum(row["count"] for row in rows) == written


async def test_a_store_of_an_earlier_version_gets_its_totals_when_turns_come(memory: AsyncMemory):
    """It had no totals: the counters of threads are added up once."""
    store = memory.runtime.store
    await count(memory, [one for user in ("ada", "bob") for one in await turns(store, user, ["a", "b", "c"], 5)])
    for row in await store.query(COUNTER, "SELECT * FROM c"):  # as that version wrote them
        earlier = {
            name: value for name, value in row.items() if name not in ("told", "turns", "threads", "unconfirmed")
        }
        if row["type"] == "user_counter" and row["user_id"] == "ada":
            await store.delete(COUNTER, row["id"], (row["user_id"], row["thread_id"]))
        else:
            await store.upsert(COUNTER, earlier | ({"done": {"profile": 10}} if row["id"] == "user" else {}))
    about = await store.read(COUNTER, "store", (STORE_USER, SETTINGS_THREAD))
    assert about is not None
    await store.upsert(COUNTER, {name: value for name, value in about.items() if name != "schema"})
    store.known.schema = None
    assert [(await memory.runtime.counters.user(user)).turns for user in ("ada", "bob")] == [15, 15]
    batch = [one for user in ("ada", "bob") for one in await turns(store, user, ["a", "d"], 3, 2000)]
    for _ in range(2):
        counted = await count(memory, batch)
        assert {user: counter.turns for user, counter in counted.users.items()} == {"ada": 21, "bob": 21}
    assert [work.workflow for work in due_by_turns(counted.users["bob"], CADENCE)] == ["profile"]
    assert await due_user_work(memory.runtime.tools, memory.runtime.counters, CADENCE, "bob") == due_by_turns(
        counted.users["bob"], CADENCE
    )
    with asked_meanwhile() as requests:
        await count(memory, await turns(store, "bob", ["b"], ts=3000))
    assert query_text.confined(queries.THREAD_COUNTERS, 1) not in [query for _, _, query, *_ in requests]
    assert await total(memory, "bob") == 22


async def test_a_user_who_cannot_be_counted_does_not_hold_up_the_others(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    store = memory.runtime.store
    batch = [one for user in ("ada", "bob", "cyd") for one in await turns(store, user, ["a"])]
    with monkeypatch.context() as patch:
        failing(store, patch, lambda when, document: document["user_id"] == "ada")
        with pytest.raises(StoreUnavailable):
            await count(memory, batch)
    assert [await total(memory, user) for user in ("ada", "bob", "cyd")] == [None, 1, 1]
    await count(memory, batch)
    assert [await total(memory, user) for user in ("ada", "bob", "cyd")] == [1, 1, 1]


async def test_requests_at_the_same_time_are_as_many_as_set(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    store = memory.runtime.store
    batch = [one for n in range(20) for one in await turns(store, f"user{n}", ["a", "b"])]
    under_way, most, query = 0, 0, store.query

    async def querying(*given: Any, **named: Any) -> list[Any]:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        found = await query(*given, **named)
        under_way -= 1
        return found

    monkeypatch.setattr(store, "query", querying)
    await count_batch(memory.runtime.tools, memory.runtime.counters, batch, at_once=3)
    assert most == 3


async def test_one_turn_of_live_talk_makes_a_thread_of_imported_ones_wait_as_live_talk(memory: AsyncMemory):
    imported = [turn | {"backfill": True} for turn in await turns(memory.runtime.store, "alice", ["old", "both"], 2)]
    live = await turns(memory.runtime.store, "alice", ["both"], ts=2000)
    counted = await count(memory, [*imported, *live])
    assert {thread.thread_id: thread.backfill for thread in counted.threads} == {"old": True, "both": False}
