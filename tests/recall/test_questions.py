"""Query building: what is searched for when a question leaves out what it is about."""

import asyncio
import logging

import pytest
from scripted_model import ScriptedChat
from simulation import simulated_time

from agent_memory import AsyncMemory
from agent_memory.errors import ModelError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.offline import OfflineChat
from agent_memory.language.tasks import (
    HYDE,
    QUERY_REWRITE,
    HydeInput,
    HydeOutput,
    In,
    Out,
    QueryRewriteInput,
    QueryRewriteOutput,
    Task,
    TaskResult,
)
from agent_memory.models import Usage
from agent_memory.recall import context
from agent_memory.recall.compose import Parts
from agent_memory.recall.questions import build_question, hypothetical, is_self_contained, key_terms
from agent_memory.settings import Environment, RecallSettings

TALK = ["Planning vacation", "Hawaii sounds nice"]


class Writer(OfflineChat):
    """Answers the two query tasks as it is told."""

    def __init__(self, answer: str | Exception | None) -> None:
        self.answer = answer
        self.asked: list[object] = []

    async def run(self, task: Task[In, Out], data: In) -> TaskResult[Out]:
        if task.name not in (QUERY_REWRITE.name, HYDE.name):
            return await super().run(task, data)
        self.asked.append(data)
        if self.answer is None:
            await asyncio.sleep(60)
        if isinstance(self.answer, Exception):
            raise self.answer
        field = "query" if task.output is QueryRewriteOutput else "answer"
        return TaskResult(task.output.model_validate({field: self.answer}), "writer", "1", Usage())


@pytest.mark.req("S0-031")
@pytest.mark.parametrize(
    ("query", "whole"),
    [
        ("What's my budget for the Hawaii trip?", True),
        ("How much?", False),
        ("how much", False),
        ("How much did the hotel in Lisbon cost?", True),
        ("What about the hotel that we liked so much?", False),
        ("AND THAT one over there, on the left side?", False),
        ("this one is nicer than all the others, no?", False),
        ("x" * 20, False),
        ("x" * 21, True),
        ("我去夏威夷旅行的预算是多少", True),
        ("", False),
    ],
)
def test_self_contained_questions_are_recognised(query: str, whole: bool):
    assert is_self_contained(query) == whole


@pytest.mark.req("S0-032")
def test_key_terms_are_of_the_last_three_messages_newest_first():
    messages = ["The garden has roses", "Planning vacation", "Hawaii sounds nice", "In the vacation, with my dog"]
    assert key_terms(messages, "How much?") == ["vacation", "dog", "hawaii", "sounds", "nice", "planning"]
    assert key_terms(["Planning vacation"], "Which vacation?") == ["planning"]
    assert key_terms(["Let's look at Sarah's villas. We can't decide, I'm told"], "How much?") == [
        *("look", "sarah's", "villas", "decide"),
    ]
    assert key_terms([" ".join(f"word{n}" for n in range(1000))], "How much?") == [f"word{n}" for n in range(10)]


@pytest.mark.req("S0-030", "S0-033", "S0-036", "S0-083")
async def test_prepend_is_the_default_and_needs_no_model(caplog: pytest.LogCaptureFixture):
    chat = Writer(ModelError("must not be asked"))
    question = await build_question("How much?", TALK, "prepend", chat, 1)
    assert (question.text, question.decision) == ("How much? hawaii sounds nice planning vacation", "prepend")
    whole = await build_question("What is my budget for Hawaii?", TALK, "prepend", chat, 1)
    assert (whole.text, whole.decision) == ("What is my budget for Hawaii?", "as it is")
    with caplog.at_level(logging.DEBUG, "agent_memory"):
        alone = await build_question("How much?", [], "prepend", chat, 1)
    assert (alone.text, alone.decision) == ("How much?", "as it is: no history")
    logged = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert ("DEBUG", "No history, query-only search") in logged
    assert RecallSettings().query_strategy == "prepend"


@pytest.mark.req("S0-034", "S0-076")
async def test_a_model_rewrites_a_vague_question():
    chat = Writer("What is the budget for the Hawaii vacation?")
    question = await build_question("How much?", ["Roses", *TALK, "Hotels?"], "rewrite", chat, 1)
    assert (question.text, question.decision) == ("What is the budget for the Hawaii vacation?", "rewrite")
    assert chat.asked == [
        QueryRewriteInput(
            question="How much?",
            messages=[*TALK, "Hotels?"],
            terms=["hotels", "hawaii", "sounds", "nice", "planning", "vacation"],
        )
    ]
    await build_question("What is my budget for Hawaii?", TALK, "rewrite", chat, 1)
    assert len(chat.asked) == 1
    assert (QUERY_REWRITE.timeout, QUERY_REWRITE.max_tokens, QUERY_REWRITE.temperature) == (30, 100, 0.1)


@simulated_time
@pytest.mark.req("S0-034")
@pytest.mark.parametrize("answer", [ModelError("no model today"), None, "  "])
async def test_a_question_that_cannot_be_rewritten_is_searched_as_it_is(answer: str | Exception | None):
    question = await build_question("How much?", TALK, "rewrite", Writer(answer), 0.2)
    assert question.text == "How much?"
    assert question.decision.startswith("as it is: ")


@pytest.mark.req("S0-034", "S0-035")
async def test_rules_add_terms_and_make_up_no_answer():
    question = await build_question("How much?", TALK, "rewrite", OfflineChat(), 5)
    assert question.text == "How much? hawaii sounds nice planning vacation"
    assert (await OfflineChat().run(HYDE, HydeInput(question="How much?"))).output == HydeOutput(answer="How much?")
    assert await hypothetical(question, OfflineChat(), 5) is None


@pytest.mark.req("S0-011", "S0-030")
async def test_the_talk_of_the_thread_completes_the_question(memory: AsyncMemory):
    alice = memory.user("alice")
    await alice.remember("Hawaii vacation budget is 10,000 dollars")
    await alice.remember("A cinema ticket costs 12 dollars, and that is much")
    chat = alice.thread("t1")
    await chat.add("user", "I'm planning a vacation in Hawaii")
    await chat.add("assistant", "Which cinema do you like?")
    await chat.add("user", "How much?")
    context = await chat.context("How much?", limit=1)
    assert context.query == "How much? planning vacation hawaii"
    assert context.decisions == {"gate": "search", "query": "prepend"}
    assert "10,000" in context.text
    assert [m["content"] for m in context.messages[1:]] == [
        "I'm planning a vacation in Hawaii",
        "Which cinema do you like?",
    ]  # the question itself is sent by its asker
    plain = await chat.context("How much?", limit=1, strategy="as_is")
    assert (plain.query, plain.decisions["query"]) == ("How much?", "as it is")
    assert "12 dollars" in plain.text
    given = await alice.context("How much?", limit=1, history=[{"role": "user", "content": "Hawaii vacation"}])
    assert given.query == "How much? hawaii vacation"


@pytest.mark.req("S0-034", "S0-036")
async def test_the_strategy_is_a_setting_and_an_argument(monkeypatch: pytest.MonkeyPatch):
    chat = Writer("What is the budget for the Hawaii vacation?")
    async with AsyncMemory.local(
        chat_model=chat, embedding_model=HashingEmbeddings(), recall=RecallSettings(query_strategy="rewrite")
    ) as memory:
        alice = memory.user("alice")
        await alice.remember("The Hawaii vacation has a budget of 10,000 dollars")
        history = [{"role": "user", "content": "Planning vacation"}, {"role": "assistant", "content": "Where?"}]
        context = await alice.context("How much?", history=history)
        assert context.decisions["query"] == "rewrite"
        assert "10,000" in context.text
        context = await alice.context("How much?", history=history, strategy="prepend")
        assert context.decisions["query"] == "prepend"
        wrong = await alice.context("How much?", strategy="guess")  # type: ignore[arg-type]
        assert "no strategy 'guess'" in wrong.degraded[0]
    monkeypatch.setenv("QUERY_STRATEGY", "hyde")
    assert Environment().query_strategy == "hyde"


@pytest.mark.req("S0-035", "S0-036")
async def test_a_hypothetical_answer_finds_what_the_question_does_not():
    chat = Writer("The budget for the Hawaii trip is approximately $10,000")
    async with AsyncMemory.local(
        chat_model=chat, embedding_model=HashingEmbeddings(), recall=RecallSettings(query_strategy="hyde")
    ) as memory:
        alice = memory.user("alice")
        await alice.remember("The budget for the Hawaii trip is 9,500 dollars")
        context = await alice.context("Whatever may be spent over there?")
        assert "9,500" in context.text
        assert context.query == chat.answer
        assert context.decisions["query"] == "as it is, then hyde"
        context = await alice.context("What is the budget for the Hawaii trip?")
        assert context.decisions["query"] == "as it is"  # the question itself found it
        assert len(chat.asked) == 1
        chat.answer = ModelError("no model today")
        assert (await alice.context("Whatever may be spent over there?")).text == ""


async def test_scripts_without_the_query_tasks_are_not_asked(chat: ScriptedChat):
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings()) as memory:
        await memory.user("alice").context("How much?", history=[{"role": "user", "content": "Hawaii"}])
    assert not chat.calls


@pytest.mark.parametrize("last", ["And there?", " And there? \n"])
async def test_a_question_that_was_written_before_it_was_asked_does_not_complete_itself(last: str):
    history = [{"role": "user", "content": text} for text in ("I fly to Lisbon in May.", last)]
    request = context.ContextRequest("alice", None, "And there?", history=history)
    assert await context._said_before(request, None, Parts(), 1.0) == ["I fly to Lisbon in May."]
    history.append({"role": "user", "content": "It will be warm."})
    assert len(await context._said_before(request, None, Parts(), 1.0)) == 3
