"""Memories derived anew from their turns: nothing twice, nothing back that others replaced, nothing by hand touched."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from memories import fact, opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.errors import ModelError
from agent_memory.language.tasks import ExtractedMemory, ExtractInput, ExtractOutput
from agent_memory.models import Memory
from agent_memory.settings import Limits
from agent_memory.steps.reprocess import match

MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)


async def say(memory: AsyncMemory, thread: str, *lines: str, day: int = 0) -> None:
    chat = memory.user("alice").thread(thread)
    turns = [
        {"id": f"{thread}-{n}", "role": "user", "content": line, "created_at": MARCH + timedelta(days=day, minutes=n)}
        for n, line in enumerate(lines)
    ]
    await chat.add_many(turns)
    await chat.process("extract")


def learn(chat: ScriptedChat, version: str, reword: Callable[[str], str | None] = lambda line: line) -> None:
    """Gives the model a new prompt, under which it words what it finds anew, or (None) finds it no more."""

    def extract(data: ExtractInput) -> ExtractOutput:
        lines = [(turn.ref, line) for turn in data.turns for line in turn.content.splitlines() if "fact:" in line]
        said = [(ref, line, reword(line.removeprefix("fact:").strip())) for ref, line in lines]
        return ExtractOutput(
            memories=[ExtractedMemory(content=text, quote=line, turns=[ref]) for ref, line, text in said if text]
        )

    chat.version = version
    chat.outputs["extract"] = extract


async def everything(memory: AsyncMemory) -> dict[str, Memory]:
    return {one.content: one for one in await memory.user("alice").memories(include_superseded=True)}


async def test_what_the_turns_still_give_stays_under_the_new_version(memory: AsyncMemory, chat: ScriptedChat):
    await say(memory, "t1", "fact: home=Lisbon by the sea", "fact: pet=a dog called Rex")
    await memory.user("alice").process("profile")
    before, profiles = await everything(memory), chat.calls["profile"]
    learn(chat, "script-2")
    result = await memory.user("alice").reprocess()
    assert result.counts == {"kept": 2, "changed": 0, "added": 0, "gone": 0}
    assert chat.calls["profile"] == profiles  # it knows all this
    after = await everything(memory)
    assert {one.id for one in after.values()} == {one.id for one in before.values()}
    assert {one.prompt_version for one in after.values()} == {"script-2"}
    calls = chat.calls["extract"]
    assert (await memory.user("alice").reprocess()).turns == 0
    assert chat.calls["extract"] == calls  # what is through costs nothing


async def test_what_is_worded_anew_replaces_the_old_and_what_is_gone_is_withdrawn(
    memory: AsyncMemory, chat: ScriptedChat
):
    await say(memory, "t1", "fact: home=Lisbon by the sea", "fact: pet=a dog called Rex", "nofact: car=an old Volvo")
    words = {"home=Lisbon by the sea": "Alice lives in Lisbon by the sea", "car=an old Volvo": "car=an old Volvo"}
    learn(chat, "script-2", lambda line: words.get(line.removeprefix("no").removeprefix("fact: ")))
    result = await memory.user("alice").reprocess()
    assert result.counts == {"kept": 0, "changed": 1, "added": 1, "gone": 1}
    assert (result.turns, result.superseded) == (3, 2)
    profile = await memory.user("alice").profile()  # it was brought up to date with them
    assert profile is not None
    assert set(profile.personal) == {"Alice lives in Lisbon by the sea", "car=an old Volvo"}
    found = await everything(memory)
    old, new = found["home=Lisbon by the sea"], found["Alice lives in Lisbon by the sea"]
    assert (old.superseded_by, old.supersede_reason) == (new.id, "rederived")
    assert (new.supersedes_ids, new.source_turn_ids, new.prompt_version) == ([old.id], old.source_turn_ids, "script-2")
    assert new.created_at == old.created_at == MARCH
    assert found["pet=a dog called Rex"].supersede_reason == "revoked"
    active = {one.content for one in await memory.user("alice").memories()}
    assert active == {"Alice lives in Lisbon by the sea", "car=an old Volvo"}
    # The old wording is no truth of the past: a read as of then gives the new one only.
    then = {one.content for one in await memory.user("alice").memories(as_of=MARCH + timedelta(hours=1))}
    assert then == active


async def test_a_wording_may_come_back_with_a_third_version(memory: AsyncMemory, chat: ScriptedChat):
    await say(memory, "t1", "fact: home=Lisbon by the sea")
    learn(chat, "script-2", lambda line: f"Alice said that {line}")
    await memory.user("alice").reprocess()
    learn(chat, "script-1")
    result = await memory.user("alice").reprocess()
    assert result.counts["changed"] == 1
    (active,) = await memory.user("alice").memories()
    assert active.content == "home=Lisbon by the sea"
    assert len(await memory.user("alice").history(active.id)) == 3


async def test_what_was_given_or_corrected_by_hand_or_pinned_is_not_touched(memory: AsyncMemory, chat: ScriptedChat):
    alice = memory.user("alice")
    await say(memory, "t1", "fact: home=Lisbon by the sea", "fact: pet=a dog called Rex", "fact: tea=green, no sugar")
    given = await alice.remember("Allergic to peanuts")
    found = await everything(memory)
    corrected = await alice.update(found["home=Lisbon by the sea"].id, content="home=Porto by the sea")
    await alice.update(found["pet=a dog called Rex"].id, pinned=True)
    learn(chat, "script-2", lambda line: None if line.startswith("pet") else f"Alice said: {line}")
    await alice.reprocess()
    active = {one.content: one for one in await alice.memories()}
    assert set(active) == {
        "Allergic to peanuts",
        "home=Porto by the sea",
        "pet=a dog called Rex",
        "Alice said: tea=green, no sugar",
    }
    assert active["Allergic to peanuts"].id == given.id
    assert active["home=Porto by the sea"].id == corrected.id


async def test_what_a_later_statement_replaced_does_not_come_back(memory: AsyncMemory, chat: ScriptedChat):
    alice = memory.user("alice")
    await say(memory, "t1", "fact: home=Lisbon by the sea")
    await say(memory, "t2", "fact: home=Oslo, at the fjord", day=70)
    assert (await alice.process("reconcile")).counts["contradicted"] == 1
    learn(chat, "script-2")
    result = await alice.reprocess()
    assert result.counts == {"kept": 2, "changed": 0, "added": 0, "gone": 0}
    learn(chat, "script-3", lambda line: f"Alice: {line}")
    await alice.reprocess()
    assert [one.content for one in await alice.memories()] == ["Alice: home=Oslo, at the fjord"]


async def test_only_one_thread_or_the_work_of_one_version(memory: AsyncMemory, chat: ScriptedChat):
    alice = memory.user("alice")
    await say(memory, "t1", "fact: home=Lisbon by the sea")
    learn(chat, "script-2")
    await say(memory, "t2", "fact: pet=a dog called Rex")
    await say(memory, "t3", "fact: car=an old Volvo")
    learn(chat, "script-3")
    calls = chat.calls["extract"]
    assert (await alice.reprocess(prompt_version="script-1")).turns == 1
    assert chat.calls["extract"] == calls + 1
    assert (await alice.reprocess(thread_id="t3")).turns == 1
    versions = {one.content[:3]: one.prompt_version for one in await alice.memories()}
    assert versions == {"hom": "script-3", "pet": "script-2", "car": "script-3"}
    seen: list[int] = []
    await alice.reprocess(progress=seen.append)
    assert seen == [1]
    assert {one.prompt_version for one in await alice.memories()} == {"script-3"}


async def test_turns_that_gave_nothing_are_read_again_and_new_turns_are_left_to_extraction(
    memory: AsyncMemory, chat: ScriptedChat
):
    alice = memory.user("alice")
    await say(memory, "t1", "nofact: car=an old Volvo")
    assert await alice.memories() == []
    await alice.thread("t1").add("user", "fact: pet=a dog called Rex", id="new")
    learn(chat, "script-2", lambda line: line.removeprefix("nofact: "))
    result = await alice.reprocess()
    assert (result.turns, result.counts["added"]) == (1, 1)
    assert (await alice.thread("t1").process("extract")).created == 1
    assert {one.content for one in await alice.memories()} == {"car=an old Volvo", "pet=a dog called Rex"}


async def test_an_answer_that_cannot_be_used_leaves_the_old_and_can_be_replayed(
    memory: AsyncMemory, chat: ScriptedChat
):
    alice = memory.user("alice")
    await say(memory, "t1", "fact: home=Lisbon by the sea")
    learn(chat, "script-2", lambda line: f"Alice: {line}")
    chat.fault = lambda task, call: ModelError("no JSON in it") if task == "extract" else None
    assert (await alice.reprocess()).dead_letters == 1
    assert [one.content for one in await alice.memories()] == ["home=Lisbon by the sea"]
    chat.fault = None
    (letter,) = await memory.dead_letters()
    assert letter.step == "reprocess"
    await memory.replay(letter.id)
    assert [one.content for one in await alice.memories()] == ["Alice: home=Lisbon by the sea"]
    assert await memory.dead_letters() == []


async def test_a_model_that_is_away_advances_nothing(memory: AsyncMemory, chat: ScriptedChat):
    alice = memory.user("alice")
    for number in range(3):
        await say(memory, f"t{number}", f"fact: key{number}=a value that is {number}")
    learn(chat, "script-2")
    start = chat.calls["extract"]
    chat.fault = lambda task, call: ModelError("busy", retryable=True) if call >= start + 2 else None
    with pytest.raises(ModelError):
        await alice.reprocess()
    chat.fault = None
    result = await alice.reprocess()
    assert result.turns == 2  # the first thread is through and is not read again
    assert {one.prompt_version for one in await alice.memories()} == {"script-2"}
    assert len(await everything(memory)) == 3


async def test_a_batch_of_turns_off_the_record_does_not_block_later_ones():
    async with opened(limits=Limits(batch_turns=2)) as memory:
        chat = memory.user("alice").thread("t1")
        await memory.user("alice").update_settings(enabled=False)
        await chat.add_many([{"role": "user", "content": f"fact: secret{n}=not for keeping"} for n in range(2)])
        await memory.user("alice").update_settings(enabled=True)
        await chat.add("user", "fact: pet=a dog called Rex")
        await chat.process("extract")
        assert [one.content for one in await memory.user("alice").memories()] == ["pet=a dog called Rex"]


async def test_what_was_merged_falls_with_a_part_that_is_found_no_more_and_the_others_stand(
    memory: AsyncMemory, chat: ScriptedChat
):
    alice = memory.user("alice")
    await say(memory, "t1", "fact: home town=Lisbon", "fact: pet=a dog called Rex")
    await say(memory, "t2", "fact: home town=Lis-bon", day=1)
    assert (await alice.process("reconcile")).counts["merged"] == 2
    assert {one.content for one in await alice.memories()} == {"home town=LIS-BON", "pet=a dog called Rex"}
    learn(chat, "script-2", lambda line: None if line == "home town=Lisbon" else line)
    result = await alice.reprocess()
    assert result.counts["gone"] == 1
    found = await everything(memory)
    assert {one.content for one in found.values() if one.superseded_by is None} == {
        "home town=Lis-bon",
        "pet=a dog called Rex",
    }
    assert found["home town=LIS-BON"].supersede_reason == "revoked"
    freed = found["home town=Lis-bon"]
    assert (freed.superseded_at, freed.supersede_reason) == (None, None)
    profile = await alice.profile()
    assert profile is not None
    assert sorted(profile.personal) == ["home town=Lis-bon", "pet=a dog called Rex"]


@pytest.mark.parametrize("pinned", [False, True])
async def test_what_was_merged_stands_while_its_parts_are_found_or_it_is_pinned(
    memory: AsyncMemory, chat: ScriptedChat, pinned: bool
):
    alice = memory.user("alice")
    await say(memory, "t1", "fact: home town=Lisbon")
    await say(memory, "t2", "fact: home town=Lis-bon", day=1)
    await alice.process("reconcile")
    (merged,) = await alice.memories()
    if pinned:
        await alice.update(merged.id, pinned=True)
    learn(chat, "script-2", lambda line: None if pinned else line)
    assert (await alice.reprocess()).counts["gone"] == 0
    assert [one.id for one in await alice.memories()] == [merged.id]


async def test_what_another_conversation_turns_out_to_say_too_is_said_again(memory: AsyncMemory, chat: ScriptedChat):
    await say(memory, "t1", "fact: home=Lisbon by the sea")
    await say(memory, "t2", "nofact: home=Lisbon by the sea", day=3)
    learn(chat, "script-2")
    chat.outputs["extract"] = lambda data: ExtractOutput(
        memories=[
            ExtractedMemory(content="home=Lisbon by the sea", quote=turn.content, turns=[turn.ref])
            for turn in data.turns
        ]
    )
    await memory.user("alice").reprocess()
    (home,) = await memory.user("alice").memories()
    assert home.reaffirmed_at == MARCH + timedelta(days=3)


def test_what_is_not_stale_keeps_its_wording():
    old, new = (fact(f"Alice lives in Lisbon {where} the sea", content_hash=where) for where in ("by", "at"))
    for stale in (True, False):
        matched = match([old], [new], lambda _: stale)  # noqa: B023
        assert (matched.changed, matched.decided) == (([(old, new)], []) if stale else ([], [new]))


async def test_what_was_merged_twice_falls_as_a_whole_and_what_was_replaced_since_stays_replaced(
    memory: AsyncMemory, chat: ScriptedChat
):
    alice = memory.user("alice")
    for thread, line in (("t1", "Lisbon"), ("t2", "Lis-bon"), ("t3", "L-isbon")):
        await say(memory, thread, f"fact: home town={line}", f"fact: {thread} lunch={line}")
        await alice.process("reconcile")
    learn(chat, "script-2", lambda line: None if line == "home town=Lisbon" else line)
    await alice.reprocess()
    homes = {one.content for one in await alice.memories() if "home" in one.content}
    assert homes == {"home town=Lis-bon", "home town=L-isbon"}
    await alice.process("reconcile")
    await say(memory, "t4", "fact: home town=Porto", day=2)
    await alice.process("reconcile")
    learn(chat, "script-3", lambda line: None if line == "home town=Lis-bon" else line)
    await alice.reprocess()
    assert {one.content for one in await alice.memories() if "home" in one.content} == {"home town=Porto"}


async def test_what_was_given_by_hand_is_no_merge_of_what_says_the_same(memory: AsyncMemory, chat: ScriptedChat):
    alice = memory.user("alice")
    await say(memory, "t1", "fact: home town=Lisbon")
    given = await alice.remember("The home town is Lisbon")
    learn(chat, "script-2", lambda line: "The home town is Lisbon")
    await alice.reprocess()
    assert [one.id for one in await alice.memories()] == [given.id]
    learn(chat, "script-3", lambda line: None)
    await alice.reprocess()
    assert [one.id for one in await alice.memories()] == [given.id]


@pytest.mark.parametrize("towns", [("Lisbon", "Lis-bon"), ("Lisbon", "Lis-bon", "L-isbon")])
async def test_what_was_replaced_while_the_model_worked_does_not_stand_again(
    memory: AsyncMemory, chat: ScriptedChat, towns: tuple[str, ...]
):
    alice = memory.user("alice")
    for number, town in enumerate(towns):
        await say(memory, f"t{number}", f"fact: home town={town}", day=number)
        await alice.process("reconcile")
    (merged,) = await alice.memories()
    learn(chat, "script-2", lambda line: None if line == "home town=Lisbon" else line)
    request = {"user_id": "alice", "thread_id": "t0"}
    activities = memory.runtime.activities
    begun = await activities["reprocess.think"](request)
    assert begun is not None
    await activities["commit"](begun)
    draft = await activities["reprocess.think"](request)
    assert draft is not None
    assert draft["release"]
    await alice.update(merged.id, content="home town=Porto")
    await activities["commit"](draft)
    assert [one.content for one in await alice.memories()] == ["home town=Porto"]
