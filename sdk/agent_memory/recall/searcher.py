"""The parts that a search works with, and how it reads memories.

A question is searched by its words when its vector does not come in time. Results of recent searches are cached by each
process. A mark in the store shows all of them that something has changed: every write of a user's memories or turns
changes it, and it is read before a cached result is returned. A key holds the user, the mark and every option of the
search, so no result can reach another user or another question.

A model may reorder the best results by how well they answer the question. The order of the search stays if the model
says nothing, fails or times out.

For a share of the searches, relevant memories that they did not return are counted (`MissMeter`). A memory is relevant
if its cosine to the query exceeds the threshold. A search leaves out what exceeds its limit and what an approximate
index does not find; this compares all of the user's vectors, after the answer. Chunks do not count: what was derived
from them does. Neither texts nor ids of users are recorded.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import Context
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, TypeVar

from agent_memory.errors import AgentMemoryError, ModelError
from agent_memory.language.current import for_asking
from agent_memory.language.tasks import RERANK, ChatModel, Embedded, EmbeddingModel, NoteView, RerankInput
from agent_memory.models import SearchMisses, now
from agent_memory.recall.conditions import SubjectVectors
from agent_memory.recall.fusion import Candidate
from agent_memory.recall.rarity import SeenWords
from agent_memory.rules.switches import Rules
from agent_memory.settings import PolicySettings, RecallSettings
from agent_memory.store import search_queries
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.search_queries import cosine_of, found_memory, read_elsewhere
from agent_memory.telemetry import relevant_not_retrieved, relevant_retrieved

if TYPE_CHECKING:
    from agent_memory.recall.search import Found


@dataclass(slots=True)
class Outage:
    """Since when questions have no vectors, and why. `since` is None while they have."""

    since: datetime | None = None
    reason: str = ""


class Impatient:
    """An embedding model for one search: it has a time limit, and is not called again after a failure.

    Args:
        model: The model.
        seconds: Its time for all calls of the search together.
        outage: Records whether it responds.
    """

    def __init__(self, model: EmbeddingModel, seconds: float, outage: Outage) -> None:
        self._model = model
        self._seconds = seconds
        self._outage = outage
        self._failure: AgentMemoryError | None = None
        self.model_id = model.model_id
        self.dimensions = model.dimensions

    async def embed(self, texts: list[str]) -> Embedded:
        """Embeds texts in order. Raises AgentMemoryError if the model failed, or was not ready in time."""
        if self._failure is not None:
            raise self._failure
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(self._seconds):
                embedded = await self._model.embed(texts)
        except TimeoutError as error:
            self._failure = ModelError(f"{self.model_id} gave no vector within {self._seconds:.3g} s", retryable=True)
            self._note(self._failure)
            raise self._failure from error
        except AgentMemoryError as error:
            self._failure = error
            self._note(error)
            raise
        self._seconds -= loop.time() - started
        self._outage.since = None
        return embedded

    async def close(self) -> None:
        """Does nothing: the model belongs to whoever opened it."""

    def _note(self, error: AgentMemoryError) -> None:
        self._outage.since = self._outage.since or now()
        self._outage.reason = str(error)


MOST_ENTRIES = 1000
"""Maximum searches in the cache; the least recently used is dropped first."""


@dataclass(slots=True)
class HitCache:
    """What searches found, by key, for `seconds`."""

    seconds: float
    _entries: OrderedDict[str, tuple[float, Found]] = field(default_factory=OrderedDict)

    def get(self, key: str) -> Found | None:
        """What was found, as a copy, unless it is too old."""
        entry = self._entries.get(key)
        if entry is None or time.monotonic() - entry[0] > self.seconds:
            return None
        self._entries.move_to_end(key)
        return deepcopy(entry[1])

    def put(self, key: str, found: Found) -> None:
        """Keeps what was found under a key."""
        self._entries[key] = (time.monotonic(), deepcopy(found))
        self._entries.move_to_end(key)
        while len(self._entries) > MOST_ENTRIES:
            self._entries.popitem(last=False)


def cache_key(*parts: Any) -> str:
    """One key made of everything that the result depends on."""
    return hashlib.sha256(repr(parts).encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Searcher:
    """What a search works with."""

    store: Store
    embeddings: EmbeddingModel
    settings: RecallSettings
    cache: HitCache | None = None
    chat: ChatModel | None = None
    """Reranks, if the settings say so."""
    policy: PolicySettings = field(default_factory=PolicySettings)
    rules: Rules | None = None
    """The rules of the searched scope for fresh turns. None: none may be shown."""
    zone: tzinfo = UTC
    """The user's time zone, for "yesterday" in a question and for the days of hits."""
    outage: Outage = field(default_factory=Outage)
    """Whether questions have vectors; one for all scopes of a memory."""
    misses: MissMeter | None = None
    """Counts what sampled searches left out; one for all scopes. None: nothing is sampled."""
    seen: SeenWords = field(default_factory=SeenWords)
    """How common words are with each user; one for all scopes of a memory."""
    subjects: SubjectVectors = field(default_factory=SubjectVectors)
    """What questions are compared with, to find conditions; one for all scopes of a memory."""

    @property
    def threads_off(self) -> list[str]:
        """The threads that are hidden, because their user switched them off."""
        return [] if self.rules is None else sorted(self.rules.threads_off)

    def reads(self, partition: Sequence[str]) -> Callable[[str], bool]:
        """Whether a search over this part of the key may read a thread: the named one, if any, and no hidden one."""
        return lambda thread_id: thread_id not in self.threads_off and all(thread_id == one for one in partition[1:])

    def impatient(self, seconds: float | None = None) -> Searcher:
        """This searcher for one search, with a time limit for vectors: `embedding_timeout`, or less."""
        most = self.settings.embedding_timeout
        patience = most if seconds is None else min(seconds, most)
        return replace(self, embeddings=Impatient(for_asking(self.embeddings), patience, self.outage))

    async def read(self, sql: str, partition: Sequence[str], parameters: Mapping[str, Any]) -> list[Candidate]:
        """The candidates from a query that selects `found_fields`, with their cosines if it selects them."""
        return (await self.read_known(sql, partition, parameters))[0]

    async def read_known(
        self, sql: str, partition: Sequence[str], parameters: Mapping[str, Any]
    ) -> tuple[list[Candidate], list[str]]:
        """Like `read`, with the ids of the memories that the query leaves to the word query."""
        model = self.embeddings.model_id
        rows = await self.store.query(MEMORIES, sql, partition, **{**parameters, "model": model})
        left = [read_elsewhere(row) for row in rows]
        found = [
            (found_memory(row, partition[0], model), cosine_of(row))
            for row, memory_id in zip(rows, left, strict=True)
            if memory_id is None
        ]
        candidates = [
            Candidate(memory, similarity if memory.embedding_model == model else None)
            for memory, similarity in found
            if not memory.is_expired
        ]
        return candidates, [memory_id for memory_id in left if memory_id is not None]


R = TypeVar("R")

logger = logging.getLogger("agent_memory")


async def rerank(
    results: Sequence[R], said: Callable[[R], tuple[datetime, str]], question: str, chat: ChatModel, timeout: float
) -> tuple[list[R], str | None]:
    """The results in the model's order, and the reason if they are in the old one.

    `said` returns the date and text of a result. Results that the model does not name follow in the old order.
    """
    by_ref = {f"n{place}": result for place, result in enumerate(results, 1)}
    notes = [NoteView(ref=ref, said=at, text=text) for ref, result in by_ref.items() for at, text in [said(result)]]
    try:
        async with asyncio.timeout(timeout):
            refs = (await chat.run(RERANK, RerankInput(question=question, notes=notes))).output.refs
    except (AgentMemoryError, TimeoutError) as error:
        reason = str(error) or "not ready in time"
        logger.warning("Memory rerank failed, keeping the order of the search: %s", reason)
        return list(results), reason
    order = dict.fromkeys([*(ref for ref in refs if ref in by_ref), *by_ref])
    return [by_ref[ref] for ref in order], None


_MOST = 1000
"""Relevant memories that are counted for one search."""


class MissMeter:
    """Looks again at a share of the searches of this process, one at a time.

    Args:
        store: Where the memories are.
        share: Of the searches, 0 to 1. A search that ends while another is checked is not sampled.
    """

    def __init__(self, store: Store, share: float) -> None:
        self._store = store
        self._share = share
        self._running: asyncio.Task[None] | None = None
        self.counted = SearchMisses()

    def sample(
        self,
        partition: Sequence[str],
        where: str,
        parameters: Mapping[str, Any],
        threshold: float,
        given: Collection[str],
    ) -> None:
        """Perhaps checks what a search over `where` should have returned besides the ids `given`. Does not wait."""
        if self._running is not None or random.random() >= self._share:
            return
        looking = self._look(tuple(partition), where, parameters, threshold, frozenset(given))
        # A separate context: the caller's costs and trace end with the answer.
        self._running = asyncio.create_task(looking, name="agent-memory-misses", context=Context())

    async def close(self) -> None:
        """Ends what runs."""
        running, self._running = self._running, None
        if running is not None:
            running.cancel()
            await asyncio.wait([running])

    async def _look(
        self,
        partition: tuple[str, ...],
        where: str,
        parameters: Mapping[str, Any],
        threshold: float,
        given: frozenset[str],
    ) -> None:
        try:
            rows = await self._store.query(
                MEMORIES, search_queries.nearest_ids(where), partition, limit=_MOST, **parameters
            )
            relevant = {row["id"] for row in rows if row["similarity"] > threshold}
        except Exception as error:
            self.counted.failed += 1
            logger.warning("A sampled search could not be looked at again: %s", type(error).__name__)
        else:
            missed, found = len(relevant - given), len(relevant & given)
            self.counted.measured += 1
            self.counted.relevant_not_retrieved += missed
            self.counted.relevant_retrieved += found
            relevant_not_retrieved.record(missed)
            relevant_retrieved.add(found)
        finally:
            self._running = None
