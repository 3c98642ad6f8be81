"""Questions about earlier talk are told from what tells something, and stay out of the archive with their answers."""

from datetime import UTC, datetime
from typing import Any

import pytest

from agent_memory.models import Role, Turn
from agent_memory.text.asked_back import SESSION_NOTE, asks_back, telling

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def turn(role: Role, content: str, note: Any = None) -> Turn:
    metadata = {} if note is None else {SESSION_NOTE: note}
    return Turn(id=content, user_id="u", thread_id="t", role=role, content=content, created_at=NOON, metadata=metadata)


@pytest.mark.req("S2-47")
@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("What did we discuss about authentication?", True),
        ("Hello again! What did we discuss last time?", True),
        ("Remind me about the tokens", True),
        ("Remind me: which tokens were it", True),
        ("Remind me that the flight is at nine", False),
        ("Remind me to buy milk.", False),
        ("Last time I paid $500 for the flight.", False),
        ("Last time I paid $500 for the flight and it was late. Is that much for a flight to Rome?", False),
        ("How much is a flight to Rome?", False),
        ("", False),
    ],
)
def test_what_only_asks_for_earlier_talk(said: str, asks: bool):
    assert asks_back(turn("user", said)) is asks
    assert not asks_back(turn("agent", said))


def test_a_phrase_that_a_session_noted_counts_and_a_strange_note_does_not():
    said = "Was haben wir über die Anmeldung besprochen?"
    assert not asks_back(turn("user", said))
    assert asks_back(turn("user", said, {"trigger": "besprochen"}))
    for strange in ("trigger", {"trigger": 7}, ["x"], {"trigger": ""}):
        assert not asks_back(turn("user", said, strange))


@pytest.mark.req("S2-47")
def test_a_question_goes_with_its_answers_and_the_talk_around_it_stays():
    talk = [
        turn("user", "We use JWT."),
        turn("agent", "Noted."),
        turn("user", "What did we discuss about authentication?"),
        turn("tool", "searching"),
        turn("agent", "You said that you use JWT."),
        turn("user", "Let it expire after an hour."),
    ]
    assert [one.content for one in telling(talk)] == ["We use JWT.", "Noted.", "Let it expire after an hour."]
    assert telling(talk[2:5]) == []
    assert telling([turn("user", "How are you?"), turn("user", "Anybody there?")]) == []
    answered = [turn("user", "How do I log in?"), turn("agent", "With a one-time code.")]
    assert telling(answered) == answered
