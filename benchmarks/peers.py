"""Search and context beside the closest peer's search, through the same server.

`make bench-peers`, or `python benchmarks/peers.py [--memories 2000] [--turns 2000] [--repeats 40] [--json]` where
azure-cosmos-agent-memory is installed. One engine serves both over HTTP: this library and the peer have a database
each, with the same facts of one user and the same vectors. This library also has the user's turns and their index,
which the peer's search does not read. The calls take turns. Requests, bytes and request units are counted where they
leave the Cosmos SDK; request units are the engine's estimate. All of it runs in the engine's fast mode, and in strict
mode, in which clients carry out query plans over three partitions as they do in Azure.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from azure.core.pipeline.transport import AioHttpTransport, AsyncHttpResponse, HttpRequest
from azure.cosmos.agent_memory.aio import AsyncCosmosMemoryClient
from recall import NOTHING_BY_ITSELF, QUESTIONS, PreparedEmbeddings, counted, fill, make_facts, reading_calls, timed

from agent_memory import AsyncMemory
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.offline import OfflineChat
from agent_memory.settings import RecallSettings
from embedded_cosmos import Engine
from embedded_cosmos.server import LoopbackServer

PEER = "azure-cosmos-agent-memory"
COUNTED = ("requests", "bytes", "units")
_MAP_OF_PARTITIONS = "/pkranges/"
_AT_ONCE = 16


class PeerEmbeddings:
    """The vectors of this library's model, under the names that the peer calls."""

    def __init__(self, model: PreparedEmbeddings) -> None:
        self._model = model

    async def generate(self, text: str) -> list[float]:
        """The vector of one text."""
        return (await self.generate_batch([text]))[0]

    async def generate_batch(self, texts: list[str]) -> list[list[float]]:
        """The vectors of texts, in order."""
        return [list(vector) for vector in (await self._model.embed(texts)).vectors]


@contextmanager
def counting(asked: dict[str, float]) -> Iterator[None]:
    """Adds up what the Cosmos SDK asks for in the meantime, but for its map of partitions, which it reads once."""
    send = AioHttpTransport.send

    async def counted_send(self: AioHttpTransport, request: HttpRequest, **options: Any) -> AsyncHttpResponse:
        response = await send(self, request, **options)
        if not str(request.url).endswith(_MAP_OF_PARTITIONS):
            asked["requests"] += 1
            asked["bytes"] += int(response.headers.get("content-length", 0))
            asked["units"] += float(response.headers.get("x-ms-request-charge", 0))
        return response

    AioHttpTransport.send = counted_send  # type: ignore[method-assign]
    try:
        yield
    finally:
        AioHttpTransport.send = send  # type: ignore[method-assign]


async def fill_peer(peer: AsyncCosmosMemoryClient, memories: int) -> None:
    """Writes the facts through the peer's own call."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def write(content: str, thread_id: str) -> None:
        async with gate:
            await peer.upsert_memory("user", "user", content, "fact", thread_id=thread_id, salience=0.5)

    await asyncio.gather(*(write(fact.content, fact.thread_id) for fact in make_facts("user", memories)))


async def measure(arguments: argparse.Namespace, *, strict: bool) -> dict[str, dict[str, float]]:
    """The figures of each call in one mode."""
    embeddings = PreparedEmbeddings(HashingEmbeddings())
    with Engine(strict=strict) as engine, LoopbackServer(engine) as server:
        ours = AsyncMemory.cosmos(
            server.url,
            credential=server.key,
            database="ours",
            chat_model=OfflineChat(),
            embedding_model=embeddings,
            cadence=NOTHING_BY_ITSELF,
            process="inline",
            recall=RecallSettings(context_timeout=60.0),
        )
        peer = AsyncCosmosMemoryClient(
            cosmos_endpoint=server.url,
            cosmos_key=server.key,
            cosmos_database="peers",
            use_default_credential=False,
            embedding_dimensions=HashingEmbeddings().dimensions,
            embeddings_client=PeerEmbeddings(embeddings),
            chat_client=object(),
        )
        async with ours:
            await ours.create_memory_store()
            await peer.create_memory_store()
            await fill_peer(peer, arguments.memories)
            await fill(ours, embeddings, "user", arguments.memories, arguments.turns)
            await counted(ours, "user", arguments.turns)

            async def their_search(question: str) -> None:
                assert await peer.search_cosmos(question, user_id="user", memory_types=["fact"], top_k=10)

            calls = await reading_calls(ours, embeddings) | {f"{PEER}: search": their_search}
            figures = await timed(calls, arguments.repeats)
            for name, call in calls.items():
                sums = [defaultdict[str, float](float) for _ in QUESTIONS[:10]]
                for asked, question in zip(sums, QUESTIONS, strict=False):
                    with counting(asked):
                        await call(question)
                figures[name] |= {what: statistics.median(one[what] for one in sums) for what in COUNTED}
            await peer.close()
    return figures


def table(report: dict[str, dict[str, dict[str, float]]]) -> str:
    """The report for a person."""
    lines = [f"{'':<44}{'requests':>9}{'KB':>8}{'RU':>8}{'ms p50':>8}{'p95':>8}"]
    for mode, calls in report.items():
        lines += [
            f"{mode + ', ' + name:<44}{one['requests']:>9.0f}{one['bytes'] / 1000:>8.1f}{one['units']:>8.1f}"
            f"{one['p50']:>8.1f}{one['p95']:>8.1f}"
            for name, one in calls.items()
        ]
    return "\n".join([*lines, f"{PEER} {version(PEER)}"])


def main() -> int:
    """Runs the benchmark; the exit status."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--memories", type=int, default=2_000, help="facts of the user")
    options.add_argument("--turns", type=int, default=2_000, help="turns of the user, which only this library indexes")
    options.add_argument("--repeats", type=int, default=40, help="calls to time")
    options.add_argument("--json", action="store_true", help="print JSON only")
    arguments = options.parse_args()
    warnings.simplefilter("ignore")
    report = {mode: asyncio.run(measure(arguments, strict=mode == "strict")) for mode in ("fast", "strict")}
    print(json.dumps(report, indent=2) if arguments.json else table(report))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
