"""The connection to Cosmos DB: opening, provisioning, and the few calls that everything else uses.

Every call passes through here, so one place translates the SDK's errors and counts request units.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from azure.core import MatchConditions
from azure.cosmos import ThroughputProperties
from azure.cosmos.aio import ContainerProxy, CosmosClient, DatabaseProxy
from azure.cosmos.exceptions import CosmosBatchOperationError

from agent_memory.errors import AgentMemoryError, ConfigurationError, Conflict, InvalidInput, NotFound, StoreUnavailable
from agent_memory.models import now
from agent_memory.portal import Owner
from agent_memory.store import queries, query_text
from agent_memory.store.calls import into_container, record, refuses_writes, translated
from agent_memory.store.containers import COUNTER, MEMORIES, TURNS, container_specs
from agent_memory.store.documents import Document, Operation
from agent_memory.store.file import StoreFile, scrub
from agent_memory.store.ids import COUNTERS_THREAD
from agent_memory.store.known import Known
from agent_memory.store.vectors import VectorFields

logger = logging.getLogger("agent_memory")

MARK_ID = "memories_mark"
"""One document for each user. It changes whenever the user's memories or turns change."""


def _confined(sql: str, partition: Sequence[str], parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """A query that names its user (and thread) in its condition too, and its parameters."""
    within = dict(zip(("user_id", "thread_id"), partition, strict=False))
    return query_text.confined(sql, len(partition)), {**parameters, **within}


@dataclass(frozen=True, slots=True)
class Refusal:
    """The last write failed: since when writes have failed in a row, and the first error."""

    since: datetime
    error: str


class Store:
    """One database on Cosmos DB, or on anything that speaks its protocol through the azure-cosmos SDK.

    The change feed has its own client, because the SDK keeps a feed's continuation among the headers of the client's
    last response. `refusal` is set while writes fail. `known` caches settings, `vectors` names the fields of the
    vectors. It is `in_process` if it is an engine in this process.
    """

    def __init__(
        self,
        connect: Callable[[], CosmosClient],
        database: str,
        *,
        name: str,
        marks_changes: bool = False,
        file: StoreFile | None = None,
        alone: bool = False,
    ) -> None:
        """Opens nothing yet.

        Args:
            connect: Creates a client.
            database: The database's name.
            name: The store's name in health and telemetry.
            marks_changes: Whether each write of a user's memories or turns also writes the user's mark.
            file: The local file behind the clients, already open; None if there is none.
            alone: Whether nobody else writes to the database.
        """
        self.name = name
        self.known = Known(alone=alone)
        self.in_process = alone
        self.vectors = VectorFields()
        self.refusal: Refusal | None = None
        self.file = file
        self._owner = Owner()
        self._marks_changes = marks_changes
        self._connect = connect
        self._database = database
        self._clients: list[CosmosClient] = []
        self._containers: dict[str, ContainerProxy] = {}
        self._feeds: dict[str, ContainerProxy] = {}

    async def open(self) -> None:
        """Connects. Does nothing when open.

        Raises:
            ConfigurationError: in a fork of the process that opened the store.
        """
        if self._clients:
            self.check_process()
            return
        if self.file is None:
            self._owner = Owner()
        self.check_process()
        try:
            with translated():
                for _ in range(2):
                    client = self._connect()
                    self._clients.append(client)
                    await client.__aenter__()
        except BaseException:
            await self.close()
            raise
        main, feed = (client.get_database_client(self._database) for client in self._clients)
        self._containers = {spec.name: main.get_container_client(spec.name) for spec in container_specs()}
        self._feeds = {name: feed.get_container_client(name) for name in (TURNS, MEMORIES)}

    def check_process(self) -> None:
        """Checks that this process opened the store.

        Raises:
            ConfigurationError: if this process is a fork of the one that did.
        """
        self._owner.check()

    async def scrub(self) -> bool:
        """Removes the bytes of deleted data from the file and its log, if there is a file.

        Returns:
            False if another program reads the file, or the disk fails. `tidy` then tries again.
        """
        return self.file is None or await scrub(self.file)

    def scrub_later(self) -> None:
        """Makes the next `tidy` scrub, if there is a file."""
        if self.file is not None:
            self.file.scrub_later()

    async def tidy(self) -> bool:
        """Deletes what has expired and scrubs if that is due, if there is a file; True if nothing is left to do."""
        return self.file is None or await asyncio.to_thread(self.file.tidy)

    async def close(self) -> None:
        """Disconnects. Does nothing when closed."""
        clients, self._clients, self._containers, self._feeds = self._clients, [], {}, {}
        for client in clients:
            await client.close()

    async def provision(self, *, dimensions: int, autoscale_max_ru: int | None = None) -> None:
        """Creates the database and its five containers where they are missing.

        Without `autoscale_max_ru` no throughput is sent: a serverless account accepts none.
        """
        throughput = (
            None if autoscale_max_ru is None else ThroughputProperties(auto_scale_max_throughput=autoscale_max_ru)
        )
        with translated():
            database = await self._clients[0].create_database_if_not_exists(self._database)
            for spec in container_specs():
                await database.create_container_if_not_exists(
                    spec.name, **spec.options(dimensions), offer_throughput=throughput
                )

    async def exists(self) -> bool:
        """Whether the database holds a memory store."""
        try:
            with translated():
                await self.container(MEMORIES).read()
        except (NotFound, ConfigurationError):
            return False
        return True

    @property
    def database(self) -> DatabaseProxy:
        """The database of the open store."""
        self.container(MEMORIES)
        return self._clients[0].get_database_client(self._database)

    def container(self, name: str) -> ContainerProxy:
        """A container of the open store."""
        self.check_process()
        if not self._containers:
            raise StoreUnavailable("the store is not open: use `async with`, or call open() first")
        return self._containers[name]

    async def read(self, container: str, item_id: str, partition: Sequence[str]) -> Document | None:
        """One document, or None."""
        try:
            with translated():
                found = await self.container(container).read_item(item_id, list(partition), response_hook=record)
            return self.vectors.incoming(dict(found))
        except NotFound:
            return None

    async def create(self, container: str, document: Document) -> Document:
        """Writes a new document. Raises Conflict if the id is taken."""
        async with self._marked(container, document):
            with into_container():
                stored = self.vectors.outgoing(document)
                made = dict(await self.container(container).create_item(stored, response_hook=record))
                return self.vectors.incoming(made)

    async def upsert(self, container: str, document: Document) -> Document:
        """Writes a document, new or not."""
        async with self._marked(container, document):
            with into_container():
                stored = self.vectors.outgoing(document)
                made = dict(await self.container(container).upsert_item(stored, response_hook=record))
                return self.vectors.incoming(made)

    async def replace(self, container: str, document: Document, etag: str) -> Document:
        """Replaces the version of a document that has this ETag.

        Raises:
            Conflict: if the document has changed since.
            NotFound: if it is gone.
        """
        async with self._marked(container, document):
            with translated():
                made = await self.container(container).replace_item(
                    document["id"],
                    self.vectors.outgoing(document),
                    etag=etag,
                    match_condition=MatchConditions.IfNotModified,
                    response_hook=record,
                )
                return self.vectors.incoming(dict(made))

    async def patch(
        self, container: str, item_id: str, partition: Sequence[str], changes: Mapping[str, Any], condition: str
    ) -> Document:
        """Sets top-level fields if the document meets a condition (`FROM c WHERE …`).

        Raises:
            Conflict: if it does not.
            NotFound: if there is no such document.
        """
        operations = [{"op": "set", "path": f"/{name}", "value": value} for name, value in changes.items()]
        async with self._marked(container, partition):
            with translated():
                made = await self.container(container).patch_item(
                    item_id, list(partition), operations, filter_predicate=condition, response_hook=record
                )
                return self.vectors.incoming(dict(made))

    async def delete(self, container: str, item_id: str, partition: Sequence[str]) -> bool:
        """Deletes one document; False if there was none."""
        try:
            async with self._marked(container, partition):
                with translated():
                    await self.container(container).delete_item(item_id, list(partition), response_hook=record)
        except NotFound:
            return False
        return True

    async def batch(self, container: str, partition: Sequence[str], operations: Sequence[Operation]) -> None:
        """Carries out up to 100 operations in one partition: all of them, or none.

        Raises:
            Conflict: if an id is taken, a document is missing or an ETag has changed; nothing was written.
        """
        async with self._marked(container, partition):
            with into_container():
                try:
                    await self.container(container).execute_item_batch(
                        [self.vectors.operation(one) for one in operations], list(partition), response_hook=record
                    )
                except CosmosBatchOperationError as error:
                    failed = [r["statusCode"] for r in error.operation_responses if r["statusCode"] != 424]
                    if failed and failed[0] in (404, 409, 412):
                        raise Conflict(f"somebody else wrote first ({failed[0]})") from error
                    raise

    @asynccontextmanager
    async def _marked(self, container: str, where: Document | Sequence[str]) -> AsyncIterator[None]:
        """Around a write: changes the user's mark afterwards if the write may have changed their memories.

        A write whose answer was lost may have succeeded. If the mark cannot be written, caches stay until they expire.
        """
        try:
            yield
        except (Conflict, NotFound, InvalidInput):
            raise
        except BaseException as error:
            if isinstance(error, AgentMemoryError) and refuses_writes(error):
                self.refusal = self.refusal or Refusal(now(), str(error))
            await self._mark(container, where)
            raise
        finally:
            self.known.written(container, where)
        self.refusal = None
        await self._mark(container, where)

    async def _mark(self, container: str, where: Document | Sequence[str]) -> None:
        if not self._marks_changes or container not in (MEMORIES, TURNS):
            return
        user_id = where["user_id"] if isinstance(where, dict) else where[0]
        mark = {"id": MARK_ID, "user_id": user_id, "thread_id": COUNTERS_THREAD, "type": MARK_ID}
        try:
            with translated():
                await self.container(COUNTER).upsert_item(mark, response_hook=record)
        except AgentMemoryError as error:
            logger.warning("Cached search results may be stale until they expire; marking the change failed: %s", error)

    async def read_mark(self, user_id: str) -> str | None:
        """A text that differs after each marked write of a user's memories or turns; None before the first."""
        document = await self.read(COUNTER, MARK_ID, (user_id, COUNTERS_THREAD))
        return None if document is None else str(document["_etag"])

    async def query(
        self, container: str, sql: str, partition: Sequence[str] | None = None, **parameters: Any
    ) -> list[Any]:
        """All rows of a query over one partition, a prefix of the partition key, or (None) the whole container.

        A query over a key names the key in its condition too (`query_text.confined`). Give parameters by name, without
        the `@`. Vectors are those of the parameter `model`, else of the store's model.
        """
        options: dict[str, Any] = {}
        sql = self.vectors.query(sql, parameters.get("model"))
        if partition is not None:
            sql, parameters = _confined(sql, partition, parameters)
            options["partition_key"] = list(partition)
        sql, parameters = query_text.listed(sql, parameters)
        with into_container():
            pages = self.container(container).query_items(
                sql,
                parameters=[{"name": f"@{name}", "value": value} for name, value in parameters.items()],
                response_hook=record,
                **options,
            )
            return [self.vectors.incoming(row) if isinstance(row, dict) else row async for row in pages]

    async def known_rows(self, container: str, sql: str, partition: Sequence[str], **parameters: Any) -> list[Document]:
        """The rows of a query over one user's part of a container. None is sent if this process knows them."""
        key = repr((container, sql, *partition, sorted(parameters.items())))
        return await self.known.rows(
            key, (container, partition[0]), lambda: self.query(container, sql, partition, **parameters)
        )

    async def feed_ranges(self, container: str = TURNS) -> list[Document]:
        """The parts of the change feed of turns or memories: one for each current physical partition.

        Each part is read on its own: the SDK rejects a continuation over several parts while one of them is empty.
        """
        with into_container():
            return [dict(part) async for part in self._feed_of(container).read_feed_ranges()]

    async def changes(
        self, feed_range: Document, continuation: str | None, page_size: int, container: str = TURNS
    ) -> AsyncGenerator[tuple[list[Document], str]]:
        """Pages of one part of the change feed, each with the continuation after it, until there are no more.

        A continuation stays valid when its partition splits.
        """
        start: dict[str, Any] = {"continuation": continuation} if continuation else {"start_time": "Beginning"}
        part: dict[str, Any] = {} if continuation else {"feed_range": feed_range}
        with into_container():
            feed = self._feed_of(container).query_items_change_feed(max_item_count=page_size, **part, **start)
            pages = feed.by_page()
            async for page in pages:
                documents = [document async for document in page]
                token = pages.continuation_token  # type: ignore[attr-defined]
                if documents and token:
                    yield documents, token

    def _feed_of(self, container: str) -> ContainerProxy:
        if container not in self._feeds:
            raise StoreUnavailable("the store is not open")
        return self._feeds[container]

    async def count(self, container: str, partition: Sequence[str] | None = None) -> int:
        """How many documents a partition (or the container) holds."""
        rows = await self.query(container, queries.COUNT, partition)
        return int(sum(rows))
