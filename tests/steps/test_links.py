"""Raw talk is linked with earlier talk that is close in meaning, when it is indexed."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agent_memory import AsyncMemory
from agent_memory.models import Memory
from agent_memory.steps import index
from agent_memory.store.client import Store
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import from_document

DAY = datetime(2026, 3, 5, tzinfo=UTC)
OLD = "The nightly import runs at 02:15."
NEW = "I moved the nightly import to 04:00."
OTHER = "My cat likes fish."


async def chunks(memory: AsyncMemory, user_id: str = "ann") -> dict[str, Memory]:
    sql = "SELECT * FROM c WHERE c.kind = 'chunk'"
    rows = await memory.runtime.store.query(MEMORIES, sql, (user_id,))
    return {chunk.quote or "": chunk for chunk in (from_document(Memory, row) for row in rows)}


async def say(memory: AsyncMemory, text: str, days: float = 0, *, thread: str = "t", user: str = "ann") -> None:
    chat = memory.user(user).thread(thread)
    await chat.add("user", text, created_at=DAY + timedelta(days=days))
    await chat.process("index")


async def test_talk_is_linked_over_conversations_and_runs(memory: AsyncMemory):
    await say(memory, OLD)
    await say(memory, OTHER, 1)
    await say(memory, NEW, 2, thread="later")
    found = await chunks(memory)
    assert found[NEW].near_ids[0] == found[OLD].id
    assert found[OLD].near_ids == []


async def test_talk_of_one_run_is_linked(memory: AsyncMemory):
    chat = memory.user("ann").thread("t")
    for number, text in enumerate((OLD, OTHER, NEW)):
        await chat.add("user", text, created_at=DAY + timedelta(minutes=number))
    await chat.process("index")
    found = await chunks(memory)
    assert found[NEW].near_ids[0] == found[OLD].id


async def test_talk_that_comes_in_late_is_linked_too(memory: AsyncMemory):
    await say(memory, NEW, 2)
    await say(memory, OLD, 0, thread="imported")
    found = await chunks(memory)
    assert found[OLD].near_ids == [found[NEW].id]


async def test_nothing_is_linked_with_another_user_or_an_agent(memory: AsyncMemory):
    await say(memory, OLD, user="ben")
    await memory.user("ann").thread("t").add("agent", OLD, created_at=DAY)
    await say(memory, NEW, 2)
    assert (await chunks(memory))[NEW].near_ids == []


async def test_what_is_forgotten_is_linked_no_more(memory: AsyncMemory):
    await say(memory, OLD)
    await say(memory, NEW, 2, thread="later")
    await memory.user("ann").thread("t").forget()
    assert (await chunks(memory))[NEW].near_ids == []


async def test_a_chunk_has_few_links(memory: AsyncMemory):
    for number in range(index.LINKS + 3):
        await say(memory, f"The nightly import took {number} minutes.", number)
    await say(memory, NEW, 20)
    assert len((await chunks(memory))[NEW].near_ids) == index.LINKS


async def test_linking_costs_one_query_a_run(memory: AsyncMemory, monkeypatch: pytest.MonkeyPatch):
    chat = memory.user("ann").thread("t")
    for number in range(6):
        text = f"The nightly import took {number} minutes."
        await chat.add("user", text, created_at=DAY + timedelta(days=number))
    asked: list[str] = []
    query = Store.query

    async def noted(self: Store, container: str, sql: str, *args: Any, **values: Any) -> Any:
        asked.append(sql)
        return await query(self, container, sql, *args, **values)

    monkeypatch.setattr(Store, "query", noted)
    await chat.process("index")
    assert sum("VectorDistance" in sql for sql in asked) == 1
