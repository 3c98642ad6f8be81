"""Memories that are linked with each other by hand, and followed one hop."""

import json

import pytest

from agent_memory import InvalidInput, Memory, NotFound
from agent_memory.cli.main import app
from agent_memory.language.hashing import HashingEmbeddings


@pytest.fixture
def memory():
    with Memory.local(embedding_model=HashingEmbeddings()) as opened:
        yield opened


@pytest.mark.req("S0-015")
def test_links_are_followed_one_hop_and_kept_by_a_new_version(memory):
    alice = memory.user("alice")
    trip = alice.remember("The trip to Kauai is in March")
    hotel = alice.remember("The hotel is Hibiscus Cottage", related_ids=[trip.id, trip.id])
    price = alice.remember("The hotel costs $260 a night", related_ids=[hotel.id])
    assert [one.id for one in alice.why(price.id).related] == [hotel.id]  # and not the trip: one hop
    assert [one.id for one in alice.why(hotel.id).related] == [trip.id]

    dearer = alice.update(price.id, content="The hotel costs $280 a night")
    assert dearer.id != price.id
    assert [one.content for one in alice.why(dearer.id).related] == ["The hotel is Hibiscus Cottage"]
    both = alice.update(dearer.id, related_ids=[trip.id, hotel.id])
    assert (both.id, both.related_ids) == (dearer.id, [trip.id, hotel.id])  # no new version: it says the same
    assert alice.update(dearer.id, related_ids=[]).related_ids == []


@pytest.mark.req("S0-015")
def test_a_link_goes_with_what_is_forgotten_and_along_with_an_export(memory):
    alice = memory.user("alice")
    trip = alice.remember("The trip to Kauai is in March")
    hotel = alice.remember("The hotel is Hibiscus Cottage", related_ids=[trip.id])
    lines: list[str] = []
    alice.export(lines.append)
    memory.user("copy").import_lines(lines)
    (copied,) = [one for one in memory.user("copy").memories() if "Hibiscus" in one.content]
    assert [one.content for one in memory.user("copy").why(copied.id).related] == [trip.content]

    alice.forget(trip.id)
    assert alice.get(hotel.id).related_ids == []


def test_nothing_is_linked_with_another_users_memories(memory):
    alice, bob = memory.user("alice"), memory.user("bob")
    secret = bob.remember("Bob's bicycle is blue")
    mine = alice.remember("My bicycle is red")
    with pytest.raises(NotFound, match="to link with"):
        alice.remember("We both cycle", related_ids=[secret.id])
    with pytest.raises(NotFound, match="to link with"):
        alice.update(mine.id, related_ids=[secret.id])
    with pytest.raises(NotFound, match="to link with"):
        alice.update(mine.id, related_ids=[f"fact_{number}" for number in range(50)])
    with pytest.raises(InvalidInput, match="at most 50 others"):
        alice.update(mine.id, related_ids=[f"fact_{number}" for number in range(51)])


def test_why_shows_the_links(memory, tmp_path):
    from typer.testing import CliRunner

    path = tmp_path / "m.db"
    with Memory.local(path) as stored:
        trip = stored.user("u").remember("The trip is in March")
        hotel = stored.user("u").remember("The hotel is old", related_ids=[trip.id])
    shown = CliRunner().invoke(app, ["why", hotel.id, "--store", str(path)]).stdout
    assert "The trip is in March" in shown.partition("Linked with")[2]
    found = json.loads(CliRunner().invoke(app, ["why", hotel.id, "--json", "--store", str(path)]).stdout)
    assert [one["id"] for one in found["related"]] == [trip.id]
