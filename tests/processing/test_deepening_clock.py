"""Deepening by the clock, in the process that keeps the memory."""

import asyncio
from dataclasses import replace
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from memories import NEVER, opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError, QuotaExceeded
from agent_memory.models import iso, now
from agent_memory.processing import clock as deepening
from agent_memory.processing.clock import (
    DEEPENING_CLOCK,
    claim_deepening,
    end_deepening,
    note_deepened,
    set_clock,
)
from agent_memory.processing.worker import Worker
from agent_memory.settings import Environment
from agent_memory.store.containers import LEASES

DAILY = Cadence(extract=0, summarize=0, profile=0, reconcile=0, deepen=1000, idle_seconds=0)
ALIKE = [f"fact: the garden of alice has a {kind} bed with roses" for kind in ("red", "blue", "long", "round", "old")]


async def tell(memory: AsyncMemory, user: str = "alice") -> None:
    thread = memory.user(user).thread("t")
    await thread.add_many([{"role": "user", "content": line} for line in ALIKE])
    await thread.process("extract")


async def passed(memory: AsyncMemory, hours: float) -> None:
    """Sets the clock as if it had been looked at so long ago."""
    await set_clock(memory.runtime.store, now() - timedelta(hours=hours))


@pytest.mark.req("S0-066", "S0-067")
async def test_the_worker_deepens_when_the_time_has_come_and_once(chat: ScriptedChat):
    async with opened(chat) as memory:
        await tell(memory)
        worker = Worker(memory.runtime.tools, DAILY)
        await worker._deepen()
        assert chat.calls["consolidate"] == 0, "the clock starts with the first look"
        await passed(memory, 23)
        await worker._deepen()
        assert chat.calls["consolidate"] == 0
        await passed(memory, 25)
        await worker._deepen()
        assert chat.calls["consolidate"] == 1
        assert any(" + " in one.content for one in await memory.user("alice").memories())
        await worker._deepen()
        assert chat.calls["consolidate"] == 1
        assert await claim_deepening(memory.runtime.store, DAILY) is None


async def test_an_open_memory_looks_at_the_clock_by_itself_and_closes_cleanly(chat: ScriptedChat, tmp_path: Path):
    path = tmp_path / "memory.db"
    async with opened(chat, path) as memory:
        await tell(memory)
        await passed(memory, 25)
    async with opened(chat, path, cadence=DAILY) as memory:
        for _ in range(500):
            if chat.calls["consolidate"]:
                break
            await memory.drain(timeout=0.02)
        assert chat.calls["consolidate"] == 1


async def clock(memory: AsyncMemory) -> dict[str, Any]:
    return await memory.runtime.store.read(LEASES, DEEPENING_CLOCK, (DEEPENING_CLOCK,)) or {}


async def waited(memory: AsyncMemory, user: str) -> None:
    """Sets the clock as if a user who failed had waited long enough."""
    stored = await clock(memory)
    stored["waiting"][user]["until"] = "2026-01-01T00:00:00Z"
    await memory.runtime.store.upsert(LEASES, stored)


async def test_only_users_whose_run_failed_are_retried_after_a_while(chat: ScriptedChat):
    async with opened(chat) as memory:
        for user in ("alice", "bob"):
            await tell(memory, user)
        await passed(memory, 25)
        worker = Worker(memory.runtime.tools, DAILY)
        fails = ModelError("down", retryable=True)
        answer, seen = worker._activities["consolidate.think"], []

        async def consolidate(payload: dict[str, Any]) -> dict[str, Any] | None:
            seen.append(payload["user_id"])
            if payload["user_id"] == "bob" and chat.fault is not None:
                raise fails
            return await answer(payload)

        worker._activities["consolidate.think"] = consolidate
        chat.fault = lambda task, call: None
        await worker._deepen()
        assert seen.count("alice") == 1
        tried = seen.count("bob")
        await worker._deepen()
        assert (seen.count("alice"), seen.count("bob")) == (1, tried)
        await waited(memory, "bob")
        await worker._deepen()
        assert seen.count("bob") == 2 * tried
        stored = await clock(memory)
        await memory.runtime.store.upsert(LEASES, stored | {"at": iso(now() - timedelta(hours=25))})
        await worker._deepen()
        assert (seen.count("alice"), seen.count("bob")) == (2, 2 * tried), "also when all are due, who failed waits"
        wait = (await clock(memory))["waiting"]["bob"]
        assert wait["tries"] == 2
        assert timedelta(minutes=15) < datetime.fromisoformat(wait["until"]) - now() <= timedelta(minutes=20)
        chat.fault = None
        await waited(memory, "bob")
        await worker._deepen()
        assert (seen.count("alice"), seen.count("bob")) == (2, 2 * tried + 1)
        assert (await clock(memory))["waiting"] == {}


async def test_a_user_who_has_spent_the_budget_waits_for_tomorrow(chat: ScriptedChat):
    async with opened(chat) as memory:
        await tell(memory)
        await passed(memory, 25)
        due = await claim_deepening(memory.runtime.store, DAILY)
        assert due is not None
        due = await note_deepened(memory.runtime.store, due, {"alice": QuotaExceeded("spent")})
        assert due is not None
        await end_deepening(memory.runtime.store, due, through=True)
        until = datetime.fromisoformat((await clock(memory))["waiting"]["alice"]["until"])
        assert (until.date() - now().date(), until.time()) == (timedelta(days=1), time())


async def test_of_several_workers_one_deepens_and_a_claim_lapses(chat: ScriptedChat):
    async with opened(chat) as memory:
        for user in ("u1", "u2", "u3"):
            await tell(memory, user)
        await passed(memory, 25)
        await asyncio.gather(*(Worker(memory.runtime.tools, DAILY)._deepen() for _ in range(3)))
        assert chat.calls["consolidate"] == 3
        await passed(memory, 25)
        killed = await claim_deepening(memory.runtime.store, DAILY)
        assert killed is not None
        assert await claim_deepening(memory.runtime.store, DAILY) is None
        stored = await clock(memory) | {"claimed_at": iso(now() - timedelta(hours=2))}
        await memory.runtime.store.upsert(LEASES, stored)
        heir = await claim_deepening(memory.runtime.store, DAILY)
        assert heir is not None
        assert heir.users == ["u1", "u2", "u3"]
        assert await note_deepened(memory.runtime.store, killed, {}) is None, "it was taken over"
        await end_deepening(memory.runtime.store, killed, through=True)
        assert "claimed_at" in await clock(memory)


async def test_a_deepening_of_many_users_keeps_its_claim_as_long_as_it_goes_on(chat: ScriptedChat):
    async with opened(chat) as memory:
        store = memory.runtime.store
        await tell(memory)
        await passed(memory, 25)
        due = await claim_deepening(store, DAILY)
        assert due is not None
        begun = await store.replace(
            LEASES, due.clock | {"claimed_at": iso(now() - timedelta(minutes=59))}, due.clock["_etag"]
        )
        assert await note_deepened(store, replace(due, clock=begun), {"alice": None}) is not None
        assert now() - datetime.fromisoformat((await clock(memory))["claimed_at"]) < timedelta(minutes=30)


async def test_deepening_that_is_broken_off_is_still_due(chat: ScriptedChat):
    async with opened(chat) as memory:
        await tell(memory)
        await passed(memory, 25)
        worker = Worker(memory.runtime.tools, DAILY)
        worker._stopping = True
        await worker._deepen()
        assert chat.calls["consolidate"] == 0
        due = await claim_deepening(memory.runtime.store, DAILY)
        assert due is not None
        assert due.users == ["alice"]


async def test_new_turns_do_not_wait_for_deepening_and_closing_gives_up_the_claim(chat: ScriptedChat, tmp_path: Path):
    path = tmp_path / "memory.db"
    async with opened(chat, path) as memory:
        await tell(memory)
        await passed(memory, 25)
    begun, answer = asyncio.Event(), chat.run

    async def run(task: Any, data: Any) -> Any:
        if task.name == "consolidate":
            begun.set()
            await asyncio.sleep(3600)
        return await answer(task, data)

    chat.run = run  # type: ignore[method-assign]
    async with opened(chat, path, cadence=replace(DAILY, extract=1)) as memory:
        async with asyncio.timeout(120):
            await begun.wait()
            await memory.user("bob").thread("t").add("user", "fact: city=Rome on the hills")
            while not await memory.user("bob").memories():  # noqa: ASYNC110 (the worker goes on by itself)
                await asyncio.sleep(0.05)
            assert await memory.drain() == 0
        assert [one.content for one in await memory.user("bob").memories()] == ["city=Rome on the hills"]
    chat.run = answer  # type: ignore[method-assign]
    async with opened(chat, path) as memory:
        due = await claim_deepening(memory.runtime.store, DAILY)
        assert due is not None
        assert "alice" in due.users


@pytest.mark.parametrize("cadence", [NEVER, Cadence(deepen=5, deepen_hours=0)])
async def test_without_deepening_there_is_no_clock(chat: ScriptedChat, cadence: Cadence):
    async with opened(chat) as memory:
        assert await claim_deepening(memory.runtime.store, cadence) is None
        assert await memory.runtime.store.read(LEASES, DEEPENING_CLOCK, (DEEPENING_CLOCK,)) is None


def test_the_function_app_takes_it_from_its_settings(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DEEPEN_HOURS", "6")
    assert Environment().cadence.deepen_hours == 6


async def test_if_too_many_users_fail_to_remember_them_all_are_deepened_again_later(
    chat: ScriptedChat, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(deepening, "MOST_WAITING", 1)
    async with opened(chat) as memory:
        store = memory.runtime.store
        for user in ("ann", "bob", "cem"):
            await tell(memory, user)
        await passed(memory, 25)
        due = await claim_deepening(store, DAILY)
        assert due is not None
        failed = await note_deepened(store, due, dict.fromkeys(due.users, ModelError("away", retryable=True)))
        assert failed is not None
        await end_deepening(store, failed, through=True)
        assert await claim_deepening(store, DAILY) is None, "not before the claim lapses"
        monkeypatch.setattr(deepening, "CLAIM", timedelta(0))
        again = await claim_deepening(store, DAILY)
        assert again is not None
        assert "cem" in again.users
