"""Questions that are read instead of searched, because they have no word in common with what was said.

They ask for all that is known ("What do you know about me?"), for a time ("What did we talk about on 3 May?", "What do
I have planned next week?"), or for a conversation ("What did we talk about last time?"). Times are understood in seven
languages.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple

from agent_memory.errors import AgentMemoryError
from agent_memory.models import Hit, Memory, SearchFilters, iso, now, there
from agent_memory.recall.dates import Period, has_foreign_word, periods, with_english_times
from agent_memory.recall.explain import explained
from agent_memory.recall.fresh import as_candidates, read_fresh
from agent_memory.recall.fusion import Candidate
from agent_memory.recall.oneself import all_known, as_hit, asks_for_all
from agent_memory.recall.searcher import Searcher
from agent_memory.store import search_queries
from agent_memory.store.chunks import in_zone
from agent_memory.text.patterns import WORD, Linear, linear
from agent_memory.text.stop_words import FUNCTION_WORDS, QUESTION_WORDS
from agent_memory.text.terms import query_terms, says_something

READ = 200
"""Memories of a time that are read, the most important first. A choice: a day of talk rarely has more."""
_WITHOUT_YEAR = slice(5, 16)
"""The part of a written time from the month to the minute."""
_END_OF_YEAR = "13"
_RELEVANCE = 0.5
"""The relevance of each: it was said then, and nothing shows whether it is wanted. A choice."""
_DONE = """
    chatted did discussed had happened mentioned said spoke talked told was went were
    besprochen erlebt erzählt gemacht geredet gesagt geschehen gesprochen getan hatte hatten passiert unternommen war
    waren
    comentamos contamos conté conversamos dije dijimos fue hablamos hablé hice hicimos pasó
    dit discuté fait parlé passé raconté était
    accaduto detto discusso fatto parlato raccontato successo era
    aconteceu contei disse dissemos falamos falei fiz fizemos foi
    besproken gebeurd gedaan gehad gesproken gezegd hadden verteld
"""
_ASKING = """
    agenda calendar chat chats coming conversation conversations day days discuss discussing going happen happening
    happens last lot mention plan planned plans say says schedule scheduled speak subject subjects summarise summarize
    summary talk talking talks tell thing things topic topics leave left off recap remember stop stopped
    an ansteht geplant gespräch gespräche haben habt los plan pläne steht tag termin termine thema themen vor worüber
    worum ging zusammen alles so unser unsere unserem unseren
    citas conversación cosas cuál día nuestra nuestro pendiente plan planes planeado qué tema temas tengo tenemos
    avons-nous ai-je as-tu c'était conversation j'ai jour notre plans quelle prévu prévue qu'ai-je qu'est-ce quoi
    rendez-vous s'est-il sujet
    sujets
    abbiamo appuntamenti argomenti nostra nostro qual conversazione cosa giorno impegni programma programmi previsto
    assunto assuntos coisas nossa nosso qual combinado compromissos conversa dia marcado planejado planeado planos
    temos tenho
    afspraken dag gepland gesprek heb hebben het ik onderwerp onderwerpen over plannen staat waar waarover wat
"""
_PAST = frozenset(_DONE.split())
"""Words of questions about the past."""
_DOING = _PAST | frozenset(_ASKING.split())
"""Words that ask what was said or done, and not about what."""
_ASKS = _DOING | QUESTION_WORDS
_WITHOUT_SUBJECT = _ASKS | FUNCTION_WORDS


Side = Literal["first", "last"]
_TALK = "(?:conversation|chat|session|discussion|talk|call)"
_CONVERSATIONS: Mapping[Side, Linear] = {
    "last": linear(
        rf"\blast time\b|\b(?:last|previous|latest|most recent) {_TALK}\b"
        r"|\b(?:beim )?letzte[sn] mal\b|\b(?:im |unser(?:em|er)? )?letzte[nrs]? (?:gespräch|unterhaltung|sitzung)\b"
        r"|\bla última vez\b|(?:^|\W)última (?:conversación|charla|sesión)\b"
        r"|\bla dernière fois\b|\bdernière (?:conversation|discussion|session)\b"
        r"|\bl'ultima volta\b|\bultima (?:conversazione|sessione|chat)\b"
        r"|\bd?a última vez\b|(?:^|\W)última (?:conversa|sessão)\b"
        r"|\b(?:de )?vorige keer\b|\b(?:vorige?|laatste) (?:gesprek|sessie)\b",
    ),
    "first": linear(
        rf"\bfirst {_TALK}\b|\bfirst time we (?:talked|spoke|chatted)\b"
        r"|\berste[nrs]? (?:gespräch|unterhaltung|sitzung)\b|\bprimera (?:conversación|charla|sesión)\b"
        r"|\bpremière (?:conversation|discussion|session)\b|\bprima (?:conversazione|sessione|chat)\b"
        r"|\bprimeira (?:conversa|sessão)\b|\beerste (?:gesprek|sessie)\b",
    ),
}


def times_asked_for(query: str, at: datetime) -> list[Period]:
    """The times of a question that asks what was said or happens in them, and names nothing else; else none.

    At the time `at`, "on Monday" is the last one if the question speaks of the past, and else the next one. A question
    about a time that is over must speak of the past.
    """
    said = set(WORD.findall(query.lower()))
    # German "was" is "what".
    is_past = not _PAST.isdisjoint(said - {"was"} if has_foreign_word(query) else said)
    query = with_english_times(query)
    rest = query.lower()
    times = [one for one in periods(query, at, "past" if is_past else "future") if one.first and one.last]
    for one in times:
        rest = rest.replace(one.phrase.lower(), " ")
    names_nothing = not says_something(rest) or _WITHOUT_SUBJECT.issuperset(query_terms(rest))
    asks = "?" in query or not _ASKS.isdisjoint(said)
    is_over = any(one.last and one.last <= at for one in times)
    if not asks or not names_nothing or (is_over and not is_past):
        return []
    # A future date without a year is in this year or the next.
    return [replace(one, every_year=one.every_year and is_past) for one in times]


def conversation_asked_for(query: str) -> Side | None:
    """Which conversation a question asks for, the last or the first, if it names nothing else."""
    rest = query.lower().replace("’", "'")
    for side, pattern in _CONVERSATIONS.items():
        if pattern.search(rest) is not None:
            without = pattern.sub(" ", rest)
            return side if not says_something(without) or _WITHOUT_SUBJECT.issuperset(query_terms(without)) else None
    return None


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
    return _spread(memories, limit)


async def said_in(
    searcher: Searcher,
    partition: Sequence[str],
    where: str,
    parameters: Mapping[str, Any],
    side: Side,
    current: str | None,
    lately: Sequence[Hit],
    limit: int,
) -> list[Hit]:
    """What was said in the last or the first conversation but the `current` one, in order. One query.

    `lately` are turns that are not indexed yet. Of more than `limit`, it takes some at even distances.
    """
    sql = search_queries.talk_in_order(where, newest=side == "last")
    found = await searcher.read(sql, partition, {**parameters, "current": current or "", "limit": READ})
    known = {one.memory.id: in_zone(one.memory, searcher.zone) for one in found}
    known |= {hit.memory.id: hit.memory for hit in lately if hit.memory.thread_id != current}
    talk = sorted(known.values(), key=lambda memory: (memory.created_at, memory.id))
    if not talk:
        return []
    thread_id = talk[-1 if side == "last" else 0].thread_id
    return _spread([memory for memory in talk if memory.thread_id == thread_id], limit)


def _spread(memories: Sequence[Memory], limit: int) -> list[Hit]:
    """At most `limit` of them as hits, at even distances; those of agents only if users said nothing."""
    told = [one for one in memories if one.source != "agent"] or memories
    step = max(len(told) / limit, 1.0)
    return [_hit(told[int(place * step)]) for place in range(min(limit, len(told)))]


def _hit(memory: Memory) -> Hit:
    parts = {"date": _RELEVANCE}
    explanation = explained(parts, (), None, ())
    return Hit(memory=memory, score=_RELEVANCE, relevance=_RELEVANCE, why=parts, explanation=explanation)


logger = logging.getLogger("agent_memory")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What such a question asks for.

    Attributes:
        asked: The question, in the user's words.
        terms: Its words.
        where: The condition of the filters, with its `parameters`.
        thread: The conversation that asks, if any.
        limit: The maximum number of hits.
    """

    asked: str
    terms: Sequence[str]
    where: str
    parameters: Mapping[str, Any]
    filters: SearchFilters
    thread: str | None
    limit: int


async def read_instead(
    searcher: Searcher, partition: Sequence[str], wanted: Wanted, degraded: list[str]
) -> list[Hit] | None:
    """The hits of a question that is read; None if it is to be searched, or if nothing is known of what it asks for."""
    at = there(wanted.filters.get("as_of") or now(), searcher.zone)
    source = (searcher, partition, wanted.where, wanted.parameters)
    if asks_for_all(wanted.asked):
        known = await all_known(*source, wanted.limit)
        return (
            _with_lately(known, await _lately(searcher, partition, wanted, degraded), wanted.limit) if known else None
        )
    if times := times_asked_for(wanted.asked, at):
        then = await said_within(*source, times, wanted.limit)
        if not then:
            return None
        lately = await _lately(searcher, partition, wanted, degraded)
        within = [hit for hit in lately if any(one.holds(hit.memory.created_at) for one in times)]
        return _with_lately(then, within, wanted.limit)
    side = conversation_asked_for(wanted.asked)
    if side is None:
        return None
    lately = await _lately(searcher, partition, wanted, degraded)
    return await said_in(*source, side, wanted.thread, lately, wanted.limit) or None


async def _lately(searcher: Searcher, partition: Sequence[str], wanted: Wanted, degraded: list[str]) -> list[Hit]:
    """Turns that are not indexed yet, as hits."""
    turns = await read_fresh(searcher, partition, wanted.terms, wanted.filters, degraded, wanted.limit)
    try:
        return [as_hit(one.memory) for one in await as_candidates(searcher, turns)]
    except AgentMemoryError as error:
        logger.warning("What was said lately could not be read: %s", error)
        degraded.append(f"fresh turns: {error}")
        return []


def _with_lately(hits: Sequence[Hit], lately: Sequence[Hit], limit: int) -> list[Hit]:
    """At most `limit` hits. Fresh turns may take half of the places, and any that are left."""
    return [*hits[: max(limit - len(lately), (limit + 1) // 2)], *lately][:limit]
