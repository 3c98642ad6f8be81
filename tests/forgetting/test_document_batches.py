"""A document is changed as a whole."""

from typing import Any

import pytest

from agent_memory import AsyncMemory


async def test_a_change_is_made_as_a_whole_or_not_at_all(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    sarah, store = memory.user("sarah"), memory.runtime.store
    await sarah.add_document("rules", "a" * 500, chunk_size=100, chunk_overlap=0)
    batches: list[int] = []
    whole = store.batch

    async def counted(container: str, partition: Any, operations: Any) -> Any:
        batches.append(len(operations))
        return await whole(container, partition, operations)

    monkeypatch.setattr(type(store), "batch", lambda self, *given: counted(*given))
    await sarah.add_document("rules", "b" * 200, chunk_size=100, chunk_overlap=0)
    assert batches == [5]  # two pieces and three deletions
    await sarah.add_document("long", " ".join(f"word{number}" for number in range(2600)), chunk_size=100)
    assert sum(batches[1:]) > 200
    assert max(batches) == 100
