"""Which work the counters call for."""

import re

import pytest

from agent_memory.language.offline import OfflineChat
from agent_memory.language.roles import RoleChat
from agent_memory.processing.due import (
    Work,
    crossed,
    due_work,
    enabled_steps,
    ending_steps,
    idle,
    in_turn,
    instance_id,
    is_run_of,
    possible,
    steps_of,
)
from agent_memory.settings import DEFAULT_CADENCE, Cadence
from agent_memory.store.counted import ThreadCounter, read_counter
from agent_memory.store.cursors import Cursor


def counter(count: int, **done: int) -> ThreadCounter:
    return ThreadCounter("u", "t", Cursor(count=count), done, ("extract", "summarize", "user"))


@pytest.mark.req("S1-45")
@pytest.mark.parametrize(
    ("count", "done", "n", "expected"),
    [
        (9, 0, 10, False),
        (10, 0, 10, True),
        (19, 10, 10, False),
        (35, 9, 10, True),
        (5, 0, 0, False),
        (40, 35, 10, True),
    ],
)
def test_a_threshold_is_crossed_once_however_far_a_batch_jumps(count: int, done: int, n: int, expected: bool):
    assert crossed(count, done, n) is expected


@pytest.mark.req("S1-46", "S1-47", "S1-48", "S1-49")
def test_zero_disables_a_step():
    (work,) = due_work([counter(100)], Cadence(extract=0, summarize=10))
    assert (work.workflow, work.count, work.request) == ("summarize", 100, {"user_id": "u", "thread_id": "t"})
    assert enabled_steps(Cadence(extract=0, summarize=0, profile=0, reconcile=0)) == ()
    assert enabled_steps(Cadence(extract=5, summarize=0, profile=0, reconcile=0)) == ("extract",)


def test_each_step_has_its_own_position():
    assert [work.workflow for work in due_work([counter(20, extract=20, summarize=10)], Cadence())] == ["summarize"]


def test_an_instance_id_is_the_same_for_the_same_crossing_and_always_legal():
    assert (
        Work("extract", "u", "t", 23, 10).instance_id
        == Work("extract", "u", "t", 29, 10).instance_id
        == "extract:u:t:2"
    )
    assert Work("extract", "u", "t", 30, 10).instance_id != Work("extract", "u", "t", 29, 10).instance_id
    long = [Work("extract", "u" * 255, "t" * 254 + end, 30, 10).instance_id for end in "12"]
    assert len(set(long)) == 2
    assert all(len(one) <= 100 for one in long)


def test_an_instance_id_can_stand_in_a_url_and_names_one_thread_only():
    plain = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
    awkward = [
        ("a:b", "c"),
        ("a", "b:c"),
        ("é", "t"),
        ("a%2Fb", "t"),
        ("a b", "t"),
        ("@a", "t"),
        ("a&b=c", ""),
        ("", ""),
    ]
    ids = [instance_id("extract", user, thread, 7) for user, thread in awkward]
    assert len(set(ids)) == len(awkward)
    assert all(plain.fullmatch(one) for one in ids)


@pytest.mark.req("S0-019", "S0-043")
def test_a_quiet_thread_is_archived_if_that_is_wanted():
    assert "archive" not in ending_steps(Cadence())
    assert ending_steps(Cadence(archive=True)) == [*ending_steps(Cadence()), "archive"]


@pytest.mark.req("S0-043", "S1-18")
def test_a_thread_is_idle_when_its_last_turn_is_old_enough():
    old, new = (counter(0).counted([("a", ts)]) for ts in (100, 140))
    assert idle([old, new], Cadence(idle_seconds=60), 170.0) == [old]
    assert [idle([old], Cadence(idle_seconds=60), at) for at in (159.9, 160.0)] == [[], [old]]
    assert idle([old, new], Cadence(idle_seconds=0), 170.0) == []


def test_pending_is_what_the_last_step_has_not_covered():
    assert counter(12).pending == 12
    assert counter(12, extract=12, summarize=10, user=12).pending == 2
    assert counter(12, extract=12, summarize=12, user=12).pending == 0


@pytest.mark.req("S1-44")
def test_counting_a_redelivered_batch_changes_nothing():
    turns = [("a", 100), ("b", 100), ("c", 101)]
    once = counter(0).counted(turns)
    assert once.count == 3
    assert once.counted(turns[1:]) == once
    assert once.counted([("c", 101), ("d", 101)]).count == 4


def test_a_step_never_goes_back():
    assert counter(30).ran("extract", 20).ran("extract", 10).done["extract"] == 20


def test_a_counter_survives_its_document():
    one = counter(0).counted([("a", 5)]).ran("extract", 1)
    assert read_counter(one.to_document(), one.steps) == one


def test_one_call_joins_the_two_steps_only_where_the_same_turns_wait_for_both():
    one_call = Cadence(one_call=True)
    (work,) = due_work([counter(20, extract=10, summarize=10)], one_call)
    assert (work.workflow, work.count, work.mark) == ("extract_and_summarize", 20, "2-2")
    assert [one.workflow for one in due_work([counter(20, extract=10)], one_call)] == ["extract", "summarize"]
    assert [one.workflow for one in due_work([counter(20, extract=20, summarize=10)], one_call)] == ["summarize"]
    assert [one.workflow for one in due_work([counter(20)], Cadence())] == ["extract", "summarize"]
    apart = Cadence(summarize=30, one_call=True)
    assert [one.workflow for one in due_work([counter(20)], apart)] == ["extract"]


def test_after_the_first_batch_a_thread_waits_for_more_turns_and_is_indexed_meanwhile():
    """The counts at which each workflow runs, turn by turn, and what of it is due again after a larger jump."""
    runs, now = [], counter(0)
    for count in range(1, 71):
        now = counter(count, **now.done)
        for work in due_work([now], DEFAULT_CADENCE):
            runs.append((count, work.workflow))
            for step in steps_of(work.workflow):
                now = now.ran(step, count)
    both = "extract_and_summarize"
    assert runs == [(10, both), (20, "index"), (30, both), (40, "index"), (50, both), (60, "index"), (70, both)]
    assert [one.workflow for one in due_work([counter(29, extract=10, summarize=10, index=20)], DEFAULT_CADENCE)] == []
    (late,) = due_work([counter(77, extract=10, summarize=10)], DEFAULT_CADENCE)
    assert (late.workflow, late.count) == (both, 77)


def test_numbers_of_ones_own_are_exact_and_rules_wait_for_nothing():
    again = due_work([counter(20, extract=10, summarize=10)], Cadence())
    assert [work.workflow for work in again] == ["extract", "summarize"]
    rules = possible(DEFAULT_CADENCE, OfflineChat())
    assert (rules.stretch, rules.one_call) == (1, False)
    assert possible(DEFAULT_CADENCE, RoleChat(OfflineChat(), {"extract": None})).stretch == 1


def test_one_call_does_both_for_a_thread_that_went_quiet():
    assert ending_steps(Cadence(one_call=True, archive=True)) == ["extract_and_summarize", "archive"]
    assert ending_steps(Cadence(one_call=True, summarize=0)) == ["extract"]


def test_users_take_turns_whoever_has_most():
    noisy, ann, bob = (Work("extract", user, f"t{n}", 10, 10) for user, n in (("noisy", 0), ("ann", 0), ("bob", 0)))
    more = [Work("extract", "noisy", f"t{n}", 10, 10) for n in (1, 2, 3)]
    assert in_turn([noisy, *more, ann, bob]) == [noisy, ann, bob, *more]
    assert in_turn([]) == []


def test_an_import_does_not_put_off_live_turns_that_wait():
    live = counter(0).counted([("a", 1)])
    assert not live.counted([("b", 2)], backfill=True).backfill
    processed = live.ran("extract", 1).ran("summarize", 1).ran("user", 1)
    assert processed.counted([("b", 2)], backfill=True).backfill


@pytest.mark.parametrize("mine", ["ann", "ann@example.org", "a" * 255])
def test_a_run_belongs_only_to_the_user_in_its_id(mine: str):
    runs = [instance_id("extract", mine, "t", 7), instance_id("profile", mine, "", "ask-1")]
    assert all(is_run_of(mine, run) for run in runs)
    for other in ("an", "ann2", "bob", "bob@example.org", "b" * 255, "extract", "t", ""):
        assert not any(is_run_of(other, run) for run in runs), other
    assert not is_run_of(mine, f"reembed:{mine}")
