"""What was said anew is told, and what it changed is told as older."""

from datetime import UTC, datetime, timedelta

import pytest

from agent_memory import AsyncMemory
from agent_memory.models import Hit, Memory, Turn
from agent_memory.recall.changes import ADDED, MARKED, newer_versions, newest_first, with_added
from agent_memory.recall.compose import Parts, Wanted, compose
from agent_memory.screening.injected import without_injected
from agent_memory.settings import RecallSettings
from agent_memory.store.chunks import chunk_of
from agent_memory.text.tokens import TiktokenCounter

DAY = datetime(2026, 3, 1, tzinfo=UTC)


def chunk(number: int, text: str, *, speaker: str | None = None, role: str = "user", days: float | None = None) -> Hit:
    at = DAY + timedelta(days=number if days is None else days)
    turn = Turn(
        id=f"t{number}", user_id="u", thread_id=f"thread{number}", role=role, content=text, name=speaker, created_at=at
    )
    return Hit(memory=chunk_of(turn, text, None, name=speaker), score=1.0, similarity=0.5, relevance=0.3)


def changed(*texts: str, speakers: tuple[str | None, ...] = ()) -> set[tuple[int, int]]:
    """The pairs (older, newer) in texts said one day after the other, which fit the question equally well."""
    hits = [chunk(number, text, speaker=speakers[number] if speakers else None) for number, text in enumerate(texts)]
    number_of = {hit.memory.id: number for number, hit in enumerate(hits)}
    return {(number_of[old], number_of[new]) for old, new in newer_versions(hits, hits).items()}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My bathroom budget is €18,000.", "The bathroom budget is €22,500."),
        ("The team standup is at 9:30.", "From Monday our team standup is at 10:15."),
        ("Test coverage is 65%.", "Our test coverage reached 78%."),
        ("The gallery shows eight project cards.", "The gallery shows 10 project cards."),
        ("The sprint deadline is April 1.", "The new sprint deadline is April 5."),
        ("The wayfare database is MySQL.", "We moved the wayfare database to Postgres."),
        ("Call my office only after 5 pm.", "You can call my office any time now."),
    ],
)
def test_a_newer_value_makes_the_older_one_earlier(old: str, new: str):
    assert changed(old, new) == {(0, 1)}


def test_nobody_changes_what_another_user_said():
    talk = ("My tent weighs 2 kilos.", "My tent weighs 3 kilos.")
    assert changed(*talk) == {(0, 1)}
    assert changed(*talk, speakers=("Ann", "Ben")) == set()
    mine = chunk(0, talk[0])
    assert newer_versions([mine, chunk(1, talk[1], role="agent")], [mine]) == {}


def test_the_newest_of_three_overtakes_both():
    talk = ("The rent is 800 euros.", "The rent is 900 euros.", "The rent is 950 euros.")
    assert changed(*talk) == {(0, 2), (1, 2)}


def test_what_is_said_at_the_same_time_or_in_one_turn_changes_nothing():
    one, other = chunk(0, "The rent is 800 euros."), chunk(1, "The rent is 900 euros.", days=0)
    assert newer_versions([one, other], [one, other]) == {}


def test_the_newest_stands_ahead_of_what_it_changes():
    old, new, other = chunk(0, "The rent is 800 euros."), chunk(5, "The rent is 900 euros."), chunk(3, "Hello there.")
    newer = {old.memory.id: new.memory.id}
    assert with_added([old, other], [old, other, new], newer) == [new, old, other]
    assert with_added([other, old, new], [old, other, new], newer) == [other, old, new]
    assert newest_first([other, old, new], newer) == [other, new, old]
    assert newest_first([other, new], newer) == [other, new]


async def test_a_context_has_the_newer_value_first_and_marks_the_older():
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
    assert told[1].endswith("(earlier)")
    assert [bool(item.get("earlier")) for item in context.used if item.get("kind") == "chunk"] == [False, True]
    assert "(earlier)" not in past.text


def test_a_marked_line_that_comes_back_is_not_remembered():
    for mark in ("earlier", "changed since"):
        line = f"- The rent is 800 euros. (said 1 March 2026, {mark})"
        assert without_injected(f"Look:\n{line}\nRight?") == "Look:\nRight?"


def pair(old: Hit, new: Hit, *others: Hit) -> dict[str, str]:
    return newer_versions([old, new, *others], [old, new, *others])


def test_later_statements_about_one_thing_are_shown_in_the_order_of_time():
    """Other words, no figure and no word of change."""
    old = chunk(0, "I keep the router in the hall cupboard.")
    new = chunk(9, "The router stands on the bookshelf.")
    other = chunk(4, "The cat likes fish and naps a lot.")
    linked = new.model_copy(update={"memory": new.memory.model_copy(update={"near_ids": [old.memory.id]})})
    assert pair(old, linked, other) == {old.memory.id: new.memory.id}
    far = {"score": 0.4, "similarity": 0.1, "relevance": 0.01}
    beside = [hit.model_copy(update=far) for hit in (old, linked)]
    best_first = [other, *beside]
    assert newer_versions(best_first, best_first) == {}


@pytest.mark.parametrize(
    ("later", "is_linked", "is_marked"),
    [
        ("My router stands on the bookshelf.", True, False),
        ("My router stands on the bookshelf now.", True, True),
        ("My router stands on the bookshelf now.", False, False),
        ("My router stands on shelf 4.", False, False),
    ],
)
def test_in_one_conversation_a_link_alone_shows_no_change(later: str, is_linked: bool, is_marked: bool):
    """An hour later. A day later a link suffices."""
    old = chunk(0, "I keep the router in the hall cupboard.")
    other = chunk(4, "The cat likes fish and naps a lot.").model_copy(update={"score": 0.1, "similarity": 0.1})

    def marked(days: float) -> set[str]:
        new = chunk(9, later, days=days)
        links = [old.memory.id] if is_linked else []
        new = new.model_copy(update={"memory": new.memory.model_copy(update={"near_ids": links})})
        return set(pair(old, new, other))

    assert marked(1 / 24) == ({old.memory.id} if is_marked else set())
    if is_linked:
        assert marked(1) == {old.memory.id}


def test_what_surely_replaced_another_is_not_older_for_a_weak_reason():
    """Something later has words of the new value, and says nothing about it."""
    old, new = chunk(0, "I keep the router in the hall cupboard."), chunk(9, "The router stands on the bookshelf now.")
    new = new.model_copy(update={"memory": new.memory.model_copy(update={"near_ids": [old.memory.id]})})
    far = {"score": 0.3, "similarity": 0.3}
    later = chunk(14, "Where the router stands it blinks at night.").model_copy(update=far)
    other = chunk(4, "The cat likes fish and naps a lot.").model_copy(update={"score": 0.2, "similarity": 0.1})
    assert pair(old, new, later, other) == {old.memory.id: new.memory.id}


def test_the_successor_of_an_outdated_turn_is_not_older_for_a_weak_reason():
    """A later turn that is linked with it has other words, no figure and no word of change."""
    new = chunk(0, "I keep the router in the hall cupboard.")
    later = chunk(9, "The router stands on the bookshelf.")
    linked = later.model_copy(update={"memory": later.memory.model_copy(update={"near_ids": [new.memory.id]})})
    other = chunk(4, "The cat likes fish and naps a lot.")
    outdated = chunk(1, "My modem was in the cellar.", days=-5)
    over = {"valid_to": new.memory.created_at, "near_ids": [new.memory.id]}
    replaced = outdated.model_copy(update={"score": 0.2, "memory": outdated.memory.model_copy(update=over)})
    assert new.memory.id in newer_versions([new, linked, other], [new, linked])
    assert new.memory.id not in newer_versions([new, linked, other, replaced], [new, linked])


def marks_beside(old: str, new: str) -> bool:
    """Whether a newer turn marks an older one that fits the question less well than other talk."""
    other = chunk(3, "The cat likes fish and naps a lot.")
    older, newer = chunk(0, old).model_copy(update={"score": 0.88}), chunk(9, new)
    best_first = [other, older, newer]
    return older.memory.id in newer_versions(best_first, best_first)


@pytest.mark.parametrize(
    "new", ["Cut the pool back to 15.", "The pool went down to eight.", "We run the blue pool after all."]
)
def test_phrases_tell_of_a_change(new: str):
    assert marks_beside("The pool has 40 connections.", new)


@pytest.mark.parametrize(
    ("old", "new", "is_marked"),
    [
        ("The pool has 40 connections.", "The pool has 15 connections.", True),
        ("The pool has 40 connections.", "The pool has 40 good connections.", False),
        ("The pool has 40 connections.", "There are 3 ducks at the lake.", False),
        ("Last week (week of 26 June 2023) we saw the lake.", "Yesterday (2 August 2023) we saw the lake.", False),
    ],
)
def test_other_figures_of_the_same_thing_are_a_new_value(old: str, new: str, is_marked: bool):
    """The day that a fact adds to "yesterday" is no figure that was said."""
    assert marks_beside(old, new) is is_marked


def test_a_later_question_makes_nothing_older():
    old, asked = chunk(0, "The router is in the hall cupboard."), chunk(9, "Is the router in the hall cupboard now?")
    assert pair(old, asked) == {}


def test_few_lines_of_a_context_are_marked():
    hits = [chunk(number, f"The Monday choir now sings song {'abcdefgh'[number]}.") for number in reversed(range(8))]
    assert len(newer_versions(hits, hits)) == MARKED


def test_few_newer_memories_are_added_to_a_context():
    things = ("flat rent", "garage fee", "gym price", "phone tariff")
    old = [chunk(number, f"The {one} is {30 + number} euros.") for number, one in enumerate(things)]
    new = [
        later.model_copy(update={"memory": later.memory.model_copy(update={"near_ids": [earlier.memory.id]})})
        for number, (one, earlier) in enumerate(zip(things, old, strict=True))
        for later in [chunk(9 + number, f"The {one} is {60 + number} euros.")]
    ]
    added = set(newer_versions([*old, *new], old).values())
    assert len(added) == ADDED
    assert added < {hit.memory.id for hit in new}


async def test_a_context_fetches_what_is_newer_by_its_link(memory: AsyncMemory):
    """The newer turn has no word of the question; only that it was linked with the older one brings it in."""
    user = memory.user("ann")
    talk = [
        ("a", 0, "Our lawyer is Ferri in Lucca. Call her only in the mornings."),
        ("b", 5, "Ferri has retired, her nephew prefers afternoons now."),
    ]
    talk += [("c", 1 + number / 10, f"The garden needs {word} this year.") for number, word in enumerate(OTHERS)]
    for thread, days, text in talk:
        await user.thread(thread).add("user", text, created_at=DAY + timedelta(days=days))
        await user.thread(thread).process("index")
    query = "When should one call the lawyer?"
    context = await user.context(query)
    lines = [line for line in context.text.splitlines() if "Ferri" in line]
    assert "nephew" in lines[0]
    assert lines[1].endswith(" (earlier)")
    assert [item["newer_id"] for item in context.used if item.get("earlier")] == [context.used[0]["id"]]


OTHERS = ("roses", "gravel", "a fence", "compost", "new tools", "a bench", "tulips", "a pond")


def test_all_parts_of_an_older_turn_are_marked_and_only_what_is_shown():
    old, new = chunk(0, "The rent is 800 euros."), chunk(5, "The rent is 900 euros.")
    turn = Turn(id="t0", user_id="u", thread_id="thread0", role="user", content="-", created_at=DAY)
    part = Hit(memory=chunk_of(turn, "The flat is bright and quiet.", None, number=1), score=0.4, similarity=0.1)
    other = chunk(1, "The flat has a balcony.").model_copy(update={"score": 0.1, "similarity": 0.05})
    found = newer_versions([old, new, part, other], [old, new, part, other])
    assert found == dict.fromkeys((old.memory.id, part.memory.id), new.memory.id)
    assert newer_versions([old, new, part, other], [new, other]) == {}


def fact(memory_id: str, text: str, days: float, *, again: float | None = None) -> Hit:
    at, repeated = DAY + timedelta(days=days), None if again is None else DAY + timedelta(days=again)
    turns = [f"turn of {memory_id}"]
    memory = Memory(
        id=memory_id, user_id="u", thread_id="t", type="fact", kind="fact", content=text, source="user",
        source_turn_ids=turns, created_at=at, recorded_at=at, reaffirmed_at=repeated,
    )  # fmt: skip
    return Hit(memory=memory, score=1.0, similarity=0.6, relevance=0.5)


def lines_of(*hits: Hit) -> list[str]:
    wanted = Wanted("Where does my router stand?", 650, 10, None, "sections", RecallSettings(), "hashed")
    text = compose(Parts(hits=hits), wanted, TiktokenCounter()).text
    return [line for line in text.splitlines() if "router" in line]


def test_a_fact_that_was_said_again_shows_why_it_is_the_newer_one():
    shelf, hall = fact("b", "The router is on the bookshelf.", 5), fact("a", "The router is in the hall.", 0, again=9)
    lines = [
        "- The router is in the hall. (said 1 March 2026, again 10 March 2026)",
        "- The router is on the bookshelf. (said 6 March 2026, earlier)",
    ]
    assert lines_of(shelf, hall) == lines
    assert without_injected("\n".join(["So:", *lines])) == "So:"
    assert "again" not in lines_of(hall)[0]


def test_a_repetition_does_not_mark_a_memory_as_older():
    one, again = fact("a", "The router is on the bookshelf.", 0), fact("b", "The router is on the bookshelf!", 5)
    assert not any("earlier" in line for line in lines_of(one, again))


def test_two_facts_of_one_turn_make_neither_older():
    """Though one of them was said again; turns of other threads may have the same id."""
    hall, shelf = fact("a", "The router is in the hall.", 0, again=9), fact("b", "The router is on the bookshelf.", 0)

    def marked(*turns: tuple[str, str]) -> int:
        placed = [
            hit.model_copy(
                update={"memory": hit.memory.model_copy(update={"thread_id": thread, "source_turn_ids": [t]})}
            )
            for hit, (thread, t) in zip((hall, shelf), turns, strict=True)
        ]
        return len(newer_versions(placed, placed))

    assert marked(("t", "1"), ("t", "2")) == 1
    assert marked(("t", "1"), ("t", "1")) == 0
    assert marked(("t", "1"), ("other", "1")) == 1


def linked_marks(old: str, new: str) -> int:
    """How many marks two linked turns bring, the newer one said a day later."""
    one, other = chunk(0, old), chunk(1, new)
    linked = other.memory.model_copy(update={"near_ids": [one.memory.id]})
    hits = [one, other.model_copy(update={"memory": linked})]
    return len(newer_versions(hits, hits))


def test_a_link_alone_marks_in_english_only():
    """The embedding model finds any two sentences of another language similar."""
    assert linked_marks("Ines plays the drums.", "Now 3 people rehearse here.") == 1
    assert linked_marks("Soy alérgica a los cacahuates.", "Ahora vienen 3 con el coche.") == 0


def test_what_only_asks_is_not_marked():
    assert linked_marks("I wear size 42.", "I wear size 43 now.") == 1
    assert linked_marks("Which size fits best?", "I wear size 43 now.") == 0


def test_a_pronoun_is_no_figure_and_for_now_is_no_change():
    """An hour later, a newer turn needs a word of change, and a figure that the older lacks or a link."""
    old = chunk(0, "We keep the notes in three binders.")

    def marks(text: str, *links: str) -> bool:
        new = chunk(1, text, days=1 / 24)
        linked = new.model_copy(update={"memory": new.memory.model_copy(update={"near_ids": list(links)})})
        return bool(pair(old, linked))

    assert marks("We keep the notes in two binders now.")
    assert marks("The notes are in two binders now, not three.")
    assert not marks("We keep the notes in two binders.")
    assert not marks("We keep the notes in the green one now.")
    assert marks("We keep the notes in a database now.", old.memory.id)
    assert not marks("We keep the notes in a database for now.", old.memory.id)
