"""Imports and deepening wait behind live talk, and then a few users at the same time are processed."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from memories import opened

pytest.importorskip("azure_functions_runtime", reason="Microsoft's worker library needs Python 3.13")

import azure.durable_functions as df
from durable_replay import play
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.models import now
from agent_memory.processing import slices, sweeps as lanes
from agent_memory.processing.clock import set_clock
from agent_memory.processing.due import enabled_steps
from agent_memory.processing.intake import count_batch
from agent_memory.processing.sweeps import Page, waiting
from agent_memory.settings import Environment
from agent_memory.store.client import Store
from agent_memory.store.containers import TURNS
from agent_memory.store.documents import Document
from azure_functions import activities, sweeps, triggers, wiring
from azure_functions.sweeps import END, LIST, START, lane
from azure_functions.wiring import Parts
from functions_host.replay import Task

CADENCE = Cadence(extract=2, summarize=0, profile=0, reconcile=0, idle_seconds=300)
LATER = 2**32


class Runs:
    """A Durable client: what is started runs until it is ended."""

    def __init__(self) -> None:
        self.inputs: dict[str, Any] = {}
        self.most = 0
        self.asked = 0

    async def get_status(self, instance: str) -> SimpleNamespace:
        self.asked += 1
        running = df.OrchestrationRuntimeStatus.Running if instance in self.inputs else None
        return SimpleNamespace(runtime_status=running)

    async def start_new(self, name: str, instance: str, given: Any) -> None:
        self.asked += 1
        self.inputs[instance] = given
        self.most = max(self.most, len(self.inputs))


def _activity(function: Any) -> Any:
    made = function._function.get_user_function()
    return getattr(made, "client_function", made)


async def write(memory: AsyncMemory, users: list[str], *, backfill: bool = True, turns: int = 2) -> list[Document]:
    """The feed's documents of some turns of each user, in one thread."""
    before = {row["id"] for row in await memory.runtime.store.query(TURNS, "SELECT * FROM c")}
    for user in users:
        said = [
            {"role": "user", "content": f"fact: k{n}=value {n}", "backfill": backfill or None} for n in range(turns)
        ]
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
    assert await parts.starter(client).start_due(batch.threads, batch.users) == 1
    assert [given["request"]["user_id"] for given in client.inputs.values()] == ["live"]
    store = runtime.store
    imports, quiet = [await waiting(store, of, 0, LATER) for of in ("backfill", "idle")]
    assert imports
    assert len(imports.rows) == 5
    assert quiet
    assert [row["user_id"] for row in quiet.rows] == ["live"]
    again = await count_batch(runtime.tools, runtime.counters, documents)
    assert [one.backfill for one in again.threads] == [one.backfill for one in batch.threads]


async def test_talk_goes_on_in_an_imported_thread_and_it_is_live_again(memory: AsyncMemory, parts: Parts):
    client, runtime = Runs(), memory.runtime
    await count_batch(runtime.tools, runtime.counters, await write(memory, ["ann"]))
    await memory.user("ann").thread("old").add("user", "And now something new.")
    rows = await runtime.store.query(TURNS, "SELECT * FROM c")
    batch = await count_batch(runtime.tools, runtime.counters, rows)
    assert await parts.starter(client).start_due(batch.threads, batch.users) == 1
    assert await waiting(runtime.store, "backfill", 0, LATER) == Page([])
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
    assert await restless.starter(client).start_due(batch.threads, batch.users) == 1


async def test_the_backfill_reaches_everybody_with_a_few_running_at_once(memory: AsyncMemory, parts: Parts):
    """The real activities on the real store; an orchestration of a user ends while the backfill waits."""
    client, runtime = Runs(), memory.runtime
    users = [f"u{n}" for n in range(8)]
    await count_batch(runtime.tools, runtime.counters, await write(memory, users))
    listed = await _activity(activities.lane_list)(["backfill", 0, LATER])
    assert sorted(listed) == [["backfill", user, {"old": 2}] for user in users]
    running: list[str] = []
    done: set[str] = set()
    while listed or running:
        found = await _activity(activities.lane_start)({"users": listed, "running": running}, client)
        listed, running = listed[found["taken"] :], found["running"]
        assert len(running) <= 3
        if client.inputs:
            instance, given = client.inputs.popitem()
            for step in enabled_steps(Cadence()):
                await runtime.counters.ran(given["request"]["user_id"], "old", step, 2)
            done.add(instance)
    assert (client.most, len(done)) == (3, 8)
    assert await waiting(runtime.store, "backfill", 0, LATER) == Page([])


async def test_a_sweep_of_deepening_that_an_earlier_version_started_goes_on(memory: AsyncMemory, parts: Parts):
    client = Runs()
    await memory.user("ann").thread("t").add("user", "fact: home=Lisbon")
    await memory.user("ann").thread("t").process("extract")
    found = await _activity(activities.sweep_slice)(["deepen extracted", 0, LATER], client)
    assert found == {"halve": False, "handled": 1, "failed": 0}
    assert [given["request"] for given in client.inputs.values()] == [{"user_id": "ann"}]
    assert (await _activity(activities.sweep_slice)(["deepen fading", 0, LATER], client))["failed"] == 0


async def test_deepening_has_a_lane_of_its_own(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    deepening = Cadence(extract=0, summarize=0, profile=0, reconcile=0, deepen=5)
    parts = Parts(memory, Environment(AGENT_MEMORY_BACKFILL_AT_ONCE="2"), deepening)
    monkeypatch.setattr(wiring, "_parts", parts)
    client, store = Runs(), memory.runtime.store
    await set_clock(store, now() - timedelta(days=2))
    for user in ("ann", "bob", "cleo"):
        await memory.user(user).thread("t").add("user", "fact: city=Lisbon, since 2019")
        await memory.user(user).thread("t").process("extract")
    look = _activity(triggers.deepen_memories)
    await look(None, client)
    await look(None, client)
    [given] = client.inputs.values()
    assert [of for of, _, _ in given["request"]["slices"]] == ["extracted", "fading"]
    users = await _activity(activities.lane_list)(given["request"]["slices"][0])
    assert sorted(users) == [["deepen", "ann", {}], ["deepen", "bob", {}], ["deepen", "cleo", {}]]
    found = await _activity(activities.lane_start)({"users": users, "running": []}, client)
    assert (found["taken"], len(found["running"])) == (2, 2)
    assert all(client.inputs[instance]["request"].keys() == {"user_id"} for instance in found["running"])


async def test_a_start_that_fails_is_tried_again(memory: AsyncMemory, parts: Parts, monkeypatch: pytest.MonkeyPatch):
    """The real lane and its real activities; the platform's queue is away for a while, for one user for good."""
    client, waits = Runs(), []

    async def start_new(name: str, instance: str, given: Any) -> None:
        if ":ann:" in instance or len(waits) < 2:
            raise ConnectionError("the queue is away")
        client.inputs[instance] = given

    monkeypatch.setattr(client, "start_new", start_new)
    monkeypatch.setattr(sweeps, "ROUNDS", 7)
    given: dict[str, Any] = {"request": {"slices": [], "users": [["deepen", user, {}] for user in ("ann", "bob")]}}
    output = None
    while output is None:
        found = None
        running = lane(context := Context(given))  # type: ignore[arg-type]
        try:
            while True:
                task = running.send(found)
                if task == "timer":
                    waits.append(list(client.inputs))
                    if len(waits) > 4:
                        client.inputs.clear()
                    found = None
                else:
                    found = await _activity(activities.lane_start)(task, client)
        except StopIteration as stop:
            output = stop.value
        given = context.continued or given
    assert output == 1, "bob was started"
    assert not waits[0]
    assert len(waits) >= lanes.MOST_TRIES - 1, "it does not try again at once"


class Context:
    """The context of an orchestration that is not replayed."""

    current_utc_datetime = now()

    def __init__(self, given: dict[str, Any]) -> None:
        self._given, self.continued = json.loads(json.dumps(given)), None

    def get_input(self) -> dict[str, Any]:
        return self._given  # type: ignore[no-any-return]

    def call_activity_with_retry(self, name: str, retry: object, given: Any) -> Any:
        assert name == START
        return json.loads(json.dumps(given))

    def create_timer(self, at: object) -> str:
        return "timer"

    def continue_as_new(self, given: Any) -> None:
        self.continued = given


async def test_an_import_does_not_hold_up_the_same_users_quiet_talk(memory: AsyncMemory, parts: Parts):
    client = Runs()
    await _activity(activities.lane_start)({"users": [["backfill", "ann", {"old": 900}]], "running": []}, client)
    assert await parts.starter(client).start_settling("ann", {"today": 3})
    assert sorted(given["request"]["threads"] for given in client.inputs.values()) == [["old"], ["today"]]


def test_the_orchestration_waits_for_room_and_continues_as_new(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sweeps, "ROUNDS", 6)
    times = [100 + 7 * n for n in range(40)]
    started: list[str] = []
    running: dict[str, int] = {}
    ended: list[Any] = []

    def perform(task: Task) -> Any:
        if task.kind == "timer":
            return None
        given = json.loads(task.input or "null")
        if task.name == LIST:
            of, since, until = given
            found = [[of, f"u{at}", {"t": 1}] for at in times if since <= at < until]
            return None if len(found) > 8 else found
        if task.name == END:
            ended.append(given)
            return 0
        assert task.name == START
        for instance in [*running]:
            running[instance] -= 1
            if not running[instance]:
                del running[instance]
        taken = given["users"][: max(0, 4 - len(running))]
        running.update({user: 2 for _, user, _ in taken})
        started.extend(user for _, user, _ in taken)
        assert len(running) <= 4
        return {"taken": len(taken), "running": [*running]}

    played = play(lane, {"request": {"slices": [["x", 0, 1000]], "end": {"at": "then"}}}, perform)
    assert played.error is None
    assert started == [f"u{at}" for at in times]
    assert (played.output, ended) == (40, [{"at": "then"}])
    assert played.generations > 3
    assert any(task.kind == "timer" for task in played.tasks), "it looks again after some time, not at once"
    assert play(lane, {"request": {"slices": [["x", 0, 50]]}}, perform).names == [LIST]


REQUESTS = ("read", "query", "create", "replace", "upsert", "batch", "patch", "delete")
MOST = 4


async def asked_by_timers(memory: AsyncMemory, users: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Requests of each timer, and of the largest piece of their sweeps and lanes, with so many users in the store."""
    cadence = Cadence(extract=5, summarize=0, profile=0, reconcile=0, deepen=5, idle_seconds=0.5)
    monkeypatch.setattr(wiring, "_parts", Parts(memory, Environment(), cadence))
    few = partial(waiting, most=MOST)
    monkeypatch.setattr(slices, "waiting", few)
    monkeypatch.setattr(lanes, "waiting", few)
    client, store, asked = Runs(), memory.runtime.store, [0]
    await set_clock(store, now() - timedelta(days=2))
    for number in range(users):
        [row] = await write(memory, [f"u{number}"], backfill=number % 2 == 0, turns=1)
        row |= {"_ts": row["_ts"] - 4000 - number}  # one second of a store that has been there for some time
        await count_batch(memory.runtime.tools, memory.runtime.counters, [row])
    for name in REQUESTS:
        monkeypatch.setattr(Store, name, _counting(getattr(Store, name), asked))

    async def cost(work: Awaitable[Any]) -> int:
        before = asked[0] + client.asked
        await work
        return asked[0] + client.asked - before

    given = (None, client)
    costs = {
        one._function.get_function_name(): await cost(_activity(one)(*given))
        for one in (triggers.settle_idle_threads, triggers.maintain, triggers.deepen_memories)
    }
    begun = [given["request"]["slices"] for given in client.inputs.values() if "slices" in given["request"]]
    left, largest = [piece for pieces in begun for piece in pieces if piece[0] != "purge"], 0
    listed: list[Any] = []
    while left:
        of, since, until = left.pop()
        halved = [[of, since, (since + until) // 2], [of, (since + until) // 2, until]]
        before = asked[0] + client.asked
        if of in slices._ACTS and of != "fading":
            found = await _activity(activities.sweep_slice)([of, since, until], client)
            left += halved if found["halve"] else []
        else:
            users_of = await _activity(activities.lane_list)([of, since, until])
            left += halved if users_of is None else []
            listed += users_of or []
        largest = max(largest, asked[0] + client.asked - before)
    assert len([user for of, user, _ in listed if of == "backfill"]) == -(-users // 2), "everybody is reached"
    settled = [given for given in client.inputs.values() if "thread_steps" in given["request"]]
    assert len(settled) == users // 2
    return {**costs, "largest piece": largest}


def _counting(method: Any, asked: list[int]) -> Any:
    async def counted(self: Any, *given: Any, **named: Any) -> Any:
        asked[0] += 1
        return await method(self, *given, **named)

    return counted


async def test_ten_times_the_users_make_no_timer_and_no_piece_ask_for_more(chat: ScriptedChat):
    found = []
    for users in (8, 80):
        async with opened(chat, cadence=CADENCE) as memory:
            assert memory.runtime.worker is not None
            await memory.runtime.worker.stop()
            with pytest.MonkeyPatch.context() as patch:
                found.append(await asked_by_timers(memory, users, patch))
    assert found[1] == found[0]
    assert found[0]["largest piece"] <= 1 + 3 * MOST
    assert found[0]["settle_idle_threads"] <= 6
    assert found[0]["maintain"] <= 24
