"""How much a user's data grows in a month: documents and bytes of JSON by kind.

`python benchmarks/growth.py [--users 3] [--turns 300] [--threads 10] [--json]`. Each user writes the turns of a month
in some conversations, the rules process them at the cadence of the templates, with vectors of 1,536 and of 512 numbers.
Bytes are those of the stored documents; what Cosmos DB adds for its indexes is not among them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections import defaultdict
from typing import Any

from pipeline import talk

from agent_memory import AsyncMemory, Cadence
from agent_memory.language.hashing import embed_text
from agent_memory.language.offline import OfflineChat
from agent_memory.language.tasks import Embedded
from agent_memory.models import Usage
from agent_memory.store.containers import COUNTER, MEMORIES, SUMMARIES, TURNS

CADENCE = Cadence(extract=10, summarize=10, profile=20, reconcile=5, idle_seconds=0)


class LongEmbeddings:
    """Hashed vectors, repeated to as many numbers as a service's have, and none of them zero, as a service's are."""

    def __init__(self, dimensions: int) -> None:
        self.model_id = f"hashing-{dimensions}"
        self.dimensions = dimensions

    async def embed(self, texts: Any) -> Embedded:
        """One vector for each text."""
        vectors = []
        for text in texts:
            noise = random.Random(text)
            short = (embed_text(text) * 5)[: self.dimensions]
            vectors.append([value / 2 + noise.uniform(-0.02, 0.02) for value in short])
        return Embedded(vectors=vectors, usage=Usage())

    async def close(self) -> None:
        """Nothing to close."""


async def measure(users: int, turns: int, threads: int, dimensions: int) -> dict[str, tuple[float, float]]:
    """Documents and bytes for each user, by kind."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    embeddings = LongEmbeddings(dimensions)
    async with AsyncMemory.local(chat_model=OfflineChat(), embedding_model=embeddings, cadence=CADENCE) as memory:
        for user in range(users):
            for thread in range(threads):
                said = [{**turn, "id": f"{user}-{thread}-{n}"} for n, turn in enumerate(talk(turns // threads, thread))]
                await memory.user(f"u{user}").thread(f"t{thread}").add_many(said)
            await memory.drain(timeout=600)
        store = memory.runtime.store
        for container in (TURNS, MEMORIES, SUMMARIES, COUNTER):
            for user in range(users):
                for row in await store.query(container, "SELECT * FROM c", (f"u{user}",)):
                    kind = "raw talk" if row.get("kind") == "chunk" else row["type"]
                    found[f"{container}, {kind}"][0] += 1
                    found[f"{container}, {kind}"][1] += len(json.dumps(row))
    return {kind: (number / users, size / users) for kind, (number, size) in sorted(found.items())}


def main() -> int:
    """Runs the benchmark; the exit status."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--users", type=int, default=3)
    options.add_argument("--turns", type=int, default=300, help="of each user")
    options.add_argument("--threads", type=int, default=10, help="of each user")
    options.add_argument("--json", action="store_true", help="print JSON only")
    given = options.parse_args()
    report = {
        dimensions: asyncio.run(measure(given.users, given.turns, given.threads, dimensions))
        for dimensions in (1536, 512)
    }
    if given.json:
        print(json.dumps(report, indent=2))
        return 0
    for dimensions, kinds in report.items():
        print(f"a user and month, vectors of {dimensions} numbers{'':<8}{'documents':>10}{'KB':>9}")
        for kind, (number, size) in kinds.items():
            print(f"{kind:<48}{number:>10.0f}{size / 1000:>9.0f}")
        print(f"{'all':<48}{sum(n for n, _ in kinds.values()):>10.0f}{sum(s for _, s in kinds.values()) / 1000:>9.0f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
