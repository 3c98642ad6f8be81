"""Documents in shards, and a one-line way to query them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from embedded_cosmos.properties import ContainerProperties
from embedded_cosmos.query.binding import closures_of, parse_bound
from embedded_cosmos.query.execute import Scope, execute
from embedded_cosmos.query.index import Shard

EVERYWHERE = Scope("", "FF", ("u",), is_cross_partition=False)
CROSS_PARTITION = Scope("", "FF", None, is_cross_partition=True)


class World:
    """A container; the documents of one user lie in one shard, as the engine keeps them."""

    def __init__(self, documents: Iterable[dict[str, Any]] = (), **policies: Any) -> None:
        self.properties = ContainerProperties.from_json(
            {"id": "c", "partitionKey": {"paths": ["/user", "/thread"], "kind": "MultiHash"}, **policies}
        )
        self.shards: dict[str, Shard] = {}
        self.stored: dict[int, dict[str, Any]] = {}
        self._rid = 0
        for document in documents:
            self.add(document)

    def add(self, document: dict[str, Any], rid: int | None = None) -> int:
        """Put a document under the next rid, or a given one."""
        if rid is None:
            self._rid += 1
            rid = self._rid
        user = document.get("user", "u")
        self.stored[rid] = document
        shard = self.shards.setdefault(user, Shard(self.properties, self.stored.get))
        shard.put(rid, document, epk(user, document.get("thread", "t")))
        return rid

    def query(self, text: str, scope: Scope = EVERYWHERE, **parameters: Any) -> list[Any]:
        """The rows of a query; the parameter `x` is `@x`."""
        named = [{"name": f"@{name}", "value": value} for name, value in parameters.items()]
        shards = list(self.shards.values())
        return execute(parse_bound(text, named), shards, scope, self.properties, closures=closures_of(text))

    def value(self, expression: str, **parameters: Any) -> Any:
        """The value of an expression without an item; no row is `undefined`."""
        rows = self.query(f"SELECT VALUE {expression}", **parameters)
        return rows[0] if rows else "undefined"


def epk(user: str, thread: str) -> str:
    """A stand-in for the hash: users first, then threads."""
    return f"{user:_<16}{thread:_<16}".encode().hex().upper()
