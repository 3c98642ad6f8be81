"""Requests and responses of the REST contract, free of any HTTP library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from embedded_cosmos.catalog import Container
from embedded_cosmos.documents import Conditions
from embedded_cosmos.errors import bad_request
from embedded_cosmos.partition import FULL_RANGE, EpkRange, PartitionKey, parse_key
from embedded_cosmos.partition_map import PhysicalPartition

ACTIVITY_ID = "x-ms-activity-id"
ALT_CONTENT_PATH = "x-ms-alt-content-path"
AUTOSCALE_SETTINGS = "x-ms-cosmos-offer-autopilot-settings"
CONTINUATION = "x-ms-continuation"
CONTINUES_ON_ERROR = "x-ms-cosmos-batch-continue-on-error"
END_EPK = "x-ms-end-epk"
INDEX_PROGRESS = "x-ms-documentdb-collection-index-transformation-progress"
INDEX_UTILIZATION = "x-ms-cosmos-index-utilization"
INTENDED_CONTAINER_RID = "x-ms-cosmos-intended-collection-rid"
IS_BATCH = "x-ms-cosmos-is-batch-request"
IS_BATCH_ATOMIC = "x-ms-cosmos-batch-atomic"
IS_QUERY = "x-ms-documentdb-isquery"
IS_QUERY_PLAN = "x-ms-cosmos-is-query-plan-request"
IS_UPSERT = "x-ms-documentdb-is-upsert"
ITEM_COUNT = "x-ms-item-count"
MAX_ITEM_COUNT = "x-ms-max-item-count"
OFFER_THROUGHPUT = "x-ms-offer-throughput"
PARTITION_KEY = "x-ms-documentdb-partitionkey"
PARTITION_KEY_RANGE = "x-ms-documentdb-partitionkeyrangeid"
POPULATE_INDEX_METRICS = "x-ms-cosmos-populateindexmetrics"
POPULATE_METRICS = "x-ms-documentdb-populatequerymetrics"
POPULATE_QUOTA = "x-ms-documentdb-populatequotainfo"
POPULATE_STATISTICS = "x-ms-documentdb-populatepartitionstatistics"
QUERY_CROSS_PARTITION = "x-ms-documentdb-query-enablecrosspartition"
QUERY_FEATURES = "x-ms-cosmos-supported-query-features"
QUERY_METRICS = "x-ms-documentdb-query-metrics"
REQUEST_CHARGE = "x-ms-request-charge"
RESOURCE_USAGE = "x-ms-resource-usage"
RETRY_AFTER_MS = "x-ms-retry-after-ms"
SESSION_TOKEN = "x-ms-session-token"
START_EPK = "x-ms-start-epk"
SUBSTATUS = "x-ms-substatus"

RID_MISMATCH = 1024


@dataclass(frozen=True, slots=True)
class Request:
    """A request. Headers are looked up in lower case, so give a lower-case or case-insensitive mapping."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""
    base_url: str = ""
    at_once: bool = False
    """Whether a request that may take long raises TakesLong."""

    def flag(self, name: str) -> bool:
        """Whether a header has the value true."""
        return self.headers.get(name, "").lower() == "true"

    def json(self) -> Any:
        """The body, parsed; raises 400."""
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError as error:
            raise bad_request(f"The request body is not valid JSON: {error}.") from None

    def json_object(self) -> dict[str, Any]:
        """The body as an object; raises 400."""
        body = self.json()
        if not isinstance(body, dict):
            raise bad_request("The request body must be a JSON object.")
        return body

    @property
    def conditions(self) -> Conditions:
        """The ETag conditions."""
        return Conditions(self.headers.get("if-match"), self.headers.get("if-none-match"))

    @property
    def is_query(self) -> bool:
        """Whether the body is a query."""
        content_type = self.headers.get("content-type", "")
        return self.flag(IS_QUERY) or content_type.startswith("application/query+json")

    @property
    def max_item_count(self) -> int | None:
        """The most rows of a page; None: the engine decides."""
        text = self.headers.get(MAX_ITEM_COUNT, "-1")
        try:
            count = int(text)
        except ValueError:
            count = 0
        if count == 0 or count < -1:
            raise bad_request(f"'{MAX_ITEM_COUNT}' must be -1 or a positive integer, not {text!r}.")
        return None if count == -1 else count

    def key(self, container: Container) -> PartitionKey | None:
        """The partition key in the headers, full or a prefix."""
        header, properties = self.headers.get(PARTITION_KEY), container.properties
        if header is None:
            return None
        return parse_key(header, len(properties.partition_key_paths), properties.partition_key_version)

    def required_key(self, container: Container) -> PartitionKey:
        """The partition key that an operation on items needs; raises 400."""
        key = self.key(container)
        if key is None:
            raise bad_request("PartitionKey value must be supplied for this operation.")
        return key

    def partition(self, container: Container) -> PhysicalPartition | None:
        """The physical partition in the headers; raises 410 when it does not exist."""
        header = self.headers.get(PARTITION_KEY_RANGE)
        return None if header is None else container.partitions.named(header)

    def epks(self, container: Container) -> EpkRange:
        """The items of a query or a feed: a partition, a key or a range in it, or all."""
        partition, key = self.partition(container), self.key(container)
        bounds = FULL_RANGE if partition is None else partition.epks
        if key is not None:
            return key.range & bounds
        start, end = self.headers.get(START_EPK), self.headers.get(END_EPK)
        if start is None or end is None:
            return bounds
        epks = EpkRange(start, end)
        if partition is not None:
            container.partitions.check_within(partition, epks)
        return epks

    def check_container(self, container: Container) -> None:
        """Raises 400/1024 if the client means an earlier container with this name."""
        intended = self.headers.get(INTENDED_CONTAINER_RID)
        if intended is not None and intended != container.rid:
            raise bad_request("The container was created anew since the client read its properties.", RID_MISMATCH)


@dataclass(slots=True)
class Response:
    """A response. Header names are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes = b""


@dataclass(slots=True)
class Reply:
    """The answer of an operation. The REST layer adds the headers of every response."""

    status: int
    body: bytes = b""
    charge: float = 1.0
    etag: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    container: Container | None = None
    range_id: str = "0"
    """The partition that answered."""


def json_reply(status: int, resource: dict[str, Any]) -> Reply:
    """A reply with one resource."""
    return Reply(status, orjson.dumps(resource), etag=resource.get("_etag"))


def feed_body(rid: str, name: str, rows: Iterable[bytes], count: int) -> bytes:
    """The envelope of a list: `{"_rid", name: [rows], "_count"}`."""
    return b'{"_rid":"%b","%b":[%b],"_count":%d}' % (rid.encode(), name.encode(), b",".join(rows), count)


def feed_reply(rid: str, name: str, resources: list[dict[str, Any]]) -> Reply:
    """A reply with all resources of a kind."""
    rows = [orjson.dumps(resource) for resource in resources]
    return Reply(200, feed_body(rid, name, rows, len(rows)), headers={ITEM_COUNT: str(len(rows))})
