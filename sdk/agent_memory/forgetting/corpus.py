"""The corpus: the memories and turns of one user, of any status, as a request to forget searches them.

Turns may expire before their chunks. Then the chunks are used instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agent_memory.language.tasks import EmbeddingModel, Vector
from agent_memory.models import Memory, Turn
from agent_memory.models.parts import text_of_parts
from agent_memory.store import queries, search_queries
from agent_memory.store.chunks import chunk_id, words_of
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES, TURNS
from agent_memory.store.documents import Document, from_document, in_groups
from agent_memory.store.turns import turns_by_id
from agent_memory.text.likeness import Likeness

NEAREST = 100
"""How many memories and chunks are compared with a claim or a topic by meaning."""

WORDS_AT_ONCE = 100
"""Maximum words that one query looks for. Cosmos DB accepts 512 KB of text in a query; this keeps far below it."""

TurnKey = tuple[str, str]
"""The thread and the id of a turn; the id is unique only within the thread."""


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
