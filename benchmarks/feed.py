"""The requests of a batch of the change feed to the store, and how many turns a lease handles in a second.

`python benchmarks/feed.py [--milliseconds 6] [--json]`. The function app's real trigger handles batches of 100 turns
against the engine in strict mode, in which clients plan queries as they do in Azure. Each request to the store, and
each call of Durable Functions, takes the given time in simulated time. Nothing else takes time, so the figures are the
same on every machine: they show dependencies, not Azure's timing. Request units are the engine's estimate from the size
of documents: right in scale only. Work that is due is started, but not carried out.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("EMBEDDED_COSMOS_STRICT", "1")
os.environ.setdefault("COSMOS_DB_DATABASE", "ai_memory")
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from azure.core.pipeline.transport import AsyncHttpResponse, HttpRequest
from simulation import VirtualLoop

import embedded_cosmos
from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.offline import OfflineChat
from agent_memory.settings import Environment
from agent_memory.store.client import Store
from agent_memory.store.containers import TURNS
from agent_memory.store.documents import create
from azure_functions import triggers, wiring
from azure_functions.wiring import Parts
from embedded_cosmos import AsyncTransport

CADENCE = Cadence(extract=10, summarize=10, profile=20, reconcile=5, idle_seconds=0)
"""That of the templates."""
BATCH = 100
OLDER = 100
"""Threads that a user with a history has."""


class Distant(AsyncTransport):
    """Counts requests and request units; each request takes a while."""

    seconds = 0.0
    requests = 0
    units = 0.0

    async def send(self, request: HttpRequest, **options: Any) -> AsyncHttpResponse:
        """Answers a request, late."""
        await asyncio.sleep(Distant.seconds)
        response = await super().send(request, **options)
        if not str(request.url).endswith("/pkranges/"):
            Distant.requests += 1
            Distant.units += float(response.headers.get("x-ms-request-charge", 0))
        return response


class Durable:
    """Stands in for the client of Durable Functions: nothing runs, and starting takes a while."""

    started = 0

    async def get_status(self, instance: str, **_: Any) -> Any:
        """No such orchestration."""
        await asyncio.sleep(Distant.seconds)
        return SimpleNamespace(runtime_status=None)

    async def start_new(self, name: str, instance: str, given: Any) -> str:
        """Notes a start."""
        await asyncio.sleep(Distant.seconds)
        self.started += 1
        return instance


async def _say(store: Store, user: str, threads: list[str], each: int, ts: int) -> list[dict[str, Any]]:
    made = []
    for thread in threads:
        place = {"user_id": user, "thread_id": thread, "type": "turn", "role": "user", "content": "A word."}
        documents = [place | {"id": f"{user}-{thread}-{ts}-{n}"} for n in range(each)]
        await store.batch(TURNS, (user, thread), [create(document) for document in documents])
        made += [document | {"_ts": ts} for document in documents]
    return made


async def measure(seconds: float) -> list[dict[str, Any]]:
    """The figures of each kind of batch."""
    handle = triggers.on_memory_change._function.get_user_function().client_function
    rows = []
    memory = AsyncMemory.local(chat_model=OfflineChat(), embedding_model=HashingEmbeddings(), cadence=CADENCE)
    async with memory:
        assert memory.runtime.worker is not None
        await memory.runtime.worker.stop()
        wiring._parts = Parts(memory, Environment(), CADENCE)
        store, client = memory.runtime.store, Durable()
        await handle(await _say(store, "somebody", ["t"], 1, 1000), client)  # what a process asks once
        for users in (1, 10, 100):
            for kind in ("new users", "known users", f"with {OLDER} threads"):
                if kind == "new users":
                    names, ts = [f"{users}-{n}" for n in range(users)], 1000
                elif kind == "known users":
                    ts = 3000
                    await handle([one for name in names for one in await _say(store, name, ["t"], 1, 2000)], client)
                else:
                    ts, older = 5000, [f"old{n}" for n in range(OLDER)]
                    for name in names[:10]:
                        await handle(await _say(store, name, older, 1, 4000), client)
                batch = [one for name in names for one in await _say(store, name, ["t"], BATCH // users, ts)]
                Distant.seconds, Distant.requests, Distant.units, client.started = seconds, 0, 0.0, 0
                began = asyncio.get_running_loop().time()
                await handle(batch, client)
                spent = asyncio.get_running_loop().time() - began
                Distant.seconds = 0.0
                rows.append(
                    {
                        "users": users,
                        "kind": kind,
                        "requests": Distant.requests,
                        "units": round(Distant.units),
                        "started": client.started,
                        "turns a second": round(BATCH / spent),
                    }
                )
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """The report for a person."""
    lines = [f"{'100 turns of':<28}{'requests':>9}{'RU':>7}{'started':>9}{'turns/s':>9}"]
    for row in rows:
        name = f"{row['users']}, {row['kind']}"
        figures = f"{row['requests']:>9}{row['units']:>7}{row['started']:>9}{row['turns a second']:>9}"
        lines.append(f"{name:<28}{figures}")
    return "\n".join(lines)


def main() -> int:
    """Runs the benchmark; the exit status."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--milliseconds", type=float, default=6.0, help="what a request takes")
    options.add_argument("--json", action="store_true", help="print JSON only")
    arguments = options.parse_args()
    logging.disable(logging.WARNING)
    embedded_cosmos.AsyncTransport = Distant  # type: ignore[misc]
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        rows = runner.run(measure(arguments.milliseconds / 1000))
    print(json.dumps(rows, indent=2) if arguments.json else table(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
