"""The model: what a number of users needs, from the measured figures and a few assumptions, which it lists.

It is arithmetic over averages at the peak hour. `benchmarks/fleet.py` simulates the same deployment event by event and
is what `docs/scale.md` compares it with.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from agent_memory.scale.figures import Measured, Prices, Work

DAY, MONTH_DAYS = 86_400.0, 30
PARTITION_RU = {"serverless": 5_000.0, "autoscale": 10_000.0}
"""Request units a second of one physical partition at most (Azure Cosmos DB service limits)."""
PARTITION_GB = 50.0
"""Data of one physical partition at most (Azure Cosmos DB service limits)."""
SERVERLESS_GB = 1_000.0
"""Data of a serverless container at most (Azure Cosmos DB service limits)."""
POLL = 5.0
"""Seconds for which the change-feed trigger waits when it found nothing (its default, `feed_poll_delay`)."""
CONTROL_QUEUES = 4
"""Partitions of a task hub in Azure Storage by default."""
MESSAGES_A_QUEUE = 100.0
"""Messages a second that one control queue carries. An assumption: Azure Storage allows 2,000 to a queue, and each
message of an orchestration also reads and writes its history."""
ACTIVITIES_AT_ONCE = 10
"""Activities that one instance runs at a time (the default of `maxConcurrentActivityFunctions` for one core)."""
SPARE = 1.25
"""How many instances run for each busy one: the platform adds them in steps and removes them one at a time. From the
simulation of a fleet (benchmarks/fleet.py)."""
QUEUE_OPERATIONS = 6.0
"""Operations on queues and tables for each message: put, get, delete, and three of the history. An assumption."""
EMBEDDING_REQUESTS = 6.0
"""Requests a minute to an embedding model for each thousand tokens a minute of its quota (Azure OpenAI quotas)."""
TURN_KB, VECTOR_KB = 0.6, 17.0
"""Sizes of a stored turn, and of a memory or a chunk with a vector of 1,536 numbers (docs/operations.md)."""
VECTORS_A_TURN = 1.2
"""Memories and chunks that a turn adds (docs/operations.md: 360 for 300 turns)."""
INDEX_FACTOR = 1.6
"""Size with indexes, relative to the documents alone (docs/operations.md: 10 GB for 6)."""


@dataclass(frozen=True, slots=True)
class Load:
    """Who writes how much. `peak` is how many times the average the busiest hour has."""

    users: int
    turns_per_day: float = 10.0
    contexts_per_turn: float = 0.5
    peak: float = 4.0

    @property
    def turns_a_second(self) -> float:
        """On average over the day."""
        return self.users * self.turns_per_day / DAY


@dataclass(frozen=True, slots=True)
class Cloud:
    """How it is deployed: the parameters of the templates, and what Azure and the models take."""

    autoscale_ru: int = 0
    """Highest RU/s of each container; 0: serverless."""
    instances: int = 40
    chat_capacity: int = 30
    """Thousands of tokens a minute."""
    embedding_capacity: int = 30
    """Thousands of tokens a minute."""
    scheduler: bool = False
    """Whether the Durable Task Scheduler keeps the orchestrations, and not the storage account."""
    turn_days: int = 30
    dimensions: int = 1536
    latency: float = 0.006
    """Seconds of a request to the store."""
    model_seconds: float = 5.0
    """Seconds of a call of the chat model."""
    instance_gb: float = 2.0

    @property
    def mode(self) -> str:
        """Serverless or autoscale."""
        return "autoscale" if self.autoscale_ru else "serverless"


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that can run out: how much of it is used at the peak, and which setting moves it."""

    name: str
    used: float
    """Share of the capacity in use. Above 1, the capacity is too small."""
    users: int
    """How many users the capacity is enough for. A billion means that many or more."""
    setting: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a load needs of a deployment."""

    load: Load
    cloud: Cloud
    turns_a_second: float
    peak_turns_a_second: float
    leases: int
    turns_a_second_a_lease: float
    """What one lease of the change feed can take, if every turn is of another user."""
    lag_p99: float | None
    """Seconds until a turn is counted, at the peak; None: the feed falls behind."""
    ru_a_second: dict[str, float]
    """At the peak, by container."""
    hottest_partition_ru: float
    orchestrations_a_second: float
    durable_messages_a_second: float
    instances: int
    tokens_a_minute: float
    embedding_requests_a_minute: float
    storage_gb: dict[str, float]
    """After a month; vectors stay and grow by as much each month."""
    cost: dict[str, float]
    """A month, by item."""
    limits: list[Limit]
    """The tightest first."""
    assumptions: list[str] = field(default_factory=list)

    @property
    def total(self) -> float:
        """The cost of a month."""
        return sum(self.cost.values())

    @property
    def first_limit(self) -> Limit:
        """What runs out first as users come."""
        return self.limits[0]

    def to_json(self) -> dict[str, Any]:
        """The figures as JSON."""
        return asdict(self) | {"cost_total": round(self.total, 2), "first_limit": asdict(self.first_limit)}


@dataclass(frozen=True, slots=True)
class _Needs:
    """The needs of a load at its peak."""

    peak: float
    units: dict[str, float]
    storage: dict[str, float]
    partitions: dict[str, int]
    capacity: float
    busy: float
    runs: float
    messages: float
    instances: int
    tokens: float
    embeddings: float
    """Requests to the embedding model, a minute."""
    embedded_tokens: float

    @property
    def leases(self) -> int:
        """One for each physical partition of the turns."""
        return self.partitions["memories_turns"]


def _needs(load: Load, cloud: Cloud, figures: Measured) -> _Needs:
    peak = load.turns_a_second * load.peak
    units, storage = _units_a_turn(load, figures), _storage(load, cloud)
    partitions = {name: _partitions(storage.get(name, 0.0), cloud) for name in units}
    leases = partitions["memories_turns"]
    capacity = figures.batch / figures.feed_seconds(figures.batch, figures.batch, cloud.latency)
    busy = peak / leases / capacity
    runs = sum(figures.runs.values()) * peak
    waiting = _activity_seconds(cloud, figures) * peak + min(busy, 1.0) * leases
    reading = load.contexts_per_turn * peak * figures.context.in_a_row * cloud.latency
    return _Needs(
        peak=peak,
        units=units,
        storage=storage,
        partitions=partitions,
        capacity=capacity,
        busy=busy,
        runs=runs,
        messages=(runs + _activities_a_turn(figures) * peak) * 2,
        instances=max(1, math.ceil((waiting + reading) * SPARE / ACTIVITIES_AT_ONCE)),
        tokens=(figures.tokens_in + figures.tokens_out) * peak * 60,
        embeddings=(figures.embedding_calls + load.contexts_per_turn) * peak * 60,
        embedded_tokens=figures.tokens_embedded * peak * 60,
    )


def estimate(load: Load, cloud: Cloud, figures: Measured, prices: Prices) -> Estimate:
    """What a load needs of a deployment."""
    needs = _needs(load, cloud, figures)
    return Estimate(
        load=load,
        cloud=cloud,
        turns_a_second=round(load.turns_a_second, 3),
        peak_turns_a_second=round(needs.peak, 3),
        leases=needs.leases,
        turns_a_second_a_lease=round(needs.capacity, 1),
        lag_p99=_lag(needs.busy, figures, cloud),
        ru_a_second={name: round(needs.peak * value, 1) for name, value in sorted(needs.units.items())},
        hottest_partition_ru=round(
            max(needs.peak * value / needs.partitions[name] for name, value in needs.units.items()), 1
        ),
        orchestrations_a_second=round(needs.runs, 3),
        durable_messages_a_second=round(needs.messages, 2),
        instances=needs.instances,
        tokens_a_minute=round(needs.tokens),
        embedding_requests_a_minute=round(needs.embeddings, 1),
        storage_gb={name: round(size, 2) for name, size in needs.storage.items()},
        cost={item: round(value, 2) for item, value in _cost(load, cloud, figures, prices, needs).items()},
        limits=_limits(load, cloud, figures),
        assumptions=_assumptions(load, cloud, figures, prices),
    )


_SETTINGS = {
    "chat model, tokens a minute": "CHAT_CAPACITY",
    "embedding model, requests or tokens a minute": "EMBEDDING_CAPACITY",
    "change feed, turns a second a lease": "COSMOS_DB_AUTOSCALE_MAX_RU (more partitions, so more leases)",
    "instances of the function app": "MAXIMUM_INSTANCE_COUNT",
    "request units of a container": "COSMOS_DB_AUTOSCALE_MAX_RU",
    "Durable's control queues": "DURABLE_TASK_SCHEDULER",
    "data of a serverless container": "COSMOS_DB_AUTOSCALE_MAX_RU",
}
"""What can run out, and the azd variable that moves it."""


def _shares(load: Load, cloud: Cloud, figures: Measured) -> dict[str, float]:
    """How much of each limit a load uses at its peak."""
    needs = _needs(load, cloud, figures)
    most = {
        name: float(cloud.autoscale_ru) or needs.partitions[name] * PARTITION_RU["serverless"] for name in needs.units
    }
    shares = {
        "chat model, tokens a minute": needs.tokens / (cloud.chat_capacity * 1000),
        "embedding model, requests or tokens a minute": max(
            needs.embeddings / EMBEDDING_REQUESTS, needs.embedded_tokens / 1000
        )
        / cloud.embedding_capacity,
        "change feed, turns a second a lease": needs.busy,
        "instances of the function app": needs.instances / cloud.instances,
        "request units of a container": max(needs.peak * value / most[name] for name, value in needs.units.items()),
    }
    if not cloud.scheduler:
        shares["Durable's control queues"] = needs.messages / (CONTROL_QUEUES * MESSAGES_A_QUEUE)
    if not cloud.autoscale_ru:
        shares["data of a serverless container"] = max(needs.storage.values()) / SERVERLESS_GB
    return shares


def partitions_of(container: str, load: Load, cloud: Cloud) -> int:
    """How many physical partitions a container has after a month."""
    return _partitions(_storage(load, cloud).get(container, 0.0), cloud)


def _limits(load: Load, cloud: Cloud, figures: Measured) -> list[Limit]:
    """What can run out, the tightest first."""
    limits = [
        Limit(name, round(share, 4), _enough_for(name, load, cloud, figures), _SETTINGS[name])
        for name, share in _shares(load, cloud, figures).items()
    ]
    return sorted(limits, key=lambda limit: -limit.used)


_EVERYBODY = 10**9
"""Upper bound of the search for a limit, in users."""


def _enough_for(name: str, load: Load, cloud: Cloud, figures: Measured) -> int:
    """The number of users at which a limit is reached. More data makes more partitions, so it is searched for."""
    few, many = 0, _EVERYBODY
    while many - few > max(1, few // 1000):
        between = (few + many) // 2
        if _shares(replace(load, users=between), cloud, figures)[name] <= 1:
            few = between
        else:
            many = between
    return _EVERYBODY if many == _EVERYBODY else few


def _units_a_turn(load: Load, figures: Measured) -> dict[str, float]:
    """Request units for each turn by container: written, counted, processed, and recalled."""
    units: defaultdict[str, float] = defaultdict(float)

    def add(work: Work, times: float) -> None:
        for name, value in work.units.items():
            units[name] += value * times

    add(figures.add, 1)
    add(figures.context, load.contexts_per_turn)
    for name, count in figures.runs.items():
        add(figures.work[name], count)
        add(figures.finish, count)
    for name, (constant, by_thread, by_user) in figures.feed_units.items():
        units[name] += constant / figures.batch + by_thread + by_user
    return dict(units)


def _activities_a_turn(figures: Measured) -> float:
    """Activities for each turn, including the one that records the result."""
    return sum(count * (figures.work[name].activities + 1) for name, count in figures.runs.items())


def _activity_seconds(cloud: Cloud, figures: Measured) -> float:
    """Seconds of activities for each turn: requests one after another, and waiting for the model."""
    asked = sum(count * (figures.work[name].in_a_row + figures.finish.in_a_row) for name, count in figures.runs.items())
    return asked * cloud.latency + figures.model_calls * cloud.model_seconds


def _storage(load: Load, cloud: Cloud) -> dict[str, float]:
    """GB after a month, by container."""
    turns = load.users * load.turns_per_day
    vector = VECTOR_KB * cloud.dimensions / 1536
    return {
        "memories_turns": turns * min(cloud.turn_days, MONTH_DAYS) * TURN_KB / 1e6 * INDEX_FACTOR,
        "memories": turns * MONTH_DAYS * VECTORS_A_TURN * vector / 1e6 * INDEX_FACTOR,
    }


def _partitions(gigabytes: float, cloud: Cloud) -> int:
    """Physical partitions of a container: for its data, and for the throughput that it may have."""
    by_units = math.ceil(cloud.autoscale_ru / PARTITION_RU["autoscale"])
    return max(1, math.ceil(gigabytes / PARTITION_GB), by_units)


def _lag(busy: float, figures: Measured, cloud: Cloud) -> float | None:
    """Seconds at the 99th percentile: the wait for a poll, for earlier batches, and for the own batch."""
    if busy >= 1:
        return None
    batch = figures.feed_seconds(figures.batch, figures.batch, cloud.latency)
    return round(POLL + batch * (1 + busy / (1 - busy)), 1)


def _cost(load: Load, cloud: Cloud, figures: Measured, prices: Prices, needs: _Needs) -> dict[str, float]:
    turns = load.users * load.turns_per_day * MONTH_DAYS
    runs = sum(figures.runs.values()) * turns
    activities = _activities_a_turn(figures) * turns
    messages = (runs + activities) * 2
    if cloud.autoscale_ru:
        # It is billed by the highest use of each hour, at least a tenth of the maximum.
        average = sum(
            min(max(load.turns_a_second * value, cloud.autoscale_ru / 10), cloud.autoscale_ru)
            for value in needs.units.values()
        )
        requests = average / 100 * prices.cosmos_autoscale_per_100_ru_hour * 24 * MONTH_DAYS
    else:
        requests = turns * sum(needs.units.values()) / 1e6 * prices.cosmos_serverless_per_million_ru
    compute = turns * _activity_seconds(cloud, figures) * SPARE / ACTIVITIES_AT_ONCE * cloud.instance_gb
    executions = activities + runs + turns / figures.batch + turns * load.contexts_per_turn
    return {
        "chat model": turns * figures.tokens_in / 1e6 * prices.chat_input_per_million_tokens
        + turns * figures.tokens_out / 1e6 * prices.chat_output_per_million_tokens,
        "embeddings": turns * figures.tokens_embedded / 1e6 * prices.embeddings_per_million_tokens,
        "Cosmos DB, requests": requests,
        "Cosmos DB, storage": sum(needs.storage.values()) * prices.cosmos_storage_per_gb_month,
        "function app": compute * prices.functions_per_gb_second
        + executions / 1e6 * prices.functions_per_million_executions,
        "Durable, storage account": 0.0
        if cloud.scheduler
        else messages * QUEUE_OPERATIONS / 1e6 * prices.queue_operations_per_million,
        "logs": turns * 0.007 / 1000 * prices.logs_per_gb,
    }


def _assumptions(load: Load, cloud: Cloud, figures: Measured, prices: Prices) -> list[str]:
    return [
        f"the busiest hour has {load.peak:g} times the average; {load.contexts_per_turn:g} contexts for each turn",
        f"requests and request units measured on {figures.date} from the code on the embedded engine, whose request"
        " units show only the order of magnitude; the cadence is that of the templates",
        "every turn of a batch of the change feed is of another user, which costs the most",
        f"{cloud.latency * 1000:g} ms for a request to the store, {cloud.model_seconds:g} s for a call of the model",
        f"the embedding model takes {EMBEDDING_REQUESTS:g} requests a minute for each 1,000 tokens of its quota",
        f"{cloud.mode} throughput: {PARTITION_RU[cloud.mode]:,.0f} RU/s and {PARTITION_GB:g} GB a physical partition",
        f"an instance runs {ACTIVITIES_AT_ONCE} activities at a time, and {SPARE:g} run for each that is full;"
        f" a control queue of Durable carries {MESSAGES_A_QUEUE:g} messages a second (assumed)",
        f"storage after one month; turns stay {cloud.turn_days} days, vectors of {cloud.dimensions} numbers stay",
        f"list prices of {prices.date} in {prices.currency}, without free amounts",
    ]
