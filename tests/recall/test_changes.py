"""What was said anew is told, and what it changed is told as older."""

from datetime import UTC, datetime, timedelta

import pytest

from agent_memory import AsyncMemory
from agent_memory.models import Hit, Memory, Turn
from agent_memory.recall import statements
from agent_memory.recall.changes import ADDED, MARKED, Newer, newer_versions, newest_first, with_added
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


def changed(query: str, *texts: str, speakers: tuple[str | None, ...] = ()) -> set[tuple[int, int]]:
    """The pairs (older, newer) in texts said one day after the other whose words or figures show a change."""
    hits = [chunk(number, text, speaker=speakers[number] if speakers else None) for number, text in enumerate(texts)]
    number_of = {hit.memory.id: number for number, hit in enumerate(hits)}
    return {
        (number_of[old], number_of[new.id]) for old, new in newer_versions(hits, query, hits).items() if new.is_change
    }


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
def test_memories_that_only_look_like_a_change_are_not_one(query: str, one: str, other: str):
    assert changed(query, one, other) == set()


def test_nobody_changes_what_another_user_said():
    talk = ("My tent weighs 2 kilos.", "My tent weighs 3 kilos.")
    assert changed("How heavy is the tent in kilos?", *talk) == {(0, 1)}
    assert changed("How heavy is the tent in kilos?", *talk, speakers=("Ann", "Ben")) == set()
    mine = chunk(0, talk[0])
    assert newer_versions([mine, chunk(1, talk[1], role="agent")], "How heavy is the tent in kilos?", [mine]) == {}


def test_the_newest_of_three_overtakes_both():
    talk = ("The rent is 800 euros.", "The rent is 900 euros.", "The rent is 950 euros.")
    assert changed("How much rent in euros?", *talk) == {(0, 2), (1, 2)}


def test_what_is_said_at_the_same_time_or_in_one_turn_changes_nothing():
    one, other = chunk(0, "The rent is 800 euros."), chunk(1, "The rent is 900 euros.", days=0)
    assert newer_versions([one, other], "How much rent in euros?", [one, other]) == {}


def test_the_newest_stands_ahead_of_what_it_changes():
    old, new, other = chunk(0, "The rent is 800 euros."), chunk(5, "The rent is 900 euros."), chunk(3, "Hello there.")
    newer = {old.memory.id: Newer(new.memory.id, is_change=True)}
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
    assert told[1].endswith("(changed since)")
    assert [bool(item.get("earlier")) for item in context.used if item.get("kind") == "chunk"] == [False, True]
    assert "changed since" not in past.text


def test_a_marked_line_that_comes_back_is_not_remembered():
    for mark in ("earlier", "changed since"):
        line = f"- The rent is 800 euros. (said 1 March 2026, {mark})"
        assert without_injected(f"Look:\n{line}\nRight?") == "Look:\nRight?"


def pair(query: str, old: Hit, new: Hit, *others: Hit) -> dict[str, Newer]:
    return newer_versions([old, new, *others], query, [old, new, *others])


def test_later_statements_about_one_thing_are_shown_in_the_order_of_time():
    """Other words, no figure and no word of change in the sentence that is asked about: so only "newer" is said."""
    old = chunk(0, "I keep the router in the hall cupboard.")
    new = chunk(9, "The router stands on the bookshelf.")
    other = chunk(4, "The cat likes fish and naps a lot.")
    linked = new.model_copy(update={"memory": new.memory.model_copy(update={"near_ids": [old.memory.id]})})
    query = "Where does my router stand?"
    assert pair(query, old, linked, other) == {old.memory.id: Newer(new.memory.id, is_change=False)}
    far = {"score": 0.4, "similarity": 0.1, "relevance": 0.01}
    beside = [hit.model_copy(update=far) for hit in (old, linked)]
    best_first = [other, *beside]
    assert newer_versions(best_first, "What does the cat like?", best_first) == {}


@pytest.mark.parametrize(
    ("later", "is_linked", "is_marked"),
    [
        ("My router stands on the bookshelf.", True, False),
        ("My router stands on the bookshelf now.", True, True),
        ("My router stands on the bookshelf now.", False, False),
        ("My router stands on shelf 4.", False, True),
    ],
)
def test_in_one_conversation_a_link_alone_shows_no_change(later: str, is_linked: bool, is_marked: bool):
    """An hour later. A day later a link suffices."""
    query, old = "Where does the router stand?", chunk(0, "I keep the router in the hall cupboard.")
    other = chunk(4, "The cat likes fish and naps a lot.").model_copy(update={"score": 0.1, "similarity": 0.1})

    def marked(days: float) -> set[str]:
        new = chunk(9, later, days=days)
        links = [old.memory.id] if is_linked else []
        new = new.model_copy(update={"memory": new.memory.model_copy(update={"near_ids": links})})
        return set(pair(query, old, new, other))

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
    newer = pair("Where does my router stand?", old, new, later, other)
    assert newer == {old.memory.id: Newer(new.memory.id, is_change=False)}


def test_what_figures_show_as_newer_is_not_older_for_a_weak_reason():
    """However well something later fits the question."""
    old, new = fact("a", "The rent of my flat is 800 euros.", 0), fact("b", "The rent of my flat is 900 euros.", 9)
    later = fact("c", "The landlord of my flat keeps a rent book.", 14)
    found = [later, new, old.model_copy(update={"score": 0.3, "relevance": 0.2})]
    newer = newer_versions(found, "What is the rent of my flat?", found)
    assert newer["a"].is_change
    assert "b" not in newer
    assert newer_versions(found[:2], "What is the rent of my flat?", found[:2])["b"].id == "c"


def test_the_successor_of_an_outdated_turn_is_not_older_for_a_weak_reason():
    """A later turn that is linked with it has other words, no figure and no word of change."""
    new = chunk(0, "I keep the router in the hall cupboard.")
    later = chunk(9, "The router stands on the bookshelf.")
    linked = later.model_copy(update={"memory": later.memory.model_copy(update={"near_ids": [new.memory.id]})})
    other = chunk(4, "The cat likes fish and naps a lot.")
    outdated = chunk(1, "My modem was in the cellar.", days=-5)
    over = {"valid_to": new.memory.created_at, "near_ids": [new.memory.id]}
    replaced = outdated.model_copy(update={"score": 0.2, "memory": outdated.memory.model_copy(update=over)})
    query = "Where does my router stand?"
    assert new.memory.id in newer_versions([new, linked, other], query, [new, linked])
    assert new.memory.id not in newer_versions([new, linked, other, replaced], query, [new, linked])


def test_words_of_change_about_less_of_the_question_show_no_change():
    assert (
        changed(
            "What is our holiday gift budget?",
            "I've adjusted our holiday gift budget to $450.",
            "I've never approved any holiday medical supply budgets.",
        )
        == set()
    )


def test_a_later_question_makes_nothing_older():
    old, asked = chunk(0, "The router is in the hall cupboard."), chunk(9, "Is the router in the hall cupboard now?")
    assert pair("Where is the router?", old, asked) == {}


def test_few_lines_of_a_context_are_marked():
    hits = [chunk(number, f"The Monday choir now sings song {'abcdefgh'[number]}.") for number in range(8)]
    query = "What does the Monday choir sing?"
    newer = newer_versions(hits, query, hits)
    assert len(newer) == MARKED


def test_few_newer_memories_are_added_to_a_context():
    things = ("flat rent", "garage fee", "gym price", "phone tariff")
    old = [chunk(number, f"The {one} is {30 + number} euros.") for number, one in enumerate(things)]
    new = [chunk(9 + number, f"The {one} is {60 + number} euros.") for number, one in enumerate(things)]
    query = f"What is the {', '.join(things)} in euros?"
    added = {one.id for one in newer_versions([*old, *new], query, old).values()}
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
    asked = "How much rent in euros?"
    found = newer_versions([old, new, part, other], asked, [old, part, other])
    assert {old_id: one.id for old_id, one in found.items()} == dict.fromkeys(
        (old.memory.id, part.memory.id), new.memory.id
    )
    assert newer_versions([old, new, part, other], asked, [new, other]) == {}


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
    query = "Where does my router stand?"

    def marked(*turns: tuple[str, str]) -> int:
        placed = [
            hit.model_copy(
                update={"memory": hit.memory.model_copy(update={"thread_id": thread, "source_turn_ids": [t]})}
            )
            for hit, (thread, t) in zip((hall, shelf), turns, strict=True)
        ]
        return len(newer_versions(placed, query, placed))

    assert marked(("t", "1"), ("t", "2")) == 1
    assert marked(("t", "1"), ("t", "1")) == 0
    assert marked(("t", "1"), ("other", "1")) == 1


def test_a_long_sentence_of_figures_does_not_take_quadratic_time() -> None:
    [statement] = statements.told_in("$5 and 7 days in May 3 " * 5_000).statements
    assert statement.values == {"money": {"5"}, "": {"7"}, "day": {"3"}}


def linked_marks(query: str, old: str, new: str) -> int:
    """How many marks two linked turns bring, the newer one said a day later."""
    one, other = chunk(0, old), chunk(1, new)
    linked = other.memory.model_copy(update={"near_ids": [one.memory.id]})
    hits = [one, other.model_copy(update={"memory": linked})]
    return len(newer_versions(hits, query, hits))


def test_a_link_alone_marks_in_english_only():
    """The embedding model finds any two sentences of another language similar."""
    assert linked_marks("Who is in the band?", "Ines plays the drums.", "Now 3 people rehearse here.") == 1
    assert linked_marks("¿Quién es alérgica?", "Soy alérgica a los cacahuates.", "Ahora vienen 3 con el coche.") == 0


def test_what_only_asks_is_not_marked():
    assert linked_marks("Which size fits?", "I wear size 42.", "I wear size 43 now.") == 1
    assert linked_marks("Which size fits?", "Which size fits best?", "I wear size 43 now.") == 0


def test_a_pronoun_is_no_figure_and_for_now_is_no_change():
    kept = statements.told_in("The built-in one is good enough for now")
    assert (kept.statements[0].values, kept.is_change) == ({}, False)
    assert statements.told_in("We have two and use Postgres now").statements[0].values == {"": {"2"}}
    assert statements.told_in("We use Postgres now").is_change
