"""The properties of a container: its JSON, parsed once and checked (keys, indexes, vectors, texts, TTL)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, cast

from embedded_cosmos.errors import bad_request

JsonObject = dict[str, Any]
DataType = Literal["float32", "float16", "int8", "uint8"]
DistanceFunction = Literal["cosine", "dotproduct", "euclidean"]
Order = Literal["ascending", "descending"]

SYSTEM_PROPERTIES = frozenset({"_rid", "_self", "_etag", "_attachments", "_ts", "_lsn"})
"""Properties that the store adds to a document. A client's values for them are ignored."""

MAX_KEY_LEVELS = 3
MAX_VECTOR_DIMENSIONS = 4096
MAX_TTL = 2**31 - 1
TEXT_LANGUAGES = ("en-US", "de-DE", "es-ES", "fr-FR", "it-IT", "pt-BR", "pt-PT")

_DATA_TYPES = ("float32", "float16", "int8", "uint8")
_DISTANCES = ("cosine", "dotproduct", "euclidean")


@dataclass(frozen=True, slots=True)
class VectorEmbedding:
    """One path of the vector policy."""

    path: str
    data_type: DataType
    dimensions: int
    distance_function: DistanceFunction


@dataclass(frozen=True, slots=True)
class CompositePath:
    """One column of a composite index."""

    path: str
    order: Order


@dataclass(frozen=True)
class ContainerProperties:
    """The definition of a container, validated."""

    id: str
    rid: str
    partition_key_paths: tuple[str, ...]
    partition_key_version: int
    indexing_policy: JsonObject
    vector_embeddings: Mapping[str, VectorEmbedding]
    full_text_paths: Mapping[str, str]
    full_text_language: str | None
    """The language of paths that the full-text policy does not name; None without a policy."""
    composite_indexes: tuple[tuple[CompositePath, ...], ...]
    included_paths: tuple[str, ...]
    excluded_paths: tuple[str, ...]
    default_ttl: int | None
    computed_properties: Mapping[str, str]
    """Name to query."""

    @classmethod
    def from_json(cls, body: JsonObject) -> ContainerProperties:
        """Parse a container's JSON; raises 400 with what is wrong."""
        embeddings = _vector_embeddings(body.get("vectorEmbeddingPolicy"))
        texts = _full_text_paths(body.get("fullTextPolicy"))
        indexing = json_object(body.get("indexingPolicy"), "indexingPolicy")
        paths, version = _partition_key(body.get("partitionKey"))
        return cls(
            id=body["id"],
            rid=body.get("_rid", ""),
            partition_key_paths=paths,
            partition_key_version=version,
            indexing_policy=indexing,
            vector_embeddings=MappingProxyType(embeddings),
            full_text_paths=MappingProxyType(texts),
            full_text_language=_full_text_language(body.get("fullTextPolicy")),
            composite_indexes=_composite_indexes(indexing),
            included_paths=_index_paths(indexing, "includedPaths", ("/*",)),
            excluded_paths=_index_paths(indexing, "excludedPaths", ()),
            default_ttl=_default_ttl(body.get("defaultTtl")),
            computed_properties=MappingProxyType(_computed_properties(body.get("computedProperties"))),
        )

    @cached_property
    def key_segments(self) -> tuple[tuple[str, ...], ...]:
        """The partition key paths, split: `(("user_id",), ("thread_id",))`."""
        return tuple(path_segments(path) for path in self.partition_key_paths)

    @cached_property
    def vector_fields(self) -> Mapping[str, int]:
        """The fields of the document itself that the vector policy names, and how many numbers each holds."""
        paths = {path_segments(path): embedding.dimensions for path, embedding in self.vector_embeddings.items()}
        return {keys[0]: dimensions for keys, dimensions in paths.items() if len(keys) == 1}


def path_segments(path: str) -> tuple[str, ...]:
    """Split `/a/"b c"/d` into its names; raises 400 when it does not begin with a slash."""
    if not path.startswith("/") or path == "/":
        raise bad_request(f"The path '{path}' must begin with '/' and name a property.")
    segments: list[str] = []
    rest = path
    while rest:
        rest = rest[1:]
        if rest[:1] in {'"', "'"}:
            end = rest.find(rest[0], 1)
            if end < 0:
                raise bad_request(f"The path '{path}' has an unclosed quote.")
            segments.append(rest[1:end])
            rest = rest[end + 1 :]
            if rest and not rest.startswith("/"):
                raise bad_request(f"The path '{path}' needs '/' after a quoted name.")
        else:
            name, slash, tail = rest.partition("/")
            if not name:
                raise bad_request(f"The path '{path}' has an empty segment.")
            segments.append(name)
            rest = slash + tail
    return tuple(segments)


def json_object(value: Any, name: str) -> JsonObject:
    """The value as an object, empty when absent; raises 400 when it is anything else."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise bad_request(f"'{name}' must be an object.")
    return value


def json_list(value: Any, name: str) -> list[Any]:
    """The value as an array, empty when absent; raises 400 when it is anything else."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise bad_request(f"'{name}' must be an array.")
    return value


def entry_path(entry: Any, name: str) -> str:
    """The `path` of one entry of a policy; raises 400 when there is none."""
    path = entry.get("path") if isinstance(entry, dict) else None
    if not isinstance(path, str):
        raise bad_request(f"Every entry of '{name}' needs a 'path' string.")
    return path


def _partition_key(value: Any) -> tuple[tuple[str, ...], int]:
    definition = json_object(value, "partitionKey")
    paths = json_list(definition.get("paths"), "partitionKey.paths")
    kind = definition.get("kind", "Hash")
    if kind not in ("Hash", "MultiHash"):
        raise bad_request(f"Partition key kind '{kind}' is not supported; use 'Hash' or 'MultiHash'.")
    if not paths or not all(isinstance(path, str) for path in paths):
        raise bad_request("A container needs a partition key: 'partitionKey.paths' must list at least one path.")
    limit = 1 if kind == "Hash" else MAX_KEY_LEVELS
    if len(paths) > limit:
        raise bad_request(f"Too many partition key paths: {len(paths)}, but kind '{kind}' has at most {limit}.")
    if len(set(paths)) != len(paths):
        raise bad_request("The paths of a partition key must differ.")
    version = definition.get("version", 2)
    if version not in (1, 2) or (version == 1 and kind == "MultiHash"):
        raise bad_request(f"Partition key version {version} is not supported with kind '{kind}'.")
    for path in paths:
        path_segments(path)
    return tuple(paths), version


def _vector_embeddings(value: Any) -> dict[str, VectorEmbedding]:
    policy = json_object(value, "vectorEmbeddingPolicy")
    name = "vectorEmbeddings"
    embeddings: dict[str, VectorEmbedding] = {}
    for entry in json_list(policy.get(name), name):
        path = entry_path(entry, name)
        path_segments(path)
        data_type, dimensions = entry.get("dataType"), entry.get("dimensions")
        distance = entry.get("distanceFunction")
        if data_type not in _DATA_TYPES:
            raise bad_request(
                f"The Vector Embedding Policy has an invalid DataType:{data_type} at '{path}';"
                f" use one of {', '.join(_DATA_TYPES)}."
            )
        if not isinstance(dimensions, int) or dimensions < 1:
            raise bad_request(f"The Vector Embedding Policy has Dimensions:{dimensions} at '{path}'; they begin at 1.")
        if dimensions > MAX_VECTOR_DIMENSIONS:
            raise bad_request(
                f"The Vector Embedding Policy has Dimensions:{dimensions} which is more than the maximum supported"
                f" value {MAX_VECTOR_DIMENSIONS} at '{path}'."
            )
        if distance not in _DISTANCES:
            raise bad_request(
                f"The Vector Embedding Policy has an invalid DistanceFunction:{distance} at '{path}';"
                f" use one of {', '.join(_DISTANCES)}."
            )
        if path in embeddings:
            raise bad_request(f"The Vector Embedding Policy names '{path}' twice.")
        embeddings[path] = VectorEmbedding(
            path, cast(DataType, data_type), dimensions, cast(DistanceFunction, distance)
        )
    return embeddings


def _full_text_language(value: Any) -> str | None:
    return None if value is None else _language(json_object(value, "fullTextPolicy").get("defaultLanguage", "en-US"))


def _full_text_paths(value: Any) -> dict[str, str]:
    policy = json_object(value, "fullTextPolicy")
    default = policy.get("defaultLanguage", "en-US")
    name = "fullTextPaths"
    paths: dict[str, str] = {}
    for entry in json_list(policy.get(name), name):
        path = entry_path(entry, name)
        if not path.startswith("/"):
            raise bad_request(f"The Full Text Policy contains an invalid Path: {path}; it must begin with '/'.")
        path_segments(path)
        if path in paths:
            raise bad_request(f"The Full Text Policy names '{path}' twice.")
        paths[path] = _language(entry.get("language", default))
    return paths


def _language(value: Any) -> str:
    if value not in TEXT_LANGUAGES:
        raise bad_request(
            f"The Full Text Policy contains an unsupported language: {value!r}; use one of {', '.join(TEXT_LANGUAGES)}."
        )
    return cast(str, value)


def _composite_indexes(indexing: JsonObject) -> tuple[tuple[CompositePath, ...], ...]:
    indexes: list[tuple[CompositePath, ...]] = []
    for index in json_list(indexing.get("compositeIndexes"), "compositeIndexes"):
        columns = json_list(index, "compositeIndexes")
        if len(columns) < 2:
            raise bad_request("A composite index needs at least two paths.")
        indexes.append(tuple(_composite_path(column) for column in columns))
    return tuple(indexes)


def _composite_path(entry: Any) -> CompositePath:
    path = entry_path(entry, "compositeIndexes")
    path_segments(path)
    order = entry.get("order", "ascending")
    if order not in ("ascending", "descending"):
        raise bad_request(f"The composite index order {order!r} is not 'ascending' or 'descending'.")
    return CompositePath(path, cast(Order, order))


def _index_paths(indexing: JsonObject, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
    if name not in indexing:
        return default
    # "/" is the older way to write "/*".
    paths = tuple(entry_path(entry, name).rstrip("/") or "/*" for entry in json_list(indexing[name], name))
    for path in paths:
        if not path.startswith("/") or not path.endswith(("/*", "/?")):
            raise bad_request(f"The path '{path}' in '{name}' must begin with '/' and end with '/?' or '/*'.")
    return paths


def _computed_properties(value: Any) -> dict[str, str]:
    if value is not None and not isinstance(value, list):
        raise bad_request("One of the specified inputs is invalid: 'computedProperties' must be an array.")
    computed: dict[str, str] = {}
    for entry in value or ():
        name, query = (entry.get("name"), entry.get("query")) if isinstance(entry, dict) else (None, None)
        if not isinstance(name, str) or not name or name in SYSTEM_PROPERTIES or name == "id" or name in computed:
            raise bad_request(f"One of the specified inputs is invalid: {name!r} cannot name a computed property.")
        if not isinstance(query, str):
            raise bad_request(f"One of the specified inputs is invalid: '{name}' needs a 'query' string.")
        computed[name] = query
    return computed


def is_ttl(value: Any) -> bool:
    """Whether a value can be a time to live: -1 for never, or a number of seconds."""
    return isinstance(value, int) and not isinstance(value, bool) and (value == -1 or 1 <= value <= MAX_TTL)


def _default_ttl(value: Any) -> int | None:
    if value is None:
        return None
    if not is_ttl(value):
        raise bad_request(f"'defaultTtl' must be -1 or from 1 to {MAX_TTL}, not {value!r}.")
    return cast(int, value)
