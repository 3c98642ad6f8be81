"""Transactional batch: up to a hundred operations under one partition key, all of them or none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from embedded_cosmos.catalog import Container
from embedded_cosmos.charges import read_charge, write_charge
from embedded_cosmos.documents import Change, Conditions, Documents, Item
from embedded_cosmos.errors import CosmosError, bad_request, too_large
from embedded_cosmos.partition import PartitionKey
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


class _Failed(Exception):
    """Operation `index` failed, so the transaction must be rolled back."""

    def __init__(self, index: int, error: CosmosError) -> None:
        super().__init__(str(error))
        self.index = index
        self.error = error


def run_batch(documents: Documents, container: Container, key: PartitionKey, operations: Any, size: int) -> BatchResult:
    """Carry out the operations of a request body of `size` bytes in one transaction."""
    if not isinstance(operations, list):
        raise bad_request("A batch request must be an array of operations.")
    if not operations:
        raise bad_request("Batch request has no operations.")
    if len(operations) > MAX_OPERATIONS:
        raise bad_request(f"Batch request has more operations than what is supported. The limit is {MAX_OPERATIONS}.")
    if size > MAX_BATCH_BYTES:
        raise too_large(f"The batch has {size} bytes; the limit is {MAX_BATCH_BYTES}.")
    try:
        with documents.change(container) as change:
            results = [_run(change, key, index, operation) for index, operation in enumerate(operations)]
    except _Failed as failure:
        return _failed_result(failure, len(operations))
    charge = sum(result["requestCharge"] for result in results)
    return BatchResult(200, orjson.dumps(results), charge)


def _run(change: Change, key: PartitionKey, index: int, operation: Any) -> JsonObject:
    try:
        if not isinstance(operation, dict):
            raise bad_request("An operation of a batch must be an object.")
        action = _ACTIONS.get(operation.get("operationType", ""))
        if action is None:
            raise bad_request(f"'operationType' must be one of {', '.join(_ACTIONS)}.")
        return action(change, key, operation)
    except CosmosError as error:
        raise _Failed(index, error) from error


def _create(change: Change, key: PartitionKey, operation: JsonObject) -> JsonObject:
    return _written(201, change.create(key, operation.get("resourceBody")))


def _upsert(change: Change, key: PartitionKey, operation: JsonObject) -> JsonObject:
    item, is_new = change.upsert(key, operation.get("resourceBody"), _conditions(operation))
    return _written(201 if is_new else 200, item)


def _replace(change: Change, key: PartitionKey, operation: JsonObject) -> JsonObject:
    return _written(200, change.replace(key, _id(operation), operation.get("resourceBody"), _conditions(operation)))


def _patch(change: Change, key: PartitionKey, operation: JsonObject) -> JsonObject:
    body = operation.get("resourceBody")
    if not isinstance(body, dict):
        raise bad_request("A patch operation needs a 'resourceBody' object.")
    conditions = _conditions(operation)
    item = change.patch(key, _id(operation), body.get("operations"), body.get("condition"), conditions)
    return _written(200, item)


def _delete(change: Change, key: PartitionKey, operation: JsonObject) -> JsonObject:
    item = change.delete(key, _id(operation), _conditions(operation))
    return {"statusCode": 204, "requestCharge": write_charge(len(item.body))}


def _read(change: Change, key: PartitionKey, operation: JsonObject) -> JsonObject:
    item = change.read(key, _id(operation))
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


def _failed_result(failure: _Failed, count: int) -> BatchResult:
    results: list[JsonObject] = [{"statusCode": FAILED_DEPENDENCY, "requestCharge": 0.0} for _ in range(count)]
    failed = results[failure.index]
    failed |= {"statusCode": failure.error.status, "requestCharge": 1.0, "message": failure.error.message}
    if failure.error.substatus is not None:
        failed["subStatusCode"] = failure.error.substatus
    return BatchResult(MULTI_STATUS, orjson.dumps(results), 1.0)
