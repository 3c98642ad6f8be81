"""Questions of users about themselves: their answers share no word with them, and they find them nevertheless."""

import pytest

from agent_memory import AsyncMemory
from agent_memory.recall.oneself import asks_for_all, asks_of_self

FACTS = (
    "I'm Lena, I work as a nurse at St. Mary's in Leeds.",
    "My husband Paul is a carpenter.",
    "I play the cello in an amateur orchestra on Fridays.",
    "I moved to Leeds from Cork two years ago.",
    "I drive an old Volvo.",
    "I'm saving for a trip to Norway next summer.",
    "My shifts are usually Monday to Thursday.",
    "My birthday is on 12 November.",
)


@pytest.mark.parametrize(
    "question",
    [
        "What do you know about me?",
        "Tell me about myself.",
        "Who am I?",
        "What have I told you?",
        "Was weißt du über mich?",
        "¿Qué sabes de mí?",
        "你了解我吗？",
    ],
)
def test_a_question_for_all_that_is_known(question: str):
    assert asks_for_all(question)


@pytest.mark.parametrize(
    "question",
    [
        "What do you know about Ana?",
        "I know.",
        "Who am I meeting tomorrow?",
        "Tell me a joke",
        "What did my boss say about me?",
        "Plan my trip to Rome with what you know about me",
    ],
)
def test_other_questions_ask_for_something(question: str):
    assert not asks_for_all(question)


def test_advice_and_the_world_are_no_questions_about_oneself():
    assert all(map(asks_of_self, ("What's my job?", "Wo wohne ich?", "Tell me about my family.", "私の仕事は？")))
    assert not any(map(asks_of_self, ("Which laptop should I buy?", "Who won the olympiad?", "I live in Rome.")))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is my job?", "nurse"),
        ("What's my name?", "Lena"),
        ("Am I married?", "Paul"),
        ("What are my hobbies?", "cello"),
        ("Where am I from?", "Cork"),
    ],
)
async def test_a_context_has_what_answers_a_question_about_oneself(question: str, answer: str):
    async with AsyncMemory.local() as memory:
        lena = memory.user("lena")
        for fact in FACTS:
            await lena.remember(fact)
        assert answer in (await lena.thread("new").context(question)).text


async def test_a_question_for_everything_gets_the_most_important_first():
    async with AsyncMemory.local() as memory:
        lena = memory.user("lena")
        for importance, fact in enumerate(FACTS[:4], 2):
            await lena.remember(fact, importance=importance / 10)
        found = await lena.search("What do you know about me?", limit=2)
        assert [hit.memory.content for hit in found] == [FACTS[3], FACTS[2]]
        context = await lena.thread("new").context("What do you know about me?")
        assert all(fact in context.text for fact in FACTS[:4])
        assert "No memory" not in context.text


async def test_what_was_said_a_moment_ago_answers_too():
    async with AsyncMemory.local() as memory:
        ann = memory.user("ann")
        for said in ("Hi there!", "I moved to Porto.", "What's the weather like?"):
            await ann.thread("monday").add("user", said)
        for question in ("Where do I live?", "What do you know about me?"):
            text = (await ann.thread("friday").context(question)).text
            assert "Porto" in text
            assert "weather" not in text
            assert "Hi there" not in text
        assert (await ann.thread("friday").context("Who won the olympiad?")).text == ""


async def test_a_beginning_too_short_for_a_model_is_read_with_what_follows():
    async with AsyncMemory.local() as memory:
        thread = memory.user("bea").thread("t")
        await thread.add("user", "I'm married.")
        assert (await thread.process("extract")).created == 0
        await thread.add("user", "I live in Rome with a cat.")
        await thread.process("extract")
        assert {one.content for one in await memory.user("bea").memories()} == {
            "I'm married.",
            "I live in Rome with a cat.",
        }


async def test_what_was_said_while_the_memory_was_off_is_not_read_later():
    async with AsyncMemory.local() as memory:
        bea = memory.user("bea")
        await bea.update_settings(enabled=False)
        await bea.thread("t").add("user", "I'm married.")
        await bea.update_settings(enabled=True)
        await bea.thread("t").add("user", "I live in Rome with a cat.")
        await bea.thread("t").process("extract")
        assert [one.content for one in await bea.memories()] == ["I live in Rome with a cat."]


async def test_a_short_question_for_everything_does_not_take_words_from_the_talk():
    async with AsyncMemory.local() as memory:
        lena = memory.user("lena")
        for fact in FACTS[:3]:
            await lena.remember(fact)
        await lena.thread("new").add("user", "The weather in Kyoto is lovely in autumn.")
        context = await lena.thread("new").context("Who am I?")
        assert all(fact in context.text for fact in FACTS[:3])


async def test_advice_that_only_a_condition_touches_gets_no_line_of_doubt():
    async with AsyncMemory.local() as memory:
        bea = memory.user("bea")
        await bea.remember("I'm allergic to peanuts, I carry an EpiPen.")
        text = (await bea.thread("new").context("Give me a recipe for pad thai")).text
        assert "peanuts" in text
        assert "No memory" not in text
