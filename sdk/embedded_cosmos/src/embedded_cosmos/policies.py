"""Container definitions: what is allowed, the defaults, and what may change later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from embedded_cosmos.errors import bad_request
from embedded_cosmos.properties import (
    ContainerProperties,
    JsonObject,
    VectorEmbedding,
    entry_path,
    json_list,
    json_object,
)
from embedded_cosmos.query.computed import check_computed_properties

MAX_FLAT_DIMENSIONS = 505
MAX_QUANTIZATION_BYTES = 512
SEARCH_LIST_SIZES = range(25, 501)
MAX_ID_BYTES = 1023
MAX_RESOURCE_NAME = 255

_VECTOR_INDEXES = ("flat", "quantizedFlat", "diskANN")
_KEPT = (
    "id",
    "partitionKey",
    "indexingPolicy",
    "vectorEmbeddingPolicy",
    "fullTextPolicy",
    "defaultTtl",
    "conflictResolutionPolicy",
    "geospatialConfig",
    "uniqueKeyPolicy",
    "computedProperties",
)
_REFUSED = {
    "changeFeedPolicy": "the all-versions-and-deletes change feed",
    "analyticalStorageTtl": "the analytical store",
    "materializedViewDefinition": "global secondary indexes",
    "clientEncryptionPolicy": "client-side encryption",
}


def check_name(value: Any) -> str:
    """Checks the id of a database or container. Raises 400 if it is invalid."""
    name = _check_id(value)
    if len(name) > MAX_RESOURCE_NAME:
        raise bad_request(f"Ensure to provide a unique non-empty string less than '{MAX_RESOURCE_NAME}' characters.")
    return name


def check_item_id(value: Any) -> str:
    """Checks the id of an item. Raises 400 if it is invalid."""
    name = _check_id(value)
    if len(name.encode()) > MAX_ID_BYTES:
        raise bad_request(f"Ensure to provide a unique non-empty string less than '{MAX_ID_BYTES + 1}' characters.")
    return name


def _check_id(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise bad_request("The required property 'id' must be a string that is not empty.")
    if any(character in value for character in "/\\?#"):
        raise bad_request(f"The id '{value}' contains one of the characters / \\ ? #, which are not allowed.")
    if value.endswith(" "):
        raise bad_request(f"The id '{value}' ends with a space, which is not allowed.")
    return value


def new_definition(body: JsonObject) -> JsonObject:
    """The definition of a container to be created: checked, with the defaults of Cosmos DB filled in."""
    check_name(body.get("id"))
    for name, what in _REFUSED.items():
        if body.get(name):
            raise bad_request(f"'{name}' is not supported: the embedded engine does not cover {what}.")
    if json_object(body.get("uniqueKeyPolicy"), "uniqueKeyPolicy").get("uniqueKeys"):
        raise bad_request("'uniqueKeyPolicy' is not supported: the embedded engine does not enforce unique keys.")
    for name in body:
        if name not in _KEPT and name not in _REFUSED and not name.startswith("_"):
            raise bad_request(f"'{name}' is not a property of a container that the embedded engine knows.")
    properties = ContainerProperties.from_json(body)
    _check_vector_indexes(properties.indexing_policy, properties.vector_embeddings)
    _check_text_indexes(properties.indexing_policy, properties.full_text_paths)
    check_computed_properties(properties.computed_properties)
    definition = {name: body[name] for name in _KEPT if body.get(name) is not None}
    kind = "MultiHash" if len(properties.partition_key_paths) > 1 else "Hash"
    definition["partitionKey"] = {"kind": kind, **body["partitionKey"], "version": properties.partition_key_version}
    definition["indexingPolicy"] = _with_index_defaults(properties.indexing_policy)
    definition.setdefault(
        "conflictResolutionPolicy",
        {"mode": "LastWriterWins", "conflictResolutionPath": "/_ts", "conflictResolutionProcedure": ""},
    )
    definition.setdefault("geospatialConfig", {"type": "Geography"})
    return definition


def changed_definition(old: JsonObject, body: JsonObject) -> JsonObject:
    """The definition after a replace; raises 400 when it changes what is fixed at creation."""
    new = new_definition(body)
    if new["id"] != old["id"]:
        raise bad_request("The id of a container cannot be changed.")
    if new["partitionKey"] != old["partitionKey"]:
        raise bad_request("The partition key of a container cannot be changed.")
    if not _keeps(_embeddings(old), _embeddings(new)):
        raise bad_request("Paths in existing embedding policy cannot be modified in Collection Replace.")
    if not _keeps(old["indexingPolicy"].get("vectorIndexes"), new["indexingPolicy"].get("vectorIndexes")):
        raise bad_request("Paths in existing vector indexing policy cannot be modified in Collection Replace.")
    return new


def _embeddings(definition: JsonObject) -> list[JsonObject] | None:
    entries: list[JsonObject] | None = (definition.get("vectorEmbeddingPolicy") or {}).get("vectorEmbeddings")
    return entries


def _keeps(old: list[JsonObject] | None, new: list[JsonObject] | None) -> bool:
    """Whether every path of a policy is still there, unchanged. Others may be added."""
    return all(entry in (new or []) for entry in old or [])


def _with_index_defaults(policy: JsonObject) -> JsonObject:
    mode = policy.get("indexingMode", "consistent")
    if not isinstance(mode, str) or mode.lower() not in ("consistent", "none"):
        raise bad_request(f"The indexing mode {mode!r} is not supported; use 'consistent' or 'none'.")
    filled = {"indexingMode": mode.lower(), "automatic": policy.get("automatic", mode.lower() == "consistent")}
    if mode.lower() == "consistent":
        included = json_list(policy.get("includedPaths", [{"path": "/*"}]), "includedPaths")
        # Older clients choose how a path is indexed. The service accepts that and ignores it.
        filled["includedPaths"] = [{"path": entry_path(entry, "includedPaths")} for entry in included]
        excluded = list(policy.get("excludedPaths", []))
        if not any(entry_path(entry, "excludedPaths") == '/"_etag"/?' for entry in excluded):
            excluded.append({"path": '/"_etag"/?'})
        filled["excludedPaths"] = excluded
    return filled | {name: value for name, value in policy.items() if name not in filled}


def _check_vector_indexes(indexing: JsonObject, embeddings: Mapping[str, VectorEmbedding]) -> None:
    for entry in json_list(indexing.get("vectorIndexes"), "vectorIndexes"):
        path = entry_path(entry, "vectorIndexes")
        kind = entry.get("type")
        if kind not in _VECTOR_INDEXES:
            raise bad_request(
                f"The Vector Indexing Policy's Index Type::{kind} is invalid; use one of {', '.join(_VECTOR_INDEXES)}."
            )
        if path not in embeddings:
            raise bad_request(f"The Vector Indexing Policy's path::{path} not matching in Embedding's path.")
        dimensions = embeddings[path].dimensions
        if kind == "flat" and dimensions > MAX_FLAT_DIMENSIONS:
            raise bad_request(
                f"The Vector Indexing Policy's path::{path} has {dimensions} dimensions,"
                f" but a flat index allows at most {MAX_FLAT_DIMENSIONS}."
            )
        quantized = range(1, min(dimensions, MAX_QUANTIZATION_BYTES) + 1)
        _check_tuning(entry, "quantizationByteSize", quantized)
        _check_tuning(entry, "indexingSearchListSize", SEARCH_LIST_SIZES)
        _check_shard_paths(entry.get("vectorIndexShardKey"))


def _check_tuning(entry: JsonObject, name: str, allowed: range) -> None:
    value = entry.get(name)
    if value is not None and value not in allowed:
        raise bad_request(
            f"The Vector Indexing Policy parameter {name[0].upper()}{name[1:]} value :: {value} is out of range."
            f" The allowed range is between {allowed[0]} and {allowed[-1]}."
        )


def _check_shard_paths(paths: Any) -> None:
    if paths is None:
        return
    if not isinstance(paths, list):
        raise bad_request("One of the specified inputs is invalid: 'vectorIndexShardKey' must be an array of paths.")
    if len(paths) > 1:
        raise bad_request(
            f"The number of shard paths defined in the Vector Indexing Policy: {len(paths)} exceeds the maximum: 1."
        )
    for path in paths:
        if not isinstance(path, str) or not path.startswith("/"):
            raise bad_request(f"The Vector Indexing Policy has an invalid Shard Path: {path}.")


def _check_text_indexes(indexing: JsonObject, texts: Mapping[str, str]) -> None:
    for entry in json_list(indexing.get("fullTextIndexes"), "fullTextIndexes"):
        path = entry_path(entry, "fullTextIndexes")
        if path not in texts:
            raise bad_request(f"The full-text index path '{path}' is not in the Full Text Policy.")
