"""Passes over a user's memories that get no usable answer: their record outlives nobody, adds up, and asks once."""

import asyncio
from typing import Any

import pytest
from scripted_model import ScriptedChat
from tenacity import wait_none

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError
from agent_memory.language.tasks import In, Out, Task, TaskResult
from agent_memory.processing import activities
from agent_memory.processing.worker import Worker
from agent_memory.store.client import Store
from agent_memory.store.containers import COUNTER, MEMORIES, SUMMARIES

FACTS = ("fact: city=Lisbon by the river", "fact: pet=a cat named Tom", "howto: to reach Tom, ring twice")


async def tell(memory: AsyncMemory) -> None:
    thread = memory.user("alice").thread("t")
    await thread.add_many([{"role": "user", "content": line} for line in FACTS])
    await thread.process("extract")


@pytest.mark.parametrize("step", ["profile", "reconcile", "reflect"])
async def test_the_record_of_a_failure_does_not_bring_back_an_erased_user(
    memory: AsyncMemory, chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch, step: str
):
    alice = memory.user("alice")
    await tell(memory)
    answer = chat.run

    async def run(task: Task[In, Out], data: In) -> TaskResult[Out]:
        if task.name == step:
            await alice.forget(everything=True)
            raise ModelError("unusable: alice lives in Lisbon")
        return await answer(task, data)

    monkeypatch.setattr(chat, "run", run)
    with pytest.raises(ModelError):
        await alice.process(step)
    for container in (MEMORIES, SUMMARIES, COUNTER):
        assert await memory.runtime.store.query(container, "SELECT * FROM c", ("alice",)) == []


@pytest.mark.parametrize("step", ["profile", "reconcile"])
async def test_what_fails_twice_at_once_is_charged_twice_and_goes_with_what_it_may_quote(
    memory: AsyncMemory, chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch, step: str
):
    alice = memory.user("alice")
    await tell(memory)
    both = asyncio.Barrier(2)

    async def run(task: Any, data: Any) -> Any:
        await both.wait()
        raise ModelError("unusable: alice lives in Lisbon", cost={"model_calls": 1, "input_tokens": 10})

    written = asyncio.Barrier(2)
    store, ahead = memory.runtime.store, 2

    async def batch(*args: Any) -> None:
        nonlocal ahead
        if ahead:  # both have read before either writes
            ahead -= 1
            await written.wait()
        await Store.batch(store, *args)

    monkeypatch.setattr(chat, "run", run)
    monkeypatch.setattr(store, "batch", batch)
    results = await asyncio.gather(alice.process(step), alice.process(step), return_exceptions=True)
    assert all(isinstance(one, ModelError) for one in results)
    (letter,) = await memory.dead_letters()
    assert (letter.usage.model_calls, letter.usage.input_tokens) == (2, 20)
    await alice.forget(thread_id="t")
    assert await memory.dead_letters() == []


async def test_a_reconciliation_that_failed_is_asked_again_after_as_many_extractions_as_one_that_did_not(
    memory: AsyncMemory, chat: ScriptedChat
):
    await tell(memory)
    chat.fault = lambda task, call: ModelError("no JSON in it") if task == "reconcile" else None
    cadence = Cadence(extract=1000, summarize=0, profile=0, reconcile=1, idle_seconds=0)
    worker = Worker(memory.runtime.tools, cadence)
    thread = memory.user("alice").thread("t")
    for number in range(4):
        await thread.add("user", f"hello there, number {number}")
        await worker._run_due(await worker._count_new_turns())
    assert chat.calls["reconcile"] == 1
    await thread.process("extract")
    chat.fault = None
    await thread.add("user", "hello there again")
    await worker._run_due(await worker._count_new_turns())
    assert chat.calls["reconcile"] == 2
    assert await memory.dead_letters() == []


@pytest.mark.parametrize(("asked", "calls"), [(30.0, 1), (None, 4)])
async def test_an_activity_is_not_repeated_while_a_model_asks_to_wait(
    monkeypatch: pytest.MonkeyPatch, asked: float | None, calls: int
):
    """Its adapter has waited as long as one call may; the turns stay pending."""
    monkeypatch.setattr(activities, "wait_random_exponential", lambda **_: wait_none())
    count = 0

    async def think(_: Any) -> None:
        nonlocal count
        count += 1
        raise ModelError("busy", retryable=True, retry_after=asked)

    with pytest.raises(ModelError):
        await activities.run_workflow("profile", {"user_id": "alice"}, {"profile.think": think})
    assert count == calls
