"""The five containers, their keys and their policies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from azure.cosmos import PartitionKey

MEMORIES = "memories"
TURNS = "memories_turns"
SUMMARIES = "memories_summaries"
COUNTER = "counter"
LEASES = "leases"
LANGUAGE = "en-US"
"""The language by which the full-text index splits text into words."""


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """How one container is provisioned."""

    name: str
    partition_key_paths: tuple[str, ...]
    default_ttl: int | None = None
    vectors: bool = False

    def indexing_policy(self) -> dict[str, Any]:
        """Indexes everything but vectors and long lists of ids. Vectors have an index of their own for each user."""
        policy: dict[str, Any] = {
            "indexingMode": "consistent",
            "automatic": True,
            "includedPaths": [{"path": "/*"}],
            "excludedPaths": [{"path": '/"_etag"/?'}],
        }
        if self.vectors:
            policy["excludedPaths"] += [{"path": "/embedding/*"}, {"path": "/source_turn_ids/*"}]
            policy["vectorIndexes"] = [
                {"path": "/embedding", "type": "quantizedFlat", "vectorIndexShardKey": ["/user_id"]}
            ]
            policy["fullTextIndexes"] = [{"path": "/content"}]
        return policy

    def vector_policy(self, dimensions: int) -> dict[str, Any] | None:
        """Cosine over float32 vectors of `/embedding`."""
        if not self.vectors:
            return None
        return {
            "vectorEmbeddings": [
                {"path": "/embedding", "dataType": "float32", "dimensions": dimensions, "distanceFunction": "cosine"}
            ]
        }

    def full_text_policy(self) -> dict[str, Any] | None:
        """Full text over `/content`."""
        if not self.vectors:
            return None
        return {"defaultLanguage": LANGUAGE, "fullTextPaths": [{"path": "/content", "language": LANGUAGE}]}

    def options(self, dimensions: int) -> dict[str, Any]:
        """The arguments with which the azure-cosmos SDK creates the container."""
        paths = self.partition_key_paths
        options: dict[str, Any] = {
            "partition_key": PartitionKey(path=list(paths)) if len(paths) > 1 else PartitionKey(path=paths[0]),
            "indexing_policy": self.indexing_policy(),
        }
        optional = {
            "default_ttl": self.default_ttl,
            "vector_embedding_policy": self.vector_policy(dimensions),
            "full_text_policy": self.full_text_policy(),
        }
        return options | {name: value for name, value in optional.items() if value is not None}


def container_specs(turn_ttl_seconds: int = -1) -> list[ContainerSpec]:
    """The five containers. A `default_ttl` of -1 keeps items without their own ttl."""
    scope = ("/user_id", "/thread_id")
    return [
        ContainerSpec(MEMORIES, scope, default_ttl=-1, vectors=True),
        ContainerSpec(TURNS, scope, default_ttl=turn_ttl_seconds),
        ContainerSpec(SUMMARIES, scope, default_ttl=-1, vectors=True),
        ContainerSpec(COUNTER, scope, default_ttl=None),
        ContainerSpec(LEASES, ("/id",), default_ttl=None),
    ]
