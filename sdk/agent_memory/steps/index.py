"""Index: makes the raw conversation searchable, without touching turns (docs/decisions/0021).

A chunk is one turn with its date and speaker in the text, and with its speaker in the vector: next to a search by
words, a date in the vector does harm (LoCoMo, all-MiniLM-L6-v2: evidence among the first ten 81.6 without, 80.6 with
it). Windows of several turns lower recall, so neighbours are added when searching instead.

A chunk is linked to the earlier ones that are similar in meaning (docs/decisions/0027). A link only claims similarity.
The times show which of two linked turns is newer, and whether the newer one is relevant to a question is decided when
it is asked (`recall.changes`). So a link is correct in any order of arrival, and a wrong or missing one loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_memory.calibration import calibration_of
from agent_memory.forgetting.tombstones import forgotten_turns
from agent_memory.language.aside import aside
from agent_memory.language.tasks import Vector
from agent_memory.models import Memory, ProcessResult, Turn
from agent_memory.screening.injected import without_injected
from agent_memory.screening.screen import Spoken, screen_talk
from agent_memory.steps.gather import StepRequest, Tools, TurnRange, cut, on_record
from agent_memory.steps.over_turns import over_turns
from agent_memory.steps.step import Effects, Step
from agent_memory.store import search_queries
from agent_memory.store.chunks import SHORTEST, Asked, chunk_of, spoken
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import to_document
from agent_memory.store.turns import turns_before
from agent_memory.text.folding import folded
from agent_memory.text.likeness import cosine, middle
from agent_memory.text.replies import corrected_in, is_short, question_in

NAME = "index"
PART = 1000
"""Bytes of text in one chunk; a longer turn becomes several. The embedded model reads 256 tokens, about as much.

LoCoMo with up to 30 turns put together in one: evidence among the first five turns 66.1 in 100 with parts of 1,000,
64.1 of 2,000, 61.5 of 8,000; and its own words are in 44.7, 33.2 and 25.3 of 100 contexts of 650 tokens.
"""
MOST_PARTS = 24
"""Chunks of one turn at most: a commit holds 2 MB, and a vector of 1,536 numbers takes 30 KB of it."""
MOST_CHUNKS = 80
"""Chunks of all turns of a run together. A commit holds 100 operations."""
LONGEST_PART = 8000
"""Bytes in each part of a very long turn, as much as embedding models read."""


async def derive(tools: Tools, request: StepRequest, found: TurnRange) -> Effects:
    """Embeds turns. Raises ModelError if the embedding model is unavailable."""
    forgotten = await forgotten_turns(tools.store, tools.embeddings, request.user_id, found.turns)
    kept = {
        turn.id: await aside(_screened, turn, tools)
        for turn in found.turns
        if turn.role in ("user", "agent") and turn.id not in forgotten
    }
    parts = await aside(parts_of, {turn_id: talk.words for turn_id, talk in kept.items()})
    too_long = [
        f"a turn of {len(turn.content)} characters is indexed up to {MOST_PARTS * LONGEST_PART} bytes"
        for turn in found.turns
        if len(parts.get(turn.id, [])) > MOST_PARTS
    ]
    asked = await _asked(tools, found.turns, kept)
    chunks = [
        chunk_of(
            turn,
            part,
            tools.embeddings.model_id,
            name=kept[turn.id].name,
            position=position,
            number=number,
            asked=asked.get(turn.id),
        )
        for position, turn in enumerate(found.turns, found.before.cursor.count)
        for number, part in enumerate(parts.get(turn.id, [])[:MOST_PARTS])
        if len(part) >= SHORTEST or turn.id in asked
    ]
    embedded = await tools.embeddings.embed([spoken(chunk) for chunk in chunks])
    chunks = await linked(tools, request.user_id, chunks, embedded.vectors)
    return Effects(
        result=ProcessResult(step=NAME, created=len(chunks), rejected=too_long, usage=embedded.usage),
        create=[to_document(chunk, vector) for chunk, vector in zip(chunks, embedded.vectors, strict=True)],
        new_chunks=[chunk.id for chunk in chunks],
    )


STEP = Step(name=NAME, scope="thread", think=over_turns(derive), files_talk=True)


async def _asked(tools: Tools, turns: Sequence[Turn], kept: Mapping[str, Spoken]) -> dict[str, Asked]:
    """For each short reply among turns in their order: the question that it answers, or the statement that it corrects.

    Only another speaker's question is answered.

    Costs two queries if the first of the turns is a reply, to read what was said before it; else none.
    """
    asked: dict[str, Asked] = {}
    for number, turn in enumerate(turns):
        if turn.role != "user" or turn.id not in kept or not is_short(kept[turn.id].words):
            continue
        before = turns[number - 1] if number else await _turn_before(tools, turn)
        if before is None:
            continue
        said = kept.get(before.id) if number else await aside(_screened, before, tools)
        if said is None:
            continue
        is_other = (before.role, before.name) != (turn.role, turn.name)
        words = (question_in(said.words) if is_other else None) or corrected_in(said.words, kept[turn.id].words)
        if words is not None:
            asked[turn.id] = Asked(before.id, words)
    return asked


async def _turn_before(tools: Tools, turn: Turn) -> Turn | None:
    """The turn just before one in its thread, if it exists, is on the record and not forgotten."""
    before = on_record(await turns_before(tools.store, turn, 1))
    gone = await forgotten_turns(tools.store, tools.embeddings, turn.user_id, before) if before else set()
    return next((one for one in before if one.id not in gone and one.role in ("user", "agent")), None)


def _screened(turn: Turn, tools: Tools) -> Spoken:
    """The words and the speaker that pass the screen.

    The screen reads a turn before it is cut, because it recognises a key over many lines, or a forbidden subject, only
    in the whole.
    """
    blocks = cut(without_injected(folded(turn.content)).strip(), LONGEST_PART)
    passed = [talk for block in blocks if (talk := screen_talk(turn, block, tools.rules, tools.policy)) is not None]
    names = {talk.name for talk in passed}
    return Spoken(names.pop() if len(names) == 1 else None, "".join(talk.words for talk in passed))


def parts_of(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Cuts the texts of a run into short parts, or into longer ones if one text or the run would have too many."""
    longest = PART
    while True:
        parts = {key: list(cut(text, longest)) for key, text in texts.items()}
        most, total = max(map(len, parts.values()), default=0), sum(map(len, parts.values()))
        if longest == LONGEST_PART or (most <= MOST_PARTS and total <= MOST_CHUNKS):
            return parts
        longest = min(2 * longest, LONGEST_PART)


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
