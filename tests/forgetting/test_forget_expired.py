"""Turns that expired before what was indexed of them: forgetting reaches their chunks all the same."""

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from scripted_model import ScriptedChat
from store_scan import scan

import embedded_cosmos
from agent_memory import AsyncMemory
from agent_memory.errors import ModelError
from agent_memory.forgetting.accounts import add_accounts
from agent_memory.forgetting.corpus import open_corpus
from agent_memory.forgetting.plan import plan_place
from agent_memory.forgetting.selection import select_place
from agent_memory.forgetting.tombstones import Place
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import now
from agent_memory.scopes.thread import AsyncThreadScope
from agent_memory.scopes.user import AsyncUserScope
from agent_memory.store.containers import MEMORIES, SUMMARIES, TURNS
from agent_memory.store.ids import USER_THREAD, summary_id

SAID = datetime(2026, 3, 5, 10, tzinfo=UTC)
SECRET = "My locker at the gym is number 7391, next to the mirror"
LONG = "The sauna was closed and the coach talked about her dog for an hour. " * 150 + SECRET


async def told(memory: AsyncMemory, content: str = SECRET) -> AsyncUserScope:
    """A user whose secret is indexed, and whose turns are gone; another conversation stays as it is."""
    user = memory.user("alice")
    turns = [
        {"id": "told", "role": "user", "content": content, "created_at": SAID, "project_id": "gym"},
        {"id": "answer", "role": "agent", "content": "Nice, I like the mirror there.", "created_at": SAID},
    ]
    await user.thread("t").add_many(turns)
    await user.thread("other").add("user", "The garden needs water on Sundays", created_at=SAID.replace(year=2025))
    await memory.drain()
    for turn_id in ("told", "answer"):
        assert await memory.runtime.store.delete(TURNS, turn_id, ("alice", "t"))
    assert "7391" in (await user.search("Which locker number?"))[0].memory.content
    return user


def by_chunk(user: AsyncUserScope) -> Callable[[], Awaitable[object]]:
    async def forget() -> object:
        hits = await user.search("Which locker number?", kinds=["chunk"])
        return await user.forget(hits[0].memory.id)

    return forget


WAYS: dict[str, Callable[[AsyncUserScope], Callable[[], Awaitable[object]]]] = {
    "topic": lambda user: lambda: user.forget(query="the locker at the gym"),
    "turn": lambda user: lambda: user.forget("told"),
    "chunk": by_chunk,
    "thread": lambda user: lambda: user.thread("t").forget(),
    "project": lambda user: lambda: user.forget(project_id="gym"),
    "time": lambda user: lambda: user.forget(since=SAID.replace(day=1), until=SAID.replace(day=9)),
}


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("content", [SECRET, LONG], ids=["short", "long"])
async def test_what_is_indexed_of_an_expired_turn_is_forgotten(memory: AsyncMemory, way: str, content: str):
    user = await told(memory, content)
    await WAYS[way](user)()
    await memory.drain()
    assert await scan(memory, "7391") == []
    assert [hit.memory.thread_id for hit in await user.search("When does the garden need water?")][:1] == ["other"]
    assert {counter.pending for counter in await memory.runtime.counters.of_user("alice")} == {0}


@pytest.mark.parametrize("way", list(WAYS))
async def test_all_parts_of_an_expired_turn_are_forgotten_with_the_one_that_is_meant(memory: AsyncMemory, way: str):
    filler = "The sauna was closed and the coach talked about her dog for an hour. " * 60
    user = await told(memory, f"The other one is 4582. {filler}{SECRET}. {filler}And the third one is 6126.")
    await WAYS[way](user)()
    await memory.drain()
    for number in ("7391", "4582", "6126"):
        assert await scan(memory, number) == []


async def test_the_talk_that_a_fact_rests_on_goes_with_it_though_it_expired(memory: AsyncMemory):
    user = memory.user("alice")
    await user.thread("t").add_many([{"id": "told", "role": "user", "content": f"fact: locker={SECRET}"}])
    await memory.drain()
    [fact] = await user.memories(types=["fact"])
    await memory.runtime.store.delete(TURNS, "told", ("alice", "t"))
    await user.forget(fact.id)
    assert await scan(memory, "7391") == []


async def test_a_deleted_conversation_takes_its_expired_talk_with_it(memory: AsyncMemory):
    user = await told(memory)
    await user.thread("t").delete()
    await memory.drain()
    assert await scan(memory, "7391") == []


async def test_an_expired_turn_is_forgotten_by_its_words(chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch):
    later = [0.0]
    engine = partial(embedded_cosmos.Engine, clock=lambda: time.time() + later[0])
    monkeypatch.setattr(embedded_cosmos, "Engine", engine)
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings()) as memory:
        user = memory.user("alice")
        thread: AsyncThreadScope = user.thread("t")
        await thread.add_many([{"role": "user", "content": SECRET, "ttl": 3600}])
        await memory.drain()
        assert len(await thread.turns()) == 1
        later[0] = 3700
        assert await thread.turns() == []
        assert await user.search("Which locker number?")
        receipt = await user.forget(query="the locker at the gym")
        assert receipt.deleted
        assert await scan(memory, "7391") == []


@pytest.mark.parametrize("expired", [["told"], ["answer"], ["told", "answer"]], ids="+".join)
async def test_the_echo_of_what_is_forgotten_goes_whichever_turn_expired(memory: AsyncMemory, expired: list[str]):
    user = memory.user("alice")
    turns = [
        {"id": "told", "role": "user", "content": "I am moving to Fabrikam in June", "created_at": SAID},
        {"id": "answer", "role": "agent", "content": "Got it: Fabrikam.", "created_at": SAID + timedelta(seconds=1)},
    ]
    await user.thread("t").add_many(turns)
    await user.thread("t").process("index")
    for turn_id in expired:
        await memory.runtime.store.delete(TURNS, turn_id, ("alice", "t"))
    await user.forget(query="moving to Fabrikam in June")
    assert await scan(memory, "fabrikam") == []


async def summarised(memory: AsyncMemory) -> AsyncUserScope:
    """A user of whose secret only a summary is left, beside one of a conversation that is whole."""
    user = memory.user("alice")
    await user.thread("t").add_many([{"id": "told", "role": "user", "content": SECRET, "created_at": SAID}])
    await user.thread("other").add("user", "The gym opens at nine, its locker room at ten", created_at=SAID)
    for thread_id in ("t", "other"):
        await user.thread(thread_id).process("summarize")
    assert await memory.runtime.store.delete(TURNS, "told", ("alice", "t"))
    return user


ACCOUNTS: dict[str, Callable[[AsyncUserScope], Awaitable[object]]] = {
    "topic": lambda user: user.forget(query="my locker next to the mirror"),
    "figure": lambda user: user.forget(query="locker 7391"),
    "thread": lambda user: user.forget(thread_id="t"),
    "delete": lambda user: user.thread("t").delete(),
}


@pytest.mark.parametrize("way", list(ACCOUNTS))
async def test_a_summary_of_which_nothing_else_is_left_is_forgotten(memory: AsyncMemory, chat: ScriptedChat, way: str):
    user = await summarised(memory)
    calls = chat.calls["summarize"]
    await ACCOUNTS[way](user)
    assert await scan(memory, "7391") == []
    assert await user.thread("other").summary() is not None
    assert chat.calls["summarize"] == calls, "a summary whose turns are there goes by its turns"


async def test_a_time_range_takes_the_summaries_that_cover_it_and_rest_on_what_expired(memory: AsyncMemory):
    user = await summarised(memory)
    receipt = await user.forget(since=SAID - timedelta(days=9), until=SAID - timedelta(days=1))
    assert receipt.deleted == {}
    before = await user.thread("t").summary()
    assert before is not None
    dry = await user.forget(since=SAID - timedelta(days=1), until=SAID + timedelta(days=1), dry_run=True)
    assert dry.deleted["summary"] == [before.id]
    await user.forget(since=SAID - timedelta(days=1), until=SAID + timedelta(days=1))
    assert await scan(memory, "7391") == []


async def test_the_rest_of_a_conversation_is_summarised_again(memory: AsyncMemory):
    user = await summarised(memory)
    await user.thread("t").add("user", "The garden needs water on Sundays")
    await user.thread("t").process("summarize")
    receipt = await user.forget(query="my locker next to the mirror")
    assert receipt.rebuilt == [summary_id("alice", "t")]
    summary = await user.thread("t").summary()
    assert summary is not None
    assert "garden" in summary.content
    assert await scan(memory, "7391") == []


async def test_a_time_range_reaches_the_beginning_of_a_summary_that_has_gone_on_since(memory: AsyncMemory):
    user = await summarised(memory)
    await user.thread("t").add("user", "The garden needs water on Sundays")
    await user.thread("t").process("summarize")
    receipt = await user.forget(since=SAID - timedelta(days=1), until=SAID + timedelta(days=1))
    assert summary_id("alice", "t") in receipt.rebuilt
    assert await scan(memory, "7391") == []


async def test_a_summary_about_something_else_stays_though_its_turns_expired(memory: AsyncMemory):
    user = await summarised(memory)
    assert not (await user.forget(query="the garden")).deleted
    assert await user.thread("t").summary() is not None


@pytest.mark.parametrize("made_before", [True, False])
async def test_a_summary_that_was_made_after_the_request_stays(memory: AsyncMemory, made_before: bool):
    tools = memory.runtime.tools
    await summarised(memory)
    corpus = await open_corpus(tools.store, tools.embeddings, "alice")
    selection = await select_place(corpus, Place("t"), 9)
    plan = plan_place(corpus, selection, now() if made_before else SAID)
    await add_accounts(corpus, selection, plan)
    assert list(plan.accounts) == (["t"] if made_before else [])


async def test_the_profile_of_a_fact_that_expired_is_forgotten(memory: AsyncMemory):
    user = memory.user("alice")
    fact = await user.remember(SECRET)
    await user.remember("The cat is called Tom")
    await user.process("profile")
    assert await memory.runtime.store.delete(MEMORIES, fact.id, ("alice", USER_THREAD))
    receipt = await user.forget(query="my locker next to the mirror")
    assert await scan(memory, "7391") == []
    profile = await user.profile()
    assert profile is not None
    assert (receipt.rebuilt, profile.personal) == ([profile.id], ["The cat is called Tom"])


async def test_what_a_model_said_in_vain_of_a_turn_that_expired_goes_with_its_conversation(
    memory: AsyncMemory, chat: ScriptedChat
):
    thread = memory.user("alice").thread("t")
    await thread.add_many([{"id": "told", "role": "user", "content": SECRET}])
    chat.fault = lambda task, call: ModelError("no answer: {locker: 7391", retryable=False)
    await thread.process("summarize")
    await memory.runtime.store.delete(TURNS, "told", ("alice", "t"))
    assert await scan(memory, "7391")
    await thread.forget()
    assert await scan(memory, "7391") == []


async def test_a_summary_that_no_step_has_made_here_goes_with_its_turns(memory: AsyncMemory):
    user = await summarised(memory)
    lines: list[str] = []
    await user.export(lines.append)
    bob = memory.user("bob")
    await bob.import_lines(lines)
    assert await bob.thread("t").summary() is not None, "its turns expired, and it is the user's all the same"
    await bob.thread("t").add("user", "My locker is the one next to the mirror")
    await bob.forget(query="my locker next to the mirror")
    assert [row["id"] for row in await memory.runtime.store.query(SUMMARIES, "SELECT * FROM c", ("bob", "t"))] == []


@pytest.mark.parametrize(("until", "left"), [(timedelta(hours=1), False), (timedelta(hours=-1), True)])
async def test_an_archived_stretch_is_forgotten_with_its_first_day_though_its_turns_expired(
    memory: AsyncMemory, until: timedelta, left: bool
):
    user = memory.user("alice")
    turns = [
        {"id": "told", "role": "user", "content": SECRET, "created_at": SAID},
        {"id": "later", "role": "user", "content": "ok", "created_at": SAID + timedelta(days=1)},
    ]
    await user.thread("t").add_many(turns)
    await user.thread("t").process("archive")
    await memory.runtime.store.delete(TURNS, "told", ("alice", "t"))
    await user.forget(since=SAID - timedelta(days=1), until=SAID + until)
    assert bool(await scan(memory, "7391")) is left


async def test_a_stretch_stays_if_nothing_of_it_was_said_in_the_time_that_is_forgotten(memory: AsyncMemory):
    thread = memory.user("alice").thread("t")
    for days in (0, 2):
        await thread.add("user", SECRET, created_at=SAID + timedelta(days=days))
    await thread.process("archive")
    day = SAID + timedelta(days=1)
    assert (await memory.user("alice").forget(since=day, until=day + timedelta(hours=1))).deleted == {}
    assert len(await thread.memories(types=["episodic"])) == 1


async def test_a_dry_run_lists_expired_turns_beside_stored_ones(memory: AsyncMemory):
    user = await told(memory)
    await user.thread("t").add("user", "The gym closes at nine on Sundays", id="still there")
    await memory.drain()
    receipt = await user.thread("t").forget(dry_run=True)
    assert {"told", "answer", "still there"} <= set(receipt.deleted["turn"])


async def of_projects(memory: AsyncMemory) -> AsyncUserScope:
    """A user of whose talk in a project only accounts are left, beside talk of another project that is whole."""
    user = memory.user("alice")
    for thread_id, project_id, text in (("t", "gym", SECRET), ("s", "garden", "The garden needs water on Sundays")):
        turns = [{"id": f"told-{thread_id}", "role": "user", "content": text, "created_at": SAID}]
        await user.thread(thread_id, project_id=project_id).add_many(turns)
    await user.thread("t", project_id="bath").add("user", "Room nine is the one with the towels", created_at=SAID)
    for thread_id in ("t", "s"):
        await user.thread(thread_id).process("archive")
        await user.thread(thread_id).process("summarize")
    for thread_id in ("t", "s"):
        assert await memory.runtime.store.delete(TURNS, f"told-{thread_id}", ("alice", thread_id))
    return user


@pytest.mark.parametrize("old", [False, True], ids=["noted", "made before"])
async def test_a_project_takes_the_accounts_that_rest_on_what_expired(memory: AsyncMemory, old: bool):
    user, store = await of_projects(memory), memory.runtime.store
    if old:
        for thread_id in ("t", "s"):
            document = await store.read(SUMMARIES, summary_id("alice", thread_id), ("alice", thread_id))
            assert document is not None
            known = {name: value for name, value in document.items() if name != "project_ids"}
            await store.replace(SUMMARIES, known, document["_etag"])
    assert await scan(memory, "7391")
    await user.forget(project_id="gym")
    assert await scan(memory, "7391") == []
    left = await user.thread("t").summary()
    assert left is not None
    assert "towels" in left.content, "made again of what is there"
    other = await user.thread("s").summary()
    assert other is not None
    assert "garden" in other.content
    assert await scan(memory, "water on Sundays")


async def test_a_project_takes_the_profile_of_its_facts_that_expired(memory: AsyncMemory):
    user, store = memory.user("alice"), memory.runtime.store
    fact = await user.remember(SECRET, project_id="gym")
    await user.remember("The cat is called Tom")
    await user.process("profile")
    assert await store.delete(MEMORIES, fact.id, ("alice", USER_THREAD))
    assert await scan(memory, "7391")
    await user.forget(project_id="garden")
    assert await scan(memory, "7391"), "that is another project"
    await user.forget(project_id="gym")
    assert await scan(memory, "7391") == []
    profile = await user.profile()
    assert profile is not None
    assert profile.personal == ["The cat is called Tom"]
