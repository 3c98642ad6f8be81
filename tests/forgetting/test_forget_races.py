"""What is written while something is forgotten, at the moments that the order of a forgetting is there for."""

from datetime import timedelta
from typing import Any

import pytest
from rivals import after_query
from scripted_model import ScriptedChat
from store_scan import scan

from agent_memory import AsyncMemory
from agent_memory.errors import ModelError
from agent_memory.forgetting import deletion
from agent_memory.models import ThreadSummary, now
from agent_memory.steps.gather import StepRequest
from agent_memory.steps.step import commit
from agent_memory.steps.table import steps
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES, SUMMARIES, TURNS
from agent_memory.store.cursors import cursor_move, read_cursor
from agent_memory.store.documents import to_document, upsert
from agent_memory.store.ids import summary_id

KEY = ("alice", "t1")
SECRET = "the locker code is seven"


async def test_what_was_derived_while_the_memories_were_deleted_goes_too(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    """Whoever thought before the turns went commits after the job has looked for the first time."""
    alice, store = memory.user("alice"), memory.runtime.store
    chat = alice.thread("t1")
    await chat.add("user", f"fact: {SECRET}", id="a")
    await chat.process("extract")
    (fact,) = await alice.memories()

    async def derive() -> bool:
        if await store.read(TURNS, "a", KEY) is not None:  # the plan is being made
            return False
        late = fact.model_copy(update={"id": "fact_late", "content": "seven opens the locker"})
        vector = [1.0, *[0.0] * (memory.runtime.tools.embeddings.dimensions - 1)]
        await store.create(MEMORIES, to_document(late, vector))
        return True

    after_query(monkeypatch, store, MEMORIES, queries.EVERY_MEMORY, derive)
    await alice.forget("a")
    assert await store.read(MEMORIES, "fact_late", KEY) is None
    assert await alice.memories(include_superseded=True) == []


async def test_a_summary_that_is_committed_while_it_is_reset_goes_too(
    memory: AsyncMemory, chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch
):
    talk, store = memory.user("alice").thread("t1"), memory.runtime.store
    said = now() - timedelta(minutes=5)
    await talk.add("user", f"fact: {SECRET}", id="a", created_at=said)
    await talk.add("user", "fact: the parrot is called Polly", id="b", created_at=said + timedelta(seconds=1))
    await talk.process("summarize")
    await store.delete(SUMMARIES, summary_id(*KEY), KEY)

    async def summarize() -> bool:
        cursor = await read_cursor(store, SUMMARIES, KEY, "summarize")
        summary = ThreadSummary(
            id=summary_id(*KEY), user_id="alice", thread_id="t1", content=SECRET, created_at=now(), updated_at=now()
        )
        vector = [1.0, *[0.0] * (memory.runtime.tools.embeddings.dimensions - 1)]
        move = cursor_move(KEY, "summarize", cursor.cursor, cursor.etag)
        await store.batch(SUMMARIES, KEY, [upsert(to_document(summary, vector)), move])
        return True

    after_query(monkeypatch, store, SUMMARIES, queries.IDS_THAT_EXIST, summarize)
    chat.fault = lambda task, call: ModelError("away", retryable=True)  # it is not made anew at once
    receipt = await memory.user("alice").forget("a")
    assert receipt.pending != []
    assert await talk.summary() is None


@pytest.mark.parametrize("step", ["extract", "summarize"])
async def test_what_is_forgotten_before_a_step_has_its_first_cursor_is_not_processed(
    memory: AsyncMemory, chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch, step: str
):
    alice, store = memory.user("alice"), memory.runtime.store
    talk = alice.thread("t1")
    await talk.add("user", f"fact: {SECRET}", id="a")

    async def forget() -> bool:
        await alice.forget("a")
        return True

    after_query(monkeypatch, store, TURNS, queries.NEW_TURNS, forget)
    await talk.process(step)
    assert (await alice.memories(include_superseded=True), await talk.summary()) == ([], None)
    assert chat.calls[step] == 0
    assert await scan(memory, "seven") == []


async def test_a_merge_that_is_thought_while_the_memories_are_deleted_is_not_committed(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    """The turns are gone, and its cursor was touched once: it reads the memories just before they go."""
    alice, store, run = memory.user("alice"), memory.runtime.store, memory.runtime.activities
    for thread, line in (("t1", "fact: pet=a Parrot called Polly"), ("t2", "fact: pet=a parrot, called polly!")):
        await alice.thread(thread).add("user", line, id="a")
        await alice.thread(thread).process("extract")
    drafts: list[Any] = []

    async def think() -> bool:
        if await store.read(TURNS, "a", KEY) is None:
            drafts.append(await run["reconcile.think"]({"user_id": "alice"}))
        return bool(drafts)

    after_query(monkeypatch, store, MEMORIES, queries.EVERY_MEMORY, think)
    await alice.forget(query="pet")
    [draft] = drafts
    assert draft is not None
    committed = await run["commit"](draft)
    assert committed is not None
    assert committed["raced"]
    assert await scan(memory, "parrot") == []


async def test_what_a_killed_run_still_had_to_do_names_nothing_that_is_forgotten(memory: AsyncMemory):
    alice, store = memory.user("alice"), memory.runtime.store
    talk = alice.thread("t1")
    await talk.add("user", f"fact: {SECRET}", id="a")
    await talk.process("extract")
    [fact] = await alice.memories()
    stored = await read_cursor(store, MEMORIES, KEY, "extract")
    gone, stays = (
        {"loser_thread_id": "t2", "loser_id": "fact_old", "winner_id": winner, "reason": "update", "valid_to": None}
        for winner in (fact.id, "fact_other")
    )
    extra = {"intents": {"supersede": [gone, stays]}}
    await store.batch(MEMORIES, KEY, [cursor_move(KEY, "extract", stored.cursor, stored.etag, extra)])
    await alice.forget("a")
    left = await read_cursor(store, MEMORIES, KEY, "extract")
    assert left.extra["intents"]["supersede"] == [stays]
    assert await scan(memory, fact.id) == []


async def test_an_index_that_is_thought_while_a_conversation_is_deleted_is_not_committed(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    """The cursors are touched after the turns are gone: what has read them before cannot be committed."""
    alice, runtime, index = memory.user("alice"), memory.runtime, steps()["index"]
    talk = alice.thread("t1")
    await talk.add("user", "fact: the parrot is called Polly", id="a")
    await talk.process("index")
    await talk.add("user", "My secret plan is to move to Lisbon next spring.", id="b")
    drafts: list[Any] = []
    delete_items = deletion.delete_items

    async def thinking(store: Any, container: str, *rest: Any) -> Any:
        if container == TURNS and not drafts:
            drafts.append(await index.think(index, runtime.tools, StepRequest(user_id="alice", thread_id="t1")))
        return await delete_items(store, container, *rest)

    monkeypatch.setattr(deletion, "delete_items", thinking)
    await talk.delete()
    [draft] = drafts
    assert (await commit(runtime.store, draft)).raced
    assert await alice.search("secret plan") == []
