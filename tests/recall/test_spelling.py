"""A question with a mistyped word finds what it asks for; a rare word that is right stays."""

import pytest

from agent_memory import AsyncMemory, Cadence, Memory
from agent_memory.recall.spelling import MOST, Spelt, is_one_slip, spelt


@pytest.mark.parametrize(
    ("typed", "word"),
    [("reedis", "redis"), ("eror", "error"), ("typsecript", "typescript"), ("wroked", "worked"), ("kebin", "kevin")],
)
def test_a_letter_too_many_missing_wrong_or_swapped_is_one_slip(typed: str, word: str) -> None:
    assert is_one_slip(typed, word)
    assert is_one_slip(word, typed)


@pytest.mark.parametrize(
    ("typed", "word"), [("hiking", "biking"), ("error", "error"), ("arrer", "error"), ("cache", "caches2"), ("on", "")]
)
def test_another_first_letter_or_two_slips_are_another_word(typed: str, word: str) -> None:
    assert not is_one_slip(typed, word)


async def test_a_mistyped_word_has_the_common_words_near_it() -> None:
    question = await spelt("which fesetival do I like?", set())
    assert question.likeliest == "which festival do I like?"
    assert question.words[:2] == ["fesetival", "festival"]


async def test_a_known_word_a_short_one_and_a_name_keep_their_letters() -> None:
    question = await spelt("Which horse did Dagny see, and wy?", set())
    assert question.likeliest == question.typed
    assert question.alternatives == {"dagny": ()}


@pytest.mark.parametrize("word", ["calms", "hoodies", "ported", "inhaler", "wohnt", "unwinding"])
async def test_a_form_of_a_known_word_is_known(word: str) -> None:
    assert (await spelt(f"what about {word}?", set())).alternatives == {}


async def test_the_name_of_a_speaker_comes_before_a_common_word() -> None:
    question = await spelt("What did Elies paint?", {"elise"})
    assert question.likeliest == "What did Elise paint?"


async def test_a_text_of_unknown_words_stays_as_it_is() -> None:
    words = ["fesetival", "torunament", "reccomended", "funraiser"]
    assert len(words) > MOST
    assert (await spelt(" ".join(words), set())).alternatives == {}


async def test_a_long_row_of_letters_is_no_word() -> None:
    assert (await spelt("x" * 4000, set())).alternatives == {}  # its neighbours would take seconds


async def test_the_word_of_a_turn_that_was_just_said_stays() -> None:
    never = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
    async with AsyncMemory.local(cadence=never) as memory:
        ann = memory.user("ann")
        await ann.remember("I bought a tarpan.")
        await ann.thread("t").add("user", "My tarpon hangs on the wall.")
        hits = await ann.search("tarpon")
        assert hits[0].memory.content.endswith("My tarpon hangs on the wall.")


def test_what_is_found_decides_what_was_meant() -> None:
    question = Spelt("Where is my potery class?", {"potery": ("poetry", "pottery")})
    assert question.among(["I love my pottery class"]) == "Where is my pottery class?"
    assert question.among(["The potery is closed"]) == question.typed
    assert question.among(["nothing of the kind"]) == "Where is my poetry class?"


def test_another_form_of_a_rare_word_is_no_slip() -> None:
    question = Spelt("Who ported the app?", {"ported": ("posted",)})
    assert question.among(["We port it; he posted a photo"]) == question.typed


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("telescpe", "The telescope stands in the attic."),
        ("eror handling patterns", "I return errors explicitly instead of throwing exceptions."),
        ("my morgage rate", "The mortgage runs at 3.1 % until 2031."),
    ],
)
def test_a_context_has_what_a_mistyped_question_asks_for(question: str, told: str) -> None:
    with Memory.local() as memory:
        user = memory.user("ann")
        user.remember(told)
        for other in (
            "I have a dog called Rex.",
            "I run ten kilometres on Sundays.",
            "We use Python for the data team.",
        ):
            user.remember(other)
        assert told in user.context(question).text
        assert user.search(question)[0].memory.content == told


def test_a_rare_word_that_is_right_finds_its_own_memory() -> None:
    with Memory.local() as memory:
        user = memory.user("ann")
        user.remember("My neighbour wren sings at five in the morning.")
        user.remember("When I travel, I fly from Leeds.")
        assert user.search("what does the wren do?")[0].memory.content.startswith("My neighbour wren")
