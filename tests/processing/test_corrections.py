"""What is replaced in one conversation reaches the summaries of the others that say it."""

from datetime import UTC, datetime, timedelta

import pytest
from scripted_model import ScriptedChat
from store_scan import scan

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.offline import OfflineChat
from agent_memory.processing.corrections import says
from agent_memory.processing.driver import run_workflow
from agent_memory.store import queries
from agent_memory.store.containers import MEMORIES

MARCH = datetime(2026, 3, 1, 9, tzinfo=UTC)
ON_DEMAND = Cadence(0, 0, 0, 0, idle_seconds=0)
OLD, NEW, NEWER = "home town=Lisbon by the river", "home town=Porto by the sea", "home town=Faro in the south"


def opened(chat: ScriptedChat | OfflineChat) -> AsyncMemory:
    return AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), cadence=ON_DEMAND)


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


@pytest.mark.parametrize("retryable", [True, False])
async def test_a_model_that_fails_leaves_the_old_summary_and_the_next_pass_tells_it(
    chat: ScriptedChat, retryable: bool
):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        await tell(memory, "a", f"fact: {OLD}")
        await tell(memory, "b", f"fact: {NEW}", day=1)
        chat.fault = lambda task, call: ModelError("no", retryable=retryable) if task == "summarize" else None
        with pytest.raises(ModelError):
            await alice.process("reconcile")
        assert await points(memory, "a") == [f"fact: {OLD}"]
        chat.fault = None
        await alice.process("reconcile")
        assert await points(memory, "a") == [f"fact: {NEW}"]


async def test_a_run_that_was_killed_before_it_took_the_mark_off_is_finished_without_a_model(chat: ScriptedChat):
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
        assert told["told"][0]["shown"]
        killed = told | {"told": []}  # as if the process had ended behind the batch
        await runtime.activities["commit"](killed)
        calls = chat.calls["summarize"]
        await run_workflow("summarize", {"user_id": "alice", "thread_id": "a"}, runtime.activities)
        assert (chat.calls["summarize"], await marked(memory)) == (calls, [])
        assert await points(memory, "a") == [f"fact: {NEW}"]


async def test_what_a_summary_was_told_is_forgotten_with_its_source(chat: ScriptedChat):
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
        ("She eats on Sundays.", "Maya eats meat in Lisbon", "Maya never eats meat in Lisbon", False),
    ],
)
def test_a_text_says_what_was_replaced_by_the_words_that_differ(text: str, was: str, now: str, expected: bool):
    assert says(text, was, now) is expected
