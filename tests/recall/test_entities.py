"""The people, places and things that memories mention: found by rules, counted, and seen over time."""

import pytest
from api_world import serving

from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput, NotFound
from agent_memory.text.entities import EntityKind, mentions, most_likely, names_in


def named(text: str) -> dict[str, str | None]:
    return {mention.name: mention.kind for mention in mentions(text)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("My sister Ana lives in Lisbon.", {"Ana": "person", "Lisbon": "place"}),
        ("I moved to New York in March with Jean-Luc.", {"New York": "place", "Jean-Luc": "person"}),
        ("I gave the keys to Maria on Monday.", {"Maria": None}),
        ("We bought a Toyota. It is red.", {"Toyota": None}),
        ("Mi hermana Lucía vive en Madrid.", {"Mi": None, "Lucía": "person", "Madrid": "place"}),
        (
            "Inês lives in São Paulo, not in Los Angeles.",
            {"Inês": "person", "São Paulo": "place", "Los Angeles": "place"},
        ),
        ("A book on Charles De Gaulle. But Ana read it.", {"Charles De Gaulle": None, "Ana": None}),
        ("We met Dr. Müller.", {"Müller": "person"}),
        ("Nate: I won a tournament.", {"Nate": "person"}),
        ("Leo and I fly on Friday.", {"Leo": "person"}),
        ("It is good that Leo passed his exam.", {"Leo": "person"}),
        ("We thanked Leo. He was glad.", {"Leo": None}),
        ("I had lunch with Priya, suggested by Tom.", {"Priya": "person", "Tom": "person"}),
        ("I built it with Flask and played a game called Dune.", {"Flask": None, "Dune": None}),
        ("I named her Tilly.", {"Tilly": "person"}),
        ("I swim on Mondays and Tues in Sept.", {}),
        ("私の妹は東京に住んでいます", {}),
        ("", {}),
        ("!!! ... ???", {}),
    ],
)
def test_names_in_a_text(text: str, found: dict[str, str | None]):
    given = named(text)
    assert {name: given.get(name) for name in found} == found
    assert given.keys() <= found.keys() | {"We", "It"}


@pytest.mark.parametrize(
    ("name", "shown", "kind"),
    [
        ("Leo", ["person", None, None], "person"),
        ("Flask", ["person", *[None] * 20], "thing"),
        ("API", ["person", "person"], "thing"),
        ("JavaScript", ["person"], "thing"),
        ("Conor McGregor", ["person"], "person"),
        ("Plumeria House", ["person"], "place"),
        ("Hawaii", [None, None], "place"),
        ("Jordan", ["person", "person", "person"], "person"),
        ("Toyota", [None], "thing"),
    ],
)
def test_a_kind_is_what_the_name_and_its_mentions_show(name: str, shown: list[EntityKind | None], kind: str):
    assert most_likely(name, shown) == kind


def test_hostile_text_takes_no_time():
    for text in (
        "A_" * 100_000,
        "Ana and ana " * 20_000,
        "A" * 200_000,
        "Aa " * 100_000,
        "Aa-" * 100_000,
        "in " * 100_000,
        "\u202eAna\u0000" * 1000,
    ):
        assert isinstance(mentions(text), list)
    assert names_in("Ana and anaconda", ["ana", "conda"]) == {"ana"}
    assert names_in("我住在東京都", ["東京"]) == {"東京"}


async def test_a_name_that_a_word_of_grammar_begins_is_one_name(memory: AsyncMemory):
    alice = memory.user("alice")
    for said in ("Lived in São Paulo", "São Paulo was hot", "But Ana liked it", "I met Ana in the park"):
        await alice.remember(said)
    assert {one.name: one.mentions for one in await alice.entities()} == {"São Paulo": 2, "Ana": 2}


async def test_entities_are_counted_and_seen_over_time(memory: AsyncMemory):
    alice = memory.user("alice")
    first = await alice.remember("My sister Ana lives in Lisbon")
    await alice.remember("I met Ana in Porto last summer")
    await alice.remember("Ana likes oranges")
    await alice.remember("Works on the garden every day")
    await memory.user("bob").remember("My brother Tom lives in Lisbon")
    found = {entity.name: entity for entity in await alice.entities()}
    assert {name: (one.kind, one.mentions) for name, one in found.items()} == {
        "Ana": ("person", 3),
        "Lisbon": ("place", 1),
        "Porto": ("place", 1),
    }
    assert [one.name for one in await alice.entities(kind="place", limit=1)] == ["Porto"]
    await alice.update(first.id, content="My sister Ana lives in Rome")
    assert "Lisbon" not in {entity.name for entity in await alice.entities()}
    ana = await alice.entity("ANA")
    told = [one.content for one in ana.timeline]
    assert (told[0], told[-1]) == ("My sister Ana lives in Lisbon", "My sister Ana lives in Rome")
    assert ana.along_with == {"Lisbon": 1, "Porto": 1, "Rome": 1}
    assert [one.superseded_by is None for one in (await alice.entity("Lisbon")).timeline] == [False]
    await alice.forget(query="My sister Ana lives in Rome")
    with pytest.raises(NotFound):
        await alice.entity("Rome")
    for name in ("Tom", "xyz"):
        with pytest.raises(NotFound):
            await alice.entity(name)
    for wrong in (alice.entity(" "), alice.entity("x" * 256), alice.entities(kind="pet"), alice.entities(limit=0)):
        with pytest.raises(InvalidInput):
            await wrong


async def test_a_name_without_capitals_is_found_when_asked_for(memory: AsyncMemory):
    await memory.user("alice").remember("私の妹は東京に住んでいます")
    assert await memory.user("alice").entities() == []
    assert (await memory.user("alice").entity("東京")).mentions == 1


async def test_over_http(memory: AsyncMemory):
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        await remote.user("alice").remember("My sister Ana lives in Lisbon")
        assert [one.name for one in await remote.user("alice").entities(kind="person")] == ["Ana"]
        assert (await remote.user("alice").entity("ana")).timeline[0].content == "My sister Ana lives in Lisbon"
        with pytest.raises(NotFound):
            await remote.user("bob").entity("Ana")
        await remote.group("team").remember("The office of Contoso is in Berlin")
        assert [one.name for one in await remote.group("team").entities(kind="place")] == ["Berlin"]


async def test_the_headings_of_a_session_name_nothing(memory: AsyncMemory):
    trip = memory.user("u").thread("trip")
    await trip.add("user", "Anna Berg and I fly to Lisbon in May.")
    await trip.process("archive")
    assert [one.kind for one in await memory.user("u").memories(types=["episodic"])] == ["session"]
    names = {one.name for one in await memory.user("u").entities()}
    assert "Anna Berg" in names
    assert names.isdisjoint({"Conversation Summary", "Date Range", "Summary"})
