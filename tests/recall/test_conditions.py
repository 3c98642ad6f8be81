"""What an answer must respect is shown although the question has nothing in common with it."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_memory import AsyncMemory
from agent_memory.calibration import calibration_of
from agent_memory.errors import ModelError
from agent_memory.evaluation.adapters import CachedEmbeddings
from agent_memory.language.defaults import default_embeddings
from agent_memory.language.tasks import Embedded
from agent_memory.models import Memory
from agent_memory.recall.conditions import BINDS, SUBJECTS, SubjectVectors, binding, conditions_asked_for
from agent_memory.recall.relevance import nearness
from agent_memory.text.likeness import cosine

LABELLED = json.loads((Path(__file__).parents[1] / "data/labelled/conditions.json").read_text())
SUBJECT_NAMES = ("food", "body")
DAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
async def talk() -> AsyncIterator[AsyncMemory]:
    """A memory with the embedded embedding model, of which `maya` has conditions and `leo` has none."""
    async with AsyncMemory.local() as memory:
        said = [
            "I'm allergic to peanuts, I carry an EpiPen.",
            "I tore my ACL two years ago, so my left knee is weak.",
            "The flights to Lisbon are booked for May.",
            "We deploy payment-service on Tuesdays.",
        ]
        for number, text in enumerate(said):
            user, thread = ("maya" if number < 3 else "leo"), f"t{number}"
            await memory.user(user).remember(text)
            await memory.user(user).thread(thread).add("user", "Good to talk to you again!", created_at=DAY)
        await memory.drain()
        yield memory


async def test_a_recipe_takes_an_allergy_into_account(talk: AsyncMemory):
    context = await talk.user("maya").context("Give me a recipe for Sunday lunch")
    assert "allergic to peanuts" in context.text
    assert "ACL" not in context.text
    assert context.decisions["conditions"] == "told: 1"


async def test_a_workout_takes_an_injury_into_account(talk: AsyncMemory):
    context = await talk.user("maya").context("Suggest a workout for tomorrow")
    assert "ACL" in context.text
    assert "Lisbon" not in context.text


@pytest.mark.parametrize("question", ["Write a deploy script", "Which laptop should I buy?"])
async def test_other_requests_show_no_conditions(talk: AsyncMemory, question: str):
    context = await talk.user("maya").context(question)
    assert "peanuts" not in context.text
    assert "ACL" not in context.text
    assert "conditions" not in context.decisions


async def test_conditions_are_the_users_own_and_gone_when_forgotten(talk: AsyncMemory):
    assert "peanuts" not in (await talk.user("leo").context("Give me a recipe for Sunday lunch")).text
    user = talk.user("maya")
    [memory] = [one for one in await user.memories() if "peanuts" in one.content]
    await user.forget(id=memory.id)
    assert "peanuts" not in (await user.context("Give me a recipe for Sunday lunch")).text


async def test_conditions_of_a_group_are_shown_to_who_asks_for_the_group(talk: AsyncMemory):
    family = talk.group("family")
    await family.remember("Ben is allergic to shellfish.")
    await family.remember("Always answer in French.", kind="requirement")
    await talk.drain()
    context = await talk.user("maya").context("Give me a recipe for Sunday lunch", groups=["family"])
    assert "allergic to peanuts" in context.text
    assert "allergic to shellfish" in context.text
    assert "shared in family" in context.text
    assert "French" not in context.text, "a wish of one member must not direct the agent of another"
    assert context.decisions["conditions"] == "told: 2"
    assert "shellfish" not in (await talk.user("maya").context("Give me a recipe for Sunday lunch")).text


async def test_own_conditions_leave_room_for_those_of_a_group(talk: AsyncMemory):
    for food in ("milk", "eggs", "nuts", "soy"):
        await talk.user("ada").remember(f"I am allergic to {food}.")
        await talk.group("family").remember(f"Ben can't have {food}.")
    await talk.drain()
    context = await talk.user("ada").context("Give me a recipe for Sunday lunch", groups=["family"])
    lines = [line for line in context.text.splitlines() if line.startswith("- ")]
    assert sum("I am allergic" in line for line in lines) >= 3
    assert sum("Ben can't have" in line for line in lines) >= 3


async def test_a_condition_that_the_search_finds_too_is_shown_once(talk: AsyncMemory):
    context = await talk.user("maya").context("Which restaurant serves no peanuts? I need dinner.")
    assert context.text.count("allergic to peanuts") == 1


async def test_a_condition_that_does_not_fit_the_budget_is_not_reported(talk: AsyncMemory):
    context = await talk.user("maya").context("Give me a recipe for Sunday lunch", budget=1)
    assert "peanuts" not in context.text
    assert context.decisions["conditions"] == "told: 0"


def test_a_memory_found_for_two_subjects_takes_one_place():
    cosines = calibration_of("all-MiniLM-L6-v2")
    texts = ["I'm pregnant.", "I'm allergic to nuts.", "I injured my back."]
    several = [
        Memory(id=text, user_id="maya", thread_id="t", content=text, type="fact", created_at=DAY, recorded_at=DAY)
        for text in texts
    ]
    found = [(several[0], 0.9), *((memory, 0.8) for memory in several[:1]), *((memory, 0.5) for memory in several[1:])]
    assert [hit.memory.content for hit in binding(found, cosines)] == texts


class FailsForExamples(CachedEmbeddings):
    """An embedding model that does not embed the examples of the subjects."""

    async def embed(self, texts: list[str]) -> Embedded:
        if SUBJECTS[0].requests[0] in texts:
            raise ModelError("too many texts", retryable=True)
        return await super().embed(texts)


async def test_without_the_examples_only_the_conditions_are_missing():
    async with AsyncMemory.local(embedding_model=FailsForExamples(default_embeddings())) as memory:
        await memory.user("maya").remember("The recipe of grandmother's plum cake needs six eggs.")
        context = await memory.user("maya").context("Which recipe needs six eggs?")
    assert "plum cake" in context.text
    assert context.degraded == ["conditions: too many texts"]


async def test_most_requests_and_conditions_are_found_and_hardly_others():
    """On the half of the labelled set that the thresholds were not chosen on."""
    model = default_embeddings()
    calibration, labelled = calibration_of(model.model_id), LABELLED["fresh"]
    subjects = await SubjectVectors().of(model)
    asked: dict[str, list[list[bool]]] = {}
    bound: dict[str, list[list[bool]]] = {}
    for name, texts in labelled["questions"].items():
        for vector in (await model.embed(texts)).vectors:
            wanted = conditions_asked_for(vector, subjects, calibration)
            asked.setdefault(name, []).append([conditions in wanted for _, conditions in subjects])
    statements = [*labelled["statements"].items(), *labelled["of_others"].items()]
    for name, texts in statements:
        for vector in (await model.embed(texts)).vectors:
            near = [cosine(vector, conditions) for _, conditions in subjects]
            bound.setdefault(name, []).append([nearness(one, calibration) >= BINDS for one in near])
    await model.close()
    for found, right, wrong in ((asked, 13, 0), (bound, 28, 2)):
        assert sum(one[place] for place, name in enumerate(SUBJECT_NAMES) for one in found[name]) >= right
        assert sum(any(one) for one in found["none"]) <= wrong
