"""Cosmos DB triggers: reads a container's change feed and hands it to a function, batch by batch.

Its position is stored in the lease container, as with the real trigger. A batch is repeated until the function succeeds
or its retry policy gives up. Then the feed continues.
"""

from __future__ import annotations

import asyncio
import json
import logging
from datetime import UTC, datetime, timedelta
from typing import Any

from azure.core import MatchConditions
from azure.core.exceptions import AzureError
from azure.cosmos.aio import ContainerProxy, CosmosClient
from azure.cosmos.exceptions import CosmosAccessConditionFailedError, CosmosResourceNotFoundError

from functions_host.errors import HostError
from functions_host.functions import Function
from functions_host.invoker import Invoker
from functions_host.settings import CosmosConnection
from functions_host.worker import json_datum

logger = logging.getLogger(__name__)

LEASE_SECONDS = 60.0
"""How long a lease lasts without renewal, in seconds."""
DEFAULT_POLL_MILLISECONDS = 5000
LEASE_CONTAINER = "leases"
CONTINUATIONS = "ContinuationTokens"
"""The field with the token of each part of the feed. There is one part for each physical partition."""

_UNSUPPORTED = ("leaseConnection", "leaseDatabaseName", "startFromTime", "preferredLocations")


class LeaseLost(Exception):
    """Another host reads this feed."""


class CosmosTrigger:
    """Feeds one function. `owner` is the name under which this host holds the lease."""

    def __init__(
        self, function: Function, invoker: Invoker, connection: CosmosConnection, owner: str, poll: float | None = None
    ) -> None:
        binding = function.trigger
        for name in _UNSUPPORTED:
            if binding.get(name) is not None:
                raise HostError(f"{function.name}: the local host does not do {name}")
        if binding.get("changeFeedMode") not in (None, "LatestVersion"):
            raise HostError(f"{function.name}: the local host reads the latest versions of a change feed only")
        self._function = function
        self._invoker = invoker
        self._connection = connection
        self._owner = owner
        self._poll = poll or float(binding.get("feedPollDelay") or DEFAULT_POLL_MILLISECONDS) / 1000
        self._id = ".".join(
            [binding.get("leaseContainerPrefix") or "", binding["databaseName"], binding["containerName"]]
        )
        self._lease: dict[str, Any] = {}
        self._renew_at = 0.0

    async def run(self) -> None:
        """Feeds the function until it is cancelled. If the store does not answer, it tries again."""
        while not _is_cancelled():
            client = self._client()
            try:
                await client.__aenter__()
                await self._feed(client)
            except AzureError as error:
                logger.warning("%s: the store does not answer: %s", self._function.name, error)
                await asyncio.sleep(self._poll)
            finally:
                # Also after a cancellation inside `__aenter__`, which `async with` would leave half open.
                await client.close()

    async def _feed(self, client: CosmosClient) -> None:
        while True:
            try:
                await self._read_on(client)
            except LeaseLost as lost:
                logger.warning("%s: another host reads this change feed: %s", self._function.name, lost)
                self._lease = {}
            except (AzureError, HostError) as error:
                logger.warning("%s: the change feed cannot be read: %s", self._function.name, error)
                self._lease = {}
            await asyncio.sleep(self._poll)

    def _client(self) -> CosmosClient:
        credential: Any = self._connection.key
        if credential is None:
            from azure.identity.aio import DefaultAzureCredential

            credential = DefaultAzureCredential()
        verify = self._connection.verify
        return CosmosClient(self._connection.endpoint, credential, connection_verify=verify)

    async def _read_on(self, client: CosmosClient) -> None:
        """Reads everything new and passes it to the function."""
        binding = self._function.trigger
        database = client.get_database_client(binding["databaseName"])
        leases = database.get_container_client(binding.get("leaseContainerName") or LEASE_CONTAINER)
        await self._hold(leases)
        feed = database.get_container_client(binding["containerName"])
        if CONTINUATIONS not in self._lease:
            parts = {json.dumps(part): None async for part in feed.read_feed_ranges()}
            await self._renew(leases, {CONTINUATIONS: parts})
        for part, token in dict(self._lease[CONTINUATIONS]).items():
            await self._read_part(feed, leases, part, token)

    async def _read_part(self, feed: ContainerProxy, leases: ContainerProxy, part: str, token: str | None) -> None:
        binding = self._function.trigger
        # The SDK gives no page, and so no token, of a feed that begins now and is empty. So what was there before the
        # trigger is read and passed over. The token "" says that there was nothing.
        passes_over = token is None and not binding.get("startFromBeginning")
        start = {"continuation": token} if token else {"feed_range": json.loads(part), "start_time": "Beginning"}
        pages = feed.query_items_change_feed(
            max_item_count=int(binding.get("maxItemsPerInvocation") or 100), **start
        ).by_page()
        reached = token or ""
        async for page in pages:
            documents = [document async for document in page]
            reached = pages.continuation_token or reached  # type: ignore[attr-defined]
            if passes_over:
                continue
            if documents:
                await self._hand_out(leases, documents)
            if reached != token:
                await self._move(leases, part, reached)
        if reached != self._lease[CONTINUATIONS][part]:
            await self._move(leases, part, reached)

    async def _move(self, leases: ContainerProxy, part: str, token: str) -> None:
        await self._renew(leases, {CONTINUATIONS: self._lease[CONTINUATIONS] | {part: token}})

    async def _hand_out(self, leases: ContainerProxy, documents: list[dict[str, Any]]) -> None:
        """Runs the function until it is done with a batch, and renews the lease meanwhile."""
        datum = json_datum(json.dumps(documents))
        running = asyncio.create_task(self._invoker.run_until_done(self._function, datum))
        try:
            while not (await asyncio.wait([running], timeout=LEASE_SECONDS / 3))[0]:
                await self._renew(leases, {})
        finally:
            running.cancel()

    async def _hold(self, leases: ContainerProxy) -> None:
        """Takes the lease of this feed, or renews it.

        Raises:
            LeaseLost: if another host holds it.
            HostError: if the lease container is missing.
        """
        if self._lease:
            if asyncio.get_running_loop().time() >= self._renew_at:
                await self._renew(leases, {})
            return
        try:
            found = dict(await leases.read_item(self._id, self._id))
        except CosmosResourceNotFoundError:
            try:
                self._lease = dict(await leases.create_item({"id": self._id, **self._stamp()}))
            except CosmosResourceNotFoundError as error:
                raise HostError("the lease container is missing; create_memory_store() creates it") from error
            return
        if found["Owner"] != self._owner and datetime.fromisoformat(found["Expires"]) > datetime.now(UTC):
            raise LeaseLost(found["Owner"])
        self._lease = found
        await self._renew(leases, {})

    async def _renew(self, leases: ContainerProxy, changes: dict[str, Any]) -> None:
        try:
            self._lease = dict(
                await leases.replace_item(
                    self._id,
                    self._lease | changes | self._stamp(),
                    etag=self._lease["_etag"],
                    match_condition=MatchConditions.IfNotModified,
                )
            )
        except CosmosAccessConditionFailedError as error:
            raise LeaseLost("another host took it") from error

    def _stamp(self) -> dict[str, str]:
        self._renew_at = asyncio.get_running_loop().time() + LEASE_SECONDS / 3
        expires = datetime.now(UTC) + timedelta(seconds=LEASE_SECONDS)
        return {"Owner": self._owner, "Expires": expires.isoformat()}


def _is_cancelled() -> bool:
    """Whether this task was cancelled. A client that is closing swallows the cancellation."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
