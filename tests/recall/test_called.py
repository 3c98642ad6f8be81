"""A question may call somebody by another name than the one that their turns carry."""

import pytest

from agent_memory import AsyncMemory
from agent_memory.recall.called import Said, names_called, with_names_of_turns

GREETINGS = [
    Said("t", "Emi", "I have been skiing since I was nine."),
    Said("t", "elise", "Hey Kate! How was Utah?"),
    Said("t", "elise", "Thanks, Kate, that helps."),
    Said("t", "Emi", "Hola Emily! Fine."),
    Said("t", "Emi", "Good morning Emily"),
]
CALLED = {"Kate": "Emi", "Emily": "elise"}


def test_a_name_in_two_greetings_is_the_other_speakers():
    assert names_called(GREETINGS) == CALLED


@pytest.mark.parametrize(
    "said",
    [
        [Said("t", "Emi", "Yes."), Said("t", "elise", "Hey Kate!")],
        [*GREETINGS[:3], Said("t", "Ben", "I am here too.")],
        [Said(one.thread_id, None, one.text) for one in GREETINGS],
        [*GREETINGS[:3], Said("u", "Ann", "Yes."), Said("u", "Bo", "Hi Kate!"), Said("u", "Bo", "Hey Kate, bye.")],
        [Said("t", "Emi", "Yes."), Said("t", "Kate", "Hi Kate!"), Said("t", "Kate", "Hey Kate!")],
        [Said("t", "Emi", "Yes.")] + [Said("t", "elise", "I love Miami! Rome, Italy. Thanks Kate for the skis.")] * 3,
    ],
    ids=["one greeting", "three speakers", "no names", "two bearers", "a speaker's own name", "no greeting"],
)
def test_no_name_is_guessed(said: list[Said]):
    assert names_called(said) == {}


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("When did Kate start skiing?", "When did Emi start skiing?"),
        ("Is Kate's coach older than Emily?", "Is Emi's coach older than Elise?"),
        ("when did kate start skiing", "when did Emi start skiing"),
        ("Did Emi ever meet Kate?", "Did Emi ever meet Kate?"),
        ("What does a kate do in Katelyn?", "What does a kate do in Katelyn?"),
    ],
)
def test_a_question_is_read_with_the_names_of_the_turns(question: str, read: str):
    assert with_names_of_turns(question, CALLED) == read


async def test_a_search_finds_the_turns_of_who_is_called_otherwise(memory: AsyncMemory):
    user = memory.user("alice")
    await user.thread("t").add_many(
        [{"role": "user", "name": one.speaker, "content": f"{one.text} It was fun."} for one in GREETINGS]
    )
    await user.thread("t").process("index")
    hits = await user.search("Since when has Kate been skiing?")
    assert hits[0].memory.quote == "I have been skiing since I was nine. It was fun."
    assert "speaker" in hits[0].why
