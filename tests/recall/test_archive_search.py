"""Other conversations are looked up when a user refers to them, and only then."""

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import Embedded, RerankInput, RerankOutput
from agent_memory.recall.archive import search_archive
from agent_memory.scopes import AsyncUserScope
from agent_memory.settings import ARCHIVE_TRIGGERS, RecallSettings
from agent_memory.text.asked_back import trigger_in


async def talk(user: AsyncUserScope, thread: str, *lines: str) -> None:
    for line in lines:
        await user.thread(thread).add("user", line)
    await user.thread(thread).process("summarize")


@pytest.mark.req("S2-09", "S2-33")
@pytest.mark.parametrize(
    ("message", "trigger"),
    [
        ("What did we discuss about Hawaii?", "what did we discuss"),
        ("as in our PREVIOUS CONVERSATION", "previous conversation"),
        ("Where were we last time?", "last time"),
        ("Remind me of the hotel", "remind me"),
        ("the hotel we mentioned", "we mentioned"),
        ("Earlier you said something", "earlier you said"),
        ("What is my budget?", None),
        ("It lasts a lifetime", None),
    ],
)
def test_phrases_that_refer_to_other_conversations(message: str, trigger: str | None):
    assert trigger_in(message, ARCHIVE_TRIGGERS) == trigger


@pytest.mark.req("S2-09")
def test_a_phrase_is_found_with_either_apostrophe():
    assert trigger_in("Where’d we leave off?", ["where'd we"]) == "where'd we"
    assert trigger_in("Where'd we leave off?", ["where’d we"]) == "where’d we"


@pytest.mark.req("S2-34", "S2-35", "S2-37", "S0-012")
async def test_other_conversations_on_the_topic_are_shown_and_this_one_is_not(memory: AsyncMemory):
    alice = memory.user("alice")
    await talk(alice, "garden", "The garden gets roses and lilies this spring")
    await talk(alice, "hawaii", "The Hawaii vacation costs 10,000 dollars, flights included")
    await talk(alice, "now", "Let us plan the Hawaii vacation flights")
    query = "What did we discuss about the Hawaii vacation flights?"
    context = await alice.thread("now").context(query, budget=1000)
    archive = context.text.split("From Other Conversations:\n")[1]
    assert "10,000 dollars" in archive
    assert "roses" not in archive
    assert "Let us plan" not in archive
    assert context.decisions["archive"] == "search: what did we discuss"
    assert {used["thread_id"] for used in context.used if "thread_id" in used} == {"hawaii"}
    assert context.messages[0]["content"] == context.text  # ahead of the recent turns
    assert context.messages[1] == {"role": "user", "content": "Let us plan the Hawaii vacation flights"}
    assert "From Other" not in (await alice.thread("now").context("Which Hawaii vacation flights?")).text
    assert "From Other" not in (await alice.thread("now").context(query, filters={"type": "fact"})).text
    assert "From Other" not in (await memory.user("bob").thread("now").context(query)).text


@pytest.mark.req("S2-34")
async def test_archived_stretches_are_found_too_and_a_conversation_is_shown_once(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.thread("hawaii").add("user", "The Hawaii vacation costs 10,000 dollars")
    await alice.thread("hawaii").process("archive")
    context = await alice.thread("now").context("Remind me of the Hawaii vacation", budget=1000)
    assert [used["type"] for used in context.used if "thread_id" in used] == ["episodic"]
    await alice.thread("hawaii").process("summarize")
    context = await alice.thread("now").context("Remind me of the Hawaii vacation", budget=1000)
    assert len([used for used in context.used if "thread_id" in used]) == 1


async def test_a_message_that_names_no_topic_means_the_newest_conversations(memory: AsyncMemory):
    alice = memory.user("alice")
    for number in range(5):
        await talk(alice, f"t{number}", f"We speak of subject{number} today")
    context = await alice.thread("now").context("What did we discuss last time?", budget=1000)
    assert [used["thread_id"] for used in context.used if "thread_id" in used] == ["t4", "t3", "t2"]


@pytest.mark.req("S2-08", "S2-09", "S2-35")
async def test_threshold_and_phrases_are_settings(chat: ScriptedChat):
    settings = RecallSettings(archive_triggers=("way back",), archive_thresholds={}, default_archive_threshold=0.99)
    assert RecallSettings().archive_threshold("text-embedding-3-large") == 0.7
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), recall=settings) as memory:
        alice = memory.user("alice")
        await talk(alice, "hawaii", "The Hawaii vacation costs 10,000 dollars")
        near = await alice.context("What was the Hawaii vacation way back?")
        assert near.decisions["archive"] == "search: way back"
        assert "From Other" not in near.text
        assert "archive" not in (await alice.context("Remind me of the Hawaii vacation")).decisions


@pytest.mark.req("S2-08")
async def test_the_threshold_of_the_archive_is_a_minimum(chat: ScriptedChat):
    least = 0.1
    for shown in (True, True, False):  # far below, exactly, and just above
        settings = RecallSettings(archive_thresholds={}, default_archive_threshold=least)
        async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), recall=settings) as memory:
            alice = memory.user("alice")
            await talk(alice, "hawaii", "The Hawaii vacation costs 10,000 dollars")
            context = await alice.context("Remind me of the Hawaii vacation")
        assert ("From Other" in context.text) is shown
        scores = [used["score"] for used in context.used if used.get("thread_id") == "hawaii"]
        least = scores[0] if least == 0.1 else least + 0.001


@pytest.mark.req("S2-38", "S0-086")
async def test_a_search_of_the_archive_that_fails_costs_the_archive_only(chat: ScriptedChat):
    class Flaky(HashingEmbeddings):
        broken = False

        async def embed(self, texts: list[str]) -> Embedded:
            if self.broken:
                raise ModelError("no embeddings today")
            return await super().embed(texts)

    embeddings = Flaky()
    async with AsyncMemory.local(chat_model=chat, embedding_model=embeddings) as memory:
        alice = memory.user("alice")
        await alice.remember("The Hawaii vacation costs 10,000 dollars")
        embeddings.broken = True
        context = await alice.context("Remind me of the Hawaii vacation")
        assert "10,000" in context.text
        assert any(reason.startswith("archive: ") for reason in context.degraded)


@pytest.mark.req("S2-36")
async def test_a_model_puts_the_conversations_into_order_if_the_settings_ask_for_it():
    chat = ScriptedChat()
    chat.outputs["rerank"] = lambda data: RerankOutput(refs=[note.ref for note in reversed(data.notes)])

    async def told(settings: RecallSettings) -> list[str]:
        async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), recall=settings) as memory:
            alice = memory.user("alice")
            await talk(alice, "plan", "The Hawaii vacation has flights and a hotel")
            await talk(alice, "costs", "The Hawaii vacation costs 10,000 dollars")
            context = await alice.context("Remind me of the Hawaii vacation", budget=1000)
            return [used["thread_id"] for used in context.used if "thread_id" in used]

    plain = await told(RecallSettings())
    assert chat.calls["rerank"] == 0
    assert sorted(plain) == ["costs", "plan"]
    assert await told(RecallSettings(rerank=5)) == plain[::-1]
    asked = [data for data in chat.seen if isinstance(data, RerankInput)]
    assert "Hawaii vacation" in asked[0].question
    assert "emind" not in asked[0].question  # the trigger is no part of what is looked for


@pytest.mark.req("S2-47")
async def test_conversations_that_only_ask_do_not_push_out_the_one_that_answers():
    question = "What did we discuss about authentication?"
    async with AsyncMemory.local(cadence=Cadence(0, 0, 0, 0, idle_seconds=0)) as memory:
        user = memory.user("alice")
        first = user.thread("t0")
        await first.add("user", "We build a REST API whose authentication uses JWT tokens that expire after an hour.")
        await first.end()
        for number in range(1, 6):
            asking = user.thread(f"t{number}")
            await asking.add("user", question)
            await asking.add("assistant", "You told me about the authentication of your API.")
            await asking.end()
        summaries = [await user.thread(f"t{number}").summary() for number in (0, 1)]
        assert [summary is not None and summary.only_asks for summary in summaries] == [False, True]
        found = await search_archive(memory.runtime.searcher, "alice", "now", question, "what did we discuss")
        assert [one.thread_id for one in found] == ["t0"]
        await user.thread("t1").add("user", "From now on the tokens expire after ten minutes.")
        await user.thread("t1").process("summarize")
        summary = await user.thread("t1").summary()
        assert summary is not None
        assert not summary.only_asks
