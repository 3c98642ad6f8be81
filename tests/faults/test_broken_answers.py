"""A request whose answer is lost, or that the account refuses once: the caller repeats the call, and it counts once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.errors import NotFound, StoreUnavailable
from agent_memory.language.hashing import HashingEmbeddings
from embedded_cosmos import Engine, FaultPlan, FaultRule
from embedded_cosmos.faults import Fault

OPERATIONS = ("read", "query", "create", "upsert", "replace", "patch", "delete", "batch")


@pytest.mark.parametrize("fault", ["drop_after", "drop_before", "retry_with", "gone"])
async def test_a_call_that_is_repeated_counts_once(tmp_path: Path, chat: ScriptedChat, fault: Fault):
    async with AsyncMemory.local(tmp_path / "m.db", chat_model=chat, embedding_model=HashingEmbeddings()) as memory:
        assert memory.runtime.worker is not None
        await memory.runtime.worker.stop()  # it would meet the faults instead
        await tell(memory, fault)


async def tell(memory: AsyncMemory, fault: Fault) -> None:
    """Writes, corrects, forgets and sets, with each fault at the first request of each kind."""
    engine, user = memory.runtime.store.file, memory.user("ann")
    assert isinstance(engine, Engine)
    thread, refused = user.thread("t"), 0

    async def repeated(operation: Any, call: Callable[[], Awaitable[object]]) -> bool:
        """Whether the call had to be repeated."""
        engine.faults = FaultPlan(rules=[FaultRule(fault, operations={operation}, first=1)])
        try:
            await call()
        except StoreUnavailable:
            await call()
            return True
        finally:
            engine.faults = None
        return False

    for operation in OPERATIONS:
        turn = {"id": f"turn-{operation}", "role": "user", "content": f"I saw the {operation} in May."}
        refused += await repeated(operation, lambda turn=turn: thread.add_many([turn]))
        text = f"Owns the {operation} car"
        refused += await repeated(operation, lambda text=text: user.remember(text))
        [kept] = [one for one in await user.memories() if one.content == text]
        refused += await repeated(operation, lambda kept=kept: user.update(kept.id, content=f"{kept.content} now"))
        await thread.add("user", "Never mind")
        refused += await repeated(operation, thread.pop)
        refused += await repeated(operation, lambda: user.update_settings(auto_store=True, retention_days={"fact": 90}))
        gone = await user.remember(f"Sold the {operation} boat")
        refused += await repeated(operation, lambda gone=gone: user.forget(id=gone.id))
        with pytest.raises(NotFound):
            await user.get(gone.id)
    assert refused >= 3, "the faults reach the callers"
    counts = Counter(turn.content for turn in await thread.turns())
    assert (len(counts), max(counts.values())) == (len(OPERATIONS), 1)
    found = await user.memories()
    assert Counter(one.content for one in found) == Counter(f"Owns the {operation} car now" for operation in OPERATIONS)
