"""Why something is remembered: back to the words, and along the versions."""

from datetime import UTC, datetime, timedelta

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.errors import Conflict, InvalidInput, NotFound
from agent_memory.store.containers import TURNS

MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)


async def say(memory: AsyncMemory, thread: str, *lines: str, day: int = 0) -> list[str]:
    chat = memory.user("alice").thread(thread)
    turns = [
        {"id": f"turn{n}", "role": "user", "content": line, "created_at": MARCH + timedelta(days=day, minutes=n)}
        for n, line in enumerate(lines)
    ]
    await chat.add_many(turns)
    await chat.process("extract")
    return [memory.id for memory in await chat.memories()]


async def test_a_fact_names_its_turn_and_who_derived_it(memory: AsyncMemory):
    await say(memory, "t1", "What a day it was.", "fact: home city=Lisbon")
    (fact_id,) = await say(memory, "t2", "fact: pet=a dog", "Nothing else to tell.")
    found = await memory.user("alice").why(fact_id)
    assert [(turn.thread_id, turn.role, turn.content) for turn in found.turns] == [("t2", "user", "fact: pet=a dog")]
    assert found.turns[0].created_at == MARCH
    assert (found.memory.quote, found.memory.model) == ("fact: pet=a dog", "scripted")
    assert found.memory.prompt_version == "script-1"
    assert (found.missing_turn_ids, found.replaced, found.replaced_by) == ([], [], None)
    assert [version.id for version in found.history] == [fact_id]


async def test_a_merged_fact_finds_the_turns_of_all_that_it_was_merged_from(memory: AsyncMemory):
    # Both threads use the same turn ids; only those of the right thread count.
    await say(memory, "t1", "fact: seat=aisle please", "fact: food=vegan only")
    await say(memory, "t2", "Good morning to you.", "fact: seat=aislePlease", day=1)
    await memory.user("alice").process("reconcile")
    (merged,) = [one for one in await memory.user("alice").memories() if "seat" in one.content]
    found = await memory.user("alice").why(merged.id)
    assert [(turn.thread_id, turn.id) for turn in found.turns] == [("t1", "turn0"), ("t2", "turn1")]
    assert {one.content for one in found.replaced} == {"seat=aisle please", "seat=aislePlease"}
    old = await memory.user("alice").why(found.replaced[0].id)
    assert old.replaced_by is not None
    assert old.replaced_by.id == merged.id


async def test_a_correction_shows_what_it_replaced_and_that_no_model_made_it(memory: AsyncMemory):
    alice = memory.user("alice")
    (fact_id,) = await say(memory, "t1", "fact: home city=Lisbon")
    corrected = await alice.update(fact_id, content="home city=Porto", reason="typing error")
    found = await alice.why(corrected.id)
    assert (found.memory.model, found.memory.prompt_version) == (None, None)
    assert [one.content for one in found.replaced] == ["home city=Lisbon"]
    assert [one.content for one in found.history] == ["home city=Lisbon", "home city=Porto"]
    assert [turn.content for turn in found.turns] == ["fact: home city=Lisbon"]


async def test_a_turn_that_is_no_longer_kept_is_named_as_missing(memory: AsyncMemory):
    (fact_id,) = await say(memory, "t1", "fact: home city=Lisbon")
    await memory.runtime.store.delete(TURNS, "turn0", ("alice", "t1"))
    found = await memory.user("alice").why(fact_id)
    assert (found.turns, found.missing_turn_ids) == ([], ["turn0"])


async def test_another_users_memory_has_no_reasons_here(memory: AsyncMemory):
    (fact_id,) = await say(memory, "t1", "fact: home city=Lisbon")
    with pytest.raises(NotFound):
        await memory.user("bob").why(fact_id)


async def test_a_memory_is_pinned_without_a_new_version(memory: AsyncMemory, chat: ScriptedChat):
    alice = memory.user("alice")
    (fact_id,) = await say(memory, "t1", "fact: home city=Lisbon")
    pinned = await alice.update(fact_id, pinned=True)
    assert (pinned.id, pinned.pinned) == (fact_id, True)
    assert [one.pinned for one in await alice.memories(include_superseded=True)] == [True]
    corrected = await alice.update(fact_id, content="home city=Porto")
    assert corrected.pinned
    assert not (await alice.update(corrected.id, pinned=False)).pinned
    with pytest.raises(InvalidInput):
        await alice.update(corrected.id)
    with pytest.raises(Conflict):
        await alice.update(fact_id, pinned=True)
