"""What a search works with, and how it reads memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from typing import Any

from agent_memory.language.current import for_asking
from agent_memory.language.tasks import ChatModel, EmbeddingModel
from agent_memory.recall.cache import HitCache
from agent_memory.recall.fusion import Candidate
from agent_memory.recall.misses import MissMeter
from agent_memory.recall.patience import Impatient, Outage
from agent_memory.recall.rarity import SeenWords
from agent_memory.rules.switches import Rules
from agent_memory.settings import PolicySettings, RecallSettings
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.found import cosine_of, found_memory, read_elsewhere


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
    """Where the asking user is: "yesterday" and the days of what is found are those there."""
    outage: Outage = field(default_factory=Outage)
    """Whether questions have vectors; one for all scopes of a memory."""
    misses: MissMeter | None = None
    """Counts what sampled searches left out; one for all scopes. None: nothing is sampled."""
    seen: SeenWords = field(default_factory=SeenWords)
    """How common words are with each user; one for all scopes of a memory."""

    @property
    def threads_off(self) -> list[str]:
        """The threads that are hidden, because their user switched them off."""
        return [] if self.rules is None else sorted(self.rules.threads_off)

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
        """The same, and the ids of memories that the query leaves to the other one."""
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
