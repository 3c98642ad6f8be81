"""Imported threads wait behind live talk: nothing starts for them at once, and then a few users at the same time."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("azure_functions_runtime", reason="Microsoft's worker library needs Python 3.13")

import azure.durable_functions as df
from durable_replay import play

from agent_memory import AsyncMemory, Cadence
from agent_memory.processing.due import enabled_steps
from agent_memory.processing.intake import count_batch
from agent_memory.processing.sweeps import waiting
from agent_memory.settings import Environment
from agent_memory.store.containers import TURNS
from agent_memory.store.documents import Document
from azure_functions import backfill, imported, wiring
from azure_functions.backfill import LIST, START
from azure_functions.starts import start_due
from azure_functions.wiring import Parts
from functions_host.replay import Task

CADENCE = Cadence(extract=2, summarize=0, profile=0, reconcile=0, idle_seconds=300)
LATER = 2**32


class Runs:
    """A Durable client: what is started runs until it is ended."""

    def __init__(self) -> None:
        self.inputs: dict[str, Any] = {}
        self.most = 0

    async def get_status(self, instance: str) -> SimpleNamespace:
        running = df.OrchestrationRuntimeStatus.Running if instance in self.inputs else None
        return SimpleNamespace(runtime_status=running)

    async def start_new(self, name: str, instance: str, given: Any) -> None:
        self.inputs[instance] = given
        self.most = max(self.most, len(self.inputs))


def _activity(function: Any) -> Any:
    made = function._function.get_user_function()
    return getattr(made, "client_function", made)


async def write(memory: AsyncMemory, users: list[str], *, backfill: bool = True) -> list[Document]:
    """The feed's documents of two turns of each user, in one thread."""
    before = {row["id"] for row in await memory.runtime.store.query(TURNS, "SELECT * FROM c")}
    for user in users:
        said = [{"role": "user", "content": f"fact: k{n}=value {n}", "backfill": backfill or None} for n in range(2)]
        await memory.user(user).thread("old").add_many(said)
    return [row for row in await memory.runtime.store.query(TURNS, "SELECT * FROM c") if row["id"] not in before]


@pytest.fixture
def parts(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch) -> Parts:
    made = Parts(memory, Environment(AGENT_MEMORY_BACKFILL_AT_ONCE="3"), CADENCE)
    monkeypatch.setattr(wiring, "_parts", made)
    return made


async def test_the_feed_starts_live_talk_and_leaves_imports_to_the_backfill(memory: AsyncMemory, parts: Parts):
    client, runtime = Runs(), memory.runtime
    documents = await write(memory, [f"old{n}" for n in range(5)])
    documents += await write(memory, ["live"], backfill=False)
    batch = await count_batch(runtime.tools, runtime.counters, documents)
    assert await start_due(parts, client, batch.threads, batch.users) == 1  # type: ignore[arg-type]
    assert [given["request"]["user_id"] for given in client.inputs.values()] == ["live"]
    store = runtime.store
    assert len(await waiting(store, "backfill", 0, LATER) or ()) == 5
    assert [row["user_id"] for row in await waiting(store, "idle", 0, LATER) or ()] == ["live"]
    again = await count_batch(runtime.tools, runtime.counters, documents)
    assert [one.backfill for one in again.threads] == [one.backfill for one in batch.threads]


async def test_talk_goes_on_in_an_imported_thread_and_it_is_live_again(memory: AsyncMemory, parts: Parts):
    client, runtime = Runs(), memory.runtime
    await count_batch(runtime.tools, runtime.counters, await write(memory, ["ann"]))
    await memory.user("ann").thread("old").add("user", "And now something new.")
    rows = await runtime.store.query(TURNS, "SELECT * FROM c")
    batch = await count_batch(runtime.tools, runtime.counters, rows)
    assert await start_due(parts, client, batch.threads, batch.users) == 1  # type: ignore[arg-type]
    assert await waiting(runtime.store, "backfill", 0, LATER) == []
    # Live talk that waits makes an import into the same thread live, too.
    await memory.user("bob").thread("old").add("user", "Hello.")
    documents = await write(memory, ["bob"])
    batch = await count_batch(runtime.tools, runtime.counters, await runtime.store.query(TURNS, "SELECT * FROM c"))
    assert not any(one.backfill for one in batch.threads)
    again = await count_batch(runtime.tools, runtime.counters, documents)
    assert not any(one.backfill for one in again.threads)


async def test_without_a_sweep_imports_start_at_once(memory: AsyncMemory):
    client, runtime = Runs(), memory.runtime
    restless = Parts(memory, Environment(), Cadence(extract=2, summarize=0, profile=0, reconcile=0, idle_seconds=0))
    batch = await count_batch(runtime.tools, runtime.counters, await write(memory, ["ann"]))
    assert await start_due(restless, client, batch.threads, batch.users) == 1  # type: ignore[arg-type]


async def test_the_backfill_reaches_everybody_with_a_few_running_at_once(memory: AsyncMemory, parts: Parts):
    """The real activities on the real store; an orchestration of a user ends while the backfill waits."""
    client, runtime = Runs(), memory.runtime
    users = [f"u{n}" for n in range(8)]
    await count_batch(runtime.tools, runtime.counters, await write(memory, users))
    listed = await _activity(imported.backfill_list)([0, LATER])
    assert sorted(listed) == [[user, {"old": 2}] for user in users]
    running: list[str] = []
    done: set[str] = set()
    while listed or running:
        found = await _activity(imported.backfill_start)({"users": listed, "running": running}, client)
        listed, running = listed[found["taken"] :], found["running"]
        assert len(running) <= 3
        if client.inputs:
            instance, given = client.inputs.popitem()
            for step in enabled_steps(Cadence()):
                await runtime.counters.ran(given["request"]["user_id"], "old", step, 2)
            done.add(instance)
    assert (client.most, len(done)) == (3, 8)
    assert await waiting(runtime.store, "backfill", 0, LATER) == []


def test_the_orchestration_waits_for_room_and_continues_as_new(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(backfill, "ROUNDS", 6)
    times = [100 + 7 * n for n in range(40)]
    started: list[str] = []
    running: dict[str, int] = {}

    def perform(task: Task) -> Any:
        if task.kind == "timer":
            return None
        given = json.loads(task.input or "null")
        if task.name == LIST:
            since, until = given
            found = [[f"u{at}", {"t": 1}] for at in times if since <= at < until]
            return None if len(found) > 8 else found
        assert task.name == START
        for instance in [*running]:
            running[instance] -= 1
            if not running[instance]:
                del running[instance]
        taken = given["users"][: max(0, 4 - len(running))]
        running.update({user: 2 for user, _ in taken})
        started.extend(user for user, _ in taken)
        assert len(running) <= 4
        return {"taken": len(taken), "running": [*running]}

    played = play(backfill.backfill, {"request": {"slices": [[0, 1000]]}, "version": 1}, perform)
    assert played.error is None
    assert started == [f"u{at}" for at in times]
    assert played.output == 40
    assert played.generations > 3
    assert any(task.kind == "timer" for task in played.tasks), "it looks again after some time, not at once"
    assert play(backfill.backfill, {"request": {"slices": [[0, 50]]}}, perform).names == [LIST]
