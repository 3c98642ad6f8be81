"""The score that eviction and decay share."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from memories import fact

from agent_memory.models import Memory
from agent_memory.rules.keeping import eviction_order, retention

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def known(days_ago: float, *, confidence: float = 0.8, recalled: int = 0, last_days_ago: float | None = None) -> Memory:
    at = NOW - timedelta(days=days_ago)
    last = None if last_days_ago is None else NOW - timedelta(days=last_days_ago)
    named = {"id": f"m{days_ago}_{recalled}", "confidence": confidence}
    return fact("Rex is a dog", at, **named, access_count=recalled, last_accessed_at=last)


@pytest.mark.req("S0-102")
def test_what_is_not_recalled_fades_with_a_month_and_what_is_recalled_fades_slower():
    assert retention(known(0), NOW) == 1.0
    assert retention(known(30), NOW) == pytest.approx(math.exp(-1))
    assert retention(known(60, recalled=30), NOW) == pytest.approx(math.exp(-1))
    assert retention(known(60, recalled=30, last_days_ago=0), NOW) == 1.0
    assert retention(known(-3), NOW) == 1.0, "a clock that runs ahead must not make a memory worth more than all"


def test_the_least_valuable_goes_first_then_the_least_sure_then_the_oldest():
    old, unsure, sure = known(90), known(10, confidence=0.5), known(10, confidence=0.9)
    assert sorted([sure, unsure, old], key=lambda memory: eviction_order(memory, NOW)) == [old, unsure, sure]
