"""An employee asks about remote work: the blocks of long-term memory, alone and around the conversation."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from memories import opened

from agent_memory import AsyncMemory
from agent_memory.errors import AgentMemoryError, StaticMemoryError, StoreUnavailable
from agent_memory.language.offline import OfflineChat
from agent_memory.settings import RecallSettings
from agent_memory.store.calls import metered
from agent_memory.working import (
    AsyncExtractiveMemory,
    AsyncLongTermBlock,
    AsyncShortTermMemory,
    AsyncStaticMemory,
    AsyncVectorMemory,
    Flush,
)

SAMPLE = Path(__file__).parents[2] / "samples" / "conversations" / "hr.jsonl"
POLICY = [
    {"id": "hr1", "content": "Remote work: up to 3 days per week, with the manager's approval."},
    {"id": "hr2", "content": "Working from abroad: at most 2 weeks per year, to be approved 30 days ahead."},
    {"id": "hr3", "content": "The canteen is closed on public holidays.", "metadata": {"value": {"closed": True}}},
]


@pytest.fixture
async def hr() -> AsyncIterator[AsyncMemory]:
    async with opened(OfflineChat()) as memory:
        yield memory


def spoken() -> list[dict[str, str]]:
    """The talk of the first day."""
    rows = [json.loads(line) for line in SAMPLE.read_text().splitlines()]
    return [{"role": row["role"], "content": row["content"]} for row in rows if row["thread_id"] == "hr-2026-03-02"]


def blocks(memory: AsyncMemory) -> list[Any]:
    sarah = memory.user("sarah")
    return [AsyncStaticMemory(memory.static, POLICY), AsyncExtractiveMemory(sarah), AsyncVectorMemory(sarah)]


async def talk(chats: AsyncShortTermMemory, messages: list[dict[str, str]], thread: str = "s1") -> None:
    for message in messages:
        await chats.update(thread, message)


@pytest.mark.req("S4-19")
async def test_what_is_remembered_is_shown_in_one_element_a_block(hr: AsyncMemory):
    sarah = hr.user("sarah")
    await sarah.remember("Sarah works in Marketing & Sales.")
    chats = AsyncShortTermMemory(sarah, blocks=blocks(hr))
    await talk(chats, [{"role": "user", "content": "We spoke about eligibility."}], "s0")
    await sarah.thread("s0").process("index")
    (message,) = (await chats.get("s1", {"role": "user", "content": "remote work eligibility in Marketing"})).messages
    lines = message["content"].splitlines()
    assert [lines[0], lines[1], lines[-1]] == ["<memory>", "    <static_memory>", "</memory>"]
    assert lines[2] == "      - Remote work: up to 3 days per week, with the manager's approval."
    start = lines.index("    <extractive_memory>")
    assert lines[start + 1 : start + 3] == ["      - Sarah works in Marketing &amp; Sales.", "    </extractive_memory>"]
    start = lines.index("    <vector_memory>")
    assert lines[start + 1].endswith("user: We spoke about eligibility.")
    assert lines[start + 2] == "    </vector_memory>"


@pytest.mark.req("S4-47", "S4-11", "S4-21", "S4-51", "S4-62")
async def test_static_facts_are_inserted_once_and_recalled_for_everybody(hr: AsyncMemory):
    for _ in range(2):
        block = AsyncStaticMemory(hr.static, POLICY)
        assert block.name == "static_memory"
        await block.insert_facts()
        await block.insert_facts()
    assert [fact.id for fact in await hr.static.list()] == ["hr1", "hr2", "hr3"]
    for user, thread in (("sarah", "s1"), ("tom", "t7")):
        chats = AsyncShortTermMemory(hr.user(user), blocks=[AsyncStaticMemory(hr.static)])
        content = await chats.get(thread, {"role": "user", "content": "Is the canteen open?"})
        assert [fact.metadata.get("value") for fact in content.static_facts] == [{"closed": True}]


@pytest.mark.req("S4-50")
async def test_static_facts_are_chosen_for_the_message(hr: AsyncMemory):
    block = AsyncStaticMemory(hr.static, POLICY)
    (best, *_) = await block.get("s1", {"role": "user", "content": "May I work from abroad for two weeks?"})
    assert best.id == "hr2"
    assert len(await block.get("s1", {"role": "user", "content": "Hmm?"})) == 3
    assert len(await AsyncStaticMemory(hr.static, limit=1).get("s1", {"role": "user", "content": "Hmm?"})) == 1


@pytest.mark.req("S4-57", "S4-60")
async def test_a_block_deletes_what_it_keeps_of_one_session(hr: AsyncMemory):
    sarah = hr.user("sarah")
    facts, vectors = AsyncExtractiveMemory(sarah), AsyncVectorMemory(sarah)
    for thread, line in (("s1", "I work in the Marketing team."), ("s2", "I live in Lisbon, near the river.")):
        await facts.update(thread, {"role": "user", "content": line})
    marketing = {"role": "user", "content": "the Marketing team"}
    assert await facts.get("s3", marketing)
    await facts.delete("s1")
    assert await sarah.thread("s1").memories() == []
    assert await sarah.thread("s2").memories() != []
    assert len(await sarah.thread("s1").turns()) == 1
    assert any("Marketing" in hit.memory.content for hit in await vectors.get("s3", marketing))
    await vectors.delete("s1")
    assert [turn.content for turn in await sarah.thread("s1").turns()] == ["I work in the Marketing team."]
    await sarah.thread("s1").process("index")
    assert not any("Marketing" in hit.memory.content for hit in await vectors.get("s3", marketing))
    assert await vectors.get("s3", {"role": "user", "content": "Lisbon river"})


@pytest.mark.req("S4-43")
async def test_deleting_a_session_takes_messages_and_what_every_block_keeps_of_it(hr: AsyncMemory):
    class Notes:
        name = "notes"
        deleted: list[str]

        def __init__(self) -> None:
            self.deleted = []

        async def get(self, session_id: str, message: Any) -> list[str]:
            return []

        async def update(self, session_id: str, message: Any) -> None:
            pass

        async def delete(self, session_id: str) -> None:
            self.deleted.append(session_id)

    sarah, notes = hr.user("sarah"), Notes()
    chats = AsyncShortTermMemory(sarah, Flush(), blocks=[*blocks(hr), notes])
    for thread in ("s1", "s2"):
        await talk(chats, [{"role": "system", "content": "You help."}, *spoken()[:3]], thread)
        await sarah.thread(thread).process("extract")
    await chats.delete("s1")
    assert notes.deleted == ["s1"]
    assert (await chats.get("s1")).chat_messages == []
    assert await sarah.thread("s1").turns() == []
    assert await sarah.thread("s1").memories() == []
    assert len((await chats.get("s2")).chat_messages) == 4
    assert len(await hr.static.list()) in (0, 3)
    await chats.delete("s1")


@pytest.mark.req("S4-44")
async def test_what_goes_wrong_is_a_typed_error():
    memory = opened(OfflineChat())
    chats = AsyncShortTermMemory(memory.user("sarah"))
    for attempt in (chats.get("s1"), chats.update("s1", {"role": "user", "content": "hi"}), chats.delete("s1")):
        with pytest.raises(StoreUnavailable) as caught:
            await attempt
        assert isinstance(caught.value, AgentMemoryError)
        assert (caught.value.code, caught.value.retryable) == ("store_unavailable", True)
    await memory.close()


@pytest.mark.req("S4-61", "S4-27")
async def test_every_block_and_the_short_term_memory_have_one_interface(hr: AsyncMemory):
    everything = [*blocks(hr), AsyncShortTermMemory(hr.user("sarah"))]
    for one in everything[:3]:
        assert isinstance(one, AsyncLongTermBlock)
    for one in everything:
        assert await one.get("s1", {"role": "user", "content": "hello"}) is not None
    static, *others = everything
    for one in others:
        await one.update("s1", {"role": "user", "content": "I work in the Marketing team."})
        await one.delete("s1")
    for refused in (static.update("s1", {"role": "user", "content": "hi"}), static.delete("s1")):
        with pytest.raises(StaticMemoryError):
            await refused


@pytest.mark.req("S4-28", "S4-02", "S4-04")
@pytest.mark.parametrize("durable", [False, True])
async def test_blocks_live_in_ram_or_in_a_file(tmp_path: Path, durable: bool):
    path = tmp_path / "hr.db" if durable else None
    for opening in range(2):
        async with opened(OfflineChat(), path) as memory:
            facts, static = AsyncExtractiveMemory(memory.user("sarah")), AsyncStaticMemory(memory.static)
            if opening == 0:
                await AsyncStaticMemory(memory.static, POLICY).insert_facts()
                await facts.update("s1", {"role": "user", "content": "I work in the Marketing team."})
            there = durable or opening == 0
            message = {"role": "user", "content": "Marketing team"}
            assert bool(await facts.get("s2", message)) is bool(await static.get("s2", message)) is there


@pytest.mark.req("S4-54")
async def test_facts_come_from_a_cache_until_somebody_writes():
    message = {"role": "user", "content": "Which team do I work in, Marketing or Sales?"}
    async with opened(OfflineChat(), recall=RecallSettings(cache_seconds=60)) as memory:
        facts, others = (AsyncExtractiveMemory(memory.user("sarah")) for _ in range(2))
        await facts.update("s1", {"role": "user", "content": "I work in the Marketing team."})
        with metered() as loading:
            first = await facts.get("s1", message)
        with metered() as cached:
            assert await facts.get("s1", message) == first
        assert sum(cached) < sum(loading)
        await others.update("s2", {"role": "user", "content": "My desk is near the Sales team."})
        assert len(await facts.get("s1", message)) > len(first)
