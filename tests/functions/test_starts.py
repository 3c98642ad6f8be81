"""Starting orchestrations as often as one likes, through the SDK's own client."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("azure_functions_runtime", reason="Microsoft's worker library needs Python 3.13")

import azure.durable_functions as df
import toy_function_app as toy
from azure.durable_functions.models.utils import http_utils
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from policy_world import opened
from scripted_model import ScriptedChat
from toy_host import ToyHost, eventually, toy_host

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import StoreUnavailable
from agent_memory.models import now
from agent_memory.processing.clock import claim_deepening, end_deepening, set_clock
from agent_memory.processing.due import Work
from agent_memory.processing.intake import count_batch, count_turns
from agent_memory.processing.starts import MOST_AT_ONCE, Start, of_work
from agent_memory.settings import Environment
from agent_memory.store.containers import SUMMARIES, TURNS
from azure_functions import activities, triggers, wiring
from azure_functions.wiring import Parts, start
from functions_host.invoker import client_binding

pytestmark = pytest.mark.filterwarnings("ignore:azure.functions df_loads was called without expected_type")

SLOW = Start("listen", "one", {"activity": "slow", "value": 1}, {"t1": 3})


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[ToyHost]:
    async with toy_host(tmp_path / "state.db") as opened:
        yield opened
        await http_utils._close_session()


@pytest.fixture
def client(host: ToyHost) -> df.DurableOrchestrationClient:
    return df.DurableOrchestrationClient(client_binding(host.url, "toys"))


async def test_what_runs_is_left_alone_and_what_has_ended_is_replaced(
    host: ToyHost, client: df.DurableOrchestrationClient
):
    assert await start(client, SLOW)
    await eventually(lambda: toy.performed)
    assert not await start(client, SLOW)
    toy.gate.set()
    assert (await host.ended("one")).execution == 0
    assert await start(client, SLOW)
    ended = await host.ended("one")
    assert (ended.execution, ended.output) == (1, '{"t1": 3}')


async def test_of_many_who_start_the_same_at_once_one_does(host: ToyHost, client: df.DurableOrchestrationClient):
    assert sorted(await asyncio.gather(*(start(client, SLOW) for _ in range(5)))) == [False] * 4 + [True]
    assert len(host.hub.instances()) == 1


async def test_what_failed_is_started_again_and_what_cannot_be_started_is_an_error(
    host: ToyHost, client: df.DurableOrchestrationClient
):
    work = Work("waiting", "alice", "t1", 20, 10)
    assert await start(client, of_work(work))
    assert (await host.ended(work.instance_id)).status == "Failed"
    assert await start(client, of_work(work))
    assert (await host.ended(work.instance_id)).execution == 1
    with pytest.raises(Exception, match="doesn't exist"):
        await start(client, Start("nothing", "two", {}))


@pytest.mark.req("S3-32")
async def test_where_memory_is_off_nothing_is_started(
    host: ToyHost, client: df.DurableOrchestrationClient, memory: AsyncMemory
):
    cadence = Cadence(extract=1, summarize=0, profile=0, reconcile=0)
    parts, runtime = Parts(memory, Environment(), cadence), memory.runtime
    thread = memory.user("alice").thread("t1")
    await thread.add("user", "fact: city=Lisbon, since 2019")
    touched = await count_turns(runtime.tools, runtime.counters, await runtime.store.query(TURNS, "SELECT * FROM c"))
    await thread.update_settings(enabled=False)
    assert await parts.starter(client).start_due(touched) == 0
    assert host.hub.instances() == []
    assert (await runtime.counters.get("alice", "t1")).done["extract"] == 1, "it is not called for again"
    await thread.update_settings(enabled=True)
    with pytest.raises(Exception, match="doesn't exist"):  # it is started, and the toy app has no such orchestration
        await parts.starter(client).start_due(touched)


async def test_a_user_whose_tier_is_gone_does_not_hold_up_the_others(memory: AsyncMemory):
    """As when an operator has removed a tier from MEMORY_TIERS: the batch goes through, and the work stays due."""
    cadence = Cadence(extract=1, summarize=0, profile=0, reconcile=0)
    parts, runtime = Parts(memory, Environment(), cadence), memory.runtime
    for user in ("ann", "bob"):
        await memory.user(user).thread("t1").add("user", "fact: city=Lisbon, since 2019")
    settings = {"id": "settings", "type": "settings", "user_id": "ann", "thread_id": "__settings__", "tier": "gone"}
    await runtime.store.upsert(SUMMARIES, settings)
    started = []

    class Client:
        async def get_status(self, instance: str) -> Any:
            return SimpleNamespace(runtime_status=None)

        async def start_new(self, name: str, instance: str, given: Any) -> None:
            started.append(given["request"]["user_id"])

    turns = await runtime.store.query(TURNS, "SELECT * FROM c")
    batch = await count_batch(runtime.tools, runtime.counters, turns)
    for users in (batch.users, None):
        assert await parts.starter(Client()).start_due(batch.threads, users) == 1
    assert started == ["bob", "bob"]
    assert (await runtime.counters.get("ann", "t1")).done.get("extract", 0) == 0


async def test_who_has_spent_the_budget_is_not_settled(host: ToyHost, client: df.DurableOrchestrationClient):
    cadence = Cadence(extract=10, summarize=0, profile=0, reconcile=0)
    async with opened(ScriptedChat(), daily_model_calls=1) as memory:
        parts, runtime = Parts(memory, Environment(), cadence), memory.runtime
        thread = memory.user("alice").thread("t1")
        await thread.add("user", "fact: city=Lisbon, since 2019")
        turns = await runtime.store.query(TURNS, "SELECT * FROM c")
        quiet = await count_turns(runtime.tools, runtime.counters, turns)
        with pytest.raises(Exception, match="doesn't exist"):  # it is started, and the toy app has none
            await parts.starter(client).start_settling("alice", {one.thread_id: one.count for one in quiet})
        await thread.process("extract")
        assert not await parts.starter(client).start_settling("alice", {"t1": 1})


class Noted:
    """Stands in for the Durable client: notes what is started."""

    def __init__(self) -> None:
        self.users: list[str] = []

    async def get_status(self, instance: str) -> SimpleNamespace:
        return SimpleNamespace(runtime_status=None)

    async def start_new(self, name: str, instance: str, given: dict[str, Any]) -> None:
        self.users.append(given["request"]["user_id"])


@pytest.mark.parametrize(("quiet", "of_the_noisy"), [(120.0, MOST_AT_ONCE), (0.0, 20)])
async def test_a_user_with_many_busy_threads_starts_a_few_at_a_time_if_a_sweep_finds_the_rest(
    memory: AsyncMemory, quiet: float, of_the_noisy: int
):
    cadence = Cadence(extract=1, summarize=0, profile=0, reconcile=0, idle_seconds=quiet)
    parts, client = Parts(memory, Environment(), cadence), Noted()
    for thread in range(20):
        await memory.user("noisy").thread(f"t{thread}").add("user", "fact: city=Lisbon, since 2019")
    for user in ("ann", "bob"):
        await memory.user(user).thread("t").add("user", "fact: city=Porto, since 2020")
    turns = await memory.runtime.store.query(TURNS, "SELECT * FROM c")
    batch = await count_batch(memory.runtime.tools, memory.runtime.counters, turns)
    assert await parts.starter(client).start_due(batch.threads, batch.users) == of_the_noisy + 2
    assert {user: client.users.count(user) for user in client.users} == {"noisy": of_the_noisy, "ann": 1, "bob": 1}
    left = [one for one in await memory.runtime.counters.pending() if one.user_id == "noisy"]
    assert len(left) == 20, "nothing is noted as done by being put off"


@pytest.mark.req("S0-044")
async def test_an_index_that_shows_another_topic_starts_what_waits(
    host: ToyHost, client: df.DurableOrchestrationClient, memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    cadence = Cadence(extract=50, summarize=0, profile=0, reconcile=0, drift=0.6)
    parts, runtime = Parts(memory, Environment(), cadence), memory.runtime
    thread = memory.user("alice").thread("t1")
    same = [{"role": "user", "content": "fact: Hawaii flight in May=booked"}] * 4
    await thread.add_many(same)
    await count_turns(runtime.tools, runtime.counters, await runtime.store.query(TURNS, "SELECT * FROM c"))
    await thread.process("index")
    monkeypatch.setattr(wiring, "_parts", parts)
    finish = activities.finish._function.get_user_function().client_function
    ended = {"workflow": "index_turns", "request": {"user_id": "alice", "thread_id": "t1"}, "counts": {"t1": 4}}
    assert await finish(ended, client) == 0
    assert (await runtime.counters.get("alice", "t1")).done == {"index": 4}
    await thread.add_many([{"role": "user", "content": "fact: kitchen painters=quoted green"}] * 2)
    await count_turns(runtime.tools, runtime.counters, await runtime.store.query(TURNS, "SELECT * FROM c"))
    await thread.process("index")
    with pytest.raises(Exception, match=r"extract.*doesn't exist"):  # it is started, and the toy app has none
        await finish(ended | {"counts": {"t1": 6}}, client)
    assert (await runtime.counters.get("alice", "t1")).done == {"index": 4}, "so it is tried again"


async def test_deepening_that_could_not_be_started_is_claimed_by_the_next_look(
    host: ToyHost, client: df.DurableOrchestrationClient, memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    cadence = Cadence(extract=0, summarize=0, profile=0, reconcile=0, deepen=5)
    monkeypatch.setattr(wiring, "_parts", Parts(memory, Environment(), cadence))
    store, look = memory.runtime.store, triggers.deepen_memories._function.get_user_function().client_function
    await memory.user("alice").thread("t1").add("user", "fact: city=Lisbon, since 2019")
    await memory.user("alice").thread("t1").process("extract")
    await look(None, client)  # starts the clock
    await set_clock(store, now() - timedelta(hours=25))
    with pytest.raises(Exception, match=r"lane.*doesn't exist"):  # it is started, and the toy app has none
        await look(None, client)
    due = await claim_deepening(store, cadence)
    assert due is not None
    assert due.users == ["alice"]
    await look(None, client)  # somebody else is at it: nothing is started
    await end_deepening(store, due, through=True)
    await look(None, client)  # nor when it is done


async def test_a_batch_of_the_change_feed_that_fails_is_counted_and_fails(
    client: df.DurableOrchestrationClient, monkeypatch: pytest.MonkeyPatch
):
    async def out_of_reach() -> Parts:
        raise StoreUnavailable("the store did not answer")

    reader = InMemoryMetricReader()
    counter = MeterProvider([reader]).get_meter("test").create_counter("change_feed_failures")
    monkeypatch.setattr(triggers, "change_feed_failures", counter)
    monkeypatch.setattr(triggers, "open_parts", out_of_reach)
    on_memory_change = triggers.on_memory_change._function.get_user_function().client_function
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await on_memory_change([], client)
    metrics = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics  # type: ignore[union-attr]
    assert [(metric.name, [point.value for point in metric.data.data_points]) for metric in metrics] == [
        ("change_feed_failures", [2])
    ]
