"""The connection of a client: the memory that its arguments name, opened at the first call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Self

from agent_memory.compat.azure_cosmos import connecting
from agent_memory.compat.azure_cosmos.local import LocalMemory
from agent_memory.errors import ConfigurationError, InvalidInput
from agent_memory.memory import AsyncMemory
from agent_memory.scopes import AsyncThreadScope, AsyncUserScope
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
        embeddings_client: connecting.EmbeddingsClient | None = None,
        chat_client: connecting.ChatClient | None = None,
        processor: Any = None,
        transcript_metadata_keys: Sequence[str] | None = None,
        cadence_thresholds: Mapping[str, int] | None = None,
        *,
        memory: AsyncMemory | None = None,
    ) -> None:
        super().__init__()
        if processor is not None:
            raise ConfigurationError("processor: this process runs the steps, or the function app of this toolkit")
        connecting.check_names(
            {
                "cosmos_container": cosmos_container,
                "cosmos_turns_container": cosmos_turns_container,
                "cosmos_summaries_container": cosmos_summaries_container,
                "cosmos_counter_container": cosmos_counter_container,
                "cosmos_lease_container": cosmos_lease_container,
            }
        )
        self._place = connecting.Place(
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
        connecting.cadence_of(cadence_thresholds)
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
        cadence = connecting.cadence_of(self._place.thresholds)
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
        connecting.check_names(
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
        connecting.check_names(
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
