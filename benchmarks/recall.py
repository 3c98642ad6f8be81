"""What recall costs on this machine, embedded: one user with a long history, and many users.

`python benchmarks/recall.py [--memories 10000] [--turns 20000] [--users 1000] [--each 100] [--repeats 100] [--json]`.
The store is filled with documents as processing writes them (a chunk for every turn), with deterministic vectors.
Search and context are measured without the embedding of the query (its vector is prepared) and with that of
all-MiniLM-L6-v2, compared with a plain vector query through the azure-cosmos SDK in the same run. Among the many users,
a context is measured with memory and with memory switched off: the difference is what memory adds to an answer. Times
are wall-clock milliseconds, and (`cpu`) the median of the processor time, which a busy machine hardly lengthens.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agent_memory import AsyncMemory, Cadence
from agent_memory.evaluation.adapters import CachedEmbeddings
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.minilm import MiniLMEmbeddings
from agent_memory.language.tasks import Embedded, EmbeddingModel, Vector
from agent_memory.models import Memory, Turn, content_hash, now
from agent_memory.settings import RecallSettings
from agent_memory.store.chunks import chunk_of
from agent_memory.store.containers import MEMORIES, TURNS
from agent_memory.store.documents import create, to_document

NOTHING_BY_ITSELF = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
# A late context must count with its time, not look like a fast one. Turns are history after a second, not 20 minutes.
RECALL = RecallSettings(context_timeout=60.0, fresh_seconds=1.0)
START = datetime(2025, 1, 1, tzinfo=UTC)
THREAD_TURNS = 100
SUBJECTS = (
    "budget flight hotel garden invoice deploy meeting allergy piano novel kitchen bicycle server contract".split()
)
VERBS = "plans likes wants changed cancelled moved booked reviewed finished dropped painted repaired paid".split()
PLACES = "Lisbon Hawaii Porto Kyoto Oslo Austin Vienna Madrid Dublin Cairo Lima Seoul Perth Quito Turin".split()
PLAIN = (
    "SELECT TOP 10 c.id, c.content, VectorDistance(c.embedding, @vector) AS similarity FROM c"
    " ORDER BY VectorDistance(c.embedding, @vector)"
)

Calls = dict[str, Callable[[str], Awaitable[None]]]


class PreparedEmbeddings(CachedEmbeddings):
    """Vectors that are made beforehand, so that a call costs nothing; or costs what a real model does, if asked."""

    priced_by: EmbeddingModel | None = None

    async def embed(self, texts: list[str]) -> Embedded:
        if self.priced_by is not None:
            await self.priced_by.embed(texts)
        return await super().embed(texts)


def main() -> int:
    """Runs the benchmark; the exit status."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--memories", type=int, default=10_000, help="memories of the one user")
    options.add_argument("--turns", type=int, default=20_000, help="turns of the one user")
    options.add_argument("--users", type=int, default=1_000, help="number of users")
    options.add_argument(
        "--each", type=int, default=100, help="memories of each of them, except the measured one, who has 100"
    )
    options.add_argument("--repeats", type=int, default=100, help="calls to time")
    options.add_argument("--json", action="store_true", help="print JSON only")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(measure(Path(folder), arguments))
    print(json.dumps(report, indent=2) if arguments.json else table(report))
    return 0


async def measure(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """All figures of one run."""
    alone, deep = await one_user(folder / "deep.db", arguments)
    beside = await many_users(folder / "wide.db", arguments)
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}",
        "memories": arguments.memories,
        "turns": arguments.turns,
        "users": arguments.users,
        "memories_of_each": arguments.each,
        "milliseconds": alone | beside,
        "search_to_plain_vector_query": deep,
        "search_among_users_to_alone": round(
            beside["search, 1 of all users"]["p50"] / beside["search, 1 user"]["p50"], 2
        ),
        "added_by_memory_at_p50": added(beside, "context, 1 of all users"),
        "added_by_memory_at_p50_with_embedding": added(beside, "context of 1, query embedded"),
    }


async def reading_calls(memory: AsyncMemory, embeddings: EmbeddingModel) -> Calls:
    """A plain vector query, a search and a context of the user `user`."""
    user, store = memory.user("user"), memory.runtime.store
    thread = user.thread("thread-0")
    vectors = dict(zip(QUESTIONS, (await embeddings.embed(QUESTIONS)).vectors, strict=True))

    async def plain(question: str) -> None:
        await store.query(MEMORIES, PLAIN, ("user",), vector=vectors[question])

    async def search(question: str) -> None:
        assert await user.search(question, limit=10)

    async def context(question: str) -> None:
        found = await thread.context(question)
        assert found.text
        assert not found.degraded

    return {"plain vector query": plain, "search": search, "context": context}


async def one_user(path: Path, arguments: argparse.Namespace) -> tuple[dict[str, dict[str, float]], float]:
    """A user with a long history: search, context and the plain query, call by call in turn."""
    embeddings = PreparedEmbeddings(HashingEmbeddings())
    async with opened(path, embeddings) as memory:
        await fill(memory, embeddings, "user", arguments.memories, arguments.turns)
        await counted(memory, "user", arguments.turns)
        calls = await reading_calls(memory, embeddings)
        figures = await timed(calls, arguments.repeats)
        embeddings.priced_by = MiniLMEmbeddings()
        embedded = {f"{name}, query embedded": calls[name] for name in ("search", "context")}
        figures |= await timed(embedded, max(10, arguments.repeats // 4))
    return figures, ratio(figures, "search", "plain vector query")


async def many_users(path: Path, arguments: argparse.Namespace) -> dict[str, dict[str, float]]:
    """A user with 100 memories, before and after all the others are there; with memory and without."""
    embeddings = PreparedEmbeddings(HashingEmbeddings())
    async with opened(path, embeddings) as memory:
        await fill(memory, embeddings, "user-0", 100, 0)
        await embeddings.embed(QUESTIONS)

        async def search(question: str) -> None:
            assert await memory.user("user-0").search(question, limit=10)

        async def context(question: str) -> None:
            assert (await memory.user("user-0").thread("now").context(question)).text

        async def without(question: str) -> None:
            off = memory.user("user-0", config={"enabled": False})
            assert not (await off.thread("now").context(question)).text

        figures = await timed({"search, 1 user": search}, arguments.repeats)
        for number in range(1, arguments.users):
            await fill(memory, embeddings, f"user-{number}", arguments.each, 0)
        beside: Calls = {
            "search, 1 of all users": search,
            "context, 1 of all users": context,
            "context, memory off": without,
        }
        figures |= await timed(beside, arguments.repeats)
        embeddings.priced_by = MiniLMEmbeddings()
        return figures | await timed({"context of 1, query embedded": context}, max(10, arguments.repeats // 4))


def opened(path: Path, embeddings: PreparedEmbeddings) -> AsyncMemory:
    return AsyncMemory.local(path, embedding_model=embeddings, cadence=NOTHING_BY_ITSELF, recall=RECALL)


async def fill(memory: AsyncMemory, embeddings: PreparedEmbeddings, user_id: str, memories: int, turns: int) -> None:
    """Writes documents as processing would: facts and chunks with vectors, turns without."""
    store = memory.runtime.store
    written: list[tuple[str, Turn | Memory]] = []
    for turn in make_turns(user_id, turns):
        written += [(TURNS, turn), (MEMORIES, make_chunk(turn))]
    written += [(MEMORIES, fact) for fact in make_facts(user_id, memories)]
    groups: dict[tuple[str, str], list[Turn | Memory]] = {}
    for container, item in written:
        groups.setdefault((container, item.thread_id), []).append(item)
    for (container, thread_id), items in groups.items():
        vectors: list[Vector | None] = [None] * len(items)
        if container == MEMORIES:
            vectors = list((await embeddings.embed([item.content for item in items])).vectors)
        documents = [to_document(item, vector) for item, vector in zip(items, vectors, strict=True)]
        for start in range(0, len(documents), 50):
            part = [create(document) for document in documents[start : start + 50]]
            await store.batch(container, (user_id, thread_id), part)


async def counted(memory: AsyncMemory, user_id: str, turns: int) -> None:
    """Waits until the turns are history: counted by the background worker, and no longer fresh."""
    await asyncio.sleep(RECALL.fresh_seconds + 1)
    while sum(counter.count for counter in await memory.runtime.counters.of_user(user_id)) < turns:  # noqa: ASYNC110 (it tells nobody)
        await asyncio.sleep(0.5)


def make_turns(user_id: str, count: int) -> Iterator[Turn]:
    rng = random.Random(f"turns of {user_id}")
    for number in range(count):
        yield Turn(
            id=f"turn-{number}",
            user_id=user_id,
            thread_id=f"thread-{number // THREAD_TURNS}",
            role="user" if number % 2 == 0 else "agent",
            content=f"{sentence(rng)}, and {sentence(rng)}. So we said it on day {number}.",
            created_at=START + timedelta(minutes=20 * number),
        )


def make_chunk(turn: Turn) -> Memory:
    position = int(turn.id.removeprefix("turn-")) % THREAD_TURNS
    return chunk_of(turn, turn.content.strip(), HashingEmbeddings().model_id, name=turn.name, position=position)


def make_facts(user_id: str, count: int) -> Iterator[Memory]:
    rng = random.Random(f"facts of {user_id}")
    for number in range(count):
        source = Turn(
            id=f"source-{number}",
            user_id=user_id,
            thread_id=f"thread-{number // THREAD_TURNS}",
            role="user",
            content=f"{sentence(rng)} for {rng.randrange(10, 9999)} dollars",
            created_at=START + timedelta(hours=number),
        )
        yield make_fact(source, f"fact-{number}")


def make_fact(source: Turn, fact_id: str) -> Memory:
    return Memory(
        id=fact_id,
        user_id=source.user_id,
        thread_id=source.thread_id,
        type="fact",
        kind="fact",
        content=source.content,
        source_turn_ids=[source.id],
        created_at=source.created_at,
        valid_from=source.created_at,
        recorded_at=now(),
        content_hash=content_hash(source.content),
        embedding_model=HashingEmbeddings().model_id,
    )


def sentence(rng: random.Random) -> str:
    return (
        f"Maya {rng.choice(VERBS)} the {rng.choice(SUBJECTS)} in {rng.choice(PLACES)} with number {rng.randrange(5000)}"
    )


_ASKED = random.Random("questions")
QUESTIONS = [
    f"What did Maya say of the {_ASKED.choice(SUBJECTS)} in {_ASKED.choice(PLACES)}, number {_ASKED.randrange(5000)}?"
    for _ in range(50)
]


async def timed(calls: Calls, times: int) -> dict[str, dict[str, float]]:
    """p50 and p95 of each call, in milliseconds, and p50 of its processor time, of all threads.

    The calls take turns, so that a busy machine is busy for all.
    """
    spent: dict[str, list[float]] = {name: [] for name in calls}
    worked: dict[str, list[float]] = {name: [] for name in calls}
    for n in range(-3, times):
        for name, call in calls.items():
            started, began = time.perf_counter(), time.process_time()
            await call(QUESTIONS[n % len(QUESTIONS)])
            if n >= 0:  # the first calls warm caches up
                spent[name].append((time.perf_counter() - started) * 1000)
                worked[name].append((time.process_time() - began) * 1000)
    return {
        name: {
            "p50": round(statistics.median(values), 2),
            "p95": round(statistics.quantiles(values, n=20, method="inclusive")[18], 2),
            "cpu": round(statistics.median(worked[name]), 2),
        }
        for name, values in spent.items()
    }


def added(figures: dict[str, dict[str, float]], name: str) -> dict[str, float]:
    """Milliseconds that a context takes more with memory than without: by the clock, and of the processor."""
    without = figures["context, memory off"]
    return {one: round(figures[name][one] - without[one], 2) for one in ("p50", "cpu")}


def ratio(figures: dict[str, dict[str, float]], one: str, other: str) -> float:
    return round(figures[one]["p50"] / figures[other]["p50"], 2)


def table(report: dict[str, Any]) -> str:
    """The report for a person."""
    times = report["milliseconds"].items()
    rows = [f"{name:<30}{one['p50']:>10.2f}{one['p95']:>10.2f}{one['cpu']:>10.2f}" for name, one in times]
    notes = [f"{name.replace('_', ' ')}: {value}" for name, value in report.items() if name != "milliseconds"]
    return "\n".join([*notes, "", f"{'ms':<30}{'p50':>10}{'p95':>10}{'cpu':>10}", *rows])


if __name__ == "__main__":
    raise SystemExit(main())
