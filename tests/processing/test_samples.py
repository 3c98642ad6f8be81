"""The sample conversations, with the models that a newcomer has: rules and MiniLM."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import pytest

from agent_memory import Cadence, Memory

pytestmark = pytest.mark.acceptance

SAMPLES = Path(__file__).parents[2] / "samples" / "conversations"
ON_DEMAND = Cadence(extract=10**9, summarize=10**9, profile=10**9, reconcile=10**9, idle_seconds=0)


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory.local(cadence=ON_DEMAND) as memory:
        for file in sorted(SAMPLES.glob("*.jsonl")):
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            for (user, thread), turns in groupby(lines, key=lambda line: (line["user_id"], line["thread_id"])):
                fields = ("id", "role", "content", "created_at", "name")
                memory.user(user).thread(thread).add_many(
                    [{name: turn[name] for name in fields if name in turn} for turn in turns]
                )
        assert memory.drain(timeout=120) == 0
        yield memory


@pytest.mark.req("S4-15", "S2-45", "S0-087")
@pytest.mark.parametrize(
    ("user", "question", "answer"),
    [
        ("sarah", "Which team do I work in?", "Marketing"),
        ("sarah", "How long have I been with the company?", "two years"),
        ("sarah", "How many days a week may I work from home?", "three days a week"),
        ("sarah", "What did Priya approve?", "HR-101"),
        ("maya", "What's my budget for Hawaii?", "$15,000"),
        ("maya", "What am I allergic to?", "peanuts"),
        ("dev", "How do I deploy payment-service?", "helm upgrade"),
        ("dev", "Which registry do we use?", "GitHub Container Registry"),
    ],
)
def test_a_new_session_recalls_what_earlier_ones_said(memory: Memory, user: str, question: str, answer: str):
    context = memory.user(user).thread("a-new-session").context(question)
    assert answer in context.text
    assert context.tokens <= 650
    assert context.degraded == []


@pytest.mark.req("S0-107")
def test_a_changed_fact_is_shown_with_its_new_and_old_value(memory: Memory):
    maya = memory.user("maya")
    now = maya.context("What's my budget for Hawaii?").text
    assert "$15,000" in now
    assert "$10,000" not in now
    april = maya.context("What's my budget for Hawaii?", as_of=datetime(2026, 4, 1, tzinfo=UTC)).text
    assert "$10,000" in april
    assert "$15,000" not in april
    food = maya.context("Would I like a steak?").text
    assert "I love a good steak" not in food


@pytest.mark.req("S1-09", "S1-14")
def test_every_thread_has_a_summary_and_every_user_a_profile(memory: Memory):
    for user_id in memory.users():
        user = memory.user(user_id)
        profile = user.profile()
        assert profile is not None
        active = {fact.content for fact in user.memories()}
        told = {*profile.personal, *profile.preferences, *profile.constraints, *profile.current_work}
        assert told
        assert told <= active  # nothing that is no longer true
        for thread in user.threads():
            summary = user.thread(thread.thread_id).summary()
            assert summary is not None
            assert summary.turn_count == thread.turns
            assert summary.topic


def test_every_fact_rests_on_words_that_a_user_said(memory: Memory):
    for user_id in memory.users():
        user = memory.user(user_id)
        turns = {turn.id: turn for thread in user.threads() for turn in user.thread(thread.thread_id).turns()}
        for fact in user.memories(types=["fact", "procedural"], include_superseded=True):
            quoted = [turns[turn_id] for turn_id in fact.source_turn_ids if fact.quote in turns[turn_id].content]
            assert quoted or fact.supersedes_ids, fact
            assert all(turn.role == "user" for turn in quoted)
