"""Turns are shown in the user's time, with the weekday, and "today" is the user's day."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from memories import opened
from scripted_model import ScriptedChat

from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.tasks import ExtractInput
from agent_memory.recall.dates import periods
from agent_memory.rules.switches import read_rules
from agent_memory.store.chunks import in_zone

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
    async with opened(chat) as memory:
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


# --- what a user is shown, and what "yesterday" means to them -------------------------------------------------


TOKYO = "Asia/Tokyo"
EVENING = datetime(2026, 11, 22, 20, 0, tzinfo=UTC)
"""Sunday evening in UTC; five o'clock on Monday morning in Tokyo."""


async def told(memory: AsyncMemory) -> None:
    thread = memory.user("ada").thread("parcels")
    lines = [("The parcel for my mother came from Lisbon.", EVENING), ("fact: parcel=the blue one", EVENING)]
    await thread.add_many([{"role": "user", "content": text, "created_at": at} for text, at in lines])
    await thread.process("extract")


async def test_contexts_and_hits_have_the_days_of_the_user(memory: AsyncMemory):
    await told(memory)
    ada = memory.user("ada")
    assert "[22 November 2026]" in (await ada.search("the parcel from Lisbon"))[0].memory.content
    await ada.update_settings(time_zone=TOKYO)
    hits = {hit.memory.kind: hit.memory for hit in await ada.search("the parcel from Lisbon")}
    assert hits["chunk"].content.startswith("[23 November 2026] ")
    assert (await ada.get(hits["chunk"].id)).content.startswith("[22 November 2026] "), "what is stored stays"
    text = (await ada.thread("parcels").context("Which parcel came, the blue one?", budget=400)).text
    other = (await ada.thread("new").context("Which parcel came, the blue one?", budget=400)).text
    assert "22 November" not in text + other
    assert "[23 November 2026] user: The parcel for my mother came from Lisbon." in other
    await ada.thread("new").update_settings(time_zone="America/New_York")
    assert "[22 November 2026]" in (await ada.thread("new").context("Which parcel came?", budget=400)).text


async def test_a_chunk_of_an_earlier_version_is_shown_in_the_zone_too(memory: AsyncMemory):
    """It has neither a speaker nor a quote as fields."""
    await told(memory)
    found = [hit.memory for hit in await memory.user("ada").search("the parcel from Lisbon")]
    old = next(one for one in found if "mother" in one.content).model_copy(update={"quote": None, "metadata": {}})
    assert (
        in_zone(old, ZoneInfo(TOKYO)).content == "[23 November 2026] user: The parcel for my mother came from Lisbon."
    )
    assert in_zone(old, UTC) is old
    foreign = old.model_copy(update={"content": "no day at all"})
    assert in_zone(foreign, ZoneInfo(TOKYO)) is foreign


@pytest.mark.parametrize(
    ("question", "zone", "first", "last"),
    [
        ("What came yesterday?", "UTC", "2026-11-22T00:00+00:00", "2026-11-23T00:00+00:00"),
        ("What came yesterday?", TOKYO, "2026-11-23T00:00+09:00", "2026-11-24T00:00+09:00"),
        ("What came last week?", "America/New_York", "2026-11-16T00:00-05:00", "2026-11-23T00:00-05:00"),
        ("What came on 1 November 2026?", "America/New_York", "2026-11-01T00:00-04:00", "2026-11-02T00:00-05:00"),
    ],
)
def test_relative_dates_of_a_question_are_days_of_the_user(question: str, zone: str, first: str, last: str):
    (period,) = periods(question, LATE.astimezone(ZoneInfo(zone)))
    assert period.first == datetime.fromisoformat(first)
    assert period.last == datetime.fromisoformat(last)
    assert period.holds(datetime.fromisoformat(first))
    assert not period.holds(datetime.fromisoformat(last))


def test_a_day_without_an_hour_is_a_day_of_the_user():
    (period,) = periods("What came yesterday?", LATE.astimezone(ZoneInfo("America/New_York")))
    assert period.holds(datetime(2026, 11, 22, tzinfo=UTC)), "the day, although midnight UTC is still the 21st there"
    assert not period.holds(datetime(2026, 11, 22, 0, 0, 1, tzinfo=UTC))


async def test_yesterday_raises_what_was_said_on_the_day_of_the_user(memory: AsyncMemory):
    """Said on the 22nd at 20:00 UTC: yesterday in Tokyo, where it is Tuesday the 24th, and the day before in UTC+0."""
    await told(memory)
    ada = memory.user("ada")

    async def raised() -> bool:
        hits = await ada.search("Which parcel came yesterday?", as_of=LATE)
        return any(hit.why.get("date", 0) > 0 for hit in hits if hit.memory.kind == "chunk")

    await ada.update_settings(time_zone="America/Los_Angeles")
    assert await raised(), "there it was Sunday at noon, and now it is Monday morning"
    await ada.update_settings(time_zone=TOKYO)
    assert await raised(), "there it was Monday morning, and now it is Tuesday"
    await ada.update_settings(time_zone="Pacific/Kiritimati")
    again = LATE.replace(hour=9)  # 23:00 of the 23rd there, and the parcel came at 10:00 of the same day
    hits = await ada.search("Which parcel came yesterday?", as_of=again)
    assert not any(hit.why.get("date", 0) > 0 for hit in hits if hit.memory.kind == "chunk")


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles"])
async def test_the_first_and_the_last_time_of_the_calendar_break_no_search(memory: AsyncMemory, zone: str):
    ada = memory.user("ada")
    await ada.update_settings(time_zone=zone)
    ends = [datetime(9999, 12, 31, 23, 30, tzinfo=UTC), datetime(1, 1, 1, 0, 30, tzinfo=UTC)]
    said = [{"role": "user", "content": f"The parcel has code {at.year}.", "created_at": at} for at in ends]
    await ada.thread("t").add_many(said)
    await ada.thread("t").process("index")
    assert {hit.memory.content[:6] for hit in await ada.search("parcel code")} == {"[31 De", "[1 Jan"}
    assert await ada.search("Which parcel came on 31 December?")
    assert await ada.search("parcel code of yesterday", as_of=ends[0]) is not None
    context = await ada.context("Which code has the parcel?")
    assert not context.degraded
    assert "9999" in context.text


async def test_talk_dated_at_the_end_of_the_calendar_is_processed(memory: AsyncMemory, chat: ScriptedChat):
    ada = memory.user("ada")
    await ada.update_settings(time_zone="Asia/Tokyo")
    never = datetime(9999, 12, 31, 23, 59, tzinfo=UTC)
    await ada.thread("t").add("user", "fact: home=Lisbon, by the river", created_at=never)
    assert (await ada.thread("t").process("extract")).created == 1
