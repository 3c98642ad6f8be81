"""Questions for a time and nothing else: "What did we talk about on 3 May?", "What did I do last week?".

They have no word in common with what was said then, and resemble nothing. So what was said in that time is read
instead of searched. Times are understood in English only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent_memory.models import Hit, Memory, iso
from agent_memory.recall.dates import Period
from agent_memory.recall.explain import explained
from agent_memory.recall.fusion import Candidate
from agent_memory.recall.searcher import Searcher
from agent_memory.store import search_queries
from agent_memory.store.chunks import in_zone
from agent_memory.text.terms import query_terms, says_something

READ = 200
"""Memories of a time that are read, the earliest first. A choice: a day of talk rarely has more."""
_WITHOUT_YEAR = slice(5, 16)
"""The part of a written time from the month to the minute."""
_END_OF_YEAR = "13"
_RELEVANCE = 0.5
"""The relevance of each: it was said then, and nothing shows whether it is wanted. A choice."""
_DOING = frozenset(
    """chat chats chatted conversation conversations day days discuss discussed discussing happen happened happening
    last lot mention mentioned plan plans say says said speak spoke subject subjects summarise summarize summary talk
    talked talking talks tell thing things things told topic topics went""".split()
)
"""Words that ask what was said or done, and not about what."""


def asks_for_times(query: str, times: Sequence[Period]) -> bool:
    """Whether a question asks what was said or done in a stretch of time, and names nothing else."""
    if not any(one.first and one.last for one in times):
        return False
    rest = query.lower()
    for one in times:
        rest = rest.replace(one.phrase.lower(), " ")
    return not says_something(rest) or _DOING.issuperset(query_terms(rest))


async def said_within(
    searcher: Searcher,
    partition: Sequence[str],
    where: str,
    parameters: Mapping[str, Any],
    times: Sequence[Period],
    limit: int,
) -> list[Hit]:
    """What was said in these times, in order of time; of more than `limit`, a selection of all of it.

    A day or month without a year is the last one, or if nothing was said then, that of any year. What agents said is
    left out if users said anything. Costs one query, or two.
    """
    closed = [(iso(one.first), iso(one.last)) for one in times if one.first and one.last]
    yearless = [
        (first[_WITHOUT_YEAR], last[_WITHOUT_YEAR] if last[:4] == first[:4] else _END_OF_YEAR)
        for one in times
        if one.every_year and one.first and one.last
        for first, last in [(iso(one.first), iso(one.last))]
    ]

    async def read(stretches: Sequence[tuple[str, str]], *, any_year: bool) -> list[Candidate]:
        named = {f"from{number}": first for number, (first, _) in enumerate(stretches)}
        named |= {f"to{number}": last for number, (_, last) in enumerate(stretches)}
        sql = search_queries.within(where, len(stretches), any_year=any_year)
        return await searcher.read(sql, partition, {**parameters, **named, "limit": READ})

    found = await read(closed, any_year=False)
    if not found and yearless:
        found = await read(yearless, any_year=True)
    memories = [in_zone(one.memory, searcher.zone) for one in found]
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
