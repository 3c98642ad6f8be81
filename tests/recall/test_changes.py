"""What was said anew is told, and what it changed is told as older."""

from datetime import UTC, datetime, timedelta

import pytest

from agent_memory import AsyncMemory
from agent_memory.models import Hit, Turn
from agent_memory.recall.changes import newer_versions, with_newer
from agent_memory.screening.injected import without_injected
from agent_memory.store.chunks import chunk_of

DAY = datetime(2026, 3, 1, tzinfo=UTC)


def chunk(number: int, text: str, *, speaker: str | None = None, role: str = "user", days: float | None = None) -> Hit:
    at = DAY + timedelta(days=number if days is None else days)
    turn = Turn(
        id=f"t{number}", user_id="u", thread_id=f"thread{number}", role=role, content=text, name=speaker, created_at=at
    )
    return Hit(memory=chunk_of(turn, text, None, name=speaker), score=1.0)


def changed(query: str, *texts: str, speakers: tuple[str | None, ...] = ()) -> set[tuple[int, int]]:
    """The pairs (older, newer) that are seen in texts said one day after the other."""
    hits = [chunk(number, text, speaker=speakers[number] if speakers else None) for number, text in enumerate(texts)]
    number_of = {hit.memory.id: number for number, hit in enumerate(hits)}
    return {(number_of[old], number_of[new]) for old, new in newer_versions(hits, query).items()}


@pytest.mark.parametrize(
    ("query", "old", "new"),
    [
        ("What does the bathroom budget come to?", "My bathroom budget is €18,000.", "The bathroom budget is €22,500."),
        ("When is the team standup?", "The team standup is at 9:30.", "From Monday our team standup is at 10:15."),
        ("Which test coverage do we have?", "Test coverage is 65%.", "Our test coverage reached 78%."),
        ("How many project cards?", "The gallery shows eight project cards.", "The gallery shows 10 project cards."),
        ("When is the sprint deadline?", "The sprint deadline is April 1.", "The new sprint deadline is April 5."),
        (
            "Which database is wayfare on?",
            "The wayfare database is MySQL.",
            "We moved the wayfare database to Postgres.",
        ),
        ("When may I call the office?", "Call my office only after 5 pm.", "You can call my office any time now."),
        ("Wann ist der Chor?", "Der Chor probt um 19:00.", "Der Chor probt jetzt um 20:00."),
    ],
)
def test_a_newer_value_overtakes_the_older_one(query: str, old: str, new: str):
    assert changed(query, old, new) == {(0, 1)}


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        ("What is my dog called?", "I have a dog called Rex.", "My dog Bella is five."),
        ("What is the bathroom budget?", "The bathroom budget is €18,000.", "The kitchen costs €9,000."),
        ("What is the bathroom budget?", "The bathroom budget is €18,000.", "So the bathroom budget is €18,000."),
        ("When is the standup?", "The standup is at 9:30.", "The standup takes 15 minutes."),
        ("Where do I live?", "I like Porto.", "The weather changed."),
    ],
)
def test_what_only_looks_like_a_change_is_none(query: str, one: str, other: str):
    assert changed(query, one, other) == set()


def test_nobody_changes_what_another_one_said():
    talk = ("My tent weighs 2 kilos.", "My tent weighs 3 kilos.")
    assert changed("How heavy is the tent in kilos?", *talk) == {(0, 1)}
    assert changed("How heavy is the tent in kilos?", *talk, speakers=("Ann", "Ben")) == set()
    mine = chunk(0, talk[0])
    assert newer_versions([mine, chunk(1, talk[1], role="agent")], "How heavy is the tent in kilos?") == {}


def test_the_newest_of_three_overtakes_both():
    talk = ("The rent is 800 euros.", "The rent is 900 euros.", "The rent is 950 euros.")
    assert changed("How much rent in euros?", *talk) == {(0, 2), (1, 2)}


def test_what_is_said_at_the_same_time_or_in_one_turn_changes_nothing():
    one, other = chunk(0, "The rent is 800 euros."), chunk(1, "The rent is 900 euros.", days=0)
    assert newer_versions([one, other], "How much rent in euros?") == {}


def test_the_newest_stands_ahead_of_what_it_changes():
    old, new, other = chunk(0, "The rent is 800 euros."), chunk(5, "The rent is 900 euros."), chunk(3, "Hello there.")
    newer = {old.memory.id: new.memory.id}
    assert with_newer([old, other], [old, other, new], newer) == [new, old, other]
    assert with_newer([other, new], [old, other, new], newer) == [other, new]


async def test_a_context_tells_the_newer_one_first_and_marks_the_older():
    async with AsyncMemory.local() as memory:
        user = memory.user("ann")
        await user.thread("a").add("user", "you can call my office only after 5 pm, ok?", created_at=DAY)
        later = DAY + timedelta(days=9)
        await user.thread("b").add("user", "btw you can call my office any time now", created_at=later)
        await memory.drain()
        context = await user.context("When can I call the office?")
        past = await user.context("When can I call the office?", as_of=DAY + timedelta(days=1))
    told = [line for line in context.text.splitlines() if "call my office" in line]
    assert "any time now" in told[0]
    assert "only after 5 pm" in told[1]
    assert told[1].endswith("(earlier, changed since)")
    assert [bool(item.get("earlier")) for item in context.used if item.get("kind") == "chunk"] == [False, True]
    assert "changed since" not in past.text


def test_a_marked_line_that_comes_back_is_not_remembered():
    line = "- The rent is 800 euros. (said 1 March 2026, changed since)"
    assert without_injected(f"Look:\n{line}\nRight?") == "Look:\nRight?"
