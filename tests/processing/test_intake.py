"""What the change feed brings in, what it makes due, and what maintenance finds."""

import time

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import InvalidInput
from agent_memory.processing.activities import run_workflow
from agent_memory.processing.intake import count_turns, due_user_work, mark_settled
from agent_memory.processing.maintenance import Recount, finish_intents, recently_extracted, recount
from agent_memory.processing.sweeps import waiting
from agent_memory.processing.workflows import Call, Checkpoint, alone
from agent_memory.remembering.untold import Told
from agent_memory.steps.dead_letters import INTAKE
from agent_memory.steps.step import Draft, Intents, commit
from agent_memory.store.containers import MEMORIES, SUMMARIES, TURNS
from agent_memory.store.counters import Counters

CADENCE = Cadence(extract=5, summarize=5, profile=5, reconcile=1, idle_seconds=0)


def facts(count: int, prefix: str = "k") -> list[dict[str, object]]:
    return [{"role": "user", "content": f"fact: {prefix}{n}=value {n}", "id": f"{prefix}{n}"} for n in range(count)]


async def feed(memory: AsyncMemory) -> list[dict[str, object]]:
    store = memory.runtime.store
    parts = await store.feed_ranges()
    return [document for part in parts async for page, _ in store.changes(part, None, 100) for document in page]


@pytest.mark.req("S1-42")
async def test_a_turn_that_cannot_be_counted_is_a_dead_letter_and_the_others_go_on(memory: AsyncMemory):
    store = memory.runtime.store
    await memory.user("alice").thread("t1").add_many(facts(2))
    await store.create(TURNS, {"id": "x", "type": "turn", "user_id": "alice", "thread_id": 7, "content": "secret"})
    for kind in ("note", "summary", "fact", "user_summary"):
        await store.create(TURNS, {"id": kind, "type": kind, "user_id": "alice", "thread_id": "t1"})
    documents = await feed(memory)
    for _ in range(2):  # the feed may deliver it again
        (counter,) = await count_turns(memory.runtime.tools, memory.runtime.counters, documents)
        assert (counter.thread_id, counter.count) == ("t1", 2)
    (letter,) = await memory.dead_letters()
    assert (letter.user_id, letter.step, letter.turn_ids) == ("alice", INTAKE, ["x"])
    assert "thread_id" in letter.error
    assert "secret" not in letter.error
    with pytest.raises(InvalidInput):
        await memory.replay(letter.id)


async def test_a_reconciliation_that_is_due_has_one_name_until_it_is_made(memory: AsyncMemory):
    alice, runtime = memory.user("alice"), memory.runtime
    counters = Counters(runtime.store, ("extract",))

    async def due() -> list[str]:
        await count_turns(runtime.tools, counters, await feed(memory))
        return [work.instance_id for work in await due_user_work(runtime.tools, counters, CADENCE, "alice")]

    await alice.thread("t1").add_many(facts(2))
    assert await due() == []
    await alice.thread("t1").process("extract")
    assert await due() == ["reconcile:alice::0"]
    await alice.thread("t1").add_many(facts(2, "more"))
    assert await due() == ["reconcile:alice::0"]
    await alice.process("reconcile")
    assert await due() == []
    await alice.thread("t1").process("extract")
    assert await due() == ["reconcile:alice::1"]


async def test_what_was_settled_is_no_longer_pending(memory: AsyncMemory, chat: ScriptedChat):
    alice, runtime = memory.user("alice"), memory.runtime
    for thread in ("t1", "t2"):
        await alice.thread(thread).add_many(facts(2, thread))
    counters = Counters(runtime.store, ("extract", "user"))
    await count_turns(runtime.tools, counters, await feed(memory))
    request = {
        "user_id": "alice",
        "threads": ["t1", "t2"],
        "thread_steps": ["extract", "summarize"],
        "user_steps": ["reconcile", "profile"],
    }
    await run_workflow("settle_user", request, runtime.activities)
    assert chat.calls == {"extract": 2, "summarize": 2, "reconcile": 1, "profile": 1}
    assert len(await alice.memories()) == 4
    assert len(await counters.pending()) == 2
    await mark_settled(runtime.tools, counters, CADENCE, "alice", {"t1": 2, "t2": 2}, 4)
    assert await counters.pending() == []
    assert (await counters.user("alice")).done == {"profile": 4}


async def test_a_workflow_says_where_it_could_be_started_anew():
    def step(more: bool) -> dict[str, object]:
        return {"raced": False, "more": more, "result": {"more": more}}

    run = alone("extract", {"user_id": "u", "thread_id": "t"})
    assert next(run) == Call("index", {"user_id": "u", "thread_id": "t"})
    assert run.send(step(True)) == Checkpoint([{"more": True}])
    assert run.send(None) == Call("index", {"user_id": "u", "thread_id": "t"})
    assert run.send(step(False)) == Call("extract.think", {"user_id": "u", "thread_id": "t"})


async def contradiction(memory: AsyncMemory) -> tuple[Draft, dict[str, object]]:
    """The draft of a reconciliation that lets one fact win over another; and its cursor once committed."""
    alice, runtime = memory.user("alice"), memory.runtime
    await alice.thread("t1").add_many(
        [{"role": "user", "content": f"fact: city={city}", "id": city} for city in ("Lisbon", "Oslo, since May")]
    )
    await alice.thread("t1").process("extract")
    draft = await runtime.activities["reconcile.think"]({"user_id": "alice"})
    assert draft is not None
    await commit(runtime.store, Draft.model_validate(draft))
    (cursor,) = await runtime.store.query(MEMORIES, 'SELECT * FROM c WHERE c.step = "reconcile"')
    return Draft.model_validate(draft), cursor


async def undo(memory: AsyncMemory, draft: Draft, cursor: dict[str, object]) -> None:
    """The store as a process leaves it that was killed after the batch, ahead of the supersessions."""
    store = memory.runtime.store
    await store.upsert(MEMORIES, cursor | {"extra": draft.extra | {"intents": draft.to_document()}})
    for fact in await store.query(MEMORIES, 'SELECT * FROM c WHERE c.type = "fact"'):
        await store.upsert(MEMORIES, {name: value for name, value in fact.items() if "supersede" not in name})


@pytest.mark.req("S1-44")
async def test_intents_that_a_crash_left_are_found_and_finished(memory: AsyncMemory):
    draft, cursor = await contradiction(memory)
    assert await finish_intents(memory.runtime.store) == 0
    await undo(memory, draft, cursor)
    assert len(await memory.user("alice").memories()) == 2
    assert await finish_intents(memory.runtime.store) == 1
    assert [fact.content for fact in await memory.user("alice").memories()] == ["city=Oslo, since May"]


async def test_what_a_killed_summary_left_undone_is_finished_too(memory: AsyncMemory):
    await memory.user("alice").thread("t1").add("user", "The cat is called Tom")
    await memory.user("alice").thread("t1").process("summarize")
    store = memory.runtime.store
    (cursor,) = await store.query(SUMMARIES, 'SELECT * FROM c WHERE c.type = "cursor"')
    told = Intents(told=[Told(memory_id="gone", since="2026-03-01T10:00:00Z")])
    await store.upsert(SUMMARIES, cursor | {"extra": {"intents": told.to_document()}})
    await finish_intents(store)
    (cursor,) = await store.query(SUMMARIES, 'SELECT * FROM c WHERE c.type = "cursor"')
    assert cursor["extra"] == {}


async def test_a_commit_that_is_repeated_after_a_crash_finishes_the_first(memory: AsyncMemory):
    draft, cursor = await contradiction(memory)
    await undo(memory, draft, cursor)
    again = await commit(memory.runtime.store, draft)
    assert again.raced
    assert [fact.content for fact in await memory.user("alice").memories()] == ["city=Oslo, since May"]


async def test_a_crash_between_a_fact_and_the_talk_that_it_came_from_is_mended(memory: AsyncMemory):
    draft, cursor = await contradiction(memory)
    store = memory.runtime.store
    chunks = 'SELECT * FROM c WHERE c.kind = "chunk" AND IS_DEFINED(c.valid_to)'
    (chunk,) = await store.query(MEMORIES, chunks)
    await store.upsert(MEMORIES, {name: value for name, value in chunk.items() if name != "valid_to"})
    await store.upsert(MEMORIES, cursor | {"extra": draft.extra | {"intents": draft.to_document()}})
    await finish_intents(store)
    assert len(await store.query(MEMORIES, chunks)) == 1


@pytest.mark.parametrize("more", [True, False])
async def test_what_was_said_again_is_noted_also_after_a_crash(memory: AsyncMemory, more: bool):
    thread, store = memory.user("alice").thread("t1"), memory.runtime.store
    said = {"role": "user", "content": "fact: city=Lisbon, since May"}
    await thread.add_many([said | {"created_at": "2026-03-01T10:00:00Z"}])
    await thread.process("extract")
    await thread.add_many([said | {"created_at": "2026-04-01T10:00:00Z"}])
    draft = Draft.model_validate(
        await memory.runtime.activities["extract.think"]({"user_id": "alice", "thread_id": "t1"})
    )
    assert draft.reaffirm
    await commit(store, draft.model_copy(update={"reaffirm": [], "extra": {"intents": draft.to_document()}}))

    async def reaffirmed() -> list[bool]:
        return [fact.reaffirmed_at is not None for fact in await memory.user("alice").memories()]

    assert await reaffirmed() == [False]
    if more:  # the next run covers another turn, and takes the place of the cursor; else it finds nothing to cover
        await thread.add("user", "fact: food=no peanuts at all")
    await thread.process("extract")
    assert sorted(await reaffirmed()) == ([False, True] if more else [True])


async def test_what_the_change_feed_missed_is_counted(memory: AsyncMemory):
    assert memory.runtime.worker is not None
    await memory.runtime.worker.stop()
    await memory.user("alice").thread("t1").add_many(facts(3))
    await memory.user("bob").thread("t1").add_many(facts(2))
    tools, counters = memory.runtime.tools, memory.runtime.counters
    documents = await feed(memory)
    await count_turns(tools, counters, [one for one in documents if one["id"] != "k2"])
    newest = max(int(one["_ts"]) for one in documents)  # type: ignore[call-overload]

    async def recounted(since: int, until: int) -> Recount:
        page = await waiting(memory.runtime.store, "recount", since, until)
        assert page is not None
        return await recount(tools, counters, page.rows)

    assert await recounted(newest + 10, newest + 20) == Recount([], 0)
    mended = await recounted(0, newest + 1)
    assert mended.missed == 1
    assert [(one.user_id, one.count) for one in mended.counters] == [("alice", 3), ("bob", 2)]
    assert (await recounted(0, newest + 1)).missed == 0


async def test_maintenance_sees_what_was_extracted_lately(memory: AsyncMemory):
    thread = memory.user("alice").thread("t1")
    await thread.add_many(facts(2))
    assert await recently_extracted(memory.runtime.store, 0) == []
    await thread.process("extract")
    assert await recently_extracted(memory.runtime.store, 0) == ["alice"]
    assert await recently_extracted(memory.runtime.store, time.time() + 10) == []
