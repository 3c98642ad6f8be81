"""The documents of one first-level partition key, in memory."""

from __future__ import annotations

from collections.abc import Iterator

from embedded_cosmos.properties import ContainerProperties, JsonObject


class Shard:
    """The live documents of one first-level partition-key value of one container."""

    def __init__(self, properties: ContainerProperties) -> None:
        self.properties = properties
        self._documents: dict[int, tuple[JsonObject, str]] = {}

    def put(self, rid: int, document: JsonObject, epk: str) -> None:
        """Insert the document, or replace the one of this rid."""
        self._documents[rid] = (document, epk)

    def remove(self, rid: int) -> None:
        """Forget the document of this rid, if there is one."""
        self._documents.pop(rid, None)

    def __len__(self) -> int:
        return len(self._documents)

    @property
    def nbytes(self) -> int:
        """An estimate of the memory held."""
        return 4000 * len(self._documents)

    def documents(self, epk_min: str, epk_max: str) -> Iterator[JsonObject]:
        """The documents whose effective partition key is in the range, in the order of their rids."""
        for rid in sorted(self._documents):
            document, epk = self._documents[rid]
            if epk_min <= epk < epk_max:
                yield document
