"""The two parallel queries of a search: one by the question's vector, one by its rare words.

Both queries stay within the user's part of the key. `recall.fusion`, which has the texts, fuses them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_memory.errors import AgentMemoryError, ConfigurationError
from agent_memory.language.tasks import Vector
from agent_memory.recall.fusion import Candidate
from agent_memory.recall.phrasing import between, in_first_person
from agent_memory.recall.searcher import Searcher
from agent_memory.store import search_queries

logger = logging.getLogger("agent_memory")


@dataclass(frozen=True, slots=True)
class Sought:
    """The query of a search.

    `terms` are its distinctive words, the rarest first. `where` and `parameters` are its filters. `vector` gives the
    question's vector, or None if there is none. With `links`, the links of what is found are read too.
    """

    partition: Sequence[str]
    query: str
    terms: Sequence[str]
    where: str
    parameters: Mapping[str, Any]
    vector: Awaitable[Vector | None]
    links: bool


async def vector_of(
    searcher: Searcher, query: str, typed: str, speakers: Collection[str], degraded: list[str]
) -> Vector | None:
    """The vector of a question; None (noted) if there is none in time.

    It lies between those of two forms if the question names a speaker (`recall.phrasing`), or else if it was typed in
    other words (`recall.spelling`).
    """
    in_person = in_first_person(query, speakers)
    try:
        texts = list(dict.fromkeys([typed if in_person == query else query, in_person]))
        return between(*(await searcher.embeddings.embed(texts)).vectors)
    except AgentMemoryError as error:
        logger.warning("Embedding of a query failed, searching by text only: %s", error)
        degraded.append(f"vector search: {error}")
        return None


async def matching(searcher: Searcher, sought: Sought, degraded: list[str]) -> list[Candidate]:
    """Memories that are similar to a question or have its words. If one query fails, the other's results.

    Raises:
        AgentMemoryError: if both fail.
    """
    terms = {f"t{number}": term for number, term in enumerate(sought.terms)}
    arms = {"vector search": _near(searcher, sought, terms), "text search": _worded(searcher, sought, terms)}
    read = dict(zip(arms, await asyncio.gather(*arms.values(), return_exceptions=True), strict=True))
    found: dict[str, Candidate] = {}
    left: list[str] = []
    failed: dict[str, AgentMemoryError] = {}
    for arm, result in read.items():
        if isinstance(result, AgentMemoryError):
            failed[arm] = result
        elif isinstance(result, BaseException):
            raise result
        elif result is not None:
            found = {candidate.memory.id: candidate for candidate in result[0]} | found
            left += result[1]
    if failed and all(result is None or arm in failed for arm, result in read.items()):
        raise next(iter(failed.values()))
    for arm, error in failed.items():
        logger.warning("Searching without %s: %s", arm, error)
        degraded.append(f"{arm}: {error}")
    if missing := [memory_id for memory_id in left if memory_id not in found]:
        found |= await _missing(searcher, sought, missing, degraded)
    return list(found.values())


Read = tuple[list[Candidate], list[str]]
"""Candidates, and the ids of those that the other query reads."""


async def _near(searcher: Searcher, sought: Sought, terms: Mapping[str, str]) -> Read | None:
    """The memories nearest to the question; None if it has no vector."""
    vector = await sought.vector
    if vector is None:
        return None
    parameters = {**sought.parameters, "vector": vector, "limit": searcher.settings.nearest}
    sql = search_queries.found_near(sought.where, links=sought.links, worded=len(terms))
    try:
        return await searcher.read_known(sql, sought.partition, {**parameters, **terms})
    except ConfigurationError:  # such as a store that takes no queries for words
        if not terms:
            raise
        return await _near(searcher, sought, {})


async def _worded(searcher: Searcher, sought: Sought, terms: Mapping[str, str]) -> Read | None:
    """Memories with rare words of the question: the nearest, or without a vector the newest. None without words."""
    if not terms:
        return None
    vector = await sought.vector
    sql = search_queries.found_by_words(sought.where, len(terms), by_vector=vector is not None, links=sought.links)
    candidates = searcher.settings.candidates
    parameters: dict[str, Any] = {"limit": candidates if vector is None else candidates - searcher.settings.nearest}
    if vector is not None:
        parameters["vector"] = vector
    return await searcher.read_known(sql, sought.partition, {**sought.parameters, **parameters, **terms})


async def _missing(searcher: Searcher, sought: Sought, ids: Sequence[str], degraded: list[str]) -> dict[str, Candidate]:
    """Memories that the vector query left to the word query, which missed them: it failed, or its index is inexact."""
    sql = search_queries.found_by_ids(sought.where, links=sought.links)
    try:
        found = await searcher.read(
            sql, sought.partition, {**sought.parameters, "ids": ids, "vector": await sought.vector}
        )
    except AgentMemoryError as error:
        logger.warning("Some of what is near to the question could not be read: %s", error)
        degraded.append(f"vector search: {error}")
        return {}
    return {candidate.memory.id: candidate for candidate in found}
