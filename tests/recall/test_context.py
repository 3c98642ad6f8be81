"""What an agent is told: enough, within the budget, and never at the price of the conversation."""

import asyncio
from datetime import UTC, datetime

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.errors import ModelError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded
from agent_memory.language.tokens import ApproximateTokens
from agent_memory.recall.context import ContextRequest, _compose, _Parts
from agent_memory.settings import RecallSettings


class BrokenEmbeddings(HashingEmbeddings):
    """Works while memories are written, then does as it is told."""

    error: Exception | None = None
    delay: float = 0.0

    async def embed(self, texts: list[str]) -> Embedded:
        await asyncio.sleep(self.delay)
        if self.error is not None:
            raise self.error
        return await super().embed(texts)


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


@pytest.mark.req("S0-079", "S0-086")
async def test_a_slow_part_is_left_out_in_time(chat: ScriptedChat):
    embeddings = BrokenEmbeddings()
    async with AsyncMemory.local(
        chat_model=chat, embedding_model=embeddings, recall=RecallSettings(context_timeout=0.2)
    ) as memory:
        thread = memory.user("alice").thread("t1")
        await thread.add("user", "hello there")
        embeddings.delay = 5
        async with asyncio.timeout(3):
            context = await thread.context("How is the cat called?")
        assert any("memories" in reason and "0.2" in reason for reason in context.degraded)
        assert context.messages == [{"role": "user", "content": "hello there"}]


@pytest.mark.req("S0-009", "S0-086", "S0-089")
async def test_a_store_that_is_gone_costs_context_and_nothing_else(memory: AsyncMemory):
    thread = memory.user("alice").thread("t1")
    await memory.close()
    context = await thread.context("How is the cat called?")
    assert context.text == ""
    # Nobody knows whether the user wants to be remembered, so nothing else is tried.
    assert [part.partition(":")[0] for part in context.degraded] == ["settings"]


@pytest.mark.parametrize("query", ["", "   ", "\ud800", "?" * 100_000, "'; DROP --", "c.content @t0"])
async def test_any_question_gives_a_context(memory: AsyncMemory, query: str):
    await memory.user("alice").remember("The cat is called Tom")
    assert (await memory.user("alice").context(query)).tokens >= 0


async def test_a_profile_does_not_say_again_what_the_memories_say(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.remember("The cat is called Tom")
    await alice.remember("Plays the violin on Sundays")
    await alice.process("profile")
    text = (await alice.context("How is the cat called?", limit=1)).text
    assert text.count("The cat is called Tom") == 1
    assert "Profile:\n- Plays the violin on Sundays" in text


async def test_raw_talk_does_not_crowd_out_the_rest(memory: AsyncMemory):
    alice = memory.user("alice")
    for n in range(12):
        await alice.thread("t1").add("user", f"We talk about the cat for the {n}th time")
    await alice.thread("t1").process("extract")
    await alice.remember("The cat is called Tom")
    context = await alice.context("What about the cat?")
    assert "The cat is called Tom" in context.text
    assert context.text.count("th time") == 3


async def test_as_of_leaves_out_what_only_holds_now(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.remember("Lives in Lisbon now", valid_from=datetime(2026, 5, 1, tzinfo=UTC))
    await alice.process("profile")
    assert "Profile:" in (await alice.context("Which pets?")).text
    past = await alice.context("Where do I live?", as_of=datetime(2026, 4, 1, tzinfo=UTC))
    assert past.text == ""


def test_composing_nothing_is_empty():
    context = _compose(_Parts(), ApproximateTokens(), ContextRequest("u", None, "q"))
    assert context.text == ""
