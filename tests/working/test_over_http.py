"""Short-term memory is built on the scopes alone, so it works on a server's too."""

from typing import Any, get_args

import pytest
from api_world import serving

from agent_memory import AsyncMemory
from agent_memory.compat.agent import AgentSession
from agent_memory.errors import ConfigurationError, InvalidInput
from agent_memory.scopes import ThreadStep
from agent_memory.text.tokens import ApproximateTokens
from agent_memory.working import (
    AsyncExtractiveMemory,
    AsyncShortTermMemory,
    AsyncVectorMemory,
    Flush,
    Summarize,
)


@pytest.mark.req("S2-60")
@pytest.mark.parametrize("flushing", [False, True])
async def test_a_conversation_on_a_server_is_kept_inside_its_window(memory: AsyncMemory, flushing: bool):
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        alice = remote.user("alice")
        blocks: list[Any] = [AsyncExtractiveMemory(alice), AsyncVectorMemory(alice)] if flushing else []
        strategy = Flush(ratio=1, keep=2) if flushing else Summarize(threshold_tokens=100, keep=2)
        limit = 100 if flushing else 1000
        chats = AsyncShortTermMemory(alice, strategy, blocks=blocks, max_tokens=limit, tokens=ApproximateTokens())
        await chats.update("t1", {"role": "user", "content": "fact: seat=aisle, please"})
        for number in range(10):
            updated = await chats.update("t1", {"role": "user", "content": f"{number:24}"})
        assert (updated.retired, updated.degraded) == (9, [])
        content = await chats.get("t1", {"role": "user", "content": "aisle seat"})
        talk = [message.content.strip() for message in content.chat_messages if message.role == "user"]
        assert talk == ["8", "9"]
        if flushing:
            assert [fact.content for fact in content.extracted_facts] == ["seat=aisle, please"]
            assert content.vector_matches
        else:
            assert "seat=aisle" in content.chat_messages[0].content
        assert await chats.clear("t1") == 2


async def test_every_step_of_a_thread_runs_on_a_server(memory: AsyncMemory):
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        chat = remote.user("alice").thread("t1")
        await chat.add("user", "fact: seat=aisle, please")
        created = {step: (await chat.process(step)).created for step in get_args(ThreadStep)}
    assert created == {"index": 0, "extract": 1, "summarize": 1, "archive": 1}  # chunks are not counted as memories


async def test_what_has_left_the_view_is_archived_on_a_server_too(memory: AsyncMemory):
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        chat = remote.user("alice").thread("t1")
        ids = (await chat.add_many([{"role": "user", "content": f"line {number}"} for number in range(4)])).ids
        assert (await chat.process("archive", retired=True)).turns == 0
        await chat.retire(ids[1])
        assert (await chat.process("archive", retired=True)).turns == 2
        (account,) = await chat.memories(types=["conversation_summary"])
        assert account.source_turn_ids == ids[:2]
        assert (await chat.process("archive")).turns == 2
        for handle in (chat, memory.user("alice").thread("t1")):
            with pytest.raises(InvalidInput, match="knows no retired"):
                await handle.process("summarize", retired=True)


@pytest.mark.req("S2-60", "S2-61")
async def test_an_agents_session_works_on_a_server_by_the_thresholds_of_its_model(memory: AsyncMemory):
    profile = {
        "agent_id": "helper",
        "resources": ["memory", "knowledge_base"],
        "resource_config": {
            "memory": {"compression": {"archive_conversations": True}},
            "knowledge_base": {"enable_cross_session_context": True, "rerank_provider": "some"},
        },
    }
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        async with AgentSession(remote, profile, "alice", "s1") as first:
            await first.save_memory("user", "topic: authentication with tokens")
        second = AgentSession(remote, profile, "alice", "s2")
        found = await second.diagnose("What did we discuss about authentication with tokens?")
        assert (found.found, found.least_similarity) == (1, pytest.approx(0.15))
        assert found.best_score is not None
        assert found.best_score >= 0.7
        with pytest.raises(ConfigurationError, match="set_chat_provider"):
            await second.chat("Hello")
        second.set_chat_provider(lambda messages: "Hi!")
        assert await second.chat("Hello") == "Hi!"
