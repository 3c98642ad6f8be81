"""What the function app's code asks of the store for each turn, measured on the embedded engine: `fleet.py --measure`.

The real feed, counters, starts and workflows run against the engine in strict mode (as Azure plans queries) behind a
transport that counts requests, round trips one after another, and request units by container. Orchestrations are
caught by a stand-in for the Durable client and carried out here, activity by activity. Vectors have 1,536 numbers.
Request units are the engine's estimate from the size of documents: right in scale only.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import azure.durable_functions as df
from pipeline import CADENCE, count_calls, talk
from round_trips import Asked, Counting, counting
from simulation import VirtualLoop

import embedded_cosmos
from agent_memory import AsyncMemory
from agent_memory.language.hashing import embed_text
from agent_memory.language.offline import OfflineChat
from agent_memory.language.tasks import Embedded
from agent_memory.models import Usage
from agent_memory.processing.activities import Activity, Json, run_workflow
from agent_memory.processing.intake import count_batch
from agent_memory.settings import Environment
from agent_memory.store.documents import Document
from azure_functions.orchestrators import workflow_name
from azure_functions.wiring import Parts

DIMENSIONS = 1536
BATCH = 100
"""Documents of one run of the change-feed trigger, as `triggers.py` says."""
EMBEDDED = 7_667
"""Tokens that 100 turns, their memories and 50 questions have for the embedding model (docs/operations.md)."""


@dataclass
class Cost(Asked):
    """What some work asked of the store, and how many activities ran."""

    activities: int = 0

    def to_json(self, runs: int = 1) -> dict[str, Any]:
        """The figures of one of so many runs."""
        return {
            "requests": round(self.requests / runs, 2),
            "in_a_row": round(self.in_a_row / runs, 2),
            "activities": round(self.activities / runs, 2),
            "units": {
                name: round(units / runs, 2) for name, units in sorted(self.units.items()) if units / runs >= 0.01
            },
        }


async def costing(work: Awaitable[Any], cost: Cost) -> Any:
    """Does some work and adds what it cost."""
    with counting(cost):
        return await work


class LongVectors:
    """Hashed words in as many numbers as the templates deploy; no number is short, as a model's are not."""

    model_id, dimensions = f"hashing-{DIMENSIONS}", DIMENSIONS
    calls = 0
    """How often any of them was called."""

    async def embed(self, texts: list[str]) -> Embedded:
        """Embeds texts in order."""
        LongVectors.calls += 1
        return Embedded([self._vector(text) for text in texts], Usage(embedded_texts=len(texts)))

    def _vector(self, text: str) -> list[float]:
        noise = random.Random(hashlib.sha256(text.encode()).digest())
        short = embed_text(text)
        scale = (len(short) / DIMENSIONS) ** 0.5
        return [round(scale * short[place % len(short)] + noise.gauss(0, 0.002), 7) for place in range(DIMENSIONS)]

    async def close(self) -> None:
        """Does nothing."""


class Starts:
    """Stands in for the Durable client: nothing runs by itself, and what is started is kept in order."""

    def __init__(self) -> None:
        self.started: list[tuple[str, str, Json]] = []
        self.running = ""

    async def get_status(self, instance: str, **_: Any) -> Any:
        """Whether an orchestration waits or runs."""
        waits = instance == self.running or any(instance == one for one, _, _ in self.started)
        return SimpleNamespace(runtime_status=df.OrchestrationRuntimeStatus.Running if waits else None)

    async def start_new(self, name: str, instance: str, given: Json) -> str:
        """Keeps a start."""
        self.started.append((instance, name, given))
        return instance


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[Parts, Starts]]:
    """The parts of a worker of the function app on an empty store."""
    os.environ["EMBEDDED_COSMOS_STRICT"] = "1"
    embedded_cosmos.AsyncTransport = Counting  # type: ignore[misc]
    memory = AsyncMemory.local(chat_model=OfflineChat(), embedding_model=LongVectors(), cadence=CADENCE)
    async with memory:
        assert memory.runtime.worker is not None
        await memory.runtime.worker.stop()
        yield Parts(memory, Environment(), CADENCE), Starts()


async def feed(parts: Parts, client: Any, documents: list[Document]) -> None:
    """What `triggers.on_memory_change` does with a batch."""
    starter = parts.starter(client)
    batch = await count_batch(starter.tools, starter.counters, documents, starter.at_once)
    await starter.start_due(batch.threads, batch.users)


async def batch_of(parts: Parts, users: int, threads: int, label: str, turns: int = BATCH) -> list[Document]:
    """So many turns of so many threads (of all users together), as the feed delivers them; written now."""
    documents: list[Document] = []
    for number in range(threads):
        user, name = f"{label}-u{number % users}", f"{label}-t{number}"
        said = [
            dict(turn) | {"id": f"{label}-{number}-{place}"}
            for place, turn in enumerate(talk(-(-turns // threads), number))
        ]
        await parts.memory.user(user).thread(name).add_many(said)  # type: ignore[arg-type]
        rows = await parts.runtime.store.query("memories_turns", "SELECT * FROM c", (user, name))
        documents += rows
    return documents[:turns]


async def measure_feed() -> dict[str, Any]:
    """What batches of 100 turns ask of the store, for different numbers of users and threads. Nothing is due."""
    rows = {}
    for users, threads in ((1, 1), (1, 10), (10, 10), (10, 100), (100, 100)):
        async with opened() as (parts, client):
            label = f"{users}x{threads}"
            # One turn fewer than makes anything due, where that is possible; what starts costs nothing here.
            documents = await batch_of(parts, users, threads, label)
            cost = Cost()
            await costing(feed(parts, client, documents), cost)
            rows[label] = {"users": users, "threads": threads} | cost.to_json()
    return rows


async def measure_work(users: int = 10, turns: int = 100) -> dict[str, Any]:
    """What each orchestration asks of the store and how many activities it has, on average over a sample of users.

    Each has one conversation of as many turns as `count_calls` counts, so that both see the same runs.
    """
    costs: dict[str, Cost] = defaultdict(Cost)
    runs: dict[str, int] = defaultdict(int)
    marking = Cost()
    before = LongVectors.calls
    async with opened() as (parts, client):
        activities: dict[str, Activity] = {
            name: _counted(name, activity, costs) for name, activity in parts.runtime.activities.items()
        }
        for start in range(0, turns, 10):
            for number in range(users):
                user, thread = f"u{number}", "t0"
                said = list(talk(turns, number))[start : start + 10]
                await parts.memory.user(user).thread(thread).add_many(said)  # type: ignore[arg-type]
                rows = await parts.runtime.store.query("memories_turns", "SELECT * FROM c", (user, thread))
                await feed(parts, client, rows)
                while client.started:
                    client.running, name, given = client.started.pop(0)
                    _current.set(name)
                    runs[name] += 1
                    workflow = workflow_name(name)
                    await costing(run_workflow(workflow, given["request"], activities), costs[name])
                    client.running = ""
                    done = {"request": given["request"], "counts": given["counts"]}
                    await costing(parts.starter(client).finish(workflow, done), marking)
        embedded = LongVectors.calls - before
        reading: dict[str, Cost] = {"add": Cost(), "context": Cost()}
        for number in range(users):
            thread_scope = parts.memory.user(f"u{number}").thread("t0")
            await thread_scope.context("What did we plan for the budget?")  # what a process knows of a user it keeps
            await costing(thread_scope.context("Which phase has what budget?"), reading["context"])
            await costing(thread_scope.add("user", "Yes please, show me what there is."), reading["add"])
    total = users * turns
    return {
        "runs_per_100_turns": {name: round(100 * count / total, 2) for name, count in sorted(runs.items())},
        "embedding_calls_per_100_turns": round(100 * embedded / total, 2),
        "runs": {name: costs[name].to_json(runs[name]) for name in sorted(runs)},
        "finish": marking.to_json(sum(runs.values())),
        "calls": {name: cost.to_json(users) for name, cost in reading.items()},
    }


_current: ContextVar[str] = ContextVar("workflow")


def _counted(name: str, activity: Activity, costs: dict[str, Cost]) -> Activity:
    async def run(payload: Json) -> Json | None:
        costs[_current.get()].activities += 1
        return await activity(payload)

    return run


def measure() -> dict[str, Any]:
    """All that the model needs to know of the code."""
    calls = asyncio.run(count_calls(100))
    # Without threads, so that the machine's load does not decide which requests leave together.
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        feed, work = runner.run(measure_feed()), runner.run(measure_work())
    told = ("extract", "summarize", "profile", "reconcile", "one_call", "stretch")
    return {
        "cadence": {name: getattr(CADENCE, name) for name in told},
        "dimensions": DIMENSIONS,
        "feed": feed,
        "work": work,
        "tokens_per_100_turns": {
            "in": calls["tokens_in_per_100_turns"],
            "out": calls["tokens_out_per_100_turns"],
            "calls": calls["calls_per_100_turns"],
        },
    }


def fitted(rows: Iterable[dict[str, Any]], what: str) -> tuple[float, float, float]:
    """The least-squares (constant, for each thread, for each user) of a figure of batches, none below 0."""
    data = [(1.0, float(row["threads"]), float(row["users"]), float(_figure(row, what))) for row in rows]
    best, error = (0.0, 0.0, 0.0), float("inf")
    for mask in range(1, 8):  # a few candidates: solve for each subset of the three, keep the best without negatives
        used = [place for place in range(3) if mask >> place & 1]
        left = [[sum(row[a] * row[b] for row in data) for b in used] for a in used]
        solved = _solve(left, [sum(row[a] * row[3] for row in data) for a in used])
        if solved is None or min(solved) < 0:
            continue
        full = [0.0, 0.0, 0.0]
        for place, value in zip(used, solved, strict=True):
            full[place] = value
        missed = sum((sum(f * x for f, x in zip(full, row[:3], strict=True)) - row[3]) ** 2 for row in data)
        if missed < error:
            best, error = (full[0], full[1], full[2]), missed
    return best


def _figure(row: dict[str, Any], what: str) -> float:
    return float(sum(row["units"].values()) if what == "units" else row[what])


def _solve(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    size = len(right)
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for place in range(size):
        pivot = max(range(place, size), key=lambda row: abs(rows[row][place]))
        if abs(rows[pivot][place]) < 1e-9:
            return None
        rows[place], rows[pivot] = rows[pivot], rows[place]
        for other in range(size):
            if other != place:
                factor = rows[other][place] / rows[place][place]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[place], strict=True)]
    return [rows[place][size] / rows[place][place] for place in range(size)]


def figures_of(found: dict[str, Any], date: str) -> dict[str, Any]:
    """What `agent_memory.scale` reads: `measured.json`."""
    rows = list(found["feed"].values())
    containers = sorted({name for row in rows for name in row["units"]})
    by_container = {
        name: fitted([{**row, "units": {name: row["units"].get(name, 0.0)}} for row in rows], "units")
        for name in containers
    }
    work = found["work"]
    return {
        "date": date,
        "batch": BATCH,
        "feed_in_a_row": [round(value, 4) for value in fitted(rows, "in_a_row")],
        "feed_units": {name: [round(value, 3) for value in line] for name, line in by_container.items()},
        "runs_per_100_turns": work["runs_per_100_turns"],
        "work": work["runs"],
        "finish": work["finish"],
        "add": work["calls"]["add"],
        "context": work["calls"]["context"],
        "tokens_in_per_100_turns": found["tokens_per_100_turns"]["in"],
        "tokens_out_per_100_turns": found["tokens_per_100_turns"]["out"],
        "tokens_embedded_per_100_turns": EMBEDDED,
        "embedding_calls_per_100_turns": work["embedding_calls_per_100_turns"],
        "model_calls_per_100_turns": found["tokens_per_100_turns"]["calls"],
    }
