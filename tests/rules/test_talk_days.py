"""Raw talk may go after some days; what was derived from it stays."""

from __future__ import annotations

import pytest
from policy_world import opened
from scripted_model import ScriptedChat

from agent_memory.settings import Environment
from agent_memory.store.containers import MEMORIES, SUMMARIES

DAY = 86_400


@pytest.mark.parametrize(
    ("talk_days", "retention", "chunk", "fact"),
    [
        (None, {}, None, None),
        (30, {}, 30, None),
        (30, {"episodic": 7, "fact": 90}, 7, 90),
        (5, {"episodic": 7}, 5, None),
    ],
)
async def test_only_what_was_said_has_the_time_of_raw_talk(
    chat: ScriptedChat, talk_days: int | None, retention: dict[str, int], chunk: int | None, fact: int | None
):
    async with opened(chat, talk_days=talk_days) as memory:
        alice = memory.user("alice")
        if retention:
            await alice.update_settings(retention_days=retention)
        await alice.thread("t1").add("user", "fact: city=Lisbon, by the river")
        for step in ("extract", "summarize"):
            await alice.thread("t1").process(step)
        rows = await memory.runtime.store.query(MEMORIES, "SELECT * FROM c", ("alice",))
        ttl = {row["type"]: row.get("ttl") for row in rows if row["type"] in ("episodic", "fact")}
        assert ttl == {"episodic": chunk and chunk * DAY, "fact": fact and fact * DAY}
        summaries = await memory.runtime.store.query(SUMMARIES, "SELECT * FROM c", ("alice",))
        assert all("ttl" not in row for row in summaries if row["type"] == "summary")


def test_the_environment_says_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_TALK_DAYS", "30")
    assert Environment().policy.talk_days == 30
