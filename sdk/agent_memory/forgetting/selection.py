"""Selection: finds the memories and turns, of any status, that a request to forget is about.

A claim (by id) is found in every wording that `likeness` recognises. A topic (by query) finds what is about it, and the
same claims in other words. A place (thread, project, time range) finds everything said there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from agent_memory.errors import InvalidInput, NotFound
from agent_memory.forgetting.claims import Claims
from agent_memory.forgetting.corpus import Corpus, TurnKey, stand_ins
from agent_memory.forgetting.tombstones import Place
from agent_memory.gathering import a_few
from agent_memory.models import Memory, Turn, iso
from agent_memory.store import queries
from agent_memory.store.chunks import quote_of, words_of
from agent_memory.store.containers import MEMORIES, TURNS
from agent_memory.store.documents import from_document
from agent_memory.store.turns import answers_to
from agent_memory.text.figures import spellings, telling_figures
from agent_memory.text.likeness import cosine, roots, telling_part

AT_ONCE = 8
"""Searches that run at a time."""
SEARCHED = 500
"""How many claims are searched for one by one. Of more, only those that some other text of the user may repeat: reading
all of the user's texts then takes less time than so many searches."""
EMBEDDED = 500
"""Texts that are embedded at a time, which bounds the memory for their vectors."""

HIDING = (*"\u00ad\u034f\u2060\ufeff", *map(chr, range(0x200B, 0x2010)), *map(chr, range(0x202A, 0x202F)))
"""The most common invisible characters. A search by words misses a word with one of them inside."""

NAMED = "named"
"""Why the memory or turn goes whose id was given."""


@dataclass(slots=True)
class Selection:
    """What was found, with reasons. `topic` is what to forget; `claims` are the texts that say it."""

    topic: str
    place: Place
    claims: Claims
    memories: dict[str, str] = field(default_factory=dict)
    turns: dict[TurnKey, str] = field(default_factory=dict)
    texts: dict[TurnKey, Turn] = field(default_factory=dict)

    def add_turn(self, turn: Turn, why: str) -> None:
        """Adds a turn."""
        self.turns.setdefault((turn.thread_id, turn.id), why)
        self.texts[turn.thread_id, turn.id] = turn


async def select_id(corpus: Corpus, item_id: str, place: Place) -> Selection:
    """The memory or turn with this id, and everything that makes the same claim.

    Raises:
        NotFound: if the user has neither.
        InvalidInput: if several threads have such a turn.
    """
    memory = corpus.memories.get(item_id)
    if memory is not None:
        selection = _claim(corpus, memory.content)
        selection.memories[item_id] = NAMED
    else:
        turn = await _turn(corpus, item_id, place)
        selection = _claim(corpus, turn.content)
        selection.add_turn(turn, NAMED)
    await _add_other_wordings(corpus, selection)
    return selection


def _claim(corpus: Corpus, text: str) -> Selection:
    return Selection(text, Place(), Claims([text], corpus.likeness.limits))


async def _turn(corpus: Corpus, item_id: str, place: Place) -> Turn:
    chunk_sql = queries.MEMORY_BY_ID.format(types='"episodic"')
    rows = await corpus.store.query(MEMORIES, chunk_sql, (corpus.user_id,), id=item_id)
    if rows:
        turns = await corpus.read_turns([(rows[0]["thread_id"], rows[0]["source_turn_ids"][0])])
    else:
        partition = (corpus.user_id, place.thread_id) if place.thread_id else (corpus.user_id,)
        found = await corpus.store.query(TURNS, queries.TURN_BY_ID, partition, id=item_id)
        turns = [from_document(Turn, row) for row in found] or await corpus.indexed_turns(partition, [item_id])
        if not turns:
            turns = await corpus.read_turns(await corpus.not_indexed(item_id))
    if not turns:
        raise NotFound(f"no memory or turn in this scope has the id {item_id}")
    if len(turns) > 1:
        raise InvalidInput(f"several threads have a turn {item_id}: name the thread too")
    return turns[0]


async def select_query(corpus: Corpus, topic: str, place: Place) -> Selection:
    """What is about a topic, by words or meaning, and the same claims in other words."""
    like = corpus.likeness
    selection = Selection(topic, place, Claims([], like.limits))
    found: dict[TurnKey, None] = {}
    for memory, similarity in await corpus.nearest((await corpus.embed([topic]))[topic]):
        if not like.about(topic, words_of(memory), similarity) or not _lies_in(place, memory):
            continue
        if memory.kind == "chunk":
            if not _says_something_else(corpus, memory, topic):
                found[memory.thread_id, memory.source_turn_ids[0]] = None
        else:
            selection.memories[memory.id] = "about it"
    for memory in corpus.memories.values():
        if like.about(topic, memory.content, None) and _lies_in(place, memory):
            selection.memories.setdefault(memory.id, "about it")
    said = await corpus.turns_that_say(sorted(roots(topic)), every=True)
    said += await corpus.turns_that_say(HIDING, every=False)
    for turn in said:
        if like.about(topic, turn.content, None) and _lies_in(place, turn):
            selection.add_turn(turn, "about it")
    for turn in await corpus.read_turns(set(found) - set(selection.turns)):
        selection.add_turn(turn, "about it")
    claims = [corpus.memories[memory_id].content for memory_id in selection.memories]
    claims += [telling_part(turn.content, topic) for turn in selection.texts.values() if turn.role == "user"]
    selection.claims = Claims(claims, like.limits)
    await _add_other_wordings(corpus, selection)
    return selection


def _says_something_else(corpus: Corpus, reply: Memory, topic: str) -> bool:
    """Whether the question before a short reply is about the topic, but no memory derived from the reply is.

    Without such a memory the reply may say something about the topic: "Yes, on Tuesday".
    """
    if "asked" not in reply.metadata or corpus.likeness.about(topic, words_of(reply), None):
        return False
    turn = (reply.thread_id, reply.source_turn_ids[0])
    derived = [
        one for one in corpus.memories.values() if any((one.thread_id, of) == turn for of in one.source_turn_ids)
    ]
    return bool(derived) and not any(corpus.likeness.about(topic, one.content, None) for one in derived)


async def select_place(corpus: Corpus, place: Place, limit: int) -> Selection:
    """Up to `limit` turns that were said in a place, or their chunks, and the place's memories."""
    selection = Selection("", place, Claims([], corpus.likeness.limits))
    bounds: dict[str, Any] = {"project": place.project_id}
    bounds |= {"since": place.since and iso(place.since), "until": place.until and iso(place.until)}
    given = {name: value is not None for name, value in bounds.items()}
    values = {name: value for name, value in bounds.items() if value is not None} | {"limit": limit}
    partition = (corpus.user_id, place.thread_id) if place.thread_id else (corpus.user_id,)
    rows = await corpus.store.query(TURNS, queries.turns_of(**given), partition, **values)
    turns = [from_document(Turn, row) for row in rows]
    for turn in turns:
        selection.add_turn(turn, "said there")
    if len(turns) < limit:
        rows = await corpus.store.query(MEMORIES, queries.chunks_of(**given), partition, **values)
        for turn in stand_ins([from_document(Memory, row) for row in rows]):
            if (turn.thread_id, turn.id) not in selection.turns:
                selection.add_turn(turn, "said there")
    selection.memories = {m.id: "of that place" for m in corpus.memories.values() if _lies_in(place, m)}
    for memory in corpus.memories.values():
        if memory.id not in selection.memories and await _covers_expired_turns(corpus, place, memory):
            selection.memories[memory.id] = "is from that time, and its sources have expired"
    return selection


async def _covers_expired_turns(corpus: Corpus, place: Place, memory: Memory) -> bool:
    """Whether the episode of a session began in a place and ended after it, and some of its turns have expired.

    Turns that still exist are found by their own times.
    """
    match memory.metadata:
        case {"date_range": {"start": str(start)}} if memory.kind == "session":
            begins_late = place.until is not None and start > iso(place.until)
        case _:
            return False
    if begins_late or not _lies_in(replace(place, until=None), memory):
        return False
    partition = (corpus.user_id, memory.thread_id)
    there = await corpus.store.query(TURNS, queries.IDS_THAT_EXIST, partition, ids=memory.source_turn_ids)
    return len(there) < len(memory.source_turn_ids)


async def _add_other_wordings(corpus: Corpus, selection: Selection) -> None:
    """Adds what makes the same claims: memories and chunks by meaning, memories and turns by figures."""
    like, place = corpus.likeness, selection.place
    chunks: dict[TurnKey, None] = {}
    claims = selection.claims.texts
    if len(claims) > SEARCHED:
        claims = await _repeated_elsewhere(corpus, selection)
    for start in range(0, len(claims), EMBEDDED):
        vectors = await corpus.embed(claims[start : start + EMBEDDED])
        found = await a_few((partial(corpus.nearest, vector) for vector in vectors.values()), AT_ONCE)
        hits = [(claim, *hit) for claim, near in zip(vectors, found, strict=True) for hit in near]
        for claim, memory, similarity in hits:
            said = (memory.thread_id, memory.source_turn_ids[0]) if memory.kind == "chunk" else None
            if memory.id in selection.memories or said in chunks or said in selection.turns:
                continue  # so most are not compared: the claims about a topic find each other
            if not like.same_claim(claim, words_of(memory), similarity) or not _lies_in(place, memory):
                continue
            if said is not None:
                chunks[said] = None
            else:
                selection.memories[memory.id] = "the same in other words"
    told = selection.claims.figures
    for memory in corpus.memories.values():
        if told & telling_figures(memory.content) and _lies_in(place, memory):
            selection.memories.setdefault(memory.id, "has the same figure")
    words = [spelling for figure in sorted(told) for spelling in spellings(figure)]
    for turn in await corpus.turns_that_say(words, every=False):
        if told & telling_figures(turn.content) and _lies_in(place, turn):
            selection.add_turn(turn, "has the same figure")
    for turn in await corpus.read_turns(set(chunks) - set(selection.turns)):
        selection.add_turn(turn, "the same in other words")


async def _repeated_elsewhere(corpus: Corpus, selection: Selection) -> list[str]:
    """The claims that a memory or a chunk outside the selection may repeat in other words."""
    others = [memory.content for memory in corpus.memories.values() if memory.id not in selection.memories]
    for row in await corpus.store.query(MEMORIES, queries.WORDS_OF_CHUNKS, (corpus.user_id,)):
        if (row["thread_id"], row["turn"]) not in selection.turns:
            others.append(row["quote"] if "quote" in row else quote_of(row["content"], None))
    repeated = {claim for text in dict.fromkeys(others) for claim in selection.claims.repeated_by(text)}
    return [claim for claim in selection.claims if claim in repeated]


async def add_answers(corpus: Corpus, selection: Selection) -> None:
    """Adds the agent's answers to the selected user turns, if they repeat what is forgotten. Other answers stay."""
    by_thread: dict[str, list[Turn]] = {}
    for key, turn in selection.texts.items():
        if turn.role == "user" and key in selection.turns:
            by_thread.setdefault(turn.thread_id, []).append(turn)
    pairs: list[tuple[str, str, Turn]] = []
    for thread_id, asked in by_thread.items():
        found = await answers_to(corpus.store, asked)
        told = {turn.id: telling_part(turn.content, selection.topic) for turn in asked}
        new = [(thread_id, turn_id) for turn_id in found if (thread_id, turn_id) not in selection.turns]
        for answer in await corpus.read_turns(new):
            said = told[found[answer.id]]
            pairs.append((said, telling_part(answer.content, f"{said} {selection.topic}"), answer))
    topic, like = selection.topic, corpus.likeness
    # Where the words decide, no meaning is compared.
    undecided = [
        (said, part)
        for said, part, _ in pairs
        if like.takes_up(topic, said, part, 1.0) != like.takes_up(topic, said, part, 0.0)
    ]
    vectors = await corpus.embed(text for pair in undecided for text in pair)
    for said, part, answer in pairs:
        near = cosine(vectors[said], vectors[part]) if said in vectors and part in vectors else 0.0
        if _lies_in(selection.place, answer) and like.takes_up(topic, said, part, near):
            selection.add_turn(answer, "an answer that repeats what is deleted")


async def read_texts(corpus: Corpus, selection: Selection) -> None:
    """Reads the turns that a selection knows only by id."""
    for turn in await corpus.read_turns(set(selection.turns) - set(selection.texts)):
        selection.texts[turn.thread_id, turn.id] = turn


def _lies_in(place: Place, item: Memory | Turn) -> bool:
    return (
        (place.thread_id is None or item.thread_id == place.thread_id)
        and (place.project_id is None or place.project_id in _projects(item))
        and (place.since is None or item.created_at >= place.since)
        and (place.until is None or item.created_at <= place.until)
    )


def _projects(item: Memory | Turn) -> list[str | None]:
    """The projects of an item; only the episode of a session can have several."""
    match item:
        case Memory(kind="session", metadata={"project_ids": [*projects]}):
            return [*projects, item.project_id]
        case _:
            return [item.project_id]
