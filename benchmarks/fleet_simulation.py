"""A fleet in simulated time: users who write, leases, queues, instances, and the request units of partitions.

Users write by a power law, leases of the change feed take batches, orchestrations go through Durable's queues,
activities wait for a free place in an instance, for request units of their partition and for the model's quota, and
instances come as they are needed. Simulated in bounded memory: a number for each user, and what is under way. What
each piece costs was measured from the real code (`fleet_measure.py`).
"""

from __future__ import annotations

import heapq
import random
import sys
from array import array
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_memory.processing.due import INDEX
from agent_memory.processing.starts import MOST_AT_ONCE
from agent_memory.processing.workflows import TOGETHER
from agent_memory.scale.figures import Measured, prices
from agent_memory.scale.model import (
    ACTIVITIES_AT_ONCE,
    CONTROL_QUEUES,
    MESSAGES_A_QUEUE,
    PARTITION_RU,
    POLL,
    Cloud,
    Load,
    estimate,
    partitions_of,
)

sys.path.insert(0, str(Path(__file__).parents[1]))
from azure_functions.orchestrators import orchestrator_name  # the function app lies beside the library

SCALE_OUT = 10.0
"""Seconds after which the platform adds instances. An assumption."""
QUIET = 300.0
"""Seconds after which the sweep finds an idle thread, as the templates deploy it."""
LOOK = 5.0
"""Seconds between two checks of the lane, as in `azure_functions/sweeps.py`."""
INDEXING = orchestrator_name(INDEX)
"""The orchestration that asks no chat model."""
EXTRACTING = {"extract", TOGETHER}
"""The workflows that make facts of turns."""


@dataclass
class Bucket:
    """Something that is used up at a rate: request units of a partition, tokens of a model, messages of a queue."""

    rate: float
    free_at: float = 0.0
    used: float = 0.0

    def take(self, at: float, amount: float) -> float:
        """When so much is there: at once while the rate is kept over a second, later if it is not."""
        self.used += amount
        self.free_at = max(self.free_at, at - 1.0) + amount / self.rate
        return max(at, self.free_at)


@dataclass
class Waits:
    """A sample of waits, in bounded memory."""

    random: random.Random
    seen: int = 0
    kept: array[float] = field(default_factory=lambda: array("d"))

    def add(self, wait: float) -> None:
        """Notes one wait."""
        self.seen += 1
        if len(self.kept) < 20_000:
            self.kept.append(wait)
        elif (place := self.random.randrange(self.seen)) < len(self.kept):
            self.kept[place] = wait

    def p99(self) -> float:
        """The 99th percentile; 0 if nothing waited."""
        return sorted(self.kept)[int(len(self.kept) * 0.99)] if self.kept else 0.0


@dataclass
class Scene:
    """What happens beside the usual."""

    noisy: int = 0
    """How many times the average user user 0 writes; each turn in a thread of its own. 0: like the others."""
    backfill: int = 0
    """Turns that are imported, of as many users as write."""
    backfill_rate: float = 0.0
    """Turns a second of the import; 0: as fast as they can be written."""
    lane: int = 20
    """Users whose imported threads are processed at the same time (`AGENT_MEMORY_BACKFILL_AT_ONCE`); 0: imported turns
    are not marked, and processed like live ones."""
    most_starts: int = MOST_AT_ONCE
    """Orchestrations that one batch starts for one user's threads; 0: any number."""


def _spread(user: int, places: int) -> int:
    """Which of so many places a user belongs to: an even hash, as partition keys have."""
    return (user * 2654435761 % 2**32 ^ user >> 3) * places >> 32


class Fleet:
    """One simulation."""

    def __init__(
        self, load: Load, cloud: Cloud, figures: Measured, scene: Scene, seconds: float, seed: int = 1
    ) -> None:
        self.load, self.cloud, self.figures, self.scene, self.seconds = load, cloud, figures, scene, seconds
        self.random = random.Random(1)
        self.expected = estimate(load, cloud, figures, prices())
        self.leases = self.expected.leases
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._number = 0
        self._queues: list[deque[tuple[float, int, bool]]] = [deque() for _ in range(self.leases)]
        self._asleep = [True] * self.leases
        self._turns = array("I", bytes(4 * load.users))
        self._partitions = {name: [Bucket(self._ru()) for _ in range(self._count(name))] for name in self._containers()}
        self._model = Bucket(cloud.chat_capacity * 1000 / 60)
        queue_rate = 1e9 if cloud.scheduler else MESSAGES_A_QUEUE
        self._control = [Bucket(queue_rate) for _ in range(CONTROL_QUEUES)]
        self._instances, self._busy = self.expected.instances, 0
        self._waiting: deque[tuple[float, Callable[[float], None]]] = deque()
        self.most_instances, self._instance_seconds = 1, 0.0
        self.counted, self.messages, self.batches = 0, 0, 0
        self.lag, self.others, self.found = Waits(self.random), Waits(self.random), Waits(self.random)
        self.started: dict[str, int] = dict.fromkeys(figures.runs, 0)
        self._imported: dict[int, list[str]] = {}
        self._in_lane, self._lane_is_open = 0, False
        self.processed_imports = 0

    def _containers(self) -> list[str]:
        return list(self.expected.ru_a_second)

    def _ru(self) -> float:
        return PARTITION_RU[self.cloud.mode]

    def _count(self, name: str) -> int:
        return partitions_of(name, self.load, self.cloud)

    # --- events

    def _at(self, when: float, do: Callable[[float], None]) -> None:
        self._number += 1
        heapq.heappush(self._events, (when, self._number, do))

    def run(self) -> None:
        """Runs to the end of the time."""
        self._at(0.0, self._write)
        if self.scene.noisy:
            self._at(0.0, self._write_noise)
        if self.scene.backfill:
            self._at(self.seconds * 0.2, self._import)
        self._at(SCALE_OUT, self._scale)
        while self._events:
            when, _, do = heapq.heappop(self._events)
            if when > self.seconds:
                break
            do(when)

    def _write(self, at: float) -> None:
        """A turn of a user. Few users write much: the share of the first x of them is about the root of x."""
        users = self.load.users
        self._written(at, int(users * self.random.random() ** 2), live=True)
        self._at(at + self.random.expovariate(self.load.turns_a_second * self.load.peak), self._write)

    def _write_noise(self, at: float) -> None:
        self._written(at, 0, live=True)
        rate = self.scene.noisy * self.load.turns_a_second * self.load.peak / self.load.users
        self._at(at + self.random.expovariate(rate), self._write_noise)

    def _import(self, at: float) -> None:
        """A second of the import."""
        rate = self.scene.backfill_rate or float(self.scene.backfill)
        left = min(int(rate), self.scene.backfill)
        self.scene.backfill -= left
        for _ in range(left):
            self._written(at, self.random.randrange(self.load.users), live=False)
        if self.scene.backfill:
            self._at(at + 1.0, self._import)

    def _written(self, at: float, user: int, *, live: bool) -> None:
        self._charge(at, user, self.figures.add.units)
        lease = _spread(user, self.leases)
        self._queues[lease].append((at, user, live))
        if self._asleep[lease]:
            self._asleep[lease] = False
            self._at(at + self.random.random() * POLL, lambda when: self._poll(when, lease))

    def _poll(self, at: float, lease: int) -> None:
        """A lease takes a batch, counts it, starts what is due, and takes the next."""
        queue, batch = self._queues[lease], []
        while queue and len(batch) < self.figures.batch:
            batch.append(queue.popleft())
        if not batch:
            self._asleep[lease] = True
            return
        # The noisy user has many threads; whoever else writes twice in a batch does so in one thread.
        users = {user for _, user, _ in batch}
        threads = len(users - {0}) + sum(user == 0 for _, user, _ in batch)
        took = self.figures.feed_seconds(threads, len(users), self.cloud.latency)
        done = at + took
        for name, (constant, by_thread, by_user) in self.figures.feed_units.items():
            bucket = self._partitions[name][lease % len(self._partitions[name])]
            done = max(done, bucket.take(at, constant + by_thread * threads + by_user * len(users)))
        self.batches += 1
        starts: dict[int, int] = {}
        for written, user, live in batch:
            self.counted += 1
            waits = self.scene.lane and not live
            if live:
                (self.others if user else self.lag).add(done - written)
            self._turns[user] += 1
            for name, share in self.figures.runs.items():
                # Every 1 / share turns of a user, each user at a turn of their own.
                every = max(1, round(1 / share))
                if (self._turns[user] + user) % every:
                    continue
                if waits:
                    self._put_off(done, user, name)
                else:
                    starts[user] = starts.get(user, 0) + 1
                    most = self.scene.most_starts
                    # The rest is left to the sweep of idle threads, which runs a user's threads in one orchestration.
                    later = QUIET if most and starts[user] > most else 0.0
                    self._orchestrate(done + later, name, user, written, live)
        self._at(done, lambda when: self._poll(when, lease))

    def _put_off(self, at: float, user: int, name: str) -> None:
        """An import makes something due. The backfill starts when the import has been quiet."""
        self._imported.setdefault(user, []).append(name)
        if not self._lane_is_open:
            self._lane_is_open = True
            self._at(at + QUIET, self._fill_lane)

    def _fill_lane(self, at: float) -> None:
        while self._imported and self._in_lane < self.scene.lane:
            user = next(iter(self._imported))
            self._in_lane += 1
            self._settle(at, user, self._imported.pop(user))
        self._at(at + LOOK, self._fill_lane)

    def _settle(self, at: float, user: int, names: list[str]) -> None:
        """Runs everything that is due for a user's imported threads, one after another."""
        if not names:
            self._in_lane -= 1
            self.processed_imports += 1
            return
        self._orchestrate(at, names[0], user, at, False, lambda when: self._settle(when, user, names[1:]))

    def _orchestrate(
        self,
        at: float,
        name: str,
        user: int,
        written: float,
        live: bool,
        then: Callable[[float], None] | None = None,
    ) -> None:
        """Starts an orchestration: its messages, then its activities one after another."""
        work = self.figures.work[name]
        self.started[name] += 1
        messages = 2 + 2 * (work.activities + 1)
        self.messages += round(messages)
        control = self._control[user % len(self._control)]

        def begin(when: float) -> None:
            self._place(when, activities)

        def activities(when: float) -> None:
            calls = tokens = 0.0
            if name != INDEXING:
                asking = sum(runs for one, runs in self.figures.runs.items() if one != INDEXING)
                calls = self.figures.model_calls / asking
                tokens = (self.figures.tokens_in + self.figures.tokens_out) / asking
            end = when + (work.in_a_row + self.figures.finish.in_a_row) * self.cloud.latency
            end += calls * self.cloud.model_seconds * self.random.uniform(0.5, 1.5)
            end = max(end, self._model.take(when, tokens) + calls * self.cloud.model_seconds)
            end = max(end, self._charge(when, user, work.units), self._charge(when, user, self.figures.finish.units))
            self._at(end, freed)

        def freed(when: float) -> None:
            if name in EXTRACTING and live:
                self.found.add(when - written)
            self._busy -= 1
            if then is not None:
                then(when)
            while self._waiting and self._busy < self._instances * ACTIVITIES_AT_ONCE:
                self._busy += 1
                _, do = self._waiting.popleft()
                do(when)

        self._at(control.take(at, messages), begin)

    def _place(self, at: float, do: Callable[[float], None]) -> None:
        if self._busy < self._instances * ACTIVITIES_AT_ONCE:
            self._busy += 1
            do(at)
        else:
            self._waiting.append((at, do))

    def _scale(self, at: float) -> None:
        """The platform adds instances while work waits, and takes some away when few are busy."""
        wanted = -(-(self._busy + len(self._waiting)) // ACTIVITIES_AT_ONCE)
        grown = min(max(1, wanted), self._instances * 2, self.cloud.instances)
        self._instances = max(grown, self._instances - 1) if wanted < self._instances else grown
        self._instance_seconds += self._instances * SCALE_OUT
        self.most_instances = max(self.most_instances, self._instances)
        while self._waiting and self._busy < self._instances * ACTIVITIES_AT_ONCE:
            self._busy += 1
            self._waiting.popleft()[1](at)
        self._at(at + SCALE_OUT, self._scale)

    def _charge(self, at: float, user: int, units: dict[str, float]) -> float:
        """When the request units of some work are there, in the partitions of a user."""
        when = at
        for name, value in units.items():
            buckets = self._partitions[name]
            when = max(when, buckets[_spread(user, len(buckets))].take(at, value))
        return when

    def report(self) -> dict[str, Any]:
        """The figures."""
        hottest = {
            name: max(bucket.used for bucket in buckets) / self.seconds for name, buckets in self._partitions.items()
        }
        return {
            "users": self.load.users,
            "turns_a_second": round(self.counted / self.seconds, 2),
            "leases": self.leases,
            "left_in_the_feed": sum(map(len, self._queues)),
            "lag_p99": round(self.others.p99(), 1),
            "lag_p99_of_the_noisy_user": round(self.lag.p99(), 1),
            "until_extracted_p99": round(self.found.p99(), 1),
            "ru_a_second": {
                name: round(sum(bucket.used for bucket in buckets) / self.seconds)
                for name, buckets in self._partitions.items()
            },
            "hottest_partition": max(hottest, key=lambda name: hottest[name]),
            "hottest_partition_ru": round(max(hottest.values())),
            "durable_messages_a_second": round(self.messages / self.seconds, 1),
            "instances": round(self._instance_seconds / self.seconds, 1),
            "most_instances": self.most_instances,
            "model_says": {
                "lag_p99": self.expected.lag_p99,
                "instances": self.expected.instances,
                "hottest_partition_ru": self.expected.hottest_partition_ru,
                "durable_messages_a_second": self.expected.durable_messages_a_second,
            },
            "imports_processed": self.processed_imports,
            "imports_waiting": len(self._imported) + self._in_lane,
            "cost_a_month": round(self.expected.total),
            "first_limit": f"{self.expected.first_limit.name}, enough for {self.expected.first_limit.users:,} users",
        }
