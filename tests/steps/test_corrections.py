"""What is replaced in one conversation reaches the summaries of the others that say it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.core.pipeline.transport import AsyncHttpResponse, HttpRequest
from scripted_model import ScriptedChat
from store_scan import scan

import embedded_cosmos
from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.offline import OfflineChat
from agent_memory.language.tasks import SummarizeInput
from agent_memory.processing.activities import run_workflow
from agent_memory.settings import Limits
from agent_memory.steps.summarize import read_untold, says
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES, SUMMARIES
from agent_memory.store.cursors import read_cursor

MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)
ON_DEMAND = Cadence(0, 0, 0, 0, idle_seconds=0)
OLD, NEW, NEWER = "home town=Lisbon by the river", "home town=Porto by the sea", "home town=Faro in the south"


class Killed(BaseException):
    """The process ends."""


def opened(chat: ScriptedChat | OfflineChat, **limits: int) -> AsyncMemory:
    return AsyncMemory.local(
        chat_model=chat, embedding_model=HashingEmbeddings(), cadence=ON_DEMAND, limits=Limits(**limits)
    )


async def tell(memory: AsyncMemory, thread: str, *lines: str, day: int = 0) -> None:
    """Says lines in a thread, and has them extracted and summarised."""
    chat = memory.user("alice").thread(thread)
    at = MARCH + timedelta(days=day)
    await chat.add_many(
        [
            {"role": "user", "content": line, "id": f"{thread}-{day}-{n}", "created_at": at + timedelta(minutes=n)}
            for n, line in enumerate(lines)
        ]
    )
    await chat.process("extract")
    await chat.process("summarize")


async def points(memory: AsyncMemory, thread: str) -> list[str]:
    summary = await memory.user("alice").thread(thread).summary()
    assert summary is not None
    return summary.key_points


async def marked(memory: AsyncMemory) -> list[str]:
    return await memory.runtime.store.query(MEMORIES, queries.UNTOLD_THREADS, ("alice",))


@pytest.mark.parametrize("state_says_it", [True, False])
async def test_summary_and_state_of_another_thread_say_what_holds_now(chat: ScriptedChat, state_says_it: bool):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        last = [] if state_says_it else ["fact: pet=a cat"]
        await tell(memory, "a", f"fact: {OLD}", *last)
        await tell(memory, "other", "fact: car=a red Honda")
        await tell(memory, "b", f"fact: {NEW}", day=1)
        result = await alice.process("reconcile")
        assert result.counts["contradicted"] == result.counts["corrected"] == 1
        assert await points(memory, "a") == [f"fact: {NEW}", *last]
        state = await alice.thread("a").state()
        assert state is not None
        assert state.state == {"last": f"fact: {NEW}" if state_says_it else "fact: pet=a cat"}
        assert await points(memory, "other") == ["fact: car=a red Honda"]
        assert chat.calls == {"extract": 3, "summarize": 4, "reconcile": 1}
        assert await marked(memory) == []
        await alice.process("reconcile")
        await alice.thread("a").process("summarize")
        assert chat.calls["summarize"] == 4, "a summary is told once"


async def test_no_model_is_asked_for_a_summary_that_does_not_say_it(chat: ScriptedChat):
    async with opened(chat) as memory:
        chat.outputs["summarize"] = lambda data: (
            ScriptedChat()
            .outputs["summarize"](data)
            .model_copy(update={"key_points": ["They talked about the weather."], "state": {}})
        )
        await tell(memory, "a", f"fact: {OLD}")
        await tell(memory, "b", f"fact: {NEW}", day=1)
        calls = chat.calls["summarize"]
        await memory.user("alice").process("reconcile")
        assert chat.calls["summarize"] == calls
        assert await marked(memory) == [], "and it is not looked at again"


async def test_many_replacements_are_one_call_for_a_thread_and_go_along_with_new_turns(chat: ScriptedChat):
    async with opened(chat) as memory:
        old, new = ([f"fact: thing {n}=value of {word} {n}" for n in range(5)] for word in ("yesterday", "tomorrow"))
        await tell(memory, "a", *old)
        await tell(memory, "b", *new, day=1)
        await memory.user("alice").thread("a").add("user", "fact: pet=a black cat")
        await memory.user("alice").process("reconcile")
        assert chat.calls["summarize"] == 3
        assert await points(memory, "a") == [*new, "fact: pet=a black cat"]


async def test_a_turn_that_waits_for_a_later_run_is_corrected_too(chat: ScriptedChat):
    async with opened(chat, batch_turns=1) as memory:
        await tell(memory, "a", f"fact: {OLD}")
        for line in ("fact: pet=a black cat", f"As I said: {OLD}"):
            await memory.user("alice").thread("a").add("user", line)
        await tell(memory, "b", f"fact: {NEW}", day=1)
        await memory.user("alice").process("reconcile")
        assert await points(memory, "a") == [f"fact: {NEW}", "fact: pet=a black cat", f"As I said: {NEW}"]
        assert await marked(memory) == []


async def test_a_thread_that_replaces_its_own_fact_is_not_summarised_for_it(chat: ScriptedChat):
    async with opened(chat) as memory:
        await tell(memory, "a", f"fact: {OLD}", f"fact: {NEW}")
        assert (await memory.user("alice").process("reconcile")).counts["contradicted"] == 1
        assert chat.calls["summarize"] == 1


async def test_what_is_replaced_once_more_reaches_those_that_were_told_before(chat: ScriptedChat):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        for day, (thread, line) in enumerate([("a", OLD), ("b", NEW), ("c", NEWER)]):
            await tell(memory, thread, f"fact: {line}", day=day)
            await alice.process("reconcile")
        assert [await points(memory, thread) for thread in "abc"] == [[f"fact: {NEWER}"]] * 3


@pytest.mark.parametrize(("again", "merged"), [("Lis-bon", 2), ("Lisbon!", 0)])
async def test_what_several_conversations_said_is_corrected_in_all(chat: ScriptedChat, again: str, merged: int):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        await tell(memory, "a", "fact: home town=Lisbon")
        await tell(memory, "b", f"fact: home town={again}")
        assert (await alice.process("reconcile")).counts.get("merged", 0) == merged
        await tell(memory, "c", "fact: home town=Porto", day=1)
        assert (await alice.process("reconcile")).counts["corrected"] == 2


async def test_a_correction_by_hand_reaches_the_summary(chat: ScriptedChat):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        await tell(memory, "a", f"fact: {OLD}")
        await tell(memory, "b", "fact: pet=a cat")
        [fact] = [one for one in await alice.memories() if one.content == OLD]
        await alice.update(fact.id, content=NEW)
        await alice.process("reconcile")
        assert await points(memory, "a") == [f"fact: {NEW}"]


async def test_if_the_model_is_down_the_old_summary_stays_and_the_next_pass_updates_it(chat: ScriptedChat):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        await tell(memory, "a", f"fact: {OLD}")
        await tell(memory, "b", f"fact: {NEW}", day=1)
        chat.fault = lambda task, call: ModelError("no", retryable=True) if task == "summarize" else None
        with pytest.raises(ModelError):
            await alice.process("reconcile")
        assert await points(memory, "a") == [f"fact: {OLD}"]
        chat.fault = None
        await alice.process("reconcile")
        assert await points(memory, "a") == [f"fact: {NEW}"]


async def test_a_run_that_was_killed_before_it_took_the_mark_off_is_finished_without_a_model(
    chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch
):
    deadly = ""

    class Machine(embedded_cosmos.AsyncTransport):
        async def send(self, request: HttpRequest, **options: Any) -> AsyncHttpResponse:
            if request.method == deadly:
                raise Killed
            return await super().send(request, **options)

    monkeypatch.setattr(embedded_cosmos, "AsyncTransport", Machine)
    async with opened(chat) as memory:
        await tell(memory, "a", f"fact: {OLD}")
        await tell(memory, "b", f"fact: {NEW}", day=1)
        runtime = memory.runtime
        draft = await runtime.activities["reconcile.think"]({"user_id": "alice"})
        assert draft is not None
        for _ in range(2):  # redelivered: the second meets a cursor that has moved
            await runtime.activities["commit"](draft)
        told = await runtime.activities["summarize.think"]({"user_id": "alice", "thread_id": "a"})
        assert told is not None
        deadly = "PATCH"  # what comes behind the batch
        with pytest.raises(Killed):
            await runtime.activities["commit"](told)
        deadly = ""
        assert (await points(memory, "a"), await marked(memory)) == ([f"fact: {NEW}"], ["a"])
        calls = chat.calls["summarize"]
        await run_workflow("summarize", {"user_id": "alice", "thread_id": "a"}, runtime.activities)
        assert (chat.calls["summarize"], await marked(memory)) == (calls, [])
        cursor = await read_cursor(runtime.store, SUMMARIES, ("alice", "a"), "summarize")
        assert "intents" not in cursor.extra


async def test_what_is_replaced_once_more_while_a_summary_is_corrected_is_still_to_be_told(chat: ScriptedChat):
    async with opened(chat) as memory:
        run = memory.runtime.activities

        async def replace(thread: str, line: str, day: int) -> None:
            await tell(memory, thread, f"fact: {line}", day=day)
            draft = await run["reconcile.think"]({"user_id": "alice"})
            assert draft is not None
            await run["commit"](draft)

        await tell(memory, "a", f"fact: {OLD}")
        await replace("b", NEW, day=1)
        told = await run["summarize.think"]({"user_id": "alice", "thread_id": "a"})
        assert told is not None
        await replace("c", NEWER, day=2)
        await run["commit"](told)
        assert (await points(memory, "a"), "a" in await marked(memory)) == ([f"fact: {NEW}"], True)
        await run_workflow("summarize", {"user_id": "alice", "thread_id": "a"}, run)
        assert await points(memory, "a") == [f"fact: {NEWER}"]


def unusable_with_corrections(chat: ScriptedChat, of: str = "") -> None:
    """From now on no answer can be used where a summary is to be corrected (that of a thread that says `of`)."""

    def fault(task: str, call: int) -> ModelError | None:
        data = chat.seen[-1]
        poison = task == "summarize" and data.corrections and of in data.model_dump_json()
        return ModelError("nonsense", cost={"output_tokens": 7}) if poison else None

    chat.fault = fault


async def test_a_summary_that_cannot_be_corrected_is_a_dead_letter_and_the_others_go_on(chat: ScriptedChat):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        await tell(memory, "a", f"fact: {OLD}")
        await tell(memory, "b", "fact: pet=a cat named Tom")
        await tell(memory, "c", f"fact: {NEW}", "fact: pet=a dog named Rex", day=1)
        unusable_with_corrections(chat, "Lisbon")
        result = await alice.process("reconcile")
        assert (result.dead_letters, result.counts["corrected"], result.usage.output_tokens) == (1, 1, 5 + 5 + 7)
        assert await points(memory, "a") == [f"fact: {OLD}"]
        assert await points(memory, "b") == ["fact: pet=a dog named Rex"]
        [letter] = await memory.dead_letters()
        assert (letter.thread_id, letter.step, letter.turn_ids) == ("a", "summarize", [])
        calls = chat.calls["summarize"]
        await alice.process("reconcile")
        assert chat.calls["summarize"] == calls, "a model is not asked again until somebody says so"
        with pytest.raises(ModelError):
            await memory.replay(letter.id)
        assert await memory.dead_letters() == [letter]
        chat.fault = None
        await memory.replay(letter.id)
        assert await points(memory, "a") == [f"fact: {NEW}"]
        assert (await memory.dead_letters(), await marked(memory)) == ([], [])


async def test_turns_do_without_a_correction_that_no_model_can_make_anything_of(chat: ScriptedChat):
    async with opened(chat) as memory:
        await tell(memory, "a", f"fact: {OLD}")
        await tell(memory, "b", f"fact: {NEW}", day=1)
        reconciled = await memory.runtime.activities["reconcile.think"]({"user_id": "alice"})
        assert reconciled is not None
        await memory.runtime.activities["commit"](reconciled)
        assert await marked(memory) == ["a"]
        unusable_with_corrections(chat)
        await tell(memory, "a", "fact: pet=a cat", day=2)
        await tell(memory, "a", "fact: car=a red Honda", day=3)
        assert await points(memory, "a") == [f"fact: {OLD}", "fact: pet=a cat", "fact: car=a red Honda"]
        [letter] = await memory.dead_letters()
        assert (letter.turn_ids, letter.usage.output_tokens) == ([], 7)
        chat.fault = None
        await memory.replay(letter.id)
        assert (await points(memory, "a"))[0] == f"fact: {NEW}"


async def test_turns_of_which_nothing_can_be_made_are_the_dead_letter_and_not_the_corrections(chat: ScriptedChat):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        await tell(memory, "a", f"fact: {OLD}")
        await tell(memory, "b", f"fact: {NEW}", day=1)
        await alice.thread("a").add("user", "fact: pet=a cat", id="poison")
        chat.fault = lambda task, call: (
            ModelError("nonsense", cost={"output_tokens": 7}) if task == "summarize" and chat.seen[-1].turns else None
        )
        result = await alice.process("reconcile")
        [letter] = await memory.dead_letters()
        assert (letter.turn_ids, letter.usage.output_tokens, result.dead_letters) == (["poison"], 14, 1)
        await alice.process("reconcile")
        assert await points(memory, "a") == [f"fact: {NEW}"]


async def test_more_corrections_than_a_call_has_room_for_are_several_calls(chat: ScriptedChat):
    async with opened(chat, batch_tokens=120) as memory:
        old, new = ([f"fact: thing {n}=value of {word} {n}" for n in range(10)] for word in ("yesterday", "tomorrow"))
        await tell(memory, "a", *old)
        await tell(memory, "b", *new, day=1)
        chat.seen.clear()
        assert (await memory.user("alice").process("reconcile")).counts["corrected"] == 10
        told = [len(data.corrections) for data in chat.seen if isinstance(data, SummarizeInput)]
        assert sum(told) == 10
        assert max(told) * len(old[0] + new[0]) / 4 < 120
        assert (sorted(await points(memory, "a")), await marked(memory)) == (sorted(new), [])


async def test_a_rebuilt_summary_is_corrected_again(chat: ScriptedChat):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        await tell(memory, "a", f"fact: {OLD}", "fact: dentist=Dr Molar")
        await tell(memory, "b", f"fact: {NEW}", day=1)
        await alice.process("reconcile")
        [dentist] = [one for one in await alice.memories() if "Molar" in one.content]
        await alice.forget(dentist.id)
        await alice.thread("a").process("summarize")
        assert await points(memory, "a") == [f"fact: {NEW}"]
        assert await marked(memory) == []


async def test_what_a_replayed_dead_letter_brings_is_corrected_too(chat: ScriptedChat):
    async with opened(chat) as memory:
        await tell(memory, "a", "fact: pet=a cat")
        chat.fault = lambda task, call: ModelError("nonsense") if task == "summarize" else None
        await tell(memory, "a", f"fact: {OLD}", day=1)
        chat.fault = None
        await tell(memory, "b", f"fact: {NEW}", day=2)
        await memory.user("alice").process("reconcile")
        assert (await points(memory, "a"), await marked(memory)) == (["fact: pet=a cat"], [])
        [letter] = await memory.dead_letters()
        await memory.replay(letter.id)
        assert await points(memory, "a") == ["fact: pet=a cat", f"fact: {NEW}"]
        assert await memory.dead_letters() == []


async def test_what_was_said_in_no_conversation_has_no_summary_to_correct_and_passes_it_on(chat: ScriptedChat):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        await tell(memory, "a", f"fact: {OLD}")
        given = await alice.remember(NEW)
        await alice.process("reconcile")
        assert await points(memory, "a") == [f"fact: {NEW}"]
        await alice.update(given.id, content=NEWER)
        assert await marked(memory) == ["a"]
        await alice.process("reconcile")
        assert (await points(memory, "a"), await marked(memory)) == ([f"fact: {NEWER}"], [])


async def test_versions_that_replace_one_another_in_a_circle_correct_nothing(chat: ScriptedChat):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        await tell(memory, "a", f"fact: {OLD}", "fact: pet=a cat")
        one, two = await alice.memories()
        for loser, winner in ((one, two), (two, one)):
            circle = {"superseded_by": winner.id, "untold_since": "2026-03-01T09:00:00Z"}
            await memory.runtime.store.patch(MEMORIES, loser.id, ("alice", "a"), circle, "FROM c WHERE true")
        untold = await read_untold(memory.runtime.tools, "alice", "a")
        assert {found.memory_id: found.corrections for found in untold} == {one.id: [], two.id: []}


async def test_a_state_in_any_script_is_seen_to_say_it(chat: ScriptedChat):
    async with opened(chat) as memory:
        chat.outputs["summarize"] = lambda data: (
            ScriptedChat().outputs["summarize"](data).model_copy(update={"key_points": ["They talked."]})
        )
        await tell(memory, "a", "fact: home town=Zürich")
        await tell(memory, "b", "fact: home town=Genève", day=1)
        await memory.user("alice").process("reconcile")
        state = await memory.user("alice").thread("a").state()
        assert state is not None
        assert state.state == {"last": "fact: home town=Genève"}


async def test_a_correction_in_a_summary_is_forgotten_with_its_source(chat: ScriptedChat):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        await tell(memory, "a", f"fact: {OLD}", "fact: pet=a cat")
        await tell(memory, "b", f"fact: {NEW}", day=1)
        await alice.process("reconcile")
        assert await points(memory, "a") == [f"fact: {NEW}", "fact: pet=a cat"]
        [winner] = [one for one in await alice.memories() if one.content == NEW]
        await alice.thread("b").forget()
        await alice.thread("a").process("summarize")
        assert await points(memory, "a") == [f"fact: {OLD}", "fact: pet=a cat"]
        assert await scan(memory, "Porto", winner.id) == []
        assert OLD in [one.content for one in await alice.memories()]


@pytest.mark.parametrize("imported", [True, False])
async def test_a_summary_knows_itself_what_it_was_told(chat: ScriptedChat, imported: bool):
    async with opened(chat) as memory, opened(chat) as other:
        alice = memory.user("alice")
        await tell(memory, "a", f"fact: {OLD}", "fact: pet=a cat")
        await tell(memory, "b", f"fact: {NEW}", day=1)
        await alice.process("reconcile")
        if imported:
            lines: list[str] = []
            await alice.export(lines.append)
            memory, alice = other, other.user("alice")
            await alice.import_lines(lines)
            assert (await points(memory, "a"))[0] == f"fact: {NEW}"
        else:  # the row in between goes first, and what replaced it with it, but not the talk
            [old] = [one for one in await alice.memories(include_superseded=True) if one.content == OLD]
            await alice.forget(old.id, include_sources=False)
            assert (await points(memory, "a"))[0] == f"fact: {OLD}"
        await alice.thread("b").forget()
        assert await scan(memory, "Porto") == []


async def test_what_could_not_be_corrected_is_not_lost_with_a_dead_letter_that_a_forgetting_takes(chat: ScriptedChat):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        await tell(memory, "a", f"fact: {OLD}")
        await tell(memory, "b", f"fact: {NEW}", "fact: pet=a cat", day=1)
        unusable_with_corrections(chat)
        await alice.process("reconcile")
        assert len(await memory.dead_letters()) == 1
        chat.fault = None
        [pet] = [one for one in await alice.memories() if one.content == "pet=a cat"]
        await alice.forget(pet.id, include_sources=False)
        assert (await memory.dead_letters(), await marked(memory)) == ([], ["a"])
        await alice.process("reconcile")
        assert await points(memory, "a") == [f"fact: {NEW}"]


async def test_what_passes_a_conversation_that_does_not_say_it_reaches_those_before_it(chat: ScriptedChat):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        await tell(memory, "a", f"fact: {OLD}")
        silent = chat.outputs["summarize"]
        chat.outputs["summarize"] = lambda data: silent(data).model_copy(update={"key_points": [], "state": {}})
        await tell(memory, "b", f"fact: {NEW}", day=1)
        chat.outputs["summarize"] = silent
        await alice.process("reconcile")
        for day, line in enumerate((NEWER, "home town=Braga in the north"), 2):
            await tell(memory, f"t{day}", f"fact: {line}", day=day)
            await alice.process("reconcile")
            assert await points(memory, "a") == [f"fact: {line}"]


async def test_without_a_model_the_rules_put_the_new_value_in_the_place_of_the_old_one():
    async with opened(OfflineChat()) as memory:
        await tell(memory, "a", "My budget for the Hawaii trip is $10,000.", "I'm allergic to peanuts.")
        await tell(memory, "b", "My budget for the Hawaii trip is $15,000 now.", day=1)
        await memory.user("alice").process("reconcile")
        said = "\n".join(await points(memory, "a"))
        assert "$15,000" in said
        assert "$10,000" not in said
        assert "peanuts" in said


async def test_the_rules_correct_turns_that_are_summarised_together_with_it():
    async with opened(OfflineChat()) as memory:
        alice = memory.user("alice")
        await alice.thread("a").add("user", "My budget for the Hawaii trip is $10,000.", created_at=MARCH)
        await alice.thread("a").process("extract")
        await tell(memory, "b", "My budget for the Hawaii trip is $15,000 now.", day=1)
        await alice.process("reconcile")
        await alice.thread("a").process("summarize")
        state = await alice.thread("a").state()
        assert state is not None
        said = "\n".join([*await points(memory, "a"), str(state.state)])
        assert "$15,000" in said
        assert "$10,000" not in said


@pytest.mark.parametrize(
    ("text", "was", "now", "expected"),
    [
        ("Budget for Hawaii: 10,000", "The budget for Hawaii is $10,000", "The budget for Hawaii is $15,000", True),
        ("Budget for Hawaii: open", "The budget for Hawaii is $10,000", "The budget for Hawaii is $15,000", False),
        ("They moved to Lisbon in May.", "User lives in Lisbon", "User lives in Porto", True),
        ("They moved in May.", "User lives in Lisbon", "User lives in Porto", False),
        ("She eats meat on Sundays.", "Maya eats meat", "Maya never eats meat", True),
        ("他说东京很热,住在东京", "用户住在东京", "用户住在大阪", True),
        ("他说大阪很热", "用户住在东京", "用户住在大阪", False),
        ("She eats on Sundays.", "Maya eats meat in Lisbon", "Maya never eats meat in Lisbon", False),
    ],
)
def test_a_text_says_what_was_replaced_by_the_words_that_differ(text: str, was: str, now: str, expected: bool):
    assert says(text, was, now) is expected


async def test_a_correction_by_hand_reaches_the_summary_that_says_it_in_other_words(chat: ScriptedChat):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        await tell(memory, "a", "fact: home town=Lisbon")
        await tell(memory, "a", "fact: home town=Lisbon!", day=1)
        [fact] = await alice.memories()
        await alice.update(fact.id, content=NEW)
        await alice.process("reconcile")
        assert not [point for point in await points(memory, "a") if "Lisbon" in point]
