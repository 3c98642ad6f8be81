"""Selection: finds the memories and turns, of any status, that a request to forget is about.

A claim (by id) is found in every wording that `likeness` recognises. A topic (by query) finds what is about it, and the
same claims in other words. A place (thread, project, time range) finds everything said there.

Turns may expire before their chunks. Then the chunks are used instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from agent_memory.errors import InvalidInput, NotFound
from agent_memory.forgetting.claims import Claims
from agent_memory.forgetting.tombstones import Place
from agent_memory.gathering import a_few
from agent_memory.language.tasks import EmbeddingModel, Vector
from agent_memory.models import Memory, Turn, iso
from agent_memory.models.parts import text_of_parts
from agent_memory.store import queries, search_queries
from agent_memory.store.chunks import chunk_id, quote_of, words_of
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, TURNS
from agent_memory.store.documents import Document, from_document, in_groups
from agent_memory.store.turns import answers_to, turns_by_id
from agent_memory.text.figures import spellings, telling_figures
from agent_memory.text.likeness import Likeness, cosine, roots, telling_part

NEAREST = 100
"""How many memories and chunks are compared with a claim or a topic by meaning."""
AT_ONCE = 8
"""Searches that run at a time."""
SEARCHED = 500
"""How many claims are searched for one by one. Of more, only those that some other text of the user may repeat: reading
all of the user's texts then takes less time than so many searches."""
EMBEDDED = 500
"""Texts that are embedded at a time, which bounds the memory for their vectors."""

HIDING = (*"\u00ad\u034f\u2060\ufeff", *map(chr, range(0x200B, 0x2010)), *map(chr, range(0x202A, 0x202F)))
"""The most common invisible characters. A search by words misses a word with one of them inside."""

WORDS_AT_ONCE = 100
"""Maximum words that one query looks for. Cosmos DB accepts 512 KB of text in a query; this keeps far below it."""

NAMED = "named"
"""Why the memory or turn goes whose id was given."""
TurnKey = tuple[str, str]
"""The thread and the id of a turn; the id is unique only within the thread."""


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


@dataclass(frozen=True, slots=True)
class Corpus:
    """The texts of one user: the store, the memories by id (without chunks), and how to compare texts."""

    store: Store
    embeddings: EmbeddingModel
    user_id: str
    memories: dict[str, Memory]
    """All, and those that a search found because they were written meanwhile."""
    chunks: dict[str, Memory] = field(default_factory=dict)
    """Those that a search found. Many searches find the same ones."""

    @property
    def likeness(self) -> Likeness:
        """The thresholds for comparing texts."""
        return Likeness.of(self.embeddings.model_id)

    async def embed(self, texts: Iterable[str]) -> dict[str, Vector]:
        """The vectors of texts."""
        unique = list(dict.fromkeys(texts))
        return dict(zip(unique, (await self.embeddings.embed(unique)).vectors, strict=True))

    async def nearest(self, vector: Vector) -> list[tuple[Memory, float]]:
        """The memories and chunks nearest to a vector, with their cosines."""
        rows = await self.store.query(
            MEMORIES,
            queries.NEAREST_OF_ALL,
            (self.user_id,),
            vector=vector,
            model=self.embeddings.model_id,
            limit=NEAREST,
        )
        return [(self._memory(row), row["similarity"]) for row in rows]

    def _memory(self, row: Document) -> Memory:
        known = self.memories.get(row["id"]) or self.chunks.get(row["id"])
        if known is None:
            known = from_document(Memory, row)
            (self.chunks if known.kind == "chunk" else self.memories)[known.id] = known
        return known

    async def turns_that_say(self, words: Sequence[str], *, every: bool) -> list[Turn]:
        """The turns that hold all, or any, of some words, in their content or in the text of their parts.

        The query names up to `WORDS_AT_ONCE` words. Of more words that a turn must hold, it names the longest; of more
        words any of which it may hold, none. So the caller must check what was found.
        """
        if not words:
            return []
        if len(words) > WORDS_AT_ONCE and not every:
            return await self._every_turn()
        asked = sorted(words, key=len, reverse=True)[:WORDS_AT_ONCE]
        turns = await self._content_says(asked, every=every) + await self._parts_that_say(asked, every=every)
        return list({(turn.thread_id, turn.id): turn for turn in turns}.values())

    async def _every_turn(self) -> list[Turn]:
        """All turns with the text of their parts, or their chunks where they have expired."""
        rows = await self.store.query(TURNS, queries.EVERY_TURN, (self.user_id,))
        turns = [_with_parts(from_document(Turn, row)) for row in rows]
        chunks = await self.store.query(MEMORIES, queries.TURNS_OF_CHUNKS, (self.user_id,))
        expired = {(row["thread_id"], row["turn"]) for row in chunks} - {(turn.thread_id, turn.id) for turn in turns}
        return turns + await self.read_turns(expired)

    async def _content_says(self, words: Sequence[str], *, every: bool) -> list[Turn]:
        named = {f"w{number}": word for number, word in enumerate(words)}
        sql = search_queries.turns_that_say(len(words), every=every)
        turns = [from_document(Turn, row) for row in await self.store.query(TURNS, sql, (self.user_id,), **named)]
        sql = search_queries.chunks_that_say(len(words), every=every)
        indexed = {
            (row["thread_id"], row["turn"]) for row in await self.store.query(MEMORIES, sql, (self.user_id,), **named)
        }
        return turns + await self.read_turns(indexed - {(turn.thread_id, turn.id) for turn in turns})

    async def _parts_that_say(self, words: Sequence[str], *, every: bool) -> list[Turn]:
        """The turns whose parts hold such words: a content that was given with them need not repeat their text."""
        matches = all if every else any
        found = []
        for row in await self.store.query(TURNS, search_queries.TURNS_WITH_PARTS, (self.user_id,)):
            turn = from_document(Turn, row)
            text = text_of_parts(turn.parts or ())
            if matches(word.casefold() in text.casefold() for word in words):
                found.append(_with_parts(turn))
        return found

    async def read_turns(self, keys: Iterable[TurnKey]) -> list[Turn]:
        """These turns, or their chunks where they have expired."""
        by_thread: dict[str, list[str]] = {}
        for thread_id, turn_id in sorted(keys):
            by_thread.setdefault(thread_id, []).append(turn_id)
        turns = []
        for thread_id, ids in by_thread.items():
            for some in in_groups(ids):
                found = await turns_by_id(self.store, self.user_id, thread_id, some)
                gone = set(some) - {turn.id for turn in found}
                turns += found + await self.indexed_turns((self.user_id, thread_id), gone)
        return turns

    async def not_indexed(self, named: str) -> list[TurnKey]:
        """The turn whose chunk will have this id. A search shows a new turn under this id before it is indexed."""
        if not named.startswith("chunk_"):
            return []
        rows = await self.store.query(TURNS, queries.TURN_KEYS, (self.user_id,))
        keys: list[TurnKey] = [(row["thread_id"], row["id"]) for row in rows]
        return [key for key in keys if chunk_id(self.user_id, *key) == named]

    async def indexed_turns(self, partition: Sequence[str], ids: Iterable[str]) -> list[Turn]:
        """The chunks of turns with these ids, as turns, in a thread or of the user."""
        wanted = sorted(ids)
        if not wanted:
            return []
        rows = await self.store.query(MEMORIES, queries.CHUNKS_OF_TURNS, partition, turns=wanted)
        return stand_ins([from_document(Memory, row) for row in rows])


def _with_parts(turn: Turn) -> Turn:
    """The turn with the text of its parts in its content, if that says something else."""
    text = text_of_parts(turn.parts or ())
    return turn if text in ("", turn.content) else turn.model_copy(update={"content": f"{turn.content}\n{text}"})


async def open_corpus(store: Store, embeddings: EmbeddingModel, user_id: str) -> Corpus:
    """Reads all memories of a user, without vectors and without chunks."""
    rows = await store.query(MEMORIES, queries.EVERY_MEMORY, (user_id,))
    memories = [from_document(Memory, row) for row in rows]
    return Corpus(store, embeddings, user_id, {memory.id: memory for memory in memories})


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


def stand_ins(chunks: Iterable[Memory]) -> list[Turn]:
    """Turns made from chunks: one for each turn, with the words of all its chunks."""
    turns: dict[TurnKey, Turn] = {}
    for chunk in chunks:
        key = (chunk.thread_id, chunk.source_turn_ids[0])
        known = turns.get(key)
        turns[key] = Turn(
            id=key[1],
            user_id=chunk.user_id,
            thread_id=chunk.thread_id,
            role="agent" if chunk.source == "agent" else "user",
            content=words_of(chunk) if known is None else f"{known.content}\n{words_of(chunk)}",
            created_at=chunk.created_at,
            project_id=chunk.project_id,
        )
    return list(turns.values())


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
