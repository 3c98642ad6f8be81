"""Whom a clause is about, whose a thing is, and what holds only under a condition: one wrong and right memory each."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent_memory.language.grounding.conditions import on_condition
from agent_memory.language.grounding.said_dates import Spoken
from agent_memory.language.grounding.support import why_unsupported

SAID_AT = datetime(2026, 9, 2, 10, tzinfo=UTC)  # a Wednesday


def why(content: str, said: str, ahead: str = "", name: str | None = None) -> str | None:
    before = [Spoken(ahead, SAID_AT, name)] if ahead else []
    return why_unsupported(content, said, [Spoken(said, SAID_AT, name)], before)


@pytest.mark.parametrize(
    ("said", "wrong", "right"),
    [
        (
            "My colleague Bela is on the new pills, lost 9 kilos since spring",
            "The user has lost 9 kilos since the spring.",
            "Bela has lost 9 kilos since the spring.",
        ),
        (
            "No holiday this year, unless my partner gets the job in Ghent",
            "The user may get a job in Ghent.",
            "The user's partner may get a job in Ghent.",
        ),
        (
            "Den Anhänger hat er schon gemietet, kostet 40 Euro",
            "Der Nutzer hat einen Anhänger gemietet.",
            "Der Anhänger kostet 40 Euro.",
        ),
        (
            "Olga doesn't want to owe them any money",
            "The user does not want to owe them any money.",
            "Olga does not want to owe them any money.",
        ),
        (
            "My parents offered to lend us the rest but Ivo won't take it",
            "Ivo's parents offered to lend the rest.",
            "The user's parents offered to lend the rest.",
        ),
        ("or I help out in my aunt's flower shop", "The user has a flower shop.", "The user's aunt has a flower shop."),
        ("my husband's tablet works fine", "The user has a tablet.", "The tablet of the user's husband works."),
        (
            "Mum runs the allotment, I only water it",
            "The user runs the allotment.",
            "The user's mother runs the allotment.",
        ),
    ],
)
def test_what_is_said_of_somebody_else_is_no_memory_of_the_user(said: str, wrong: str, right: str):
    assert why(wrong, said)
    assert why(right, said) is None


def test_somebody_named_beside_a_relative_may_be_that_relative():
    assert (
        why("User's friend Dov was caught speeding in the user's van.", "my mate Dov got caught speeding in my van")
        is None
    )


@pytest.mark.parametrize(
    ("said", "wrong", "right"),
    [
        (
            "Mr. Osei says if I get a B on the resit he'll pass me",
            "Mr. Osei will pass the user on the resit.",
            "Mr. Osei will pass the user if they get a B on the resit.",
        ),
        (
            "if this isn't repaired by Monday we'll cancel the subscription",
            "The user will cancel the subscription.",
            "The user will cancel the subscription unless it is repaired by Monday.",
        ),
        (
            "Wenn die Probe klappt, werde ich den Chor leiten",
            "Der Nutzer wird den Chor leiten.",
            "Der Nutzer wird den Chor leiten, wenn die Probe klappt.",
        ),
    ],
)
def test_what_holds_on_a_condition_is_told_with_it(said: str, wrong: str, right: str):
    assert why(wrong, said)
    assert why(right, said) is None


def test_what_follows_by_nature_needs_no_condition():
    assert why("The user gets a rash from wool.", "If I wear wool I get a rash.") is None


@pytest.mark.parametrize(
    ("said", "wrong", "right"),
    [
        (
            "I can help with the export, I did the Polish one last year",
            "The user helped with the export.",
            "The user can help with the export.",
        ),
        (
            "Sold the van. The trailer arrives in about three weeks",
            "The trailer arrived after three weeks.",
            "The trailer arrives in about three weeks.",
        ),
    ],
)
def test_what_is_still_to_come_is_not_over_beside_what_is(said: str, wrong: str, right: str):
    assert why(wrong, said)
    assert why(right, said) is None


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("I'll probably tell her on Friday then", "The user will probably tell her on Friday, 4 September 2026."),
        ("hotel only from saturday", "The hotel is booked from Saturday, 5 September 2026."),
        ("we cancel by the end of nov", "The user cancels by 30 November 2026."),
        ("Meine Schwester zieht im Mai um", "Die Schwester des Nutzers zieht im Mai 2027 um."),
        ("the deadline was 1 October but they pushed it two weeks", "The deadline was moved to 15 October 2026."),
        ("they pay 61 now, the new job 80", "The user earns 61k now and 80k in the new job."),
        ("sold the Polo for 6,200, asked 7 at first", "The user sold the Polo for 6,200 after asking 7,000."),
        ("I'm 94 kilos at 1.78", "The user weighs 94 kg and is 1.78 m tall."),
        ("my run took 4 minutes longer than the first. goal is sub 4", "The user wants to run in under 4 hours."),
        ("I used to play the cello. My son plays the viola now", "The user's son plays the viola."),
        (
            "I stretched three times a week, realistically it's once now",
            "The user usually does so only once.",
        ),
        ("Yara can't do lactose", "Yara is lactose intolerant."),
        ("My colleague Bela takes the tram", "Bela, a colleague of the user, takes the tram."),
    ],
)
def test_what_a_good_model_writes_is_not_doubted(said: str, content: str):
    assert why(content, said) is None


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("hotel only on Saturdays", "The hotel is booked from Saturday, 5 September 2026."),
        ("the deadline was 1 October but they pushed it two weeks", "The deadline was moved to 8 October 2026."),
        ("there are 61 pupils", "The school has 61k pupils."),
    ],
)
def test_what_does_not_follow_is_still_doubted(said: str, content: str):
    assert why(content, said)


def test_a_pronoun_may_mean_somebody_of_the_turn_ahead():
    assert (
        why("Ilse's husband is on call.", "She's here on Sunday, her husband's on call", "Ilse is visiting us") is None
    )


def test_a_day_takes_the_month_of_the_turn_ahead():
    assert why("The user moves on 16 November 2026.", "Am 16. ziehe ich um", "Ich ziehe im November um") is None


@pytest.mark.parametrize(
    ("said", "wrong", "right"),
    [
        ("Omar can't do peanuts. Nothing else", "The user is allergic to peanuts.", "Omar is allergic to peanuts."),
        ("Finished the relay in 31:20. Edda was faster", "Edda finished the relay in 31:20.", "Edda was faster."),
        (
            "She lands on Sunday, her husband can't come, he's sick",
            "Ilse is sick.",
            "Ilse lands on Sunday.",
        ),
        (
            "I promised Leah I'd stop smoking",
            "Leah promised to stop smoking.",
            "The user promised Leah to stop smoking.",
        ),
        ("Nora beat me by about ten seconds", "The user beat Nora by about ten seconds.", "Nora beat the user."),
        (
            "NOT Malpensa. Giulia lands two hours after me",
            "Giulia lands before the user.",
            "Giulia lands after the user.",
        ),
        (
            "On a vendu dix mille de moins que prévu",
            "L'utilisateur a vendu dix mille de plus que prévu.",
            "L'utilisateur a vendu dix mille de moins que prévu.",
        ),
        (
            "or I join my uncle's circus, half joking",
            "The user will join their uncle's circus.",
            "The user jokingly said they might join their uncle's circus.",
        ),
        (
            "I used to play the cello. My son plays the viola now",
            "The user's son plays the cello.",
            "The user's son plays the viola.",
        ),
    ],
)
def test_who_did_it_and_which_way_round_is_kept(said: str, wrong: str, right: str):
    assert why(wrong, said, "My aunt Ilse is here" if "Ilse" in wrong else "")
    assert why(right, said, "My aunt Ilse is here" if "Ilse" in right else "") is None


def test_words_of_another_language_name_the_same_relative():
    assert why("User's mother was a nurse in Breda.", "Mijn moeder was verpleegkundige in Breda.") is None


@pytest.mark.parametrize(
    ("said", "wrong", "right"),
    [
        (
            "we used to have two weekends off and now it's one",
            "The user has two weekends off.",
            "The user had two weekends off.",
        ),
        (
            "Früher bin ich jeden Tag geschwommen, jetzt nur noch sonntags",
            "Der Nutzer schwimmt jeden Tag.",
            "Der Nutzer schwimmt nur noch sonntags.",
        ),
        (
            "Antes pagábamos 950 de alquiler, ahora 880",
            "El usuario paga 950 de alquiler.",
            "El usuario paga ahora 880 de alquiler.",
        ),
        (
            "Je chante le mercredi, mais j'ai arrêté le piano",
            "L'utilisateur joue du piano.",
            "L'utilisateur a arrêté le piano.",
        ),
        (
            "The new timetable is worse than the old one",
            "The new timetable is better than the old one.",
            "The new timetable is worse than the old one.",
        ),
        ("Más pequeño pero con terraza", "El piso es más grande.", "El piso es más pequeño."),
        (
            "no raisins, half the family can't stand them",
            "The whole family can't stand raisins.",
            "Half of the family can't stand raisins.",
        ),
    ],
)
def test_what_was_and_how_much_of_it_is_kept(said: str, wrong: str, right: str):
    assert why(wrong, said)
    assert why(right, said) is None


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("Unsere Große kommt in die Schule", "Die ältere Tochter des Nutzers kommt in die Schule."),
        ("Ich hole die zwei um drei ab", "Der Nutzer holt beide Kinder um 15 Uhr ab."),
        ("mum isn't thrilled because Joost smokes", "The user's mother isn't happy about it since Joost smokes."),
        ("If Franz lends me his suit I won't buy one.", "The user won't buy a suit if Franz lends them his."),
    ],
)
def test_nouns_hours_and_clauses_of_a_good_model_are_not_doubted(said: str, content: str):
    assert why(content, said) is None


def test_a_german_name_that_nobody_said_is_still_doubted():
    assert why("Der Nutzer holt die Kinder mit Konrad ab.", "Ich hole die Kinder um drei ab")


def test_a_name_with_its_verb_further_behind_is_a_person():
    said = "no reply yet. Samira already handed in her notice"
    assert why("The user handed in their notice.", said)
    assert why("Samira handed in her notice.", said) is None


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("I will retire next year, and if the house sells we'll move to Crete", "The user will retire next year."),
        ("We'll be in Rome in June, so if you know a good hotel let me know", "The user will be in Rome in June."),
        ("If you can, send it to my work address, that's pat@corp.example", "The user's address is pat@corp.example."),
        ("I can do Python and Go, and if needed a bit of Rust", "The user knows Python and Go."),
        ("I can walk 2 km, but if I go further the hip hurts", "The user can walk 2 km."),
        ("If it matters, I will be travelling with two kids", "The user will be travelling with two kids."),
        ("Si llueve no corro, voy al gimnasio", "El usuario va al gimnasio cuando llueve."),
    ],
)
def test_a_condition_of_another_clause_or_of_the_asking_is_none_of_the_fact(said: str, content: str):
    assert why(content, said) is None


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("Traffic was terrible, got home at nine", "The user got home at nine."),
        ("Therapy has helped a lot, slept through twice this week", "The user slept through twice this week."),
        ("Amazon sent me the wrong size, I ordered a 42", "The user ordered size 42."),
        ("Jonas broke the build again, so I reverted it", "The user reverted Jonas's commit as it broke the build."),
        ("Ben says my code is too clever. I like it that way", "The user likes clever code."),
        ("Things got worse before they got better, my son is fine now", "The user's son got better."),
        ("my uncle's a pilot and I'm training to be one", "The user is training to be a pilot."),
        ("Tenía dos gatos, ahora tengo uno", "El usuario tiene un gato."),
        ("my team's standup is at 9:15", "The user has a standup at 9:15."),
        ("my friend's dog stays with us on weekdays", "The user has a dog staying with them on weekdays."),
        ("We adopted my late brother's daughter", "The user has an adopted daughter."),
    ],
)
def test_a_thing_at_the_beginning_and_what_came_to_the_speaker_are_nobody_elses(said: str, content: str):
    assert why(content, said) is None


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("we'll get a dog, if my landlord agrees", "The user will get a dog."),
        ("I'll sell the car if they offer 5,000", "The user will sell the car."),
        ("Si me dan la beca, iré a Lisboa", "El usuario irá a Lisboa."),
        ("We stayed at my uncle's cabin in July", "The user has a cabin."),
    ],
)
def test_a_condition_and_an_owner_still_count(said: str, content: str):
    assert why(content, said)


def test_the_clauses_on_a_condition_are_found_in_linear_time():
    parts = [(",", "if it rains"), (",", "we will go")] * 20_000
    assert on_condition(parts) == set(range(len(parts)))


@pytest.mark.parametrize(
    ("said", "wrong", "right"),
    [
        (
            "I used to work at Siemens and now I work at Bosch",
            "The user works at Siemens.",
            "The user works at Bosch.",
        ),
        ("I used to live in Porto, now I live in Lisbon", "The user lives in Porto.", "The user lives in Lisbon."),
    ],
)
def test_what_is_over_is_not_what_follows_in_the_same_words(said: str, wrong: str, right: str):
    assert why(wrong, said) == 'it leaves out a "not"'
    assert why(right, said) is None
