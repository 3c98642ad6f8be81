"""Batches: up to a hundred operations on one partition key. They succeed or fail together, or one by one (bulk)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from embedded_cosmos.catalog import Container
from embedded_cosmos.charges import read_charge, write_charge
from embedded_cosmos.documents import Change, Conditions, Documents, Item
from embedded_cosmos.errors import CosmosError, bad_request, too_large
from embedded_cosmos.partition import PartitionKey, parse_key
from embedded_cosmos.patch import parse_patch
from embedded_cosmos.properties import JsonObject

MAX_OPERATIONS = 100
MAX_BATCH_BYTES = 2 * 1024 * 1024
FAILED_DEPENDENCY = 424
MULTI_STATUS = 207


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The status of a batch, the results of its operations as JSON, and what it cost."""

    status: int
    body: bytes
    charge: float


def run_batch(documents: Documents, container: Container, key: PartitionKey, operations: Any, size: int) -> BatchResult:
    """Carry out the operations of a request body of `size` bytes in one transaction."""
    checked, results = _checked(operations, size), list[JsonObject]()
    try:
        with documents.change(container) as change:
            for operation in checked:
                results.append(_run(change, key, operation))
    except CosmosError as error:
        index = len(results)
        results = [_failed(error) if number == index else _not_tried() for number in range(len(checked))]
        return BatchResult(MULTI_STATUS, orjson.dumps(results), 1.0)
    return _result(200, results)


def run_bulk(
    documents: Documents, container: Container, operations: Any, size: int, stops_at_error: bool
) -> BatchResult:
    """Carry out operations with their own partition keys, each in its own transaction."""
    checked, results = _checked(operations, size), list[JsonObject]()
    status = 200
    for operation in checked:
        if status != 200 and stops_at_error:
            results.append(_not_tried())
            continue
        try:
            key = _key(container, operation)
            with documents.change(container) as change:
                result = _run(change, key, operation)
        except CosmosError as error:
            result, status = _failed(error), MULTI_STATUS
        results.append(result)
    return _result(status, results)


def _checked(operations: Any, size: int) -> list[Any]:
    if not isinstance(operations, list):
        raise bad_request("A batch request must be an array of operations.")
    if not operations:
        raise bad_request("Batch request has no operations.")
    if len(operations) > MAX_OPERATIONS:
        raise bad_request(f"Batch request has more operations than what is supported. The limit is {MAX_OPERATIONS}.")
    if size > MAX_BATCH_BYTES:
        raise too_large(f"The batch has {size} bytes; the limit is {MAX_BATCH_BYTES}.")
    return operations


def _key(container: Container, operation: Any) -> PartitionKey:
    header = operation.get("partitionKey") if isinstance(operation, dict) else None
    if not isinstance(header, str):
        raise bad_request("An operation of a batch that is not atomic needs its 'partitionKey', as JSON in a string.")
    properties = container.properties
    return parse_key(header, len(properties.partition_key_paths), properties.partition_key_version)


def _run(change: Change, key: PartitionKey, operation: Any) -> JsonObject:
    if not isinstance(operation, dict):
        raise bad_request("An operation of a batch must be an object.")
    action = _ACTIONS.get(operation.get("operationType", ""))
    if action is None:
        raise bad_request(f"'operationType' must be one of {', '.join(_ACTIONS)}.")
    return action(change, key, operation)


def _create(change: Change, key: PartitionKey, operation: JsonObject) -> JsonObject:
    return _written(201, change.create(key, operation.get("resourceBody")))


def _upsert(change: Change, key: PartitionKey, operation: JsonObject) -> JsonObject:
    item, is_new = change.upsert(key, operation.get("resourceBody"), _conditions(operation))
    return _written(201 if is_new else 200, item)


def _replace(change: Change, key: PartitionKey, operation: JsonObject) -> JsonObject:
    return _written(200, change.replace(key, _id(operation), operation.get("resourceBody"), _conditions(operation)))


def _patch(change: Change, key: PartitionKey, operation: JsonObject) -> JsonObject:
    operations, condition = parse_patch(operation.get("resourceBody"))
    return _written(200, change.patch(key, _id(operation), operations, condition, _conditions(operation)))


def _delete(change: Change, key: PartitionKey, operation: JsonObject) -> JsonObject:
    item = change.delete(key, _id(operation), _conditions(operation))
    return {"statusCode": 204, "requestCharge": write_charge(len(item.body))}


def _read(change: Change, key: PartitionKey, operation: JsonObject) -> JsonObject:
    item = change.read(key, _id(operation)).sound()
    result: JsonObject = {"statusCode": 200, "requestCharge": read_charge(len(item.body)), "eTag": item.etag}
    if operation.get("ifNoneMatch") in ("*", item.etag):
        return result | {"statusCode": 304}
    return result | {"resourceBody": orjson.Fragment(item.body)}


_ACTIONS: dict[str, Callable[[Change, PartitionKey, JsonObject], JsonObject]] = {
    "Create": _create,
    "Upsert": _upsert,
    "Replace": _replace,
    "Patch": _patch,
    "Delete": _delete,
    "Read": _read,
}


def _written(status: int, item: Item) -> JsonObject:
    return {
        "statusCode": status,
        "requestCharge": write_charge(len(item.body)),
        "eTag": item.etag,
        "resourceBody": orjson.Fragment(item.body),
    }


def _conditions(operation: JsonObject) -> Conditions:
    return Conditions(operation.get("ifMatch"), operation.get("ifNoneMatch"))


def _id(operation: JsonObject) -> str:
    item_id = operation.get("id")
    if not isinstance(item_id, str):
        raise bad_request(f"A {operation['operationType']} operation needs an 'id' string.")
    return item_id


def _failed(error: CosmosError) -> JsonObject:
    failed: JsonObject = {"statusCode": error.status, "requestCharge": 1.0, "message": error.message}
    return failed if error.substatus is None else failed | {"subStatusCode": error.substatus}


def _not_tried() -> JsonObject:
    return {"statusCode": FAILED_DEPENDENCY, "requestCharge": 0.0}


def _result(status: int, results: list[JsonObject]) -> BatchResult:
    return BatchResult(status, orjson.dumps(results), sum(result["requestCharge"] for result in results))
