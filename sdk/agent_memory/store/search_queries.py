"""The queries of searches: by vectors, by words, for the turns around a hit, and for texts with certain words.

A search reads about 80 memories for ten hits, and most of a memory's JSON is field names and common values. So its rows
are short: they have no vectors and no fields that can be derived from others. A row is a list of the fields that differ
between memories, plus an object with unusual fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from itertools import combinations
from typing import Any

from pydantic_core import PydanticUndefined

from agent_memory.models import Memory, content_hash
from agent_memory.store.chunks import CONFIDENCE, IMPORTANCE, quote_of
from agent_memory.store.documents import from_document
from agent_memory.store.queries import (
    ACTIVE,
    CHUNK,
    MEMORY_FIELDS,
    NO_CHUNK,
    NOT_OFF,
    SPOKEN_FIELDS,
    TURN_FIELDS,
    USABLE,
)

_LISTED = ("id", "thread_id", "content", "created_at", "recorded_at", "source", "source_turn_ids", "metadata")
"""The fields that differ between memories, in the order of a row."""
_LINKS = "near_ids"
_OF_CHUNKS = ("valid_to", "agent_id", "project_id", "run_id", "contributor_id")
"""Further fields that a chunk may have."""
_KNOWN = ("user_id", "content_hash", _LINKS)
"""Fields that are known or computed: the hash of the content; and links, unless requested."""
_LIKE_OTHERS = {"valid_from": "c.created_at", "embedding_model": "@model"}
"""Fields that mostly equal another one. A row leaves them out if they do, and has null if they are absent."""
_AS_MADE = (
    'c.kind = "chunk" AND c.embedding_model = @model AND c.valid_from = c.created_at AND ENDSWITH(c.content, c.quote)'
    f" AND c.confidence = {CONFIDENCE} AND c.importance = {IMPORTANCE}"
    " AND ARRAY_LENGTH(c.tags) = 0 AND NOT IS_DEFINED(c.updated_at) AND NOT IS_DEFINED(c.superseded_at)"
)
"""A chunk whose other fields have the values from `store.chunks`; `@model` is the embedding model of the search."""

FOUND_COSINE = "VectorDistance(c.embedding, @vector) AS s"
"""Selects the cosine of a memory to the question, if the query knows its `@vector`."""


@cache
def found_fields(*, links: bool, elsewhere: str | None = None) -> str:
    """The fields that a query selects of each memory, as `m`; `@model` is a parameter. Links only if requested.

    For memories that meet the condition `elsewhere`, which another query reads, only the id.
    """
    # An element that is undefined would move the others.
    listed = ", ".join(f"(c.{name} ?? null)" for name in _LISTED)
    near = (_LINKS,) if links else ()
    others = (name for name in Memory.model_fields if name not in (*_LISTED, *_KNOWN))
    row = f"[{listed}, ({_AS_MADE}) ? {_object(*_OF_CHUNKS, *near)} : {_object(*others, *near)}]"
    return f"{row} AS m" if elsewhere is None else f"({elsewhere} ? c.id : {row}) AS m"


def cosine_of(row: Mapping[str, Any]) -> float | None:
    """The cosine of a row, if its query selected `FOUND_COSINE` and the memory has a vector."""
    return row.get("s")


def read_elsewhere(row: Mapping[str, Any]) -> str | None:
    """The id of a memory, from a row that holds only the id."""
    return row["m"] if isinstance(row["m"], str) else None


def found_memory(row: Mapping[str, Any], user_id: str, model: str) -> Memory:
    """The memory of a row of such a query, over this user and with this embedding model."""
    *listed, more = row["m"]
    known = {name: value for name, value in zip(_LISTED, listed, strict=True) if value is not None}
    made = {
        "user_id": user_id,
        "content_hash": content_hash(known["content"]),
        "valid_from": known["created_at"],
        "embedding_model": model,
    }
    if "type" not in more:
        made |= {
            "type": "episodic",
            "kind": "chunk",
            "confidence": CONFIDENCE,
            "importance": IMPORTANCE,
            "quote": quote_of(known["content"], known["metadata"].get("speaker")),
        }
    return from_document(Memory, {**known, **made, **more})


def _object(*names: str) -> str:
    """An object with those fields of a document that are not as usual."""
    return "{" + ", ".join(f'"{name}": {_unless_usual(name)}' for name in names) + "}"


def _unless_usual(name: str) -> str:
    if name in _LIKE_OTHERS:
        return f"(c.{name} = {_LIKE_OTHERS[name]} ? undefined : (c.{name} ?? null))"
    field = Memory.model_fields[name]
    if field.default_factory is not None:
        return f"(ARRAY_LENGTH(c.{name}) = 0 ? undefined : c.{name})"
    if field.default in (None, PydanticUndefined):
        return f"c.{name}"
    return f"(c.{name} = {json.dumps(field.default)} ? undefined : c.{name})"


_COSINE = "VectorDistance(c.embedding, @vector) AS similarity"
_ALONE = 2
"""Terms that count alone, the rarest; 3 found as much (LoCoMo, REALTALK, BEAM)."""
_PAIRED = 8
"""Maximum terms that are paired, so that a long question makes no long query. A choice."""


def nearest(where: str) -> str:
    """The memories whose vectors are nearest to `@vector`, whole, with their cosine."""
    return _nearest(f"{MEMORY_FIELDS}, {_COSINE}", where)


def found_near(where: str, *, links: bool = False, worded: int = 0) -> str:
    """The same as a search reads them (`store.search_queries`); with their links if requested.

    For those that `found_by_words` also finds by `worded` terms, only the ids: a memory among the nearest is also among
    the nearest with these words.
    """
    elsewhere = _has_words(worded) if worded else None
    return _nearest(f"{found_fields(links=links, elsewhere=elsewhere)}, {FOUND_COSINE}", where)


def found_by_ids(where: str, *, links: bool = False) -> str:
    """Memories by id (`@ids`) as a search reads them, with their cosine."""
    return f"SELECT {found_fields(links=links)}, {FOUND_COSINE} FROM c WHERE c.id IN (@ids) AND {where}"


def _nearest(fields: str, where: str) -> str:
    return (
        f"SELECT TOP @limit {fields} FROM c WHERE {where} AND c.embedding_model = @model"
        " ORDER BY VectorDistance(c.embedding, @vector)"
    )


def nearest_ids(where: str) -> str:
    """The ids of the memories nearest to `@vector`, compared one by one, without the index."""
    return (
        f"SELECT TOP @limit c.id, {_COSINE} FROM c WHERE {where} AND {NO_CHUNK} AND c.embedding_model = @model"
        " ORDER BY VectorDistance(c.embedding, @vector, true)"
    )


def requirements(where: str) -> str:
    """The requirements of a user whose vectors are nearest to `@vector`, with their cosine."""
    return found_near(f'{where} AND c.type = "fact" AND c.kind = "requirement"')


def preferences(where: str) -> str:
    """The preferences and requirements of a user whose vectors are nearest to `@vector`, with their cosine."""
    return found_near(f'{where} AND c.type = "fact" AND c.kind IN ("preference", "requirement")')


def most_important(where: str) -> str:
    """What is known of a user, the most important first, without chunks and accounts of conversations."""
    derived = f'{NO_CHUNK} AND (c.type != "episodic" OR NOT IS_STRING(c.kind) OR c.kind != "session")'
    fields = found_fields(links=False)
    return f"SELECT TOP @limit {fields} FROM c WHERE {where} AND {derived} ORDER BY c.importance DESC"


def within(where: str, times: int, *, any_year: bool = False) -> str:
    """What was said in any of some stretches of time, or is to happen in one of them; the most important first.

    The ends are `@since0` and `@until0`, their days `@day0` and `@end0`, and so on. With `any_year`, the ends lack the
    year ("05-03T00:00"), and what is to happen is left out.
    """
    at = "SUBSTRING(c.created_at, 5, 11)" if any_year else "c.created_at"
    said = [f"({at} >= @since{number} AND {at} < @until{number})" for number in range(times)]
    if not any_year:
        for number in range(times):
            said.append(f"(c.metadata.date >= @day{number} AND c.metadata.date < @end{number})")
            said.append(f"(c.valid_from >= @since{number} AND c.valid_from < @until{number})")
    told = " OR ".join(said)
    return f"SELECT TOP @limit {found_fields(links=False)} FROM c WHERE {where} AND ({told}) ORDER BY c.importance DESC"


def talk_in_order(where: str, *, newest: bool) -> str:
    """The chunks of all conversations but `@current`, the newest or the oldest first."""
    order = "DESC" if newest else "ASC"
    others = 'c.kind = "chunk" AND c.thread_id != @current'
    return (
        f"SELECT TOP @limit {found_fields(links=False)} FROM c WHERE {where} AND {others} ORDER BY c.created_at {order}"
    )


def facts(where: str) -> str:
    """The facts of a user whose vectors are nearest to `@vector`, with their cosine."""
    return found_near(f'{where} AND c.type = "fact"')


def guidance(talk: int, *, project: bool) -> str:
    """The procedures and insights nearest to `@talk`, with their cosines to each of `talk` texts (`@v0`, …).

    Those of a project are included only if it is the current one (`@project`).
    """
    cosines = ", ".join(f"VectorDistance(c.embedding, @v{number}) AS similarity{number}" for number in range(talk))
    of_project = " OR c.project_id = @project" if project else ""
    return (
        f"SELECT TOP @limit {MEMORY_FIELDS}, {cosines} FROM c"
        f' WHERE c.type IN ("procedural", "reflection") AND {USABLE} AND {ACTIVE} AND {NOT_OFF}'
        f" AND (NOT IS_DEFINED(c.project_id) OR IS_NULL(c.project_id){of_project})"
        " AND c.embedding_model = @model ORDER BY VectorDistance(c.embedding, @talk)"
    )


def talk_near(texts: int) -> str:
    """The ids of the user's chunks nearest to `@talk`, with their cosines to each of `texts` texts (`@v0`, …)."""
    cosines = ", ".join(f"VectorDistance(c.embedding, @v{number}) AS similarity{number}" for number in range(texts))
    return (
        f'SELECT TOP @limit c.id, {cosines} FROM c WHERE {CHUNK} AND c.source = "user"'
        " AND c.embedding_model = @model ORDER BY VectorDistance(c.embedding, @talk)"
    )


def found_by_words(where: str, terms: int, *, by_vector: bool, links: bool = False) -> str:
    """The memories that have some of `terms` terms (`@t0` is the rarest): any of the first two, or two others.

    Of three terms, any. Of these the nearest to `@vector`, with their cosine, or else the newest. By words they are
    ranked where they are fused: a rank of the store's (`ORDER BY RANK`) first counts the words of all users of a
    physical partition.
    """
    order = "VectorDistance(c.embedding, @vector)" if by_vector else "c.created_at DESC"
    cosine = f", {FOUND_COSINE}" if by_vector else ""
    return (
        f"SELECT TOP @limit {found_fields(links=links)}{cosine} FROM c"
        f" WHERE {where} AND {_has_words(terms)} ORDER BY {order}"
    )


def _has_words(terms: int) -> str:
    alone = _ALONE if terms > _ALONE + 1 else terms
    rare = [f"FullTextContains(c.content, @t{number})" for number in range(alone)]
    rest = combinations(range(alone, min(terms, _PAIRED)), 2)
    pairs = [f"FullTextContainsAll(c.content, @t{one}, @t{other})" for one, other in rest]
    return f"({' OR '.join([*rare, *pairs])})"


SOME_TEXTS = (
    "SELECT TOP @limit c.thread_id, c.metadata.speaker AS speaker, LEFT(c.content, @longest) AS text FROM c"
    f' WHERE c.type IN ("fact", "episodic", "procedural", "reflection") AND {USABLE} AND {ACTIVE}'
    " ORDER BY c.content_hash"
)
"""Some texts of a user and who said them, in an order unrelated to their content."""


def chunks_around(where: str, spans: int, *, similarity: bool, linked: int = 0, links: bool = False) -> str:
    """Chunks by id (`@ids`), by their links (`@linked0`, …) and by position: `@from0` to `@to0` in `@thread0`, ….

    Without known ones (`@known`). With their cosines if requested, and with their links.
    """
    stretches = "".join(
        f" OR (c.thread_id = @thread{i} AND c.metadata.position >= @from{i} AND c.metadata.position <= @to{i})"
        for i in range(spans)
    )
    to_them = "".join(f" OR ARRAY_CONTAINS(c.near_ids, @linked{i})" for i in range(linked))
    cosine = f", {FOUND_COSINE}" if similarity else ""
    return (
        f"SELECT {found_fields(links=links)}{cosine} FROM c WHERE (c.id IN (@ids){to_them}{stretches})"
        f" AND NOT ARRAY_CONTAINS(@known, c.id) AND {CHUNK} AND {where}"
    )


def fresh_turns(where: str) -> str:
    """The turns since `@since` of at most `@longest` characters, the newest first."""
    return (
        f'SELECT TOP @limit {SPOKEN_FIELDS} FROM c WHERE c._ts >= @since AND c.role IN ("user", "agent")'
        f" AND (NOT IS_DEFINED(c.off_record) OR NOT c.off_record) AND LENGTH(c.content) <= @longest AND {where}"
        " ORDER BY c._ts DESC"
    )


def chunks_that_tell(figures: int) -> str:
    """The chunks that a memory came from (`@turns`), and all in its thread that have its figures (`@f0`, …)."""
    said = " OR ".join(f"CONTAINS(c.content, @f{i})" for i in range(figures)) or "false"
    return (
        "SELECT c.id, c.thread_id, c.content, c.quote, c.source_turn_ids, c.near_ids FROM c"
        f" WHERE {CHUNK} AND c.created_at < @end"
        f" AND (c.source_turn_ids[0] IN (@turns) OR (c.thread_id = @thread AND ({said})))"
    )


def turns_that_say(words: int, *, every: bool) -> str:
    """The turns that hold all (`every`) or any of some words (`@w0`, …), in any case, also inside other words."""
    return f"SELECT {TURN_FIELDS} FROM c WHERE {_says(words, every)}"


TURNS_WITH_PARTS = f"SELECT {TURN_FIELDS} FROM c WHERE IS_DEFINED(c.parts)"


def chunks_that_say(words: int, *, every: bool) -> str:
    """Thread and turn of the chunks that have all or any of some words, likewise."""
    return f"SELECT c.thread_id, c.source_turn_ids[0] AS turn FROM c WHERE {CHUNK} AND ({_says(words, every)})"


def _says(words: int, every: bool) -> str:
    return (" AND " if every else " OR ").join(f"CONTAINS(c.content, @w{i}, true)" for i in range(words))
