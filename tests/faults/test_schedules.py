"""Seeded schedules of faults: throttling, lost answers, workers that race and die, writes that are repeated.

Whatever happens, every turn is processed once: no fact is missing and none is there twice, counters and cursors
agree with the turns. `FAULT_SCHEDULES=2000 pytest tests/faults/test_schedules.py` runs more of them;
`FAULT_SEED=123` runs one again.
"""

import asyncio
import os
import random
from collections import Counter

import pytest
from azure.cosmos.aio import CosmosClient
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import AgentMemoryError, ModelError, StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.processing.worker import Pace
from agent_memory.settings import Limits
from agent_memory.store.client import Store
from agent_memory.store.commits import read_cursor
from agent_memory.store.containers import MEMORIES, SUMMARIES
from embedded_cosmos import AsyncTransport, Engine
from embedded_cosmos.faults import FaultPlan, FaultRule

SCHEDULES = int(os.environ.get("FAULT_SCHEDULES", "10"))
SEEDS = [int(os.environ["FAULT_SEED"])] if "FAULT_SEED" in os.environ else list(range(SCHEDULES))
THREADS = ("t0", "t1", "t2")


def faults(seed: int) -> FaultPlan:
    return FaultPlan(
        seed=seed,
        rules=[
            FaultRule("drop_after", probability=0.05),
            FaultRule("drop_before", probability=0.03),
            FaultRule("unavailable", probability=0.03),
            FaultRule("throttle", probability=0.3, retry_after_ms=0),
            FaultRule("delay", probability=0.3, delay_ms=3),
        ],
    )


def open_on(engine: Engine, chat: ScriptedChat, rng: random.Random) -> AsyncMemory:
    memory = AsyncMemory(
        Store(
            lambda: CosmosClient(engine.url, engine.credential, transport=AsyncTransport(engine), retry_total=1),
            "ai_memory",
            name="faulty",
        ),
        chat_model=chat,
        embedding_model=HashingEmbeddings(),
        cadence=Cadence(extract=rng.choice([1, 3, 5]), summarize=rng.choice([1, 4]), profile=3, reconcile=2),
        process="inline",
        provision=True,
        limits=Limits(batch_turns=rng.choice([1, 3, 20]), reconcile_candidates=500),
    )
    worker = memory._runtime.worker
    assert worker is not None
    worker._pace = Pace(poll=0.01, retry=0.01, longest=0.02, shutdown=0.0)
    return memory


async def write(memory: AsyncMemory, thread: str, turns: list[dict[str, object]]) -> None:
    """Writes turns, again and again until the store has taken them, as a careful caller does."""
    while True:
        try:
            await memory.user("alice").thread(thread).add_many(turns)
        except StoreUnavailable:
            continue
        else:
            return


async def run(seed: int) -> None:
    rng = random.Random(seed)
    chat = ScriptedChat()
    model_rng = random.Random(seed + 1)
    chat.fault = lambda task, call: ModelError("busy", retryable=True) if model_rng.random() < 0.1 else None
    turns = {
        thread: [
            {"id": f"{thread}-{n}", "role": "user", "content": f"fact: {thread} key{n}=some value {n}"}
            for n in range(rng.randrange(3, 9))
        ]
        for thread in THREADS
    }
    with Engine() as engine:
        async with open_on(engine, chat, rng):
            pass  # makes the store while all is well
        engine.faults = faults(seed)
        workers: list[AsyncMemory] = []

        async def disturb() -> None:
            """Opens workers, four at once in the end, and lets some die in the middle of their work."""
            while len(workers) < 4:
                memory = open_on(engine, chat, rng)
                try:
                    await memory.open()
                except AgentMemoryError:
                    await memory.close()
                    continue
                workers.append(memory)
                await asyncio.sleep(rng.random() * 0.05)
                if rng.random() < 0.4:
                    await workers.pop(rng.randrange(len(workers))).close()

        async def talk() -> None:
            writer = open_on(engine, chat, rng)
            await writer._runtime.store.open()
            position = dict.fromkeys(THREADS, 0)
            while any(position[thread] < len(turns[thread]) for thread in THREADS):
                thread = rng.choice(THREADS)
                start = max(0, position[thread] - rng.randrange(2))  # some are written again
                end = min(len(turns[thread]), position[thread] + rng.randrange(1, 4))
                await write(writer, thread, turns[thread][start:end])
                position[thread] = max(position[thread], end)
            await writer._runtime.store.close()

        await asyncio.gather(disturb(), talk())
        await asyncio.sleep(rng.random() * 0.3)
        for memory in workers:
            await memory.close()
        assert engine.faults.injected["throttle"] > 0
        engine.faults = None
        chat.fault = None
        async with open_on(engine, chat, rng) as memory:
            assert await memory.drain(timeout=60) == 0
            await check(memory, turns)


async def check(memory: AsyncMemory, turns: dict[str, list[dict[str, object]]]) -> None:
    alice, store = memory.user("alice"), memory._runtime.store
    said = Counter(str(turn["content"]).removeprefix("fact: ") for part in turns.values() for turn in part)
    everything = await alice.memories(include_superseded=True)
    assert Counter(m.content for m in everything) == said
    assert {m.superseded_by for m in everything} == {None}
    chunks = await store.query(MEMORIES, 'SELECT VALUE c.source_turn_ids[0] FROM c WHERE c.kind = "chunk"', ("alice",))
    assert Counter(chunks) == Counter(turn["id"] for part in turns.values() for turn in part)
    for thread, part in turns.items():
        assert [turn.id for turn in await alice.thread(thread).turns()] == [turn["id"] for turn in part]
        counter = await memory._runtime.counters.get("alice", thread)
        assert (counter.count, counter.pending) == (len(part), 0)
        for container, step in ((MEMORIES, "index"), (MEMORIES, "extract"), (SUMMARIES, "summarize")):
            stored = await read_cursor(store, container, ("alice", thread), step)
            assert (step, stored.cursor.count) == (step, len(part))
        summary = await alice.thread(thread).summary()
        assert summary is not None
        assert Counter(summary.key_points) == Counter(turn["content"] for turn in part)
        assert summary.turn_count == len(part)
    profile = await alice.profile()
    assert profile is not None
    assert Counter(profile.personal) == said
    assert await memory.dead_letters() == []


@pytest.mark.req("S1-44", "S1-45", "S0-045", "S0-105")
@pytest.mark.parametrize("seed", SEEDS)
async def test_every_turn_is_processed_once(seed: int):
    async with asyncio.timeout(120):
        await run(seed)
