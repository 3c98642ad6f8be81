"""The log says why items of an answer were left out, and how many, without a word of the talk."""

from __future__ import annotations

import pytest

from agent_memory.language.rejections import in_words, reasons_of


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("memory 1: it quotes somebody else", "it quotes somebody else"),
        ("memory 2: it is a fact that no user stated", "it is a fact that no user stated"),
        ('memory 2: it leaves out a "not"', 'it leaves out a "not"'),
        ("extraction: memory 3: it has no quote, and none can be found for it", "it has no quote, and none can be"),
        ("key_points: nobody said Lisbon", "nobody said …"),
        ("memory 1: it was said of diabetes", "it was said of …"),
        ("memory 1: 4711 was said of something else", "… was said of something else"),
        ("conclusion 1: it loses Lisbon, 42", "it loses …"),
        ("memory 4: data.city: nobody said it", "data…"),
        ("memories 4: content: String should have at least 1 character", "a field is missing or wrong"),
        ("memory 5: whatever Lisbon is", "another reason"),
        ("duplicates 2: f1, f2 is in an earlier group", "… is in an earlier …"),
    ],
)
def test_a_reason_is_logged_without_the_words_that_it_repeats(line: str, reason: str):
    dropped, changed = reasons_of([line])
    assert in_words(dropped).startswith(f"1 × {reason}")
    assert not changed


def test_what_stands_for_several_counts_as_several():
    dropped, _ = reasons_of(["450 more than one commit can hold", "memory 3: nobody said 5", "memory 4: nobody said 6"])
    assert in_words(dropped) == "450 × more than one commit can hold; 2 × nobody said …"


def test_what_was_changed_was_not_left_out():
    lines = [
        "memory 1: kept in the user's own words, because nobody said Lisbon",
        "memories 2: kept without valid_from: Input should be a valid datetime",
        "the answer was broken JSON, and repaired",
    ]
    dropped, changed = reasons_of(lines)
    assert not dropped
    assert set(changed) == {
        "kept in the user's own words, because nobody said …",
        "kept without a field that was wrong",
        "the answer was broken JSON, and repaired",
    }


def test_the_error_of_a_dead_letter_is_not_repeated():
    dropped, _ = reasons_of(["memory 1: it has no words", "no answer: 'I live in Lisbon'"], dead_letters=1)
    assert in_words(dropped) == "1 × an error that its dead letter names; 1 × it has no words"
