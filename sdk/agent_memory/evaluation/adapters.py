"""The interface of a memory system for an evaluation, and its implementation for this library."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, runtime_checkable

from agent_memory.errors import NotFound
from agent_memory.evaluation.dataset import Conversation
from agent_memory.language.defaults import default_embeddings
from agent_memory.language.tasks import Embedded, EmbeddingModel, Vector
from agent_memory.models import Usage
from agent_memory.settings import RecallSettings
from agent_memory.sync import Memory, UserScope

BATCH = 200
"""Turns a write."""
PATIENCE = 600.0
"""Time limit of each question, in seconds."""


@dataclass(frozen=True, slots=True)
class ToldLine:
    """One memory in a context.

    Its source turns (none if unknown), whether it is marked as older, and the number of its line in the text (None: a
    separate line).
    """

    turns: frozenset[str]
    is_older: bool = False
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """The cost of a context, its source turns and its lines, if the system reports them.

    `relevance` is the system's probability that it answers, `text` what an agent gets.
    """

    tokens: int
    turns: frozenset[str]
    lines: Sequence[ToldLine] = ()
    relevance: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """One result of a search: its source turns, its text, and the explanation of its rank."""

    turns: list[str]
    text: str = ""
    why: str = ""


@runtime_checkable
class Adapter(Protocol):
    """A memory system under evaluation. Each conversation is a separate user."""

    @property
    def name(self) -> str:
        """The system's name in a report."""
        ...

    def ingest(self, conversation: Conversation) -> None:
        """Takes in a conversation, and returns when all of it can be found."""
        ...

    def search(self, conversation: Conversation, question: str, limit: int) -> list[list[str]]:
        """At most `limit` results, best first: for each, the ids of its source turns."""
        ...

    def context(self, conversation: Conversation, question: str, budget: int) -> Told | None:
        """What an agent would get within a budget of tokens; None if the system has no such call."""
        ...


class AgentMemory:
    """This library, embedded, through its public calls."""

    def __init__(
        self, store: str | os.PathLike[str] | None = None, *, embeddings: EmbeddingModel | None = None
    ) -> None:
        """Opens it.

        Args:
            store: A file that keeps the ingested conversations for a later run; None: in RAM.
            embeddings: Another embedding model than the embedded default.
        """
        self.name = "agent-memory"
        self.embeddings = CachedEmbeddings(embeddings or default_embeddings())
        self._memory = Memory.local(store, embedding_model=self.embeddings, recall=_without_hurry(RecallSettings()))
        self._sources: dict[str, list[str]] = {}

    def __enter__(self) -> Self:
        """Opens the store."""
        self._memory.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the store."""
        self._memory.close()

    def user(self, conversation: Conversation) -> UserScope:
        """The user who stands for a conversation."""
        return self._memory.user(conversation.name)

    def ingest(self, conversation: Conversation) -> None:
        """Writes the turns of one thread after the other, and waits each time until they are processed.

        So a thread finds the earlier ones processed, as it would if people had just talked. Threads that are processed
        at the same time see each other's turns in some runs and not in others.
        """
        user = self.user(conversation)
        for thread_id, turns in conversation.threads.items():
            for start in range(0, len(turns), BATCH):
                user.thread(thread_id).add_many(list(turns[start : start + BATCH]))
            self._memory.drain()

    def search(self, conversation: Conversation, question: str, limit: int) -> list[list[str]]:
        """As `UserScope.search`."""
        hits = self.user(conversation).search(question, limit=limit)
        return [hit.memory.source_turn_ids for hit in hits]

    def explained(self, conversation: Conversation, question: str, limit: int) -> list[Result]:
        """As `search`, with the text of each result and the explanation of its rank."""
        hits = self.user(conversation).search(question, limit=limit)
        return [Result(hit.memory.source_turn_ids, hit.memory.content, hit.explanation) for hit in hits]

    def context(self, conversation: Conversation, question: str, budget: int) -> Told:
        """As `UserScope.context`: a new conversation, without its own turns or summary."""
        context = self.user(conversation).context(question, budget=budget)
        lines = [
            ToldLine(frozenset(self._turns_of(conversation, item)), bool(item.get("earlier")), item.get("line"))
            for item in context.used
        ]
        turns = frozenset[str]().union(*(line.turns for line in lines))
        return Told(context.tokens, turns, lines, context.relevance, context.text)

    def _turns_of(self, conversation: Conversation, item: dict[str, Any]) -> list[str]:
        """The turns behind a line of a context. A summary does not say which turn a line comes from."""
        if item["type"] == "turn":
            return [item["id"]]
        if item["type"] == "summary":
            return []
        return [
            turn
            for key in dict.fromkeys([item.get("id"), *item.get("ids", [])])
            for turn in self._said(conversation, key)
        ]

    def _said(self, conversation: Conversation, memory_id: str | None) -> list[str]:
        if memory_id is None:
            return []
        if memory_id not in self._sources:
            try:
                self._sources[memory_id] = self.user(conversation).get(memory_id).source_turn_ids
            except NotFound:  # an unexpected kind of document must not end a run that takes hours
                self._sources[memory_id] = []
        return self._sources[memory_id]


def _without_hurry(recall: RecallSettings) -> RecallSettings:
    """The settings without short time limits: what is found must not depend on how busy the machine is."""
    return replace(recall, embedding_timeout=PATIENCE, read_timeout=PATIENCE, context_timeout=PATIENCE)


class CachedEmbeddings:
    """An embedding model that embeds each text once, so that baselines over the same text cost nothing more."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model
        self._known: dict[str, Vector] = {}

    @property
    def model_id(self) -> str:
        """That of the model."""
        return self._model.model_id

    @property
    def dimensions(self) -> int:
        """That of the model."""
        return self._model.dimensions

    async def embed(self, texts: list[str]) -> Embedded:
        """Embeds what is not known yet."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        embedded = await self._model.embed(new) if new else Embedded([], Usage())
        self._known.update(zip(new, embedded.vectors, strict=True))
        return Embedded([self._known[text] for text in texts], embedded.usage)

    async def close(self) -> None:
        """Closes the model."""
        await self._model.close()
