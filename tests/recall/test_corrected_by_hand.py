"""What a user corrected is what a context shows from then on: neither the profile nor the talk tells the old value."""

import pytest

from agent_memory import AsyncMemory
from agent_memory.scopes import AsyncUserScope

PORTO = "I live in Porto with my sister Ines and our cat."
LISBON = "I live in Lisbon with my sister Ines and our cat."
SHIFT = "My shift at the hospital starts at seven."


async def told(user: AsyncUserScope, query: str) -> str:
    return (await user.thread("new").context(query)).text


async def talked(memory: AsyncMemory, *said: str) -> AsyncUserScope:
    ana = memory.user("ana")
    await ana.thread("t1").add_many([{"role": "user", "content": text} for text in said])
    await memory.drain(timeout=60)
    return ana


async def correct(user: AsyncUserScope, old: str, new: str) -> None:
    [fact] = [one for one in await user.memories() if one.content == old]
    await user.update(fact.id, content=new)


@pytest.mark.parametrize("query", ["Where do I live?", "Do I live in Porto?", "What about Ines?", "Who am I?"])
async def test_a_context_shows_the_corrected_value_alone(query: str):
    async with AsyncMemory.local() as memory:
        ana = await talked(memory, PORTO, SHIFT)
        before = await ana.profile()
        assert before is not None
        assert PORTO in before.personal
        await correct(ana, PORTO, LISBON)
        text = await told(ana, query)
        assert "Lisbon" in text
        assert "live in Porto" not in text
        assert "Lisbon with my sister Ines and our cat. (said" in text
        assert ", earlier)" not in text


async def test_a_profile_leaves_out_what_was_corrected_until_it_is_made_again():
    async with AsyncMemory.local() as memory:
        ana = await talked(memory, PORTO, SHIFT)
        await correct(ana, PORTO, LISBON)
        between = await ana.profile()
        assert between is not None
        assert (between.personal, "Porto" in between.content) == ([SHIFT], False)
        await ana.process("profile")
        after = await ana.profile()
        assert after is not None
        assert sorted(after.personal) == [LISBON, SHIFT]


async def test_a_profile_keeps_what_was_only_merged():
    async with AsyncMemory.local() as memory:
        ana = await talked(memory, PORTO, SHIFT)
        await ana.thread("t2").add("user", PORTO.replace("I live", "I still live"))
        await ana.thread("t2").process("extract")
        await ana.process("reconcile")
        profile = await ana.profile()
        assert profile is not None
        assert PORTO in profile.personal


async def test_a_turn_that_was_right_stays_when_the_memory_was_wrong():
    async with AsyncMemory.local() as memory:
        ana = await talked(memory, PORTO)
        [fact] = await ana.memories()
        wrong = await ana.update(fact.id, content="I live in Rome with my sister Ines and our cat.")
        chunk = (await ana.search("Porto", types=["episodic"]))[0].memory
        assert chunk.valid_to is not None, "the turn says what was replaced"
        other = memory.user("bea")
        await other.thread("t").add("user", PORTO)
        await memory.drain(timeout=60)
        [fact] = await other.memories()
        store = memory.runtime.store
        await store.patch("memories", fact.id, ("bea", "t"), {"content": wrong.content}, "FROM c WHERE true")
        await other.update(fact.id, content=PORTO)
        assert (await other.search("Porto", types=["episodic"]))[0].memory.valid_to is None


async def test_a_profile_that_was_thought_before_a_correction_is_not_written_after_it():
    async with AsyncMemory.local() as memory:
        ana = await talked(memory, PORTO, SHIFT)
        await ana.thread("t1").add("user", "I am allergic to peanuts.")
        await ana.thread("t1").process("extract")
        activities = memory.runtime.activities
        draft = await activities["profile.think"]({"user_id": "ana"})
        await correct(ana, PORTO, LISBON)
        assert (await activities["commit"](draft))["raced"]
        profile = await ana.process("profile") and await ana.profile()
        assert profile is not None
        assert "Porto" not in profile.content
        assert "peanuts" in profile.content
