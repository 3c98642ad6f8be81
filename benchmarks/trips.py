"""The cost of the main calls to the store: requests, sequential round trips, bytes, request units.

`python benchmarks/trips.py [--memories 3000] [--turns 2000] [--json]`. One user with a history (`benchmarks/recall.py`
makes it), in the engine's fast mode, and in strict mode as in Azure: clients carry out query plans over three
partitions, and other processes may write to the store. Medians of warm calls, compared with a plain vector query.
Requests that leave before any answer has come are one round trip. Bytes are those of the answers' bodies, request units
the engine's estimate from the size of documents: right in scale only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from recall import QUESTIONS, HashingEmbeddings, PreparedEmbeddings, counted, fill, opened, reading_calls
from round_trips import Asked, Counting, counting

import embedded_cosmos
from agent_memory.store.known import Known


async def measure(folder: Path, memories: int, turns: int, repeats: int, *, shared: bool) -> dict[str, dict[str, Any]]:
    """The figures of each call in one mode."""
    embeddings = PreparedEmbeddings(HashingEmbeddings())
    async with opened(folder / "store.db", embeddings) as memory:
        await fill(memory, embeddings, "user", memories, turns)
        await counted(memory, "user", turns)
        if shared:
            memory.runtime.store.known = Known(alone=False)

        async def add(question: str) -> None:
            await memory.user("user").thread("new").add("user", question)

        # `add` comes last, because fresh turns make the next search cost more.
        calls = await reading_calls(memory, embeddings) | {"add": add}
        return {name: await _figures(call, repeats) for name, call in calls.items()}


async def _figures(call: Callable[[str], Awaitable[None]], repeats: int) -> dict[str, Any]:
    await call(QUESTIONS[-1])
    asked = [Asked() for _ in QUESTIONS[:repeats]]
    for one, question in zip(asked, QUESTIONS, strict=False):
        with counting(one):
            await call(question)
    spent = []
    for question in QUESTIONS[:repeats]:
        began = time.perf_counter()
        await call(question)
        spent.append((time.perf_counter() - began) * 1000)
    rows = [
        {"requests": one.requests, "sequential": one.in_a_row, "bytes": one.bytes, "units": sum(one.units.values())}
        for one in asked
    ]
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]} | {
        "p50": round(statistics.median(spent), 2)
    }


def table(report: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The report for a person."""
    lines = [f"{'':<28}{'requests':>9}{'in a row':>9}{'KB':>8}{'RU':>8}{'ms p50':>8}"]
    for mode, calls in report.items():
        for name, one in calls.items():
            lines.append(
                f"{mode + ', ' + name:<28}{one['requests']:>9.0f}{one['sequential']:>9.0f}"
                f"{one['bytes'] / 1000:>8.1f}{one['units']:>8.1f}{one['p50']:>8.1f}"
            )
    return "\n".join(lines)


def main() -> int:
    """Runs the benchmark; the exit status."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--memories", type=int, default=3000, help="memories of the user")
    options.add_argument("--turns", type=int, default=2000, help="turns of the user")
    options.add_argument("--repeats", type=int, default=30, help="calls of each, at most 49")
    options.add_argument("--json", action="store_true", help="print JSON only")
    arguments = options.parse_args()
    embedded_cosmos.AsyncTransport = Counting  # type: ignore[misc]
    report = {}
    for mode, strict in (("fast", "0"), ("strict", "1")):
        os.environ["EMBEDDED_COSMOS_STRICT"] = strict
        with tempfile.TemporaryDirectory() as folder:
            figures = measure(
                Path(folder), arguments.memories, arguments.turns, arguments.repeats, shared=strict == "1"
            )
            report[mode] = asyncio.run(figures)
    print(json.dumps(report, indent=2) if arguments.json else table(report))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
