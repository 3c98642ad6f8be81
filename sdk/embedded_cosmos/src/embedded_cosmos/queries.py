"""Queries: chooses their shards, and cuts their rows into pages."""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import uuid4

import orjson

from embedded_cosmos.catalog import Container
from embedded_cosmos.errors import PlanNeeded, TakesLong, bad_request, damaged
from embedded_cosmos.feed import DEFAULT_PAGE_ROWS, MAX_PAGE_BYTES, Page
from embedded_cosmos.few_of_many import few_of_many
from embedded_cosmos.first_page import first_page
from embedded_cosmos.key_values import key_values
from embedded_cosmos.partition import MAX_EPK, MIN_EPK, EpkRange
from embedded_cosmos.partition_map import PhysicalPartition
from embedded_cosmos.properties import ContainerProperties, JsonObject
from embedded_cosmos.query.binding import closures_of, parse_bound
from embedded_cosmos.query.execute import Scope, execute
from embedded_cosmos.query.index import Shard
from embedded_cosmos.query.plan import needs_merging, plan
from embedded_cosmos.shards import ShardCache, is_in_one_shard
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.aggregates import is_aggregate
from embedded_cosmos.sql.parser import parse
from embedded_cosmos.storage import Storage

MAX_KEPT_ROWS = 200_000
FROM_ONE, FROM_ALL = 1, 3
"""How many queries to one shard, and to several, are answered from the file before the shards are loaded."""
QUICK_DOCUMENTS = 100
"""A query over at most this many documents takes 1 ms, which is not worth a change of threads."""


@dataclass(frozen=True)
class Query:
    """The text of a query and its parameters."""

    text: str
    parameters: list[JsonObject]

    @classmethod
    def from_json(cls, body: JsonObject) -> Query:
        """Parse the body of a query request; raises 400."""
        text, parameters = body.get("query"), body.get("parameters") or []
        if not isinstance(text, str):
            raise bad_request("A query request needs a 'query' string.")
        if not isinstance(parameters, list) or not all(isinstance(entry, dict) for entry in parameters):
            raise bad_request("'parameters' must be an array of objects with 'name' and 'value'.")
        return cls(text, parameters)

    @property
    def is_aggregate(self) -> bool:
        """Whether the rows are aggregates, not items; raises 400."""
        return is_aggregate(parse(self.text))

    @property
    def ranks(self) -> bool:
        """Whether it orders by RANK; raises 400."""
        return parse(self.text).by_rank

    @cached_property
    def statement(self) -> ast.Query:
        """The syntax tree, parameters filled in; raises 400."""
        return parse_bound(self.text, self.parameters)

    def plan(self, properties: ContainerProperties, features: frozenset[str] | None = None) -> JsonObject:
        """The plan by which a client (with these features) runs the query over several partitions; raises 400."""
        return plan(self.text, self.parameters, properties, features)


class Queries:
    """Runs queries, and keeps the rows of queries that were not read to their end.

    A continuation token names the kept rows and the next one, so pages are cut from one state of the container,
    whatever is written in between. If the rows are gone (after a restart, or evicted), the query runs again and
    continues from the same position.
    """

    def __init__(self, storage: Storage, shards: ShardCache) -> None:
        self._storage = storage
        self._shards = shards
        self._kept = _KeptRows()
        self._unloaded_before: Counter[tuple[int, EpkRange]] = Counter()

    def run(
        self,
        container: Container,
        query: Query,
        scope: Scope,
        partitions: Sequence[PhysicalPartition],
        limit: int | None,
        continuation: str | None,
        *,
        at_once: bool = False,
    ) -> Page:
        """One page of a query's rows, from one partition. Each partition is read to its end before the next.

        Raises 400 with the plan if that would not give the rows of the query. Raises TakesLong if the query must be
        answered `at_once` but may read many documents.
        """
        # Without a plan, Azure ranks within one key only.
        is_ranked = query.ranks and scope.is_cross_partition and len(container.partitions.partitions) > 1
        if is_ranked or (len(partitions) > 1 and needs_merging(query.text)):
            raise PlanNeeded(orjson.dumps(query.plan(container.properties)).decode())
        fingerprint = _fingerprint(container, query)
        position = _Position(uuid4().hex, 0, partitions[0].id)
        if continuation is not None:
            position = _parse_token(continuation, fingerprint, partitions)
        number = next(number for number, each in enumerate(partitions) if each.id == position.range_id)
        part = _part(scope, partitions[number]) if len(partitions) > 1 else scope
        epks = EpkRange(part.epk_min, part.epk_max)
        rows = self._kept.get(position.kept_id, epks)
        if rows is None:
            rows = self._rows(container, query, part, epks, at_once=at_once)
        elif at_once:
            raise TakesLong
        page = _cut(rows, position.start, limit)
        end = position.start + len(page)
        following: _Position | None = None
        if end < len(rows):
            self._kept.put(position.kept_id, epks, rows)
            following = _Position(position.kept_id, end, position.range_id)
        elif number + 1 < len(partitions):
            following = _Position(uuid4().hex, 0, partitions[number + 1].id)
        token = None if following is None else _format_token(fingerprint, following)
        return Page(page, token, position.range_id)

    def _rows(
        self, container: Container, query: Query, scope: Scope, epks: EpkRange, *, at_once: bool
    ) -> Sequence[Any]:
        if at_once:
            shard = self._shards.loaded(container, epks)
            if shard is None or not shard.is_quick(query.text):
                raise TakesLong
        else:
            rows = self._unloaded(container, query, scope, epks)
            if rows is not None:
                return rows
        at_most = QUICK_DOCUMENTS if at_once else None
        with self._shards.covering(container, epks) as shards:
            _refuse_damaged(query, shards)
            try:
                rows = execute(
                    query.statement,
                    shards,
                    scope,
                    container.properties,
                    at_most=at_most,
                    closures=closures_of(query.text),
                )
            except TakesLong:
                shards[0].ran(query.text, quick=False)
                raise
            for shard in shards:
                shard.ran(query.text, quick=True)
        return rows

    def _unloaded(self, container: Container, query: Query, scope: Scope, epks: EpkRange) -> list[Any] | None:
        """The rows of a query that needs no shard in memory; None for others.

        Only for the first queries: who goes on asking gets the shards loaded.
        """
        if self._shards.all_loaded(container, epks):
            return None
        storage, statement = self._storage, query.statement
        if not is_in_one_shard(epks):
            rows = key_values(storage, container, statement, self._shards.keys(container, epks))
            if rows is not None:
                return rows
        asked = (container.number, epks)
        if self._unloaded_before[asked] >= (FROM_ONE if is_in_one_shard(epks) else FROM_ALL):
            return None
        answer = first_page if is_in_one_shard(epks) else few_of_many
        rows = answer(storage, container, statement, scope)
        self._unloaded_before[asked] += rows is not None
        return rows


def _refuse_damaged(query: Query, shards: Iterable[Shard]) -> None:
    """Raises 500 if a parameter names a damaged document, because "not found" would be wrong."""
    for shard in shards:
        for item_id in shard.damaged.values():
            if any(parameter.get("value") == item_id for parameter in query.parameters):
                raise damaged(item_id)


def query_resources(query: Query, resources: Iterable[JsonObject]) -> list[Any]:
    """The rows of a query over databases, containers or offers."""
    shard = Shard(_RESOURCES, lambda _: None)
    for number, resource in enumerate(resources):
        shard.put(number, resource, MIN_EPK)
    scope = Scope(MIN_EPK, MAX_EPK, None, is_cross_partition=False)
    return execute(query.statement, [shard], scope, _RESOURCES)


_RESOURCES = ContainerProperties.from_json({"id": "resources", "partitionKey": {"paths": ["/id"]}})


@dataclass(frozen=True, slots=True)
class _Position:
    """The position of the next row: its number among the kept rows of a partition."""

    kept_id: str
    start: int
    range_id: str


class _KeptRows:
    """Rows of unfinished queries. The least recently read are dropped first.

    If a client continues under another name for the same keys, it gets equal rows that are kept separately.
    """

    def __init__(self) -> None:
        self._rows: OrderedDict[tuple[str, EpkRange], Sequence[Any]] = OrderedDict()
        self._count = 0

    def get(self, kept_id: str, epks: EpkRange) -> Sequence[Any] | None:
        rows = self._rows.get((kept_id, epks))
        if rows is not None:
            self._rows.move_to_end((kept_id, epks))
        return rows

    def put(self, kept_id: str, epks: EpkRange, rows: Sequence[Any]) -> None:
        if (kept_id, epks) in self._rows:
            return
        self._rows[kept_id, epks] = rows
        self._count += len(rows)
        while self._count > MAX_KEPT_ROWS and len(self._rows) > 1:
            _, pushed_out = self._rows.popitem(last=False)
            self._count -= len(pushed_out)


def _cut(rows: Sequence[Any], start: int, limit: int | None) -> list[bytes]:
    page: list[bytes] = []
    size = 0
    for row in rows[start : start + (limit or DEFAULT_PAGE_ROWS)]:
        encoded = orjson.dumps(row)
        size += len(encoded)
        if page and size > MAX_PAGE_BYTES:
            break
        page.append(encoded)
    return page


def _fingerprint(container: Container, query: Query) -> str:
    identity = orjson.dumps([container.rid, query.text, query.parameters])
    return hashlib.blake2b(identity, digest_size=8).hexdigest()


def _part(scope: Scope, partition: PhysicalPartition) -> Scope:
    """The part of a scope that lies in one partition."""
    epks = EpkRange(scope.epk_min, scope.epk_max) & partition.epks
    return Scope(epks.min, epks.max, scope.partition_key, is_cross_partition=False)


def _format_token(fingerprint: str, position: _Position) -> str:
    return f"{fingerprint}.{position.kept_id}.{position.start}.{position.range_id}"


def _parse_token(token: str, fingerprint: str, partitions: Sequence[PhysicalPartition]) -> _Position:
    match token.split("."):
        case [digest, kept_id, start, range_id] if start.isdecimal():
            if digest != fingerprint:
                raise bad_request("The continuation token belongs to another query, or to other parameters.")
            if any(partition.id == range_id for partition in partitions):
                return _Position(kept_id, int(start), range_id)
    raise bad_request(f"The continuation token is not one of a query: {token}")
