"""The connection of a client: the memory that its arguments name, opened at the first call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from agent_memory.compat.azure_cosmos.documents import LocalMemory
from agent_memory.errors import ConfigurationError, InvalidInput
from agent_memory.language.callable_chat import CallableChat
from agent_memory.language.tasks import ChatModel, Embedded, EmbeddingModel
from agent_memory.memory import AsyncMemory
from agent_memory.models import Usage
from agent_memory.scopes import AsyncThreadScope, AsyncUserScope
from agent_memory.settings import Cadence
from agent_memory.text.tokens import TiktokenCounter


class Connection(LocalMemory):
    """A memory and a local list."""

    def __init__(
        self,
        cosmos_endpoint: str | None = None,
        cosmos_credential: Any = None,
        cosmos_key: str | None = None,
        cosmos_database: str | None = None,
        cosmos_container: str | None = None,
        cosmos_turns_container: str = "memories_turns",
        cosmos_summaries_container: str = "memories_summaries",
        cosmos_counter_container: str | None = None,
        cosmos_lease_container: str | None = None,
        cosmos_throughput_mode: str | None = None,
        cosmos_autoscale_max_ru: int | None = None,
        ai_foundry_endpoint: str | None = None,
        ai_foundry_credential: Any = None,
        ai_foundry_api_key: str | None = None,
        embedding_deployment_name: str = "text-embedding-3-large",
        embedding_dimensions: int | None = None,
        chat_deployment_name: str = "gpt-4o-mini",
        use_default_credential: bool = True,
        enable_turn_embeddings: bool | None = None,
        user_agent: str | None = None,
        embeddings_client: EmbeddingsClient | None = None,
        chat_client: ChatClient | None = None,
        processor: Any = None,
        transcript_metadata_keys: Sequence[str] | None = None,
        cadence_thresholds: Mapping[str, int] | None = None,
        *,
        memory: AsyncMemory | None = None,
    ) -> None:
        super().__init__()
        if processor is not None:
            raise ConfigurationError(
                "processor: leave it out; the steps run in this process, or in the function app of this toolkit"
            )
        check_names(
            {
                "cosmos_container": cosmos_container,
                "cosmos_turns_container": cosmos_turns_container,
                "cosmos_summaries_container": cosmos_summaries_container,
                "cosmos_counter_container": cosmos_counter_container,
                "cosmos_lease_container": cosmos_lease_container,
            }
        )
        self._place = Place(
            endpoint=cosmos_endpoint,
            credential=cosmos_credential,
            key=cosmos_key,
            database=cosmos_database,
            autoscale_max_ru=cosmos_autoscale_max_ru,
            foundry_endpoint=ai_foundry_endpoint,
            foundry_key=ai_foundry_api_key,
            embedding_model=embedding_deployment_name,
            dimensions=embedding_dimensions,
            chat_model=chat_deployment_name,
            embeddings_client=embeddings_client,
            chat_client=chat_client,
            thresholds=cadence_thresholds,
        )
        cadence_of(cadence_thresholds)
        self._given = memory
        self._memory: AsyncMemory | None = None
        self._tokens = TiktokenCounter()

    async def __aenter__(self) -> Self:
        """Opens nothing: `create_memory_store`, `connect_cosmos` or the first call does."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Closes it."""
        await self.close()

    async def close(self) -> None:
        """Stops background processing and disconnects; a memory that was passed in stays open. Harmless when closed."""
        memory, self._memory = self._memory, None
        if memory is not None and memory is not self._given:
            await memory.close()

    @property
    def _background_tasks(self) -> set[asyncio.Task[Any]]:
        """Ends when everything written is processed: `flush` of Agent Framework's provider waits for it.

        Nothing, if the cadence runs nothing automatically.
        """
        cadence = cadence_of(self._place.thresholds)
        if self._memory is None or not (cadence.extract or cadence.summarize):
            return set()
        return {asyncio.ensure_future(self._memory.drain(timeout=30))}

    async def connect_cosmos(
        self,
        endpoint: str | None = None,
        credential: Any = None,
        key: str | None = None,
        database: str | None = None,
        container: str | None = None,
        turns_container: str | None = None,
        summaries_container: str | None = None,
    ) -> None:
        """Connects to a memory store that exists."""
        check_names(
            {
                "cosmos_container": container,
                "cosmos_turns_container": turns_container,
                "cosmos_summaries_container": summaries_container,
            }
        )
        self._place = self._place.elsewhere(endpoint=endpoint, credential=credential, key=key, database=database)
        await self.close()
        await self._open()

    async def create_memory_store(
        self,
        database: str | None = None,
        container: str | None = None,
        turns_container: str | None = None,
        summaries_container: str | None = None,
        counter_container: str | None = None,
        lease_container: str | None = None,
        endpoint: str | None = None,
        credential: Any = None,
        key: str | None = None,
        embedding_dimensions: int | None = None,
        embedding_data_type: str | None = None,
        distance_function: str | None = None,
        full_text_language: str | None = None,
        throughput_mode: str | None = None,
        autoscale_max_ru: int | None = None,
        vector_index_type: str | None = None,
    ) -> None:
        """Creates the database and its five containers if they are missing, with the policies of this memory."""
        check_names(
            {
                "cosmos_container": container,
                "cosmos_turns_container": turns_container,
                "cosmos_summaries_container": summaries_container,
                "cosmos_counter_container": counter_container,
                "cosmos_lease_container": lease_container,
            }
        )
        self._place = self._place.elsewhere(
            endpoint=endpoint,
            credential=credential,
            key=key,
            database=database,
            dimensions=embedding_dimensions,
            autoscale_max_ru=autoscale_max_ru,
        )
        await (await self._open()).create_memory_store()

    async def validate_topology(self) -> None:
        """Checks that the containers are there.

        Raises:
            ConfigurationError: if they are not.
        """
        if not await (await self._open()).runtime.store.exists():
            raise ConfigurationError("there is no memory store in this database yet: call create_memory_store()")

    def _get_pipeline(self) -> Any:
        raise ConfigurationError("there is no pipeline object here: set a prompts folder with AGENT_MEMORY_PROMPTS_DIR")

    async def _open(self) -> AsyncMemory:
        if self._memory is None:
            memory = self._given or self._place.open_memory()
            if memory is not self._given:
                await memory.__aenter__()
            self._memory = memory
        return self._memory

    async def _user(self, user_id: str | None) -> AsyncUserScope:
        if not user_id:
            raise InvalidInput("user_id is needed: nothing is read across users here")
        return (await self._open()).user(user_id)

    async def _thread(self, user_id: str | None, thread_id: str | None) -> AsyncThreadScope:
        if not thread_id:
            raise InvalidInput("thread_id is needed")
        return (await self._user(user_id)).thread(thread_id)


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
