"""Times named in talk, and what they mean on the day they were said."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from agent_memory.language.offline.context import moments
from agent_memory.text import dates

FRIDAY = datetime(2026, 5, 8, 14, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("I'm going to Hawaii next March", "March 2027"),
        ("this March", "March 2026"),
        ("last March", "March 2026"),
        ("next Friday", "15 May 2026"),
        ("on Friday", "15 May 2026"),
        ("moved to thurs 9:30", "14 May 2026"),
        ("by Monday", "11 May 2026"),
        ("next week", "week of 11 May 2026"),
        ("on Thursday next week", "14 May 2026"),
        ("next week on Monday", "11 May 2026"),
        ("tuesday last week", "28 April 2026"),
        ("this weekend", "weekend of 9 May 2026"),
        ("last weekend", "weekend of 2 May 2026"),
        ("two weekends ago", "weekend of 25 April 2026"),
        ("the day after tomorrow", "10 May 2026"),
        ("last night", "7 May 2026"),
        ("in two weeks", "around 22 May 2026"),
        ("a couple of months ago", "March 2026"),
        ("three years ago", "2023"),
        ("last summer", "summer 2025"),
        ("next winter", "winter 2026"),
        ("in 2019", "2019"),
        ("June 3rd", "3 June 2026"),
        ("12 June 2027", "12 June 2027"),
        ("on 3/15/2026", "15 March 2026"),
        ("2026-07-01", "1 July 2026"),
        ("March 2024", "March 2024"),
        ("on the 14th", "14 May 2026"),
        ("the end of March", "March 2027"),
        ("Christmas", "25 December 2026"),
        ("next month (June 2027)", "June 2027"),
    ],
)
def test_a_time_is_placed(text: str, label: str) -> None:
    assert [moment.label for moment in dates.find(text, FRIDAY)] == [label]


@pytest.mark.parametrize(
    "text",
    ["It's every Thursday", "on Fridays I cook", "on Wednesday evenings", "it may be late", "I march on", "may I ask",
     "the Christmas market", "at 9:30", "5 apples", "the sun is out"],
)  # fmt: skip
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    assert dates.find(text, FRIDAY) == []


def test_a_vague_time_is_found_but_not_placed() -> None:
    (moment,) = dates.find("I got it a few years ago", FRIDAY)
    assert (moment.phrase, moment.first, moment.label) == ("a few years ago", None, "")


def test_times_are_counted_from_the_day_where_the_speaker_is() -> None:
    (late,) = dates.find("tomorrow", datetime.fromisoformat("2026-05-08T23:30:00-05:00"))
    (same,) = dates.find("tomorrow", datetime.fromisoformat("2026-05-09T04:30:00+00:00"))
    assert (late.label, same.label) == ("9 May 2026", "10 May 2026")


def test_a_bare_weekday_lies_where_its_clause_lies() -> None:
    (past,) = moments("I saw the dentist on Monday", FRIDAY)
    (ahead,) = moments("I'm seeing the dentist on Monday", FRIDAY)
    assert (past.label, ahead.label) == ("4 May 2026", "11 May 2026")


@pytest.mark.parametrize(
    "text",
    [
        "We have dinner on the Saturday before.",
        "We have dinner on the\nSaturday before.",
        "We have dinner\nFriday week.",
    ],
)
def test_a_weekday_that_is_not_the_next_one_has_no_day(text: str) -> None:
    assert moments(text, FRIDAY) == ()


def test_a_weekday_before_or_after_which_something_else_is_said_is_the_next_one() -> None:
    assert [moment.label for moment in moments("We meet on Saturday after work.", FRIDAY)] == ["9 May 2026"]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The rent is due on the 2nd.", "2 June 2026"),
        ("I met her on the 2nd.", "2 May 2026"),
        ("We fly on the 20th.", "20 May 2026"),
    ],
)
def test_a_day_to_come_has_not_passed_in_the_month_of_the_talk(text: str, label: str) -> None:
    assert [moment.label for moment in moments(text, FRIDAY, ["The vet sees him on May 28."])] == [label]


def test_the_month_of_the_talk_is_that_of_the_speaker() -> None:
    evening = datetime(2026, 5, 31, 22, tzinfo=timezone(timedelta(hours=-5)))  # in UTC, June has begun
    near = datetime(2026, 5, 20, tzinfo=UTC)
    assert [moment.label for moment in dates.find("due on the 1st", evening, near=near)] == ["1 June 2026"]


def test_each_clause_of_a_sentence_has_its_own_direction() -> None:
    found = moments("My wife got the job in April, she starts on June 1", FRIDAY)
    assert [moment.label for moment in found] == ["April 2026", "1 June 2026"]


def test_a_range_of_days_shares_its_month() -> None:
    found = dates.find("out of office from 1 to 14 July", FRIDAY)
    assert [moment.label for moment in found] == ["1 July 2026", "14 July 2026"]


def test_the_edges_of_the_calendar_raise_nothing() -> None:
    assert dates.find("next year", datetime.max.replace(tzinfo=UTC)) == []
    assert dates.find("last week", datetime.min.replace(tzinfo=UTC)) == []
