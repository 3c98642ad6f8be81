"""When nothing is extracted, results, counts and the log say why (docs/troubleshooting.md)."""

import logging

import pytest
from policy_world import opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import ModelError

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
        assert await extracted(memory, "hi") == (0, None, ["fewer than 20 characters of talk: no model was asked"])
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
    at_once = Cadence(extract=1, summarize=0, profile=0, reconcile=0, idle_seconds=0)
    caplog.set_level(logging.INFO, "agent_memory")
    async with opened(chat, at_once) as memory:
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
