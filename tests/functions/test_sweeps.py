"""Sweeps: all that waits is reached, once, in slices that stay small."""

from __future__ import annotations

import json
import random
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("azure_functions_runtime", reason="Microsoft's worker library needs Python 3.13")

from durable_replay import START, play
from scripted_model import ScriptedChat
from simulation import Machine, World, open_on

from agent_memory import AsyncMemory, Cadence
from agent_memory.processing import slices
from agent_memory.processing.intake import count_batch, count_turns
from agent_memory.processing.sweeps import BACKFILL, LISTINGS, LOOK_BACK, OVERLAP, Page, begin_of, waiting
from agent_memory.settings import Environment
from agent_memory.store.containers import COUNTER, MEMORIES, TURNS
from azure_functions import activities, sweeps, wiring
from azure_functions.sweeps import END, SLICE, sweep
from azure_functions.wiring import Parts
from embedded_cosmos import Engine
from functions_host.replay import Task

NOW = 1_770_000_000


def swept(times: list[int], most: int, **request: Any) -> tuple[Any, Counter[int], list[tuple[int, int]]]:
    """A sweep over rows with these times: how it went, which rows it handled, which slices it listed."""
    handled: Counter[int] = Counter()
    listed: list[tuple[int, int]] = []
    ended: list[Any] = []

    def perform(task: Task) -> Any:
        given = json.loads(task.input or "null")
        if task.name == END:
            ended.append(given)
            return 0
        assert task.name == SLICE
        _, since, until, *after = given
        listed.append((since, until))
        rows = [index for index, at in enumerate(times) if since <= at < until and index > (after or [-1])[0]]
        if len(rows) > most and until - since > 1:
            return {"halve": True}
        more = {"after": rows[most - 1]} if len(rows) > most else {}
        handled.update(rows[:most])
        return {"halve": False, "handled": len(rows[:most]), "failed": 0, **more}

    played = play(sweep, {"request": {"slices": [["x", 0, NOW]], **request}}, perform)
    assert played.error is None
    if "end" in request:
        assert ended == [request["end"] | played.output]
    return played, handled, listed


def test_every_row_is_handled_once_and_no_slice_holds_too_much(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sweeps, "ROUNDS", 5)
    rng = random.Random(7)
    times = [NOW - 1 - int(rng.expovariate(1 / 50_000)) for _ in range(200)] + [NOW - 7] * 40
    played, handled, _ = swept(times, 8, end={"at": "then"})
    assert handled == Counter(range(len(times)))
    assert played.output == {"handled": len(times), "failed": 0}
    assert played.generations > 3
    assert played.largest_history < 30_000, "a history ends after some rounds"


def test_a_sweep_that_finds_nothing_asks_once():
    played, _, listed = swept([], 25)
    assert (listed, played.output, played.generations) == ([(0, NOW)], {"handled": 0, "failed": 0}, 1)


async def test_each_kind_of_slice_is_listed_by_what_is_indexed(memory: AsyncMemory):
    """What waits in the real store is found by each listing, and more than a page is not read."""
    runtime = memory.runtime
    thread = memory.user("alice").thread("t1")
    await thread.add_many([{"role": "user", "content": f"fact: k{n}=value {n}"} for n in range(4)])
    await thread.process("extract")
    turns = await runtime.store.query(TURNS, "SELECT * FROM c")
    counters = type(runtime.counters)(runtime.store, ("extract", "user"))
    await count_turns(runtime.tools, counters, turns)
    newest = max(turn["_ts"] for turn in turns) + 3600  # what follows may take its time
    users = {"user_id": "__store__", "thread_id": "__erasures__"}
    await runtime.store.create(COUNTER, {"id": "e", "type": "erasure", "of": "bob", **users})
    mine = {"user_id": "alice", "thread_id": "t2"}
    await runtime.store.create(MEMORIES, {"id": "f", "type": "forgetting", **mine})
    await runtime.store.create(
        MEMORIES, {"id": "cursor_x", "type": "cursor", "step": "x", "extra": {"intents": {}}, **mine}
    )

    async def found(of: str, most: int = 500) -> Any:
        page = await waiting(runtime.store, of, 0, newest, most)
        return page and page.rows

    assert await found("idle") == [{"user_id": "alice", "thread_id": "t1", "count": 4}]
    assert len(await found("recount")) == 4
    assert await found("recount", 3) is None
    assert await found("extracted") == [{"user_id": "alice"}]
    assert await found("fading") == []
    assert await found("intents") == [{"user_id": "alice", "thread_id": "t2", "step": "x"}]
    assert await found("intents of summaries") == []
    assert await found("untold") == []
    await runtime.store.create(MEMORIES, {"id": "old", "type": "fact", "untold_since": "2026-11-23T00:00:00Z", **mine})
    assert await found("untold") == [{"user_id": "alice"}]
    assert [row["id"] for row in await found("forgettings")] == ["f"]
    assert await found("erasures") == [{"user_id": "bob"}]
    for of in LISTINGS:
        assert await waiting(runtime.store, of, newest, newest + 10) == Page([])
        assert await waiting(runtime.store, of, newest, newest + 1, after="") == Page([])
    assert {of for of, _ in slices._ACTS.values()} | {BACKFILL, "fading"} == set(LISTINGS)


async def test_a_second_with_many_rows_is_listed_in_pages_that_split_no_user(chat: ScriptedChat):
    """Turns of users of whom one wrote more than a page in that second, and erasures, which lie in one partition."""
    wrote = {"ann": 2, "bob": 7, "cleo": 1, "dan": 3, "eve": 1}
    with Engine(clock=lambda: float(NOW), strict=True) as engine:
        world = World(0, engine, random.Random(0), travel=0)
        async with open_on(Machine(world), chat, Cadence(), provision=True) as memory:
            store, worker = memory.runtime.store, memory.runtime.worker
            assert worker is not None
            await worker.stop()  # it would carry out the erasures
            place = {"user_id": "__store__", "thread_id": "__erasures__"}
            for user, turns in wrote.items():
                for thread in ("one", "two")[:turns]:
                    said = [{"role": "user", "content": "Hello."}] * ((turns + (thread == "one")) // 2)
                    await memory.user(user).thread(thread).add_many(said)
                await store.create(COUNTER, {"id": f"e-{user}", "type": "erasure", "of": user, **place})

            async def pages(of: str) -> list[str]:
                listed, after = [], None
                while not listed or after is not None:
                    page = await waiting(store, of, NOW, NOW + 1, most=3, after=after)
                    assert page is not None
                    listed.append("".join(row["user_id"][0] for row in page.rows))
                    after = page.after
                return listed

            assert await waiting(store, "recount", NOW - 1, NOW + 1, most=3) is None
            assert await pages("recount") == ["aa", "bbbbbbb", "c", "ddd", "e"]
            assert await pages("erasures") == ["abc", "de"]


async def test_a_correction_that_was_left_is_started(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    """A replica hid the replacement from the reconciliation that made it, or the model failed after it."""
    monkeypatch.setattr(wiring, "_parts", Parts(memory, Environment(), Environment().cadence))
    for user in ("ann", "bob"):
        old = {"id": "old", "type": "fact", "user_id": user, "thread_id": "t", "untold_since": "2026-11-23T00:00:00Z"}
        await memory.runtime.store.create(MEMORIES, old)
    started = []

    class Client:
        async def get_status(self, instance: str) -> Any:
            return SimpleNamespace(runtime_status=None)

        async def start_new(self, name: str, instance: str, given: Any) -> None:
            started.append((name, instance, given["request"]))

    handle = activities.sweep_slice._function.get_user_function().client_function
    assert await handle(["untold", 0, NOW * 2], Client()) == {"halve": False, "handled": 2, "failed": 0}
    assert sorted(started, key=str) == [
        ("correct", f"correct:{user}::left", {"user_id": user}) for user in ("ann", "bob")
    ]


async def test_what_was_swept_is_not_swept_again_unless_a_row_failed(
    memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch
):
    """A counter that another program has damaged: its turns wait, and those of the others are counted meanwhile."""
    parts = Parts(memory, Environment(), Environment().cadence)
    monkeypatch.setattr(wiring, "_parts", parts)
    runtime, store = memory.runtime, memory.runtime.store
    for user in ("ann", "bob"):
        await memory.user(user).thread("t").add("user", "Hello.")
    await store.create(COUNTER, {"id": "counter", "type": "counter", "user_id": "ann", "thread_id": "t", "count": 1})
    until = max(row["_ts"] for row in await store.query(TURNS, "SELECT * FROM c")) + 1

    async def sweep_once() -> Any:
        given = (await slices.start_of_new(store, "recount", until)).request
        [piece] = given["slices"]
        outcome = await activities.sweep_slice._function.get_user_function().client_function(piece, None)
        await activities.sweep_end._function.get_user_function()(given["end"] | outcome)
        return outcome["failed"], until - await begin_of(store, "recount", until)

    hours, minutes = int(LOOK_BACK.total_seconds()), int(OVERLAP.total_seconds())
    assert await sweep_once() == (1, hours)
    assert (await runtime.counters.get("bob", "t")).count == 1
    documents = await store.query(TURNS, "SELECT * FROM c")
    assert list((await count_batch(runtime.tools, runtime.counters, documents)).users) == ["bob"]
    await store.delete(COUNTER, "counter", ("ann", "t"))
    assert await sweep_once() == (0, minutes)
    assert (await runtime.counters.get("ann", "t")).count == 1


async def test_a_row_that_fails_stops_no_other(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    parts = Parts(memory, Environment(), Environment().cadence)
    monkeypatch.setattr(wiring, "_parts", parts)
    store = memory.runtime.store
    for n in range(3):
        place = {"user_id": f"u{n}", "thread_id": "t"}
        await store.create(
            MEMORIES, {"id": "cursor_x", "type": "cursor", "step": "x", "extra": {"intents": {}}, **place}
        )
    done = []

    async def finish(store: Any, container: str, partition: tuple[str, str], step: str) -> int:
        if partition[0] == "u1":
            raise RuntimeError("a document that cannot be read")
        done.append(partition[0])
        return 1

    monkeypatch.setattr(slices, "finish", finish)
    handle = activities.sweep_slice._function.get_user_function().client_function
    assert await handle(["intents", 0, NOW * 2], None) == {"halve": False, "handled": 3, "failed": 1}
    assert sorted(done) == ["u0", "u2"]


async def test_histories_are_purged_in_small_slices_and_none_is_too_old(monkeypatch: pytest.MonkeyPatch):
    asked = []

    class Client:
        """The client of a service that takes too long for more than an hour of histories."""

        async def purge_instance_history_by(self, begin: Any, end: Any, states: Any) -> Any:
            asked.append((int(begin.timestamp()), int(end.timestamp())))
            if begin.timestamp() and (end - begin).total_seconds() > 100:
                raise TimeoutError
            return type("Result", (), {"instances_deleted": 2})

    handle = activities.sweep_slice._function.get_user_function().client_function
    client = Client()
    purge = slices.purge_of(NOW).request
    outcomes = [await handle(piece, client) for piece in purge["slices"]]
    assert asked[0] == (0, NOW - 3600)
    assert asked[1:] == [(NOW - 3600 + n * 600, NOW - 3000 + n * 600) for n in range(6)]
    assert outcomes[0] == {"halve": False, "handled": 2, "failed": 0}
    assert outcomes[1:] == [{"halve": True}] * 6
    with pytest.raises(ValueError, match="refused"):
        await handle(["purge", NOW, NOW + 60], Refusing())
    played, _, listed = swept([], 8, **purge)
    assert listed == asked
    waits = [(task.fire_at - START).total_seconds() / 60 for task in played.tasks if task.fire_at is not None]
    assert waits == pytest.approx([n * 40 / 6 for n in range(1, 6)], abs=0.5), "not all in the same minute"


class Refusing:
    """The client of a service that refuses."""

    async def purge_instance_history_by(self, *given: Any) -> Any:
        raise ValueError("refused")


def test_a_large_sweep_goes_through_its_span_evenly_and_a_small_one_does_not_wait(monkeypatch: pytest.MonkeyPatch):
    """Ten thousand users who wrote within an hour are not all reached in the same minute."""
    monkeypatch.setattr(sweeps, "ROUNDS", 5)
    span = {"since": NOW - 3600, "until": NOW}
    one, _, _ = swept([NOW - 3000], 8, slices=[["x", NOW - 3600, NOW]], spread=span)
    assert [task.kind for task in one.tasks] == ["activity"]

    times = [NOW - 3600 + 9 * n for n in range(400)]
    many, handled, _ = swept(times, 8, slices=[["x", NOW - 3600, NOW]], spread=span)
    assert handled == Counter(range(len(times)))
    assert many.output == {"handled": len(times), "failed": 0}
    waits = [task.fire_at for task in many.tasks if task.fire_at is not None]
    assert len(waits) > 10
    assert waits == sorted(waits)
    minutes = [(at - START).total_seconds() / 60 for at in waits]
    assert 0 < minutes[0] < 5
    assert 35 < minutes[-1] < 40

    everything, handled, _ = swept([5, *times], 8, slices=[["x", 0, NOW]], spread=span)
    assert handled == Counter(range(len(times) + 1))
    waits = [task.fire_at for task in everything.tasks if task.fire_at is not None]
    assert 35 < (waits[-1] - START).total_seconds() / 60 < 40, "what is older than the span is not waited for"
