"""Ids that callers may use, and ids that are made."""

import uuid

import pytest

from agent_memory.errors import InvalidInput
from agent_memory.store import ids


@pytest.mark.parametrize("good", ["alice", "a" * 255, "user:1", "ünïcode 名前", "a.b-c_d@e", "_one"])
def test_good_ids(good: str):
    assert ids.check_id(good, "user_id") == good


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "a" * 256,
        "a/b",
        "a\\b",
        "a?b",
        "a#b",
        "a\nb",
        "a\x00b",
        "__static__",
        "\ud800",
        None,
        7,
    ],
)
def test_bad_ids(bad: object):
    with pytest.raises(InvalidInput, match="user_id"):
        ids.check_id(bad, "user_id")


def test_nothing_new_is_written_under_an_id_that_ends_with_a_space():
    ids.check_new_ids(user_id="a b", thread_id=" t", id="t\u3000")
    for bad in ({"user_id": "a "}, {"thread_id": "t "}, {"id": "1 "}):
        with pytest.raises(InvalidInput, match="end with a space"):
            ids.check_new_ids(**bad)


def test_turn_ids_are_version_7_and_ordered_by_time():
    made = [ids.new_turn_id() for _ in range(2000)]
    assert len(set(made)) == len(made)
    assert all(uuid.UUID(one).version == 7 and uuid.UUID(one).variant == uuid.RFC_4122 for one in made)
    milliseconds = [uuid.UUID(one).int >> 80 for one in made]
    assert milliseconds == sorted(milliseconds)


@pytest.mark.req("S1-10", "S1-15")
def test_deterministic_ids():
    assert ids.summary_id("alice", "t1") == "summary_alice_t1"
    assert ids.user_summary_id("alice") == "user_summary_alice"


def test_long_ids_stay_within_bounds_and_apart():
    one, two = ids.summary_id("u" * 255, "t" * 254 + "1"), ids.summary_id("u" * 255, "t" * 254 + "2")
    assert len(one) <= 255
    assert one != two


def test_derived_ids_keep_their_parts_apart():
    assert ids.derived_id("fact", "ab", "c") != ids.derived_id("fact", "a", "bc")
    assert ids.derived_id("fact", "a", "b") == ids.derived_id("fact", "a", "b")
