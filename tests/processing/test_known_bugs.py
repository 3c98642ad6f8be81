"""What other memory layers were seen to get wrong, and what happens here instead."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from memories import opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ConfigurationError, InvalidInput, ModelError
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.models import content_hash
from agent_memory.steps.step import Draft, commit

MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)


def turn(content: str, minutes: int = 0, **fields: object) -> dict[str, object]:
    return {"role": "user", "content": content, "created_at": MARCH + timedelta(minutes=minutes), **fields}


async def contents(memory: AsyncMemory) -> list[str]:
    return sorted(fact.content for fact in await memory.user("alice").memories())


async def test_a_prompt_that_cannot_be_loaded_is_an_error_and_no_empty_result(tmp_path):
    (tmp_path / "extract.prompt.md").write_text("---\nid: extract\nversion: [\n---\nbroken")
    chat = OpenAIChat("m", base_url="http://127.0.0.1:9/v1", api_key="none", prompts=tmp_path)
    async with opened(chat, cadence=Cadence(idle_seconds=0)) as memory:
        thread = memory.user("alice").thread("t")
        await thread.add("user", "I live in Lisbon and like it there.")
        with pytest.raises(ConfigurationError):
            await thread.process("extract")
        assert (await memory.user("alice").stats()).unprocessed_turns == 1


async def test_turns_that_arrive_between_a_trigger_and_its_run_are_neither_skipped_nor_taken_twice(
    memory: AsyncMemory, chat: ScriptedChat
):
    thread = memory.user("alice").thread("t")
    await thread.add_many([turn(f"fact: first{n}=value {n}", n) for n in range(10)])
    late = [turn(f"fact: late{n}=value {n}", 10 + n) for n in range(4)]
    await asyncio.gather(thread.process("extract"), thread.add_many(late))
    await thread.process("extract")
    shown = [view.content for data in chat.seen for view in data.turns]
    assert len(await contents(memory)) == 14
    assert set(shown) == {f"fact: first{n}=value {n}" for n in range(10)} | {
        f"fact: late{n}=value {n}" for n in range(4)
    }


async def test_four_extractions_at_once_give_each_fact_once(memory: AsyncMemory):
    thread = memory.user("alice").thread("t")
    await thread.add_many([turn(f"fact: key{n}=value {n}", n) for n in range(6)])
    await asyncio.gather(*(thread.process("extract") for _ in range(4)))
    assert await contents(memory) == [f"key{n}=value {n}" for n in range(6)]
    assert len(await memory.user("alice").memories(include_superseded=True)) == 6


async def test_a_superseded_fact_said_again_in_its_own_thread_is_active_again(memory: AsyncMemory):
    alice = memory.user("alice")
    for day, city in enumerate(["Lisbon", "Porto", "Lisbon"]):
        await alice.thread("t").add_many([turn(f"fact: home={city}, since then", day * 1440)])
        await alice.thread("t").process("extract")
        await alice.process("reconcile")
    assert await contents(memory) == ["home=Lisbon, since then"]
    assert len(await alice.memories(include_superseded=True)) == 3


async def test_two_reconciliations_of_opposite_verdicts_leave_one_of_two_facts(memory: AsyncMemory):
    alice, runtime = memory.user("alice"), memory.runtime
    await alice.thread("t").add_many([turn("fact: home=Lisbon"), turn("fact: home=Porto, by the sea", 1)])
    await alice.thread("t").process("extract")
    first = Draft.model_validate(await runtime.activities["reconcile.think"]({"user_id": "alice"}))
    (verdict,) = first.supersede
    lisbon, porto = verdict.loser_id, verdict.winner_id
    opposite = verdict.model_copy(update={"loser_id": porto, "winner_id": lisbon})
    second = first.model_copy(update={"supersede": [opposite]})
    outcomes = await asyncio.gather(commit(runtime.store, first), commit(runtime.store, second))
    assert sorted(outcome.raced for outcome in outcomes) == [False, True]
    assert len(await contents(memory)) == 1


async def test_turns_of_one_instant_and_turns_from_the_past_are_summarised(memory: AsyncMemory):
    thread = memory.user("alice").thread("t")
    await thread.add_many([turn("We begin here.", 60), turn("We said this at once.", 60)])
    await thread.process("summarize")
    await thread.add_many([turn("This was said at the same time.", 60), turn("And this long before.", -600)])
    await thread.process("summarize")
    summary = await thread.summary()
    assert summary is not None
    assert summary.turn_count == len(summary.key_points) == 4
    assert summary.covers_from == MARCH - timedelta(minutes=600)


@pytest.mark.req("S2-28")
async def test_a_summary_that_cannot_be_merged_leaves_the_old_one(chat: ScriptedChat):
    chat.fault = lambda task, call: ModelError("no JSON in it") if call == 2 else None
    async with opened(chat, cadence=Cadence(idle_seconds=0)) as memory:
        thread = memory.user("alice").thread("t")
        await thread.add_many([turn("We plan the trip to Hawaii.")])
        await thread.process("summarize")
        before = await thread.summary()
        await thread.add_many([turn("The trip is in June.", 1)])
        assert (await thread.process("summarize")).dead_letters == 1
        assert await thread.summary() == before
        (letter,) = await memory.dead_letters()
        await memory.replay(letter.id)
        after = await thread.summary()
        assert after is not None
        assert after.key_points == ["We plan the trip to Hawaii.", "The trip is in June."]


async def test_facts_of_one_run_keep_the_times_of_their_own_turns(memory: AsyncMemory):
    thread = memory.user("alice").thread("t")
    await thread.add_many([turn("fact: a=first thing", 0), turn("fact: b=second thing", 90), turn("Bye for now!", 200)])
    await thread.process("extract")
    times = {fact.content: fact.created_at for fact in await memory.user("alice").memories()}
    assert times == {"a=first thing": MARCH, "b=second thing": MARCH + timedelta(minutes=90)}


async def test_a_correction_is_found_by_its_new_words(memory: AsyncMemory):
    alice = memory.user("alice")
    fact = await alice.remember("The meeting room is called Saturn")
    corrected = await alice.update(fact.id, content="The meeting room is called Jupiter")
    assert corrected.content_hash == content_hash("The meeting room is called Jupiter")
    best = (await alice.search("Jupiter room", limit=1))[0]
    assert best.memory.content.endswith("Jupiter")
    assert best.similarity is not None
    assert best.similarity > 0.5
    assert "Saturn" not in [hit.memory.content.split()[-1] for hit in await alice.search("Saturn")]


async def test_saying_or_writing_a_thing_twice_deletes_and_doubles_nothing(memory: AsyncMemory):
    alice = memory.user("alice")
    first = await alice.remember("Allergic to peanuts")
    again = await alice.remember("Allergic to peanuts")
    assert again.id == first.id
    lines = [turn("fact: seat=aisle please", id="a"), turn("fact: meal=vegan only", 1, id="b")]
    for _ in range(2):  # the same history is imported twice
        await alice.thread("t").add_many(lines)
        await memory.drain(timeout=30)
    assert await contents(memory) == ["Allergic to peanuts", "meal=vegan only", "seat=aisle please"]
    assert (await alice.stats()).turns == 2


async def test_the_newest_message_is_part_of_what_is_processed(memory: AsyncMemory):
    thread = memory.user("alice").thread("t")
    await thread.add_many([turn("Let me think about that.")])
    await thread.add_many([turn("fact: decision=we take the boat", 1)])
    await thread.process("extract")
    assert await contents(memory) == ["decision=we take the boat"]


async def test_the_names_that_others_give_to_roles_are_taken(memory: AsyncMemory):
    thread = memory.user("alice").thread("t")
    await thread.add_many(
        [
            turn("Where do you live?", role="assistant"),
            turn("fact: home=Lisbon, by the river", 1, role="human"),
            turn("fact: home=Oslo, said a program", 2, role="function"),
        ]
    )
    await thread.process("extract")
    assert [one.role for one in await thread.turns()] == ["agent", "user", "tool"]
    assert await contents(memory) == ["home=Lisbon, by the river"]


async def test_a_wrong_role_is_answered_with_the_names_that_people_write(memory: AsyncMemory):
    with pytest.raises(InvalidInput, match=r"'user', 'assistant' \(or 'agent'\), 'tool' or 'system', not 'robot'"):
        await memory.user("alice").thread("t").add("robot", "Hello.")
