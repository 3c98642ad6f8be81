"""Search over one user's memories by vector and by words, fused, and by words in fresh turns.

Costs two parallel queries, and one after them for the turns around the hits. Fresh turns cost more queries in parallel
with these: one for their texts, one for which of them are indexed, and one a thread for what was forgotten.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from agent_memory.calibration import calibration_of
from agent_memory.errors import AgentMemoryError
from agent_memory.language.tasks import ChatModel, Vector
from agent_memory.models import Hit, Memory, SearchFilters, Turn, now, there
from agent_memory.recall.conditions import (
    CONDITIONS_READ,
    PREFERENCES_READ,
    STANDING_READ,
    applying,
    asks_for_advice,
    binding,
    conditions_asked_for,
    preferred,
)
from agent_memory.recall.dates import date_terms, periods, stored_days
from agent_memory.recall.explain import RERANKED
from agent_memory.recall.fresh import as_candidates, read_fresh
from agent_memory.recall.fusion import Candidate, is_fresh, is_within, linked_hit, rank, related, spans_around
from agent_memory.recall.matching import Sought, matching, vector_of
from agent_memory.recall.oneself import NEAREST, asks_of_self
from agent_memory.recall.phrasing import names_called, subject_of, with_names_of_turns
from agent_memory.recall.rarity import NOTHING_SEEN, telling
from agent_memory.recall.relevance import Talk, repeats_question
from agent_memory.recall.searcher import Searcher, cache_key, rerank
from agent_memory.recall.spelling import Spelt, spelt
from agent_memory.recall.timed import Wanted, read_instead
from agent_memory.store import queries, search_queries
from agent_memory.store.chunks import chunk_id, in_zone, words_of
from agent_memory.store.filters import ANYTHING, condition, parameters as filter_parameters
from agent_memory.store.uses import read_uses
from agent_memory.text.folding import folded
from agent_memory.text.terms import MAX_TERMS, query_terms

logger = logging.getLogger("agent_memory")

T = TypeVar("T")

LONGEST_QUERY = 4000
"""Maximum characters of a query; embedding models read less than that of a pasted page."""
LINKED = 5
"""Candidates, the best, whose links are followed. A choice."""


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of a search, best first, and what went missing on the way."""

    hits: list[Hit]
    degraded: list[str]
    standing: Sequence[Hit] = ()
    """Standing instructions that apply to the query, if requested."""
    conditions: Sequence[Hit] = ()
    """What an answer must respect, and what the user likes, although the query does not ask for it, if requested."""


async def search(
    searcher: Searcher,
    partition: Sequence[str],
    query: str,
    *,
    limit: int = 5,
    filters: SearchFilters = ANYTHING,
    patience: float | None = None,
    standing: bool = False,
    conditions: bool = False,
    links: bool = False,
    for_context: bool = False,
    thread: str | None = None,
) -> Found:
    """The memories of a user (or one thread of theirs) that matter for a query.

    With `links`, memories linked to the best of them follow, also beyond `limit`, with a score of 0.

    Parts that fail are left out and named in `degraded`, including the vectors if the embedding model takes longer than
    the settings allow, or than `patience` seconds. With `standing` the user's standing instructions are read too, and
    with `conditions` what an answer must respect, in parallel with the hits. With `for_context`, a
    question of users about themselves finds the nearest memories, however far they are. A question for all that is
    known finds the most important memories. One for the last conversation finds the one before `thread`, which asks.

    Raises:
        AgentMemoryError: if neither the vector query nor the word query works.
    """
    query = folded(query[:LONGEST_QUERY])
    searcher = searcher.impatient(patience)
    flags = {"standing": standing, "conditions": conditions, "links": links, "for_context": for_context}
    read = partial(_search, searcher, partition, query, limit, filters, **flags, thread=thread)
    cache = searcher.cache
    mark = None if cache is None else await searcher.store.read_mark(partition[0])
    if cache is None or mark is None:
        return await read()
    # The mark is read first: a write during the search changes the mark, so the entry is kept under an old key and
    # never found.
    options = [
        *sorted(filters.items(), key=str),
        ("off", searcher.threads_off),
        *flags.items(),
        ("zone", str(searcher.zone)),
        ("thread", thread),
    ]
    key = cache_key(tuple(partition), mark, query, limit, options, searcher.embeddings.model_id, searcher.settings)
    kept = cache.get(key)
    if kept is not None:
        return Found(_unexpired(kept.hits), [], _unexpired(kept.standing), _unexpired(kept.conditions))
    found = await read()
    # Results with fresh turns are not cached: whether those may be shown depends on settings that do not change the
    # mark.
    if not found.degraded and not any(is_fresh(hit.memory) for hit in found.hits):
        cache.put(key, found)
    return found


async def _search(
    searcher: Searcher,
    partition: Sequence[str],
    query: str,
    limit: int,
    filters: SearchFilters,
    *,
    standing: bool,
    conditions: bool,
    links: bool,
    for_context: bool,
    thread: str | None,
) -> Found:
    at = filters.get("as_of") or now()
    asked, seen, named, spelling = query, NOTHING_SEEN, set[str](), Spelt(query)
    if query_terms(query):
        seen = await searcher.seen.of(searcher.store, partition[0])
        read = searcher.reads(partition)
        greeted = [one for one in seen.greetings if read(one.thread_id)]
        named = {one.name for one in seen.speakers if read(one.thread_id)}
        spelling = await spelt(with_names_of_turns(query, names_called(greeted)), named)
        query = subject_of(spelling.likeliest)
    times = periods(asked, there(at, searcher.zone))
    dated = [term.lower() for term in (*date_terms(times), *stored_days(times))]
    terms = list(dict.fromkeys([*query_terms(query), *spelling.words, *dated]))[:MAX_TERMS]
    where = condition(filters)
    parameters: dict[str, Any] = filter_parameters(filters)
    if off := searcher.threads_off:
        where = f"{where} AND {queries.NOT_OFF}"
        parameters["off"] = off
    least = filters.get("threshold")
    degraded: list[str] = []
    nearest = NEAREST if for_context and least is None and asks_of_self(asked) else 0
    if least is None:
        wanted = Wanted(asked, terms, where, parameters, filters, thread, limit)
        if (whole := await read_instead(searcher, partition, wanted, degraded)) is not None:
            return Found(whole, degraded)
    typed = subject_of(spelling.typed) if spelling.alternatives else query
    vector = asyncio.ensure_future(vector_of(searcher, query, typed, named, degraded))
    sought = Sought(partition, query, telling(terms, seen), where, parameters, vector, links)
    results = await asyncio.gather(
        read_fresh(searcher, partition, terms, filters, degraded, nearest),
        matching(searcher, sought, degraded),
        _standing(searcher, sought, degraded) if standing else _nothing(),
        _conditions(searcher, sought, degraded) if conditions else _nothing(),
        _preferred(searcher, sought, asked, degraded) if conditions else _nothing(),
        return_exceptions=True,
    )
    fresh, found = _result_or_raise(results[0]), _result_or_raise(results[1])
    orders, binding_hits, liked = (_result_or_raise(result) for result in results[2:])
    threshold = searcher.settings.threshold(searcher.embeddings.model_id) if least is None else least
    if spelling.alternatives:
        said = [*(one.memory.content for one in found), *(turn.content for turn in fresh)]
        query = subject_of(spelling.among(said))
        terms = [*query_terms(query), *dated]
    found = related(found, terms, threshold, nearest)
    around, linked = await _around(searcher, sought, found, fresh, degraded)
    found += around
    if "as_of" not in filters:
        found, linked = _with_newer(found, linked)
    found = [candidate for candidate in found if not repeats_question(candidate.memory, asked, at)]
    if least is not None:
        found = [candidate for candidate in found if candidate.similarity is not None and candidate.similarity > least]
    if searcher.settings.use_weight:
        found = await _with_uses(searcher, partition[0], found, degraded)
    best = searcher.settings.rerank if searcher.chat is not None else 0
    found = [replace(one, memory=in_zone(one.memory, searcher.zone)) for one in found]
    hits = rank(
        found,
        query,
        searcher.settings,
        at=at,
        times=times,
        limit=max(limit, best),
        past="as_of" in filters,
        calibration=calibration_of(searcher.embeddings.model_id),
    )
    if searcher.chat is not None and best and len(hits) > 1:
        hits = await _reranked(searcher.chat, hits, best, query, searcher.settings.rerank_timeout, degraded)
    for place, hit in enumerate(hits[:limit], 1):
        similarity = "none" if hit.similarity is None else f"{hit.similarity:.3f}"
        logger.debug("Memory: hit %d %s similarity %s score %.3f", place, hit.memory.id, similarity, hit.score)
    if searcher.misses is not None and vector.result() is not None:
        near = parameters | {"vector": vector.result(), "model": searcher.embeddings.model_id}
        searcher.misses.sample(partition, where, near, threshold, [hit.memory.id for hit in hits[:limit]])
    links_of_best = [linked_hit(replace(one, memory=in_zone(one.memory, searcher.zone))) for one in linked]
    bound = {hit.memory.id: hit for hit in (*binding_hits, *liked)}
    return Found([*hits[:limit], *links_of_best], degraded, orders, [*bound.values()])


async def _reranked(
    chat: ChatModel, hits: Sequence[Hit], best: int, query: str, timeout: float, degraded: list[str]
) -> list[Hit]:
    """The hits, the first `best` of them in the order of a model.

    The relevance figures stay at their ranks: the hit that the model puts first gets the highest one.
    """
    first, failure = await rerank(
        hits[:best], lambda hit: (hit.memory.created_at, hit.memory.content), query, chat, timeout
    )
    relevances = sorted((hit.relevance or 0.0 for hit in first), reverse=True)
    said = "" if failure else RERANKED
    degraded += [f"rerank: {failure}"] if failure else []
    first = [
        hit.model_copy(update={"relevance": one, "explanation": hit.explanation + said})
        for hit, one in zip(first, relevances, strict=True)
    ]
    return [*first, *hits[best:]]


def _unexpired(hits: Sequence[Hit]) -> list[Hit]:
    """The cached hits that have not expired since."""
    return [hit for hit in hits if not hit.memory.is_expired]


def _result_or_raise(result: T | BaseException) -> T:
    """The result of one of several awaited calls; raises its error."""
    if isinstance(result, BaseException):
        raise result
    return result


async def _nothing() -> list[Hit]:
    return []


async def _around(
    searcher: Searcher, sought: Sought, found: Sequence[Candidate], fresh: Sequence[Turn], degraded: list[str]
) -> tuple[list[Candidate], list[Candidate]]:
    """The turns around the best hits and the fresh turns; and what the best are linked to. Nothing if reading fails."""
    known = {candidate.memory.id for candidate in found}
    unknown = [turn for turn in fresh if chunk_id(turn.user_id, turn.thread_id, turn.id) not in known]
    try:
        (beside, linked), said = await asyncio.gather(
            _read_around(searcher, sought, found), as_candidates(searcher, unknown)
        )
    except AgentMemoryError as error:
        logger.warning("The turns around the hits could not be read: %s", error)
        degraded.append(f"neighbours: {error}")
        return [], []
    return [*beside, *said], linked


def _with_newer(found: Sequence[Candidate], linked: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """The hits with the turns that replaced outdated ones of them, and the other linked memories.

    A question in the words of the old value is about the new one, so the newer turn also counts as the older one does.
    """
    outdated = [one for one in found if one.memory.valid_to is not None and one.memory.near_ids]
    older = {one.memory.near_ids[0]: one for one in reversed(outdated)}

    def raised(one: Candidate) -> Candidate:
        old = older.get(one.memory.id)
        if old is None or (end := old.memory.valid_to) is None or one.memory.created_at < end:
            return one
        similarity = max(one.similarity or 0.0, old.similarity or 0.0)
        return replace(one, similarity=similarity, found_by=one.found_by or ("link",), replaced=words_of(old.memory))

    known, others = [raised(one) for one in found], [raised(one) for one in linked]
    return [*known, *(one for one in others if one.replaced)], [one for one in others if not one.replaced]


async def _standing(searcher: Searcher, sought: Sought, degraded: list[str]) -> list[Hit]:
    """The standing instructions that apply to a query; none without a vector."""
    vector = await sought.vector
    if vector is None:
        return []
    sql = search_queries.requirements(sought.where)
    near = await _near(searcher, sought, sql, vector, STANDING_READ, "standing instructions", degraded)
    return applying(near, sought.query, calibration_of(searcher.embeddings.model_id))


async def _conditions(searcher: Searcher, sought: Sought, degraded: list[str]) -> list[Hit]:
    """The conditions that an answer must respect; none without vectors that show what a question is about."""
    calibration = calibration_of(searcher.embeddings.model_id)
    vector = await sought.vector
    if vector is None or calibration.answering is None:
        return []
    try:
        subjects = await searcher.subjects.of(searcher.embeddings)
    except AgentMemoryError as error:
        degraded.append(f"conditions: {error}")
        return []
    sql, asked = search_queries.facts(sought.where), conditions_asked_for(vector, subjects, calibration)
    near = await asyncio.gather(
        *(_near(searcher, sought, sql, one, CONDITIONS_READ, "conditions", degraded) for one in asked)
    )
    return binding([pair for pairs in near for pair in pairs], calibration)


async def _preferred(searcher: Searcher, sought: Sought, asked: str, degraded: list[str]) -> list[Hit]:
    """The preferences that bear on a request for advice; none for other queries, or without a vector."""
    calibration = calibration_of(searcher.embeddings.model_id)
    if not asks_for_advice(asked) or calibration.answering is None:
        return []
    vector = await sought.vector
    if vector is None:
        return []
    sql = search_queries.preferences(sought.where)
    return preferred(await _near(searcher, sought, sql, vector, PREFERENCES_READ, "preferences", degraded), calibration)


async def _near(
    searcher: Searcher, sought: Sought, sql: str, vector: Vector, limit: int, name: str, degraded: list[str]
) -> list[tuple[Memory, float]]:
    """The memories nearest to a vector, with their cosines; none if they cannot be read."""
    try:
        parameters = {**sought.parameters, "vector": vector, "limit": limit}
        near = await searcher.read(sql, sought.partition, parameters)
    except AgentMemoryError as error:
        logger.warning("The %s could not be read: %s", name, error)
        degraded.append(f"{name}: {error}")
        return []
    return [(in_zone(one.memory, searcher.zone), one.similarity or 0.0) for one in near]


async def _with_uses(searcher: Searcher, user_id: str, found: list[Candidate], degraded: list[str]) -> list[Candidate]:
    try:
        uses = await read_uses(searcher.store, user_id)
    except AgentMemoryError as error:
        logger.warning("How often memories were recalled could not be read: %s", error)
        degraded.append(f"uses: {error}")
        return found
    return [replace(candidate, memory=uses.of(candidate.memory)) for candidate in found]


async def _read_around(
    searcher: Searcher, sought: Sought, found: Sequence[Candidate]
) -> tuple[list[Candidate], list[Candidate]]:
    """Reads, in one query, the turns around the best candidates that are not among these.

    Returns the own turns of memories and the neighbours of chunks; and, with links, what the very best are linked to
    (`steps.index`), unless it is one of their neighbours.
    """
    best = [candidate.memory for candidate in found[: searcher.settings.spots]]
    reach = searcher.settings.neighbour_reach
    talk = Talk(candidate.memory for candidate in found)
    spans = spans_around([spot for memory in best if (spot := talk.spot(memory.id)) is not None], reach)
    own = [
        chunk_id(memory.user_id, memory.thread_id, memory.source_turn_ids[-1])
        for memory in best
        if memory.kind != "chunk" and memory.source_turn_ids
    ]
    if not spans and not own:
        return [], []
    first = [candidate.memory for candidate in found[: LINKED if sought.links else 0]]
    to = [near for memory in first for near in memory.near_ids]
    of = [chunk_id(one.user_id, one.thread_id, one.source_turn_ids[0]) for one in first if one.source_turn_ids]
    vector = await sought.vector
    sql = search_queries.chunks_around(
        sought.where, len(spans), similarity=vector is not None, linked=len(of), links=sought.links
    )
    parameters: dict[str, Any] = {**sought.parameters, "ids": [*own, *to]}
    parameters["known"] = [candidate.memory.id for candidate in found]
    parameters |= {f"linked{number}": memory_id for number, memory_id in enumerate(of)}
    if vector is not None:
        parameters["vector"] = vector
    for number, span in enumerate(spans):
        parameters |= {f"thread{number}": span.thread_id, f"from{number}": span.first, f"to{number}": span.last}
    around = await searcher.read(sql, sought.partition, parameters)
    sources = [replace(one, found_by=("source",)) for one in around if one.memory.id in own]
    others = [one for one in around if one.memory.id not in own]
    neighbours = [replace(one, found_by=("neighbour",)) for one in others if is_within(one.memory, spans)]
    return [*sources, *neighbours], [one for one in others if not is_within(one.memory, spans)]
