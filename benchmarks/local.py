"""What the main calls cost on this machine, embedded and offline, in one run.

`make bench` or `python benchmarks/local.py [--turns 600] [--json]`. The conversation is made of the sample
conversations, spread over ten threads of one user. Times are wall-clock milliseconds through the synchronous face.
The first search after opening is measured in new processes, in milliseconds of processor time: with nothing loaded, and
after `memory.warm()`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_memory import Cadence, Memory
from agent_memory.evaluation.plot import Panel, draw

SAMPLES = Path(__file__).resolve().parent.parent / "samples" / "conversations"
QUESTIONS = [
    "What's my budget for Hawaii?",
    "How many days may I work from home?",
    "How do I deploy payment-service?",
    "What food should I avoid?",
    "When is the flight?",
]
FIRST = """
import json, sys, time
from agent_memory import Memory
path, warm, *questions = sys.argv[1:]
spent = []
with Memory.local(path) as memory:
    if warm == "warm":
        memory.warm()
    for question in questions:
        began = time.process_time()
        memory.user("bench").search(question, limit=10)
        spent.append(round((time.process_time() - began) * 1000))
print(json.dumps(spent))
"""
NOTHING_BY_ITSELF = Cadence(extract=10**9, summarize=10**9, profile=10**9, reconcile=10**9, idle_seconds=0)


def main() -> int:
    """Runs the benchmark; the exit status."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--turns", type=int, default=600, help="turns to write and process")
    options.add_argument("--repeats", type=int, default=100, help="searches and contexts to time")
    options.add_argument("--json", action="store_true", help="print JSON only")
    options.add_argument("--plot", type=Path, metavar="FILE", help="draw the times as PNG, SVG or PDF, too")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = measure(Path(folder) / "bench.db", arguments.turns, arguments.repeats)
    print(json.dumps(report, indent=2) if arguments.json else table(report))
    if arguments.plot:
        draw(f"{report['turns']} turns, {report['memories']} memories", panels(report), arguments.plot)
    return 0


def measure(path: Path, turns: int, repeats: int) -> dict[str, Any]:
    """All figures of one run."""
    lines = [json.loads(line) for file in sorted(SAMPLES.glob("*.jsonl")) for line in file.read_text().splitlines()]
    contents = [line["content"] for line in lines]
    roles = [line["role"] for line in lines]
    figures: dict[str, dict[str, float]] = {}
    opened = time.perf_counter()
    with Memory.local(path, cadence=NOTHING_BY_ITSELF) as memory:
        open_ms = (time.perf_counter() - opened) * 1000
        user = memory.user("bench")
        threads = [user.thread(f"thread-{n}") for n in range(10)]

        def add(n: int) -> None:
            threads[n % 10].add(roles[n % len(roles)], f"{contents[n % len(contents)]} ({n})")

        figures["add"] = timed(add, turns)
        started = time.perf_counter()
        left = memory.drain()
        seconds = time.perf_counter() - started
        memories = user.stats().memories
        user.search(QUESTIONS[0])
        user.context(QUESTIONS[0])
        figures["search"] = timed(lambda n: user.search(QUESTIONS[n % len(QUESTIONS)], limit=10), repeats)
        figures["context"] = timed(lambda n: threads[0].context(QUESTIONS[n % len(QUESTIONS)]), repeats)
        health = memory.health()
    (cold, _, following, *_), (warm, *_) = first_searches(path, "cold"), first_searches(path, "warm")
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}",
        "models": f"{health.chat_model}, {health.embedding_model}",
        "turns": turns,
        "memories": memories,
        "open_ms": round(open_ms, 1),
        "turns_processed_per_second": round(turns / seconds, 1),
        "turns_left": left,
        "first_search_cpu_ms": {"nothing loaded": cold, "after warm()": warm, "third search": following},
        "milliseconds": figures,
    }


def first_searches(path: Path, state: str) -> list[int]:
    """The processor time of the first searches of a new process, in milliseconds."""
    command = [sys.executable, "-c", FIRST, str(path), state, *QUESTIONS]
    spent: list[int] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return spent


def timed(work: Callable[[int], object], times: int) -> dict[str, float]:
    """p50 and p95 of a call, in milliseconds."""
    spent = []
    for n in range(times):
        started = time.perf_counter()
        work(n)
        spent.append((time.perf_counter() - started) * 1000)
    cuts = statistics.quantiles(spent, n=20, method="inclusive")
    return {"p50": round(statistics.median(spent), 2), "p95": round(cuts[18], 2)}


def panels(report: dict[str, Any]) -> list[Panel]:
    """The times as pictures: the median, and the 95th percentile."""
    times = report["milliseconds"]
    return [
        Panel(f"{name} of a call", y="ms", bars={call: value[name] for call, value in times.items()})
        for name in ("p50", "p95")
    ]


def table(report: dict[str, Any]) -> str:
    """The report for a person."""
    figures = report["milliseconds"]
    rows = [f"{name:<10}{value['p50']:>10.2f}{value['p95']:>10.2f}" for name, value in figures.items()]
    notes = [f"{name.replace('_', ' ')}: {value}" for name, value in report.items() if name != "milliseconds"]
    return "\n".join([*notes, "", f"{'ms':<10}{'p50':>10}{'p95':>10}", *rows])


if __name__ == "__main__":
    raise SystemExit(main())
