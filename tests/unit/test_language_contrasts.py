"""Claims that turn round an order, a share or an exception, or tell of somebody else what one person said."""

from datetime import UTC, datetime

import pytest

from agent_memory.language.grounding.said_dates import Spoken
from agent_memory.language.grounding.support import why_unsupported

AT = datetime(2026, 3, 13, 9, tzinfo=UTC)


def why(said: str, content: str, ahead: str | None = None) -> str | None:
    before = [] if ahead is None else [Spoken(ahead, AT, None)]
    return why_unsupported(content, said, [Spoken(said, AT, None)], before)


@pytest.mark.parametrize(
    ("said", "content", "reason"),
    [
        (
            "The audit is on the second Thursday of June.",
            "The audit is on the first Thursday of June",
            "first thursday",
        ),
        ("The left speaker is broken.", "The right speaker is broken", "right speaker"),
        (
            "First we migrate the database, then the frontend.",
            "The frontend is migrated before the database",
            "the other order",
        ),
        ("First, boil the rice, and then add the beans.", "The rice is boiled after the beans", "the other order"),
        ("Hardly anyone on the team uses Jira.", "Most people on user's team use Jira", "nobody said Most"),
        ("Very few of our guests pay in cash.", "Nearly all of their guests pay in cash", "nobody said all"),
        ("Except for Lena everyone got the flu shot.", "Lena got the flu shot", "Lena was excepted"),
        ("I'm ghostwriting for a surgeon who trained in Basel.", "User trained in Basel", "somebody else trained"),
        ("We met a pilot who flew for Swissair.", "User flew for Swissair", "somebody else flew"),
    ],
)
def test_a_claim_that_turns_round_what_was_said_is_doubted(said: str, content: str, reason: str):
    assert reason in (why(said, content) or "")


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("The audit is on the second Thursday of June.", "The audit is on the second Thursday in June"),
        ("The left speaker is broken, the right one is fine.", "The right speaker works"),
        ("First we migrate the database, then the frontend.", "The database is migrated before the frontend"),
        ("First, boil the rice, and then add the beans.", "The beans are added after the rice"),
        ("Hardly anyone on the team uses Jira.", "Almost nobody on user's team uses Jira"),
        ("Almost nobody in my class passed the exam.", "Most of user's class did not pass the exam"),
        ("Except for Lena everyone got the flu shot.", "Lena did not get the flu shot"),
        ("Everyone except Ivo speaks Danish in our family.", "In user's family everyone speaks Danish except Ivo"),
        ("I'm a nurse who works nights.", "User works nights as a nurse"),
        ("I am someone who hates mornings.", "User hates mornings"),
        ("It was me who broke the vase.", "User broke the vase"),
        ("I rent from a dentist who owns three houses.", "User rents from a dentist who owns three houses"),
    ],
)
def test_other_words_for_what_was_said_are_not(said: str, content: str):
    assert why(said, content) is None


def test_what_the_user_does_is_not_told_of_kin_of_an_earlier_turn():
    ahead, said = "My sister is allergic to penicillin.", "I take ibuprofen for my knee."
    assert why(said, "User's sister takes ibuprofen for her knee", ahead) == "nobody said sister of this"
    assert why(said, "User takes ibuprofen for their knee", ahead) is None
    assert why("I bought her a canoe.", "User bought user's sister a canoe", ahead) is None
    assert why("I moved out and she stayed.", "User's sister stayed when the user moved out", ahead) is None


def test_a_colour_of_an_earlier_turn_may_be_taken_up():
    assert why("The blue one belongs to Kim.", "The blue car belongs to Kim", "The red car is mine.") is None
