"""What an agent is told: enough, within the budget, and never at the price of the conversation."""

import asyncio
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from broken_embeddings import BrokenEmbeddings
from scripted_model import ScriptedChat
from simulation import simulated_time

from agent_memory import AsyncMemory, Memory
from agent_memory.errors import InvalidInput, ModelError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.recall.render import TURNS, Line, fit
from agent_memory.settings import RecallSettings
from agent_memory.store.containers import MEMORIES
from agent_memory.store.static import StaticFacts
from agent_memory.text.tokens import ApproximateTokens


@pytest.mark.req("S0-040", "S0-087", "S2-45")
async def test_a_new_conversation_knows_what_was_said_in_another(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.thread("first").add("user", "fact: My name is=Alice, nice to meet you")
    await memory.drain(timeout=30)
    context = await alice.thread("second").context("What is my name?")
    assert "Alice" in context.text
    assert context.messages == [{"role": "system", "content": context.text}]
    assert context.degraded == []
    assert context.skipped_reason is None
    assert context.milliseconds > 0


@pytest.mark.req("S3-34")
async def test_nothing_known_gives_nothing(memory: AsyncMemory):
    context = await memory.user("alice").thread("t1").context("What is my name?")
    assert (context.text, context.messages, context.tokens, context.used) == ("", [], 0, [])
    assert context.skipped_reason is not None


async def test_the_last_turns_and_the_summary_of_the_thread_are_in_it(memory: AsyncMemory):
    thread = memory.user("alice").thread("t1")
    for n in range(8):
        await thread.add("user" if n % 2 == 0 else "assistant", f"line number {n}")
    await thread.add("tool", "a tool's answer")
    await thread.process("summarize")
    context = await thread.context("And then?")
    assert "This Conversation So Far:" in context.text
    assert context.messages[1:] == [
        {"role": "user" if n % 2 == 0 else "assistant", "content": f"line number {n}"} for n in range(3, 8)
    ]


@pytest.mark.req("S0-098", "S0-100")
async def test_a_context_stays_within_its_budget_and_says_what_it_left_out(memory: AsyncMemory):
    alice = memory.user("alice")
    for n in range(30):
        await alice.remember(f"Fact number {n} about gardens: " + "roses and lilies and many other flowers " * 3)
    thread = alice.thread("t1")
    for n in range(10):
        await thread.add("user", f"I say {n} times that " + "gardens are lovely " * 20)
    sizes = []
    for budget in (100, 300, 650, 2000):
        context = await thread.context("What about gardens and flowers?", budget=budget, limit=30)
        assert context.tokens <= budget
        sizes.append(context.tokens)
    assert sizes == sorted(sizes)
    small = await thread.context("What about gardens and flowers?", budget=300, limit=30)
    told = {item["id"] for item in small.used if "id" in item}
    untold = {item["id"] for item in small.left_out if "id" in item}
    assert untold
    assert not told & untold


@pytest.mark.req("S0-080", "S0-086", "S0-089")
async def test_without_embeddings_words_still_find(chat: ScriptedChat):
    embeddings = BrokenEmbeddings()
    async with AsyncMemory.local(chat_model=chat, embedding_model=embeddings) as memory:
        alice = memory.user("alice")
        await alice.remember("The cat is called Tom")
        embeddings.error = ModelError("no embeddings today")
        context = await alice.context("How is the cat called?")
        assert "Tom" in context.text
        assert any("no embeddings today" in reason for reason in context.degraded)
        embeddings.error = RuntimeError("a bug in somebody's model")
        context = await alice.context("How is the cat called?")
        assert context.text == ""
        assert any("a bug" in reason for reason in context.degraded)


@simulated_time
@pytest.mark.req("S0-079", "S0-086")
async def test_a_slow_part_is_left_out_in_time(chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch):
    async def never(*_: Any) -> None:
        await asyncio.Future[None]()

    monkeypatch.setattr(StaticFacts, "all", never)
    settings = RecallSettings(context_timeout=1.0)
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), recall=settings) as memory:
        thread = memory.user("alice").thread("t1")
        await memory.user("alice").remember("The cat is called Tom")
        await thread.add("user", "hello there")
        began = asyncio.get_running_loop().time()
        context = await thread.context("How is the cat called?")
        assert asyncio.get_running_loop().time() - began == pytest.approx(1.0)
        assert context.degraded == ["static: not ready in time"]
        assert "The cat is called Tom" in context.text
        assert context.messages[1:] == [{"role": "user", "content": "hello there"}]


async def test_the_messages_of_a_context_are_of_user_and_assistant_alone(memory: AsyncMemory):
    thread = memory.user("alice").thread("t1")
    for role in ("system", "user", "assistant", "tool"):
        await thread.add(role, f"said by the {role}")
    context = await thread.context("How is the cat called?")
    shown = [(one["role"], one["content"]) for one in context.messages if one["content"].startswith("said")]
    assert shown == [("user", "said by the user"), ("assistant", "said by the assistant")]


@pytest.mark.req("S0-009", "S0-086", "S0-089")
async def test_an_unreachable_store_costs_only_the_context(memory: AsyncMemory):
    thread = memory.user("alice").thread("t1")
    await memory.close()
    context = await thread.context("How is the cat called?")
    assert context.text == ""
    # Nobody knows whether the user wants to be remembered, so nothing else is tried.
    assert [part.partition(":")[0] for part in context.degraded] == ["settings"]


@pytest.mark.parametrize("query", ["", "   ", "\ud800", "?" * 100_000, "'; DROP --", "c.content @t0"])
async def test_any_question_gives_a_context(memory: AsyncMemory, query: str):
    alice = memory.user("alice")
    await alice.remember("The cat is called Tom")
    await alice.thread("t1").add("user", "hello there")
    context = await alice.thread("t1").context(f"cat {query}")
    assert (context.degraded, "The cat is called Tom" in context.text) == ([], True)
    bare = await alice.thread("t1").context(query)
    assert (bare.degraded, bare.decisions["gate"]) == ([], "search")
    assert bare.messages == [{"role": "user", "content": "hello there"}]


async def test_a_context_leaves_out_outdated_talk_even_if_nothing_else_is_found(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.thread("t1").add("user", "My locker code is 4711", created_at="2026-03-01T10:00:00Z")
    await alice.thread("t1").process("index")
    asked = "What is my locker code?"
    assert "4711" in (await alice.context(asked)).text
    store = memory.runtime.store
    [row] = await store.query(MEMORIES, "SELECT c.id, c.thread_id FROM c WHERE c.kind = 'chunk'", ("alice",))
    ended = {"valid_to": "2026-04-01T00:00:00.000000Z"}
    await store.patch(MEMORIES, row["id"], ("alice", row["thread_id"]), ended, "FROM c WHERE true")
    assert [hit.memory.id for hit in await alice.search(asked)] == [row["id"]]
    assert "4711" not in (await alice.context(asked)).text
    # On a day in between it was what held, and it was known then if the store learned it then.
    await store.patch(
        MEMORIES,
        row["id"],
        ("alice", row["thread_id"]),
        {"recorded_at": "2026-03-01T10:00:00.000000Z"},
        "FROM c WHERE true",
    )
    assert "4711" in (await alice.context(asked, as_of="2026-03-15")).text


def test_the_turns_of_a_context_are_the_last_ones_without_a_gap():
    counter = ApproximateTokens()
    turns = [Line(TURNS, text, {"id": str(n)}) for n, text in enumerate(["newest " * 6, "long " * 70, "short", "old"])]
    for budget in range(20, 400, 4):
        kept = [line.used["id"] for line in fit({TURNS: turns}, counter, budget, "sections").kept[TURNS]]
        assert kept == [str(n) for n in range(len(kept))], budget
    assert len(kept) == 4
    assert [line.used["id"] for line in fit({TURNS: turns}, counter, 60, "sections").kept[TURNS]] == ["0"]


def test_two_turns_that_say_the_same_are_two_messages():
    turns = [Line(TURNS, "Yes.", {"id": str(n), "role": "user"}) for n in range(2)]
    kept = fit({TURNS: turns}, ApproximateTokens(), 200, "sections").kept[TURNS]
    assert [line.used["id"] for line in kept] == ["0", "1"]


async def test_a_context_has_what_is_relevant_of_the_profile_and_not_shown_already(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.remember("The cat is called Tom")
    second = await alice.remember("The second cat is called Tim")
    await alice.remember("Plays the violin on Sundays")
    await alice.process("profile")
    context = await alice.context("How is the cat called?", limit=1)
    assert context.text.count("The cat is called Tom") == 1
    assert "Profile:\n- The second cat is called Tim" in context.text
    assert "violin" not in context.text
    lines = [item for item in context.used if item["type"] == "user_summary"]
    assert 1 <= len(lines) <= 4
    assert [second.id] in [line["ids"] for line in lines]


async def test_a_context_confined_by_a_filter_has_nothing_of_the_profile(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.remember("The cat is called Tom", tags=["pets"])
    await alice.remember("The second cat is called Tim")
    await alice.process("profile")
    context = await alice.context("How is the cat called?", filters={"tags": {"contains": "pets"}})
    assert "Tom" in context.text
    assert "Tim" not in context.text


async def test_raw_talk_does_not_crowd_out_the_rest(memory: AsyncMemory):
    alice = memory.user("alice")
    for n in range(12):
        await alice.thread("t1").add("user", f"We talk about the cat for the {n}th time")
    await alice.thread("t1").process("extract")
    await alice.remember("The cat is called Tom")
    context = await alice.context("What about the cat?", budget=100)
    assert "The cat is called Tom" in context.text
    assert "th time" in context.text


async def test_memories_far_below_the_best_are_left_out(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.remember("The red garden gate squeaks in the wind")
    await alice.remember("A gate agent was rude at the airport of Lisbon yesterday evening")
    found = {hit.memory.content for hit in await alice.search("Which red garden gate squeaks in the wind?")}
    assert len(found) == 2
    text = (await alice.context("Which red garden gate squeaks in the wind?")).text
    assert "squeaks" in text
    assert "rude" not in text


@pytest.mark.req("S0-098")
async def test_a_small_budget_gets_the_best_line_that_fits(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.remember("The budget for the trip to Hawaii is 10,000 dollars")
    for n in range(10):
        await alice.remember(f"Hawaii, remark number {n}: " + "the beaches are long and wide and white " * 4)
    await alice.process("profile")
    chat = alice.thread("t1")
    for n in range(6):
        await chat.add("user", f"We talk for the {n}th time, and at some length, about the weather")
    await chat.process("summarize")
    context = await chat.context("What is the budget for the trip to Hawaii?", budget=60)
    assert "10,000 dollars" in context.text
    assert context.tokens <= 60


async def test_a_page_that_was_pasted_does_not_take_the_place_of_everything(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.remember("The garden plan: " + "roses here, lilies there, and a fence around. " * 100)
    await alice.remember("The garden plan is due on Friday")
    context = await alice.context("Where are roses, lilies and the fence, and when is the garden plan due?", budget=300)
    assert context.tokens <= 300
    assert "due on Friday" in context.text
    assert "roses here" in context.text
    assert any(used.get("cut") for used in context.used)


async def test_what_holds_for_everybody_comes_first_whatever_is_asked(memory: AsyncMemory):
    await memory.static.seed([{"id": "a", "content": "Support is open from 9 to 5"}])
    alice = memory.user("alice")
    for pet in ("cat Tom", "dog Rex", "horse Bella"):
        await alice.remember(f"Has the {pet}, who is loved by everybody")
    texts = [(await alice.context(f"Tell me about the {pet}")).text for pet in ("cat", "dog", "horse")]
    stable = texts[0].split("Personal Facts:")[0]
    assert "Known Facts:\n- Support is open" in stable
    assert all(text.startswith(stable) for text in texts)
    again = (await alice.context("Tell me about the cat")).text
    assert again == texts[0]


@pytest.mark.parametrize("april", ["2026-04-01", date(2026, 4, 1), datetime(2026, 4, 1)])
async def test_as_of_may_be_a_day_or_a_text_as_in_a_search(memory: AsyncMemory, april: Any):
    alice = memory.user("alice")
    thread = alice.thread("t1")
    await thread.add("user", "fact: home=a flat in Lisbon", created_at=datetime(2026, 3, 1, tzinfo=UTC))
    await thread.process("extract")
    past = await alice.context("Which flat is my home?", as_of=april)
    assert ("Lisbon" in past.text, past.degraded) == (True, [])
    assert len(await alice.memories(as_of=april)) == len(await thread.memories(as_of=april)) == 1


def test_a_closed_memory_has_a_context_without_anything():
    memory = Memory.local()
    alice = memory.user("alice")
    memory.close()
    assert alice.context("Where do I live?").degraded == ["context: the memory is closed"]
    assert alice.thread("t1").context("Where do I live?").text == ""


async def test_a_time_that_cannot_be_read_is_named(memory: AsyncMemory):
    alice = memory.user("alice")
    never: Any = "in spring"
    (degraded,) = (await alice.context("Where do I live?", as_of=never)).degraded
    assert "as_of" in degraded
    with pytest.raises(InvalidInput, match="as_of"):
        await alice.memories(as_of=never)


async def test_as_of_leaves_out_what_only_holds_now(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.remember("Lives in Lisbon now", valid_from=datetime(2026, 5, 1, tzinfo=UTC))
    await alice.process("profile")
    assert "Lisbon" in (await alice.context("Which city does she live in now?")).text
    past = await alice.context("Which city does she live in now?", as_of=datetime(2026, 4, 1, tzinfo=UTC))
    assert past.text == ""


@pytest.mark.req("S0-086")
@pytest.mark.parametrize(
    "wrong", [{"limit": "many"}, {"budget": None}, {"limit": 0}, {"format": "html"}, {"strategy": 3}]
)
async def test_a_context_reports_wrong_arguments_and_does_not_raise(memory: AsyncMemory, wrong: dict):
    alice = memory.user("alice")
    await alice.remember("The cat is called Tom")
    for scope in (alice, alice.thread("t")):
        context = await scope.context("How is the cat called?", **wrong)
        assert context.text == ""
        assert len(context.degraded) >= 1


@simulated_time
@pytest.mark.req("S0-079")
async def test_the_deadline_is_one_for_everything(chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch):
    settings = RecallSettings(context_timeout=0.5)
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), recall=settings) as memory:
        store = memory.runtime.store
        read = store.read

        async def slow_read(container: str, item_id: str, partition: list[str]) -> object:
            await asyncio.sleep(0.3)
            return await read(container, item_id, partition)

        async def hanging_query(*args: object, **named: object) -> None:
            await asyncio.sleep(60)

        monkeypatch.setattr(store, "read", slow_read)
        monkeypatch.setattr(store, "query", hanging_query)
        began = asyncio.get_running_loop().time()
        context = await memory.user("alice").thread("t").context("How is the cat called?")
        took = asyncio.get_running_loop().time() - began
        monkeypatch.undo()
    assert context.degraded
    assert took == pytest.approx(0.5)


def test_a_line_of_the_profile_does_not_say_again_what_a_turn_below_says(tmp_path: Path):
    with Memory.local(tmp_path / "bees.db") as memory:
        bea = memory.user("bea")
        said = "I treat with oxalic acid in December and Apiguard in August. Never had a bad varroa year with it."
        bea.thread("april").add("user", said, created_at=datetime(2026, 4, 4, tzinfo=UTC))
        september = bea.thread("september")
        september.add(
            "user", "I ended up switching to Apivar this August after all.", created_at=datetime(2026, 9, 2, tzinfo=UTC)
        )
        memory.drain(timeout=60)
        bea.process("profile")
        assert "Apiguard" in bea.profile().content
        text = bea.context("What do I use against varroa in August?").text
    assert text.count("Apiguard") == 1
    assert text.index("Apivar") < text.index("Apiguard")
