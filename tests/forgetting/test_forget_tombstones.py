"""What was forgotten does not come back, unless it is said again."""

from datetime import UTC, datetime, timedelta

import pytest

from agent_memory import AsyncMemory
from agent_memory.forgetting.tombstones import Forgotten, Place, Said, bury, of_place, of_words
from agent_memory.models import Memory
from agent_memory.scopes import AsyncUserScope
from agent_memory.store.chunks import words_of
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import from_document
from agent_memory.text.figures import telling_figures
from agent_memory.text.likeness import Likeness

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


async def derived(memory: AsyncMemory) -> list[str]:
    alice = memory.user("alice")
    await alice.thread("t1").process("extract")
    rows = await memory.runtime.store.query(MEMORIES, "SELECT * FROM c WHERE c.type IN ('fact', 'episodic')")
    return sorted(words_of(from_document(Memory, row)).removeprefix("fact: ") for row in rows)


@pytest.mark.req("S0-064")
async def test_what_was_said_before_it_was_forgotten_is_not_derived_and_what_is_said_after_is(memory: AsyncMemory):
    model = memory.runtime.tools.embeddings
    [vector] = (await model.embed(["the locker of the gym has the code seven"])).vectors
    words = ["fact: the locker code is seven", "the locker code is seven"]
    tombstones = [of_words("alice", text, NOON, vector, model.model_id) for text in words]
    await bury(memory.runtime.store, "alice", tombstones)
    chat = memory.user("alice").thread("t1")
    await chat.add("user", "fact: the locker code is seven", created_at=NOON - HOUR)
    await chat.add("user", "fact: The locker of the gym has the code seven!", created_at=NOON - HOUR)
    await chat.add("user", "fact: the weather is fine in March", created_at=NOON - HOUR)
    assert set(await derived(memory)) == {"the weather is fine in March"}
    await chat.add("user", "fact: the locker code is seven", created_at=NOON + HOUR)
    assert (await derived(memory)).count("the locker code is seven") == 2


@pytest.mark.parametrize(
    ("place", "comes_back"),
    [
        (Place(thread_id="t1"), False),
        (Place(thread_id="t2"), True),
        (Place(project_id="p1"), False),
        (Place(project_id="p2"), True),
        (Place(thread_id="t1", project_id="p2"), True),
        (Place(since=NOON - HOUR, until=NOON - HOUR), False),
        (Place(since=NOON - HOUR / 2), True),
        (Place(until=NOON - 2 * HOUR), True),
    ],
)
async def test_a_place_that_was_forgotten_stays_empty(memory: AsyncMemory, place: Place, comes_back: bool):
    await bury(memory.runtime.store, "alice", [of_place("alice", place, NOON)])
    chat = memory.user("alice").thread("t1", project_id="p1")
    await chat.add("user", "fact: it was said before noon", created_at=NOON - HOUR)
    assert bool(await derived(memory)) is comes_back


@pytest.mark.parametrize("turn_id", [{"id": "late"}, {}], ids=["with an id", "without"])
async def test_a_turn_that_arrives_after_its_place_was_forgotten_is_not_stored(
    memory: AsyncMemory, turn_id: dict[str, str]
):
    """A writer was slow: no turn of this id or with these words was ever stored."""
    chat = memory.user("alice").thread("t1", project_id="p1")
    await chat.add("user", "The weather is fine", created_at=NOON - HOUR)
    await memory.user("alice").forget(project_id="p1")
    late = {"role": "user", "content": "The code is seven", "created_at": NOON - HOUR} | turn_id
    receipt = await chat.add_many([late])
    assert (receipt.created, receipt.forgotten) == (0, receipt.ids)
    receipt = await chat.add_many([turn_id | {"role": "user", "content": "The code is eight"}])
    assert (receipt.created, receipt.forgotten) == (1, [])
    assert [turn.content for turn in await chat.turns()] == ["The code is eight"]


async def test_turns_without_a_project_belong_to_no_forgotten_project(memory: AsyncMemory):
    await bury(memory.runtime.store, "alice", [of_place("alice", Place(project_id="p1"), NOON)])
    await memory.user("alice").thread("t1").add("user", "fact: it was said before noon", created_at=NOON - HOUR)
    assert await derived(memory) == ["it was said before noon"] * 2


async def test_tombstones_of_another_user_do_not_count(memory: AsyncMemory):
    await bury(memory.runtime.store, "bob", [of_place("bob", Place(thread_id="t1"), NOON)])
    await memory.user("alice").thread("t1").add("user", "fact: it was said before noon", created_at=NOON - HOUR)
    assert len(await derived(memory)) == 2


async def test_a_tombstone_holds_no_text(memory: AsyncMemory):
    await bury(
        memory.runtime.store,
        "alice",
        [
            of_words("alice", "the code is 4711", NOON, None, "m"),
            of_place("alice", Place("dossier-9", "gold"), NOON),
        ],
    )
    kept = str(await memory.runtime.store.query(MEMORIES, "SELECT * FROM c WHERE c.type = 'tombstone'"))
    assert not any(text in kept for text in ("4711", "dossier-9", "gold"))


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ("My locker code is 4711.", {"4711"}),
        ("It is 4-7-1-1, or 4 7 1 1", {"4711"}),
        ("They pay me $84,500.00 a year", {"84500"}),
        ("They pay me 84.500 euros", {"84500"}),
        ("[5 March 2026] user: gate A113-x, ask ann@example.com", {"a113-x", "ann@example.com"}),
        ("In 2026, on 2026-03-05 at 12:30, 10,000 steps and 50mg, 12 of them", set()),
        ("Call 555.123.4567, not 10.0.0.12", {"5551234567"}),
        ("Since 12.03.2026 with version 3.12.4, gates 1,2,3,4", set()),
    ],
)
def test_figures_that_point_to_one_thing(text: str, telling: set[str]):
    assert telling_figures(text) == telling


def test_two_wordings_are_distinguished_from_two_claims():
    like = Likeness.of("all-MiniLM-L6-v2-int8")
    # The cosines are those of the model.
    assert like.same_claim("My gym locker code is 4711", "By the way, 4711 opens it", 0.4)
    assert like.same_claim("I take sertraline for my depression", "User takes sertraline, 50 mg.", 0.7)
    assert not like.same_claim("My gym locker code is 4711", "My gym locker is on the second floor", 0.72)
    assert not like.same_claim("I'm allergic to peanuts", "I'm allergic to cats", 0.66)
    assert like.about("my divorce", "The divorce from Karen will be final in June.", 0.31)
    assert not like.about("what I earn", "My rent is 1,450 euros", 0.35)


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("by", ["words", "meaning", "place"])
def test_a_tombstone_covers_what_was_said_up_to_its_own_instant(by: str, later: bool):
    vector = [0.6, 0.8]
    buried = {
        "words": of_words("alice", "the code is seven", NOON, None, "m"),
        "meaning": of_words("alice", "seven is the code of the locker", NOON, vector, "m"),
        "place": of_place("alice", Place(thread_id="t1"), NOON),
    }[by]
    said = Said("the code is seven", NOON + later * timedelta(microseconds=1), "t1", vector=vector)
    assert Forgotten("alice", [buried], "m").covers(said) is not later


@pytest.mark.parametrize("bound", ["since", "until"])
async def test_both_ends_of_a_time_range_are_forgotten(memory: AsyncMemory, bound: str):
    inside, outside = NOON, NOON + timedelta(microseconds=1 if bound == "until" else -1)
    chat = memory.user("alice").thread("t1")
    await chat.add("user", "fact: the locker code is seven", created_at=inside)
    await chat.add("user", "fact: the parrot is called Polly", created_at=outside)
    await derived(memory)
    await chat.forget(**{bound: NOON})
    assert [turn.content for turn in await chat.turns()] == ["fact: the parrot is called Polly"]
    assert await derived(memory) == ["the parrot is called Polly"] * 2
    memories = await memory.user("alice").memories()
    assert [one.content for one in memories] == ["the parrot is called Polly"]


@pytest.mark.parametrize("bound", ["since", "until"])
async def test_both_ends_of_a_time_range_are_forgotten_of_memories_without_turns(memory: AsyncMemory, bound: str):
    alice = memory.user("alice")
    at = (await alice.remember("The parrot is called Polly")).created_at
    beyond = timedelta(microseconds=-1 if bound == "until" else 1)
    assert await forgotten(alice, bound, at + beyond) == []
    assert await forgotten(alice, bound, at) == ["The parrot is called Polly"]


async def forgotten(user: AsyncUserScope, bound: str, at: datetime) -> list[str]:
    before = {one.content for one in await user.memories()}
    await user.forget(**{bound: at})
    return sorted(before - {one.content for one in await user.memories()})


@pytest.mark.parametrize("asked", [{"query": "the locker code"}, {"thread_id": "t1"}])
async def test_what_has_a_time_to_come_does_not_come_back_either(memory: AsyncMemory, asked: dict[str, str]):
    """A writer's clock may be ahead of ours, and an archive may have other times than the store had."""
    alice = memory.user("alice")
    later = datetime.now(UTC) + 400 * 24 * HOUR
    await alice.thread("t1").add("user", "fact: the locker code is seven", created_at=later)
    await alice.thread("t1").process("extract")
    await alice.thread("t1").process("summarize")
    lines: list[str] = []
    await alice.export(lines.append)
    await alice.forget(**asked)  # type: ignore[arg-type]
    postponed = [line.replace(str(later.year), str(later.year + 1)) for line in lines]
    for archive in (lines, postponed):
        receipt = await alice.import_lines(archive)
        assert receipt.forgotten["turn"] == 1
        assert await alice.memories() == []
        assert await alice.thread("t1").turns() == []
