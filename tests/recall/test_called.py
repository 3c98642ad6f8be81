"""A question may call somebody by another name than the one that their turns carry."""

from datetime import UTC, datetime

import pytest

from agent_memory import AsyncMemory
from agent_memory.recall.phrasing import Said, greetings, names_called, with_names_of_turns

GREETINGS = [
    Said("t", "Emi", "I have been skiing since I was nine."),
    Said("t", "elise", "Hey Kate! How was Utah?"),
    Said("t", "elise", "Thanks, Kate, that helps."),
    Said("t", "Emi", "Hola Emily! Fine."),
    Said("t", "Emi", "Good morning Emily"),
]
CALLED = {"Kate": "Emi", "Emily": "elise"}


def test_a_name_in_two_greetings_is_the_other_speakers():
    assert names_called(greetings(GREETINGS)) == CALLED


@pytest.mark.parametrize(
    "said",
    [
        [Said("t", "Emi", "Yes."), Said("t", "elise", "Hey Kate!")],
        [*GREETINGS[:3], Said("t", "Ben", "I am here too.")],
        [Said(one.thread_id, None, one.text) for one in GREETINGS],
        [*GREETINGS[:3], Said("u", "Ann", "Yes."), Said("u", "Bo", "Hi Kate!"), Said("u", "Bo", "Hey Kate, bye.")],
        [Said("t", "Emi", "Yes."), Said("t", "Kate", "Hi Kate!"), Said("t", "Kate", "Hey Kate!")],
        [*GREETINGS[:3], Said("u", "Ann", "Kate moved to Oslo."), Said("u", "Bo", "Did she?")],
        [*GREETINGS[:3], Said("u", None, "My sister Kate moved to Oslo.")],
        [Said("t", "Emi", "Yes."), *[Said("t", "elise", f"Hi {name}! Hey {name}!") for name in ("Will", "May") * 2]],
        [Said("t", "Emi", "Yes.")] + [Said("t", "elise", "I love Miami! Rome, Italy. Thanks Kate for the skis.")] * 3,
    ],
    ids=[
        "one greeting",
        "three speakers",
        "no names",
        "two bearers",
        "a speaker's own name",
        "others' friend",
        "the user's sister",
        "words",
        "no greeting",
    ],
)
def test_no_name_is_guessed(said: list[Said]):
    assert names_called(greetings(said)) == {}


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


async def test_a_search_finds_turns_of_a_speaker_by_another_name(memory: AsyncMemory):
    user = memory.user("alice")
    await user.thread("t").add_many(
        [{"role": "user", "name": one.speaker, "content": f"{one.text} It was fun."} for one in GREETINGS]
    )
    await user.thread("t").process("index")
    hits = await user.search("Since when has Kate been skiing?")
    assert hits[0].memory.quote == "I have been skiing since I was nine. It was fun."
    assert "speaker" in hits[0].why


async def test_what_is_said_in_one_thread_names_nobody_in_another_or_while_it_is_off(memory: AsyncMemory):
    """One of two speakers may call the other by somebody else's name, to bring up the other's turns."""
    user = memory.user("alice")
    chat, other = user.thread("t"), user.thread("other")
    await chat.add_many([{"role": "user", "name": one.speaker, "content": one.text} for one in GREETINGS[:3]])
    await other.add("user", "I drink tea since last year.", name="Emi")
    for thread in (chat, other):
        await thread.process("index")
    asked = "Since when does Kate drink tea?"
    assert "speaker" in (await user.search(asked))[0].why
    assert "speaker" not in (await other.search(asked))[0].why
    await chat.update_settings(enabled=False)
    assert "speaker" not in (await user.search(asked))[0].why


async def test_the_name_of_a_speaker_is_no_date(memory: AsyncMemory):
    user = memory.user("alice")
    said = [(one.speaker.replace("Emi", "April"), one.text) for one in GREETINGS[:3]]
    at = datetime(2026, 4, 10, tzinfo=UTC)
    await user.thread("t").add_many(
        [{"role": "user", "name": name, "content": text, "created_at": at} for name, text in said]
    )
    await user.thread("t").process("index")
    [hit, *_] = await user.search("Was Kate skiing?")
    assert "speaker" in hit.why
    assert "date" not in hit.why
