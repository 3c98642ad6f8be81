"""Links: which earlier turns are similar in meaning to those indexed now (docs/decisions/0027).

A link only claims similarity. The times show which of two linked turns is newer, and whether the newer one is relevant
to a question is decided when it is asked (`recall.changes`). So a link is correct in any order of arrival, and a wrong
or missing one loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_memory.calibration import calibration_of
from agent_memory.language.tasks import Vector
from agent_memory.models import Memory
from agent_memory.steps.gather import Tools
from agent_memory.store import search_queries
from agent_memory.store.containers import MEMORIES
from agent_memory.text.likeness import cosine, middle

LINKS = 3
"""Links of one chunk: of 75 labelled changes in 20 short conversations, 43 have the turn with the old value nearest of
all earlier ones, 59 among the nearest three, 65 among five."""
MOST_LINKED = 10
"""Maximum chunks of one run that are compared with stored ones: each vector takes up to 30 KB of the query."""
NEAREST = 60
"""Number of stored chunks that are compared with those of a run. A choice."""


async def linked(tools: Tools, user_id: str, chunks: Sequence[Memory], vectors: Sequence[Vector]) -> list[Memory]:
    """The chunks of a run, with the ids of the most similar chunks, stored or earlier in the run.

    Only users' turns are linked, and of a long turn only the first part. Costs one vector query, and no model call.
    """
    turns: dict[str, tuple[str, Vector]] = {}
    for chunk, vector in zip(chunks, vectors, strict=True):
        if chunk.source == "user":
            turns.setdefault(chunk.source_turn_ids[0], (chunk.id, vector))
    own = dict(turns.values())
    floor = calibration_of(tools.embeddings.model_id).search
    near = await _stored(tools, user_id, dict(list(own.items())[:MOST_LINKED]))
    links: dict[str, list[str]] = {}
    for place, (chunk_id, vector) in enumerate(own.items()):
        said = {earlier: cosine(own[earlier], vector) for earlier in list(own)[:place]}
        said |= {
            other: cosines[chunk_id] for other, cosines in near.items() if chunk_id in cosines and other not in own
        }
        best = sorted((one for one in said if said[one] >= floor), key=lambda one: (-said[one], one))
        links[chunk_id] = best[:LINKS]
    return [chunk.model_copy(update={"near_ids": links[chunk.id]}) if chunk.id in links else chunk for chunk in chunks]


async def _stored(tools: Tools, user_id: str, vectors: Mapping[str, Vector]) -> dict[str, dict[str, float]]:
    """The cosines of stored chunks to these, by id."""
    if not vectors:
        return {}
    names = {f"v{number}": chunk_id for number, chunk_id in enumerate(vectors)}
    rows = await tools.store.query(
        MEMORIES,
        search_queries.talk_near(len(vectors)),
        (user_id,),
        limit=NEAREST,
        model=tools.embeddings.model_id,
        talk=middle(list(vectors.values())),
        **{name: vectors[chunk_id] for name, chunk_id in names.items()},
    )
    return {row["id"]: {chunk_id: row[f"similarity{name[1:]}"] for name, chunk_id in names.items()} for row in rows}
