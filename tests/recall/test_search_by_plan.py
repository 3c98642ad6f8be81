"""Search where clients carry out query plans, as in Azure: over partitions that many users share."""

import pytest
from broken_embeddings import BrokenEmbeddings
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.errors import ModelError

USERS = [f"user-{number}" for number in range(8)]  # of three partitions, so that some share one


@pytest.mark.parametrize("refuses", [False, True], ids=["by both", "by words"])
async def test_each_finds_their_own_alone(monkeypatch: pytest.MonkeyPatch, chat: ScriptedChat, refuses: bool):
    monkeypatch.setenv("EMBEDDED_COSMOS_STRICT", "1")
    embeddings = BrokenEmbeddings()
    async with AsyncMemory.local(chat_model=chat, embedding_model=embeddings) as memory:
        for user_id in USERS:
            await memory.user(user_id).remember(f"The cat of {user_id} is called Tom")
            await memory.user(user_id).thread("t").add("user", f"The cat of {user_id} sleeps on the roof all day")
        await memory.drain()
        embeddings.error = ModelError("no embeddings today") if refuses else None
        for user_id in USERS:
            user = memory.user(user_id)
            hits = await user.search("What does the cat do?", limit=20)
            assert {hit.memory.user_id for hit in hits} == {user_id}
            assert {hit.memory.kind for hit in hits} == {"fact", "chunk"}
            assert {hit.memory.thread_id for hit in await user.thread("t").search("cat", limit=20)} == {"t"}
            degraded = (await user.context("What does the cat do?")).degraded
            assert [part.partition(":")[0] for part in degraded] == (["vector search"] if refuses else [])
