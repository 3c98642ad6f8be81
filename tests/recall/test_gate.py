"""The gate: what is not worth a search, and that doubt means search."""

import asyncio
import logging

import pytest
from scripted_model import ScriptedChat
from simulation import simulated_time

from agent_memory import AsyncMemory
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import Signals
from agent_memory.recall.gate import decide, is_greeting, is_personal
from agent_memory.settings import RecallSettings

FACT, TOOL = Signals(is_fact=True), Signals(requires_tool=True)


@pytest.mark.req("S0-006", "S0-025", "S0-026", "S0-029")
@pytest.mark.parametrize(
    ("query", "signals", "reason"),
    [
        ("What is the capital of France?", FACT, "general fact query"),
        ("What is my budget for France?", FACT, None),
        ("What did I say about France?", FACT, None),
        ("What's the weather in my town?", TOOL, "tool query"),
        ("What is the capital of France?", Signals(), None),
        ("hello", Signals(), "greeting"),
        ("ok", FACT, "general fact query"),
        ("xyzzy", Signals(), None),
        ("", Signals(), None),
    ],
)
def test_what_is_searched(query: str, signals: Signals, reason: str | None):
    decision = decide(query, signals)
    assert (decision.search, decision.reason) == (reason is None, reason)


@pytest.mark.req("S0-026")
@pytest.mark.parametrize(
    ("query", "personal"),
    [
        ("what's my name", True),
        ("I'M here", True),
        ("I’ve moved", True),
        ("i'll go", True),
        ("Is it mine?", True),
        ("tell me", True),
        ("myself", False),
        ("Who am Ian?", False),
        ("the economy of Maine", False),
    ],
)
def test_a_user_speaks_of_themselves(query: str, personal: bool):
    assert is_personal(query) == personal


@pytest.mark.req("S0-027")
@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Hello!",
        "  HEY..  ",
        "howdy,",
        "hi there",
        "Hey, there!!",
        "hellothere",
        "thanks",
        "Thank you!",
        "thx.",
        "bye",
        "goodbye",
        "See you!",
        "ok",
        "Okay.",
        "sure",
        "yes",
        "no,",
        "hello there!!!!!!!!!",  # 20 characters
    ],
)
def test_greetings(text: str):
    assert is_greeting(text)


@pytest.mark.req("S0-027")
@pytest.mark.parametrize(
    "text",
    [
        "Hi, what's my budget?",
        "hi!!!!!!!!!!!!!!!!!!!!",  # longer than 20
        "yes please",
        "thanks a lot",
        "howdy there",
        "no way",
        "hi\nwho am I",
        "history",
        "",
    ],
)
def test_what_is_more_than_a_greeting(text: str):
    assert not is_greeting(text)


@pytest.mark.req("S0-025", "S0-027", "S0-041")
async def test_a_greeting_gets_the_conversation_and_nothing_recalled(
    memory: AsyncMemory, caplog: pytest.LogCaptureFixture
):
    alice = memory.user("alice")
    await alice.remember("Says hello to everybody")
    await alice.process("profile")
    chat = alice.thread("t1")
    await chat.add("user", "Shall I book the flight to Lisbon?")
    await chat.add("assistant", "Yes or no?")
    with caplog.at_level(logging.DEBUG, "agent_memory"):
        context = await chat.context("hello!")
    assert context.text == ""
    assert [message["content"] for message in context.messages] == ["Shall I book the flight to Lisbon?", "Yes or no?"]
    assert context.skipped_reason == "greeting"
    assert context.decisions == {"gate": "skip: greeting"}
    assert context.query is None
    assert "Memory: Skipping - greeting" in caplog.messages
    assert "Memory: Skipping - not memory-relevant" in caplog.messages
    # A search is asked for on purpose, and never skipped.
    assert [hit.memory.content for hit in await alice.search("hello")] == ["Says hello to everybody"]


@pytest.mark.req("S0-023", "S0-025", "S0-041")
async def test_signals_of_the_application_close_the_gate(memory: AsyncMemory, caplog: pytest.LogCaptureFixture):
    alice = memory.user("alice")
    await alice.remember("Went to the capital of France")
    query = "What is the capital of France?"
    with caplog.at_level(logging.DEBUG, "agent_memory"):
        assert (await alice.context(query, signals=FACT)).text == ""
        assert (await alice.context(query, signals=TOOL)).text == ""
        assert "Went to" in (await alice.context(query)).text
        assert "Went to" in (await alice.context("Was I in the capital of France?", signals=FACT)).text
    assert "Memory: Skipping - general fact query" in caplog.messages
    assert "Memory: Skipping - tool query" in caplog.messages
    assert [r.message for r in caplog.records if r.levelno == logging.INFO] == ["Memory: Retrieved 1 memories"] * 2


@simulated_time
@pytest.mark.req("S0-028", "S0-029")
async def test_a_classifier_can_be_plugged_in_and_doubt_means_search(chat: ScriptedChat):
    answers: list[object] = [FACT, ValueError("no idea"), None]

    async def classifier(query: str) -> Signals:
        answer = answers.pop(0)
        if answer is None:
            await asyncio.sleep(60)
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, Signals)
        return answer

    settings = RecallSettings(classifier=classifier, context_timeout=0.5)
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings(), recall=settings) as memory:
        alice = memory.user("alice")
        await alice.remember("Went to the capital of France")
        contexts = [await alice.context("What is the capital of France?") for _ in range(3)]
    assert ["Went to" in context.text for context in contexts] == [False, True, True]
    assert contexts[0].decisions["gate"] == "skip: general fact query"
    assert contexts[1].degraded == ["classifier: no idea"]
    assert contexts[2].degraded == ["classifier: TimeoutError"]
