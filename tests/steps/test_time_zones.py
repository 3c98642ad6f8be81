"""Turns are shown in the user's time, with the weekday, and "today" is the user's day."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory, Cadence
from agent_memory.errors import InvalidInput
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import ExtractInput
from agent_memory.rules.switches import read_rules

LATE = datetime(2026, 11, 23, 16, 30, tzinfo=UTC)
"""A Monday in Lisbon, and half past one on Tuesday in Tokyo."""


async def shown(memory: AsyncMemory, chat: ScriptedChat, thread: str = "t") -> str:
    await (
        memory.user("ada")
        .thread(thread)
        .add_many([{"role": "user", "content": "The parcel for my mother came today.", "created_at": LATE}])
    )
    await memory.user("ada").thread(thread).process("extract")
    return str(json.loads(chat.seen[-1].model_dump_json())["turns"][0]["created_at"])


@pytest.fixture
async def memory(chat: ScriptedChat) -> Any:
    async with AsyncMemory.local(
        chat_model=chat, embedding_model=HashingEmbeddings(), cadence=Cadence(0, 0, 0, 0, idle_seconds=0)
    ) as memory:
        yield memory


@pytest.fixture
def chat() -> ScriptedChat:
    return ScriptedChat()


async def test_without_a_zone_a_model_sees_weekday_and_utc(memory: AsyncMemory, chat: ScriptedChat):
    assert await shown(memory, chat) == "Monday 2026-11-23T16:30+00:00"


async def test_a_model_sees_the_time_where_the_user_is(memory: AsyncMemory, chat: ScriptedChat):
    settings = await memory.user("ada").update_settings(time_zone="Asia/Tokyo")
    assert settings.time_zone == "Asia/Tokyo"
    assert await shown(memory, chat) == "Tuesday 2026-11-24T01:30+09:00"
    assert ExtractInput.model_validate_json(chat.seen[-1].model_dump_json()) == chat.seen[-1]


async def test_a_thread_may_be_somewhere_else(memory: AsyncMemory, chat: ScriptedChat):
    ada = memory.user("ada")
    await ada.update_settings(time_zone="Asia/Tokyo")
    await ada.thread("t").update_settings(time_zone="America/New_York")
    assert await shown(memory, chat) == "Monday 2026-11-23T11:30-05:00"
    assert await shown(memory, chat, "other") == "Tuesday 2026-11-24T01:30+09:00"
    rules = await read_rules(memory.runtime.store, memory.runtime.tools.policy, "ada", "t")
    assert rules.time_zone == "America/New_York"


@pytest.mark.parametrize("name", ["", "Lisbon time", "../../etc/passwd", "/etc/localtime", "Europe/\0", "x" * 9000])
async def test_an_unknown_zone_is_refused_and_nothing_is_changed(memory: AsyncMemory, name: str):
    with pytest.raises(InvalidInput, match="is not a time zone like 'Europe/Lisbon'"):
        await memory.user("ada").update_settings(time_zone=name)
    assert (await memory.user("ada").settings()).time_zone is None


@pytest.mark.parametrize(("zone", "day"), [("UTC", "2026-11-23"), ("Asia/Tokyo", "2026-11-24")])
async def test_without_a_model_today_is_the_day_of_the_user(zone: str, day: str):
    async with AsyncMemory.local(embedding_model=HashingEmbeddings()) as memory:
        ada = memory.user("ada")
        await ada.update_settings(time_zone=zone)
        said = "I moved to Porto yesterday. I start my new job at the clinic tomorrow."
        await ada.thread("t").add_many([{"role": "user", "content": said, "created_at": LATE}])
        await memory.drain()
        dates = sorted(str(one.metadata["date"])[:10] for one in await ada.memories() if "date" in one.metadata)
        this = int(day[-2:])
        assert dates == [f"2026-11-{this - 1}", f"2026-11-{this + 1}"]
