"""No replica has what the session has seen (404 with 1002, as after a failover): nothing is taken for missing."""

from pathlib import Path

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.errors import StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.store.containers import SUMMARIES, TURNS
from embedded_cosmos import Engine, FaultPlan, FaultRule


async def test_a_user_who_switched_memory_off_is_not_taken_for_one_who_did_not(tmp_path: Path, chat: ScriptedChat):
    path = tmp_path / "m.db"
    async with AsyncMemory.local(path, chat_model=chat, embedding_model=HashingEmbeddings()) as memory:
        await memory.user("ann").update_settings(enabled=False)
    async with AsyncMemory.local(path, chat_model=chat, embedding_model=HashingEmbeddings()) as memory:
        store = memory.runtime.store
        assert isinstance(store.file, Engine)
        assert memory.runtime.worker is not None
        await memory.runtime.worker.stop()  # it would meet the faults too
        behind = FaultPlan(rules=[FaultRule("behind", operations={"read", "query"})])
        store.file.faults = behind
        with pytest.raises(StoreUnavailable, match="has not yet"):
            await store.read(SUMMARIES, "settings", ("ann", "__settings__"))
        with pytest.raises(StoreUnavailable, match="has not yet"):
            await store.query(TURNS, "SELECT VALUE c.id FROM c", ("ann",))
        with pytest.raises(StoreUnavailable):
            await memory.user("ann").thread("t").add("user", "My locker code is 4711.")
        assert behind.injected["behind"] > 0
        store.file.faults = None
        assert await store.count(TURNS) == 0
