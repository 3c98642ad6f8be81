"""A user goes with everything, whoever crashes, and nothing in flight brings them back."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from policy_world import opened
from rivals import after_query
from scripted_model import ScriptedChat
from store_scan import documents, scan

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import InvalidInput, StoreUnavailable
from agent_memory.forgetting import erasure
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.processing.intake import count_turns
from agent_memory.processing.maintenance import finish_deletions
from agent_memory.processing.workflows import Call, Checkpoint, workflow
from agent_memory.store import queries
from agent_memory.store.containers import COUNTER, MEMORIES, TURNS
from agent_memory.store.counters import count_extraction
from agent_memory.store.ids import COUNTERS_THREAD
from agent_memory.store.uses import UseCounter


async def a_life(memory: AsyncMemory, user_id: str) -> None:
    """Everything that a user can leave behind."""
    user = memory.user(user_id)
    for thread in ("t1", "t2"):
        await user.thread(thread).add_many([{"role": "user", "content": f"fact: {thread} {n}=value"} for n in range(5)])
    await user.remember("Allergic to peanuts")
    await memory.drain(timeout=30)
    await user.update_settings(deny_categories=["health"])
    await user.thread("t1").update_settings(auto_store=False)
    await user.thread("t2").retire((await user.thread("t2").turns())[0].id)
    await user.forget(query="peanuts")


@pytest.mark.req("S3-46", "S0-064")
async def test_nothing_is_left_of_an_erased_user_and_everything_of_another(memory: AsyncMemory):
    for user_id in ("alice", "bob"):
        await a_life(memory, user_id)
    before = await documents(memory, "bob")
    dry = await memory.user("alice").forget(everything=True, dry_run=True)
    assert dry.total == len(await documents(memory, "alice")) > 30
    receipt = await memory.user("alice").forget(everything=True)
    assert (receipt.erased, receipt.deleted) == (dry.erased, {})
    assert {"turn", "fact", "summary", "state", "user_summary", "counter", "tombstone", "settings"} <= set(dry.erased)
    assert await scan(memory, "alice") == []
    assert await documents(memory, "bob") == before
    assert await memory.users() == ["bob"]
    assert await memory.drain(timeout=300) == 0
    assert await scan(memory, "alice") == []
    assert (await memory.user("alice").forget(everything=True)).total == 0


async def test_an_erasure_that_was_cut_off_is_finished(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    await a_life(memory, "alice")
    monkeypatch.setattr(erasure, "PIECE", 4)
    store = memory.runtime.store
    real, calls = store.batch, 0

    async def batch(*given: object) -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise StoreUnavailable("gone")
        await real(*given)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(store, "batch", batch)
        patched.setattr("agent_memory.processing.activities.ATTEMPTS", 1)
        with pytest.raises(StoreUnavailable):
            await memory.user("alice").forget(everything=True)
    assert len(await documents(memory, "alice")) > 0
    assert await erasure.pending_erasures(store) == ["alice"]
    runtime = memory.runtime
    assert await finish_deletions(store, runtime.counters, runtime.activities) == 1
    assert await scan(memory, "alice") == []
    assert await finish_deletions(store, runtime.counters, runtime.activities) == 0


async def test_a_memory_that_is_opened_finishes_what_was_begun(tmp_path: Path):
    def opened_again() -> AsyncMemory:
        return AsyncMemory.local(
            tmp_path / "memory.db",
            chat_model=ScriptedChat(),
            embedding_model=HashingEmbeddings(),
            cadence=Cadence(idle_seconds=0),
        )

    async with opened_again() as memory:
        await memory.user("alice").thread("t1").add("user", "fact: city=Lisbon, by the river")
        await memory.drain(timeout=10)
        await erasure.begin_erasure(memory.runtime.store, "alice")
    async with opened_again() as memory:
        for _ in range(200):
            if not await scan(memory, "alice"):
                break
            await asyncio.sleep(0.1)
        assert await scan(memory, "alice") == []


async def test_what_was_in_flight_does_not_bring_a_user_back(memory: AsyncMemory):
    alice, runtime = memory.user("alice"), memory.runtime
    await alice.thread("t1").add_many([{"role": "user", "content": f"fact: k{n}=value {n}"} for n in range(3)])
    feed = [
        document
        for part in await runtime.store.feed_ranges()
        async for page, _ in runtime.store.changes(part, None, 100)
        for document in page
    ]
    request = {"user_id": "alice", "thread_id": "t1"}
    drafts = [await runtime.activities[f"{step}.think"](request) for step in ("extract", "summarize")]
    await alice.forget(everything=True)
    for draft in drafts:
        assert draft is not None
        assert (await runtime.activities["commit"](draft))["raced"]  # type: ignore[index]
    await count_turns(runtime.tools, runtime.counters, feed)
    await runtime.counters.ran("alice", "t1", "extract", 3)
    await runtime.counters.user_ran("alice", "profile", 3)
    assert await scan(memory, "alice") == []


async def test_the_count_of_extractions_does_not_outlive_a_user(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    alice, store = memory.user("alice"), memory.runtime.store
    await alice.thread("t1").add("user", "fact: city=Lisbon, by the river")
    await alice.thread("t1").process("extract")
    for document in await store.query(COUNTER, "SELECT c.id FROM c WHERE c.id = 'extractions'", ("alice",)):
        await store.delete(COUNTER, document["id"], ("alice", COUNTERS_THREAD))

    async def erase() -> bool:
        await alice.forget(everything=True)
        return True

    after_query(monkeypatch, store, MEMORIES, queries.EXTRACTIONS, erase)
    await count_extraction(store, "alice", "a-run")
    assert await scan(memory, "alice") == []


async def test_the_workflow_works_in_pieces_until_a_scan_finds_nothing():
    request = {"user_id": "u"}
    run = workflow("erase", request)
    assert next(run) == Call("erase_piece", request)
    piece = {"deleted": {"turn": 2}, "more": True}
    assert run.send(piece) == Checkpoint([piece])
    assert run.send(None) == Call("erase_piece", request)
    with pytest.raises(StopIteration) as stop:
        run.send({"deleted": {}, "more": False})
    assert stop.value.value == [piece]


async def test_everything_is_refused_together_with_another_selection(memory: AsyncMemory):
    with pytest.raises(InvalidInput):
        await memory.user("alice").forget("an-id", everything=True)


async def test_a_user_who_is_erased_during_a_model_call_has_no_budget(
    chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch
):
    async with opened(chat, daily_model_calls=100) as memory:
        await memory.user("alice").thread("t1").add("user", "fact: city=Lisbon, by the river")
        run, asked = chat.run, []

        async def run_and_erase(*given: object) -> object:
            answer = await run(*given)  # type: ignore[arg-type]
            await memory.user("alice").forget(everything=True)
            asked.append(given)
            return answer

        monkeypatch.setattr(chat, "run", run_and_erase)
        await memory.user("alice").thread("t1").process("extract")
        assert len(asked) == 1
        assert await scan(memory, "alice") == []


@pytest.mark.parametrize("kind", ["budget", "uses", "counter", "user_counter", "cursor", "dead_letter"])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_what_is_written_behind_an_erasure_is_taken_back(
    kind: str, when: str, chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch
):
    """The erasure is through between the last look at whether there is anything of the user and the write."""
    async with opened(chat, daily_model_calls=100) as memory:
        alice, runtime = memory.user("alice"), memory.runtime
        store, counters = runtime.store, runtime.counters
        await alice.thread("t1").add("user", "fact: city=Lisbon, by the river")
        fact = await alice.remember("Allergic to peanuts")
        turn = (await store.query(TURNS, "SELECT * FROM c"))[0]
        if kind in ("counter", "user_counter"):  # what the worker has counted is counted anew
            await memory.drain(timeout=30)
            await store.delete(COUNTER, "counter", ("alice", "t1"))
            await store.delete(COUNTER, "user", ("alice", COUNTERS_THREAD))
        uses = UseCounter(store, enabled=True)
        uses.note("alice", [fact.id])
        real, met = {"create": store.create, "upsert": store.upsert}, []

        def writing(name: str) -> Callable[..., Awaitable[object]]:
            async def write(container: str, document: dict[str, object]) -> object:
                mine = document.get("type") == kind and not met
                met.extend([kind] if mine else [])
                if mine and when == "before":
                    await alice.forget(everything=True)
                written = await real[name](container, document)
                if mine and when == "after":
                    await alice.forget(everything=True)
                return written

            return write

        for name in real:
            monkeypatch.setattr(store, name, writing(name))
        work = {
            "budget": lambda: alice.thread("t1").process("extract"),
            "cursor": lambda: alice.thread("t1").process("extract"),
            "uses": uses.flush,
            "counter": lambda: count_turns(runtime.tools, counters, [turn]),
            "user_counter": lambda: count_turns(runtime.tools, counters, [turn]),
            "dead_letter": lambda: count_turns(runtime.tools, counters, [turn | {"thread_id": 7}]),
        }
        await work[kind]()
        assert met == [kind]
        assert await scan(memory, "alice") == []
