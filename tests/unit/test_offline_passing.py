"""Statements that only serve the conversation, or pass with the hour, are not remembered; those that look alike are."""

import pytest

from agent_memory.language.offline.extract import of_turn
from agent_memory.language.offline.speech import is_of_the_moment
from agent_memory.language.tasks import TurnView
from agent_memory.models import now

PASSING = [
    "I have to leave now as I have some things to take care of.",
    "We need to run.",
    "I want to talk about my writing progress.",
    "I'd like to ask about something",
    "Today (1 May 2023) I have some good news.",
    "I have a question about programming",
    "Today's chat was very enjoyable.",
    "I will take a look.",
    "I'll try it.",
    "I will definitely give it a try!",
    "I'll keep that in mind",
    "I will try these methods to improve my learning efficiency.",
    "I'll follow your advice.",
    "I will take a look at these recipes and start",
    "Today's weather has become a bit gloomy again.",
    "The weather is really hot today",
    "Today was a bit rough.",
    "Today is Monday and work has started again.",
    "I don't have any plans yet",
    "I don't have any project in mind now.",
    "We have no plans at the moment.",
    "I'll check them out.",
    "I'm looking for some advice on how to repot a fern.",
    "We are searching for a few quick lunch recipes to try out.",
    "I'm looking for something lighter to read on the train.",
    "I'm curious how glaciers move.",
    "I'm also curious about the ferry timetable.",
    "I like the idea of a rota on the fridge.",
    "I really love the autumn leaves theme.",
    "I'm looking for a good recipe for plum cake.",
    "I'm looking for a book about rivers, please.",
]
AT_HAND = [
    "I'm in a meeting until three.",
    "We're stuck in traffic near Reading.",
    "The kids are finally asleep so I've got ten minutes.",
    "I'm on page 40.",
    "I found the bug, it was a typo.",
    "I bought milk and bread.",
    "I just had lunch with Anna.",
    "The export keeps timing out after 30s",
    "I prefer the first version.",
    "I like option A better.",
    "I decided to go with B for this one.",
    "I'm fine with either.",
    "I moved the meeting, have a look.",
    "We nearly adopted a dog last year.",
    "I never learn, do I.",
    "Took Folasade and me about six hours",
]
NOT_AT_HAND = [
    "I'm in Porto until May.",
    "Our office is on floor 3.",
    "I bought a house.",
    "I bought two goats.",
    "We founded a bakery.",
    "We moved the launch to 5 May.",
    "Our committee meeting is on the first Thursday.",
]
LASTING = [
    "I want to share a flat with Ana",
    "I want to ask Ana to marry me",
    "I want to discuss the lease with my boss on Monday",
    "I need to talk to my landlord about the lease",
    "Our talk is on 5 May at PyCon",
    "The discussion was moved to Friday",
    "I will leave because they don't pay me",
    "The weather is bad for my joints",
    "We should run as a team",
    "I have to leave the company by June.",
    "I have to go to Berlin on Friday.",
    "We need to leave at six on Monday.",
    "I'll try the keto diet.",
    "Today is my birthday.",
    "I don't have any allergies.",
    "I don't have any siblings",
    "I have a question mark tattoo on my arm",
    "I will take these pills every morning.",
    "I will follow this diet until June.",
    "I have no car.",
    "I want to move to Rome",
    "I will read this year's report by Friday.",
    "I'll look at flats on Saturday",
    "I have two cats",
    "Today I got the job",
    "We have to go to court",
    "The weather station is on the roof",
    "I will use that account for rent",
    "I'm looking for recipes without nuts because Mia is allergic",
    "I'm looking for vegan recipes",
    "We're looking for something under 900 euros a month",
    "I'm looking for a new flat near the harbour",
    "I've been looking for information about my birth mother for years",
    "I'm looking for gift ideas for my sister, who has just become a vet",
    "I am a curious person",
    "I love the look of my new kitchen",
    "I like the village where we live",
    "I'm looking for ideas for our wedding in Umbria",
    "I'm looking for something to help with my insomnia",
    "I'm looking for something part-time near my daughter's school",
    "I'm looking for a book club in Ghent",
    "I'm curious about beekeeping, my neighbour Ines keeps three hives",
    "I like the layout of our new office in Malmö",
]


@pytest.mark.parametrize("text", PASSING)
def test_what_passes_is_not_remembered(text: str):
    assert is_of_the_moment(text)
    assert of_turn(TurnView(ref="t1", role="user", content=text, created_at=now()), []) == []


@pytest.mark.parametrize("text", LASTING)
def test_what_only_looks_like_it_is_kept(text: str):
    assert not is_of_the_moment(text)


@pytest.mark.parametrize("text", AT_HAND)
def test_what_is_about_the_hour_or_the_thing_at_hand_is_not_remembered(text: str):
    assert of_turn(TurnView(ref="t1", role="user", content=text, created_at=now()), []) == []


@pytest.mark.parametrize("text", NOT_AT_HAND)
def test_what_only_looks_at_hand_is_remembered(text: str):
    assert of_turn(TurnView(ref="t1", role="user", content=text, created_at=now()), [])


def test_a_short_reply_says_the_day_that_it_means():
    asked = TurnView(ref="t0", role="agent", content="Which day should I book the table for?", created_at=now())
    reply = TurnView(ref="t1", role="user", content="tomorrow please", created_at=now())
    [memory] = of_turn(reply, [asked])
    assert memory.content.startswith("Tomorrow (")


def test_a_value_from_a_month_on_is_dated():
    said = TurnView(ref="t1", role="user", content="day rate is 240 from january, was 220", created_at=now())
    [memory] = of_turn(said, [])
    assert memory.valid_from is not None
    assert memory.valid_from.month == 1


def test_a_wish_to_remember_counts_more():
    text = "Remember that I have no plans at the moment."
    assert of_turn(TurnView(ref="t1", role="user", content=text, created_at=now()), [])
