"""The memory that the arguments of a client name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from agent_memory.errors import ConfigurationError
from agent_memory.language.callable_chat import CallableChat
from agent_memory.language.tasks import ChatModel, Embedded, EmbeddingModel
from agent_memory.memory import AsyncMemory
from agent_memory.models import Usage
from agent_memory.settings import Cadence

THRESHOLDS = {
    "FACT_EXTRACTION_EVERY_N": "extract",
    "THREAD_SUMMARY_EVERY_N": "summarize",
    "USER_SUMMARY_EVERY_N": "profile",
    "DEDUP_EVERY_N": "reconcile",
}
"""That package's names for the cadence of this memory."""
NAMES = {
    "cosmos_container": "memories",
    "cosmos_turns_container": "memories_turns",
    "cosmos_summaries_container": "memories_summaries",
    "cosmos_counter_container": "counter",
    "cosmos_lease_container": "leases",
}
DIMENSIONS = 1536


class EmbeddingsClient(Protocol):
    """The interface of `embeddings_client`."""

    def generate_batch(self, texts: list[str]) -> Any:
        """The vectors of texts; in the asynchronous client awaited."""


class ChatClient(Protocol):
    """The interface of `chat_client`."""

    def generate(self, messages: list[dict[str, Any]]) -> Any:
        """The text of an answer; in the asynchronous client awaited."""


class GivenEmbeddings:
    """An `embeddings_client` as an embedding model."""

    def __init__(self, client: EmbeddingsClient, model: str, dimensions: int) -> None:
        self._client = client
        self.model_id = f"{model}@{dimensions}"
        self.dimensions = dimensions

    async def embed(self, texts: list[str]) -> Embedded:
        """Embeds texts in order."""
        made = self._client.generate_batch(texts)
        vectors = await made if hasattr(made, "__await__") else made
        return Embedded([_unit(list(vector)) for vector in vectors], Usage())

    async def close(self) -> None:
        """Does nothing: the client belongs to whoever made it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client's memory is, and which models it has."""

    endpoint: str | None = None
    credential: Any = None
    key: str | None = None
    database: str | None = None
    autoscale_max_ru: int | None = None
    foundry_endpoint: str | None = None
    foundry_key: str | None = None
    embedding_model: str = "text-embedding-3-large"
    dimensions: int | None = None
    chat_model: str = "gpt-4o-mini"
    embeddings_client: EmbeddingsClient | None = None
    chat_client: ChatClient | None = None
    thresholds: Mapping[str, int] | None = None

    def elsewhere(self, **changes: Any) -> Place:
        """A copy with the given changes."""
        return replace(self, **{name: value for name, value in changes.items() if value is not None})

    def open_memory(self) -> AsyncMemory:
        """The memory, not yet open.

        Raises:
            ConfigurationError: if an endpoint is missing, or a package.
        """
        if self.endpoint is None:
            raise ConfigurationError("not connected: pass cosmos_endpoint, or call connect_cosmos")
        return AsyncMemory.cosmos(
            self.endpoint,
            self.key or self.credential,
            self.database or "ai_memory",
            chat_model=self._chat(),
            embedding_model=self._embeddings(),
            process="inline",
            cadence=cadence_of(self.thresholds),
            autoscale_max_ru=self.autoscale_max_ru,
        )

    def _chat(self) -> ChatModel:
        if self.chat_client is not None:
            client = self.chat_client
            return CallableChat(lambda messages: client.generate(messages), model_id=self.chat_model)
        from agent_memory.language.openai_chat import OpenAIChat

        return OpenAIChat(self.chat_model, **self._foundry())

    def _embeddings(self) -> EmbeddingModel:
        dimensions = self.dimensions or DIMENSIONS
        if self.embeddings_client is not None:
            return GivenEmbeddings(self.embeddings_client, self.embedding_model, dimensions)
        from agent_memory.language.openai_embeddings import OpenAIEmbeddings

        return OpenAIEmbeddings(self.embedding_model, dimensions=dimensions, **self._foundry())

    def _foundry(self) -> dict[str, Any]:
        if self.foundry_endpoint is None:
            raise ConfigurationError("pass ai_foundry_endpoint, or chat_client and embeddings_client")
        if self.foundry_key is not None:
            return {"azure_endpoint": self.foundry_endpoint, "api_key": self.foundry_key}
        from agent_memory.language.providers import token_provider

        return {"azure_endpoint": self.foundry_endpoint, "azure_ad_token_provider": token_provider()}


def cadence_of(thresholds: Mapping[str, int] | None) -> Cadence:
    """The cadence of that package's thresholds; missing ones have its defaults. If all are 0, nothing runs by itself.

    Raises:
        ConfigurationError: for a negative number.
    """
    given: dict[str, Any] = {THRESHOLDS[name]: int(n) for name, n in (thresholds or {}).items() if name in THRESHOLDS}
    if any(number < 0 for number in given.values()):
        raise ConfigurationError(f"cadence_thresholds: a number of turns is 0 or more: {dict(thresholds or {})}")
    if given.get("extract") == 0 and given.get("summarize") == 0:
        return replace(Cadence(reconcile=0, idle_seconds=0), **given)
    return replace(Cadence(), **given)


def check_names(given: Mapping[str, str | None]) -> None:
    """Checks that the containers have the names that this library uses.

    Raises:
        ConfigurationError: if one has another.
    """
    for name, value in given.items():
        if value not in (None, NAMES[name]):
            raise ConfigurationError(f"{name}={value!r:.60}: it is called {NAMES[name]!r} here")


def _unit(vector: list[float]) -> list[float]:
    length = sum(value * value for value in vector) ** 0.5
    return [value / length for value in vector] if length else vector
