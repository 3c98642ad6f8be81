"""What a model adds to the talk is refused, and what it may say of it is kept."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_memory.language.grounding.said_dates import Spoken
from agent_memory.language.grounding.support import why_unsaid, why_unsupported

SAID_AT = datetime(2026, 3, 13, 9, tzinfo=UTC)
CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/labelled/answers.jsonl").read_text(encoding="utf-8").splitlines()
]


def refusal(case: dict, content: str) -> str | None:
    return why_unsupported(content, case["said"], [Spoken(case["said"], SAID_AT, case["name"])])


GOOD = [(case, content) for case in CASES for content in case["good"]]
BAD = [(case, content) for case in CASES for content in case["bad"].values()]


def test_what_follows_from_the_talk_is_kept():
    refused = {content: why for case, content in GOOD if (why := refusal(case, content))}
    assert len(refused) <= 0.01 * len(GOOD), refused


def test_what_nobody_said_is_refused():
    missed = [content for case, content in BAD if refusal(case, content) is None]
    assert len(missed) <= 0.02 * len(BAD), missed


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("Marta's budget is €80,000", "nobody said 80000"),
        ("Marta's budget is $18,000", "18000 was said in another unit"),
        ("Jonas's budget is €18,000", "nobody said Jonas"),
        ("Marta has €18,000 in Valencia", "nobody said Valencia"),
        ("Marta has €18,000 since 3 May 2019", "nobody said 3 May 2019"),
        ("Marta does not have €18,000", 'nobody said "not"'),
    ],
)
def test_a_refusal_says_what_nobody_said(content, why):
    said = [Spoken("I have €18,000 for it.", SAID_AT, "Marta")]
    assert why_unsupported(content, "I have €18,000", said) == why


def test_a_quote_that_leaves_out_the_not_does_not_hide_it():
    said = [Spoken("I do not eat meat.", SAID_AT, "Marta")]
    assert why_unsupported("Marta eats meat", "eat meat", said) == 'it leaves out a "not"'


@pytest.mark.parametrize("day", ["thu", "thur", "thurs", "Thurs.", "thursdays"])
@pytest.mark.parametrize("said", ["my gym day is {}", "gym on {}", "gym {}, every week"])
def test_a_weekday_may_be_shortened(said, day):
    told = said.format(day)
    assert why_unsupported("Marta's gym day is Thursday", told, [Spoken(told, SAID_AT, "Marta")]) is None
    assert why_unsupported("Marta's gym day is Tuesday", told, [Spoken(told, SAID_AT, "Marta")]) is not None


@pytest.mark.parametrize("said", ["Four oh double one", "four four one nine", "one  two triple seven"])
def test_a_number_may_be_dictated_digit_by_digit(said):
    digits = {"Four oh double one": "4011", "four four one nine": "4419", "one  two triple seven": "12777"}[said]
    told = f"{said} is my gate code."
    assert why_unsupported(f"Marta's gate code is {digits}", told, [Spoken(told, SAID_AT, "Marta")]) is None
    assert why_unsaid(f"Gate code: {digits}", [Spoken(told, SAID_AT, "Marta")]) is None
    assert why_unsupported("Marta's gate code is 4010", told, [Spoken(told, SAID_AT, "Marta")]) == "nobody said 4010"


def test_what_was_asked_is_stated_if_the_answer_is_cited_too():
    asked = Spoken("Is the red bike in the garage mine now?", SAID_AT, "Ann")
    answered = Spoken("Great, it is then.", SAID_AT, "Ann")
    told = "Ann's red bike is in the garage"
    assert why_unsupported(told, "the red bike in the garage", [asked]) == "it was asked, not stated"
    assert why_unsupported(told, "the red bike in the garage", [asked, answered]) is None


def test_a_memory_that_is_too_long_to_be_checked_is_refused():
    said = "I have a red kite and a dog. " * 150
    assert why_unsupported(said[:3_990], "I have a red kite", [Spoken(said, SAID_AT)]) is None
    assert why_unsupported(said, "I have a red kite", [Spoken(said, SAID_AT)]) == "it has more than 4,000 characters"
    assert why_unsaid(said, [Spoken(said, SAID_AT)]) == "it has more than 4,000 characters"


def test_the_turns_ahead_say_what_is_meant():
    cited = [Spoken("Yes please, white.", SAID_AT, "Marta")]
    ahead = [Spoken("Shall the Volvo XC60 be white?", SAID_AT)]
    assert why_unsupported("Marta wants the Volvo XC60 in white", "white", cited) == "nobody said 60"
    assert why_unsupported("Marta wants the Volvo XC60 in white", "white", cited, ahead) is None


def test_a_date_that_only_the_model_can_read_is_believed_by_its_words():
    said = [Spoken("Ich fliege übernächsten Montag nach Wien.", SAID_AT, "Lea")]
    dated = "Lea fliegt am 2026-03-23 nach Wien"
    assert why_unsupported(dated, said[0].text, said, time_phrase="übernächsten Montag") is None
    assert why_unsupported(dated, said[0].text, said) == "nobody said 2026-03-23"
