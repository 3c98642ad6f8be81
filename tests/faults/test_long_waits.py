"""A busy store that asks for long waits: a read ends with a typed error, a write waits."""

from pathlib import Path

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.errors import StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.models import Context
from agent_memory.scopes.scope import audited
from agent_memory.settings import RecallSettings
from embedded_cosmos import Engine, FaultPlan, FaultRule


async def test_a_read_ends_before_the_wait_that_a_busy_store_asks_for(tmp_path: Path, chat: ScriptedChat):
    settings, embeddings = RecallSettings(read_timeout=0.4, context_timeout=0.4), HashingEmbeddings()
    async with AsyncMemory.local(
        tmp_path / "m.db", chat_model=chat, embedding_model=embeddings, recall=settings
    ) as memory:
        engine, ann = memory.runtime.store.file, memory.user("ann")
        assert isinstance(engine, Engine)
        assert memory.runtime.worker is not None
        await memory.runtime.worker.stop()  # it would meet the faults too
        kept = await ann.remember("Allergic to peanuts")
        engine.faults = FaultPlan(rules=[FaultRule("throttle", operations={"read", "query"}, retry_after_ms=25_000)])
        for reading in (ann.search("peanuts"), ann.get(kept.id), ann.thread("t").search("peanuts")):
            with pytest.raises(StoreUnavailable, match=r"within 0\.4 s"):
                await reading
        assert isinstance(await ann.context("What about peanuts?"), Context)
        engine.faults = FaultPlan(rules=[FaultRule("throttle", operations={"create"}, first=1, retry_after_ms=900)])
        await ann.remember("Likes tea")
        assert engine.faults.injected["throttle"] == 1
        engine.faults = None


async def test_a_time_out_inside_a_read_is_not_taken_for_the_end_of_its_wait(memory: AsyncMemory):
    class Scope:
        user_id = "ann"
        _runtime = memory.runtime

        @audited(changes=False)
        async def reading(self) -> None:
            raise TimeoutError("the socket of another service")

    with pytest.raises(TimeoutError, match="the socket of another service"):
        await Scope().reading()
