"""LiteLLM, beyond the promises: streams, other calls, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from agent_server import BUDGET, KNOWS, KNOWS_NOT, agent_server

pytest.importorskip("litellm", reason="not installed: make integrations ARGS=litellm")

import litellm
from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER

from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput
from agent_memory.integrations.litellm import MemoryHook

pytestmark = pytest.mark.filterwarnings("ignore")


async def test_a_streamed_answer_is_kept_when_it_is_whole(memory: AsyncMemory):
    await memory.user("alice").remember(f"The budget is {BUDGET}.")
    litellm.logging_callback_manager._reset_all_callbacks()
    litellm.callbacks = [MemoryHook(memory, user_id="alice", thread_id="s")]
    with agent_server() as server:
        options: Any = {"model": "openai/scripted", "api_base": f"{server.url}/v1", "api_key": "k", "stream": True}
        asked = [{"role": "user", "content": "What is the budget?"}]
        parts = [part async for part in await litellm.acompletion(messages=asked, **options)]
        assert "".join(part.choices[0].delta.content or "" for part in parts) == KNOWS
    for _ in range(50):
        await GLOBAL_LOGGING_WORKER.flush()
        if kept := await memory.user("alice").thread("s").turns():
            break
    assert [turn.content for turn in kept] == ["What is the budget?", KNOWS]


async def test_embeddings_need_no_user_and_messages_need_their_name(memory: AsyncMemory):
    litellm.callbacks = [MemoryHook(memory)]
    with agent_server() as server:
        to: Any = {"model": "openai/scripted", "api_base": f"{server.url}/v1", "api_key": "k"}
        assert (await litellm.aembedding(input=["words"], **to)).data
        with pytest.raises(Exception, match="by name") as refused:
            await litellm.acompletion("openai/scripted", [{"role": "user", "content": "Hello."}], user="alice")
        assert isinstance(refused.value, InvalidInput)
        with pytest.raises(Exception, match="no conversation"):
            await litellm.acompletion(messages=[{"role": "user", "content": "Hello."}], user="alice", **to)
        done = await litellm.acompletion(
            messages=[{"role": "user", "content": "Hello."}], user="alice", metadata={"session_id": "s"}, **to
        )
    assert done.choices[0].message.content == KNOWS_NOT
