"""A topic of several words finds what is about all of them, and shows apart what is about a part."""

import asyncio

import pytest

from agent_memory import AsyncMemory, Cadence
from agent_memory.forgetting.topics import MOST_WORDS, partly_about
from agent_memory.language.defaults import default_embeddings
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.text.likeness import Likeness, cosine

# For each topic: texts that say all of it, and texts that say a part. The margin was chosen on the first seven topics.
TOPICS: dict[str, tuple[list[str], list[str]]] = {
    "Hawaii budget": (
        [
            "My budget for the Hawaii trip is $10,000.",
            "I have $10,000 for Hawaii.",
            "We can spend ten grand on the Hawaii trip.",
            "The Hawaii vacation must cost less than 9,000 euros.",
            "We set aside money for Hawaii.",
            "How much may the trip to Hawaii cost? 10k at most.",
            "The trip may cost 10k at most.",
        ],
        [
            "Our hotel in Hawaii is on Maui.",
            "The flight to Hawaii leaves at 9 am.",
            "I love snorkeling in Hawaii.",
            "We go to Hawaii in August.",
            "Hawaii is our next vacation.",
            "My budget for the kitchen is $4,000.",
            "The marketing budget was cut by a third.",
            "Anna comes with us to Hawaii.",
        ],
    ),
    "peanut allergy": (
        [
            "I'm allergic to peanuts.",
            "Peanuts make my throat swell up.",
            "I can't eat peanuts.",
            "My son has a nut allergy.",
            "Peanuts give me hives.",
        ],
        [
            "I love peanut butter sandwiches.",
            "I have a pollen allergy.",
            "My cat allergy got worse.",
            "We bought peanuts for the birds.",
        ],
    ),
    "divorce lawyer": (
        [
            "My divorce lawyer is Jane Stone.",
            "The attorney for my divorce is expensive.",
            "Jane Stone represents me in the divorce.",
            "The lawyer who handles my separation called.",
        ],
        [
            "My divorce was final in May.",
            "I talked to a lawyer about the lease.",
            "Since the divorce I live alone.",
            "My sister is a lawyer.",
        ],
    ),
    "sister's wedding": (
        [
            "My sister gets married in June.",
            "Anna's wedding is in June; she's my sister.",
            "The wedding of my sister is in Rome.",
        ],
        [
            "My sister lives in Rome.",
            "Tom's wedding was lovely.",
            "My sister has a new job.",
            "My sister's dog is called Rex.",
        ],
    ),
    "job interview at Fabrikam": (
        [
            "I interviewed at Fabrikam on Monday.",
            "Fabrikam invited me to an interview.",
            "My interview with Fabrikam is on Tuesday.",
            "I had a talk with the hiring manager of Fabrikam.",
        ],
        [
            "Fabrikam makes good chairs.",
            "I had a job interview at Contoso.",
            "I bought Fabrikam stock.",
            "My brother works at Fabrikam.",
        ],
    ),
    "knee surgery": (
        [
            "They operate on my knee in May.",
            "My knee surgery is on Tuesday.",
            "The operation on my knee went well.",
        ],
        [
            "My knee hurts when I run.",
            "My mother had heart surgery.",
            "The dentist's surgery is closed on Monday.",
        ],
    ),
    "garage door code": (
        [
            "The code for the garage door is 4711.",
            "The garage opens with 4711.",
            "Enter 4711 to open the garage.",
        ],
        [
            "The garage door is red.",
            "My locker code is 4711.",
            "The garage is full of boxes.",
            "Please review my code.",
        ],
    ),
    "rent increase": (
        [
            "My rent goes up by 90 euros in May.",
            "The landlord wants more rent from January.",
            "The rent increase is illegal, says the union.",
            "They raised our rent again.",
            "From May on we pay 90 more for the flat.",
        ],
        [
            "The rent is due on the first.",
            "The price of bread will increase.",
            "We rent a boat on Sundays.",
            "My rent is 900 euros.",
        ],
    ),
    "mother cancer": (
        [
            "My mother has breast cancer.",
            "Mum was diagnosed with a tumour.",
            "My mother's chemotherapy starts on Monday.",
            "Mom's oncologist called about the biopsy.",
        ],
        [
            "My mother lives in Leeds.",
            "Cancer is my star sign.",
            "My mother plays the piano.",
            "The cancer charity run is on Sunday.",
        ],
    ),
    "bank password": (
        [
            "The password of my bank is swordfish7.",
            "My login for online banking is swordfish7.",
            "I use swordfish7 to sign in at the bank.",
        ],
        [
            "My bank is around the corner.",
            "The wifi password is on the fridge.",
            "We sat on a bank by the river.",
            "I forgot my e-mail password.",
        ],
    ),
    "Japan trip dates": (
        [
            "We fly to Japan on 3 April and come back on the 17th.",
            "Our Japan trip is from 3 to 17 April.",
            "We'll be in Japan in the first half of April.",
        ],
        [
            "I love Japanese food.",
            "Japan won the match.",
            "My trip to Oslo is in May.",
        ],
    ),
    "argument with Tom": (
        [
            "Tom and I had a fight last night.",
            "I argued with Tom about money.",
            "Tom shouted at me on Sunday.",
        ],
        [
            "Tom has a new bike.",
            "The argument in the book is weak.",
            "I had lunch with Tom.",
        ],
    ),
    "salary negotiation": (
        [
            "I asked for 10 percent more pay.",
            "We negotiate my salary on Friday.",
            "My boss offered 84,000 a year and I said no.",
        ],
        [
            "My salary arrives on the 28th.",
            "The peace negotiation failed.",
            "A good salary is important to me.",
        ],
    ),
}
STAY_TOO_NEAR = {"I had a job interview at Contoso.", "My brother works at Fabrikam."}
"""Texts about a part that are deleted all the same: what a user asks to forget must not stay."""


async def near(topic: str, texts: list[str]) -> list[str]:
    """Those of the texts that a topic finds, before its words are looked at one by one."""
    embeddings = default_embeddings()
    first, *others = (await embeddings.embed([topic, *texts])).vectors
    like = Likeness.of(embeddings.model_id)
    return [text for text, one in zip(texts, others, strict=True) if like.about(topic, text, cosine(first, one))]


def test_all_that_says_a_topic_is_about_it_and_most_that_says_a_part_is_not():
    async def parts() -> tuple[list[str], int, int, list[str]]:
        lost: list[str] = []
        left: list[str] = []
        whole = part = 0
        for topic, (says_all, says_part) in TOPICS.items():
            found, others = await near(topic, says_all), await near(topic, says_part)
            partly = await partly_about(default_embeddings(), topic, [*found, *others])
            whole, part = whole + len(found), part + len(others)
            lost += [text for text in found if text in partly]
            left += [text for text in others if text not in partly]
        return lost, whole, part, left

    lost, whole, part, left = asyncio.run(parts())
    assert (lost, whole) == ([], 44)
    assert (part, set(left)) == (16, STAY_TOO_NEAR)


@pytest.mark.parametrize(
    ("topic", "text"),
    [
        ("Hawaii", "We go to Hawaii in August."),
        ("Hawaii Budget", "Wir fliegen im August nach Hawaii."),
        ("one two three four five six seven", "We go to Hawaii in August."),
        ("Hawaii budget", "We go to Hawaii in August. All of it may cost ten grand, no more."),
    ],
    ids=["one word", "another language", "many words", "a sentence of it"],
)
async def test_what_cannot_be_told_is_about_all_of_a_topic(topic: str, text: str):
    assert MOST_WORDS == 6
    assert await partly_about(default_embeddings(), topic, [text]) == {}
    assert await partly_about(HashingEmbeddings(), "Hawaii budget", ["We go to Hawaii in August."]) == {}


async def test_a_dry_run_shows_apart_what_is_about_a_part():
    never = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
    async with AsyncMemory.local(embedding_model=default_embeddings(), cadence=never) as memory:
        user = memory.user("alice")
        budget = await user.remember("We can spend ten grand on the Hawaii trip.")
        hotel = await user.remember("Our hotel in Hawaii is on Maui.")
        plan = await user.forget(query="Hawaii budget", dry_run=True)
        assert [item.id for item in plan.items] == [budget.id]
        assert [(item.id, item.why, item.content) for item in plan.near] == [
            (hotel.id, "does not say 'budget'", hotel.content)
        ]
        assert f"near it, and kept:\n  fact, does not say 'budget': {hotel.content}" in str(plan)
        done = await user.forget(query="Hawaii budget")
        assert done.near == []
        assert [one.id for one in await user.memories()] == [hotel.id]
