"""A profile tells nothing that rests on memories which retention deleted."""

import asyncio

from scripted_model import ScriptedChat
from store_scan import scan

from agent_memory import AsyncMemory
from agent_memory.forgetting.profiles import SOURCES_UNTIL, read_profile_document
from agent_memory.store.containers import MEMORIES
from agent_memory.store.ids import USER_THREAD

SECRET = "My locker at the gym is number 7391, next to the mirror"


async def test_a_sentence_goes_with_its_memory_and_does_not_wait_for_the_next_profile(
    memory: AsyncMemory, chat: ScriptedChat
):
    alice, store = memory.user("alice"), memory.runtime.store
    await alice.remember("The cat is called Tom")
    fact = await alice.remember(SECRET)
    await store.patch(MEMORIES, fact.id, ("alice", USER_THREAD), {"ttl": 4}, "FROM c WHERE true")
    await alice.process("profile")
    document = await read_profile_document(store, "alice")
    assert document is not None
    assert document[SOURCES_UNTIL]
    profile = await alice.profile()
    assert profile is not None
    assert sorted(profile.personal) == sorted([SECRET, "The cat is called Tom"])
    for _ in range(200):
        if not await store.read(MEMORIES, fact.id, ("alice", USER_THREAD)):
            break
        await asyncio.sleep(0.1)
    calls = chat.calls["profile"]
    left = await alice.profile()
    assert left is not None
    assert (left.personal, fact.id in left.source_ids) == (["The cat is called Tom"], False)
    assert "7391" not in left.content
    assert "7391" not in (await alice.context("Which locker number is mine?", budget=2000)).text.replace("Which", "")
    assert chat.calls["profile"] == calls
    await alice.remember("The dog is called Rex")
    await alice.process("profile")
    assert await scan(memory, "7391") == []
