"""A profile tells nothing that rests on memories which retention deleted."""

import asyncio

import pytest
from scripted_model import ScriptedChat
from store_scan import scan

from agent_memory import AsyncMemory
from agent_memory.forgetting import profiles
from agent_memory.forgetting.profiles import SOURCES_UNTIL, held_up, read_profile_document
from agent_memory.steps.profile import MOST_TOKENS
from agent_memory.store.containers import MEMORIES
from agent_memory.store.ids import USER_THREAD
from agent_memory.text.tokens import ApproximateTokens

SECRET = "My locker at the gym is number 7391, next to the mirror"


async def test_a_sentence_goes_with_its_memory_and_does_not_wait_for_the_next_profile(
    memory: AsyncMemory, chat: ScriptedChat
):
    alice, store = memory.user("alice"), memory.runtime.store
    await alice.remember("The cat is called Tom")
    fact = await alice.remember(SECRET)
    await store.patch(MEMORIES, fact.id, ("alice", USER_THREAD), {"ttl": 4}, "FROM c WHERE true")
    await alice.process("profile")
    document = await read_profile_document(store, "alice")
    assert document is not None
    assert document[SOURCES_UNTIL]
    profile = await alice.profile()
    assert profile is not None
    assert sorted(profile.personal) == sorted([SECRET, "The cat is called Tom"])
    for _ in range(200):
        if not await store.read(MEMORIES, fact.id, ("alice", USER_THREAD)):
            break
        await asyncio.sleep(0.1)
    calls = chat.calls["profile"]
    left = await alice.profile()
    assert left is not None
    assert (left.personal, fact.id in left.source_ids) == (["The cat is called Tom"], False)
    assert "7391" not in left.content
    assert "7391" not in (await alice.context("Which locker number is mine?", budget=2000)).text.replace("Which", "")
    assert chat.calls["profile"] == calls
    await alice.remember("The dog is called Rex")
    await alice.process("profile")
    assert await scan(memory, "7391") == []


@pytest.mark.parametrize(
    ("line", "held"),
    [
        ("Plays violin", True),
        ("Plays violin badly", True),  # two words of three
        ("Plays violin badly, alas", False),
        ("Plays violin 4711", False),
    ],
)
async def test_a_memory_holds_up_a_line_of_whose_words_it_has_two_thirds(memory: AsyncMemory, line: str, held: bool):
    document = {
        "id": "profile", "user_id": "alice", "thread_id": USER_THREAD, "type": "profile", "content": line,
        "personal": [line], "source_ids": ["violin", "gone"], SOURCES_UNTIL: 0,
        "created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T10:00:00Z",
    }  # fmt: skip
    kept = await memory.user("alice").remember("Plays the violin on Sundays")
    document["source_ids"] = [kept.id, "gone"]
    assert (await held_up(memory.runtime.store, document)).personal == ([line] if held else [])
    document["source_ids"] = [kept.id]
    assert (await held_up(memory.runtime.store, document)).personal == [line], "nothing that it rests on is gone"


async def test_a_profile_notes_its_newest_sources_and_those_of_its_lines(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(profiles, "MOST_SOURCES", 5)
    alice = memory.user("alice")
    for run in range(4):
        for number in range(5):
            await alice.remember(f"Owns house number {run}-{number} in a street with a rather long and winding name")
        await alice.process("profile")
    profile = await alice.profile()
    assert profile is not None
    named = {memory_id for line in profile.lines() for memory_id in line.memory_ids}
    assert len(profile.source_ids) < 20
    assert named <= set(profile.source_ids) <= named | set(profile.source_ids[-5:])


async def test_a_line_whose_sources_are_not_noted_any_more_is_shown_only_if_a_memory_supports_it(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(profiles, "MOST_SOURCES", 1)
    kept = await memory.user("alice").remember("Plays the violin on Sundays")
    document = {
        "id": "profile", "user_id": "alice", "thread_id": USER_THREAD, "type": "profile", "content": "",
        "personal": ["Plays violin", "Lives in Lisbon"], "source_ids": [kept.id], SOURCES_UNTIL: 0,
        "created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T10:00:00Z",
    }  # fmt: skip
    assert (await held_up(memory.runtime.store, document)).personal == ["Plays violin"]


async def test_a_profile_has_nothing_of_a_thread_that_is_off_and_everything_of_the_others(memory: AsyncMemory):
    alice = memory.user("alice")
    for thread, line in (("diary", "fact: the heron nests at the weir"), ("other", "fact: the cello is from Porto")):
        await alice.thread(thread).add("user", line)
        await alice.thread(thread).process("extract")
    await alice.process("profile")
    document = await read_profile_document(memory.runtime.store, "alice")
    assert document is not None
    told = await held_up(memory.runtime.store, document, ["diary"])
    assert told.personal == ["the cello is from Porto"]
    assert len(told.source_ids) == 1


async def test_a_profile_is_short_and_each_line_names_its_memories(memory: AsyncMemory):
    alice = memory.user("alice")
    known = {}
    for number in range(60):
        kept = await alice.remember(f"Owns a house number {number} in a street with a rather long and winding name")
        known[kept.id] = kept.content
    await alice.process("profile")
    profile = await alice.profile()
    assert profile is not None
    lines = profile.lines()
    assert lines
    assert ApproximateTokens().count("".join(f"- {line.text}\n" for line in lines)) <= MOST_TOKENS
    for line in lines:
        assert [known[memory_id] for memory_id in line.memory_ids] == [line.text]


async def test_a_line_goes_as_soon_as_a_reconciliation_replaces_its_memory(memory: AsyncMemory):
    alice = memory.user("alice")
    thread = alice.thread("t1")
    await thread.add_many([{"role": "user", "content": f"fact: city={city}"} for city in ("Lisbon", "Oslo, since May")])
    await thread.process("extract")
    await alice.process("profile")
    assert (await alice.process("reconcile")).superseded == 1
    profile = await alice.profile()
    assert profile is not None
    assert profile.personal == ["city=Oslo, since May"]
