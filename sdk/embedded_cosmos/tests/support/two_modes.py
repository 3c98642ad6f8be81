"""The same documents in two engines: one that answers directly, and one whose clients merge partitions."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.aio import CosmosClient as AsyncCosmosClient

from embedded_cosmos import AsyncTransport, Engine, SyncTransport

KEY = PartitionKey(path=["/user", "/thread"], kind="MultiHash")


class TwoModes:
    """A container in each mode, filled alike."""

    def __init__(self, documents: Iterable[dict[str, Any]], partitions: int = 3, **policies: Any) -> None:
        self._stack = ExitStack()
        self.fast_engine = self._stack.enter_context(Engine(strict=False))
        self.strict_engine = self._stack.enter_context(Engine(strict=True, partitions=partitions))
        self.fast, self.strict = (
            CosmosClient(engine.url, engine.credential, transport=SyncTransport(engine))
            .create_database("db")
            .create_container("c", KEY, **policies)
            for engine in (self.fast_engine, self.strict_engine)
        )
        for document in documents:
            for container in (self.fast, self.strict):
                container.upsert_item(document)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def query(self, text: str, **options: Any) -> tuple[list[Any], list[Any]]:
        """The rows over all partitions, in the fast and in the strict mode."""
        options = {"enable_cross_partition_query": True, **options}
        fast, strict = (list(container.query_items(text, **options)) for container in (self.fast, self.strict))
        return fast, strict

    async def query_async(self, text: str, **options: Any) -> list[Any]:
        """The rows in the strict mode, through the asynchronous client, which merges with code of its own."""
        engine = self.strict_engine
        async with AsyncCosmosClient(engine.url, engine.credential, transport=AsyncTransport(engine)) as client:
            container = client.get_database_client("db").get_container_client("c")
            return [row async for row in container.query_items(text, **options)]
