"""A cursor never skips and never repeats, whatever the order in which items turn up."""

import json
import random

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.store.cursors import OVERLAP_SECONDS, Cursor


def test_a_second_item_of_the_same_second_is_new():
    cursor = Cursor().advanced([("a", 100)])
    assert cursor.is_new("b", 100)
    assert not cursor.is_new("a", 100)


def test_an_item_that_turns_up_late_within_the_window_is_new():
    cursor = Cursor().advanced([("a", 100), ("b", 101)])
    assert cursor.is_new("late", 101 - OVERLAP_SECONDS)


def test_what_left_the_window_is_old_and_forgotten():
    cursor = Cursor().advanced([("a", 100)]).advanced([("b", 200)])
    assert not cursor.is_new("a", 100)
    assert set(cursor.seen) == {"b"}


def test_a_cursor_survives_its_document():
    cursor = Cursor().advanced([("a", 100), ("b", 101)])
    assert Cursor.from_document(cursor.to_document()) == cursor
    assert Cursor.from_document(None) == Cursor()


def test_long_ids_take_little_room_and_are_known_again():
    ids = [f"{number:06}".ljust(255, "\U0001f600") for number in range(2500)]
    cursor = Cursor().advanced([*((one, 100) for one in ids), ("short", 100)])
    assert len(json.dumps(cursor.to_document())) < 150_000
    read = Cursor.from_document(json.loads(json.dumps(cursor.to_document())))
    assert read == cursor
    assert read.named == ["short"]
    assert not any(read.is_new(one, 100) for one in [*ids, "short"])
    assert read.is_new("x" * 255, 100)
    left = read.without([ids[7], "short"])
    assert (left.count, len(left.seen)) == (2501, 2499)
    assert [one for one in ids if left.is_new(one, 100)] == [ids[7]]


@pytest.mark.parametrize("one", [f"msg_{'6' * 48}", f"message-{'6' * 36}", "6" * 64])
def test_ids_as_services_make_them_are_named_to_the_query(one: str):
    """A query returns the others again, so each of its runs read every turn of the window."""
    assert Cursor().advanced([(one, 100)]).named == [one]


def test_long_ids_that_an_earlier_version_kept_whole_are_known():
    long = "x" * 255
    cursor = Cursor.from_document({"ts": 100, "seen": {long: 100}, "count": 1, "runs": 1})
    assert not cursor.is_new(long, 100)
    assert long not in json.dumps(cursor.to_document())


@pytest.mark.req("S1-44")
@settings(max_examples=200, deadline=None)
@given(
    gaps=st.lists(st.integers(0, 3), min_size=1, max_size=40),
    seed=st.integers(0, 2**32),
)
def test_every_item_is_covered_once_under_redelivery_and_overlapping_batches(gaps: list[int], seed: int):
    rng = random.Random(seed)
    ts, items = 1000, []
    for number, gap in enumerate(gaps):
        ts += gap
        items.append((f"i{number}", ts))
    cursor, covered, position = Cursor(), [], 0
    while position < len(items):
        start = max(0, position - rng.randrange(4))  # a batch may begin with what was delivered before
        end = min(len(items), position + 1 + rng.randrange(5))
        fresh = [item for item in items[start:end] if cursor.is_new(*item)]
        covered += [item_id for item_id, _ in fresh]
        cursor = cursor.advanced(fresh) if fresh else cursor
        if rng.random() > 0.3:  # otherwise the whole batch is delivered again
            position = end
    assert covered == [item_id for item_id, _ in items]
    assert cursor.count == len(items)
