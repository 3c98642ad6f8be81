"""Questions for a time and nothing else: "What did we talk about on 3 May?", "What do I have planned next week?".

They have no word in common with what was said of that time, and resemble nothing. So what was said in it, or is to
happen in it, is read instead of searched. Times are understood in English only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from agent_memory.models import Hit, Memory, iso
from agent_memory.recall.dates import Period, periods
from agent_memory.recall.explain import explained
from agent_memory.recall.fusion import Candidate
from agent_memory.recall.searcher import Searcher
from agent_memory.store import search_queries
from agent_memory.store.chunks import in_zone
from agent_memory.text.patterns import WORD
from agent_memory.text.terms import query_terms, says_something

READ = 200
"""Memories of a time that are read, the most important first. A choice: a day of talk rarely has more."""
_WITHOUT_YEAR = slice(5, 16)
"""The part of a written time from the month to the minute."""
_END_OF_YEAR = "13"
_RELEVANCE = 0.5
"""The relevance of each: it was said then, and nothing shows whether it is wanted. A choice."""
_DOING = frozenset(
    """agenda calendar chat chats chatted coming conversation conversations day days discuss discussed discussing going
    happen happened happening happens last lot mention mentioned plan planned plans say says said schedule scheduled
    speak spoke subject subjects summarise summarize summary talk talked talking talks tell thing things told topic
    topics went""".split()
)
"""Words that ask what was said or done, and not about what."""
_PAST = frozenset("chatted did discussed had happened mentioned said spoke talked told was went were".split())
"""Words of questions about the past."""


def times_asked_for(query: str, at: datetime) -> list[Period]:
    """The times of a question that asks what was said or happens in them, and names nothing else; else none.

    At the time `at`, "on Monday" is the last one if the question speaks of the past, and else the next one. A question
    about a time that is over must speak of the past.
    """
    rest = query.lower()
    is_past = not _PAST.isdisjoint(WORD.findall(rest))
    times = [one for one in periods(query, at, "past" if is_past else "future") if one.first and one.last]
    for one in times:
        rest = rest.replace(one.phrase.lower(), " ")
    names_nothing = not says_something(rest) or _DOING.issuperset(query_terms(rest))
    is_over = any(one.last and one.last <= at for one in times)
    if not names_nothing or (is_over and not is_past):
        return []
    # A future date without a year is in this year or the next.
    return [replace(one, every_year=one.every_year and is_past) for one in times]


class Stretch(NamedTuple):
    """A stretch of time as it is compared with stored times: the moments of its ends in UTC, and their days."""

    since: str
    until: str
    day: str
    end: str


def _without_year(one: Stretch) -> Stretch:
    """The same stretch of any year. One that runs into the next year ends with this one."""
    is_over = one.until[:4] == one.since[:4]
    return one._replace(since=one.since[_WITHOUT_YEAR], until=one.until[_WITHOUT_YEAR] if is_over else _END_OF_YEAR)


async def said_within(
    searcher: Searcher,
    partition: Sequence[str],
    where: str,
    parameters: Mapping[str, Any],
    times: Sequence[Period],
    limit: int,
) -> list[Hit]:
    """What was said or happens in these times, in the order in which it was said.

    Of more than `limit`, it takes some at even distances.

    A day or month without a year is the last one, or if nothing was said then, that of any year. What agents said is
    left out if users said anything. Costs one query, or two.
    """
    closed = [(one, one.first, one.last) for one in times if one.first and one.last]
    exact = [Stretch(iso(first), iso(last), f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}") for _, first, last in closed]

    async def read(stretches: Sequence[Stretch], *, any_year: bool) -> list[Candidate]:
        named = {f"{name}{number}": at for number, one in enumerate(stretches) for name, at in one._asdict().items()}
        sql = search_queries.within(where, len(stretches), any_year=any_year)
        return await searcher.read(sql, partition, {**parameters, **named, "limit": READ})

    found = await read(exact, any_year=False)
    yearless = [_without_year(one) for one, (period, *_) in zip(exact, closed, strict=True) if period.every_year]
    if not found and yearless:
        found = await read(yearless, any_year=True)
    memories = [in_zone(one.memory, searcher.zone) for one in found]
    memories.sort(key=lambda memory: (memory.created_at, memory.id))
    of_users = [one for one in memories if one.source != "agent"]
    return [_hit(one) for one in _spread(of_users or memories, limit)]


def _spread(memories: Sequence[Memory], limit: int) -> list[Memory]:
    """At most `limit` of them, at even distances."""
    step = max(len(memories) / limit, 1.0)
    return [memories[int(place * step)] for place in range(min(limit, len(memories)))]


def _hit(memory: Memory) -> Hit:
    parts = {"date": _RELEVANCE}
    explanation = explained(parts, (), None, ())
    return Hit(memory=memory, score=_RELEVANCE, relevance=_RELEVANCE, why=parts, explanation=explanation)
