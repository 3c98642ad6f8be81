"""What speakers take back in the next breath is not remembered."""

from datetime import UTC, datetime, timedelta

import pytest

from agent_memory.language.grounding.corrections import revised
from agent_memory.language.offline.extract import extract
from agent_memory.language.offline.reconcile import reconcile
from agent_memory.language.tasks import ExtractedMemory, ExtractInput, FactView, ReconcileInput, TurnView

WHEN = datetime(2026, 5, 8, 10, tzinfo=UTC)  # a Friday


def found(*said: str) -> list[ExtractedMemory]:
    """The memories of turns of user and agent in turn."""
    turns = [
        TurnView(
            ref=f"t{at}", role="agent" if at % 2 else "user", content=text, created_at=WHEN + timedelta(minutes=at)
        )
        for at, text in enumerate(said)
    ]
    return extract(ExtractInput(turns=turns)).memories


def replaces(newer: ExtractedMemory, older: ExtractedMemory) -> bool:
    facts = [
        FactView(ref=one.turns[0], kind="fact", content=one.content, said_at=WHEN + timedelta(minutes=at))
        for at, one in enumerate((older, newer))
    ]
    contradictions = reconcile(ReconcileInput(facts=facts)).contradictions
    return [one.refs for one in contradictions] == [[*newer.turns, *older.turns]]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Our rent is 1200 euros a month. Sorry, 1250.", "Our rent is 1250 euros a month."),
        ("My flight is at 7:15. Oh wait, 7:50.", "My flight is at 7:50."),
        ("I work at Siemens. Actually no, at Bosch.", "I work at Bosch."),
        ("My dentist is Dr. Kern. I meant Dr. Kerner.", "My dentist is Dr. Kerner."),
        ("The audit is on Tuesday, no wait, on Wednesday.", "The audit is on Wednesday (13 May 2026)."),
        ("Dinner with the board is at 7. Hmm, no, make it 7:30.", "Dinner with the board is at 7:30."),
        ("My rent is $900. Scratch that. My rent is $950 now.", "My rent is $950 now."),
        ("The captain is Ada... no, I meant the captain is Ines.", "The captain is Ines."),
        ("Ich habe am Dienstag Training. Nein, am Mittwoch.", "Ich habe am Mittwoch Training (13 May 2026)."),
    ],
)
def test_what_is_taken_back_in_the_next_breath_is_not_kept(text: str, content: str) -> None:
    [memory] = found(text)
    assert memory.content == content
    assert memory.quote in text


@pytest.mark.parametrize(
    "text",
    [
        "My budget is 500 euros. No more than 3 nights in a row.",
        "I live in Leeds. Actually, I love it here.",
        "My sister Anna lives in Rome. Sorry, Maria, I was away.",
        "Our standup is at 9:30. No, 3 people can't make it.",
        "My son was born in 2019. No, really.",
        "We need 2 rooms, no 3rd floor please. Thanks!",
        "I run 5 km every Monday. Oh, 2 friends join me.",
        "I take 20 mg of lisinopril. Hmm, 40 pills left.",
        "My budget is 2000 euros. Sorry, 1500 for flights.",
        "My flight is on 3 May. Wait, 4 May?",
        "I drink 3 coffees a day. Sorry, 10 years of it.",
        "I'm allergic to Penicillin. Oh, and Aspirin.",
        "I speak Spanish. Actually, French too.",
        "We have flights on 3 May. Oh, and on 9 May.",
        "I work in Berlin. Sorry, Tom, I had to go.",
        "My dog Rex is 5. Oh, Max, stop that.",
        "Vivo en Madrid. Perdón, Ana.",
        "I was born in Rome. No wait, Alexa!",
        "I live in Rome. I mean, I have lived there for ten years.",
        "I have a dog named Max. I mean, Max is a great dog.",
        "I don't eat pork. I mean, I do eat beef.",
        "My wife is from Peru. I mean, her parents are from Peru.",
        "I'm allergic to cats. Strike that from the record please.",
    ],
)
def test_what_only_begins_like_a_correction_changes_nothing(text: str) -> None:
    assert found(text)[0].content == text.partition(". ")[0] + "."


@pytest.mark.parametrize(
    ("said", "asked", "answer"),
    [
        ("I have 3 cats.", "How many dogs do you have?", "Oh, 2."),
        ("My birthday is in May.", "Is your wife's in May too?", "No, in June."),
        ("I live in Berlin.", "Where were you born?", "Oh, in Hamburg."),
        ("I take 20 mg of Lisinopril.", "Since when?", "Hmm, 2019."),
    ],
)
def test_an_answer_is_no_correction(said: str, asked: str, answer: str) -> None:
    assert [one.content for one in found(said, asked, answer)] == [said]


def test_an_answer_to_another_person_is_no_correction() -> None:
    turns = [
        TurnView(ref=f"t{at}", role="user", name=name, content=text, created_at=WHEN + timedelta(minutes=at))
        for at, (name, text) in enumerate(
            [("Ann", "I have 3 cats."), ("Bo", "How many dogs do you have?"), ("Ann", "Oh, 2.")]
        )
    ]
    assert [one.content for one in extract(ExtractInput(turns=turns)).memories] == ["Ann: I have 3 cats."]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I have two dogs, sorry, three dogs.", "I have three dogs."),
        ("I have one brother, sorry, two brothers.", "I have two brothers."),
        ("I live on 5th Street, sorry, 6th Street.", "I live on 6th Street."),
        ("My mother lives in Spain. No wait, my mother lives in Italy.", "My mother lives in Italy."),
    ],
)
def test_a_correction_that_repeats_words_doubles_none(text: str, content: str) -> None:
    assert [one.content for one in found(text)] == [content]


def test_a_part_of_a_name_is_not_replaced() -> None:
    text = "My mother lives in San Francisco, no wait, Los Angeles."
    assert [one.content for one in found(text)] == [text]


@pytest.mark.parametrize("when", ["at Christmas", "on Monday", "in May"])
def test_the_time_of_a_move_is_no_place(when: str) -> None:
    assert found(f"I moved in with my boyfriend {when}.")[0].content.startswith("I moved in with my boyfriend")


@pytest.mark.parametrize(
    ("said", "next_turn"),
    [
        ("I weigh 82 kg.", "Sorry, 2 minutes, phone."),
        ("We have 3 kids.", "Oh 5 pm, got to go!"),
        ("My flight is on 3 May.", "Wait, 4 May?"),
        ("I drink 3 coffees a day.", "Sorry, 10 years of it."),
    ],
)
def test_a_later_turn_about_something_else_changes_nothing(said: str, next_turn: str) -> None:
    assert [one.content for one in found(said, "Okay.", next_turn)] == [said]


def test_a_later_turn_that_corrects_gives_the_statement_with_its_value() -> None:
    first, second = found("My interview is on 19 May.", "Good luck!", "No wait, 17 May. I can't wait.")
    assert (second.content, second.quote, second.turns) == ("My interview is on 17 May.", "No wait, 17 May.", ["t2"])
    assert replaces(second, first)


@pytest.mark.parametrize("reply", ["7.4 sorry, typo", "Actually 7.4, I misread the label.", "sorry I meant 7.4"])
def test_a_later_turn_may_correct_in_any_words(reply: str) -> None:
    *_, last = found("My average blood sugar is 8.4 now.", "Noted.", reply)
    assert last.content == "My average blood sugar is 7.4 now."


def test_a_later_turn_corrects_in_other_languages() -> None:
    first, last = found(
        "Der Liefertermin für die Küche verschiebt sich auf den 3. April.", "Gut.", "Ich meine den 10. April."
    )
    assert last.content == "Der Liefertermin für die Küche verschiebt sich auf den 10. April."
    assert replaces(last, first)


@pytest.mark.parametrize(
    "text",
    [
        "We bought into the idea of a summer tour to Riga in July. Not decided.",
        "Maybe I'll go for the senior post in the lab, not sure yet.",
        "Photographer: not yet.",
        "I've been toying with the idea of selling the flat in Leeds.",
    ],
)
def test_what_is_undecided_is_not_kept(text: str) -> None:
    assert found(text) == []


def test_what_is_undecided_leaves_what_was_said_before_it() -> None:
    [memory] = found("I work at a garden centre and April is brutal so we may pause a month. Not decided.")
    assert memory.content == "I work at a garden centre"


@pytest.mark.parametrize(
    ("said", "correction", "meant"),
    [
        ("from the 3rd to the 14th of August", "the 5th to the 16th", "from the 5th to the 16th of August"),
        ("on 19 March", "17 April", "on 17 April"),
        ("12 chairs for 8 tables", "9", None),  # which of both?
        ("12 chairs", "not 9", None),
        ("12 chairs", "twelve", "twelve chairs"),
        ("12 chairs", "12", None),
    ],
)
def test_values_are_revised_kind_by_kind(said: str, correction: str, meant: str | None) -> None:
    assert revised(said, correction) == meant
