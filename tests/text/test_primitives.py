"""Sentences, figures, names and stop words: each has one rule, for all who read texts."""

import pytest

from agent_memory.text.figures import figures, telling_figures
from agent_memory.text.names import names
from agent_memory.text.sentences import sentences
from agent_memory.text.stop_words import CLAIM_WORDS, FOREIGN_WORDS, QUESTION_WORDS, SMALL_WORDS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I keep bees. Do you? Yes!", ["I keep bees.", "Do you?", "Yes!"]),
        ("first line\nsecond line\n\n  third", ["first line", "second line", "third"]),
        ("我住在里斯本。你呢？好！", ["我住在里斯本。", "你呢？", "好！"]),
        ("هل تحب الشاي؟ نعم", ["هل تحب الشاي؟", "نعم"]),
        (
            "See https://example.org/?kite=red and v1.2 for 3.5 more",
            ["See https://example.org/?kite=red and v1.2 for 3.5 more"],
        ),
        ("Well… perhaps", ["Well…", "perhaps"]),
        ("  \n ", []),
        ("", []),
        (
            "Vom 18. Juli bis 2. August 2026. Im Jahr 2019. August!",
            ["Vom 18. Juli bis 2. August 2026.", "Im Jahr 2019.", "August!"],
        ),
    ],
)
def test_sentences_end_with_their_marks_and_with_lines(text: str, found: list[str]):
    assert sentences(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The train to Porto was late. Ann met Jean-Luc", ["Porto", "Jean", "Luc"]),
        ("вчера Анна была в Москве. Потом дома", ["Анна", "Москве"]),
        ("I saw Élodie's dog and I waved", ["Élodie"]),
        ("What the User said. “Then Bob came", ["Bob"]),
        ("今天小明来了", []),
        ("v1.Two words", ["Two"]),
        ("", []),
    ],
)
def test_names_have_a_capital_in_any_script_and_begin_no_sentence(text: str, found: list[str]):
    assert names(text) == found


def test_figures_are_the_same_however_they_are_written():
    assert figures("84,500 or 84.500 at 12:30") == {"84500", "12:30"}
    assert figures("٣٤ and 1.2.3") == {"٣٤", "123"}
    assert figures("none") == set()


def test_what_changes_a_claim_is_left_out_of_questions_alone():
    assert {"before", "after", "under", "over", "more", "all"} <= QUESTION_WORDS - CLAIM_WORDS
    assert SMALL_WORDS == QUESTION_WORDS & CLAIM_WORDS
    assert not FOREIGN_WORDS & CLAIM_WORDS


def test_measures_and_years_are_no_telling_figures():
    assert telling_figures("The jug holds 1500ml, we have had it since 2019.") == set()
    assert telling_figures("The code is 15ab7, the amount 84,537.") == {"15ab7", "84537"}
