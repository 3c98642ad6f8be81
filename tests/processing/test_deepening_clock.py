"""Deepening by the clock, in the process that keeps the memory."""

from datetime import timedelta
from pathlib import Path

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import now
from agent_memory.processing.maintenance import DEEPENING_CLOCK, due_for_deepening, note_deepening
from agent_memory.processing.worker import Pace, Worker
from agent_memory.settings import Environment
from agent_memory.store.containers import LEASES

QUIET = Cadence(extract=0, summarize=0, profile=0, reconcile=0, idle_seconds=0)
DAILY = Cadence(extract=0, summarize=0, profile=0, reconcile=0, deepen=1000, idle_seconds=0)
ALIKE = [f"fact: the garden of alice has a {kind} bed with roses" for kind in ("red", "blue", "long", "round", "old")]


def opened(chat: ScriptedChat, path: Path | None = None, cadence: Cadence = QUIET) -> AsyncMemory:
    return AsyncMemory.local(path, chat_model=chat, embedding_model=HashingEmbeddings(), cadence=cadence)


async def tell(memory: AsyncMemory) -> None:
    thread = memory.user("alice").thread("t")
    await thread.add_many([{"role": "user", "content": line} for line in ALIKE])
    await thread.process("extract")


async def passed(memory: AsyncMemory, hours: float) -> None:
    """Sets the clock as if it had been looked at so long ago."""
    await note_deepening(memory.runtime.store, now() - timedelta(hours=hours))


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
        assert await due_for_deepening(memory.runtime.store, DAILY) is None


async def test_an_open_memory_looks_at_the_clock_by_itself_and_closes_cleanly(chat: ScriptedChat, tmp_path: Path):
    path = tmp_path / "memory.db"
    async with opened(chat, path) as memory:
        await tell(memory)
        await passed(memory, 25)
    async with opened(chat, path, DAILY) as memory:
        for _ in range(500):
            if chat.calls["consolidate"]:
                break
            await memory.drain(timeout=0.02)
        assert chat.calls["consolidate"] == 1


async def test_what_failed_is_done_again_at_the_next_look(chat: ScriptedChat):
    async with opened(chat) as memory:
        await tell(memory)
        await passed(memory, 25)
        worker = Worker(memory.runtime.tools, DAILY, Pace())
        chat.fault = lambda task, call: ModelError("down", retryable=True) if task == "consolidate" else None
        await worker._deepen()
        chat.fault = None
        calls = chat.calls["consolidate"]
        await worker._deepen()
        assert chat.calls["consolidate"] == calls + 1
        assert await due_for_deepening(memory.runtime.store, DAILY) is None


@pytest.mark.parametrize("cadence", [QUIET, Cadence(deepen=5, deepen_hours=0)])
async def test_where_it_is_off_there_is_no_clock(chat: ScriptedChat, cadence: Cadence):
    async with opened(chat) as memory:
        assert await due_for_deepening(memory.runtime.store, cadence) is None
        assert await memory.runtime.store.read(LEASES, DEEPENING_CLOCK, (DEEPENING_CLOCK,)) is None


def test_the_function_app_takes_it_from_its_settings(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DEEPEN_HOURS", "6")
    assert Environment().cadence.deepen_hours == 6
