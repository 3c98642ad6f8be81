"""The end of a conversation, said or noticed, leaves an account of it that other conversations can find."""

import asyncio

import pytest
from memories import opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.models import Memory
from agent_memory.processing.due import ending_steps


async def sessions(memory: AsyncMemory) -> list[Memory]:
    return [one for one in await memory.user("alice").memories(types=["episodic"]) if one.kind == "session"]


@pytest.mark.req("S0-043", "S0-019")
async def test_a_conversation_that_is_ended_is_archived_once(memory: AsyncMemory, chat: ScriptedChat):
    thread = memory.user("alice").thread("hawaii")
    added = await thread.add_many(
        [
            {"role": "user", "content": f"We plan Hawaii, part {n}", "created_at": "2024-12-29T10:00:00Z"}
            for n in range(3)
        ]
    )
    await thread.end()
    (session,) = await sessions(memory)
    assert (session.type, session.thread_id) == ("episodic", "hawaii")
    assert set(session.source_turn_ids) == set(added.ids)
    assert session.created_at.date().isoformat() == "2024-12-29"
    assert (await memory.user("alice").search("the plan for Hawaii", types=["episodic"]))[
        0
    ].memory.thread_id == "hawaii"
    await thread.end()
    assert [one.id for one in await sessions(memory)] == [session.id]
    await thread.add("user", "One more thing about the plan")
    await thread.end()
    assert len(await sessions(memory)) == 2
    assert chat.calls["archive"] == 2


@pytest.mark.req("S0-043", "S0-019")
@pytest.mark.parametrize("archive", [True, False])
async def test_a_conversation_that_goes_quiet_is_archived_if_that_is_wanted(chat: ScriptedChat, archive: bool):
    cadence = Cadence(profile=1000, idle_seconds=0.001, archive=archive)
    async with opened(chat, cadence=cadence) as memory:
        await memory.user("alice").thread("hawaii").add("user", "fact: trip=Hawaii, in the spring")
        async with asyncio.timeout(60):
            while not await memory.user("alice").profile():  # noqa: ASYNC110 (the worker settles it by itself)
                await asyncio.sleep(0.02)
        assert len(await sessions(memory)) == archive


def test_what_a_quiet_thread_is_due_follows_the_cadence():
    assert ending_steps(Cadence()) == ["extract", "summarize"]
    assert ending_steps(Cadence(summarize=0, archive=True)) == ["extract", "archive"]
