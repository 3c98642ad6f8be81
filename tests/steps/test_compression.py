"""What a model is told of a long conversation: its state, the facts and the last turns, in the place of all turns."""

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.text.tokens import TiktokenCounter


@pytest.mark.req("S0-095", "S0-096")
@pytest.mark.parametrize("budget", [650, 400])
async def test_facts_and_state_take_the_place_of_old_messages(budget: int):
    async with AsyncMemory.local(embedding_model=HashingEmbeddings()) as memory:
        thread = memory.user("alice").thread("long")
        lines = ["My budget for the Hawaii trip is $10,000.", "We decided to fly direct.", "I'm allergic to peanuts."]
        for n in range(100):
            lines += [
                f"Tell me story number {n} of the northern seas.",
                f"In story {n} a dragon finds an isle of glass.",
            ]
        roles = ["user"] * 3 + ["user", "assistant"] * 100
        await thread.add_many([{"role": role, "content": line} for role, line in zip(roles, lines, strict=True)])
        assert await memory.drain(timeout=300) == 0
        context = await thread.context("What is my budget for the Hawaii trip?", budget=budget)
        told, *rest = [message["content"] for message in context.messages]
        assert rest == lines[-5:], "the last five turns as they were said"
        assert "Current State" in told
        for known in ("$10,000", "fly direct", "peanuts"):
            assert known in told
        raw = [line for line in lines[3:-5] if line in told]
        assert raw == [], "no old message stands beside what was made of it"
        count = TiktokenCounter().count
        assert context.tokens <= budget
        assert sum(count(line) for line in lines) > 3 * budget


@pytest.mark.req("S0-095")
async def test_until_something_has_been_made_of_it_nothing_is_missing_but_the_old_turns(chat: ScriptedChat):
    async with AsyncMemory.local(chat_model=chat, embedding_model=HashingEmbeddings()) as memory:
        thread = memory.user("alice").thread("short")
        lines = [f"Line number {n} of this talk." for n in range(4)]
        await thread.add_many([{"role": "user", "content": line} for line in lines])
        context = await thread.context("And what comes after that line?")
        assert [message["content"] for message in context.messages] == [
            f"Line number {n} of this talk." for n in range(4)
        ]
