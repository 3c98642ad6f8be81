"""Short-term memory is built on the scopes alone, so it works on a server's too."""

from typing import Any, get_args

import pytest
from api_world import serving

from agent_memory import AsyncMemory
from agent_memory.language.tokens import ApproximateTokens
from agent_memory.scopes import ThreadStep
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
