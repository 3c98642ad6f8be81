"""When something is extracted; and if nothing is, results, counts and the log say why (docs/troubleshooting.md)."""

import asyncio
import logging

import pytest
from policy_world import opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError
from agent_memory.language.tasks import In, Out, Task, TaskResult

AT_ONCE = Cadence(extract=1, summarize=0, profile=0, reconcile=0, idle_seconds=0)
TALK = "fact: home=a flat by the river in Lisbon"


async def extracted(memory: AsyncMemory, content: str = TALK) -> tuple[int, str | None, list[str]]:
    """How many memories come of something that is said, why none, and what was dropped."""
    thread = memory.user("alice").thread("t1")
    await thread.add("user", content)
    result = await thread.process("extract")
    return result.created, result.skipped_reason, result.rejected


@pytest.mark.req("S3-47")
async def test_settings_tier_and_length_are_named(chat: ScriptedChat):
    async with opened(chat) as memory:
        alice = memory.user("alice")
        assert await extracted(memory, "hi") == (
            0,
            None,
            ["fewer than 20 characters of conversation: no model was called"],
        )
        await alice.update_settings(enabled=False)
        created, why, _ = await extracted(memory)
        assert (created, (await alice.stats()).memory_enabled) == (0, False)
        assert why is not None
        assert "user" in why
        await alice.update_settings(enabled=True)
        await alice.thread("t1").update_settings(enabled=False)
        created, why, _ = await extracted(memory)
        assert created == 0
        assert why is not None
        assert "thread" in why
        await alice.thread("t1").update_settings(enabled=True)
        await memory.assign_tier("alice", "free")
        created, why, _ = await extracted(memory)
        assert (created, (await alice.stats()).tier) == (0, "free")
        assert why is not None
        assert "tier" in why
        await memory.assign_tier("alice", None)
        assert (await extracted(memory))[0] == 1


@pytest.mark.req("S3-47")
async def test_the_log_names_what_is_off_and_what_failed(chat: ScriptedChat, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO, "agent_memory")
    async with opened(chat, AT_ONCE) as memory:
        await memory.user("alice").update_settings(enabled=False)
        await memory.user("alice").thread("t1").add("user", TALK)
        await memory.drain(timeout=10)
        assert "nothing is derived for alice" in caplog.text
        chat.fault = lambda task, _: ModelError("nonsense") if task == "extract" else None
        await memory.user("bob").thread("t1").add("user", TALK)
        await memory.drain(timeout=10)
        assert "1 items of extract were left out" in caplog.text
        (letter,) = await memory.dead_letters()
        assert (letter.user_id, "nonsense" in letter.error) == ("bob", True)


async def test_a_short_message_is_nothing_to_warn_of(chat: ScriptedChat, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.WARNING, "agent_memory")
    async with opened(chat, AT_ONCE) as memory:
        await memory.user("alice").thread("t1").add("user", "hi")
        await memory.drain(timeout=10)
        assert caplog.messages == []


class HeldChat(ScriptedChat):
    """Does nothing until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.free = asyncio.Event()

    async def run(self, task: Task[In, Out], data: In) -> TaskResult[Out]:
        await self.free.wait()
        return await super().run(task, data)


@pytest.mark.req("S0-051", "S0-024")
async def test_extraction_runs_behind_the_write_and_only_where_it_is_switched_on():
    chat = HeldChat()
    async with opened(chat, AT_ONCE) as memory:
        alice = memory.user("alice")
        receipt = await asyncio.wait_for(alice.thread("t1").add("user", TALK), 10)  # the model has said nothing yet
        assert (receipt.created, await alice.memories()) == (1, [])
        chat.free.set()
        await memory.drain(timeout=10)
        assert len(await alice.memories()) == 1
        await alice.update_settings(auto_store=False)
        asked = chat.calls["extract"]
        await alice.thread("t1").add("user", "fact: work=a bakery at the corner")
        await memory.drain(timeout=10)
        assert (len(await alice.memories()), chat.calls["extract"]) == (1, asked)
        assert [hit.memory.content for hit in await alice.search("home", types=["fact"])]  # what is known is recalled
