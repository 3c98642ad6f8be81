"""What the main calls ask of the store: requests, round trips one after another, bytes, request units.

`python benchmarks/trips.py [--memories 3000] [--turns 2000] [--json]`. One user with a history (`benchmarks/recall.py`
makes it), in the engine's fast mode and in strict mode, in which clients carry out query plans over three partitions as
they do in Azure. Medians of calls that were made before, beside a plain vector query. Requests that leave before any
answer has come are one round trip. Bytes are those of the answers' bodies, request units the engine's estimate from the
size of documents: right in scale only.
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
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from azure.core.pipeline.transport import AsyncHttpResponse, HttpRequest
from recall import QUESTIONS, HashingEmbeddings, PreparedEmbeddings, counted, fill, opened, reading_calls

import embedded_cosmos
from embedded_cosmos import AsyncTransport
from embedded_cosmos.messages import Request

_TURNS_OF_THE_LOOP = 200
"""More than a call takes to send all that waits for no answer."""


@dataclass(slots=True)
class Asked:
    """What a call asked of the store."""

    requests: int = 0
    sequential: int = 0
    bytes: int = 0
    units: float = 0.0


class _Trip:
    """One call: its figures, and the round trip that is about to leave."""

    def __init__(self) -> None:
        self.asked = Asked()
        self._leaving: asyncio.Future[None] | None = None

    async def leave(self) -> None:
        """Waits until whoever can send a request now has done so; they all leave together."""
        if self._leaving is not None:
            await asyncio.shield(self._leaving)
            return
        self._leaving = asyncio.get_running_loop().create_future()
        for _ in range(_TURNS_OF_THE_LOOP):
            await asyncio.sleep(0)
        leaving, self._leaving = self._leaving, None
        self.asked.sequential += 1
        leaving.set_result(None)


_trip: ContextVar[_Trip | None] = ContextVar("trip", default=None)


class Counting(AsyncTransport):
    """Counts what is asked on behalf of the call under way; nothing of background work."""

    def _is_quick(self, request: Request) -> bool:
        """Answers on the loop while it counts: how long a thread takes must not tell what leaves together."""
        return True if _trip.get() is not None else super()._is_quick(request)

    async def send(self, request: HttpRequest, **options: Any) -> AsyncHttpResponse:
        """Answers a request, and counts it."""
        trip = None if str(request.url).endswith("/pkranges/") else _trip.get()  # the SDK's map is read once
        if trip is None:
            return await super().send(request, **options)
        await trip.leave()
        response = await super().send(request, **options)
        trip.asked.requests += 1
        trip.asked.bytes += len(response.body())
        trip.asked.units += float(response.headers.get("x-ms-request-charge", 0))
        return response


async def measure(folder: Path, memories: int, turns: int, repeats: int) -> dict[str, dict[str, Any]]:
    """The figures of each call in one mode."""
    embeddings = PreparedEmbeddings(HashingEmbeddings())
    async with opened(folder / "store.db", embeddings) as memory:
        await fill(memory, embeddings, "user", memories, turns)
        await counted(memory, "user", turns)

        async def add(question: str) -> None:
            await memory.user("user").thread("new").add("user", question)

        # `add` comes last, because what was just said costs the next search more.
        calls = await reading_calls(memory, embeddings) | {"add": add}
        return {name: await _figures(call, repeats) for name, call in calls.items()}


async def _figures(call: Callable[[str], Awaitable[None]], repeats: int) -> dict[str, Any]:
    await call(QUESTIONS[-1])
    asked: list[Asked] = []
    for question in QUESTIONS[:repeats]:
        trip = _Trip()
        token = _trip.set(trip)
        await call(question)
        _trip.reset(token)
        asked.append(trip.asked)
    spent = []
    for question in QUESTIONS[:repeats]:
        began = time.perf_counter()
        await call(question)
        spent.append((time.perf_counter() - began) * 1000)
    rows = [asdict(one) for one in asked]
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
            figures = measure(Path(folder), arguments.memories, arguments.turns, arguments.repeats)
            report[mode] = asyncio.run(figures)
    print(json.dumps(report, indent=2) if arguments.json else table(report))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
