"""Times in questions: understood, and used without shutting out what does not fit."""

from datetime import UTC, datetime, timedelta

import pytest
from memories import fact

from agent_memory import AsyncMemory
from agent_memory.models import Memory
from agent_memory.recall.dates import Period, date_terms, event_named, periods, time_around, times_of

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


def at(month: int, day: int, year: int = 2026) -> datetime:
    return datetime(year, month, day, 12, tzinfo=UTC)


@pytest.mark.req("S0-016")
@pytest.mark.parametrize(
    ("question", "inside", "outside", "terms"),
    [
        ("What did I cook last March?", at(3, 15), at(4, 2), ["March", "2026"]),
        ("Where was I in May 2023?", at(5, 31, 2023), at(5, 31, 2024), ["May", "2023"]),
        ("What did I watch on 7.10.2025?", at(10, 7, 2025), at(7, 10, 2025), ["7", "October", "2025"]),
        ("What did I eat yesterday?", at(5, 19), at(5, 20), ["19", "May", "2026"]),
        ("Who came two days ago?", at(5, 18), at(5, 17), ["18", "May", "2026"]),
        ("What happened last year?", at(7, 1, 2025), at(1, 1), ["2025"]),
        ("Which trips did I plan in July?", at(7, 9, 2024), at(8, 1), ["July"]),
        ("What did I plan on July 4th?", at(7, 4, 2024), at(7, 5), ["4", "July"]),
        ("What did I do on 1 February, 2025?", at(2, 1, 2025), at(2, 2, 2025), ["1", "February", "2025"]),
    ],
)
def test_times_are_understood(question: str, inside: datetime, outside: datetime, terms: list[str]):
    found = periods(question, NOW)
    assert any(period.holds(inside) for period in found)
    assert not any(period.holds(outside) for period in found)
    assert date_terms(found) == terms


@pytest.mark.parametrize("question", ["What may I eat?", "Did we march on?", "", "Who am I?", "2 + 2", "31.2.2026?"])
def test_a_text_without_a_time_gives_no_period(question: str):
    assert periods(question, NOW) == []


def test_a_leap_day_of_any_year():
    leap = Period(datetime(2024, 2, 29, tzinfo=UTC), datetime(2024, 3, 1, tzinfo=UTC), every_year=True)
    assert leap.holds(datetime(2028, 2, 29, 5, tzinfo=UTC))
    assert not leap.holds(datetime(2027, 3, 1, tzinfo=UTC))


def memory(content: str, said: datetime, **metadata: str) -> Memory:
    return fact(content, said, metadata=metadata)


def beside_event(query: str, known: list[Memory]) -> Period | None:
    event = event_named(query)
    return time_around(event, known) if event else None


def test_a_memory_tells_when_the_move_was():
    known = [memory("We are moving to Oslo", at(1, 5), date="2026-02-01"), memory("Oslo is cold", at(3, 1))]
    before = beside_event("Where did I work before the move to Oslo?", known)
    assert before is not None
    assert before.holds(at(1, 20))
    assert not before.holds(at(2, 2))
    after = beside_event("What did I buy after we moved?", known)
    assert after is not None
    assert after.holds(at(2, 2))
    assert not after.holds(at(1, 20))
    assert beside_event("Where did I work before the wedding?", known) is None
    assert beside_event("Where did I work?", known) is None


def test_a_date_that_cannot_be_read_is_no_date():
    assert times_of(memory("x", at(1, 1), date="soon")) == [at(1, 1)]


async def test_what_was_said_then_comes_first(memory: AsyncMemory):
    alice = memory.user("alice")
    for month, dish in ((1, "lentils"), (3, "a risotto"), (4, "dumplings"), (5, "a curry")):
        await alice.thread(f"t{month}").add("user", f"Today I cooked {dish} for dinner", created_at=at(month, 10))
    await memory.drain(timeout=30)
    as_of = at(5, 20)
    hits = await alice.search("What did I cook for dinner last March?", as_of=as_of)
    assert "risotto" in hits[0].memory.content
    assert hits[0].why["date"] > 0
    assert len(hits) > 1  # the others are not shut out
    hits = await alice.search("What did I cook for dinner 10 days ago?", as_of=as_of)
    assert "curry" in hits[0].memory.content
    assert (await alice.search("What did I cook?", as_of=as_of - timedelta(days=90)))[0].memory.created_at == at(1, 10)
