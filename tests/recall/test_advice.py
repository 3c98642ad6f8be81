"""A request for advice is answered with what the user prefers, although it does not ask for it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from agent_memory import AsyncMemory
from agent_memory.recall.conditions import asks_for_advice

DAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = [
    "I avoid hotels that have a casino.",
    "I strongly dislike crowded cities.",
    "I only wear linen in summer.",
    "I have an aversion to subscription software.",
    "I refuse to fly with budget airlines.",
    "The kitchen renovation starts in May.",
    "My sister Ines lives in Graz.",
]


@pytest.fixture
async def talk() -> AsyncIterator[AsyncMemory]:
    """A memory with the embedded models, to which `nora` told her tastes, one in each conversation."""
    async with AsyncMemory.local() as memory:
        for number, text in enumerate(SAID):
            at = DAY + timedelta(days=number)
            await memory.user("nora").thread(f"t{number}").add("user", text, created_at=at)
        await memory.drain()
        yield memory


@pytest.mark.parametrize(
    ("request_", "preference"),
    [
        ("Can you suggest a place to stay in Las Vegas?", "casino"),
        ("Which city in Japan should I move to?", "crowded"),
        ("I'm looking to refresh my wardrobe. Any ideas?", "linen"),
        ("What are some good video editors for my laptop?", "subscription"),
        ("Book the cheapest way to get to Porto", "budget airlines"),
    ],
)
async def test_a_request_shows_the_preference_that_its_answer_must_heed(
    talk: AsyncMemory, request_: str, preference: str
):
    context = await talk.user("nora").context(request_)
    assert preference in context.text
    assert "Nothing is remembered" not in context.text


async def test_a_question_about_the_past_shows_no_preferences(talk: AsyncMemory):
    context = await talk.user("nora").context("When did the plumber come?")
    assert not [
        line for line in ("casino", "crowded", "linen", "subscription", "budget airlines") if line in context.text
    ]


async def test_the_preferences_of_others_stay_theirs(talk: AsyncMemory):
    context = await talk.user("oscar").context("Can you suggest a place to stay in Las Vegas?")
    assert "casino" not in context.text


async def test_a_forgotten_preference_is_not_shown(talk: AsyncMemory):
    user = talk.user("nora")
    [memory] = [one for one in await user.memories(types=["fact"]) if "casino" in one.content]
    await user.forget(id=memory.id)
    assert "casino" not in (await user.context("Can you suggest a place to stay in Las Vegas?")).text


@pytest.mark.parametrize(
    "message",
    [
        "Recommend a book",
        "Should I take the train or the car?",
        "Could you find us a table for four?",
        "I'd like to learn to sail, where do I start?",
        "Plan my weekend",
        "Welches Hotel empfiehlst du mir?",
        "Peux-tu me trouver un restaurant ?",
        "¿Qué libro me recomiendas?",
        "Que restaurante recomendas?",
        "Mi consigli un film?",
        "Kun je een cadeau bedenken?",
        "推荐一本书",
    ],
)
def test_a_request_is_told_from_a_question(message: str):
    assert asks_for_advice(message)


@pytest.mark.parametrize(
    "message",
    [
        "What did you recommend?",
        "Which hotel did I book?",
        "When is my dentist appointment?",
        "Where does Ines live?",
        "Can you remind me what I said about the rent?",
        "Can you summarize our conversations about the launch?",
        "Wann zieht Ines um?",
        "I moved to Graz.",
    ],
)
def test_a_question_is_told_from_a_request(message: str):
    assert not asks_for_advice(message)
