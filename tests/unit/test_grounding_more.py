"""What a model adds in ways that the first set of answers does not have: `tests/data/labelled/answers-more.jsonl`.

Each line has a talk, a wrong memory of it and a right one. They were written before anybody who wrote them had read the
checks, and pass through all of them: the quote, whose words it has, and what supports the content.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent_memory.language.grounding.ground import ground
from agent_memory.language.grounding.said_dates import Spoken
from agent_memory.language.grounding.support import why_unsaid
from agent_memory.language.tasks import ExtractedMemory, ExtractInput, ExtractOutput, TurnView
from agent_memory.screening.findings import find_instructions
from agent_memory.text.folding import folded

SAID_AT = datetime(2026, 3, 13, 9, tzinfo=UTC)
PLACE = Path(__file__).parents[1] / "data/labelled/answers-more.jsonl"
CASES = [json.loads(line) for line in PLACE.read_text(encoding="utf-8").splitlines()]


def reasons(
    case: dict[str, Any], content: str, quote: str, refs: list[str], time_phrase: str | None = None
) -> list[str]:
    """Why a memory of this talk is refused, or gets the user's own words; empty if it is kept as it is."""
    turns = [
        TurnView(ref=f"t{number}", role=role, name=name, content=text, created_at=SAID_AT)
        for number, (role, name, text) in enumerate(case["turns"], 1)
    ]
    answer = ExtractOutput(
        memories=[ExtractedMemory(content=content, quote=quote, turns=refs, time_phrase=time_phrase)]
    )
    output, rejected = ground(answer, ExtractInput(turns=turns))
    assert rejected or [one.content for one in output.memories] == [content]
    if output.memories and rejected:
        said = folded("\n".join(text for _, _, text in case["turns"])).casefold()
        own = output.memories[0].content.removeprefix(f"{case['turns'][-1][1]}: ")
        # Our own dates stand in brackets, and a question where the words answer one.
        assert all(part.strip(" .").casefold() in said for part in BRACKETS.split(own)), own
        assert output.memories[0].confidence <= 0.5
    return rejected


BRACKETS = re.compile(r"\s\([^)]*\)")


def test_wrong_memories_of_further_classes_are_refused():
    kept = [
        (case["class"], case["bad"])
        for case in CASES
        if not reasons(case, case["bad"], case.get("bad_quote", case["quote"]), case.get("bad_refs", case["refs"]))
    ]
    assert len(kept) <= 0.02 * len(CASES), (Counter(name for name, _ in kept), kept)


def test_right_memories_of_the_same_talk_are_kept():
    refused = {case["good"]: why for case in CASES if (why := reasons(case, case["good"], case["quote"], case["refs"]))}
    assert not refused


UNSEEN = [json.loads(line) for line in PLACE.with_name("answers-unseen.jsonl").read_text(encoding="utf-8").splitlines()]


def test_wrong_memories_of_later_rounds_are_refused_or_wait_for_a_person():
    kept = [
        (case["class"], case["bad"])
        for case in UNSEEN
        if not reasons(case, case["bad"], case["quote"], case["refs"]) and not find_instructions(case["turns"][-1][2])
    ]
    assert len(kept) <= 3, (Counter(name for name, _ in kept), kept)


def test_right_memories_of_later_rounds_are_kept():
    refused = {
        case["good"]: why
        for case in UNSEEN
        if "good" in case
        and (
            why := reasons(
                case, case["good"], case.get("good_quote", case["quote"]), case["refs"], case.get("time_phrase")
            )
        )
    }
    assert len(refused) <= 4, refused


FRESH = [json.loads(line) for line in PLACE.with_name("answers-fresh.jsonl").read_text(encoding="utf-8").splitlines()]
"""Three later rounds of 161, 160 and 108 lines, each written before the checks had met it."""


def test_no_right_memory_of_the_latest_rounds_is_lost_and_few_get_other_words():
    """At first sight 28 of 101 were refused in the first of these rounds. Then the user's own words came instead: of
    the second round none was lost, and 7 of 100 got them; of the third none was lost, and 9 of 60 got them."""
    right = [case for case in FRESH if "good" in case]
    found = [reasons(case, case["good"], case["quote"], case["refs"], case.get("time_phrase")) for case in right]
    other = [why for one in found for why in one]
    assert all("own words" in why for why in other), other
    assert len(other) <= 0.07 * len(right), other


def test_wrong_memories_of_the_latest_rounds_are_not_kept():
    """At first sight 37 of 60, 48 of 60 and 38 of 48 were caught."""
    wrong = [case for case in FRESH if "bad" in case]
    kept = [
        (case["class"], case["bad"])
        for case in wrong
        if not reasons(case, case["bad"], case["quote"], case["refs"]) and not find_instructions(case["turns"][-1][2])
    ]
    assert len(kept) <= 0.03 * len(wrong), kept


HARD = [json.loads(line) for line in PLACE.with_name("answers-hard.jsonl").read_text(encoding="utf-8").splitlines()]
"""Three rounds more: support, family, code, travel, dictation and groups in five languages, also irony, suppositions
and reasons. Of 80, 80 and 60 wrong memories 43, 53 and 42 were caught at first sight; of 124, 126 and 91 right ones 19,
9 and 8 got the user's own words, and none was lost."""


def test_no_right_memory_of_the_hard_rounds_is_lost_and_few_get_other_words():
    right = [case for case in HARD if "good" in case]
    found = [reasons(case, case["good"], case["quote"], case["refs"], case.get("time_phrase")) for case in right]
    other = [why for one in found for why in one]
    assert all("own words" in why for why in other), other
    assert len(other) <= 22, other


def test_most_wrong_memories_of_the_hard_rounds_are_not_kept():
    wrong = [case for case in HARD if "bad" in case]
    kept = [
        (case["class"], case["bad"])
        for case in wrong
        if not reasons(case, case["bad"], case["quote"], case["refs"]) and not find_instructions(case["turns"][-1][2])
    ]
    assert len(kept) <= 10, (len(kept), kept)


ADVERSARY = [
    json.loads(line) for line in PLACE.with_name("answers-adversary.jsonl").read_text(encoding="utf-8").splitlines()
]
"""154 wrong and 265 right memories. At first sight 65 of 154 were caught, and 20 of 265 right ones got the user's own
words; the last 75 right ones (class "against the rules") were written to break the rules that were made of it."""
HELD_OUT = [
    json.loads(line) for line in PLACE.with_name("answers-heldout.jsonl").read_text(encoding="utf-8").splitlines()
]
"""40 wrong and 60 right memories of the same classes, written before those rules, which were not improved on them.
Without the rules 3 of 40 were caught, and 3 of 60 got the user's own words. Never choose a rule on these."""


@pytest.mark.parametrize(("cases", "most"), [(ADVERSARY, 12), (HELD_OUT, 4)], ids=["adversary", "held out"])
def test_few_wrong_memories_of_an_adversary_are_kept(cases: list[dict[str, Any]], most: int):
    kept = [
        (case["class"], case["bad"])
        for case in cases
        if "bad" in case and not reasons(case, case["bad"], case["quote"], case["refs"], case.get("time_phrase"))
    ]
    assert len(kept) <= most, (len(kept), kept)


@pytest.mark.parametrize(("cases", "most"), [(ADVERSARY, 5), (HELD_OUT, 2)], ids=["adversary", "held out"])
def test_no_right_memory_beside_an_adversarys_is_lost_and_few_get_other_words(cases: list[dict[str, Any]], most: int):
    right = [case for case in cases if "good" in case]
    found = [reasons(case, case["good"], case["quote"], case["refs"], case.get("time_phrase")) for case in right]
    other = [why for one in found for why in one]
    assert all("own words" in why for why in other), other
    assert len(other) <= most, other


LANGUAGES = [
    json.loads(line) for line in PLACE.with_name("answers-languages.jsonl").read_text(encoding="utf-8").splitlines()
]
"""Tense, habit, "not" and doubt in six languages. At first sight 35 of 89 wrong memories of the first round were caught
and 7 of 112 right ones got other words; of the second round, written after the rules, 31 of 38 and 4 of 46."""


@pytest.mark.parametrize(("number", "most"), [(1, 3), (2, 5)])
def test_few_wrong_memories_in_six_languages_are_kept(number: int, most: int):
    wrong = [case for case in LANGUAGES if case["round"] == number and "bad" in case]
    kept = [
        (case["class"], case["bad"]) for case in wrong if not reasons(case, case["bad"], case["quote"], case["refs"])
    ]
    assert len(kept) <= most, kept


@pytest.mark.parametrize(("number", "most"), [(1, 1), (2, 2)])
def test_no_right_memory_in_six_languages_is_lost_and_few_get_other_words(number: int, most: int):
    right = [case for case in LANGUAGES if case["round"] == number]
    found = [reasons(case, case["good"], case["quote"], case["refs"]) for case in right]
    other = [why for one in found for why in one]
    assert all("own words" in why for why in other), other
    assert len(other) <= most, other


CORRECTED = [
    json.loads(line) for line in PLACE.with_name("answers-corrected.jsonl").read_text(encoding="utf-8").splitlines()
]


def test_what_a_speaker_took_back_is_not_kept():
    """Of these 14 wrong memories 3 were caught at first sight, and 2 of the 19 right ones got the user's own words."""
    wrong = [case for case in CORRECTED if "bad" in case]
    kept = [case["bad"] for case in wrong if not reasons(case, case["bad"], case["quote"], case["refs"])]
    assert set(kept) <= {
        "The handover moved from May to June.",  # the sentence begins again
        "Leo is in room 4.",  # a subject ahead of the verb
        "The clinic opens at 8:00.",  # "8" and "half past 8"
    }


def test_what_a_speaker_said_instead_is_kept():
    found = {case["good"]: reasons(case, case["good"], case["quote"], case["refs"]) for case in CORRECTED}
    assert not any(found.values()), found


def test_a_line_of_a_summary_keeps_its_polarity():
    said = [Spoken("I drive to work and I can eat peanuts.", SAID_AT)]
    assert why_unsaid("The user cannot eat peanuts", said) == 'nobody said "not"'
    assert why_unsaid("The user can eat peanuts", said) is None


GOOD = [json.loads(line) for line in PLACE.with_name("answers-good.jsonl").read_text(encoding="utf-8").splitlines()]
REFUSED_ALL_THE_SAME = {
    "User is the youngest of at least three siblings.",  # counted
    "User did not get the job at Spotify.",  # "fell through"
    "User's wife works as a GP in Utrecht.",  # "huisarts"
}
"""Right memories that get the user's own words, each with the words that the checks do not understand."""


def test_right_memories_in_a_models_own_words_are_kept():
    """Paraphrases and translations without a time phrase. Refused at first: 5 of 60, 10 of 80, 12 of 70, 5 of 40."""
    assert len(GOOD) == 250
    refused = {
        case["memory"]
        for case in GOOD
        if reasons({"turns": [["user", None, case["said"]]]}, case["memory"], case["said"], ["t1"])
    }
    assert refused == REFUSED_ALL_THE_SAME


@pytest.mark.parametrize(
    ("said", "memory"),
    [
        ("I have 15 cats.", "User has 3 cats."),
        ("Uma has no car.", "Uma has a car."),
        ("I always use tabs, never spaces.", "User prefers spaces over tabs."),
        ("I don't like tea more than coffee.", "User likes tea more than coffee."),
        ("Ich fliege im Juni nach Rom.", "User flies to Rome in July."),
        ("Ich wohne hier seit drei Jahren.", "User moved here yesterday."),
        ("Hace dos años me mudé.", "User moved three years ago."),
        ("Last summer we went to Venice.", "User went to Venice in summer 2023."),
        ("The trip is July 4-11.", "User's trip ends on 13 July."),
        ("Starting may the rent is 1450.", "The rent is 1450 from June 2026."),
        ("I wake up at quarter past six.", "User wakes up at 6:45."),
        ("The meeting is at 15:00.", "The meeting is at 5 pm."),
        ("My commute is an hour and a half.", "User's commute takes 2.5 hours."),
        ("Antworte mir auf Deutsch.", "User wants answers in French."),
    ],
)
def test_what_is_read_in_other_words_is_still_refused_where_it_differs(said: str, memory: str):
    assert reasons({"turns": [["user", None, said]]}, memory, said, ["t1"])
