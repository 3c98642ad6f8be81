"""The physical partitions of a container: ranges of effective partition keys that divide all of them evenly.

An ordinary engine has one. A strict one simulates several, so that clients see what they see in a large container in
Azure: queries that they must merge, pages that end with a range, a change feed for each range.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from embedded_cosmos import partition_v1
from embedded_cosmos.errors import CosmosError, gone
from embedded_cosmos.partition import EPK_BITS, EPK_LEVEL_DIGITS, MAX_EPK, MIN_EPK, EpkRange

RANGE_GONE = 1002
RU_PER_PARTITION = 10_000


@dataclass(frozen=True, slots=True)
class Partitioning:
    """The number of partitions of a container: one, unless the engine simulates more."""

    default: int = 1
    follows_throughput: bool = False
    """Whether provisioned throughput decides the number instead."""

    def count(self, throughput: int | None) -> int:
        """The number for a container with this throughput (None: serverless)."""
        if throughput is None or not self.follows_throughput:
            return self.default
        return -(-throughput // RU_PER_PARTITION)


@dataclass(frozen=True, slots=True)
class PhysicalPartition:
    """One partition key range."""

    id: str
    epks: EpkRange


class PartitionMap:
    """All partitions of a container, in the order of their keys."""

    def __init__(self, boundaries: Sequence[str]) -> None:
        """Make partitions with these keys as boundaries."""
        ends = pairwise((MIN_EPK, *boundaries, MAX_EPK))
        self.partitions = tuple(PhysicalPartition(str(number), EpkRange(*end)) for number, end in enumerate(ends))
        self._boundaries = list(boundaries)

    def holding(self, epk: str) -> PhysicalPartition:
        """The partition that a key belongs to."""
        return self.partitions[bisect_right(self._boundaries, epk)]

    def overlapping(self, epks: EpkRange) -> tuple[PhysicalPartition, ...]:
        """The partitions that overlap a range. For an empty range, the partition of its first key."""
        if len(self.partitions) == 1:
            return self.partitions
        some = tuple(each for each in self.partitions if each.epks.min < epks.max and epks.min < each.epks.max)
        return some or (self.holding(epks.min),)

    def named(self, header: str) -> PhysicalPartition:
        """The partition in an `x-ms-documentdb-partitionkeyrangeid` header, `id` or `container,id`; raises 410."""
        range_id = header.rpartition(",")[2]
        for partition in self.partitions:
            if partition.id == range_id:
                return partition
        raise _gone(f"The partition key range '{range_id}' does not exist.")

    def check_within(self, partition: PhysicalPartition, epks: EpkRange) -> None:
        """Raise 410 if the partition does not hold all of the keys: the client then knows outdated partitions."""
        if epks.min < partition.epks.min or epks.max > partition.epks.max:
            raise _gone(f"The keys [{epks.min},{epks.max}) are not all in the partition key range '{partition.id}'.")


@lru_cache(maxsize=64)
def partition_map(count: int, key_version: int) -> PartitionMap:
    """A map of `count` partitions for keys of a version."""
    return PartitionMap([_boundary(number / count, key_version) for number in range(1, count)])


def _boundary(fraction: float, key_version: int) -> str:
    if key_version == 1:
        return partition_v1.boundary(fraction)
    return f"{int(fraction * 2**EPK_BITS):0{EPK_LEVEL_DIGITS}X}"


def _gone(message: str) -> CosmosError:
    return gone(message, RANGE_GONE)
