"""Wrong memories by the form of their fault, and right ones beside them: `tests/data/labelled/answers-forms.jsonl`.

Six rounds by authors who had not read the checks: everyday talk of many fields in seven languages. Of the 120 wrong
memories of the first round 77 were caught at first sight, and 28 of its 165 right ones got the user's own words. Of the
second, written after the checks were mended on the first, 33 of 40 were caught at first sight (23 without the mends),
and 5 of 51 got the user's own words. None was lost. Of the third, by another author, 117 of 227 were caught at first
sight, and 33 of 189 right ones got the user's own words. Of the fourth, by that author after mends on the third, 26 of
41 were caught at first sight (23 without the mends), and 4 of 47 right ones got the user's own words (6 without). Of
the fifth, by a new author, 57 of 93 were caught at first sight (69 now), and 12 of 81 right ones got the user's own
words (4 now). Of the sixth, kept aside meanwhile, 58 of 92 were caught (51 without the mends), and 6 of 76 right ones
got the user's own words (10 without). What is still kept needs knowledge: feelings and manners that nobody told, whom
"he" means, irony, halves of a sentence.
"""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent_memory.language.grounding.ground import ground
from agent_memory.language.tasks import ExtractedMemory, ExtractInput, ExtractOutput, TurnView

PLACE = Path(__file__).parents[1] / "data/labelled/answers-forms.jsonl"
CASES = [json.loads(line) for line in PLACE.read_text(encoding="utf-8").splitlines()]


def reasons(case: dict[str, Any], told: dict[str, Any]) -> list[str]:
    """Why a memory of this talk is refused, or gets the user's own words; empty if it is kept as it is."""
    at = datetime.fromisoformat(f"{case['day']}T10:00").replace(tzinfo=UTC)
    turns = [
        TurnView(ref=f"t{number}", role=role, name=name, content=text, created_at=at)
        for number, (role, name, text) in enumerate(case["turns"], 1)
    ]
    memory = ExtractedMemory(content=told["content"], quote=told["quote"], turns=told["refs"])
    return ground(ExtractOutput(memories=[memory]), ExtractInput(turns=turns))[1]


@pytest.mark.parametrize(("number", "most"), [(1, 9), (2, 4), (3, 88), (4, 10), (5, 24), (6, 34)])
def test_few_wrong_memories_are_kept(number: int, most: int):
    wrong = [case for case in CASES if case["round"] == number and "bad" in case]
    kept = [(case["class"], case["bad"]["content"]) for case in wrong if not reasons(case, case["bad"])]
    assert len(kept) <= most, (len(kept), kept)


@pytest.mark.parametrize(("number", "most"), [(1, 5), (2, 2), (3, 14), (4, 0), (5, 4), (6, 6)])
def test_no_right_memory_is_lost_and_few_get_other_words(number: int, most: int):
    right = [(case, told) for case in CASES if case["round"] == number for told in case["good"]]
    other = {told["content"]: why for case, told in right for why in reasons(case, told)}
    assert all("own words" in why for why in other.values()), other
    assert len(other) <= most, other


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("everyone came to the party except  , well, you know", "Everyone came to the party"),
        ("everyone came, everyone but   . yes", "Everyone came"),
    ],
)
def test_an_exception_that_names_nothing_leaves_nothing_out(said: str, content: str):
    told = {"content": content, "quote": said, "refs": ["t1"]}
    assert reasons({"day": "2026-11-20", "turns": [["user", None, said]]}, told) == []


def test_a_memory_of_whom_it_was_done_to_is_doubted_with_and_without_an_article():
    case = {"day": "2026-11-20", "turns": [["user", None, "Omar hired my brother last week"]]}
    for user in ("User", "the user"):
        told = {"content": f"Omar hired {user}", "quote": "Omar hired my brother last week", "refs": ["t1"]}
        assert reasons(case, told)


_SCRAPS = [" , ", ". ", "  ", '"', "'s ", "(", "?", "…", " or ", " except ", " in law ", " user ", "1/", "\n", "\u202f"]


def test_no_talk_stops_the_checks():
    chance = random.Random(3)

    def broken(text: str) -> str:
        at = chance.randrange(len(text) + 1)
        return text[:at] + chance.choice(_SCRAPS) + text[at + chance.choice([0, 1, 5]) :]

    for case in CASES[::3]:
        torn = case | {"turns": [[role, name, broken(broken(text))] for role, name, text in case["turns"]]}
        for told in [*case["good"], *([case["bad"]] if "bad" in case else [])]:
            quote = torn["turns"][int(told["refs"][0][1:]) - 1][2]
            assert isinstance(reasons(torn, told | {"content": broken(told["content"]), "quote": quote}), list)
