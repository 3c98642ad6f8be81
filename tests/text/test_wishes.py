"""A wish about answers is understood without a word like "always"; a request for one time is not taken for one."""

import pytest

from agent_memory import AsyncMemory
from agent_memory.text.wishes import wish

FOR_ALL = [
    "Please keep your answers to one or two sentences.",
    "no essays pls ever, 2 lines max",
    "Keep it to acres and bushels, none of that hectare business",
    "One thing: don't round anything, I want the pence shown.",
    "Please stop using bullet points.",
    "Stop calling me sir.",
    "Be brief with me.",
    "You can skip the greetings.",
    "Use metric units.",
    "Por favor, usa gramos y litros, no tazas.",
    "Bitte antworte mir in einfachem Deutsch.",
    "Bitte benutze keine Emojis.",
    "Rispondimi in italiano.",
]
FOR_A_SUBJECT = [
    "Please don't message me in the mornings, only after 4 pm.",
    "please stop suggesting helm, we use kustomize for everything",
    "Skip the powershell variants, I'm on linux",
    "No more recipes with mushrooms please.",
]
REACHED = ["You can message via Signal.", "You can only call in the mornings.", "You may call on Fridays."]
NO_WISHES = [
    "Please answer in English this time.",
    "Write in Python a function that sorts a list",
    "Write with me a poem about spring.",
    "Don't call the vet, I already did.",
    "Don't send it yet.",
    "Don't round the corner too fast.",
    "Stop worrying about it.",
    "Could you keep your answers short?",
    "We stopped using Jira.",
    "You can call Bruno.",
]


@pytest.mark.parametrize("text", FOR_ALL)
def test_a_wish_about_the_form_of_answers_holds_for_all(text: str):
    found = wish(text)
    assert found is not None
    assert found.subject == ""


@pytest.mark.parametrize("text", REACHED)
def test_how_somebody_may_be_reached_is_a_wish(text: str):
    assert wish(text) is not None


@pytest.mark.parametrize("text", FOR_A_SUBJECT)
def test_another_wish_holds_for_its_subject(text: str):
    found = wish(text)
    assert found is not None
    assert found.subject


@pytest.mark.parametrize("text", NO_WISHES)
def test_what_is_for_one_time_or_no_order_is_no_wish(text: str):
    assert wish(text) is None


@pytest.mark.parametrize("text", ["Please keep your answers to one or two sentences.", "Never use emojis to me."])
async def test_every_context_shows_a_wish_about_all_answers(text: str):
    async with AsyncMemory.local() as memory:
        alice = memory.user("alice")
        await alice.thread("t1").add("user", f"Hi! {text}")
        await alice.thread("t1").add("user", "No more recipes with mushrooms please.")
        await memory.drain()
        context = await alice.context("Explain photosynthesis to me.")
        assert text in context.text
        assert "mushrooms" not in context.text
