"""What the embedded engine costs, what the SDK above it costs, and what plain SQLite would cost, in one run.

`make bench-engine ARGS="--documents 10000 100000 --json"`. All documents belong to one user, in ten threads: 384
dimensions, thirty words, six fields. Times are wall-clock milliseconds through the sync client, p50 and p95. The
SDK's own cost is that of the same call with a transport that does nothing but give the answer it gave before; both are
timed in turns. The baseline is SQLite alone: json_extract for filters, FTS5 for text, Python for cosines.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import orjson
import psutil
from azure.cosmos import ContainerProxy, CosmosClient, PartitionKey
from numpy.typing import NDArray
from sqlite_baseline import SqliteBaseline

from embedded_cosmos import Engine, SyncTransport
from embedded_cosmos.messages import Request, Response

Clock = Callable[[], float]

DIMENSIONS = 384
WORDS_OF_A_TEXT = 30
USER = "alice"
THREADS = 10
KINDS = ("fact", "preference", "episodic", "procedural")
VOCABULARY = 2000

FILTERED = (
    "SELECT TOP 10 c.id, c.content FROM c"
    " WHERE c.type = @type AND c.confidence >= 0.5 AND NOT IS_DEFINED(c.superseded_at)"
)
VECTOR = (
    "SELECT TOP 10 c.id, c.content, VectorDistance(c.embedding, @vector) AS score FROM c"
    " WHERE c.type = @type AND c.confidence >= 0.5 ORDER BY VectorDistance(c.embedding, @vector)"
)
HYBRID = (
    "SELECT TOP 10 c.id, c.content FROM c WHERE c.type = @type AND c.confidence >= 0.5"
    " ORDER BY RANK RRF(VectorDistance(c.embedding, @vector), FullTextScore(c.content, @first, @second))"
)


class Replay:
    """Answers every request as one of its kind was answered before; only the first goes to the engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._answers: dict[tuple[object, ...], Response] = {}

    def handle(self, request: Request) -> Response:
        kind = _kind(request)
        if kind not in self._answers:
            self._answers[kind] = self._engine.handle(request)
        answer = self._answers[kind]
        return Response(answer.status, dict(answer.headers), answer.body)


def _kind(request: Request) -> tuple[object, ...]:
    container, _, item = request.path.partition("/docs/")
    # The change feed is read until its last page, so its place counts.
    place = request.headers.get("a-im"), request.headers.get("if-none-match")
    query = request.json()["query"] if request.is_query else None
    return (request.method, container, bool(item), place, request.flag("x-ms-documentdb-is-upsert"), query)


def main() -> int:
    """Runs the benchmark; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--documents", type=int, nargs="+", default=[10_000, 100_000], help="how many, one run for each"
    )
    parser.add_argument("--repeats", type=int, default=200, help="how often every call is timed")
    parser.add_argument("--cpu", action="store_true", help="count processor time, for machines that are busy")
    parser.add_argument("--json", action="store_true", help="print JSON only")
    parser.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.open is not None:
        print(json.dumps(measure_opening(arguments.open)))
        return 0
    reports = []
    for count in arguments.documents:
        with tempfile.TemporaryDirectory() as folder:
            clock = time.thread_time if arguments.cpu else time.perf_counter
            reports.append(measure(Path(folder), count, arguments.repeats, clock))
        if not arguments.json:
            print(table(reports[-1]), flush=True)
    if arguments.json:
        print(json.dumps(reports, indent=2))
    return 0


def measure(folder: Path, count: int, repeats: int, clock: Clock) -> dict[str, Any]:
    """All figures for so many documents."""
    chance = random.Random(count)
    vectors = np.random.default_rng(count).standard_normal((count, DIMENSIONS), np.float32)
    documents = [make_document(chance, number, vector) for number, vector in enumerate(vectors)]
    path = folder / "engine.db"
    started = time.perf_counter()
    fill(path, documents)
    fill_seconds = time.perf_counter() - started
    opening = json.loads(subprocess.check_output([sys.executable, __file__, "--open", path]))
    baseline = SqliteBaseline(folder / "baseline.db", documents)
    rows: dict[str, dict[str, Any]] = {}
    with Engine(path, cache_bytes=4 * 2**30) as engine:
        calls = calls_on(connect(engine, SyncTransport(engine)), documents, chance)
        replayed = calls_on(connect(engine, SyncTransport(cast(Engine, Replay(engine)))), documents, chance)
        plain = calls_on_baseline(baseline, documents, chance)
        for name, call in calls.items():
            times = min(repeats, 2) if name == "change feed, all" else repeats
            slow = times if name in ("point read", "upsert", "patch") else min(times, 5)
            rows[name] = compare(call, replayed[name], times, clock)
            rows[name]["sqlite"] = spread([timed(plain[name], clock) for _ in range(slow)])
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "clock": "processor" if clock is time.thread_time else "wall",
        "documents": count,
        "file_mb": round(path.stat().st_size / 2**20, 1),
        "fill_seconds": round(fill_seconds, 1),
        **opening,
        "milliseconds": rows,
        "hybrid_by_upsert": round(rows["filtered hybrid top-10"]["p50"] / rows["upsert"]["p50"], 2),
    }


def make_document(chance: random.Random, number: int, vector: NDArray[np.float32]) -> dict[str, Any]:
    # Common words are common: the text of people is not evenly spread.
    words = [f"word{int(VOCABULARY * chance.random() ** 3)}" for _ in range(WORDS_OF_A_TEXT)]
    return {
        "id": f"memory-{number}",
        "user_id": USER,
        "thread_id": f"thread-{number % THREADS}",
        "type": chance.choice(KINDS),
        "content": " ".join(words),
        "confidence": round(chance.random(), 3),
        "created_at": f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z",
        # The numbers of a model's answer: single precision, written as double.
        "embedding": (vector / np.linalg.norm(vector)).tolist(),
    }


def fill(path: Path, documents: list[dict[str, Any]]) -> None:
    """Create the store, in batches and past the SDK, which would take most of the time."""
    with Engine(path) as engine:
        client = CosmosClient(engine.url, engine.credential, transport=SyncTransport(engine))
        embedding = {
            "path": "/embedding",
            "dataType": "float32",
            "dimensions": DIMENSIONS,
            "distanceFunction": "cosine",
        }
        client.create_database("bench").create_container(
            "memories",
            PartitionKey(path=["/user_id", "/thread_id"]),
            default_ttl=-1,
            indexing_policy={
                "excludedPaths": [{"path": "/embedding/*"}],
                "vectorIndexes": [{"path": "/embedding", "type": "quantizedFlat"}],
                "fullTextIndexes": [{"path": "/content"}],
            },
            vector_embedding_policy={"vectorEmbeddings": [embedding]},
            full_text_policy={"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/content", "language": "en-US"}]},
        )
        flags = {"x-ms-cosmos-is-batch-request": "true", "x-ms-cosmos-batch-atomic": "true"}
        for thread in range(THREADS):
            key = {"x-ms-documentdb-partitionkey": json.dumps([USER, f"thread-{thread}"])}
            of_thread = documents[thread::THREADS]
            for start in range(0, len(of_thread), 100):
                batch = [{"operationType": "Create", "resourceBody": body} for body in of_thread[start : start + 100]]
                request = Request("POST", "/dbs/bench/colls/memories/docs/", flags | key, orjson.dumps(batch))
                response = engine.handle(request)
                assert response.status == 200, response.body


def connect(engine: Engine, transport: SyncTransport) -> ContainerProxy:
    client = CosmosClient(engine.url, engine.credential, transport=transport)
    return client.get_database_client("bench").get_container_client("memories")


def calls_on(
    container: ContainerProxy, documents: list[dict[str, Any]], chance: random.Random
) -> dict[str, Callable[[], object]]:
    """The calls to time, by name."""

    def key(document: dict[str, Any]) -> list[str]:
        return [USER, document["thread_id"]]

    def read() -> object:
        document = chance.choice(documents)
        return container.read_item(document["id"], key(document))

    def patch() -> object:
        document = chance.choice(documents)
        return container.patch_item(document["id"], key(document), [{"op": "incr", "path": "/uses", "value": 1}])

    def query(text: str, *names: str) -> list[object]:
        document = chance.choice(documents)
        first, second, *_ = document["content"].split()
        values = {"@type": document["type"], "@vector": document["embedding"], "@first": first, "@second": second}
        parameters: list[dict[str, object]] = [{"name": name, "value": values[name]} for name in names]
        return list(container.query_items(text, parameters=parameters, partition_key=[USER]))

    def drain() -> int:
        return sum(1 for _ in container.query_items_change_feed(start_time="Beginning"))

    return {
        "point read": read,
        "upsert": lambda: container.upsert_item(chance.choice(documents)),
        "patch": patch,
        "filtered query": lambda: query(FILTERED, "@type"),
        "filtered vector top-10": lambda: query(VECTOR, "@type", "@vector"),
        "filtered hybrid top-10": lambda: query(HYBRID, "@type", "@vector", "@first", "@second"),
        "change feed, all": drain,
    }


def calls_on_baseline(
    baseline: SqliteBaseline, documents: list[dict[str, Any]], chance: random.Random
) -> dict[str, Callable[[], object]]:
    """The same on SQLite alone."""

    def hybrid() -> object:
        document = chance.choice(documents)
        return baseline.hybrid(document["type"], document["embedding"], document["content"].split()[:2])

    def nearest() -> object:
        document = chance.choice(documents)
        return baseline.nearest(document["type"], document["embedding"])

    return {
        "point read": lambda: baseline.read(chance.choice(documents)["id"]),
        "upsert": lambda: baseline.upsert(chance.choice(documents)),
        "patch": lambda: baseline.increment(chance.choice(documents)["id"]),
        "filtered query": lambda: baseline.filtered(chance.choice(KINDS)),
        "filtered vector top-10": nearest,
        "filtered hybrid top-10": hybrid,
        "change feed, all": baseline.everything,
    }


def compare(call: Callable[[], object], replayed: Callable[[], object], times: int, clock: Clock) -> dict[str, Any]:
    """p50 and p95 of a call, of the SDK's part in it, and the engine's share, timed in turns."""
    for warm_up in (call, replayed):
        warm_up()
    pairs = [(timed(call, clock), timed(replayed, clock)) for _ in range(times)]
    total, sdk = spread([pair[0] for pair in pairs]), spread([pair[1] for pair in pairs])
    engine = max(total["p50"] - sdk["p50"], 0.0)
    return total | {
        "sdk_p50": sdk["p50"],
        "engine_p50": round(engine, 3),
        "engine_share": round(engine / total["p50"], 3),
    }


def timed(call: Callable[[], object], clock: Clock) -> float:
    started = clock()
    call()
    return 1000 * (clock() - started)


def spread(milliseconds: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(milliseconds, n=20, method="inclusive")
    return {"p50": round(statistics.median(milliseconds), 3), "p95": round(cuts[18], 3)}


def measure_opening(path: Path) -> dict[str, Any]:
    """In a process of its own: how long it takes to open the store and to answer first, and what it takes of memory."""
    process = psutil.Process()
    before = process.memory_info().rss
    opened = time.perf_counter()
    with Engine(path, cache_bytes=4 * 2**30) as engine:
        open_ms = 1000 * (time.perf_counter() - opened)
        container = connect(engine, SyncTransport(engine))
        vector: list[float] = [1.0, *[0.0] * (DIMENSIONS - 1)]
        values = {"@type": KINDS[0], "@vector": vector, "@first": "word1", "@second": "word2"}
        parameters: list[dict[str, object]] = [{"name": name, "value": value} for name, value in values.items()]
        asked = time.perf_counter()
        list(container.query_items(HYBRID, parameters=parameters, partition_key=[USER]))
        first_ms = 1000 * (time.perf_counter() - asked)
        counted = container.query_items("SELECT VALUE COUNT(1) FROM c", partition_key=[USER])
        used = process.memory_info().rss - before
        (count,) = counted
    return {
        "open_ms": round(open_ms, 1),
        "first_query_ms": round(first_ms, 1),
        "resident_mb": round(used / 2**20, 1),
        "resident_bytes_per_document": round(used / int(str(count))),
    }


def table(report: dict[str, Any]) -> str:
    """The report for a person."""
    rows = report["milliseconds"]
    notes = [f"{name.replace('_', ' ')}: {value}" for name, value in report.items() if name != "milliseconds"]
    head = f"{'ms':<24}{'p50':>10}{'p95':>10}{'SDK p50':>10}{'engine':>10}{'share':>8}{'SQLite p50':>12}{'p95':>10}"
    lines = [
        f"{name:<24}{row['p50']:>10.2f}{row['p95']:>10.2f}{row['sdk_p50']:>10.2f}{row['engine_p50']:>10.2f}"
        f"{row['engine_share']:>8.0%}{row['sqlite']['p50']:>12.2f}{row['sqlite']['p95']:>10.2f}"
        for name, row in rows.items()
    ]
    return "\n".join([*notes, "", head, *lines, ""])


if __name__ == "__main__":
    raise SystemExit(main())
