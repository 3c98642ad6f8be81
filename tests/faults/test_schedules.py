"""Seeded schedules of faults: throttling, lost answers, workers that race and die, turns delivered again and again.

Whatever happens, every turn is processed once: no fact is missing and none is there twice, counters and cursors
agree with the turns and never went back. A seed is one interleaving, request by request, so
`FAULT_SEED=123 pytest tests/faults/test_schedules.py` replays a failure; `FAULT_SCHEDULES=2000` runs more of them.
"""

import asyncio
import os
import random

import pytest
from fault_story import THREADS, check, faults, script
from scripted_model import ScriptedChat
from simulation import Machine, World, open_on, simulate

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import AgentMemoryError, ModelError, StoreUnavailable
from agent_memory.processing.activities import run_workflow
from agent_memory.processing.due import due_work
from agent_memory.processing.intake import count_turns, due_user_work, mark
from agent_memory.settings import Limits
from agent_memory.store.documents import Document

pytestmark = pytest.mark.acceptance

SCHEDULES = int(os.environ.get("FAULT_SCHEDULES", "10"))
SEEDS = [int(os.environ["FAULT_SEED"])] if "FAULT_SEED" in os.environ else list(range(SCHEDULES))
WORKERS = 4


class Schedule:
    """One run: writers, workers and a trigger on one account, until all is calm."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.rng = world.rng
        self.turns = script(world.rng)
        self.chat = ScriptedChat()
        self.workers: list[tuple[Machine, AsyncMemory]] = []

    def open(self, *, provision: bool = False) -> tuple[Machine, AsyncMemory]:
        rng = self.rng
        extract, summarize, drift = rng.choice([1, 3, 5]), rng.choice([1, 4]), rng.choice([0.0, 0.3])
        cadence = Cadence(extract, summarize, profile=3, reconcile=2, drift=drift)
        limits = Limits(batch_turns=rng.choice([1, 3, 20]), reconcile_candidates=500)
        machine = Machine(self.world)
        return machine, open_on(machine, self.chat, cadence, limits, provision=provision)

    async def run(self) -> None:
        _, memory = self.open(provision=True)
        async with memory:
            pass  # makes the store while all is well
        plan = self.world.engine.faults = faults(self.world.seed)
        self.chat.fault = lambda task, call: ModelError("busy", retryable=True) if self.rng.random() < 0.1 else None
        await asyncio.gather(self.disturb(), self.talk())
        await self.deliver_again()
        for _, memory in self.workers:
            await memory.close()
        assert plan.injected["throttle"] > 0
        self.world.engine.faults = self.chat.fault = None
        _, memory = self.open(provision=True)
        async with memory:
            assert await memory.drain(timeout=600) == 0
            await check(memory, self.turns)

    async def disturb(self) -> None:
        """Opens workers, four at once in the end; some are closed in the middle of their work, some killed."""
        while len(self.workers) < WORKERS:
            machine, memory = self.open()
            try:
                await memory.open()
            except AgentMemoryError:
                await memory.close()
                continue
            self.workers.append((machine, memory))
            await asyncio.sleep(self.rng.random())
            if self.rng.random() < 0.5:
                machine, memory = self.workers.pop(self.rng.randrange(len(self.workers)))
                if self.rng.random() < 0.7:
                    machine.dead.set()
                await memory.close()

    async def talk(self) -> None:
        _, writer = self.open()
        await writer.runtime.store.open()
        position = dict.fromkeys(THREADS, 0)
        while any(position[thread] < len(self.turns[thread]) for thread in THREADS):
            thread = self.rng.choice(THREADS)
            start = max(0, position[thread] - self.rng.randrange(2))  # some are written again
            end = min(len(self.turns[thread]), position[thread] + self.rng.randrange(1, 4))
            await self.insist(writer, thread, self.turns[thread][start:end])
            position[thread] = max(position[thread], end)
            await asyncio.sleep(self.rng.random())
        await writer.runtime.store.close()

    async def insist(self, writer: AsyncMemory, thread: str, turns: list[dict[str, object]]) -> None:
        """Writes turns, again and again until the store has taken them, as a careful caller does."""
        while True:
            try:
                await writer.user("alice").thread(thread).add_many(turns)
            except StoreUnavailable:
                continue
            else:
                return

    async def deliver_again(self) -> None:
        """A trigger gets the whole feed in overlapping pieces, each twice, while the workers go on."""
        _, memory = self.open()
        await memory.runtime.store.open()
        pieces = await self.patiently(lambda: feed(memory, self.rng))
        for piece in pieces:
            for _ in range(2):
                await self.patiently(lambda piece=piece: trigger(memory, piece))
        await memory.runtime.store.close()

    async def patiently(self, work):  # type: ignore[no-untyped-def]
        """Does something until it goes through; the platform calls a trigger again that failed."""
        while True:
            try:
                return await work()
            except AgentMemoryError:
                await asyncio.sleep(self.rng.random())


async def feed(memory: AsyncMemory, rng: random.Random) -> list[list[Document]]:
    """The change feed from its beginning, cut into pieces of which each begins inside the one before."""
    store = memory.runtime.store
    ranges = await store.feed_ranges()
    documents = [one for part in ranges async for page, _ in store.changes(part, None, 100) for one in page]
    pieces, start = [], 0
    while start < len(documents):
        length = rng.randrange(2, 8)
        pieces.append(documents[max(0, start - rng.randrange(4)) : start + length])
        start += length
    return pieces


async def trigger(memory: AsyncMemory, documents: list[Document]) -> None:
    """What the function app does with a batch of the change feed, orchestrations included."""
    runtime = memory.runtime
    touched = await count_turns(runtime.tools, runtime.counters, documents)
    cadence = Cadence(extract=2, summarize=2, profile=3, reconcile=1)
    for work in due_work(touched, cadence):
        await run_workflow(work.workflow, work.request, runtime.activities)
        await mark(runtime.counters, work)
    for work in await due_user_work(runtime.tools, runtime.counters, cadence, "alice"):
        await run_workflow(work.workflow, work.request, runtime.activities)
        await mark(runtime.counters, work)


async def run(world: World) -> None:
    async with asyncio.timeout(3600):
        await Schedule(world).run()


@pytest.mark.req("S1-44", "S1-45", "S0-045", "S0-105")
@pytest.mark.parametrize("seed", SEEDS)
def test_every_turn_is_processed_once(seed: int):
    simulate(seed, run)


def test_a_seed_is_one_interleaving():
    async def trace(world: World) -> tuple[object, ...]:
        await run(world)
        commits = [(commit.step, commit.cursor["count"]) for commit in world.commits]
        return world.requests, asyncio.get_running_loop().time(), commits

    assert simulate(3, trace) == simulate(3, trace)
