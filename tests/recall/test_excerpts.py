"""Of long talk a context tells what bears on the question, so that more than one turn has room."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, strategies as st

from agent_memory import AsyncMemory
from agent_memory.recall.excerpts import LEFT_OUT, excerpt

DAY = datetime(2026, 3, 1, tzinfo=UTC)
TALK = (
    "I am setting up the new shop. The walls are white and the floor is oak. The parcels leave from gate 14. "
    "Next week the shelves come, then the lamps."
)


def test_the_sentences_with_the_words_asked_for_are_shown():
    assert excerpt(TALK, {"gate": 1.0, "parcel": 1.0}, 40) == f"{LEFT_OUT} The parcels leave from gate 14. {LEFT_OUT}"
    assert excerpt(TALK, {"shelv": 1.0}, 50).startswith(f"{LEFT_OUT} Next week the shelves")
    assert excerpt(TALK, {"shop": 1.0}, 50) == f"I am setting up the new shop. {LEFT_OUT}"
    assert excerpt(TALK, {}, len(TALK)) == TALK
    # Rare words count more than many frequent ones.
    assert "gate 14" in excerpt(TALK, {"gate": 2.0, "wall": 0.5, "floor": 0.5, "white": 0.5}, 40)


def test_among_equally_good_stretches_one_with_figures_is_shown():
    assert "gate 14" in excerpt(TALK, {"elsewher": 1.0}, 40)


def test_the_part_of_a_long_sentence_that_is_asked_for_is_shown():
    long = "Well, " + "it went on and on, " * 12 + "and the rent is 900 euros now, " + "so they said again, " * 12
    told = excerpt(long, {"rent": 1.0}, 60)
    assert "the rent is 900 euros now" in told
    assert len(told) < 70
    assert len(excerpt("x" * 5000, {"rent": 1.0}, 60)) < 70


@given(st.text(max_size=300), st.integers(min_value=1, max_value=200))
def test_an_excerpt_is_a_stretch_of_the_text_and_not_too_long(text: str, longest: int):
    told = excerpt(text, {"a": 1.0, "rent": 1.0}, longest)
    assert len(told) <= max(longest + 2 * len(f" {LEFT_OUT}"), len(told) if told == text else 0)
    bare = told if told == text else told.removeprefix(f"{LEFT_OUT} ").removesuffix(f" {LEFT_OUT}")
    assert bare in text


async def test_long_turns_make_room_for_others_only_where_there_is_none():
    filler = "We talked about the weather, the neighbours and the bus. " * 12
    async with AsyncMemory.local() as memory:
        user = memory.user("ann")
        for number, name in enumerate(("north", "south", "east", "west", "upper")):
            text = f"{filler}The {name} store room opens with key {40 + number}. {filler}"
            await user.thread(f"t{number}").add("user", text, created_at=DAY)
            await user.thread(f"t{number}").process("index")
        note = await user.remember(f"The store rooms: {filler}")
        asked = "Which keys open the store rooms?"
        tight, roomy = await user.context(asked, budget=650), await user.context(asked, budget=6000)
    assert [f"key {40 + number}." in tight.text for number in range(5)] == [True] * 5
    assert "neighbours" in roomy.text
    cut = {item["id"] for item in tight.used if item.get("cut")}
    assert len(cut) >= 5
    assert not any(item.get("cut") for item in roomy.used)
    # A memory that somebody wrote is not cut to what is asked.
    assert not any("The store rooms: …" in line or "… We talked" in line for line in roomy.text.splitlines())
    assert note.id in {item["id"] for item in roomy.used}
