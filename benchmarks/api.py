"""What the HTTP API costs: add, search and context over loopback, compared with the same calls in process.

Run: `python benchmarks/api.py [--requests 300] [--clients 8]`. The store is in RAM, models are offline, and no turns
    are processed meanwhile, so that the difference is the cost of HTTP.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager

import uvicorn

from agent_memory import AsyncMemory, Cadence
from agent_memory.api import HeaderIdentity, InlineProcessing, create_app
from agent_memory.language.hashing import HashingEmbeddings

USER = "bench"
FACTS = 200
Call = Callable[[int], Awaitable[object]]


def calls(memory: AsyncMemory) -> dict[str, Call]:
    """The calls that are measured."""
    user = memory.user(USER)
    chat = user.thread("talk")
    return {
        "add": lambda n: chat.add("user", f"Message number {n} of a longer talk about the house by the lake."),
        "search": lambda n: user.search(f"Where is fact number {n % FACTS}?", limit=5),
        "context": lambda n: user.context(f"What do I know of fact number {n % FACTS}?"),
    }


async def measure(call: Call, requests: int, clients: int) -> tuple[float, float, float]:
    """Requests per second, and p50 and p95 in milliseconds."""
    times: list[float] = []
    numbers = iter(range(requests))

    async def client() -> None:
        for number in numbers:
            begun = time.perf_counter()
            await call(number)
            times.append((time.perf_counter() - begun) * 1000)

    begun = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    total = time.perf_counter() - begun
    cuts = statistics.quantiles(times, n=20)
    return requests / total, cuts[9], cuts[18]


@asynccontextmanager
async def served(memory: AsyncMemory):  # noqa: ANN201 - an address
    app = create_app(memory, InlineProcessing(memory.runtime), HeaderIdentity(allowed=True))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off", access_log=False))
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - once, at the start
        await asyncio.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    await task


async def run(requests: int, clients: int) -> None:
    cadence = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
    async with AsyncMemory.local(embedding_model=HashingEmbeddings(), cadence=cadence) as memory:
        for number in range(FACTS):
            await memory.user(USER).remember(f"Fact number {number} lies in drawer {number * 7 % 31}")
        print(f"{requests} requests, {clients} at a time, {FACTS} facts; one process serves and asks")
        print(f"{'':8} {'way':10} {'req/s':>8} {'p50 ms':>8} {'p95 ms':>8}")
        async with served(memory) as url, AsyncMemory.remote(url) as remote:
            for name in calls(memory):
                for way, one in (("in process", memory), ("HTTP", remote)):
                    call = calls(one)[name]
                    await measure(call, 20, 1)
                    rate, p50, p95 = await measure(call, requests, clients)
                    print(f"{name:8} {way:10} {rate:8.0f} {p50:8.1f} {p95:8.1f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--clients", type=int, default=8)
    options = parser.parse_args()
    asyncio.run(run(options.requests, options.clients))
