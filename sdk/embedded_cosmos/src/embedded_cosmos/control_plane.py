"""Operations on the account, databases, containers, partition key ranges and offers."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from embedded_cosmos.catalog import OWNER_NOT_FOUND, Catalog, Container, Database
from embedded_cosmos.messages import (
    AUTOSCALE_SETTINGS,
    INDEX_PROGRESS,
    OFFER_THROUGHPUT,
    POPULATE_QUOTA,
    POPULATE_STATISTICS,
    RESOURCE_USAGE,
    Reply,
    Request,
    feed_reply,
    json_reply,
)
from embedded_cosmos.offers import Offers, parse_offer
from embedded_cosmos.partition_map import PhysicalPartition
from embedded_cosmos.properties import JsonObject
from embedded_cosmos.queries import Query, query_resources
from embedded_cosmos.shards import ShardCache

REGION = "Embedded"


class ControlPlane:
    """Operations on everything but items."""

    def __init__(self, catalog: Catalog, offers: Offers, shards: ShardCache, clock: Callable[[], float]) -> None:
        self._catalog = catalog
        self._offers = offers
        self._shards = shards
        self._clock = clock

    def read_account(self, request: Request) -> Reply:
        """The account document. Clients take their base URL from it, so it holds the URL of the request."""
        location = {"name": REGION, "databaseAccountEndpoint": request.base_url}
        account = {
            "_self": "",
            "id": "embedded",
            "_rid": "embedded",
            "_dbs": "//dbs/",
            "media": "//media/",
            "addresses": "//addresses/",
            "writableLocations": [location],
            "readableLocations": [location],
            "enableMultipleWriteLocations": False,
            "userConsistencyPolicy": {"defaultConsistencyLevel": "Session"},
        }
        return json_reply(200, account)

    def list_databases(self, _request: Request) -> Reply:
        """All databases."""
        return feed_reply("", "Databases", self._databases())

    def create_or_query_databases(self, request: Request) -> Reply:
        """Make a database, or query them."""
        if request.is_query:
            return _query(request, "", "Databases", self._databases())
        database = self._catalog.create_database(request.json_object(), _offer(request))
        return json_reply(201, database.to_json())

    def read_database(self, _request: Request, ref: str) -> Reply:
        """One database."""
        return json_reply(200, self._catalog.database(ref).to_json())

    def delete_database(self, request: Request, ref: str) -> Reply:
        """Delete a database with its containers."""
        database = self._catalog.database(ref)
        for container in self._catalog.delete_database(database, request.conditions.if_match):
            self._shards.forget(container)
        return Reply(204)

    def list_containers(self, _request: Request, database: str) -> Reply:
        """All containers of a database."""
        owner = self._owner(database)
        return feed_reply(owner.rid, "DocumentCollections", self._containers(owner))

    def create_or_query_containers(self, request: Request, database: str) -> Reply:
        """Make a container, or query them."""
        owner = self._owner(database)
        if request.is_query:
            return _query(request, owner.rid, "DocumentCollections", self._containers(owner))
        container = self._catalog.create_container(owner, request.json_object(), _offer(request))
        return _container_reply(201, container)

    def read_container(self, request: Request, database: str, ref: str) -> Reply:
        """One container, with its size if the client asks for it."""
        container = self._catalog.container(database, ref)
        wants_quota, wants_statistics = request.flag(POPULATE_QUOTA), request.flag(POPULATE_STATISTICS)
        if not wants_quota and not wants_statistics:
            return _container_reply(200, container)
        usages = {each.id: self._catalog.usage(container, each.epks) for each in container.partitions.partitions}
        body = container.to_json()
        if wants_statistics:
            body["statistics"] = [
                {"id": range_id, "sizeInKB": usage.kibibytes, "documentCount": usage.items, "partitionKeys": []}
                for range_id, usage in usages.items()
            ]
        reply = json_reply(200, body)
        reply.container = container
        if wants_quota:
            reply.headers[INDEX_PROGRESS] = "100"
            items = sum(usage.items for usage in usages.values())
            kibibytes = sum(usage.kibibytes for usage in usages.values())
            reply.headers[RESOURCE_USAGE] = f"documentsCount={items};documentsSize={kibibytes}"
        return reply

    def replace_container(self, request: Request, database: str, ref: str) -> Reply:
        """Change a container's TTL, indexing or full-text policy."""
        container = self._catalog.container(database, ref)
        self._catalog.replace_container(container, request.json_object(), request.conditions.if_match)
        self._shards.forget(container)
        return _container_reply(200, container)

    def delete_container(self, request: Request, database: str, ref: str) -> Reply:
        """Delete a container with its items."""
        container = self._catalog.container(database, ref)
        self._catalog.delete_container(container, request.conditions.if_match)
        self._shards.forget(container)
        return Reply(204)

    def list_ranges(self, request: Request, database: str, ref: str) -> Reply:
        """The partition key ranges of a container; 304 if the client has them already, so that it stops asking."""
        container = self._catalog.container(database, ref, OWNER_NOT_FOUND)
        etag = f'"{container.rid}"'
        if request.conditions.if_none_match == etag:
            return Reply(304, etag=etag, container=container)
        ranges = [_partition_json(container, partition, etag) for partition in container.partitions.partitions]
        reply = feed_reply(container.rid, "PartitionKeyRanges", ranges)
        reply.etag, reply.container = etag, container
        return reply

    def list_offers(self, _request: Request) -> Reply:
        """All offers."""
        return feed_reply("", "Offers", self._offers.list())

    def query_offers(self, request: Request) -> Reply:
        """Query the offers; a client finds a container's offer by the container's `_self`."""
        return _query(request, "", "Offers", self._offers.list())

    def read_offer(self, _request: Request, ref: str) -> Reply:
        """One offer."""
        return json_reply(200, self._offers.find(ref))

    def replace_offer(self, request: Request, ref: str) -> Reply:
        """Change the throughput of a database or container."""
        return json_reply(200, self._offers.replace(ref, request.json_object(), int(self._clock())))

    def _owner(self, ref: str) -> Database:
        return self._catalog.database(ref, OWNER_NOT_FOUND)

    def _databases(self) -> list[JsonObject]:
        return [database.to_json() for database in self._catalog.databases()]

    def _containers(self, owner: Database) -> list[JsonObject]:
        return [container.to_json() for container in self._catalog.containers(owner)]


def _offer(request: Request) -> JsonObject | None:
    return parse_offer(request.headers.get(OFFER_THROUGHPUT), request.headers.get(AUTOSCALE_SETTINGS))


def _query(request: Request, rid: str, name: str, resources: list[JsonObject]) -> Reply:
    return feed_reply(rid, name, query_resources(Query.from_json(request.json_object()), resources))


def _container_reply(status: int, container: Container) -> Reply:
    body = orjson.dumps(container.to_json())
    return Reply(status, body, etag=container.etag, container=container)


def _partition_json(container: Container, partition: PhysicalPartition, etag: str) -> JsonObject:
    return {
        "_rid": container.rid,
        "id": partition.id,
        "_etag": etag,
        "minInclusive": partition.epks.min,
        "maxExclusive": partition.epks.max,
        "ridPrefix": int(partition.id),
        "_self": f"{container.self_link}pkranges/{partition.id}/",
        "throughputFraction": 1 / len(container.partitions.partitions),
        "status": "online",
        "parents": [],
        "_ts": container.ts,
    }
