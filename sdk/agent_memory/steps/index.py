"""Index: makes the raw conversation searchable, without touching turns (docs/decisions/0021).

A chunk is one turn with its date and speaker in the text, and with its speaker in the vector: next to a search by
words, a date in the vector does harm (LoCoMo, all-MiniLM-L6-v2: evidence among the first ten 81.6 without, 80.6 with
it). Windows of several turns lower recall, so neighbours are added when searching instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent_memory.forgetting.tombstones import forgotten_turns
from agent_memory.language.aside import aside
from agent_memory.models import ProcessResult, Turn
from agent_memory.screening.injected import without_injected
from agent_memory.screening.screen import Spoken, screen_talk
from agent_memory.steps.effects import Effects
from agent_memory.steps.gather import StepRequest, Tools, TurnRange, on_record
from agent_memory.steps.links import linked
from agent_memory.steps.over_turns import over_turns
from agent_memory.steps.pieces import cut
from agent_memory.steps.step import Step
from agent_memory.store.chunks import SHORTEST, Asked, chunk_of, spoken
from agent_memory.store.documents import to_document
from agent_memory.store.turns import turns_before
from agent_memory.text.folding import folded
from agent_memory.text.replies import is_short, question_in

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
    """Embeds turns.

    Raises:
        ModelError: if the embedding model is unavailable.
    """
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
    """For each short reply among turns in their order: the question of another speaker that it answers.

    Costs two queries if the first of the turns is a reply, to read what was said before it; else none.
    """
    asked: dict[str, Asked] = {}
    for number, turn in enumerate(turns):
        if turn.role != "user" or turn.id not in kept or not is_short(kept[turn.id].words):
            continue
        before = turns[number - 1] if number else await _turn_before(tools, turn)
        if before is None or (before.role, before.name) == (turn.role, turn.name):
            continue
        said = kept.get(before.id) if number else _screened(before, tools)
        question = question_in(said.words) if said is not None else None
        if question is not None:
            asked[turn.id] = Asked(before.id, question)
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
    """The texts of a run in short parts, in longer ones where short ones would be too many of one text or of all."""
    longest = PART
    while True:
        parts = {key: list(cut(text, longest)) for key, text in texts.items()}
        most, total = max(map(len, parts.values()), default=0), sum(map(len, parts.values()))
        if longest == LONGEST_PART or (most <= MOST_PARTS and total <= MOST_CHUNKS):
            return parts
        longest = min(2 * longest, LONGEST_PART)
